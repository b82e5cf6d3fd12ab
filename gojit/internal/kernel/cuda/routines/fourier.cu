/* A pass of the Fourier transforms of rows: sums of "radix" elements that lie n / radix apart, times roots of one. After passes whose radixes have the product n
   the rows are transformed, in order. Complex numbers are pairs of T0. Tensors: result, source; numbers: n, radix, the product of the radixes of the passes before,
   whether backwards, what the source has in a row (IS_COMPLEX, or numbers that are REAL, or HALF of a spectrum) and how many, how many results of a row are kept,
   whether their real parts alone, and the bits of what they are multiplied by. */
enum { IS_COMPLEX, REAL, HALF };

typedef struct { C0 re, im; } Complex;

DEVICE Complex element_of(const Args *a, i64 row, i64 i) {
	const i64 n = a->number[0], length = a->number[5];
	const T0 *at = (const T0 *)a->at[1];
	Complex x = {0, 0};
	if (a->number[4] == REAL) {
		x.re = load0(at + row * length + i);
		return x;
	}
	const bool is_behind = a->number[4] == HALF && 2 * i > n; /* the second half has the first's, turned around */
	const i64 own = is_behind ? n - i : i;
	at += 2 * (row * length + own);
	x.re = load0(at);
	x.im = load0(at + 1);
	if (is_behind)
		x.im = -x.im;
	if (a->number[4] == HALF && (own == 0 || 2 * own == n))
		x.im = 0;
	return x;
}

KERNEL(pass) {
	const i64 n = a.number[0], radix = a.number[1], before = a.number[2], apart = n / radix;
	for (i64 t = FIRST; t < a.n; t += STEP) {
		i64 row = t;
		const i64 i = place_in(&row, n), q = i / before % radix, k = i % before, from = i / (before * radix) * before + k;
		Complex sum = {0, 0};
		if (i >= a.number[6])
			continue;
		for (i64 s = 0; s < radix; s++) {
			const Complex x = element_of(&a, row, from + s * apart);
			C0 re, im;
			ROOT((C0)(2 * (s * (k + q * before) % (before * radix))) / (C0)(before * radix), &im, &re);
			if (!a.number[3])
				im = -im;
			sum.re = sum.re + (x.re * re - x.im * im);
			sum.im = sum.im + (x.re * im + x.im * re);
		}
		const C0 scale = (C0)__longlong_as_double(a.number[8]);
		if (a.number[7]) {
			store0((T0 *)a.at[0] + row * a.number[6] + i, sum.re * scale);
		} else {
			store0((T0 *)a.at[0] + 2 * (row * a.number[6] + i), sum.re * scale);
			store0((T0 *)a.at[0] + 2 * (row * a.number[6] + i) + 1, sum.im * scale);
		}
	}
}
