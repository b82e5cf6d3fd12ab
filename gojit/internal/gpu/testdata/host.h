/* What CUDA C has and C has not, for kernels that run on the processor. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define __device__

static long long host_first, host_step;

#define FIRST host_first
#define STEP host_step
#define KERNEL(name) \
	static void name##_body(const Args a); \
	void name(void **arguments, long long first, long long step) { \
		host_first = first; \
		host_step = step; \
		name##_body(*(const Args *)arguments[0]); \
	} \
	static void name##_body(const Args a)

static int __float_as_int(float f) { int i; memcpy(&i, &f, 4); return i; }
static float __int_as_float(int i) { float f; memcpy(&f, &i, 4); return f; }
static long long __double_as_longlong(double f) { long long i; memcpy(&i, &f, 8); return i; }
static double __longlong_as_double(long long i) { double f; memcpy(&f, &i, 8); return f; }
