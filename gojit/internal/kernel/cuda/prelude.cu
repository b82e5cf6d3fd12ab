typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef struct { u16 re, im; } c32;
typedef struct { float re, im; } c64;
typedef struct { double re, im; } c128;

#ifndef KERNEL
#define DEVICE __device__ inline /* NVRTC warns of static functions that nothing uses */
#define ALIGN(bytes) __align__(bytes)
#define ALIGNED(type, at) ((type *)(at))
#define UNROLL _Pragma("unroll")
#define UNROLL_FOUR _Pragma("unroll 4")
#define KERNEL(name) extern "C" __global__ void name(const Args a)
#define FIRST ((i64)blockIdx.x * blockDim.x + threadIdx.x)
#define STEP ((i64)gridDim.x * blockDim.x)
/* A kernel by blocks: what its threads do between two barriers is a THREADS loop, what each has of its own an array. */
#define BLOCKS(name) KERNEL(name)
#define BLOCK ((i64)blockIdx.x)
#define SHARED __shared__
#define THREADS for (int thread = threadIdx.x, once = 1; once && thread < WIDTH; once = 0, __syncthreads())
#define UP_TO_WARPS for (int thread = threadIdx.x, once = 1; once; once = 0) /* what threads do up to the next instruction of their warp */
#define OWN(type, name, n) type name[n]
#define MINE(name) name
#define FIRST_TO_FAIL(failed) (atomicCAS((unsigned long long *)(failed), 0ull, 1ull) == 0)
/* Combines an element in memory with another value, whatever others do at the same time. ADDS says that it is added to. */
#define UPDATE(at, x) update((at), (x))
#define UPDATES \
	template <class T, class C> DEVICE bool add(T *at, C x) { return false; } \
	DEVICE bool add(float *at, float x) { atomicAdd(at, x); return true; } \
	DEVICE bool add(double *at, double x) { atomicAdd(at, x); return true; } \
	DEVICE bool add(i32 *at, i32 x) { atomicAdd(at, x); return true; } \
	DEVICE bool add(i64 *at, i64 x) { atomicAdd((unsigned long long *)at, (unsigned long long)x); return true; } \
	DEVICE void update(T0 *at, C0 x) { \
		if (ADDS && add(at, x)) \
			return; \
		if (sizeof(T0) == 8) { \
			unsigned long long *word = (unsigned long long *)at, seen, old = *word; \
			do { \
				union { unsigned long long word; T0 element; } u; \
				u.word = seen = old; \
				store0(&u.element, combine(load0(&u.element), x)); \
				old = atomicCAS(word, seen, u.word); \
			} while (old != seen); \
		} else { \
			const int place = (int)((u64)at & 3) / (int)sizeof(T0); \
			unsigned int *word = (unsigned int *)((u64)at & ~(u64)3), seen, old = *word; \
			do { \
				union { unsigned int word; T0 element[4 / sizeof(T0) + 1]; } u; \
				u.word = seen = old; \
				store0(u.element + place, combine(load0(u.element + place), x)); \
				old = atomicCAS(word, seen, u.word); \
			} while (old != seen); \
		} \
	}
#endif

/* The place in the innermost dimension of what is left of a place, and what is left of it then; 32 bits are divided faster than 64. */
DEVICE i64 place_in(i64 *left, i64 size) {
	const i64 i = *left;
	if ((u64)(i | size) >> 32 == 0)
		*left = (i64)((u32)i / (u32)size);
	else
		*left = i / size;
	return i - *left * size;
}

#define MIN(x, y) ((x) != (x) || (x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) != (x) || (x) > (y) ? (x) : (y))

DEVICE float from_half(u16 h) {
	u32 sign = (u32)(h & 0x8000) << 16, exponent = h >> 10 & 31, digits = h & 1023;
	if (exponent == 31)
		return __int_as_float((i32)(sign | 0x7f800000 | digits << 13));
	if (exponent == 0)
		return __int_as_float((i32)(sign | (u32)__float_as_int((float)digits * 0x1p-24f)));
	return __int_as_float((i32)(sign | (exponent + 112) << 23 | digits << 13));
}

DEVICE u16 to_half(float f) {
	u32 x = (u32)__float_as_int(f), sign = x >> 16 & 0x8000;
	x &= 0x7fffffff;
	if (x > 0x7f800000)
		return (u16)(sign | 0x7e00);
	if (x >= 0x477ff000)
		return (u16)(sign | 0x7c00);
	if (x < 0x38800000) /* the sum has the digits of a denormal number */
		return (u16)(sign | ((u32)__float_as_int(__int_as_float((i32)x) + 0.5f) - 0x3f000000));
	return (u16)(sign | (x - 0x38000000 + 0xfff + (x >> 13 & 1)) >> 13);
}

DEVICE float from_bfloat(u16 b) { return __int_as_float((i32)((u32)b << 16)); }

DEVICE u16 to_bfloat(float f) {
	u32 x = (u32)__float_as_int(f);
	if (f != f)
		return 0x7fc0;
	return (u16)((x + 0x7fff + (x >> 16 & 1)) >> 16);
}

/* Numbers outside of the range become the smallest, as on x86-64. */
DEVICE i64 to_i64(double v) { return v >= -0x1p63 && v < 0x1p63 ? (i64)v : (i64)1 << 63; }
DEVICE i32 to_i32(double v) { return v > -0x1p31 - 1 && v < 0x1p31 ? (i32)v : (i32)((u32)1 << 31); }

DEVICE i64 quotient(i64 x, i64 y, i32 *failed) {
	if (y == 0) {
		*failed = 1;
		return 0;
	}
	return y == -1 ? (i64)(0 - (u64)x) : x / y;
}

DEVICE i64 remainder_of(i64 x, i64 y, i32 *failed) {
	return (i64)((u64)x - (u64)quotient(x, y, failed) * (u64)y);
}

DEVICE i64 floor_quotient(i64 x, i64 y, i32 *failed) {
	i64 q = quotient(x, y, failed), r = (i64)((u64)x - (u64)q * (u64)y);
	return r != 0 && (r < 0) != (y < 0) ? q - 1 : q;
}

DEVICE i64 modulo(i64 x, i64 y, i32 *failed) {
	i64 r = remainder_of(x, y, failed);
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

DEVICE i64 power(i64 a, i64 b) {
	u64 result = 1, base = (u64)a, e = (u64)b;
	if (b < 0)
		return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
	for (; e > 0; e >>= 1, base *= base)
		if (e & 1)
			result *= base;
	return (i64)result;
}

DEVICE i64 greatest_divisor(i64 a, i64 b) {
	i32 none;
	while (b != 0) {
		i64 r = remainder_of(a, b, &none);
		a = b;
		b = r;
	}
	return a < 0 ? (i64)(0 - (u64)a) : a;
}

DEVICE i64 shift_left(i64 a, i64 b, i64 width) { return b < 0 || b >= width ? 0 : (i64)((u64)a << b); }
DEVICE i64 shift_right(i64 a, i64 b, i64 farthest) { return a >> (b < 0 || b > farthest ? farthest : b); }

DEVICE c64 sum_c64(c64 x, c64 y) {
	c64 z = {x.re + y.re, x.im + y.im};
	return z;
}

DEVICE c128 sum_c128(c128 x, c128 y) {
	c128 z = {x.re + y.re, x.im + y.im};
	return z;
}

#define NOT_A_NUMBER __longlong_as_double(0x7ff8000000000000)
#define INFINITE __longlong_as_double(0x7ff0000000000000)

DEVICE double mantissa(double v) {
	i32 e;
	if (v != v || v < 0)
		return v != v ? v : NOT_A_NUMBER;
	if (v == 0 || v > 0x1.fffffffffffffp1023)
		return 1;
	v = frexp(v, &e);
	return v < 0.75 ? 2 * v : v;
}
