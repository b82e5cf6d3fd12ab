/* Running results along the middle one of three dimensions. Tensors: result, source and, for extremes, their places; numbers: elements of a line, and how
   far apart they are. Here a thread takes a line. */
KERNEL(scan) {
	for (i64 t = FIRST; t < a.n; t += STEP) {
		const i64 n = a.number[0], step = a.number[1], at = t / step * step * n + t % step;
		C0 so = START;
		for (i64 i = at; i < at + n * step; i += step) {
			so = combine(so, load0((const T0 *)a.at[1] + i));
			store0((T0 *)a.at[0] + i, so);
		}
	}
}

/* Lines of elements side by side, each in parts of as many elements as number[1] says, which blocks of threads take. The third tensor has a result for
   each part: "totals" stores that of the part alone, "parts" goes on from that of the part before, if there are several. */
#define LENGTH a.number[0]
#define PART a.number[1]
#define PARTS ((LENGTH + PART - 1) / PART)
#define LINE ((const T0 *)a.at[1] + BLOCK / PARTS * LENGTH)
#define BEGIN (BLOCK % PARTS * PART)
#define END MIN(BEGIN + PART, LENGTH)

BLOCKS(totals) {
	SHARED C0 part[WIDTH];
	THREADS {
		C0 so = START;
		const i64 own = (END - BEGIN + WIDTH - 1) / WIDTH, from = BEGIN + thread * own; /* neighbours, as the order counts */
		for (i64 i = from; i < MIN(from + own, END); i++)
			so = combine(so, load0(LINE + i));
		part[thread] = so;
	}
	for (int n = 1; n < WIDTH; n *= 2)
		THREADS if (thread % (2 * n) == 0)
			part[thread] = combine(part[thread], part[thread + n]);
	THREADS if (thread == 0)
		store0((T0 *)a.at[0] + BLOCK, part[0]);
}

/* A thread takes so many elements of a tile. */
#define OWNED 8
BLOCKS(parts) {
	SHARED C0 part[WIDTH], other[WIDTH], so_far[1];
	OWN(C0, own, OWNED);
	THREADS if (thread == 0)
		so_far[0] = PARTS > 1 && BLOCK % PARTS > 0 ? load0((const T0 *)a.at[2] + BLOCK - 1) : START;
	for (i64 tile = BEGIN; tile < END; tile += WIDTH * OWNED) {
		THREADS {
			C0 so = START;
			for (int k = 0; k < OWNED; k++) {
				const i64 i = tile + thread * OWNED + k;
				if (i < END)
					so = combine(so, load0(LINE + i));
				MINE(own)[k] = so;
			}
			part[thread] = so;
		}
		for (int n = 1; n < WIDTH; n *= 2) {
			THREADS other[thread] = thread >= n ? combine(part[thread - n], part[thread]) : part[thread];
			THREADS part[thread] = other[thread];
		}
		THREADS {
			const C0 before = thread > 0 ? combine(so_far[0], part[thread - 1]) : so_far[0];
			for (int k = 0; k < OWNED; k++) {
				const i64 i = tile + thread * OWNED + k;
				if (i < END)
					store0((T0 *)a.at[0] + BLOCK / PARTS * LENGTH + i, combine(before, MINE(own)[k]));
			}
		}
		THREADS if (thread == 0)
			so_far[0] = combine(so_far[0], part[WIDTH - 1]);
	}
}

/* The largest or smallest so far and its last place; a NaN is both. */
KERNEL(extremes) {
	for (i64 t = FIRST; t < a.n; t += STEP) {
		const i64 n = a.number[0], step = a.number[1], at = t / step * step * n + t % step;
		C0 so = load0((const T0 *)a.at[1] + at);
		i64 place = 0;
		for (i64 k = 0; k < n; k++) {
			const C0 x = load0((const T0 *)a.at[1] + at + k * step);
			if (x != x || so == so && combine(x, so) == x) {
				so = x;
				place = k;
			}
			store0((T0 *)a.at[0] + at + k * step, so);
			((i64 *)a.at[2])[at + k * step] = place;
		}
	}
}
