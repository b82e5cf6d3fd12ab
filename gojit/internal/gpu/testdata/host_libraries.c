/* Libraries of the software device: functions of cuBLAS and cuDNN as plain loops. They refuse what those would refuse or would go wrong with: leading
   dimensions that are too small, descriptors that do not fit each other, memory that is not the device's or is too small, results that lie over each other
   or over their factors, a handle without a stream, types and ways to compute that do not go together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int host_is_allocated(uint64_t at, uint64_t bytes);
int host_give(void *stream, int (*run)(const void *argument), const void *argument, uint64_t bytes);

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

struct blas { void *stream; int mode; uint64_t workspace, bytes; };

int cublasCreate_v2(struct blas **made) { *made = calloc(1, sizeof **made); return 0; }
int cublasDestroy_v2(struct blas *b) { free(b); return 0; }
int cublasGetVersion_v2(struct blas *b, int *version) { *version = 130000; return 0; }

int cublasSetStream_v2(struct blas *b, void *stream) {
	b->stream = stream;
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

/* A product of matrices by columns, a batch of them, to which what c and bias have is added. */
struct product {
	int type, compute, opa, opb, m, n, k;
	const void *a; long long lda, sa;
	const void *b; long long ldb, sb;
	const void *c; long long ldc, sc;
	const void *bias;
	void *d; long long ldd, sd;
	int batch;
};

static int are_there(const struct product *p) {
	return is_matrix((uint64_t)p->a, p->type, p->opa ? p->k : p->m, p->opa ? p->m : p->k, p->lda, p->sa, p->batch) &&
		is_matrix((uint64_t)p->b, p->type, p->opb ? p->n : p->k, p->opb ? p->k : p->n, p->ldb, p->sb, p->batch) && is_matrix((uint64_t)p->d, p->type, p->m, p->n, p->ldd, p->sd, p->batch);
}

static int multiply(const void *argument) {
	struct product p = *(const struct product *)argument;
	int type = p.type, compute = p.compute, opa = p.opa, opb = p.opb, m = p.m, n = p.n, k = p.k, batch = p.batch;
	const void *a = p.a, *b = p.b, *c = p.c, *bias = p.bias;
	void *d = p.d;
	long long lda = p.lda, sa = p.sa, ldb = p.ldb, sb = p.sb, ldc = p.ldc, sc = p.sc, ldd = p.ldd, sd = p.sd;
	if (!are_there(&p))
		return 700;
	int wide = type == type_double || type == type_double_complex, complex = type == type_complex || type == type_double_complex, rounds = compute == compute_32_by_tf32;
	struct number *x = malloc(sizeof *x * k), *y = malloc(sizeof *y * k * n);
	for (int t = 0; t < batch; t++) {
		for (int j = 0; j < n; j++)
			for (int l = 0; l < k; l++) {
				struct number *z = y + j * (long long)k + l;
				*z = load(b, type, t * sb + (opb ? l * ldb + j : j * ldb + l));
				if (rounds)
					*z = (struct number){tf32_of_float(z->re), tf32_of_float(z->im)};
			}
		for (int i = 0; i < m; i++) {
			for (int l = 0; l < k; l++) {
				x[l] = load(a, type, t * sa + (opa ? i * lda + l : l * lda + i));
				if (rounds)
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
				struct number more[2] = {c ? load(c, type, t * sc + j * ldc + i) : (struct number){0, 0}, bias ? load(bias, type, i) : (struct number){0, 0}};
				sum.re += more[0].re + more[1].re;
				sum.im += more[0].im + more[1].im;
				store(d, type, t * sd + j * ldd + i, sum);
			}
		}
	}
	free(x);
	free(y);
	products++;
	last_compute = compute;
	return 0;
}

/* What is wrong with a product whatever function it is given to: a status. */
static int refuse(int type, int compute, int opa, int opb, int m, int n, int k, const void *a, long long lda, long long sa, const void *b, long long ldb, long long sb,
	void *d, long long ldd, long long sd, int batch) {
	int wide = type == type_double || type == type_double_complex, size = size_of(type);
	if (next_status != 0) {
		int status = next_status;
		next_status = 0;
		return status;
	}
	if (size == 0 || (wide ? compute != compute_64 : compute != compute_32 && (compute != compute_32_by_tf32 || type != type_float && type != type_complex)))
		return blas_not_supported;
	if (m < 1 || n < 1 || k < 1 || batch < 1 || opa < 0 || opa > 1 || opb < 0 || opb > 1)
		return blas_invalid_value;
	if (!is_matrix((uint64_t)a, type, opa ? k : m, opa ? m : k, lda, sa, batch) || !is_matrix((uint64_t)b, type, opb ? n : k, opb ? k : n, ldb, sb, batch) ||
		!is_matrix((uint64_t)d, type, m, n, ldd, sd, batch) || batch > 1 && sd < ldd * (n - 1) + m)
		return blas_invalid_value;
	uint64_t written = ((batch - 1) * sd + ldd * (n - 1) + m) * size;
	if (!lie_apart((uint64_t)d, written, (uint64_t)a, ((batch - 1) * sa + lda * ((opa ? m : k) - 1) + (opa ? k : m)) * size) ||
		!lie_apart((uint64_t)d, written, (uint64_t)b, ((batch - 1) * sb + ldb * ((opb ? k : n) - 1) + (opb ? n : k)) * size))
		return blas_invalid_value;
	return 0;
}

/* Whether a product is scaled by 1 and what is added to it by 0 or 1: nobody asks for more. */
static int is_plain(int type, const void *alpha, const void *beta, int *adds) {
	int wide = type == type_double || type == type_double_complex, complex = type == type_complex || type == type_double_complex;
	int as = complex ? type : wide ? type_double : type_float;
	struct number scale = load(alpha, as, 0), kept = load(beta, as, 0);
	*adds = kept.re != 0;
	return scale.re == 1 && scale.im == 0 && (kept.re == 0 || kept.re == 1) && kept.im == 0;
}

int cublasGemmStridedBatchedEx(struct blas *h, int opa, int opb, int m, int n, int k, const void *alpha, const void *a, int ta, int lda, long long sa,
	const void *b, int tb, int ldb, long long sb, const void *beta, void *c, int tc, int ldc, long long sc, int batch, int compute, int algorithm) {
	int adds, status = refuse(ta, compute, opa, opb, m, n, k, a, lda, sa, b, ldb, sb, c, ldc, sc, batch);
	if (status != 0)
		return status;
	if (h->stream == NULL || h->bytes < 1 << 20)
		return blas_not_initialized;
	if (tb != ta || tc != ta || algorithm != -1 || !is_plain(ta, alpha, beta, &adds))
		return blas_not_supported;
	struct product p = {ta, compute, opa, opb, m, n, k, a, lda, sa, b, ldb, sb, adds ? c : NULL, ldc, sc, NULL, c, ldc, sc, batch};
	last_mode = h->mode;
	return host_give(h->stream, multiply, &p, sizeof p) ? blas_execution_failed : 0;
}

int cublasGemmEx(struct blas *h, int opa, int opb, int m, int n, int k, const void *alpha, const void *a, int ta, int lda, const void *b, int tb, int ldb,
	const void *beta, void *c, int tc, int ldc, int compute, int algorithm) {
	return cublasGemmStridedBatchedEx(h, opa, opb, m, n, k, alpha, a, ta, lda, 0, b, tb, ldb, 0, beta, c, tc, ldc, 0, 1, compute, algorithm);
}

/* cuBLASLt, which a handle of cuBLAS is one of, too: products that a matrix or a row is added to. */
struct lt_product { int compute, scale, transposed[2], epilogue; const void *bias; };
struct lt_layout { int type, batch; uint64_t rows, columns; long long ld, step; };
struct lt_preference { uint64_t bytes; unsigned reductions, alignment[4]; };
struct lt_way { uint64_t algorithm[8], bytes; int state; float waves; int reserved[4]; };

static long long sums;
static unsigned last_reductions;
static int lt_lives;
long long host_sums(void) { return sums; }
int host_last_reductions(void) { return last_reductions; }
int host_lt_descriptors(void) { return lt_lives; }

int cublasLtMatmulDescCreate(struct lt_product **made, int compute, int scale) {
	*made = calloc(1, sizeof **made);
	**made = (struct lt_product){compute, scale, {0, 0}, 1};
	lt_lives++;
	return 0;
}
int cublasLtMatmulDescDestroy(struct lt_product *p) { free(p); lt_lives--; return 0; }

int cublasLtMatmulDescSetAttribute(struct lt_product *p, int attribute, const void *value, uint64_t bytes) {
	switch (attribute) {
	case 3: case 4: p->transposed[attribute - 3] = *(const int *)value; return bytes == 4 ? 0 : blas_invalid_value;
	case 7: p->epilogue = *(const int *)value; return bytes == 4 && (p->epilogue == 1 || p->epilogue == 4) ? 0 : blas_invalid_value;
	case 8: p->bias = *(const void *const *)value; return bytes == 8 ? 0 : blas_invalid_value;
	}
	return blas_invalid_value;
}

int cublasLtMatrixLayoutCreate(struct lt_layout **made, int type, uint64_t rows, uint64_t columns, int64_t ld) {
	if (rows < 1 || columns < 1 || ld < (int64_t)rows)
		return blas_invalid_value;
	*made = calloc(1, sizeof **made);
	**made = (struct lt_layout){type, 1, rows, columns, ld, 0};
	lt_lives++;
	return 0;
}
int cublasLtMatrixLayoutDestroy(struct lt_layout *t) { free(t); lt_lives--; return 0; }

int cublasLtMatrixLayoutSetAttribute(struct lt_layout *t, int attribute, const void *value, uint64_t bytes) {
	switch (attribute) {
	case 5: t->batch = *(const int *)value; return bytes == 4 && t->batch > 0 ? 0 : blas_invalid_value;
	case 6: t->step = *(const int64_t *)value; return bytes == 8 ? 0 : blas_invalid_value;
	}
	return blas_invalid_value;
}

int cublasLtMatmulPreferenceCreate(struct lt_preference **made) {
	*made = calloc(1, sizeof **made);
	**made = (struct lt_preference){0, 7, {256, 256, 256, 256}};
	lt_lives++;
	return 0;
}
int cublasLtMatmulPreferenceDestroy(struct lt_preference *p) { free(p); lt_lives--; return 0; }

int cublasLtMatmulPreferenceSetAttribute(struct lt_preference *p, int attribute, const void *value, uint64_t bytes) {
	switch (attribute) {
	case 1: p->bytes = *(const uint64_t *)value; return bytes == 8 ? 0 : blas_invalid_value;
	case 3: p->reductions = *(const unsigned *)value; return bytes == 4 && p->reductions < 8 ? 0 : blas_invalid_value;
	case 5: case 6: case 7: case 8: p->alignment[attribute - 5] = *(const unsigned *)value; return bytes == 4 ? 0 : blas_invalid_value;
	}
	return blas_invalid_value;
}

/* Whether the layouts are those of a product: m by k, k by n, m by n twice. */
static int lt_fit(const struct lt_product *p, const struct lt_layout *a, const struct lt_layout *b, const struct lt_layout *c, const struct lt_layout *d) {
	uint64_t m = p->transposed[0] ? a->columns : a->rows, k = p->transposed[0] ? a->rows : a->columns, n = p->transposed[1] ? b->rows : b->columns;
	int scale = d->type == type_half || d->type == type_bfloat ? type_float : d->type;
	return (p->transposed[1] ? b->columns : b->rows) == k && c->rows == m && c->columns == n && d->rows == m && d->columns == n && a->type == d->type && b->type == d->type &&
		c->type == d->type && p->scale == scale && a->batch == d->batch && b->batch == d->batch && c->batch == d->batch;
}

int cublasLtMatmulAlgoGetHeuristic(struct blas *h, const struct lt_product *p, const struct lt_layout *a, const struct lt_layout *b, const struct lt_layout *c,
	const struct lt_layout *d, const struct lt_preference *preference, int most, struct lt_way *made, int *found) {
	*found = 0;
	if (most < 1 || !lt_fit(p, a, b, c, d))
		return blas_invalid_value;
	if (p->epilogue == 4 && (d->type == type_double || d->type == type_complex || d->type == type_double_complex))
		return blas_not_supported;
	*made = (struct lt_way){{0x7777, preference->alignment[0], preference->alignment[1], preference->alignment[2], preference->alignment[3]}, preference->bytes / 2};
	last_reductions = preference->reductions;
	*found = 1;
	return 0;
}

int cublasLtMatmul(struct blas *h, const struct lt_product *p, const void *alpha, const void *a, const struct lt_layout *la, const void *b, const struct lt_layout *lb,
	const void *beta, const void *c, const struct lt_layout *lc, void *d, const struct lt_layout *ld, const uint64_t *algorithm, void *workspace, uint64_t bytes, void *stream) {
	int adds, m = ld->rows, n = ld->columns, k = p->transposed[0] ? la->rows : la->columns, hasBias = p->epilogue == 4;
	if (!lt_fit(p, la, lb, lc, ld) || algorithm[0] != 0x7777 || !host_is_allocated((uint64_t)workspace, bytes))
		return blas_invalid_value;
	const void *all[] = {a, b, c, d};
	for (int i = 0; i < 4; i++)
		if ((uint64_t)all[i] % algorithm[1 + i] != 0)
			return blas_invalid_value; /* the way was chosen for addresses that are multiples of more */
	int status = refuse(ld->type, p->compute, p->transposed[0], p->transposed[1], m, n, k, a, la->ld, la->step, b, lb->ld, lb->step, d, ld->ld, ld->step, ld->batch);
	if (status != 0)
		return status;
	if (!is_plain(ld->type, alpha, beta, &adds) || adds && (!is_matrix((uint64_t)c, lc->type, m, n, lc->ld, lc->step, lc->batch)) ||
		hasBias && !host_is_allocated((uint64_t)p->bias, (uint64_t)m * size_of(ld->type)))
		return blas_invalid_value;
	struct product x = {ld->type, p->compute, p->transposed[0], p->transposed[1], m, n, k, a, la->ld, la->step, b, lb->ld, lb->step, adds ? c : NULL, lc->ld, lc->step,
		hasBias ? p->bias : NULL, d, ld->ld, ld->step, ld->batch};
	sums++;
	return host_give(stream, multiply, &x, sizeof x) ? blas_execution_failed : 0;
}

/* cuDNN: convolutions over two or three dimensions. */
enum { dnn_bad_param = 2000, dnn_not_supported = 3000, dnn_execution_failed = 5000 };
enum { dnn_float = 0, dnn_double = 1, dnn_half = 2, dnn_bfloat = 9 };
enum { forward, of_input, of_weight };

/* For tests: how many convolutions there were, what the last was computed with, and the status that the next is to have. */
static long long convolutions, biases;
long long host_biases(void) { return biases; }
static int last_algorithm, last_math, next_convolution, lives;
long long host_convolutions(void) { return convolutions; }
int host_last_algorithm(void) { return last_algorithm; }
int host_last_math(void) { return last_math; }
void host_next_convolution(int status) { next_convolution = status; }
int host_descriptors(void) { return lives; }

struct dnn { void *stream; };
struct images { int type, dims, size[5], stride[5]; }; /* a filter has no strides of its own: those follow from its order */
struct convolution { int dims, padding[3], stride[3], dilation[3], compute, groups, math; };
struct way { int algorithm, status; float time; uint64_t bytes; int determinism, math, reserved[3]; };

uint64_t cudnnGetVersion(void) { return 92801; }
int cudnnCreate(struct dnn **made) { *made = calloc(1, sizeof **made); return 0; }
int cudnnSetStream(struct dnn *d, void *stream) { d->stream = stream; return 0; }

const char *cudnnGetErrorString(int status) {
	switch (status) {
	case 0: return "CUDNN_STATUS_SUCCESS";
	case dnn_bad_param: return "CUDNN_STATUS_BAD_PARAM";
	case dnn_not_supported: return "CUDNN_STATUS_NOT_SUPPORTED";
	case 4004: return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
	case dnn_execution_failed: return "CUDNN_STATUS_EXECUTION_FAILED";
	}
	return "CUDNN_STATUS_UNKNOWN";
}

int cudnnCreateTensorDescriptor(struct images **made) { *made = calloc(1, sizeof **made); lives++; return 0; }
int cudnnCreateFilterDescriptor(struct images **made) { return cudnnCreateTensorDescriptor(made); }
int cudnnDestroyTensorDescriptor(struct images *t) { free(t); lives--; return 0; }
int cudnnDestroyFilterDescriptor(struct images *t) { return cudnnDestroyTensorDescriptor(t); }
int cudnnCreateConvolutionDescriptor(struct convolution **made) { *made = calloc(1, sizeof **made); (*made)->groups = 1; lives++; return 0; }
int cudnnDestroyConvolutionDescriptor(struct convolution *c) { free(c); lives--; return 0; }

int cudnnSetTensorNdDescriptor(struct images *t, int type, int dims, const int *sizes, const int *strides) {
	if (dims < 4 || dims > 5 || type != dnn_float && type != dnn_double && type != dnn_half && type != dnn_bfloat)
		return dnn_bad_param;
	*t = (struct images){type, dims};
	for (int i = 0; i < dims; i++) {
		if (sizes[i] < 1 || strides[i] < 1)
			return dnn_bad_param;
		t->size[i] = sizes[i];
		t->stride[i] = strides[i];
	}
	return 0;
}

int cudnnSetFilterNdDescriptor(struct images *t, int type, int format, int dims, const int *sizes) {
	int strides[5], step = 1;
	if (format != 0 && format != 1 || dims < 4 || dims > 5)
		return dnn_bad_param;
	if (format == 1) {
		strides[1] = 1;
		step = sizes[1];
	}
	for (int i = dims - 1; i >= 0; i--)
		if (i != 1 || format == 0) {
			strides[i] = step;
			step *= sizes[i];
		}
	return cudnnSetTensorNdDescriptor(t, type, dims, sizes, strides);
}

int cudnnSetConvolutionNdDescriptor(struct convolution *c, int dims, const int *padding, const int *strides, const int *dilations, int mode, int compute) {
	if (dims < 2 || dims > 3 || mode != 1)
		return dnn_bad_param;
	c->dims = dims;
	c->compute = compute;
	c->math = 0;
	for (int i = 0; i < dims; i++) {
		if (padding[i] < 0 || strides[i] < 1 || dilations[i] < 1)
			return dnn_bad_param;
		c->padding[i] = padding[i];
		c->stride[i] = strides[i];
		c->dilation[i] = dilations[i];
	}
	return 0;
}

int cudnnSetConvolutionGroupCount(struct convolution *c, int groups) { c->groups = groups; return groups < 1 ? dnn_bad_param : 0; }
int cudnnSetConvolutionMathType(struct convolution *c, int math) { c->math = math; return math < 0 || math > 3 ? dnn_bad_param : 0; }

/* Whether descriptors of input, weight and result fit each other. */
static int fit(const struct images *x, const struct images *w, const struct images *y, const struct convolution *c) {
	if (x->type != w->type || x->type != y->type || x->dims != c->dims + 2 || w->dims != x->dims || y->dims != x->dims || x->size[0] != y->size[0] ||
		x->size[1] != w->size[1] * c->groups || y->size[1] != w->size[0] || w->size[0] % c->groups != 0 || c->compute != (x->type == dnn_double ? dnn_double : dnn_float))
		return 0;
	for (int i = 0; i < c->dims; i++) {
		int span = x->size[i + 2] + 2 * c->padding[i] - c->dilation[i] * (w->size[i + 2] - 1) - 1;
		if (span < 0 || y->size[i + 2] != span / c->stride[i] + 1)
			return 0;
	}
	return 1;
}

static const struct images *input_of(int of, const void *left, const void *right, const void *out) { return of == of_input ? out : left; }
static const struct images *weight_of(int of, const void *left, const void *right, const void *out) { return of == forward ? right : of == of_input ? left : out; }
static const struct images *result_of(int of, const void *left, const void *right, const void *out) { return of == forward ? out : right; }
static int all_fit(int of, const void *l, const void *r, const struct convolution *c, const void *o) { return fit(input_of(of, l, r, o), weight_of(of, l, r, o), result_of(of, l, r, o), c); }

/* Two ways: a fast one that needs memory and whose gradients are not the same each time, and one that needs none. */
enum { fast_bytes = 4096 };

static int ways(int of, const void *l, const void *r, const struct convolution *c, const void *o, int most, int *found, struct way *made, int fast_first) {
	if (!all_fit(of, l, r, c, o) || most < 3)
		return dnn_bad_param;
	struct way fast = {1, 0, 1, fast_bytes, of == forward, c->math}, plain = {0, 0, 2, 0, 1, c->math}, none = {5, dnn_not_supported, -1};
	*found = 3;
	made[0] = fast_first ? fast : plain;
	made[1] = fast_first ? plain : fast;
	made[2] = none;
	return 0;
}

static int workspace_of(int of, const void *l, const void *r, const struct convolution *c, const void *o, int algorithm, uint64_t *bytes) {
	*bytes = algorithm == 1 ? fast_bytes : 0;
	return algorithm > 1 ? dnn_not_supported : all_fit(of, l, r, c, o) ? 0 : dnn_bad_param;
}

static int blas_type(int type) { return type == dnn_float ? type_float : type == dnn_double ? type_double : type == dnn_half ? type_half : type_bfloat; }

static uint64_t bytes_of(const struct images *t) {
	uint64_t elements = 1;
	for (int i = 0; i < t->dims; i++)
		elements += (uint64_t)(t->size[i] - 1) * t->stride[i];
	return elements * size_of(blas_type(t->type));
}

/* A size, or a step, of one of three dimensions; the first is not there for two. */
static int of_place(const struct images *t, const int *numbers, int i, int none) { return t->dims == 5 ? numbers[2 + i] : i == 0 ? none : numbers[1 + i]; }
static int of_convolution(const struct convolution *c, const int *numbers, int i, int none) { return c->dims == 3 ? numbers[i] : i == 0 ? none : numbers[i - 1]; }

static long long at_place(const struct images *t, int a, int b, const int *place) {
	long long at = (long long)a * t->stride[0] + (long long)b * t->stride[1];
	for (int i = 0; i < 3; i++)
		at += (long long)place[i] * of_place(t, t->stride, i, 0);
	return at;
}

/* Adds every product of an element of the input and one of the weight to what it belongs to: sums has elements of the tensor that is computed. */
static void convolve(int of, const struct images *x, const double *in, const struct images *w, const double *weight, const struct images *y, const double *out,
	const struct convolution *c, double *sums) {
	int filters = w->size[0] / c->groups, o[3], k[3], i[3];
	for (int n = 0; n < y->size[0]; n++)
	for (int f = 0; f < y->size[1]; f++)
	for (o[0] = 0; o[0] < of_place(y, y->size, 0, 1); o[0]++)
	for (o[1] = 0; o[1] < of_place(y, y->size, 1, 1); o[1]++)
	for (o[2] = 0; o[2] < of_place(y, y->size, 2, 1); o[2]++)
	for (int ch = 0; ch < w->size[1]; ch++)
	for (k[0] = 0; k[0] < of_place(w, w->size, 0, 1); k[0]++)
	for (k[1] = 0; k[1] < of_place(w, w->size, 1, 1); k[1]++)
	for (k[2] = 0; k[2] < of_place(w, w->size, 2, 1); k[2]++) {
		int inside = 1;
		for (int d = 0; d < 3; d++) {
			i[d] = o[d] * of_convolution(c, c->stride, d, 1) - of_convolution(c, c->padding, d, 0) + k[d] * of_convolution(c, c->dilation, d, 1);
			inside &= i[d] >= 0 && i[d] < of_place(x, x->size, d, 1);
		}
		if (!inside)
			continue;
		long long at_x = at_place(x, n, f / filters * w->size[1] + ch, i), at_w = at_place(w, f, ch, k), at_y = at_place(y, n, f, o);
		if (of == forward)
			sums[at_y] += in[at_x] * weight[at_w];
		else if (of == of_input)
			sums[at_x] += weight[at_w] * out[at_y];
		else
			sums[at_w] += in[at_x] * out[at_y];
	}
}

static double *read_all(const struct images *t, const void *at) {
	uint64_t n = bytes_of(t) / size_of(blas_type(t->type));
	double *made = malloc(n * sizeof *made);
	for (uint64_t i = 0; i < n; i++)
		made[i] = load(at, blas_type(t->type), i).re;
	return made;
}

static int is_there(const struct images *t, const void *at) { return (uint64_t)at % size_of(blas_type(t->type)) == 0 && host_is_allocated((uint64_t)at, bytes_of(t)); }

struct activation { int mode; };
int cudnnCreateActivationDescriptor(struct activation **made) { *made = calloc(1, sizeof **made); return 0; }
int cudnnSetActivationDescriptor(struct activation *a, int mode, int nans, double limit) { a->mode = mode; return 0; }

/* A convolution that is computed: descriptors may be gone by then. */
struct convolving { int of; struct images l, r, o; const void *left, *right; struct convolution c; void *workspace, *out; uint64_t needed; const void *bias; };

static int compute(const void *argument) {
	const struct convolving *v = argument;
	const struct images *l = &v->l, *r = &v->r, *o = &v->o;
	int of = v->of;
	if (!is_there(l, v->left) || !is_there(r, v->right) || !is_there(o, v->out) || v->needed > 0 && !host_is_allocated((uint64_t)v->workspace, v->needed))
		return 700;
	if (v->needed > 0)
		memset(v->workspace, 0xa5, v->needed);
	double *a = read_all(l, v->left), *b = read_all(r, v->right), *sums = calloc(bytes_of(o) / size_of(blas_type(o->type)), sizeof *sums);
	convolve(of, input_of(of, l, r, o), a, weight_of(of, l, r, o), of == forward ? b : a, result_of(of, l, r, o), b, &v->c, sums);
	for (uint64_t i = 0; i < bytes_of(o) / size_of(blas_type(o->type)); i++)
		store(v->out, blas_type(o->type), i, (struct number){sums[i] + (v->bias ? load(v->bias, blas_type(o->type), i / o->stride[1] % o->size[1]).re : 0)});
	free(a);
	free(b);
	free(sums);
	return 0;
}

static int run(int of, struct dnn *d, const void *alpha, const struct images *l, const void *left, const struct images *r, const void *right,
	const struct convolution *c, int algorithm, void *workspace, uint64_t bytes, const void *beta, const struct images *o, void *out, const struct images *added, const void *bias) {
	uint64_t needed;
	if (next_convolution != 0) {
		int status = next_convolution;
		next_convolution = 0;
		return status;
	}
	if (d->stream == NULL || (c->compute == dnn_double ? *(double *)alpha != 1 || *(double *)beta != 0 : *(float *)alpha != 1 || *(float *)beta != 0))
		return dnn_bad_param;
	int status = workspace_of(of, l, r, c, o, algorithm, &needed);
	if (status != 0)
		return status;
	if (bytes < needed || needed > 0 && !host_is_allocated((uint64_t)workspace, bytes) || !is_there(l, left) || !is_there(r, right) || !is_there(o, out) ||
		!lie_apart((uint64_t)out, bytes_of(o), (uint64_t)left, bytes_of(l)) || !lie_apart((uint64_t)out, bytes_of(o), (uint64_t)right, bytes_of(r)))
		return dnn_bad_param;
	struct convolving v = {of, *l, *r, *o, left, right, *c, workspace, out, needed, bias};
	if (host_give(d->stream, compute, &v, sizeof v) != 0)
		return dnn_execution_failed;
	convolutions++;
	last_algorithm = algorithm;
	last_math = c->math;
	return 0;
}

#define RESULT(name, of) \
	int cudnnGetConvolution##name##Algorithm_v7(struct dnn *d, const void *l, const void *r, const struct convolution *c, const void *o, int most, int *found, struct way *made) { \
		return ways(of, l, r, c, o, most, found, made, 1); \
	} \
	int cudnnGetConvolution##name##WorkspaceSize(struct dnn *d, const void *l, const void *r, const struct convolution *c, const void *o, int algorithm, uint64_t *bytes) { \
		return workspace_of(of, l, r, c, o, algorithm, bytes); \
	} \
	int cudnnFindConvolution##name##AlgorithmEx(struct dnn *d, const void *l, const void *left, const void *r, const void *right, const struct convolution *c, const void *o, \
		void *out, int most, int *found, struct way *made, void *workspace, uint64_t bytes) { \
		if (!is_there(l, left) || !is_there(r, right) || !is_there(o, out) || !host_is_allocated((uint64_t)workspace, bytes)) \
			return dnn_bad_param; \
		return ways(of, l, r, c, o, most, found, made, 0); \
	} \
	int cudnnConvolution##name(struct dnn *d, const void *alpha, const void *l, const void *left, const void *r, const void *right, const struct convolution *c, int algorithm, \
		void *workspace, uint64_t bytes, const void *beta, const void *o, void *out) { \
		return run(of, d, alpha, l, left, r, right, c, algorithm, workspace, bytes, beta, o, out, NULL, NULL); \
	}
RESULT(Forward, forward)
RESULT(BackwardData, of_input)
RESULT(BackwardFilter, of_weight)

int cudnnConvolutionBiasActivationForward(struct dnn *d, const void *alpha, const struct images *x, const void *in, const struct images *w, const void *weight,
	const struct convolution *c, int algorithm, void *workspace, uint64_t bytes, const void *beta, const struct images *z, const void *added,
	const struct images *b, const void *bias, const struct activation *a, const struct images *y, void *out) {
	if (a->mode != 5 || z != y || added != out || b->type != y->type || b->dims != y->dims || b->size[0] != 1 || b->size[1] != y->size[1] || !is_there(b, bias))
		return dnn_bad_param;
	for (int i = 2; i < b->dims; i++)
		if (b->size[i] != 1)
			return dnn_bad_param;
	if (algorithm != 1 || y->type == dnn_double)
		return dnn_not_supported;
	biases++;
	return run(forward, d, alpha, x, in, w, weight, c, algorithm, workspace, bytes, beta, y, out, b, bias);
}
