/* Looks values up in rows that are in order. Tensors: places, rows, values; numbers: elements of a row, values of a row, 0 where there is one row
   for all, and whether a place is behind those that equal the value. A NaN is behind all numbers. */
KERNEL(search) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		const i64 n = a.number[0], per_row = a.number[1];
		const T0 *row = (const T0 *)a.at[1] + (per_row ? i / per_row * n : 0);
		const C0 x = load0((const T0 *)a.at[2] + i);
		i64 low = 0, high = n;
		while (low < high) {
			const i64 half = (low + high) / 2;
			const C0 y = load0(row + half);
			if (a.number[2] ? !(y > x) : !(y >= x))
				low = half + 1;
			else
				high = half;
		}
		((i64 *)a.at[0])[i] = x != x ? n : low;
	}
}
