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

#define FIRST_TO_FAIL(failed) (*(failed) == 0 ? (*(failed) = 1) : 0)
#define UPDATES
#define UPDATE(at, x) store0(at, combine(load0(at), x))

UNCHECKED static int __float_as_int(float f) { int i; memcpy(&i, &f, 4); return i; }
UNCHECKED static float __int_as_float(int i) { float f; memcpy(&f, &i, 4); return f; }
UNCHECKED static long long __double_as_longlong(double f) { long long i; memcpy(&i, &f, 8); return i; }
UNCHECKED static double __longlong_as_double(long long i) { double f; memcpy(&f, &i, 8); return f; }
UNCHECKED static void sincospi(double x, double *sine, double *cosine) { *sine = sin(x * M_PI); *cosine = cos(x * M_PI); }
UNCHECKED static void sincospif(float x, float *sine, float *cosine) { *sine = (float)sin(x * M_PI); *cosine = (float)cos(x * M_PI); }
