/* The singular values of matrices and the vectors of both sides: pairs of columns are turned until all are orthogonal. Tensors: values; vectors of the left,
   a row for each element; of the right; the columns one after the other; room for the vectors of the right, and for lengths; what failed. Numbers: rows, of which there are at
   least as many; columns; how many vectors of the left there are, 0 for none of both sides. */
BLOCKS(singular) {
	const i64 m = a.number[0], n = a.number[1], width = a.number[2], players = n + n % 2;
	double *values = (double *)a.at[0] + BLOCK * n, *left = NUMBERS(1, m * width), *right = NUMBERS(2, n * n), *w = NUMBERS(3, m * n), *v = NUMBERS(4, n * n), *lengths = (double *)a.at[5] + BLOCK * n;
	const double least = 1e-15 + 4e-16 * sqrt((double)m);
	SHARED double firsts[WIDTH], seconds[WIDTH], reals[WIDTH], imaginaries[WIDTH], cosine[TEAMS], sine[TEAMS];
	SHARED c128 phase[TEAMS];
	SHARED int rotated[SWEEPS + 1], wrong;
	THREADS {
		for (int i = thread; i <= SWEEPS; i += WIDTH)
			rotated[i] = 0;
		if (thread == 0)
			wrong = 0;
		for (i64 i = thread; width > 0 && i < n * n; i += WIDTH)
			put(v, i, number(i / n == i % n, 0));
	}
	THREADS for (i64 i = thread; i < m * n * PARTS; i += WIDTH)
		if (w[i] - w[i] != 0)
			wrong = 2;
	int sweep = 0;
	for (; wrong == 0 && sweep < SWEEPS; sweep++) {
		for (i64 round = 0; round < players - 1; round++)
			for (i64 chunk = 0; chunk < players / 2; chunk += TEAMS) {
				THREADS {
					const i64 pair = chunk + thread / LANES, p = first_of(players, round, pair), q = second_of(players, round, pair);
					firsts[thread] = seconds[thread] = reals[thread] = imaginaries[thread] = 0;
					if (pair < players / 2 && p < n && q < n)
						for (i64 i = thread % LANES; i < m; i += LANES) {
							const c128 x = at(w + p * m * PARTS, i), y = at(w + q * m * PARTS, i), z = times(conjugate(x), y);
							firsts[thread] += squared(x);
							seconds[thread] += squared(y);
							reals[thread] += z.re;
							imaginaries[thread] += z.im;
						}
				}
				THREADS if (thread % LANES == 0) {
					const int team = thread / LANES;
					double first = 0, second = 0;
					c128 product = number(0, 0);
					for (int i = thread; i < thread + LANES; i++) {
						first += firsts[i];
						second += seconds[i];
						product = plus(product, number(reals[i], imaginaries[i]));
					}
					const double size = size_of(product);
					cosine[team] = 1;
					sine[team] = 0;
					if (size > 0 && size > least * sqrt(first) * sqrt(second)) {
						rotation(first, second, size, &cosine[team], &sine[team]);
						phase[team] = scaled(conjugate(product), 1 / size);
						rotated[sweep] = 1;
					}
				}
				THREADS {
					const int team = thread / LANES;
					const i64 pair = chunk + team, p = first_of(players, round, pair), q = second_of(players, round, pair);
					if (sine[team] != 0) {
						for (i64 i = thread % LANES; i < m; i += LANES)
							turned(w, p * m + i, q * m + i, cosine[team], sine[team], phase[team]);
						for (i64 i = thread % LANES; width > 0 && i < n; i += LANES)
							turned(v, p * n + i, q * n + i, cosine[team], sine[team], phase[team]);
					}
				}
			}
		if (!rotated[sweep])
			break;
	}
	THREADS {
		if (thread == 0)
			*FLAGS(6) = wrong ? wrong : sweep == SWEEPS;
		for (i64 j = thread; j < n; j += WIDTH) {
			double most = 0, sum = 0;
			for (i64 i = 0; i < m; i++)
				most = fmax(most, size_of(at(w, j * m + i)));
			for (i64 i = 0; i < m && most > 0; i++)
				sum += squared(scaled(at(w, j * m + i), 1 / most));
			lengths[j] = most * sqrt(sum);
		}
	}
	THREADS for (i64 j = thread; j < n; j += WIDTH) { /* in descending order */
		i64 rank = 0;
		for (i64 k = 0; k < n; k++)
			rank += lengths[k] > lengths[j] || (lengths[k] == lengths[j] && k < j);
		if (lengths[j] != lengths[j])
			rank = j;
		values[rank] = lengths[j];
		for (i64 i = 0; width > 0 && i < m; i++)
			put(left, i * width + rank, lengths[j] > 0 ? scaled(at(w, j * m + i), 1 / lengths[j]) : number(0, 0));
		for (i64 i = 0; width > 0 && i < n; i++)
			put(right, i * n + rank, at(v, j * n + i));
	}
	/* What is left of the left side: the unit vector that is farthest from the vectors that are there, less what it shares with them. */
	SHARED i64 farthest[WIDTH];
	for (i64 k = 0; k < width; k++) {
		if (k < n && values[k] > 1e-290 && values[k] > values[0] * 1e-40)
			continue;
		THREADS {
			farthest[thread] = 0;
			firsts[thread] = -1;
			for (i64 i = thread; i < m; i += WIDTH) {
				double rest = 1;
				for (i64 j = 0; j < k; j++)
					rest -= squared(at(left, i * width + j));
				if (rest > firsts[thread]) {
					firsts[thread] = rest;
					farthest[thread] = i;
				}
			}
		}
		THREADS if (thread == 0)
			for (int i = 1; i < WIDTH; i++)
				if (firsts[i] > firsts[0]) {
					firsts[0] = firsts[i];
					farthest[0] = farthest[i];
				}
		THREADS for (i64 i = thread; i < m; i += WIDTH)
			put(left, i * width + k, number(i == farthest[0], 0));
		for (int again = 0; again < 2; again++) {
			for (i64 j = 0; j < k; j++) {
				THREADS {
					c128 sum = number(0, 0);
					for (i64 i = thread; i < m; i += WIDTH)
						sum = plus(sum, times(conjugate(at(left, i * width + j)), at(left, i * width + k)));
					reals[thread] = sum.re;
					imaginaries[thread] = sum.im;
				}
				THREADS if (thread == 0)
					for (int i = 1; i < WIDTH; i++) {
						reals[0] += reals[i];
						imaginaries[0] += imaginaries[i];
					}
				THREADS for (i64 i = thread; i < m; i += WIDTH)
					put(left, i * width + k, minus(at(left, i * width + k), times(at(left, i * width + j), number(reals[0], imaginaries[0]))));
			}
			THREADS {
				double sum = 0;
				for (i64 i = thread; i < m; i += WIDTH)
					sum += squared(at(left, i * width + k));
				firsts[thread] = sum;
			}
			THREADS if (thread == 0)
				for (int i = 1; i < WIDTH; i++)
					firsts[0] += firsts[i];
			THREADS for (i64 i = thread; i < m; i += WIDTH)
				put(left, i * width + k, scaled(at(left, i * width + k), 1 / sqrt(firsts[0])));
		}
	}
}
