/* Random numbers of Philox 4x32 with ten rounds, as CUDA's programs draw them: a thread has a subsequence of its own, takes four words at a time, and
   their numbers go to elements that lie as many apart as there are threads. Tensors: result, and in graphs, where the seed and the place to count
   from are those of each launch, these two; numbers: threads, seed, offset, two parameters as bits of doubles, or as they are for integers. Doubles are made of
   two words each: SIZE0 says that they are drawn. */
DEVICE void draw(u64 seed, u64 offset, i64 thread, i64 turn, u32 *word) {
	const u64 counter = offset / 4 + (u64)turn;
	u32 x = (u32)counter, y = (u32)(counter >> 32), z = (u32)thread, w = (u32)((u64)thread >> 32);
	u32 key = (u32)seed, other = (u32)(seed >> 32);
	for (int round = 0; round < 10; round++, key += 0x9E3779B9u, other += 0xBB67AE85u) {
		const u64 first = (u64)0xD2511F53u * x, second = (u64)0xCD9E8D57u * z;
		x = (u32)(second >> 32) ^ y ^ key;
		z = (u32)(first >> 32) ^ w ^ other;
		y = (u32)second;
		w = (u32)first;
	}
	word[0] = x;
	word[1] = y;
	word[2] = z;
	word[3] = w;
}

#define PARAMETER(i) ((REAL)__longlong_as_double(a.number[3 + (i)]))
#if SIZE0
#define REAL double
#define F(name) name
#define TURN 2
#define BITS(word, k) ((u64)word[2 * (k)] ^ (u64)word[2 * (k) + 1] << 21)
#define UNIFORM(word, number) \
	for (int k = 0; k < 2; k++) \
		number[k] = (double)BITS(word, k) * 0x1p-53 + 0x1p-54;
#define NORMAL(word, number) \
	const double far = sqrt(-2.0 * log((double)BITS(word, 0) * 0x1p-53 + 0x1p-54)); \
	double sine, cosine; \
	sincospi((double)BITS(word, 1) * 0x1p-52 + 0x1p-53, &sine, &cosine); \
	number[0] = far * sine; \
	number[1] = far * cosine;
#else
#define REAL float
#define F(name) name##f
#define TURN 4
#define UNIFORM(word, number) \
	for (int k = 0; k < 4; k++) \
		number[k] = (float)word[k] * 0x1p-32f + 0x1p-33f;
#define NORMAL(word, number) \
	for (int k = 0; k < 4; k += 2) { \
		const float u = (float)word[k] * 0x1p-32f + 0x1p-33f, v = (float)word[k + 1] * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f; \
		const float far = sqrtf(-2.0f * logf(u)); \
		number[k] = far * sinf(v); \
		number[k + 1] = far * cosf(v); \
	}
#endif

/* Numbers that are made of words, so many of each turn, are stored by TO. */
#define DRAWS_OF(type, turns, NUMBERS) \
	const u64 *state = (const u64 *)a.at[1]; \
	const u64 seed = a.tensors > 1 ? state[0] : (u64)a.number[1], offset = (u64)a.number[2] + (a.tensors > 1 ? state[1] : 0); \
	for (i64 t = FIRST; t < a.number[0]; t += STEP) \
		for (i64 turn = 0; turn * turns * a.number[0] < a.n; turn++) { \
			u32 word[4]; \
			type number[4]; \
			draw(seed, offset, t, turn, word); \
			NUMBERS(word, number) \
			for (int k = 0; k < turns; k++) { \
				const i64 i = (turn * turns + k) * a.number[0] + t; \
				if (i < a.n) \
					TO((T0 *)a.at[0] + i, number[k]); \
			} \
		}
#define DRAWS(NUMBERS) DRAWS_OF(REAL, TURN, NUMBERS)

/* In (0, 1], of which 1 becomes the lower end. */
KERNEL(uniform) {
#define TO(at, x) store0(at, (C0)((x) == 1 ? PARAMETER(0) : (x) * (PARAMETER(1) - PARAMETER(0)) + PARAMETER(0)))
	DRAWS(UNIFORM)
#undef TO
}

KERNEL(bernoulli) {
#define TO(at, x) store0(at, (C0)((x) <= PARAMETER(0)))
	DRAWS(UNIFORM)
#undef TO
}

KERNEL(normal) {
#define TO(at, x) store0(at, (C0)((x) * __longlong_as_double(a.number[4]) + __longlong_as_double(a.number[3])))
	DRAWS(NORMAL)
#undef TO
}

KERNEL(log_normal) {
#define TO(at, x) store0(at, (C0)F(exp)((x) * PARAMETER(1) + PARAMETER(0)))
	DRAWS(NORMAL)
#undef TO
}

#define HALF_STEP (sizeof(REAL) == 8 ? (REAL)0x1p-53 : (REAL)0x1p-24)

/* Close to one the logarithm is that of the number before it, so that no result is zero. */
KERNEL(exponential) {
#define TO(at, x) store0(at, (C0)(-1 / PARAMETER(0) * ((x) >= 1 - HALF_STEP ? -HALF_STEP : F(log)(x))))
	DRAWS(UNIFORM)
#undef TO
}

/* The ends, at which a tangent has no value, are left out. */
#define INSIDE(x) ((x) > 1 - 2 * HALF_STEP ? 1 - 2 * HALF_STEP : (x) < 2 * HALF_STEP ? 2 * HALF_STEP : (x))
KERNEL(cauchy) {
#define TO(at, x) store0(at, (C0)(PARAMETER(0) + PARAMETER(1) * F(tan)((REAL)3.14159265358979323846 * (INSIDE(x) - (REAL)0.5))))
	DRAWS(UNIFORM)
#undef TO
}

KERNEL(geometric) {
#define TO(at, x) store0(at, (C0)F(ceil)(F(log)(x) / F(log1p)(-PARAMETER(0))))
	DRAWS(UNIFORM)
#undef TO
}

/* From the second number on as many integers as the first says: remainders of words, or of two words each. */
#define TO(at, x) store0(at, (C0)(i64)((x) + (u64)a.number[4]))
#define REMAINDERS(word, number) \
	for (int k = 0; k < 4; k++) \
		number[k] = word[k] % (u32)a.number[3];
KERNEL(integers) {
	DRAWS_OF(u64, 4, REMAINDERS)
}

#define WIDE_REMAINDERS(word, number) \
	for (int k = 0; k < 2; k++) \
		number[k] = ((u64)word[2 * k] << 32 | word[2 * k + 1]) % (u64)a.number[3];
KERNEL(integers_wide) {
	DRAWS_OF(u64, 2, WIDE_REMAINDERS)
}
#undef TO
