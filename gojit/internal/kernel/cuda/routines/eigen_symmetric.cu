/* The eigenvalues and vectors of Hermitian matrices: rows and columns are turned in pairs until what is beside the diagonal is nothing. Tensors: values;
   vectors; the matrices; room for vectors; room for the rotations; what failed. Numbers: rows; whether vectors are asked for; whether
   the upper triangle is read. */
BLOCKS(symmetric) {
	const i64 n = a.number[0], wanted = a.number[1], players = n + n % 2, pairs = players / 2;
	double *values = (double *)a.at[0] + BLOCK * n, *vectors = NUMBERS(1, n * n), *x = NUMBERS(2, n * n), *v = NUMBERS(3, n * n);
	double *turns = (double *)a.at[4] + BLOCK * 4 * players;
	SHARED double sums[WIDTH];
	SHARED int rotated[SWEEPS + 1];
	THREADS for (i64 i = thread; i < n * n; i += WIDTH) {
		const i64 row = i / n, column = i % n;
		if (row == column)
			put(x, i, number(x[i * PARTS], 0));
		else if ((row < column) != (a.number[2] != 0))
			put(x, i, conjugate(at(x, column * n + row)));
	}
	THREADS {
		for (int i = thread; i <= SWEEPS; i += WIDTH)
			rotated[i] = 0;
		sums[thread] = 0;
		for (i64 i = thread; i < n * n; i += WIDTH) {
			sums[thread] += squared(at(x, i));
			if (wanted)
				put(v, i, number(i / n == i % n, 0));
		}
	}
	THREADS if (thread == 0)
		for (int i = 1; i < WIDTH; i++)
			sums[0] += sums[i];
	const double least = 2e-16 * sqrt(sums[0]);
	int sweep = 0;
	for (; sweep < SWEEPS; sweep++) {
		for (i64 round = 0; round < players - 1; round++) {
			THREADS for (i64 i = thread; i < pairs; i += WIDTH) {
				const i64 p = first_of(players, round, i), q = second_of(players, round, i);
				double *own = turns + 4 * i;
				own[1] = 0;
				if (p < n && q < n) {
					const c128 between = at(x, p * n + q);
					const double size = size_of(between);
					if (size > least) {
						rotation(x[(p * n + p) * PARTS], x[(q * n + q) * PARTS], size, own, own + 1);
						own[2] = between.re / size;
						own[3] = -between.im / size;
						rotated[sweep] = 1;
					}
				}
			}
			THREADS for (i64 i = thread; i < pairs * n; i += WIDTH) { /* columns */
				const double *own = turns + 4 * (i / n);
				const i64 row = i % n * n, p = first_of(players, round, i / n), q = second_of(players, round, i / n);
				if (own[1] != 0) {
					turned(x, row + p, row + q, own[0], own[1], number(own[2], own[3]));
					if (wanted)
						turned(v, row + p, row + q, own[0], own[1], number(own[2], own[3]));
				}
			}
			THREADS for (i64 i = thread; i < pairs * n; i += WIDTH) { /* rows */
				const double *own = turns + 4 * (i / n);
				const i64 p = first_of(players, round, i / n), q = second_of(players, round, i / n), column = i % n;
				if (own[1] != 0)
					turned(x, p * n + column, q * n + column, own[0], own[1], number(own[2], -own[3]));
			}
			THREADS for (i64 i = thread; i < pairs; i += WIDTH) {
				const i64 p = first_of(players, round, i), q = second_of(players, round, i);
				if (turns[4 * i + 1] != 0) {
					put(x, p * n + q, number(0, 0));
					put(x, q * n + p, number(0, 0));
				}
			}
		}
		if (!rotated[sweep])
			break;
	}
	/* in ascending order */
	THREADS {
		if (thread == 0)
			*FLAGS(5) = sweep == SWEEPS || least - least != 0;
		for (i64 j = thread; j < n; j += WIDTH) {
			const double own = x[(j * n + j) * PARTS];
			i64 rank = 0;
			for (i64 k = 0; k < n; k++) {
				const double other = x[(k * n + k) * PARTS];
				rank += other < own || (other == own && k < j);
			}
			if (own != own)
				rank = j;
			values[rank] = own;
			for (i64 i = 0; wanted && i < n; i++)
				put(vectors, i * n + rank, at(v, i * n + j));
		}
	}
}
