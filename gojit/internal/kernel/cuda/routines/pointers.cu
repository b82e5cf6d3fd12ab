/* Where matrices lie that follow each other in memory, as libraries are told of a batch. Tensor: list; numbers: address of the first, bytes to the next. */
KERNEL(list) {
	for (i64 i = FIRST; i < a.n; i += STEP)
		((i64 *)a.at[0])[i] = a.number[0] + i * a.number[1];
}
