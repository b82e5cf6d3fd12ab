/* Products by tiles: each thread computes EDGE by EDGE elements of the result in groups of GROUP neighbours, from DEPTH columns and rows at a time, which the
   threads bring into shared memory together; those that follow are loaded meanwhile. */
#define DEPTH 16
#define GROUP (sizeof(C0) == 8 ? 2 : 4)
#define AHEAD (DEPTH * TILE / WIDTH)

typedef struct ALIGN(GROUP * sizeof(C0)) { C0 x[GROUP]; } Group;

/* Element e of a tile is that of a line and of a place in the sum. Threads that follow each other have places of a line, where those lie side by side, else
   lines; then a thread has one line. */
#define LINE_OF(e, by_place) ((by_place) ? (e) / DEPTH : (e) % TILE)
#define PLACE_OF(e, by_place) ((by_place) ? (e) % DEPTH : (e) / TILE)

#define LOAD_FROM(LEFT, RIGHT, from) \
	UNROLL for (int e = 0; e < AHEAD; e++) { \
		const i64 k = (from) + PLACE_OF(e * WIDTH + thread, left_by_place), i = row + LINE_OF(e * WIDTH + thread, left_by_place); \
		MINE(ahead)[e] = i < ROWS && k < end ? LEFT(&a, batch, i, k) : (C0)0; \
	} \
	UNROLL for (int e = 0; e < AHEAD; e++) { \
		const i64 k = (from) + PLACE_OF(e * WIDTH + thread, right_by_place), j = column + LINE_OF(e * WIDTH + thread, right_by_place); \
		MINE(ahead)[AHEAD + e] = j < COLUMNS && k < end ? RIGHT(&a, batch, k, j, MINE(line)[0]) : (C0)0; \
	}

#define MULTIPLY(LEFT, RIGHT, STORE) \
	SHARED Group left[DEPTH][TILE / GROUP + 1], right[DEPTH][TILE / GROUP + 1]; \
	OWN(C0, sum, EDGE * EDGE); \
	OWN(C0, ahead, 2 * AHEAD); \
	OWN(Line, line, 1); \
	const i64 tile = BLOCK / PARTS, row = tile % TALL * TILE, column = tile / TALL % WIDE * TILE, batch = tile / TALL / WIDE; \
	const i64 some = ((ALL + PARTS - 1) / PARTS + DEPTH - 1) / DEPTH * DEPTH, begin = PART * some, end = MIN(begin + some, ALL); \
	const bool left_by_place = LEFT##_by_place(&a), right_by_place = RIGHT##_by_place(&a); \
	THREADS { \
		UNROLL for (int e = 0; e < EDGE * EDGE; e++) \
			MINE(sum)[e] = 0; \
		MINE(line)[0] = RIGHT##_line(&a, batch, column + thread % TILE); \
		LOAD_FROM(LEFT, RIGHT, begin) \
	} \
	for (i64 from = begin; from < end; from += DEPTH) { \
		THREADS UNROLL for (int e = 0; e < AHEAD; e++) { \
			const int at = e * WIDTH + thread; \
			((C0 *)left[PLACE_OF(at, left_by_place)])[LINE_OF(at, left_by_place)] = MINE(ahead)[e]; \
			((C0 *)right[PLACE_OF(at, right_by_place)])[LINE_OF(at, right_by_place)] = MINE(ahead)[AHEAD + e]; \
		} \
		THREADS { \
			if (from + DEPTH < end) { \
				LOAD_FROM(LEFT, RIGHT, from + DEPTH) \
			} \
			UNROLL for (int k = 0; k < DEPTH; k++) { \
				Group x[EDGE / GROUP], y[EDGE / GROUP]; \
				UNROLL for (int g = 0; g < EDGE / GROUP; g++) { \
					x[g] = left[k][g * 16 + thread / 16]; \
					y[g] = right[k][g * 16 + thread % 16]; \
				} \
				UNROLL for (int e = 0; e < EDGE * EDGE; e++) \
					MINE(sum)[e] = MULTIPLY_ADD(x[e / EDGE / GROUP].x[e / EDGE % GROUP], y[e % EDGE / GROUP].x[e % EDGE % GROUP], MINE(sum)[e]); \
			} \
		} \
	} \
	THREADS UNROLL for (int e = 0; e < EDGE * EDGE; e++) { \
		const int g = e / EDGE, h = e % EDGE; \
		const i64 i = row + (g / GROUP * 16 + thread / 16) * GROUP + g % GROUP, j = column + (h / GROUP * 16 + thread % 16) * GROUP + h % GROUP; \
		if (i < ROWS && j < COLUMNS) \
			STORE(&a, batch, i, j, MINE(sum)[e], (T1 *)a.at[0] + PART * N(6)); \
	}

PRODUCT
