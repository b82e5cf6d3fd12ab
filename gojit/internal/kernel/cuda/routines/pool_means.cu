KERNEL(mean) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		const Window w = window_of(&a, i % PLACES);
		const T0 *volume = (const T0 *)a.at[1] + i / PLACES * VOLUME;
		C0 sum = 0;
		EACH_OF(w)
			sum += load0(volume + HERE);
		store0((T0 *)a.at[0] + i, sum / (C0)w.size);
	}
}
