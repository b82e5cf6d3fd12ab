/* Orders rows; what is equal stays in its order. A NaN is larger than all numbers. Tensors: values and places, those afterwards and those before; numbers:
   elements of a row, whether the largest comes first, one of the entry point, and whether the places are counted: there is no tensor of those before. */
#define LENGTH a.number[0]

#define PLACE_OF(row, i) (a.number[3] ? (i) : ((const i64 *)a.at[3])[(row) * LENGTH + (i)])

/* An element as a number whose order is that of the elements, of KEY_BITS. */
#define KEY_BITS (8 * (int)sizeof(T0))
#define ALL_BITS (~(u64)0 >> (64 - KEY_BITS))
DEVICE u64 key_of(const Args *a, const T0 *at) {
	const C0 x = load0(at);
	const u64 sign = (u64)1 << (KEY_BITS - 1);
	u64 bits = sizeof(T0) == 1 ? *(const u8 *)at : sizeof(T0) == 2 ? *(const u16 *)at : sizeof(T0) == 4 ? *(const u32 *)at : *(const u64 *)at;
	if ((C0)0.5 == 0.5) { /* floats: those with a sign are turned around */
		if (x != x)
			bits = ALL_BITS;
		else if (x == 0)
			bits = sign;
		else
			bits = bits & sign ? ~bits & ALL_BITS : bits | sign;
	} else if ((C0)-1 < (C0)0)
		bits ^= sign;
	return a->number[1] ? ~bits & ALL_BITS : bits;
}

/* Rows of as many elements as a block of threads orders: a bitonic network of "size" places, number[2], a power of two. */
#define MOST 2048
BLOCKS(order) {
	SHARED u64 key[MOST];
	SHARED i32 place[MOST];
	const int size = (int)a.number[2];
	const T0 *row = (const T0 *)a.at[2] + BLOCK * LENGTH;
	THREADS for (int i = thread; i < size; i += WIDTH) {
		key[i] = i < LENGTH ? key_of(&a, row + i) : ~(u64)0;
		place[i] = i;
	}
	for (int run = 2; run <= size; run *= 2)
		for (int apart = run / 2; apart > 0; apart /= 2)
			THREADS for (int i = thread; i < size / 2; i += WIDTH) {
				const int x = i / apart * 2 * apart + i % apart, y = x + apart;
				const bool is_less = key[x] < key[y] || key[x] == key[y] && place[x] < place[y];
				if (is_less == ((x & run) != 0)) {
					const u64 k = key[x];
					const i32 p = place[x];
					key[x] = key[y];
					key[y] = k;
					place[x] = place[y];
					place[y] = p;
				}
			}
	THREADS for (int i = thread; i < LENGTH; i += WIDTH) {
		((T0 *)a.at[0])[BLOCK * LENGTH + i] = row[place[i]];
		((i64 *)a.at[1])[BLOCK * LENGTH + i] = PLACE_OF(BLOCK, place[i]);
	}
}

/* Longer rows are ordered by DIGITS values of four bits of the keys at a time, from the lowest: "count" finds how many of a tile have which digit, and "move" takes
   elements to their places, which the running sums of those counts tell. The last tensor has the counts, by row, digit and tile; number[2] is the place of the
   digit's lowest bit. */
#define DIGITS 16
#define OWNED 8
#define TILE (WIDTH * OWNED)
#define TILES ((LENGTH + TILE - 1) / TILE)
#define DIGIT(i) (int)(key_of(&a, VALUES + (i)) >> a.number[2] & (DIGITS - 1))
#define VALUES ((const T0 *)a.at[2] + BLOCK / TILES * LENGTH)
#define COUNTS ((i32 *)a.at[a.tensors - 1] + BLOCK / TILES * DIGITS * TILES)

#define COUNT \
	THREADS { \
		for (int d = 0; d < DIGITS; d++) \
			count[d][thread] = 0; \
		for (int k = 0; k < OWNED; k++) { \
			const i64 i = BLOCK % TILES * TILE + thread * OWNED + k; \
			if (i < LENGTH) \
				count[DIGIT(i)][thread]++; \
		} \
	}

BLOCKS(count) {
	SHARED u16 count[DIGITS][WIDTH];
	COUNT
	for (int half = WIDTH / 2; half > 0; half /= 2)
		THREADS for (int e = thread; e < half * DIGITS; e += WIDTH)
			count[e / half][e % half] += count[e / half][e % half + half];
	THREADS if (thread < DIGITS)
		COUNTS[thread * TILES + BLOCK % TILES] = count[thread][0];
}

BLOCKS(move) {
	SHARED u16 count[DIGITS][WIDTH], other[DIGITS][WIDTH];
	COUNT
	for (int n = 1; n < WIDTH; n *= 2) {
		THREADS for (int d = 0; d < DIGITS; d++)
			other[d][thread] = count[d][thread] + (thread >= n ? count[d][thread - n] : 0);
		THREADS for (int d = 0; d < DIGITS; d++)
			count[d][thread] = other[d][thread];
	}
	THREADS {
		for (int d = 0; d < DIGITS; d++)
			other[d][thread] = 0;
		for (int k = 0; k < OWNED; k++) {
			const i64 i = BLOCK % TILES * TILE + thread * OWNED + k;
			if (i < LENGTH) {
				const int d = DIGIT(i);
				const i64 column = d * TILES + BLOCK % TILES;
				const i64 to = BLOCK / TILES * LENGTH + (column > 0 ? COUNTS[column - 1] : 0) + (thread > 0 ? count[d][thread - 1] : 0) + other[d][thread]++;
				((T0 *)a.at[0])[to] = VALUES[i];
				((i64 *)a.at[1])[to] = PLACE_OF(BLOCK / TILES, i);
			}
		}
	}
}

/* The first number[2] of rows in their order, by a block of threads each, not in order: digits from the highest tell a key that so many come before, and
   those with that key which are taken too. Tensors: values and places of what is taken, values. */
BLOCKS(select) {
	SHARED i32 count[DIGITS][WIDTH];
	SHARED u64 limit[1]; /* the digits found so far */
	SHARED i64 rest[1], taken[2];
	const T0 *row = (const T0 *)a.at[2] + BLOCK * LENGTH;
	THREADS if (thread == 0) {
		limit[0] = 0;
		rest[0] = a.number[2];
	}
	for (int shift = KEY_BITS - 4; shift >= 0; shift -= 4) {
		THREADS {
			for (int d = 0; d < DIGITS; d++)
				count[d][thread] = 0;
			for (i64 i = thread; i < LENGTH; i += WIDTH) {
				const u64 key = key_of(&a, row + i);
				if (shift + 4 >= KEY_BITS || key >> (shift + 4) == limit[0] >> (shift + 4))
					count[key >> shift & (DIGITS - 1)][thread]++;
			}
		}
		for (int half = WIDTH / 2; half > 0; half /= 2)
			THREADS for (int e = thread; e < half * DIGITS; e += WIDTH)
				count[e / half][e % half] += count[e / half][e % half + half];
		THREADS if (thread == 0) {
			int d = 0;
			for (; d < DIGITS - 1 && count[d][0] < rest[0]; d++)
				rest[0] -= count[d][0];
			limit[0] |= (u64)d << shift;
		}
	}
	/* Below the limit all are taken, of what equals it the first. */
	THREADS if (thread == 0)
		taken[0] = taken[1] = 0;
	for (i64 tile = 0; tile < LENGTH; tile += WIDTH) {
		THREADS {
			const u64 key = tile + thread < LENGTH ? key_of(&a, row + tile + thread) : ~(u64)0;
			const bool is_row = tile + thread < LENGTH;
			count[0][thread] = is_row && key < limit[0];
			count[1][thread] = is_row && key == limit[0];
		}
		for (int n = 1; n < WIDTH; n *= 2) {
			THREADS for (int d = 0; d < 2; d++)
				count[2 + d][thread] = count[d][thread] + (thread >= n ? count[d][thread - n] : 0);
			THREADS for (int d = 0; d < 2; d++)
				count[d][thread] = count[2 + d][thread];
		}
		THREADS for (int d = 0; d < 2; d++) {
			const int own = count[d][thread] - (thread > 0 ? count[d][thread - 1] : 0);
			const i64 before = taken[d] + count[d][thread] - 1, to = d == 0 ? before : a.number[2] - rest[0] + before;
			if (own && (d == 0 || before < rest[0])) {
				((T0 *)a.at[0])[BLOCK * a.number[2] + to] = row[tile + thread];
				((i64 *)a.at[1])[BLOCK * a.number[2] + to] = tile + thread;
			}
		}
		THREADS if (thread < 2)
			taken[thread] += count[thread][WIDTH - 1];
	}
}
