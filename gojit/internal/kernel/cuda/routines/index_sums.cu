UPDATES

KERNEL(put) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		char *at[10];
		walk(&a, i, at);
		const i64 d = distance(&a, at);
		if (d >= 0)
			UPDATE((T0 *)(at[0] + d), load0((const T0 *)at[1]));
	}
}
