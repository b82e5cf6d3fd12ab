/* Points of Sobol' sequences: the exclusive sums of the direction numbers that the bits of a Gray code choose. BITS is how many bits a coordinate has. */
#define BITS SIZE0

/* Tensors: points, 0 where the last one alone is asked for; the integers of the last one; those of the point before the first; direction numbers.
   Numbers: how many points; dimensions; the number of the point before the first. */
KERNEL(draw) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		const i64 n = a.number[0], dimensions = a.number[1], j = i % dimensions, before = a.number[2], now = before + (a.at[0] ? i / dimensions + 1 : n);
		const i64 steps = (before ^ before >> 1) ^ (now ^ now >> 1);
		i64 sum = ((const i64 *)a.at[2])[j];
		for (int k = 0; k < BITS; k++)
			if (steps >> k & 1)
				sum ^= ((const i64 *)a.at[3])[j * BITS + k];
		if (a.at[0])
			store0((T0 *)a.at[0] + i, (C0)sum * (C0)(1.0 / ((i64)1 << BITS)));
		if (now == before + n)
			((i64 *)a.at[1])[j] = sum;
	}
}

/* Direction numbers times a triangle of bits, of whose diagonal all count as ones. Tensors: results, direction numbers, triangles. */
KERNEL(scramble) {
	for (i64 i = FIRST; i < a.n; i += STEP) {
		const i64 *triangle = (const i64 *)a.at[2] + i / BITS * BITS * BITS, number = ((const i64 *)a.at[1])[i];
		i64 result = 0;
		for (int r = 0; r < BITS; r++) {
			i64 bit = 0;
			for (int k = 0; k < BITS; k++)
				bit += (number >> (BITS - 1 - k)) * (k == r ? 1 : triangle[r * BITS + k]);
			result = result << 1 | (bit & 1);
		}
		((i64 *)a.at[0])[i] = result;
	}
}
