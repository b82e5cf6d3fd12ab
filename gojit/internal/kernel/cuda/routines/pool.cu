/* Reductions of windows over three dimensions, a thread for each result. Tensors: result, source, windows (beginning, end, step and size with
   padding for each result along each dimension, one dimension after another), places; numbers: sizes of the source, of the result, whether the
   padding counts, and a divisor that takes the place of the size. */
typedef struct { i64 from[3], to[3], by[3], size; } Window;

DEVICE Window window_of(const Args *a, i64 place) {
	const i64 *out = a->number + 3, *windows[3];
	Window w;
	windows[0] = (const i64 *)a->at[2];
	windows[1] = windows[0] + 4 * out[0];
	windows[2] = windows[1] + 4 * out[1];
	w.size = 1;
	for (int d = 2; d >= 0; d--) {
		const i64 *own = windows[d] + 4 * (place % out[d]);
		w.from[d] = own[0];
		w.to[d] = own[1];
		w.by[d] = own[2];
		w.size *= a->number[6] ? own[3] : (own[1] - own[0] + own[2] - 1) / own[2];
		place /= out[d];
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
