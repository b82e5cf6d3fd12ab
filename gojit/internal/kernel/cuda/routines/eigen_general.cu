/* The eigenvalues and vectors of square matrices of complex numbers: reflections clear them below the first subdiagonal, shifted rotations below the diagonal,
   and the vectors of the triangle are those of the matrix, turned. A vector has length one; its largest element is real. Tensors: values; vectors; the
   matrices; room for what is turned, for the vectors of the triangle, and for n rotations; what failed. Numbers: rows; whether vectors are asked for. */
DEVICE c128 quotient_of(c128 x, c128 y) {
	if (fabs(y.re) >= fabs(y.im)) {
		const double r = y.im / y.re, d = y.re + y.im * r;
		return number((x.re + x.im * r) / d, (x.im - x.re * r) / d);
	}
	const double r = y.re / y.im, d = y.re * r + y.im;
	return number((x.re * r + x.im) / d, (x.im * r - x.re) / d);
}

DEVICE c128 root_of(c128 x) {
	const double size = size_of(x);
	if (size == 0)
		return number(0, 0);
	const double re = sqrt((size + fabs(x.re)) / 2), im = x.im / (2 * re);
	return x.re >= 0 ? number(re, im) : number(fabs(im), x.im < 0 ? -re : re);
}

/* The eigenvalue of two rows that is nearest to the last element. */
DEVICE c128 nearest(c128 p, c128 q, c128 r, c128 s) {
	const c128 half = scaled(plus(p, s), 0.5), apart = scaled(minus(p, s), 0.5), root = root_of(plus(times(apart, apart), times(q, r)));
	const c128 first = plus(half, root), second = minus(half, root);
	return size_of(minus(first, s)) < size_of(minus(second, s)) ? first : second;
}

BLOCKS(general) {
	const i64 n = a.number[0], wanted = a.number[1];
	double *values = NUMBERS(0, n), *vectors = NUMBERS(1, n * n), *t = NUMBERS(2, n * n), *q = NUMBERS(3, n * n), *x = NUMBERS(4, n * n), *v = NUMBERS(5, 2 * n), *rotations = v + n * PARTS;
	SHARED double tau;
	SHARED i64 begin, end;
	SHARED c128 shift, sine;
	SHARED double cosine;
	SHARED int state; /* of the search for a part that is not a triangle yet: 0 found, 1 there is none, 2 the end moved, 3 it came to no end, 4 not a number */
	THREADS {
		if (thread == 0)
			state = 0;
		for (i64 i = thread; wanted && i < n * n; i += WIDTH)
			put(q, i, number(i / n == i % n, 0));
	}
	THREADS for (i64 i = thread; i < n * n * PARTS; i += WIDTH)
		if (t[i] - t[i] != 0)
			state = 4;
	const bool wrong = state == 4;
	THREADS {}
	for (i64 k = 0; !wrong && k + 2 < n; k++) {
		THREADS if (thread == 0) {
			double length = 0, norm = 0;
			for (i64 i = 0; i < n; i++) {
				const c128 e = i > k ? at(t, i * n + k) : number(0, 0);
				put(v, i, e);
				length = hypot(length, size_of(e));
			}
			tau = 0;
			if (length > 0) {
				const c128 first = at(v, k + 1);
				const double size = size_of(first);
				put(v, k + 1, plus(first, size > 0 ? scaled(first, length / size) : number(length, 0)));
				for (i64 i = k + 1; i < n; i++)
					norm += squared(scaled(at(v, i), 1 / length));
				tau = 2 / norm / length / length;
			}
		}
		THREADS for (i64 j = thread; j < n; j += WIDTH) {
			c128 sum = number(0, 0);
			for (i64 i = k + 1; i < n; i++)
				sum = plus(sum, times(conjugate(at(v, i)), at(t, i * n + j)));
			for (i64 i = k + 1; i < n; i++)
				put(t, i * n + j, minus(at(t, i * n + j), scaled(times(at(v, i), sum), tau)));
		}
		THREADS for (i64 i = thread; i < (wanted ? 2 * n : n); i += WIDTH) {
			double *row = i < n ? t + i * n * PARTS : q + (i - n) * n * PARTS;
			c128 sum = number(0, 0);
			for (i64 j = k + 1; j < n; j++)
				sum = plus(sum, times(at(row, j), at(v, j)));
			for (i64 j = k + 1; j < n; j++)
				put(row, j, minus(at(row, j), scaled(times(sum, conjugate(at(v, j))), tau)));
		}
	}
	THREADS {
		if (thread == 0)
			end = n - 1;
		for (i64 i = thread; i < n * n; i += WIDTH)
			if (i / n > i % n + 1)
				put(t, i, number(0, 0));
	}
	for (i64 steps = 0; !wrong; steps++) {
		THREADS if (thread == 0) {
			state = end <= 0 ? 1 : steps > 100 * n ? 3 : 0;
			if (state == 0) {
				begin = end;
				while (begin > 0) {
					const double scale = size_of(at(t, begin * n + begin)) + size_of(at(t, (begin - 1) * n + begin - 1));
					if (size_of(at(t, begin * n + begin - 1)) <= 1e-16 * (scale == 0 ? 1 : scale))
						break;
					begin--;
				}
				if (begin > 0)
					put(t, begin * n + begin - 1, number(0, 0));
				if (begin == end) {
					state = 2;
					end--;
				} else {
					shift = nearest(at(t, (end - 1) * n + end - 1), at(t, (end - 1) * n + end), at(t, end * n + end - 1), at(t, end * n + end));
					if (steps % 11 == 10) /* out of a cycle */
						shift = number(size_of(at(t, end * n + end - 1)) + size_of(at(t, end * n + end)), 0);
				}
			}
		}
		const int now = state;
		const i64 from = begin, to = end;
		THREADS {}
		if (now == 2)
			continue;
		if (now != 0)
			break;
		const i64 top = wanted ? 0 : from, right = wanted ? n : to + 1;
		THREADS for (i64 i = from + thread; i <= to; i += WIDTH)
			put(t, i * n + i, minus(at(t, i * n + i), shift));
		for (i64 k = from; k < to; k++) {
			THREADS if (thread == 0) {
				const c128 e = at(t, k * n + k), f = at(t, (k + 1) * n + k);
				const double p = size_of(e), r = hypot(p, size_of(f));
				cosine = 1;
				sine = number(0, 0);
				if (size_of(f) != 0 && p == 0) {
					cosine = 0;
					sine = scaled(conjugate(f), 1 / r);
				} else if (size_of(f) != 0) {
					cosine = p / r;
					sine = scaled(times(scaled(e, 1 / p), conjugate(f)), 1 / r);
				}
				rotations[k * PARTS] = cosine; /* the sine is where the element is that becomes zero */
			}
			THREADS for (i64 j = k + thread; j < right; j += WIDTH) {
				const c128 e = at(t, k * n + j), f = at(t, (k + 1) * n + j);
				put(t, k * n + j, plus(scaled(e, cosine), times(sine, f)));
				put(t, (k + 1) * n + j, j == k ? sine : minus(scaled(f, cosine), times(conjugate(sine), e)));
			}
		}
		THREADS for (i64 k = from + thread; k < to; k += WIDTH) {
			put(v, k, at(t, (k + 1) * n + k));
			put(t, (k + 1) * n + k, number(0, 0));
		}
		THREADS for (i64 i = thread; i < (wanted ? 2 * n : n); i += WIDTH) {
			double *row = i < n ? t + i * n * PARTS : q + (i - n) * n * PARTS;
			for (i64 k = from; k < to; k++) {
				if (i < n && (i < top || i > k + 1))
					continue;
				const c128 e = at(row, k), f = at(row, k + 1), s = at(v, k);
				const double c = rotations[k * PARTS];
				put(row, k, plus(scaled(e, c), times(conjugate(s), f)));
				put(row, k + 1, minus(scaled(f, c), times(s, e)));
			}
		}
		THREADS for (i64 i = from + thread; i <= to; i += WIDTH)
			put(t, i * n + i, plus(at(t, i * n + i), shift));
	}
	THREADS {
		if (thread == 0)
			*FLAGS(6) = wrong ? 2 : state == 3;
		for (i64 k = thread; k < n; k += WIDTH)
			put(values, k, at(t, k * n + k));
	}
	if (!wanted || wrong)
		return;
	THREADS for (i64 k = thread; k < n; k += WIDTH) {
		double scale = 0, length = 0, largest = 0;
		for (i64 i = 0; i < n * n; i++)
			scale = fmax(scale, size_of(at(t, i)));
		const double least = scale > 0 ? 1e-16 * scale : 1e-300;
		put(x, k * n + k, number(1, 0));
		for (i64 i = k - 1; i >= 0; i--) {
			c128 sum = at(t, i * n + k), apart = minus(at(t, i * n + i), at(t, k * n + k));
			for (i64 j = i + 1; j < k; j++)
				sum = plus(sum, times(at(t, i * n + j), at(x, k * n + j)));
			if (size_of(apart) < least)
				apart = number(least, 0);
			put(x, k * n + i, quotient_of(scaled(sum, -1), apart));
		}
		c128 phase = number(1, 0);
		for (i64 i = 0; i < n; i++) {
			c128 sum = number(0, 0);
			for (i64 j = 0; j <= k; j++)
				sum = plus(sum, times(at(q, i * n + j), at(x, k * n + j)));
			put(vectors, i * n + k, sum);
			const double size = size_of(sum);
			length = hypot(length, size);
			if (size > largest * (1 + 1e-12)) {
				largest = size;
				phase = scaled(sum, 1 / size);
			}
		}
		for (i64 i = 0; length > 0 && i < n; i++) {
			c128 e = scaled(times(at(vectors, i * n + k), conjugate(phase)), 1 / length);
			if (fabs(e.im) < 1e-14)
				e.im = 0;
			put(vectors, i * n + k, e);
		}
	}
}
