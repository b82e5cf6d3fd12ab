/* Orders rows by merging runs that are in order: every element finds its place by a search in the run beside its own. Tensors: values and places,
   those before and those after; numbers: elements of a row, length of a run, whether the largest comes first. A NaN is larger than all numbers. */
DEVICE bool less(C0 x, C0 y) { return x < y || y != y && x == x; }
DEVICE bool comes_before(const Args *a, C0 x, C0 y) { return a->number[2] ? less(y, x) : less(x, y); }

KERNEL(merge) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		const i64 n = a.number[0], width = a.number[1], row = i / n * n, at = i % n, pair = at / (2 * width) * (2 * width);
		const i64 middle = pair + width < n ? pair + width : n, end = middle + width < n ? middle + width : n;
		const T0 *values = (const T0 *)a.at[2] + row;
		const C0 x = load0(values + at);
		const bool is_left = at < middle;
		const i64 begin = is_left ? middle : pair;
		i64 low = begin, high = is_left ? end : middle;
		while (low < high) {
			const i64 half = (low + high) / 2;
			const C0 y = load0(values + half);
			if (is_left ? comes_before(&a, y, x) : !comes_before(&a, x, y))
				low = half + 1;
			else
				high = half;
		}
		const i64 to = row + pair + (at - (is_left ? pair : middle)) + (low - begin);
		((T0 *)a.at[0])[to] = values[at];
		((i64 *)a.at[1])[to] = ((const i64 *)a.at[3])[i];
	}
}
