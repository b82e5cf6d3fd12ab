/* Reductions of windows over three dimensions, a thread for each result. Tensors: result, source, places; numbers: sizes of the source, of the
   result, whether the padding counts, a divisor that takes the place of the size, and for each dimension kernel, stride, padding and dilation, or
   a stride of 0 where the dimension is divided into windows of nearly equal size. */
typedef struct { i64 from[3], to[3], by[3], size; } Window;

DEVICE Window window_of(const Args *a, i64 place) {
	Window w;
	w.size = 1;
	for (int d = 2; d >= 0; d--) {
		const i64 in = a->number[d], out = a->number[3 + d], *own = a->number + 8 + 4 * d, i = place % out, lo = i * own[1] - own[2];
		i64 padded = MIN(lo + own[0], in + own[2]) - lo;
		w.from[d] = lo < 0 ? lo + (own[3] - 1 - lo) / own[3] * own[3] : lo;
		w.to[d] = MIN(lo + own[3] * (own[0] - 1) + 1, in);
		w.by[d] = own[3];
		if (own[1] == 0) {
			w.from[d] = i / out * in + i % out * in / out;
			w.to[d] = ((i + 1) * in + out - 1) / out;
			padded = w.to[d] - w.from[d];
		}
		w.size *= a->number[6] ? padded : (w.to[d] - w.from[d] + w.by[d] - 1) / w.by[d];
		place /= out;
	}
	if (a->number[7] != 0)
		w.size = a->number[7];
	return w;
}

#define PLACES (a.number[3] * a.number[4] * a.number[5])
#define VOLUME (a.number[0] * a.number[1] * a.number[2])
#define EACH_OF(w) \
	for (i64 z = w.from[0]; z < w.to[0]; z += w.by[0]) \
		for (i64 y = w.from[1]; y < w.to[1]; y += w.by[1]) \
			for (i64 x = w.from[2]; x < w.to[2]; x += w.by[2])
#define HERE ((z * a.number[1] + y) * a.number[2] + x)
