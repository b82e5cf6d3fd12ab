/* Singular values and eigenvalues of matrices, a block of threads for each, in double. A number has SIZE0 parts: one, or a real and an imaginary one. */
#define PARTS SIZE0
#define SWEEPS 60
#define LANES 16
#define TEAMS (WIDTH / LANES)
#define NUMBERS(k, each) ((double *)a.at[k] + BLOCK * (each) * PARTS)
#define IMAGINARY(x, i) (PARTS == 2 ? (x)[(i) * PARTS + PARTS - 1] : 0.0)
#define FLAGS(k) ((i32 *)a.at[k] + BLOCK)

DEVICE c128 number(double re, double im) {
	const c128 z = {re, im};
	return z;
}
DEVICE c128 at(const double *x, i64 i) { return number(x[i * PARTS], IMAGINARY(x, i)); }
DEVICE void put(double *x, i64 i, c128 z) {
	x[i * PARTS] = z.re;
	if (PARTS == 2)
		x[i * PARTS + PARTS - 1] = z.im;
}
DEVICE c128 plus(c128 x, c128 y) { return number(x.re + y.re, x.im + y.im); }
DEVICE c128 minus(c128 x, c128 y) { return number(x.re - y.re, x.im - y.im); }
DEVICE c128 times(c128 x, c128 y) { return number(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re); }
DEVICE c128 scaled(c128 x, double by) { return number(x.re * by, x.im * by); }
DEVICE c128 conjugate(c128 x) { return number(x.re, -x.im); }
DEVICE double squared(c128 x) { return x.re * x.re + x.im * x.im; }
DEVICE double size_of(c128 x) { return hypot(x.re, x.im); }

/* The pair that is the i-th of a round, of players that all meet in as many rounds as there are, less one: their number is even. */
DEVICE i64 first_of(i64 players, i64 round, i64 i) { return i == 0 ? players - 1 : (round + i) % (players - 1); }
DEVICE i64 second_of(i64 players, i64 round, i64 i) { return (round - i + players - 1) % (players - 1); }

/* The rotation by which two numbers with product between them, of a length, become orthogonal: the first is c x - s y, the second s x + c y. */
DEVICE void rotation(double first, double second, double product, double *c, double *s) {
	const double z = (second - first) / (2 * product), t = (z < 0 ? -1 : 1) / (fabs(z) + sqrt(1 + z * z));
	*c = 1 / sqrt(1 + t * t);
	*s = *c * t;
}

/* Turns elements i and j of x, the second of which is multiplied with a phase first. */
DEVICE void turned(double *x, i64 i, i64 j, double c, double s, c128 phase) {
	const c128 p = at(x, i), q = times(at(x, j), phase);
	put(x, i, minus(scaled(p, c), scaled(q, s)));
	put(x, j, plus(scaled(p, s), scaled(q, c)));
}
