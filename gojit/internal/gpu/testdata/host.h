/* What CUDA C has and C has not, for kernels that run on the processor. The compiler puts a call before each access to memory. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define __device__

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

#define FIRST host_first
#define STEP host_step
#define KERNEL(name) \
	static void name##_body(const Args a); \
	UNCHECKED void name(void **arguments, long long first, long long step) { \
		host_first = first; \
		host_step = step; \
		name##_body(*(const Args *)arguments[0]); \
	} \
	static void name##_body(const Args a)

UNCHECKED static int __float_as_int(float f) { int i; memcpy(&i, &f, 4); return i; }
UNCHECKED static float __int_as_float(int i) { float f; memcpy(&f, &i, 4); return f; }
UNCHECKED static long long __double_as_longlong(double f) { long long i; memcpy(&i, &f, 8); return i; }
UNCHECKED static double __longlong_as_double(long long i) { double f; memcpy(&f, &i, 8); return f; }
