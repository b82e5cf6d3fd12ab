/* Numbers of distributions whose parameters are elements of tensors: how many numbers one takes depends on them. A thread draws for several elements, each
   with turns of its own. Tensors: result, parameters, and in graphs the seed and the place to count from; numbers: threads, seed, offset, the turns of an
   element, the step of each parameter, 0 where one element stands for all. SIZE1 is how many parameters there are. */
typedef struct {
	u64 seed, offset;
	i64 thread, turn;
	u32 word[4];
	int left;    /* doubles that are made of the words and not taken */
	double kept; /* the second of two normal numbers */
	int keeps;
} Stream;

/* In (0, 1]. */
DEVICE double uniform_of(Stream *s) {
	if (!s->left) {
		draw(s->seed, s->offset, s->thread, s->turn++, s->word);
		s->left = 2;
	}
	const u64 bits = s->left == 2 ? BITS(s->word, 0) : BITS(s->word, 1);
	s->left--;
	return (double)bits * 0x1p-53 + 0x1p-54;
}

DEVICE double normal_of(Stream *s) {
	if (s->keeps) {
		s->keeps = 0;
		return s->kept;
	}
	const double far = sqrt(-2 * log(uniform_of(s)));
	double sine, cosine;
	sincospi(2 * uniform_of(s), &sine, &cosine);
	s->kept = far * cosine;
	s->keeps = 1;
	return far * sine;
}

#define PARAMETER_OF(k) ((double)load##k((const T##k *)a.at[k] + i * a.number[3 + (k)]))
#define DRAWS_BY(name, value) KERNEL(name) { \
	const u64 *state = (const u64 *)a.at[1 + SIZE1]; \
	const int in_graph = a.tensors > 1 + SIZE1; \
	Stream s; \
	s.seed = in_graph ? state[0] : (u64)a.number[1]; \
	s.offset = (u64)a.number[2] + (in_graph ? state[1] : 0); \
	for (i64 t = FIRST; t < a.number[0]; t += STEP) \
		for (i64 i = t, element = 0; i < a.n; i += a.number[0], element++) { \
			s.thread = t; \
			s.turn = element * a.number[3]; \
			s.left = s.keeps = 0; \
			store0((T0 *)a.at[0] + i, (C0)(value)); \
		} \
}

/* By products of uniform numbers for small rates, else by transformed rejection (Hormann). */
DEVICE double poisson_number(Stream *s, double rate) {
	if (!(rate >= 0))
		return NOT_A_NUMBER;
	if (rate == 0)
		return 0;
	if (rate < 10) {
		const double limit = exp(-rate);
		double product = uniform_of(s), n = 0;
		for (; product > limit; n++)
			product *= uniform_of(s);
		return n;
	}
	const double root = sqrt(rate), log_rate = log(rate), b = 0.931 + 2.53 * root, alpha = -0.059 + 0.02483 * b;
	const double inverse = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2);
	for (;;) {
		const double u = uniform_of(s) - 0.5, v = uniform_of(s), us = 0.5 - fabs(u);
		const double k = floor((2 * alpha / us + b) * u + rate + 0.43);
		if (us >= 0.07 && v <= bound)
			return k;
		if (k < 0 || (us < 0.013 && v > us))
			continue;
		if (log(v) + log(inverse) - log(alpha / (us * us) + b) <= -rate + k * log_rate - lgamma(k + 1))
			return k;
	}
}

/* What Stirling's approximation of the logarithm of k! lacks. */
DEVICE double stirling(double k) {
	const double table[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
	                        0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287};
	if (k <= 9)
		return table[(int)k];
	const double square = (k + 1) * (k + 1);
	return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/* By the gaps between successes. */
DEVICE double binomial_by_gaps(Stream *s, double count, double p) {
	const double failure = log1p(-p);
	double sum = ceil(log(uniform_of(s)) / failure), n = 0;
	for (; sum <= count; n++)
		sum += ceil(log(uniform_of(s)) / failure);
	return n;
}

/* By transformed rejection (Hormann). */
DEVICE double binomial_by_rejection(Stream *s, double count, double p) {
	const double deviation = sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * deviation, lower = -0.0873 + 0.0248 * b + 0.01 * p;
	const double center = count * p + 0.5, bound = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation, m = floor((count + 1) * p);
	for (;;) {
		const double u = uniform_of(s) - 0.5, v = uniform_of(s), us = 0.5 - fabs(u);
		const double k = floor((2 * lower / us + b) * u + center);
		if (us >= 0.07 && v <= bound)
			return k;
		if (k < 0 || k > count)
			continue;
		const double limit = (m + 0.5) * log((m + 1) / (odds * (count - m + 1))) + (count + 1) * log((count - m + 1) / (count - k + 1)) +
		                     (k + 0.5) * log(odds * (count - k + 1) / (k + 1)) + stirling(m) + stirling(count - m) - stirling(k) - stirling(count - k);
		if (log(v * alpha / (lower / (us * us) + b)) <= limit)
			return k;
	}
}

DEVICE double binomial_number(Stream *s, double count, double p) {
	if (count != count || count == INFINITE || p != p)
		return count > 0 || count != count ? NOT_A_NUMBER : 0;
	if (count <= 0 || p <= 0)
		return 0;
	if (p >= 1)
		return count;
	const double least = p <= 0.5 ? p : 1 - p;
	const double n = count * least >= 10 ? binomial_by_rejection(s, count, least) : binomial_by_gaps(s, count, least);
	return p <= 0.5 ? n : count - n;
}

/* Of scale one (Marsaglia and Tsang). */
DEVICE double gamma_number(Stream *s, double alpha) {
	double scale = 1;
	if (alpha < 1) {
		if (alpha == 0)
			return 0;
		scale = pow(uniform_of(s), 1 / alpha);
		alpha++;
	}
	const double shift = alpha - 1.0 / 3, c = 1 / sqrt(9 * shift);
	for (;;) {
		double x, y;
		do {
			x = normal_of(s);
			y = 1 + c * x;
		} while (y <= 0);
		const double v = y * y * y, u = uniform_of(s), square = x * x;
		if (u < 1 - 0.0331 * square * square || log(u) < 0.5 * square + shift * (1 - v + log(v)))
			return scale * shift * v;
	}
}

#ifdef ENTRY_poisson_numbers
DRAWS_BY(poisson_numbers, poisson_number(&s, PARAMETER_OF(1)))
#endif
#ifdef ENTRY_gamma_numbers
DRAWS_BY(gamma_numbers, gamma_number(&s, PARAMETER_OF(1)))
#endif
#ifdef ENTRY_binomial_numbers
DRAWS_BY(binomial_numbers, binomial_number(&s, PARAMETER_OF(1), PARAMETER_OF(2)))
#endif
