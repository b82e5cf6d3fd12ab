/* Products of matrices: what is multiplied, and what becomes of the sums. How a block of threads computes a tile of TILE by TILE elements of the result is
   another text (product_tiles.cu, product_mma.cu). Convolutions are products whose matrices are not written down: the other entry points. Tensors: result,
   left, right and, where there are four, what is added. T0 is read, T1 written; SIZE0 is EDGE. */
#define EDGE SIZE0
#define TILE (16 * EDGE)
#define N(i) a.number[i]
#define ROWS N(0)
#define COLUMNS N(1)
#define ALL N(2)
#define TALL N(3)
#define WIDE N(4)
#define PARTS N(5) /* of the sums, each of which has results of its own, N(6) elements behind those of the part before */
#define NUMBERS 7
#define PART (BLOCK % PARTS)

/* What is the same for all elements of a column of the right matrix. */
typedef struct { i64 at; i32 z, y, x; } Line;

#define AT(k) ((const T0 *)a->at[k])

#ifdef TEXT_product_mma /* factors are elements as they lie in memory */
typedef T0 Element;
DEVICE Element element(const T0 *at) { return *at; }
#else
typedef C0 Element;
DEVICE Element element(const T0 *at) { return load0(at); }
#endif

/* Matrices with steps: behind the numbers of all products those from one matrix, row and column to the next of the four tensors. */
#define STEP_OF(k) (a->number + NUMBERS + 3 * (k))
DEVICE i64 place_of(const Args *a, int k, i64 batch, i64 i, i64 j) { return batch * STEP_OF(k)[0] + i * STEP_OF(k)[1] + j * STEP_OF(k)[2]; }

DEVICE bool left_of_by_place(const Args *a) { return STEP_OF(1)[2] == 1; }
DEVICE const T0 *left_of_at(const Args *a, i64 batch, i64 i, i64 k) { return AT(1) + place_of(a, 1, batch, i, k); }
DEVICE Element left_of(const Args *a, i64 batch, i64 i, i64 k) { return element(left_of_at(a, batch, i, k)); }

DEVICE bool right_of_by_place(const Args *a) { return STEP_OF(2)[1] == 1; }
DEVICE Line right_of_line(const Args *a, i64 batch, i64 j) {
	Line line = {0, 0, 0, 0};
	return line;
}
DEVICE const T0 *right_of_at(const Args *a, i64 batch, i64 k, i64 j) { return AT(2) + place_of(a, 2, batch, k, j); }
DEVICE Element right_of(const Args *a, i64 batch, i64 k, i64 j, Line line) { return element(right_of_at(a, batch, k, j)); }

DEVICE void store_of(const Args *a, i64 batch, i64 i, i64 j, C0 x, T1 *result) {
	if (a->tensors == 4)
		x = x + load0(AT(3) + place_of(a, 3, batch, i, j));
	store1(result + place_of(a, 0, batch, i, j), x);
}

#ifdef ENTRY_product
#define PRODUCT BLOCKS(product) { MULTIPLY(left_of, right_of, store_of) }
#endif

/* Convolutions: channels of a group on both sides, groups, then for three dimensions sizes of the input, of the result, of the kernel, strides,
   padding and dilations. What is summed over, places of a volume and taps of a kernel are
   counted in 32 bits. */
#define INPUTS a->number[NUMBERS]
#define OUTPUTS a->number[NUMBERS + 1]
#define GROUPS a->number[NUMBERS + 2]
#define NUMBER(i) (i32)a->number[NUMBERS + 3 + (i)]
#define IN(d) NUMBER(d)
#define OUT(d) NUMBER(3 + (d))
#define KERNEL_SIZE(d) NUMBER(6 + (d))
#define STRIDE(d) NUMBER(9 + (d))
#define PADDING(d) NUMBER(12 + (d))
#define DILATION(d) NUMBER(15 + (d))
#define VOLUME(of) ((i64)of(0) * of(1) * of(2))

/* The quotient and, in the dividend's place, the rest, of numbers that are not negative. */
DEVICE i32 divided(i32 *x, i32 by) {
	const u32 q = by == 1 ? (u32)*x : (u32)*x / (u32)by;
	*x -= (i32)q * by;
	return (i32)q;
}

/* Where a place of a volume of three sizes lies in each of its dimensions. */
DEVICE Line places_of(i64 at, i32 place, i32 high, i32 wide) {
	Line line = {at, 0, 0, place};
	line.z = divided(&line.x, high * wide);
	line.y = divided(&line.x, wide);
	return line;
}

/* An element of a volume of inputs under a tap of the kernel at a place of the result. */
DEVICE Element under(const Args *a, i64 volume, i32 z, i32 y, i32 x, i32 tap) {
	const Line t = places_of(0, tap, KERNEL_SIZE(1), KERNEL_SIZE(2));
	z = z * STRIDE(0) - PADDING(0) + t.z * DILATION(0);
	y = y * STRIDE(1) - PADDING(1) + t.y * DILATION(1);
	x = x * STRIDE(2) - PADDING(2) + t.x * DILATION(2);
	if ((u32)z >= (u32)IN(0) || (u32)y >= (u32)IN(1) || (u32)x >= (u32)IN(2))
		return (Element)0;
	return element(AT(2) + volume + ((i64)z * IN(1) + y) * IN(2) + x);
}

/* The place of a result that reads an input by a tap of the kernel, along one dimension; -1 where there is none. */
DEVICE i32 reader(const Args *a, int d, i32 i, i32 tap) {
	i32 rest = i + PADDING(d) - tap * DILATION(d);
	if (rest < 0)
		return -1;
	const i32 o = divided(&rest, STRIDE(d));
	return rest != 0 || o >= OUT(d) ? -1 : o;
}

/* An element of a volume of results that reads the input at a place by a tap of the kernel. */
DEVICE Element over(const Args *a, i64 volume, Line line, i32 tap) {
	const Line t = places_of(0, tap, KERNEL_SIZE(1), KERNEL_SIZE(2));
	const i32 z = reader(a, 0, line.z, t.z), y = reader(a, 1, line.y, t.y), x = reader(a, 2, line.x, t.x);
	if (z < 0 || y < 0 || x < 0)
		return (Element)0;
	return element(AT(2) + volume + ((i64)z * OUT(1) + y) * OUT(2) + x);
}

DEVICE bool kernel_row_by_place(const Args *a) { return true; }
DEVICE const T0 *kernel_row_at(const Args *a, i64 group, i64 i, i64 k) { return AT(1) + (group * OUTPUTS + i) * INPUTS * VOLUME(KERNEL_SIZE) + k; }
DEVICE Element kernel_row(const Args *a, i64 group, i64 i, i64 k) { return element(kernel_row_at(a, group, i, k)); }

DEVICE bool input_column_by_place(const Args *a) { return false; }
DEVICE Line input_column_line(const Args *a, i64 group, i64 j) {
	const i64 image = j / VOLUME(OUT);
	return places_of((image * GROUPS + group) * INPUTS * VOLUME(IN), (i32)(j - image * VOLUME(OUT)), OUT(1), OUT(2));
}
DEVICE Element input_column(const Args *a, i64 group, i64 k, i64 j, Line line) {
	i32 tap = (i32)k;
	const i32 channel = divided(&tap, (i32)VOLUME(KERNEL_SIZE));
	return under(a, line.at + channel * VOLUME(IN), line.z, line.y, line.x, tap);
}

/* Stores an element of images with so many channels in a group and places in a channel. */
DEVICE void store_image(const Args *a, i64 channels, i64 places, i64 group, i64 i, i64 j, C0 x, T1 *result) {
	const i64 channel = group * channels + i;
	if (a->tensors == 4)
		x = x + load0(AT(3) + channel);
	const i64 image = j / places;
	store1(result + (image * GROUPS * channels + channel) * places + j - image * places, x);
}

DEVICE void store_result(const Args *a, i64 group, i64 i, i64 j, C0 x, T1 *result) { store_image(a, OUTPUTS, VOLUME(OUT), group, i, j, x, result); }

#ifdef ENTRY_convolve
#define PRODUCT BLOCKS(convolve) { MULTIPLY(kernel_row, input_column, store_result) }
#endif

DEVICE bool kernel_column_by_place(const Args *a) { return true; }
DEVICE Element kernel_column(const Args *a, i64 group, i64 i, i64 k) {
	i32 tap = (i32)k;
	const i32 output = divided(&tap, (i32)VOLUME(KERNEL_SIZE));
	return element(AT(1) + ((group * OUTPUTS + output) * INPUTS + i) * VOLUME(KERNEL_SIZE) + tap);
}

DEVICE bool result_column_by_place(const Args *a) { return false; }
DEVICE Line result_column_line(const Args *a, i64 group, i64 j) {
	const i64 image = j / VOLUME(IN);
	return places_of((image * GROUPS + group) * OUTPUTS * VOLUME(OUT), (i32)(j - image * VOLUME(IN)), IN(1), IN(2));
}
DEVICE Element result_column(const Args *a, i64 group, i64 k, i64 j, Line line) {
	i32 tap = (i32)k;
	const i32 output = divided(&tap, (i32)VOLUME(KERNEL_SIZE));
	return over(a, line.at + output * VOLUME(OUT), line, tap);
}

DEVICE void store_input(const Args *a, i64 group, i64 i, i64 j, C0 x, T1 *result) { store_image(a, INPUTS, VOLUME(IN), group, i, j, x, result); }

#ifdef ENTRY_transpose
#define PRODUCT BLOCKS(transpose) { MULTIPLY(kernel_column, result_column, store_input) }
#endif

DEVICE bool result_row_by_place(const Args *a) { return true; }
DEVICE const T0 *result_row_at(const Args *a, i64 group, i64 i, i64 k) {
	i32 place = (i32)k;
	const i32 places = (i32)VOLUME(OUT), image = divided(&place, places);
	return AT(1) + ((image * GROUPS + group) * OUTPUTS + i) * places + place;
}
DEVICE Element result_row(const Args *a, i64 group, i64 i, i64 k) { return element(result_row_at(a, group, i, k)); }

DEVICE bool input_tap_by_place(const Args *a) { return false; }
DEVICE Line input_tap_line(const Args *a, i64 group, i64 j) {
	i32 tap = (i32)j;
	Line line = {0, 0, 0, 0};
	line.at = (group * INPUTS + divided(&tap, (i32)VOLUME(KERNEL_SIZE))) * VOLUME(IN);
	line.x = tap;
	return line;
}
DEVICE Element input_tap(const Args *a, i64 group, i64 k, i64 j, Line line) {
	i32 place = (i32)k;
	const i32 image = divided(&place, (i32)VOLUME(OUT));
	const Line o = places_of(0, place, OUT(1), OUT(2));
	return under(a, line.at + image * GROUPS * INPUTS * VOLUME(IN), o.z, o.y, o.x, line.x);
}

DEVICE void store_weight(const Args *a, i64 group, i64 i, i64 j, C0 x, T1 *result) { store1(result + (group * OUTPUTS + i) * INPUTS * VOLUME(KERNEL_SIZE) + j, x); }

#ifdef ENTRY_weights
#define PRODUCT BLOCKS(weights) { MULTIPLY(result_row, input_tap, store_weight) }
#endif
