/* Running results along the middle one of three dimensions, a thread for each line of it. Tensors: result, source and, for extremes, their places;
   numbers: elements of a line, and how far apart they are. */
KERNEL(scan) {
	for (i64 t = FIRST; t < a.n; t += STEP) {
		const i64 n = a.number[0], step = a.number[1], at = t / step * step * n + t % step;
		C0 so = START;
		for (i64 i = at; i < at + n * step; i += step) {
			so = combine(so, load0((const T0 *)a.at[1] + i));
			store0((T0 *)a.at[0] + i, so);
		}
	}
}

/* The largest or smallest so far and its last place; a NaN is both. */
KERNEL(extremes) {
	for (i64 t = FIRST; t < a.n; t += STEP) {
		const i64 n = a.number[0], step = a.number[1], at = t / step * step * n + t % step;
		C0 so = load0((const T0 *)a.at[1] + at);
		i64 place = 0;
		for (i64 k = 0; k < n; k++) {
			const C0 x = load0((const T0 *)a.at[1] + at + k * step);
			if (x != x || so == so && combine(x, so) == x) {
				so = x;
				place = k;
			}
			store0((T0 *)a.at[0] + at + k * step, so);
			((i64 *)a.at[2])[at + k * step] = place;
		}
	}
}
