KERNEL(largest) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		const Window w = window_of(&a, i % PLACES);
		const T0 *volume = (const T0 *)a.at[1] + i / PLACES * VOLUME;
		i64 place = (w.from[0] * a.number[1] + w.from[1]) * a.number[2] + w.from[2];
		C0 most = START;
		EACH_OF(w) {
			const C0 v = load0(volume + HERE);
			if (v > most || v != v) {
				most = v;
				place = HERE;
			}
		}
		store0((T0 *)a.at[0] + i, most);
		((i64 *)a.at[2])[i] = place;
	}
}
