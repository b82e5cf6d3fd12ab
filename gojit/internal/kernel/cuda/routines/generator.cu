/* What the random numbers of a graph are drawn by: a launch of it begins with this. Tensor: seed and place; numbers: these. */
KERNEL(begin) {
	for (i64 i = FIRST; i < a.n; i += STEP)
		((i64 *)a.at[0])[i] = a.number[i];
}
