/* What CUDA C has and C has not, for kernels that run on the processor. The compiler puts a call before each access to memory. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define __device__
#define DEVICE static
#define ALIGN(bytes) __attribute__((aligned(bytes)))
#define UNROLL
#define UNROLL_FOUR

#define UNCHECKED __attribute__((no_sanitize("kernel-address")))

void (*host_check)(char *at, unsigned long bytes);

#define CHECKED(bytes) \
	UNCHECKED void __asan_load##bytes##_noabort(char *at) { host_check(at, bytes); } \
	UNCHECKED void __asan_store##bytes##_noabort(char *at) { host_check(at, bytes); }
CHECKED(1) CHECKED(2) CHECKED(4) CHECKED(8) CHECKED(16)
UNCHECKED void __asan_loadN_noabort(char *at, unsigned long bytes) { host_check(at, bytes); }
UNCHECKED void __asan_storeN_noabort(char *at, unsigned long bytes) { host_check(at, bytes); }
void __asan_handle_no_return(void) {}

/* Where the module itself lies, with its constants. */
extern char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));
UNCHECKED void host_bounds(char **low, char **high) { *low = __ehdr_start; *high = _end; }

/* An address that a GPU reads at once: it must be a multiple of the size. */
#define ALIGNED(type, at) ((type *)((unsigned long long)(at) % sizeof(type) ? (host_check((char *)1, 1), (at)) : (at)))

static long long host_first, host_step;
int host_backwards; /* whether threads run from the last to the first: results that differ depend on an order that a GPU has not */

#define FIRST host_first
#define STEP host_step
#define KERNEL(name) KERNEL_OF(name)
#define KERNEL_OF(name) \
	const long name##_bytes = sizeof(Args); \
	static void name##_body(const Args a); \
	UNCHECKED void name(void **arguments, long long first, long long step) { \
		host_first = first; \
		host_step = step; \
		name##_body(*(const Args *)arguments[0]); \
	} \
	static void name##_body(const Args a)

/* A kernel by blocks runs once for a block; what its threads do between two barriers is a loop over them, and what each has of its own an array. */
#define BLOCKS(name) \
	const int name##_by_blocks = 1; \
	KERNEL(name)
#define BLOCK host_first
#define SHARED static
#define THREADS for (int turn = 0, thread; turn < WIDTH && (thread = host_backwards ? WIDTH - 1 - turn : turn, 1); turn++)
#define OWN(type, name, n) static type name[WIDTH][n]
#define MINE(name) name[thread]
#define UP_TO_WARPS THREADS

#define FIRST_TO_FAIL(failed) (*(failed) == 0 ? (*(failed) = 1) : 0)
#define UPDATES
#define UPDATE(at, x) store0(at, combine(load0(at), x))

UNCHECKED static int __float_as_int(float f) { int i; memcpy(&i, &f, 4); return i; }
UNCHECKED static float __int_as_float(int i) { float f; memcpy(&f, &i, 4); return f; }
UNCHECKED static long long __double_as_longlong(double f) { long long i; memcpy(&i, &f, 8); return i; }
UNCHECKED static double __longlong_as_double(long long i) { double f; memcpy(&f, &i, 8); return f; }
UNCHECKED static void sincospi(double x, double *sine, double *cosine) { *sine = sin(x * M_PI); *cosine = cos(x * M_PI); }
UNCHECKED static void sincospif(float x, float *sine, float *cosine) { *sine = (float)sin(x * M_PI); *cosine = (float)cos(x * M_PI); }

/* What tensor cores do: 16 rows of eight words, times eight columns, for each warp. PTX says which registers of which lane have the elements: of the left factor
   rows lane / 4 and eight behind it, words lane % 4 and four behind it; of the right one the same words of column lane / 4; of the sum columns 2 * (lane % 4) and
   the next. A word is two halves, the first below, a float32 whose last 13 bits nobody reads, or a float64. */
#define MULTIPLY_PIECES(sum, at, x, i, y, j) host_pieces(FORMAT, WIDTH, &sum[0][at], sizeof sum[0], &x[0][i], sizeof x[0], &y[0][j], sizeof y[0])

UNCHECKED static float host_number(char format, unsigned short bits) {
	const int wide = format == 'b' ? 8 : 5, digits = 15 - wide, exponent = bits >> digits & ((1 << wide) - 1), rest = bits & ((1 << digits) - 1), bias = (1 << (wide - 1)) - 1;
	const float size = exponent == (1 << wide) - 1 ? (rest ? NAN : INFINITY) : ldexpf(exponent ? rest + (1 << digits) : rest, (exponent ? exponent : 1) - bias - digits);
	return bits >> 15 ? -size : size;
}

UNCHECKED static void host_pieces(const char *format, int width, void *sums, int sum_bytes, const void *lefts, int left_bytes, const void *rights, int right_bytes) {
	const int is_double = !strcmp(format, "f64"), is_half = !strcmp(format, "f16") || !strcmp(format, "bf16"), deep = is_half ? 16 : 8;
	for (int warp = 0; warp < width; warp += 32) {
		double left[16][16], right[16][8], sum;
		for (int lane = 0; lane < 32; lane++) {
			const char *x = (const char *)lefts + (warp + lane) * left_bytes, *y = (const char *)rights + (warp + lane) * right_bytes;
			for (int e = 0; e < 6; e++) {
				const char *from = e < 4 ? x : y;
				const int at = e < 4 ? e : e - 4, line = lane / 4 + (e < 4 ? e % 2 * 8 : 0), word = lane % 4 + (e < 4 ? e / 2 : at) * 4;
				double found[2];
				if (is_double)
					found[0] = ((const double *)from)[at];
				else if (is_half)
					for (int h = 0; h < 2; h++)
						found[h] = host_number(*format, ((const unsigned short *)from)[2 * at + h]);
				else
					found[0] = __int_as_float(((const int *)from)[at] & ~0x1fff);
				for (int h = 0; h < deep / 8; h++) {
					const int k = word * (deep / 8) + h;
					*(e < 4 ? &left[line][k] : &right[k][line]) = found[h];
				}
			}
		}
		for (int lane = 0; lane < 32; lane++)
			for (int e = 0; e < 4; e++) {
				const int row = lane / 4 + e / 2 * 8, column = 2 * (lane % 4) + e % 2;
				char *at = (char *)sums + (warp + lane) * sum_bytes;
				sum = is_double ? ((double *)at)[e] : ((float *)at)[e];
				for (int k = 0; k < deep; k++)
					sum = is_double ? fma(left[row][k], right[k][column], sum) : sum + left[row][k] * right[k][column];
				if (is_double)
					((double *)at)[e] = sum;
				else
					((float *)at)[e] = (float)sum;
			}
	}
}
