/* Libraries of the software device: functions of cuBLAS as plain loops. They refuse what those would refuse or would go wrong with: leading dimensions
   that are too small, memory that is not the device's, results that lie over each other or over their factors, a handle without a stream or with too
   little memory of its own, types and ways to compute that do not go together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int host_is_allocated(uint64_t at, uint64_t bytes);

enum { blas_not_initialized = 1, blas_invalid_value = 7, blas_execution_failed = 13, blas_not_supported = 15 };
enum { type_float = 0, type_double = 1, type_half = 2, type_complex = 4, type_double_complex = 5, type_bfloat = 14 };
enum { compute_32 = 68, compute_64 = 70, compute_32_by_tf32 = 77 };

/* For tests: how many products there were, what the last was computed by and in which mode, and the status that the next is to have. */
static long long products;
static int last_compute, last_mode, next_status;
long long host_products(void) { return products; }
int host_last_compute(void) { return last_compute; }
int host_last_mode(void) { return last_mode; }
void host_next_status(int status) { next_status = status; }

struct blas { int has_stream, mode; uint64_t workspace, bytes; };

int cublasCreate_v2(struct blas **made) { *made = calloc(1, sizeof **made); return 0; }
int cublasDestroy_v2(struct blas *b) { free(b); return 0; }
int cublasGetVersion_v2(struct blas *b, int *version) { *version = 130000; return 0; }

int cublasSetStream_v2(struct blas *b, void *stream) {
	b->has_stream = 1;
	b->workspace = b->bytes = 0; /* as cuBLAS does */
	return 0;
}

int cublasSetWorkspace_v2(struct blas *b, uint64_t at, uint64_t bytes) {
	if (at % 256 != 0 && at % 16 != 0 || !host_is_allocated(at, bytes))
		return blas_invalid_value;
	b->workspace = at;
	b->bytes = bytes;
	return 0;
}

int cublasSetMathMode(struct blas *b, int mode) { b->mode = mode; return mode & ~(3 | 16) ? blas_invalid_value : 0; }

const char *cublasGetStatusName(int status) {
	switch (status) {
	case 0: return "CUBLAS_STATUS_SUCCESS";
	case blas_not_initialized: return "CUBLAS_STATUS_NOT_INITIALIZED";
	case 3: return "CUBLAS_STATUS_ALLOC_FAILED";
	case blas_invalid_value: return "CUBLAS_STATUS_INVALID_VALUE";
	case blas_execution_failed: return "CUBLAS_STATUS_EXECUTION_FAILED";
	case blas_not_supported: return "CUBLAS_STATUS_NOT_SUPPORTED";
	}
	return "unknown";
}

static float float_of_bits(uint32_t bits) { float f; memcpy(&f, &bits, 4); return f; }
static uint32_t bits_of_float(float f) { uint32_t bits; memcpy(&bits, &f, 4); return bits; }

static float float_of_half(uint16_t h) {
	uint32_t sign = (uint32_t)(h >> 15) << 31, exponent = h >> 10 & 31, fraction = h & 1023;
	if (exponent == 31)
		return float_of_bits(sign | 0x7f800000 | fraction << 13);
	float size = exponent == 0 ? fraction * 0x1p-24f : float_of_bits((exponent + 112) << 23 | fraction << 13);
	return sign ? -size : size;
}

static uint16_t half_of_float(float f) {
	uint32_t bits = bits_of_float(f), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
	if (size > 0x7f800000)
		return sign | 0x7e00;
	if (size >= 0x477ff000)
		return sign | 0x7c00;
	if (size < 0x38800000) /* subnormal: the sum is rounded to multiples of 2**-24 */
		return sign | (bits_of_float(float_of_bits(size) + 0.5f) - 0x3f000000);
	return sign | (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
}

static uint16_t bfloat_of_float(float f) {
	uint32_t bits = bits_of_float(f);
	return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static float tf32_of_float(float f) {
	uint32_t bits = bits_of_float(f);
	return (bits & 0x7f800000) == 0x7f800000 ? f : float_of_bits((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

static int size_of(int type) {
	switch (type) {
	case type_half: case type_bfloat: return 2;
	case type_float: return 4;
	case type_double: case type_complex: return 8;
	case type_double_complex: return 16;
	}
	return 0;
}

/* Elements as numbers of two parts: of floats of 32 bits unless they are wider. */
struct number { double re, im; };

static struct number load(const void *at, int type, long long i) {
	switch (type) {
	case type_half: return (struct number){float_of_half(((const uint16_t *)at)[i])};
	case type_bfloat: return (struct number){float_of_bits((uint32_t)((const uint16_t *)at)[i] << 16)};
	case type_float: return (struct number){((const float *)at)[i]};
	case type_double: return (struct number){((const double *)at)[i]};
	case type_complex: return (struct number){((const float *)at)[2 * i], ((const float *)at)[2 * i + 1]};
	}
	return (struct number){((const double *)at)[2 * i], ((const double *)at)[2 * i + 1]};
}

static void store(void *at, int type, long long i, struct number x) {
	switch (type) {
	case type_half: ((uint16_t *)at)[i] = half_of_float(x.re); break;
	case type_bfloat: ((uint16_t *)at)[i] = bfloat_of_float(x.re); break;
	case type_float: ((float *)at)[i] = x.re; break;
	case type_double: ((double *)at)[i] = x.re; break;
	case type_complex: ((float *)at)[2 * i] = x.re; ((float *)at)[2 * i + 1] = x.im; break;
	default: ((double *)at)[2 * i] = x.re; ((double *)at)[2 * i + 1] = x.im;
	}
}

/* Whether all matrices of a batch, by columns, are memory of the device. */
static int is_matrix(uint64_t at, int type, long long rows, long long columns, long long ld, long long step, long long batch) {
	long long elements = (columns - 1) * ld + rows + (batch - 1) * step;
	return ld >= (rows > 1 ? rows : 1) && step >= 0 && at % size_of(type) == 0 && host_is_allocated(at, elements * size_of(type));
}

static int lie_apart(uint64_t a, uint64_t bytes, uint64_t b, uint64_t others) { return a + bytes <= b || b + others <= a; }

int cublasGemmStridedBatchedEx(struct blas *h, int opa, int opb, int m, int n, int k, const void *alpha, const void *a, int ta, int lda, long long sa,
	const void *b, int tb, int ldb, long long sb, const void *beta, void *c, int tc, int ldc, long long sc, int batch, int compute, int algorithm) {
	int wide = ta == type_double || ta == type_double_complex, complex = ta == type_complex || ta == type_double_complex, size = size_of(ta);
	if (next_status != 0) {
		int status = next_status;
		next_status = 0;
		return status;
	}
	if (!h->has_stream || h->bytes < 1 << 20)
		return blas_not_initialized;
	if (size == 0 || tb != ta || tc != ta || (wide ? compute != compute_64 : compute != compute_32 && compute != compute_32_by_tf32 || compute == compute_32_by_tf32 && ta != type_float && ta != type_complex))
		return blas_not_supported;
	if (m < 1 || n < 1 || k < 1 || batch < 1 || opa < 0 || opa > 1 || opb < 0 || opb > 1 || algorithm != -1)
		return blas_invalid_value;
	if (!is_matrix((uint64_t)a, ta, opa ? k : m, opa ? m : k, lda, sa, batch) || !is_matrix((uint64_t)b, tb, opb ? n : k, opb ? k : n, ldb, sb, batch) ||
		!is_matrix((uint64_t)c, tc, m, n, ldc, sc, batch) || batch > 1 && sc < (long long)ldc * (n - 1) + m)
		return blas_invalid_value;
	uint64_t written = ((batch - 1) * sc + (long long)ldc * (n - 1) + m) * size;
	if (!lie_apart((uint64_t)c, written, (uint64_t)a, ((batch - 1) * sa + (long long)lda * ((opa ? m : k) - 1) + (opa ? k : m)) * size) ||
		!lie_apart((uint64_t)c, written, (uint64_t)b, ((batch - 1) * sb + (long long)ldb * ((opb ? k : n) - 1) + (opb ? n : k)) * size))
		return blas_invalid_value;
	struct number scale = wide ? load(alpha, type_double_complex, 0) : load(alpha, type_complex, 0), kept = wide ? load(beta, type_double_complex, 0) : load(beta, type_complex, 0);
	if (scale.re != 1 || complex && scale.im != 0 || kept.re != 0 && kept.re != 1 || complex && kept.im != 0)
		return blas_not_supported; /* nobody asks for it */
	struct number *x = malloc(sizeof *x * k), *y = malloc(sizeof *y * k * n);
	for (int t = 0; t < batch; t++) {
		for (int j = 0; j < n; j++)
			for (int l = 0; l < k; l++) {
				y[j * (long long)k + l] = load(b, tb, t * sb + (opb ? (long long)l * ldb + j : (long long)j * ldb + l));
				if (compute == compute_32_by_tf32)
					y[j * (long long)k + l] = (struct number){tf32_of_float(y[j * (long long)k + l].re), tf32_of_float(y[j * (long long)k + l].im)};
			}
		for (int i = 0; i < m; i++) {
			for (int l = 0; l < k; l++) {
				x[l] = load(a, ta, t * sa + (opa ? (long long)i * lda + l : (long long)l * lda + i));
				if (compute == compute_32_by_tf32)
					x[l] = (struct number){tf32_of_float(x[l].re), tf32_of_float(x[l].im)};
			}
			for (int j = 0; j < n; j++) {
				struct number sum = {0, 0}, *z = y + j * (long long)k;
				for (int l = 0; l < k; l++) {
					sum.re += x[l].re * z[l].re - (complex ? x[l].im * z[l].im : 0);
					if (complex)
						sum.im += x[l].re * z[l].im + x[l].im * z[l].re;
					if (!wide)
						sum.re = (float)sum.re, sum.im = (float)sum.im;
				}
				long long at = t * sc + (long long)j * ldc + i;
				if (kept.re != 0) {
					struct number before = load(c, tc, at);
					sum.re += before.re;
					sum.im += before.im;
				}
				store(c, tc, at, sum);
			}
		}
	}
	free(x);
	free(y);
	products++;
	last_compute = compute;
	last_mode = h->mode;
	return 0;
}

int cublasGemmEx(struct blas *h, int opa, int opb, int m, int n, int k, const void *alpha, const void *a, int ta, int lda, const void *b, int tb, int ldb,
	const void *beta, void *c, int tc, int ldc, int compute, int algorithm) {
	return cublasGemmStridedBatchedEx(h, opa, opb, m, n, k, alpha, a, ta, lda, 0, b, tb, ldb, 0, beta, c, tc, ldc, 0, 1, compute, algorithm);
}
