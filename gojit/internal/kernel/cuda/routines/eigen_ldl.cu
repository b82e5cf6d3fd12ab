/* The factors L and D of symmetric matrices, or of Hermitian ones, of which the lower triangle is read, by the pivoting of Bunch and Kaufman: D has blocks of one or
   two rows. Tensors: the matrices, which become L below D; the row that each row was exchanged with, counted from one, negative for both rows of a block of
   two; room for two columns; the first block that is zero. Numbers: rows; whether matrices are Hermitian. */
DEVICE c128 reflected(c128 x, i64 hermitian) { return hermitian ? conjugate(x) : x; }
DEVICE double weight(const double *x, i64 n, i64 i, i64 j, i64 hermitian) {
	const c128 z = at(x, i * n + j);
	return fabs(z.re) + (hermitian && i == j ? 0 : fabs(z.im));
}
DEVICE void swapped(double *x, i64 i, i64 j, i64 hermitian) {
	const c128 z = at(x, i);
	put(x, i, reflected(at(x, j), hermitian));
	put(x, j, reflected(z, hermitian));
}
DEVICE c128 over(c128 x, c128 y) {
	const double size = fmax(fabs(y.re), fabs(y.im));
	const c128 z = scaled(y, 1 / size);
	return scaled(times(x, conjugate(z)), 1 / squared(z) / size);
}
DEVICE void made_real(double *x, i64 n, i64 i, i64 hermitian) {
	if (hermitian)
		put(x, i * n + i, number(x[(i * n + i) * PARTS], 0));
}

/* Chooses the row that takes the place of row k, or with two that of the next one; none where there is nothing to be eliminated. */
DEVICE int choose(const double *x, i64 n, i64 k, i64 hermitian, i64 *with) {
	const double alpha = (1 + sqrt(17.0)) / 8, own = weight(x, n, k, k, hermitian);
	double most = 0, row = 0;
	i64 other = k;
	for (i64 i = k + 1; i < n; i++)
		if (weight(x, n, i, k, hermitian) > most) {
			other = i;
			most = weight(x, n, i, k, hermitian);
		}
	*with = k;
	if (own != own || (own == 0 && most == 0))
		return 0;
	if (own >= alpha * most)
		return 1;
	for (i64 j = k; j < other; j++)
		row = fmax(row, weight(x, n, other, j, hermitian));
	for (i64 i = other + 1; i < n; i++)
		row = fmax(row, weight(x, n, i, other, hermitian));
	if (own >= alpha * most * (most / row))
		return 1;
	*with = other;
	return weight(x, n, other, other, hermitian) >= alpha * row ? 1 : 2;
}

BLOCKS(factors) {
	const i64 n = a.number[0], hermitian = PARTS == 2 && a.number[1];
	double *x = NUMBERS(0, n * n), *u = NUMBERS(2, 2 * n), *v = u + n * PARTS;
	i32 *pivots = (i32 *)a.at[1] + BLOCK * n;
	SHARED int step;
	THREADS if (thread == 0)
		*FLAGS(3) = 0;
	for (i64 k = 0; k < n;) {
		THREADS if (thread == 0) {
			i64 with;
			step = choose(x, n, k, hermitian, &with);
			if (step == 0 && *FLAGS(3) == 0)
				*FLAGS(3) = (i32)(k + 1);
			const i64 own = step == 2 ? k + 1 : k;
			if (with != own) {
				for (i64 r = with + 1; r < n; r++)
					swapped(x, r * n + own, r * n + with, 0);
				for (i64 r = own + 1; r < with; r++)
					swapped(x, r * n + own, with * n + r, hermitian);
				put(x, with * n + own, reflected(at(x, with * n + own), hermitian));
				swapped(x, own * n + own, with * n + with, 0);
				if (own > k)
					swapped(x, (k + 1) * n + k, with * n + k, 0);
			}
			made_real(x, n, k, hermitian);
			made_real(x, n, own, hermitian);
			made_real(x, n, with, hermitian);
			pivots[k] = (i32)(step == 2 ? -with - 1 : with + 1);
			if (step == 2)
				pivots[k + 1] = pivots[k];
		}
		const int now = step;
		THREADS for (i64 r = k + thread; r < n; r += WIDTH) {
			put(u, r, at(x, r * n + k));
			if (now == 2)
				put(v, r, at(x, r * n + k + 1));
		}
		if (now == 1)
			THREADS for (i64 r = k + 1 + thread; r < n; r += WIDTH) {
				const c128 factor = over(at(u, r), at(u, k));
				for (i64 j = k + 1; j <= r; j++)
					put(x, r * n + j, minus(at(x, r * n + j), times(factor, reflected(at(u, j), hermitian))));
				put(x, r * n + k, factor);
				made_real(x, n, r, hermitian);
			}
		if (now == 2)
			THREADS for (i64 r = k + 2 + thread; r < n; r += WIDTH) {
				const c128 c = at(u, k + 1), turned = reflected(c, hermitian), p = over(at(v, k + 1), c), q = over(at(u, k), turned);
				const c128 t = over(number(1, 0), minus(times(p, q), number(1, 0)));
				const c128 first = times(minus(times(p, at(u, r)), at(v, r)), over(t, turned)), second = times(minus(times(q, at(v, r)), at(u, r)), over(t, c));
				for (i64 j = k + 2; j <= r; j++)
					put(x, r * n + j, minus(at(x, r * n + j), plus(times(first, reflected(at(u, j), hermitian)), times(second, reflected(at(v, j), hermitian)))));
				put(x, r * n + k, first);
				put(x, r * n + k + 1, second);
				made_real(x, n, r, hermitian);
			}
		k += now == 2 ? 2 : 1;
	}
	THREADS for (i64 i = thread; i < n * n; i += WIDTH)
		if (i / n < i % n)
			put(x, i, number(0, 0));
}

/* Solutions of systems with those factors, a thread for each column. Tensors: the right sides, which become the solutions; factors; pivots. Numbers: rows;
   whether matrices are Hermitian; columns of a right side. */
DEVICE void subtracted(double *b, i64 columns, i64 to, c128 factor, i64 from) { put(b, to * columns, minus(at(b, to * columns), times(factor, at(b, from * columns)))); }
KERNEL(solution) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		const i64 n = a.number[0], hermitian = PARTS == 2 && a.number[1], columns = a.number[2], matrix = i / columns;
		double *b = (double *)a.at[0] + (matrix * n * columns + i % columns) * PARTS;
		const double *x = (const double *)a.at[1] + matrix * n * n * PARTS;
		const i32 *pivots = (const i32 *)a.at[2] + matrix * n;
		for (i64 k = 0; k < n; k++) {
			if (pivots[k] > 0) {
				swapped(b, k * columns, (pivots[k] - 1) * columns, 0);
				for (i64 r = k + 1; r < n; r++)
					subtracted(b, columns, r, at(x, r * n + k), k);
				put(b, k * columns, over(at(b, k * columns), at(x, k * n + k)));
				continue;
			}
			swapped(b, (k + 1) * columns, (-pivots[k] - 1) * columns, 0);
			for (i64 r = k + 2; r < n; r++) {
				subtracted(b, columns, r, at(x, r * n + k), k);
				subtracted(b, columns, r, at(x, r * n + k + 1), k + 1);
			}
			const c128 c = at(x, (k + 1) * n + k), turned = reflected(c, hermitian), p = over(at(x, (k + 1) * n + k + 1), c), q = over(at(x, k * n + k), turned);
			const c128 first = over(at(b, k * columns), turned), second = over(at(b, (k + 1) * columns), c), d = minus(times(p, q), number(1, 0));
			put(b, k * columns, over(minus(times(p, first), second), d));
			put(b, (k + 1) * columns, over(minus(times(q, second), first), d));
			k++;
		}
		for (i64 k = n - 1; k >= 0; k--) {
			for (i64 r = k + 1; r < n; r++)
				subtracted(b, columns, k, reflected(at(x, r * n + k), hermitian), r);
			if (pivots[k] > 0) {
				swapped(b, k * columns, (pivots[k] - 1) * columns, 0);
				continue;
			}
			for (i64 r = k + 1; r < n; r++)
				subtracted(b, columns, k - 1, reflected(at(x, r * n + k - 1), hermitian), r);
			swapped(b, k * columns, (-pivots[k] - 1) * columns, 0);
			k--;
		}
	}
}
