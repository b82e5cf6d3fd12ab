/* Products of matrices by tiles: a block of threads computes TILE by TILE elements of the result, each thread 4 by 4 of them, from DEPTH columns and
   rows at a time, which the threads bring into shared memory together. Convolutions are products whose matrices are not written down: the other
   entry points. Tensors: result, left, right and, where there are four, what is added. */
#define TILE 64
#define DEPTH 16
#define N(i) a.number[i]
#define ROWS N(0)
#define COLUMNS N(1)
#define ALL N(2)

#define MULTIPLY(LEFT, RIGHT, STORE) \
	SHARED C0 left[DEPTH][TILE + 1], right[DEPTH][TILE + 1]; \
	OWN(C0, sum, 16); \
	const i64 row = BLOCK % N(3) * TILE, column = BLOCK / N(3) % N(4) * TILE, batch = BLOCK / N(3) / N(4); \
	THREADS for (int e = 0; e < 16; e++) \
		MINE(sum)[e] = 0; \
	for (i64 from = 0; from < ALL; from += DEPTH) { \
		THREADS for (int e = thread; e < DEPTH * TILE; e += WIDTH) { \
			const i64 i = row + e / DEPTH, k = from + e % DEPTH, j = column + e % TILE, l = from + e / TILE; \
			left[e % DEPTH][e / DEPTH] = i < ROWS && k < ALL ? LEFT(&a, batch, i, k) : (C0)0; \
			right[e / TILE][e % TILE] = j < COLUMNS && l < ALL ? RIGHT(&a, batch, l, j) : (C0)0; \
		} \
		THREADS for (int k = 0; k < DEPTH; k++) \
			for (int e = 0; e < 16; e++) \
				MINE(sum)[e] = MULTIPLY_ADD(left[k][thread / 16 * 4 + e / 4], right[k][thread % 16 * 4 + e % 4], MINE(sum)[e]); \
	} \
	THREADS for (int e = 0; e < 16; e++) { \
		const i64 i = row + thread / 16 * 4 + e / 4, j = column + thread % 16 * 4 + e % 4; \
		if (i < ROWS && j < COLUMNS) \
			STORE(&a, batch, i, j, MINE(sum)[e]); \
	}

#define AT(k) ((T0 *)a->at[k])

/* Matrices with steps: 5, 8, 11 and 14 on are those from one matrix, row and column to the next of the four tensors. */
DEVICE i64 place_of(const Args *a, int k, i64 batch, i64 i, i64 j) {
	const i64 *step = a->number + 5 + 3 * k;
	return batch * step[0] + i * step[1] + j * step[2];
}

DEVICE C0 left_of(const Args *a, i64 batch, i64 i, i64 k) { return load0(AT(1) + place_of(a, 1, batch, i, k)); }
DEVICE C0 right_of(const Args *a, i64 batch, i64 k, i64 j) { return load0(AT(2) + place_of(a, 2, batch, k, j)); }

DEVICE void store_of(const Args *a, i64 batch, i64 i, i64 j, C0 x) {
	if (a->tensors == 4)
		x = x + load0(AT(3) + place_of(a, 3, batch, i, j));
	store0(AT(0) + place_of(a, 0, batch, i, j), x);
}

BLOCKS(product) { MULTIPLY(left_of, right_of, store_of) }

/* Convolutions: channels of a group on both sides, groups, then for three dimensions sizes of the input, of the result, of the kernel, strides,
   padding and dilations. */
#define INPUTS a->number[5]
#define OUTPUTS a->number[6]
#define GROUPS a->number[7]
#define IN (a->number + 8)
#define OUT (a->number + 11)
#define KERNEL_SIZE (a->number + 14)
#define STRIDE (a->number + 17)
#define PADDING (a->number + 20)
#define DILATION (a->number + 23)

DEVICE i64 product_of(const i64 *n) { return n[0] * n[1] * n[2]; }

/* An element of a volume of inputs under a tap of the kernel at a place of the result. */
DEVICE C0 under(const Args *a, const T0 *volume, i64 place, i64 tap) {
	i64 at = 0, step = 1;
	for (int d = 2; d >= 0; d--) {
		const i64 i = place % OUT[d] * STRIDE[d] - PADDING[d] + tap % KERNEL_SIZE[d] * DILATION[d];
		if (i < 0 || i >= IN[d])
			return (C0)0;
		at += i * step;
		step *= IN[d];
		place /= OUT[d];
		tap /= KERNEL_SIZE[d];
	}
	return load0(volume + at);
}

/* An element of a volume of results that reads the input at a place by a tap of the kernel. */
DEVICE C0 over(const Args *a, const T0 *volume, i64 place, i64 tap) {
	i64 at = 0, step = 1;
	for (int d = 2; d >= 0; d--) {
		const i64 i = place % IN[d] + PADDING[d] - tap % KERNEL_SIZE[d] * DILATION[d], o = i / STRIDE[d];
		if (i < 0 || i % STRIDE[d] != 0 || o >= OUT[d])
			return (C0)0;
		at += o * step;
		step *= OUT[d];
		place /= IN[d];
		tap /= KERNEL_SIZE[d];
	}
	return load0(volume + at);
}

DEVICE C0 kernel_row(const Args *a, i64 group, i64 i, i64 k) { return load0(AT(1) + (group * OUTPUTS + i) * INPUTS * product_of(KERNEL_SIZE) + k); }

DEVICE C0 input_column(const Args *a, i64 group, i64 k, i64 j) {
	const i64 taps = product_of(KERNEL_SIZE), places = product_of(OUT);
	return under(a, AT(2) + ((j / places * GROUPS + group) * INPUTS + k / taps) * product_of(IN), j % places, k % taps);
}

/* Stores an element of images with so many channels in a group and places in a channel. */
DEVICE void store_image(const Args *a, i64 channels, i64 places, i64 group, i64 i, i64 j, C0 x) {
	const i64 channel = group * channels + i;
	if (a->tensors == 4)
		x = x + load0(AT(3) + channel);
	store0(AT(0) + (j / places * GROUPS * channels + channel) * places + j % places, x);
}

DEVICE void store_result(const Args *a, i64 group, i64 i, i64 j, C0 x) { store_image(a, OUTPUTS, product_of(OUT), group, i, j, x); }

BLOCKS(convolve) { MULTIPLY(kernel_row, input_column, store_result) }

DEVICE C0 kernel_column(const Args *a, i64 group, i64 i, i64 k) {
	const i64 taps = product_of(KERNEL_SIZE);
	return load0(AT(1) + ((group * OUTPUTS + k / taps) * INPUTS + i) * taps + k % taps);
}

DEVICE C0 result_column(const Args *a, i64 group, i64 k, i64 j) {
	const i64 taps = product_of(KERNEL_SIZE), places = product_of(IN);
	return over(a, AT(2) + ((j / places * GROUPS + group) * OUTPUTS + k / taps) * product_of(OUT), j % places, k % taps);
}

DEVICE void store_input(const Args *a, i64 group, i64 i, i64 j, C0 x) { store_image(a, INPUTS, product_of(IN), group, i, j, x); }

BLOCKS(transpose) { MULTIPLY(kernel_column, result_column, store_input) }

DEVICE C0 result_row(const Args *a, i64 group, i64 i, i64 k) {
	const i64 places = product_of(OUT);
	return load0(AT(1) + ((k / places * GROUPS + group) * OUTPUTS + i) * places + k % places);
}

DEVICE C0 input_tap(const Args *a, i64 group, i64 k, i64 j) {
	const i64 taps = product_of(KERNEL_SIZE), places = product_of(OUT);
	return under(a, AT(2) + ((k / places * GROUPS + group) * INPUTS + j / taps) * product_of(IN), k % places, j % taps);
}

DEVICE void store_weight(const Args *a, i64 group, i64 i, i64 j, C0 x) {
	store0(AT(0) + (group * OUTPUTS + i) * INPUTS * product_of(KERNEL_SIZE) + j, x);
}

BLOCKS(weights) { MULTIPLY(result_row, input_tap, store_weight) }
