/* Moves elements that indices choose. Tensors: result, source, then one of indices for each indexed dimension, all broadcast to one shape, with
   steps of 0 along that dimension in what is indexed; the numbers behind the walk are sizes and steps of the indexed dimensions. */
#define DIMS 8

DEVICE void walk(const Args *a, i64 i, char **at) {
	const i64 *size = a->number + 1, *step = size + DIMS;
	for (int k = 0; k < a->tensors; k++)
		at[k] = a->at[k];
	for (int d = 0; d < a->number[0]; d++) {
		const i64 own = d + 1 < a->number[0] ? place_in(&i, size[d]) : i;
		for (int k = 0; k < a->tensors; k++)
			at[k] += own * step[k * DIMS + d];
	}
}

/* The distance that the indices say, -1 where one of them is beyond its dimension. */
DEVICE i64 distance(const Args *a, char **at) {
	const i64 *indexed = a->number + 1 + (1 + a->tensors) * DIMS;
	i64 sum = 0;
	for (int k = 2; k < a->tensors; k++, indexed += 2) {
		const i64 given = *(const i64 *)at[k], i = given < 0 ? given + indexed[0] : given;
		if (i < 0 || i >= indexed[0]) {
			if (FIRST_TO_FAIL(a->failed)) {
				a->failed[1] = k - 2;
				a->failed[2] = given;
			}
			return -1;
		}
		sum += i * indexed[1];
	}
	return sum;
}

/* An entry point that moves element i: MOVE may use at, the places of the tensors, and d, the distance. */
#define MOVES(ENTRY, MOVE) \
	KERNEL(ENTRY) { \
		for (i64 i = FIRST; i < a.n; i += STEP) { \
			char *at[10]; \
			walk(&a, i, at); \
			const i64 d = distance(&a, at); \
			if (d >= 0) \
				MOVE; \
		} \
	}
