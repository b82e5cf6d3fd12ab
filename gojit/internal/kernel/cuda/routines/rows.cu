/* Operators over rows, a block of threads for each: T0 is what is read and written, T1 what is computed with. */
#define AT(k, T, i) ((T *)a.at[k] + (i))
#define N a.number[0]
#define ADDED(x, y) ((x) + (y))
#define EACH for (i64 i = thread; i < N; i += WIDTH)

/* Leaves what an array has for each thread, combined, in its first element. */
#define FOLD(part, how) \
	for (int half = WIDTH / 2; half > 0; half /= 2) \
		THREADS if (thread < half) \
			part[thread] = how(part[thread], part[thread + half]);

/* Rows along the middle one of three dimensions. Tensors: result, source; numbers: elements of a row, and how far apart they are. */
#define PLACE(i) (BLOCK / a.number[1] * a.number[1] * N + BLOCK % a.number[1] + (i) * a.number[1])
#define ELEMENT(i) load0(AT(1, const T0, PLACE(i)))
#define EXPONENTIALS(RESULT) \
	SHARED C0 most[WIDTH], sum[WIDTH]; \
	THREADS { \
		most[thread] = START; \
		EACH most[thread] = combine(most[thread], ELEMENT(i)); \
	} \
	FOLD(most, combine) \
	THREADS { \
		sum[thread] = 0; \
		EACH sum[thread] += EXP(ELEMENT(i) - most[0]); \
	} \
	FOLD(sum, ADDED) \
	THREADS EACH store0(AT(0, T0, PLACE(i)), RESULT);

BLOCKS(softmax) { EXPONENTIALS(EXP(ELEMENT(i) - most[0]) / sum[0]) }
BLOCKS(log_softmax) { EXPONENTIALS(ELEMENT(i) - most[0] - LOG(sum[0])) }

/* Leaves the sum of count elements in sum[0], and that of the squares of their distances from their mean in square[0]. */
#define SUMS(OF, count) \
	SHARED C1 sum[WIDTH], square[WIDTH]; \
	THREADS { \
		sum[thread] = 0; \
		for (i64 i = thread; i < count; i += WIDTH) \
			sum[thread] += OF(i); \
	} \
	FOLD(sum, ADDED) \
	THREADS { \
		const C1 mean = sum[0] / (C1)(count); \
		square[thread] = 0; \
		for (i64 i = thread; i < count; i += WIDTH) \
			square[thread] += (OF(i) - mean) * (OF(i) - mean); \
	} \
	FOLD(square, ADDED)

/* Rows of n elements side by side, normalized. Tensors: result, source, means, inverse deviations, factors and summands of the elements; numbers: n,
   whether there are factors, whether summands, and the bits of what is added to variances. */
#define OF_ROW(i) load0(AT(1, const T0, BLOCK * N + (i)))
BLOCKS(normalize) {
	SUMS(OF_ROW, N)
	THREADS {
		const C1 mean = sum[0] / (C1)N, scale = 1 / SQRT(square[0] / (C1)N + (C1)__longlong_as_double(a.number[3]));
		EACH {
			C1 x = (OF_ROW(i) - mean) * scale;
			if (a.number[1])
				x = x * load1(AT(4, const T1, i));
			if (a.number[2])
				x = x + load1(AT(5, const T1, i));
			store0(AT(0, T0, BLOCK * N + i), x);
		}
		if (thread == 0) {
			store1(AT(2, T1, BLOCK), mean);
			store1(AT(3, T1, BLOCK), scale);
		}
	}
}

/* Means of parts of channels, the second of three dimensions, and the sums of the squares of the distances from them. Tensors: means, sums, source; numbers:
   elements of a channel, channels, elements of a channel side by side, and elements of a part. */
#define PARTS ((N + a.number[3] - 1) / a.number[3])
#define FROM (BLOCK % PARTS * a.number[3])
DEVICE C1 element_of(const Args *a, i64 channel, i64 i) {
	i64 image = i;
	const i64 own = place_in(&image, a->number[2]);
	return load0((const T0 *)a->at[2] + (image * a->number[1] + channel) * a->number[2] + own);
}
#define OF_PART(i) element_of(&a, BLOCK / PARTS, FROM + (i))
BLOCKS(moments) {
	const i64 count = MIN(a.number[3], N - FROM);
	SUMS(OF_PART, count)
	THREADS if (thread == 0) {
		store1(AT(0, T1, BLOCK), sum[0] / (C1)count);
		store1(AT(1, T1, BLOCK), square[0]);
	}
}

/* Means and variances of channels from those of their parts. Tensors: means, variances, means and sums of parts. */
KERNEL(joined) {
	for (i64 c = FIRST; c < a.n; c += STEP) {
		C1 mean = 0, square = 0;
		for (i64 part = 0; part < PARTS; part++) {
			const C1 before = (C1)(part * a.number[3]), count = (C1)MIN(a.number[3], N - part * a.number[3]);
			const C1 distance = load1(AT(2, const T1, c * PARTS + part)) - mean;
			mean = mean + distance * (count / (before + count));
			square = square + load1(AT(3, const T1, c * PARTS + part)) + distance * distance * (before * (count / (before + count)));
		}
		store1(AT(0, T1, c), mean);
		store1(AT(1, T1, c), square / (C1)N);
	}
}

/* Elements normalized by numbers of their channels. Tensors: result, source, means, variances, factors and summands; numbers: whether there are
   factors, whether summands, the bits of what is added to variances, channels, and elements of a channel side by side. */
KERNEL(channels) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		i64 row = i;
		place_in(&row, a.number[4]);
		const i64 c = place_in(&row, a.number[3]);
		C1 scale = 1 / SQRT(load1(AT(3, const T1, c)) + (C1)__longlong_as_double(a.number[2]));
		if (a.number[0])
			scale = scale * load1(AT(4, const T1, c));
		C1 shift = -(load1(AT(2, const T1, c)) * scale);
		if (a.number[1])
			shift = shift + load1(AT(5, const T1, c));
		store0(AT(0, T0, i), load0(AT(1, const T0, i)) * scale + shift);
	}
}
