/* Products by tensor cores: a warp has an eighth of the tile, SQUARES by SQUARES pieces of 16 by 8 elements, each of which one instruction adds products to that
   sum over eight words of a line: a word is what a register of a factor holds, two numbers of 16 bits side by side in the sum, or a number of float32, rounded to
   TF32, or of float64. Lines of the left factor are its rows, those of the right one its columns; WORDS words of each are brought at a time. */
#define SQUARES (EDGE / 2)
#define WORDS 16
#define PITCH (WORDS + 4) /* of lines in shared memory: a warp's eight lines of four words lie in different banks */
#define DEPTH (PER * WORDS)
#define AHEAD (TILE * WORDS / 4 / WIDTH) /* how often a thread brings four words */

#if defined T0_IS_float64
#define PER 1
#define FORMAT "f64"
typedef double Word;
DEVICE Word word_of(const Element *x) { return *x; }
#elif defined T0_IS_float32
#define PER 1
#define FORMAT "tf32"
#define SHAPE "m16n8k8"
typedef u32 Word;
DEVICE Word word_of(const Element *x) { return *x != *x ? 0x7fffe000 : ((u32)__float_as_int(*x) + 0x1000) & 0xffffe000; }
#else
#define PER 2
#define SHAPE "m16n8k16"
#ifdef T0_IS_bfloat16
#define FORMAT "bf16"
#else
#define FORMAT "f16"
#endif
typedef u32 Word;
DEVICE Word word_of(const Element *x) { return (u32)x[0] | (u32)x[1] << 16; }
#endif

/* How words are brought: SIZE1 says it of the left factor and SIZE2 of the right one. */
#define BY_LINE 0      /* four words of a line, by their elements; threads that follow each other have lines that do, and a thread has one line */
#define BY_PLACE 1     /* the same where elements of a line lie side by side: four threads have a line's words */
#define LINE_AT_ONCE 2 /* the same, read at once */
#define FOUR_LINES 3   /* a word of four lines whose elements lie side by side, read at once */
#define LINE_OF(u, way) ((way) == FOUR_LINES ? (u) / WORDS * 4 : (way) == BY_LINE ? (u) % TILE : (u) / 32 * 8 + (u) % 8)
#define WORD_OF(u, way) ((way) == FOUR_LINES ? (u) % WORDS : (way) == BY_LINE ? (u) / TILE * 4 : (u) / 8 % 4 * 4)

typedef struct ALIGN(16) { Word x[4]; } Four;
typedef struct ALIGN(8) { T0 x[8 / sizeof(T0)]; } Eight;
typedef struct ALIGN(16) { T0 x[16 / sizeof(T0)]; } Sixteen;

/* Reads elements that lie side by side, eight bytes at least. */
#define READ(to, from, elements) \
	if ((elements) * sizeof(T0) == 8) \
		*(Eight *)(to) = *ALIGNED(const Eight, from); \
	else \
		UNROLL for (int s = 0; s < (int)((elements) * sizeof(T0) / 16); s++) \
			((Sixteen *)(to))[s] = ALIGNED(const Sixteen, from)[s];

#if SIZE1 >= LINE_AT_ONCE
#define LEFT_AT(LEFT, line, place) LEFT##_at(&a, batch, line, place)
#else
#define LEFT_AT(LEFT, line, place) AT_NO_PLACE
#endif
#if SIZE2 >= LINE_AT_ONCE
#define RIGHT_AT(RIGHT, line, place) RIGHT##_at(&a, batch, place, line)
#else
#define RIGHT_AT(RIGHT, line, place) AT_NO_PLACE
#endif
#define AT_NO_PLACE ((const T0 *)0)

#define LEFT_ELEMENT(LEFT, line, place) LEFT(&a, batch, line, place)
#define RIGHT_ELEMENT(RIGHT, line, place) RIGHT(&a, batch, place, line, MINE(column_line)[0])

/* What a thread brings of a factor, from a line and a place in the sum on. */
#define BRING(WAY, ADDRESS, ELEMENT, FACTOR, to, first, lines, from) \
	UNROLL for (int u = 0; u < AHEAD; u++) { \
		const i64 line = (first) + LINE_OF(u * WIDTH + thread, WAY), place = (from) + PER * WORD_OF(u * WIDTH + thread, WAY); \
		ALIGN(16) Element x[4 * PER]; \
		if (WAY == LINE_AT_ONCE && line < (lines) && place + 4 * PER <= end) { \
			READ(x, ADDRESS(FACTOR, line, place), 4 * PER) \
			UNROLL for (int w = 0; w < 4; w++) \
				(to)[4 * u + w] = word_of(x + PER * w); \
			continue; \
		} \
		if (WAY == FOUR_LINES && line + 4 <= (lines) && place + PER <= end) { \
			UNROLL for (int p = 0; p < PER; p++) { \
				READ(x + 4 * p, ADDRESS(FACTOR, line, place + p), 4) \
			} \
			UNROLL for (int w = 0; w < 4; w++) { \
				const Element pair[2] = {x[w], x[w + 4 * (PER - 1)]}; \
				(to)[4 * u + w] = word_of(pair); \
			} \
			continue; \
		} \
		UNROLL for (int w = 0; w < 4; w++) { \
			UNROLL for (int p = 0; p < PER; p++) { \
				const i64 l = line + (WAY == FOUR_LINES ? w : 0), k = place + PER * (WAY == FOUR_LINES ? 0 : w) + p; \
				x[p] = l < (lines) && k < end ? ELEMENT(FACTOR, l, k) : (Element)0; \
			} \
			(to)[4 * u + w] = word_of(x); \
		} \
	}

#define KEEP(WAY, tile, from) \
	UNROLL for (int u = 0; u < AHEAD; u++) { \
		const int line = LINE_OF(u * WIDTH + thread, WAY), at = WORD_OF(u * WIDTH + thread, WAY); \
		if (WAY == FOUR_LINES) { \
			UNROLL for (int w = 0; w < 4; w++) \
				((Word *)tile[line + w])[at] = (from)[4 * u + w]; \
		} else { \
			Four four; \
			UNROLL for (int w = 0; w < 4; w++) \
				four.x[w] = (from)[4 * u + w]; \
			tile[line][at / 4] = four; \
		} \
	}

/* Where the piece of a thread's warp begins in the tile, and the thread's place in the patterns by which an instruction's factors and sums lie in registers. */
#define WARP_ROW (thread / 32 % 2 * (TILE / 2))
#define WARP_COLUMN (thread / 64 * (TILE / 4))
#define ACROSS (thread % 32 / 4)
#define ALONG (thread % 4)

#define MULTIPLY(LEFT, RIGHT, STORE) \
	SHARED Four left[TILE][PITCH / 4], right[TILE][PITCH / 4]; \
	OWN(C0, sum, 4 * SQUARES * SQUARES); \
	OWN(Word, ahead, 8 * AHEAD); \
	OWN(Word, x, 4 * SQUARES); \
	OWN(Word, y, 2 * SQUARES); \
	OWN(Line, column_line, 1); \
	const i64 tile = BLOCK / PARTS, row = tile % TALL * TILE, column = tile / TALL % WIDE * TILE, batch = tile / TALL / WIDE; \
	const i64 some = ((ALL + PARTS - 1) / PARTS + DEPTH - 1) / DEPTH * DEPTH, begin = PART * some, end = MIN(begin + some, ALL); \
	UP_TO_WARPS { \
		UNROLL for (int e = 0; e < 4 * SQUARES * SQUARES; e++) \
			MINE(sum)[e] = 0; \
		MINE(column_line)[0] = RIGHT##_line(&a, batch, column + thread % TILE); \
		BRING(SIZE1, LEFT_AT, LEFT_ELEMENT, LEFT, MINE(ahead), row, ROWS, begin) \
		BRING(SIZE2, RIGHT_AT, RIGHT_ELEMENT, RIGHT, MINE(ahead) + 4 * AHEAD, column, COLUMNS, begin) \
	} \
	for (i64 from = begin; from < end; from += DEPTH) { \
		THREADS { \
			KEEP(SIZE1, left, MINE(ahead)) \
			KEEP(SIZE2, right, MINE(ahead) + 4 * AHEAD) \
		} \
		UP_TO_WARPS { \
			if (from + DEPTH < end) { \
				BRING(SIZE1, LEFT_AT, LEFT_ELEMENT, LEFT, MINE(ahead), row, ROWS, from + DEPTH) \
				BRING(SIZE2, RIGHT_AT, RIGHT_ELEMENT, RIGHT, MINE(ahead) + 4 * AHEAD, column, COLUMNS, from + DEPTH) \
			} \
		} \
		UNROLL for (int w = 0; w < WORDS; w += 8) { \
			UP_TO_WARPS { \
				UNROLL for (int e = 0; e < 4 * SQUARES; e++) \
					MINE(x)[e] = ((const Word *)left[WARP_ROW + e / 4 * 16 + e % 2 * 8 + ACROSS])[w + e % 4 / 2 * 4 + ALONG]; \
				UNROLL for (int e = 0; e < 2 * SQUARES; e++) \
					MINE(y)[e] = ((const Word *)right[WARP_COLUMN + e / 2 * 8 + ACROSS])[w + e % 2 * 4 + ALONG]; \
			} \
			UNROLL for (int e = 0; e < SQUARES * SQUARES; e++) \
				MULTIPLY_PIECES(sum, 4 * e, x, e / SQUARES * 4, y, e % SQUARES * 2); \
		} \
		THREADS {} \
	} \
	UP_TO_WARPS UNROLL for (int e = 0; e < 4 * SQUARES * SQUARES; e++) { \
		const int piece = e / 4; \
		const i64 i = row + WARP_ROW + piece / SQUARES * 16 + e % 4 / 2 * 8 + ACROSS, j = column + WARP_COLUMN + piece % SQUARES * 8 + 2 * ALONG + e % 2; \
		if (i < ROWS && j < COLUMNS) \
			STORE(&a, batch, i, j, MINE(sum)[e], (T1 *)a.at[0] + PART * N(6)); \
	}

#ifndef MULTIPLY_PIECES
#define MULTIPLY_PIECES(sum, at, x, i, y, j) multiply_pieces(sum + (at), x + (i), y + (j))

/* Adds the product of 16 rows and 8 columns of eight words to the sum: one instruction, or those of smaller pieces, whose registers lie in the same pattern. */
#if defined T0_IS_float64
DEVICE void multiply_pieces(double *sum, const double *x, const double *y) {
	UNROLL for (int e = 0; e < 4; e++)
		asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(sum[e % 2 * 2]), "+d"(sum[e % 2 * 2 + 1]) : "d"(x[e]), "d"(y[e / 2]));
}
#else
#define SUMS "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
DEVICE void multiply_pieces(float *sum, const u32 *x, const u32 *y) {
#if defined T0_IS_float16 && __CUDA_ARCH__ < 800
	asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" : SUMS : "r"(x[0]), "r"(x[1]), "r"(y[0]));
	asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" : SUMS : "r"(x[2]), "r"(x[3]), "r"(y[1]));
#else
	asm("mma.sync.aligned." SHAPE ".row.col.f32." FORMAT "." FORMAT ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: SUMS : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
#endif
}
#endif
#endif

PRODUCT
