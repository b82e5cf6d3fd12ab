/* Random numbers of Philox 4x32 with ten rounds, as CUDA's programs draw them: a thread has a subsequence of its own, takes four words at a time, and
   their numbers go to elements that lie as many apart as there are threads. Tensors: result, and in graphs, where the seed and the place to count
   from are those of each launch, these two; numbers: threads, seed, offset, two parameters as bits of doubles. */
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

#define PARAMETER(i) __longlong_as_double(a.number[3 + (i)])
#define DRAWS(NUMBERS) \
	const u64 *state = (const u64 *)a.at[1]; \
	const u64 seed = a.tensors > 1 ? state[0] : (u64)a.number[1], offset = (u64)a.number[2] + (a.tensors > 1 ? state[1] : 0); \
	for (i64 t = FIRST; t < a.number[0]; t += STEP) \
		for (i64 turn = 0; turn * 4 * a.number[0] < a.n; turn++) { \
			u32 word[4]; \
			float number[4]; \
			draw(seed, offset, t, turn, word); \
			NUMBERS(word, number) \
			for (int k = 0; k < 4; k++) { \
				const i64 i = (turn * 4 + k) * a.number[0] + t; \
				if (i < a.n) \
					TO((T0 *)a.at[0] + i, number[k]); \
			} \
		}

#define UNIFORM(word, number) \
	for (int k = 0; k < 4; k++) \
		number[k] = (float)word[k] * 0x1p-32f + 0x1p-33f;

/* In (0, 1], of which 1 becomes the lower end. */
KERNEL(uniform) {
#define TO(at, x) store0(at, (C0)((x) == 1 ? PARAMETER(0) : (x) * (float)(PARAMETER(1) - PARAMETER(0)) + PARAMETER(0)))
	DRAWS(UNIFORM)
#undef TO
}

KERNEL(bernoulli) {
#define TO(at, x) store0(at, (C0)((x) <= (float)PARAMETER(0)))
	DRAWS(UNIFORM)
#undef TO
}

#define NORMAL(word, number) \
	for (int k = 0; k < 4; k += 2) { \
		const float u = (float)word[k] * 0x1p-32f + 0x1p-33f, v = (float)word[k + 1] * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f; \
		const float far = sqrtf(-2.0f * logf(u)); \
		number[k] = far * sinf(v); \
		number[k + 1] = far * cosf(v); \
	}

KERNEL(normal) {
#define TO(at, x) store0(at, (C0)((x) * PARAMETER(1) + PARAMETER(0)))
	DRAWS(NORMAL)
#undef TO
}
