KERNEL(take) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		char *at[10];
		walk(&a, i, at);
		const i64 d = distance(&a, at);
		if (d >= 0)
			*(T0 *)at[0] = *(const T0 *)(at[1] + d);
	}
}

KERNEL(put) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		char *at[10];
		walk(&a, i, at);
		const i64 d = distance(&a, at);
		if (d >= 0)
			*(T0 *)(at[0] + d) = *(const T0 *)at[1];
	}
}
