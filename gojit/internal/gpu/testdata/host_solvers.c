/* cuSOLVER of the software device, and cuBLAS's solutions by triangles: textbook loops over numbers of 64 bits. They refuse what the libraries would refuse or would go
   wrong with: leading dimensions that are too small, less memory than they asked for, memory that is not the device's, and a handle without a stream. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;
enum { invalid_value = 3, execution_failed = 6, not_supported = 9 };
enum { as_is, transposed, adjoint };
enum { lu, lu_solution, cholesky, cholesky_batch, reflections, product, times, symmetric, symmetric_batch, singular, singular_batch, singular_by_qr, triangle };

int host_is_allocated(uint64_t at, uint64_t bytes);
int host_give(void *stream, int (*run)(const void *argument), const void *argument, uint64_t bytes);

/* For tests: how much was solved and by what last, the status that the next call is to have, and what the next one is to say of its matrix. */
static long long solved;
static int last_work, next_solver_status, next_info;
long long host_solved(void) { return solved; }
int host_last_work(void) { return last_work; }
void host_next_solver(int status) { next_solver_status = status; }
void host_next_info(int info) { next_info = info; }

struct solver { void *stream; };
struct way { int sorts; };

int cusolverGetVersion(int *version) { *version = 12000; return 0; }
int cusolverDnCreate(struct solver **made) { *made = calloc(1, sizeof **made); return 0; }
int cusolverDnSetStream(struct solver *s, void *stream) { s->stream = stream; return 0; }
int cusolverDnCreateSyevjInfo(struct way **made) { *made = calloc(1, sizeof **made); return 0; }
int cusolverDnXsyevjSetSortEig(struct way *w, int on) { w->sorts = on; return 0; }
int cusolverDnCreateGesvdjInfo(struct way **made) { *made = calloc(1, sizeof **made); return 0; }
int cusolverDnXgesvdjSetSortEig(struct way *w, int on) { w->sorts = on; return 0; }

/* Work with matrices by columns: one, or as many as there are in a batch. */
struct job {
	int what, letter, m, n, k, lda, ldb, ldv, count, upper, form, unit, right, vectors, width, kept_info;
	char *a, *b, *v, *numbers;
	int *pivots, *info;
	const uint64_t *list, *others; /* of matrices, or NULL */
	char *work;
	uint64_t work_bytes;
};

static const int element_bytes[] = {4, 8, 8, 16};

static number get(const char *at, int letter, long long i) {
	switch (letter) {
	case 0: return ((const float *)at)[i];
	case 1: return ((const double *)at)[i];
	case 2: return ((const float complex *)at)[i];
	}
	return ((const number *)at)[i];
}

static void put(char *at, int letter, long long i, number x) {
	switch (letter) {
	case 0: ((float *)at)[i] = creal(x); break;
	case 1: ((double *)at)[i] = creal(x); break;
	case 2: ((float complex *)at)[i] = x; break;
	default: ((number *)at)[i] = x;
	}
}

static number *read_matrix(const char *at, int letter, int m, int n, int ld) {
	number *made = malloc(sizeof *made * (m * (size_t)n + 1));
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			made[i + (size_t)j * m] = get(at, letter, i + (long long)j * ld);
	return made;
}

static void write_matrix(const number *from, char *at, int letter, int m, int n, int ld) {
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			put(at, letter, i + (long long)j * ld, from[i + (size_t)j * m]);
}

#define A(i, j) a[(i) + (size_t)(j) * m]
#define B(i, j) b[(i) + (size_t)(j) * rows]

static double size_of(number x) { return fabs(creal(x)) + fabs(cimag(x)); }

static int factorize(number *a, int m, int n, int *pivots) {
	int info = 0;
	for (int j = 0; j < m && j < n; j++) {
		int at = j;
		for (int i = j + 1; i < m; i++)
			if (size_of(A(i, j)) > size_of(A(at, j)))
				at = i;
		pivots[j] = at + 1;
		for (int k = 0; k < n; k++) {
			number x = A(j, k);
			A(j, k) = A(at, k);
			A(at, k) = x;
		}
		if (A(j, j) == 0) {
			info = info ? info : j + 1;
			continue;
		}
		for (int i = j + 1; i < m; i++) {
			A(i, j) /= A(j, j);
			for (int k = j + 1; k < n; k++)
				A(i, k) -= A(i, j) * A(j, k);
		}
	}
	return info;
}

/* Solves with a triangle of a, or of its transposed or adjoint. */
static void solve(const number *a, int m, int upper, int form, int unit, number *b, int rows, int columns) {
	int down = upper == (form != as_is);
	for (int c = 0; c < columns; c++)
		for (int step = 0; step < m; step++) {
			int i = down ? step : m - 1 - step;
			number x = B(i, c);
			for (int j = down ? 0 : i + 1; j < (down ? i : m); j++) {
				number y = form == as_is ? A(i, j) : A(j, i);
				x -= (form == adjoint ? conj(y) : y) * B(j, c);
			}
			number own = form == adjoint ? conj(A(i, i)) : A(i, i);
			B(i, c) = unit ? x : x / own;
		}
}

static void exchange(const int *pivots, int m, number *b, int rows, int columns, int back) {
	for (int step = 0; step < m; step++) {
		int i = back ? m - 1 - step : step, with = pivots[i] - 1;
		for (int c = 0; c < columns; c++) {
			number x = B(i, c);
			B(i, c) = B(with, c);
			B(with, c) = x;
		}
	}
}

static int factorize_cholesky(number *a, int m, int upper) {
	for (int j = 0; j < m; j++) {
		double own = creal(A(j, j));
		for (int k = 0; k < j; k++)
			own -= creal((upper ? A(k, j) : A(j, k)) * conj(upper ? A(k, j) : A(j, k)));
		if (!(own > 0))
			return j + 1;
		A(j, j) = sqrt(own);
		for (int i = j + 1; i < m; i++) {
			number x = upper ? A(j, i) : A(i, j);
			for (int k = 0; k < j; k++)
				x -= upper ? conj(A(k, j)) * A(k, i) : A(i, k) * conj(A(j, k));
			if (upper)
				A(j, i) = x / A(j, j);
			else
				A(i, j) = x / A(j, j);
		}
	}
	return 0;
}

/* Multiplies rows from j on of b by a reflection whose normal is column j of a. */
static void reflect(const number *a, int m, int j, number factor, number *b, int rows, int columns) {
	for (int c = 0; c < columns; c++) {
		number sum = B(j, c);
		for (int i = j + 1; i < m; i++)
			sum += conj(A(i, j)) * B(i, c);
		B(j, c) -= factor * sum;
		for (int i = j + 1; i < m; i++)
			B(i, c) -= factor * sum * A(i, j);
	}
}

static void factorize_qr(number *a, int m, int n, number *factors) {
	for (int j = 0; j < m && j < n; j++) {
		double others = 0;
		for (int i = j + 1; i < m; i++)
			others += creal(A(i, j) * conj(A(i, j)));
		number first = A(j, j);
		factors[j] = 0;
		if (others == 0 && cimag(first) == 0)
			continue;
		double to = sqrt(others + creal(first * conj(first)));
		to = creal(first) >= 0 ? -to : to;
		factors[j] = (to - first) / to;
		for (int i = j + 1; i < m; i++)
			A(i, j) /= first - to;
		reflect(a, m, j, conj(factors[j]), &A(0, j + 1), m, n - j - 1);
		A(j, j) = to;
	}
}

/* Turns columns p and q of a so that they are as the given numbers say. */
static void turn(number *a, int m, int p, int q, double c, number s) {
	for (int i = 0; i < m; i++) {
		number x = A(i, p), y = A(i, q);
		A(i, p) = c * x - conj(s) * y;
		A(i, q) = s * x + c * y;
	}
}

/* The turn after which two columns, or rows and columns, of lengths x and y and product z are apart. */
static void angle(double x, double y, number z, double *c, number *s) {
	double size = cabs(z), t = (y - x) / (2 * size);
	t = (t >= 0 ? 1 : -1) / (fabs(t) + sqrt(1 + t * t));
	*c = 1 / sqrt(1 + t * t);
	*s = t * *c * z / size;
}

static void sort(double *values, int n, number *u, int m, number *v, int k, int falls) {
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
			if (falls ? values[j] > values[i] : values[j] < values[i]) {
				double x = values[i];
				values[i] = values[j];
				values[j] = x;
				for (int r = 0; r < m; r++) {
					number y = u[r + (size_t)i * m];
					u[r + (size_t)i * m] = u[r + (size_t)j * m];
					u[r + (size_t)j * m] = y;
				}
				for (int r = 0; r < k; r++) {
					number y = v[r + (size_t)i * k];
					v[r + (size_t)i * k] = v[r + (size_t)j * k];
					v[r + (size_t)j * k] = y;
				}
			}
}

static number *identity(int m) {
	number *a = calloc((size_t)m * m + 1, sizeof *a);
	for (int i = 0; i < m; i++)
		A(i, i) = 1;
	return a;
}

/* Singular values by turns of pairs of columns: a becomes the left vectors times the values. */
static void turn_columns(number *a, int m, int n, number *v) {
	for (int round = 0; round < 60; round++) {
		int turned = 0;
		for (int p = 0; p < n; p++)
			for (int q = p + 1; q < n; q++) {
				double x = 0, y = 0, c;
				number z = 0, s;
				for (int i = 0; i < m; i++) {
					x += creal(A(i, p) * conj(A(i, p)));
					y += creal(A(i, q) * conj(A(i, q)));
					z += conj(A(i, p)) * A(i, q);
				}
				if (cabs(z) <= 1e-15 * sqrt(x * y) || cabs(z) < 1e-300)
					continue;
				turned = 1;
				angle(x, y, z, &c, &s);
				turn(a, m, p, q, c, s);
				turn(v, n, p, q, c, s);
			}
		if (!turned)
			return;
	}
}

/* Makes columns from first on, those before it are orthonormal. */
static void complete(number *a, int m, int first, int columns) {
	for (int j = first, at = 0; j < columns; at++) {
		for (int i = 0; i < m; i++)
			A(i, j) = i == at % m;
		double left = 0;
		for (int again = 0; again < 2; again++)
			for (int k = 0; k < j; k++) {
				number sum = 0;
				for (int i = 0; i < m; i++)
					sum += conj(A(i, k)) * A(i, j);
				for (int i = 0; i < m; i++)
					A(i, j) -= sum * A(i, k);
			}
		for (int i = 0; i < m; i++)
			left += creal(A(i, j) * conj(A(i, j)));
		if (left < 0.01 / m)
			continue;
		for (int i = 0; i < m; i++)
			A(i, j) /= sqrt(left);
		j++;
	}
}

static void put_values(char *at, int letter, const double *values, int n) {
	for (int i = 0; i < n; i++)
		put(at, letter % 2, i, values[i]);
}

static void find_singular(const struct job *w, number *a, char *numbers, char *left, char *right) {
	int m = w->m, n = w->n, known = 0;
	number *v = identity(n), *u = calloc((size_t)m * (w->width + n) + 1, sizeof *u);
	double *values = malloc(sizeof *values * (n + 1));
	turn_columns(a, m, n, v);
	for (int j = 0; j < n; j++) {
		double sum = 0;
		for (int i = 0; i < m; i++)
			sum += creal(A(i, j) * conj(A(i, j)));
		values[j] = sqrt(sum);
	}
	sort(values, n, a, m, v, n, 1);
	put_values(numbers, w->letter, values, n);
	if (w->vectors) {
		for (; known < n && values[known] > 1e-14 * values[0]; known++)
			for (int i = 0; i < m; i++)
				u[i + (size_t)known * m] = A(i, known) / values[known];
		complete(u, m, known, w->width);
		write_matrix(u, left, w->letter, m, w->width, w->ldb);
		if (w->what == singular_by_qr) {
			number *h = malloc(sizeof *h * n * n);
			for (int i = 0; i < n * n; i++)
				h[i] = conj(v[i / n + (size_t)(i % n) * n]);
			write_matrix(h, right, w->letter, n, n, w->ldv);
			free(h);
		} else
			write_matrix(v, right, w->letter, n, n, w->ldv);
	}
	free(u);
	free(v);
	free(values);
}

static void find_symmetric(const struct job *w, number *a, char *numbers) {
	int m = w->n;
	number *v = identity(m);
	double *values = malloc(sizeof *values * (m + 1));
	for (int j = 0; j < m; j++) {
		A(j, j) = creal(A(j, j));
		for (int i = j + 1; i < m; i++)
			if (w->upper)
				A(i, j) = conj(A(j, i));
			else
				A(j, i) = conj(A(i, j));
	}
	for (int round = 0; round < 60; round++)
		for (int p = 0; p < m; p++)
			for (int q = p + 1; q < m; q++) {
				number s, z = A(p, q);
				double c;
				if (cabs(z) <= 1e-17 * (fabs(creal(A(p, p))) + fabs(creal(A(q, q)))) || cabs(z) < 1e-300)
					continue;
				angle(creal(A(p, p)), creal(A(q, q)), z, &c, &s);
				turn(a, m, p, q, c, s);
				for (int i = 0; i < m; i++) {
					number x = A(p, i), y = A(q, i);
					A(p, i) = c * x - s * y;
					A(q, i) = conj(s) * x + c * y;
				}
				turn(v, m, p, q, c, s);
			}
	for (int j = 0; j < m; j++)
		values[j] = creal(A(j, j));
	sort(values, m, v, m, v, 0, 0);
	put_values(numbers, w->letter, values, m);
	if (w->vectors)
		memcpy(a, v, sizeof *a * m * m);
	free(v);
	free(values);
}

static int run(const void *argument) {
	const struct job *w = argument;
	const int bytes = element_bytes[w->letter], m = w->m, n = w->n, k = m < n ? m : n;
	if (w->work_bytes > 0 && !host_is_allocated((uint64_t)w->work, w->work_bytes) || w->list && !host_is_allocated((uint64_t)w->list, 8 * w->count))
		return 700;
	if (w->work_bytes > 0)
		memset(w->work, 0xa5, w->work_bytes);
	for (int t = 0; t < w->count; t++) {
		char *at = w->list ? (char *)w->list[t] : w->a + (size_t)t * w->lda * n * bytes, *to = w->others ? (char *)w->others[t] : w->b + (size_t)t * w->ldb * w->width * bytes;
		char *numbers = w->numbers + (size_t)t * n * element_bytes[w->letter % 2], *right = w->v + (size_t)t * w->ldv * n * bytes;
		if (!host_is_allocated((uint64_t)at, ((size_t)w->lda * (n - 1) + m) * bytes) || w->others && !host_is_allocated((uint64_t)to, ((size_t)w->ldb * (w->width - 1) + n) * bytes))
			return 700;
		number *a = read_matrix(at, w->letter, m, n, w->lda), *b = NULL, *factors = calloc(w->k + k + 1, sizeof *factors);
		int info = 0, is_written = 1;
		switch (w->what) {
		case lu: info = factorize(a, m, n, w->pivots); break;
		case lu_solution:
			b = read_matrix(to, w->letter, n, w->width, w->ldb);
			if (w->form == as_is) {
				exchange(w->pivots, n, b, n, w->width, 0);
				solve(a, n, 0, as_is, 1, b, n, w->width);
				solve(a, n, 1, as_is, 0, b, n, w->width);
			} else {
				solve(a, n, 1, w->form, 0, b, n, w->width);
				solve(a, n, 0, w->form, 1, b, n, w->width);
				exchange(w->pivots, n, b, n, w->width, 1);
			}
			break;
		case triangle:
			b = read_matrix(to, w->letter, n, w->width, w->ldb);
			solve(a, n, w->upper, w->form, w->unit, b, n, w->width);
			break;
		case cholesky: case cholesky_batch: info = factorize_cholesky(a, n, w->upper); break;
		case reflections:
			factorize_qr(a, m, n, factors);
			for (int i = 0; i < k; i++)
				put(w->numbers, w->letter, i, factors[i]);
			break;
		case product:
			b = calloc((size_t)m * n + 1, sizeof *b);
			for (int i = 0; i < n; i++)
				b[i + (size_t)i * m] = 1;
			for (int j = w->k - 1; j >= 0; j--)
				reflect(a, m, j, get(w->numbers, w->letter, j), b, m, n);
			memcpy(a, b, sizeof *a * m * n);
			break;
		case times: {
			b = malloc(sizeof *b * (m * (size_t)w->width + 1));
			for (int j = 0; j < w->width; j++) /* from the right as the adjoint from the left */
				for (int i = 0; i < m; i++)
					b[i + (size_t)j * m] = w->right ? conj(get(w->b, w->letter, j + (long long)i * w->ldb)) : get(w->b, w->letter, i + (long long)j * w->ldb);
			int back = (w->form != as_is) != w->right;
			for (int step = 0; step < w->k; step++) {
				int j = back ? step : w->k - 1 - step;
				number factor = get(w->numbers, w->letter, j);
				reflect(a, m, j, back ? conj(factor) : factor, b, m, w->width);
			}
			for (int j = 0; j < w->width; j++)
				for (int i = 0; i < m; i++)
					put(w->b, w->letter, w->right ? j + (long long)i * w->ldb : i + (long long)j * w->ldb, w->right ? conj(b[i + (size_t)j * m]) : b[i + (size_t)j * m]);
			is_written = 0;
			break;
		}
		case symmetric: case symmetric_batch: find_symmetric(w, a, numbers); break;
		default: find_singular(w, a, numbers, to, right);
		}
		if (w->what == lu_solution || w->what == triangle)
			write_matrix(b, to, w->letter, n, w->width, w->ldb);
		else if (w->what >= singular && w->what <= singular_by_qr)
			memset(at, 0xff, (size_t)m * n * bytes); /* nothing is left of it */
		else if (is_written)
			write_matrix(a, at, w->letter, m, n, w->lda);
		if (w->info)
			w->info[t] = w->kept_info ? w->kept_info : info;
		free(a);
		free(b);
		free(factors);
	}
	solved++;
	last_work = w->what;
	return 0;
}

static int is_there(const void *at, uint64_t bytes) { return host_is_allocated((uint64_t)at, bytes); }

/* How many elements of memory some work asks for. */
static int asked(int m, int n) { return 3 * m + 5 * n + 7; }

static int give(void *stream, struct job w, int work_elements) {
	const int bytes = element_bytes[w.letter], real = element_bytes[w.letter % 2], numbers = w.what >= symmetric && w.what <= singular_by_qr, k = w.m < w.n ? w.m : w.n;
	if (next_solver_status != 0) {
		int status = next_solver_status;
		next_solver_status = 0;
		return status;
	}
	w.work_bytes = (uint64_t)work_elements * bytes;
	w.kept_info = next_info;
	if (stream == NULL || w.m < 1 || w.n < 1 || w.lda < w.m || w.count < 1 || w.work && (work_elements < asked(w.m, w.n) || !is_there(w.work, w.work_bytes)))
		return invalid_value;
	if (!w.list && !is_there(w.a, ((size_t)w.lda * (w.count * w.n - 1) + w.m) * bytes) || w.what != triangle && !is_there(w.info, 4 * w.count))
		return invalid_value;
	if (w.numbers && !is_there(w.numbers, numbers ? (uint64_t)w.count * w.n * real : (w.what == reflections ? k : w.k) * bytes) || w.pivots && !is_there(w.pivots, 4 * k))
		return invalid_value;
	if (w.what >= singular && w.what <= singular_by_qr && w.m < w.n)
		return not_supported;
	if (w.vectors && w.what >= singular && (w.ldb < w.m || w.ldv < w.n || !is_there(w.b, (size_t)w.count * w.ldb * w.width * bytes) || !is_there(w.v, (size_t)w.count * w.ldv * w.n * bytes)))
		return invalid_value;
	if (w.what == lu_solution && (w.ldb < w.n || w.form > adjoint || !is_there(w.b, ((size_t)w.ldb * (w.width - 1) + w.n) * bytes)))
		return invalid_value;
	if ((w.what == product || w.what == times) && (w.k > w.n || w.n > w.m))
		return invalid_value;
	if (w.what == times && (w.form == transposed && w.letter > 1 || w.form == adjoint && w.letter < 2 || w.ldb < (w.right ? w.width : w.m) ||
		!is_there(w.b, ((size_t)w.ldb * ((w.right ? w.m : w.width) - 1) + (w.right ? w.width : w.m)) * bytes)))
		return invalid_value;
	next_info = 0;
	return host_give(stream, run, &w, sizeof w) ? execution_failed : 0;
}

typedef struct solver *S;
#define SIZE { *elements = asked(m, n); return lda < m ? invalid_value : 0; }
#define SQUARE(n) const int m = n;
#define SOLVERS(L, letter_, OR, SY) \
	int cusolverDn##L##getrf_bufferSize(S s, int m, int n, char *a, int lda, int *elements) SIZE \
	int cusolverDn##L##getrf(S s, int m, int n, char *a, int lda, char *work, int *pivots, int *info) { \
		return give(s->stream, (struct job){.what = lu, .letter = letter_, .m = m, .n = n, .lda = lda, .count = 1, .a = a, .pivots = pivots, .info = info, .work = work}, asked(m, n)); \
	} \
	int cusolverDn##L##getrs(S s, int form, int n, int columns, char *a, int lda, int *pivots, char *b, int ldb, int *info) { \
		return give(s->stream, (struct job){.what = lu_solution, .letter = letter_, .m = n, .n = n, .lda = lda, .count = 1, .a = a, .b = b, .ldb = ldb, .width = columns, .form = form, \
			.pivots = pivots, .info = info}, 0); \
	} \
	int cusolverDn##L##potrf_bufferSize(S s, int upper, int n, char *a, int lda, int *elements) { SQUARE(n) SIZE } \
	int cusolverDn##L##potrf(S s, int upper, int n, char *a, int lda, char *work, int elements, int *info) { \
		return give(s->stream, (struct job){.what = cholesky, .letter = letter_, .m = n, .n = n, .lda = lda, .count = 1, .a = a, .upper = upper, .info = info, .work = work}, elements); \
	} \
	int cusolverDn##L##potrfBatched(S s, int upper, int n, const uint64_t *list, int lda, int *info, int count) { \
		return give(s->stream, (struct job){.what = cholesky_batch, .letter = letter_, .m = n, .n = n, .lda = lda, .count = count, .list = list, .upper = upper, .info = info}, 0); \
	} \
	int cusolverDn##L##geqrf_bufferSize(S s, int m, int n, char *a, int lda, int *elements) SIZE \
	int cusolverDn##L##geqrf(S s, int m, int n, char *a, int lda, char *factors, char *work, int elements, int *info) { \
		return give(s->stream, (struct job){.what = reflections, .letter = letter_, .m = m, .n = n, .lda = lda, .count = 1, .a = a, .numbers = factors, .info = info, .work = work}, elements); \
	} \
	int cusolverDn##L##OR##gqr_bufferSize(S s, int m, int n, int k, char *a, int lda, char *factors, int *elements) SIZE \
	int cusolverDn##L##OR##gqr(S s, int m, int n, int k, char *a, int lda, char *factors, char *work, int elements, int *info) { \
		return give(s->stream, (struct job){.what = product, .letter = letter_, .m = m, .n = n, .k = k, .lda = lda, .count = 1, .a = a, .numbers = factors, .info = info, .work = work}, elements); \
	} \
	int cusolverDn##L##OR##mqr_bufferSize(S s, int right, int form, int m, int n, int k, char *a, int lda, char *factors, char *b, int ldb, int *elements) { \
		*elements = asked(right ? n : m, k); \
		return lda < (right ? n : m) || ldb < m ? invalid_value : 0; \
	} \
	int cusolverDn##L##OR##mqr(S s, int right, int form, int m, int n, int k, char *a, int lda, char *factors, char *b, int ldb, char *work, int elements, int *info) { \
		return give(s->stream, (struct job){.what = times, .letter = letter_, .m = right ? n : m, .n = k, .k = k, .lda = lda, .count = 1, .a = a, .numbers = factors, .b = b, .ldb = ldb, \
			.width = right ? m : n, .right = right, .form = form, .info = info, .work = work}, elements); \
	} \
	int cusolverDn##L##SY##evd_bufferSize(S s, int vectors, int upper, int n, char *a, int lda, char *values, int *elements) { SQUARE(n) SIZE } \
	int cusolverDn##L##SY##evd(S s, int vectors, int upper, int n, char *a, int lda, char *values, char *work, int elements, int *info) { \
		return give(s->stream, (struct job){.what = symmetric, .letter = letter_, .m = n, .n = n, .lda = lda, .count = 1, .a = a, .numbers = values, .upper = upper, .vectors = vectors, \
			.info = info, .work = work}, elements); \
	} \
	int cusolverDn##L##SY##evjBatched_bufferSize(S s, int vectors, int upper, int n, char *a, int lda, char *values, int *elements, struct way *w, int count) { SQUARE(n) SIZE } \
	int cusolverDn##L##SY##evjBatched(S s, int vectors, int upper, int n, char *a, int lda, char *values, char *work, int elements, int *info, struct way *w, int count) { \
		return !w->sorts ? invalid_value : give(s->stream, (struct job){.what = symmetric_batch, .letter = letter_, .m = n, .n = n, .lda = lda, .count = count, .a = a, .numbers = values, \
			.upper = upper, .vectors = vectors, .info = info, .work = work}, elements); \
	} \
	int cusolverDn##L##gesvd_bufferSize(S s, int m, int n, int *elements) { const int lda = m; SIZE } \
	int cusolverDn##L##gesvd(S s, signed char left, signed char right, int m, int n, char *a, int lda, char *values, char *u, int ldu, char *v, int ldv, char *work, int elements, \
		char *rest, int *info) { \
		return give(s->stream, (struct job){.what = singular_by_qr, .letter = letter_, .m = m, .n = n, .lda = lda, .count = 1, .a = a, .numbers = values, .vectors = left != 'N', .b = u, \
			.ldb = ldu, .width = left == 'A' ? m : left == 'S' ? n : 0, .v = v, .ldv = ldv, .info = info, .work = work}, elements); \
	} \
	int cusolverDn##L##gesvdj_bufferSize(S s, int vectors, int fewer, int m, int n, char *a, int lda, char *values, char *u, int ldu, char *v, int ldv, int *elements, struct way *w) SIZE \
	int cusolverDn##L##gesvdj(S s, int vectors, int fewer, int m, int n, char *a, int lda, char *values, char *u, int ldu, char *v, int ldv, char *work, int elements, int *info, \
		struct way *w) { \
		return !w->sorts ? invalid_value : give(s->stream, (struct job){.what = singular, .letter = letter_, .m = m, .n = n, .lda = lda, .count = 1, .a = a, .numbers = values, \
			.vectors = vectors, .b = u, .ldb = ldu, .width = fewer ? n : m, .v = v, .ldv = ldv, .info = info, .work = work}, elements); \
	} \
	int cusolverDn##L##gesvdjBatched_bufferSize(S s, int vectors, int m, int n, char *a, int lda, char *values, char *u, int ldu, char *v, int ldv, int *elements, struct way *w, int count) SIZE \
	int cusolverDn##L##gesvdjBatched(S s, int vectors, int m, int n, char *a, int lda, char *values, char *u, int ldu, char *v, int ldv, char *work, int elements, int *info, \
		struct way *w, int count) { \
		return !w->sorts || m > 32 || n > 32 ? invalid_value : give(s->stream, (struct job){.what = singular_batch, .letter = letter_, .m = m, .n = n, .lda = lda, .count = count, .a = a, \
			.numbers = values, .vectors = vectors, .b = u, .ldb = ldu, .width = m, .v = v, .ldv = ldv, .info = info, .work = work}, elements); \
	} \
	int cublas##L##trsm_v2(void **blas, int side, int upper, int form, int unit, int n, int columns, const void *scale, char *a, int lda, char *b, int ldb) { \
		if (side != 0 || creal(get(scale, letter_, 0)) != 1 || ldb < n || !is_there(b, ((size_t)ldb * (columns - 1) + n) * element_bytes[letter_])) \
			return 7; \
		return give(blas[0], (struct job){.what = triangle, .letter = letter_, .m = n, .n = n, .lda = lda, .count = 1, .a = a, .b = b, .ldb = ldb, .width = columns, .upper = upper, \
			.form = form, .unit = unit}, 0) ? 7 : 0; \
	} \
	int cublas##L##trsmBatched(void **blas, int side, int upper, int form, int unit, int n, int columns, const void *scale, const uint64_t *list, int lda, const uint64_t *others, int ldb, int count) { \
		if (side != 0 || creal(get(scale, letter_, 0)) != 1 || ldb < n || !is_there(list, 8 * count) || !is_there(others, 8 * count)) \
			return 7; \
		return give(blas[0], (struct job){.what = triangle, .letter = letter_, .m = n, .n = n, .lda = lda, .count = count, .list = list, .others = others, .ldb = ldb, .width = columns, \
			.upper = upper, .form = form, .unit = unit}, 0) ? 7 : 0; \
	}
SOLVERS(S, 0, or, sy)
SOLVERS(D, 1, or, sy)
SOLVERS(C, 2, un, he)
SOLVERS(Z, 3, un, he)
