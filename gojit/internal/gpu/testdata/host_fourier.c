/* cuFFT of the software device: transforms of rows by the definition. It refuses what cuFFT would refuse or would go wrong with: plans that nobody made, without a
   stream or the memory that they asked for, of another type than the function that is called, and memory that is not the device's, begins where no complex number
   does or lies over other memory. Transforms to real numbers overwrite what they read, as cuFFT's may. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int host_is_allocated(uint64_t at, uint64_t bytes);
int host_give(void *stream, int (*run)(const void *argument), const void *argument, uint64_t bytes);

enum { invalid_plan = 1, invalid_value = 4, exec_failed = 6, invalid_size = 8, unaligned = 9, no_workspace = 13 };
enum { c2c = 0x29, r2c = 0x2a, c2r = 0x2c, doubles = 0x40 };

struct plan { int is_made, automatic, kind; long long length, rows; void *stream; uint64_t work, bytes; };
enum { most_plans = 4096 };
static struct plan plans[most_plans];
static int lives, next_plan_status, next_exec_status;
static long long transforms;

/* For tests: how many plans there are and how many transforms there were, and the status that the next plan or transform is to have. */
int host_plans(void) { return lives; }
long long host_transforms(void) { return transforms; }
void host_next_plan(int status) { next_plan_status = status; }
void host_next_transform(int status) { next_exec_status = status; }

static int take(int *next) { int status = *next; *next = 0; return status; }
static struct plan *plan_of(int number) { return number > 0 && number < most_plans && plans[number].is_made ? &plans[number] : NULL; }

int cufftGetVersion(int *version) { *version = 12000; return 0; }

int cufftCreate(int *made) {
	for (int i = 1; i < most_plans; i++)
		if (!plans[i].is_made) {
			plans[i] = (struct plan){.is_made = 1, .automatic = 1};
			lives++;
			*made = i;
			return 0;
		}
	return 2;
}

int cufftDestroy(int number) {
	struct plan *p = plan_of(number);
	if (p == NULL)
		return invalid_plan;
	p->is_made = 0;
	lives--;
	return 0;
}

int cufftSetAutoAllocation(int number, int on) {
	struct plan *p = plan_of(number);
	if (p == NULL)
		return invalid_plan;
	p->automatic = on;
	return 0;
}

int cufftMakePlanMany64(int number, int rank, long long *n, long long *inembed, long long istride, long long idist, long long *onembed, long long ostride, long long odist,
	int kind, long long batch, size_t *bytes) {
	struct plan *p = plan_of(number);
	int status = take(&next_plan_status), own = kind & ~doubles;
	if (status != 0)
		return status;
	if (p == NULL || p->length != 0)
		return invalid_plan;
	if (own != c2c && own != r2c && own != c2r)
		return 3;
	if (rank != 1 || inembed != NULL || onembed != NULL || p->automatic) /* nobody asks for more */
		return invalid_value;
	if (n[0] < 1 || batch < 1)
		return invalid_size;
	p->kind = kind;
	p->length = n[0];
	p->rows = batch;
	*bytes = p->bytes = n[0] % 2 == 0 ? 512 + 16 * n[0] * batch : 0;
	return 0;
}

int cufftSetWorkArea(int number, uint64_t at) {
	struct plan *p = plan_of(number);
	if (p == NULL)
		return invalid_plan;
	p->work = at;
	return 0;
}

int cufftSetStream(int number, void *stream) {
	struct plan *p = plan_of(number);
	if (p == NULL)
		return invalid_plan;
	p->stream = stream;
	return 0;
}

static double complex load(const void *at, int wide, long long i) { return wide ? ((const double complex *)at)[i] : ((const float complex *)at)[i]; }
static double load_real(const void *at, int wide, long long i) { return wide ? ((const double *)at)[i] : ((const float *)at)[i]; }

struct work { struct plan plan; void *in, *out; int direction; };

static int run(const void *argument) {
	const struct work *w = argument;
	const int kind = w->plan.kind & ~doubles, wide = (w->plan.kind & doubles) != 0;
	const long long n = w->plan.length, half = n / 2 + 1, from = kind == c2r ? half : n, to = kind == r2c ? half : n;
	if (w->plan.bytes > 0 && !host_is_allocated(w->plan.work, w->plan.bytes))
		return 700;
	if (w->plan.bytes > 0)
		memset((void *)w->plan.work, 0xa5, w->plan.bytes);
	double complex *row = malloc(n * sizeof *row), *root = malloc(n * sizeof *root), *all = malloc(w->plan.rows * to * sizeof *all);
	for (long long k = 0; k < n; k++)
		root[k] = cos(2 * M_PI * k / n) + I * w->direction * sin(2 * M_PI * k / n);
	for (long long r = 0; r < w->plan.rows; r++) {
		for (long long i = 0; i < n; i++)
			row[i] = kind == r2c ? load_real(w->in, wide, r * from + i) : i < from ? load(w->in, wide, r * from + i) : conj(load(w->in, wide, r * from + n - i));
		for (long long k = 0; k < to; k++) {
			double complex sum = 0;
			for (long long i = 0; i < n; i++)
				sum += row[i] * root[i * k % n];
			all[r * to + k] = sum;
		}
	}
	if (kind == c2r)
		memset(w->in, 0xff, w->plan.rows * from * (wide ? 16 : 8));
	for (long long i = 0; i < w->plan.rows * to; i++)
		if (kind == c2r && wide)
			((double *)w->out)[i] = creal(all[i]);
		else if (kind == c2r)
			((float *)w->out)[i] = creal(all[i]);
		else if (wide)
			((double complex *)w->out)[i] = all[i];
		else
			((float complex *)w->out)[i] = all[i];
	free(row);
	free(root);
	free(all);
	transforms++;
	return 0;
}

static int transform(int number, int kind, void *in, void *out, int direction) {
	struct plan *p = plan_of(number);
	int status = take(&next_exec_status);
	if (status != 0)
		return status;
	if (p == NULL || p->length == 0 || p->kind != kind)
		return invalid_plan;
	const int own = kind & ~doubles, number_bytes = kind & doubles ? 8 : 4;
	const uint64_t n = p->length, half = n / 2 + 1, from = p->rows * (own == c2r ? 2 * half : own == r2c ? n : 2 * n) * number_bytes,
		to = p->rows * (own == r2c ? 2 * half : own == c2r ? n : 2 * n) * number_bytes, at = (uint64_t)in, into = (uint64_t)out;
	if (p->stream == NULL || direction != -1 && direction != 1 || !host_is_allocated(at, from) || !host_is_allocated(into, to) || at != into && at < into + to && into < at + from)
		return invalid_value;
	if (at % (2 * number_bytes) != 0 || into % (2 * number_bytes) != 0)
		return unaligned;
	if (p->bytes > 0 && !host_is_allocated(p->work, p->bytes))
		return no_workspace;
	struct work w = {*p, in, out, direction};
	return host_give(p->stream, run, &w, sizeof w) ? exec_failed : 0;
}

int cufftExecC2C(int plan, void *in, void *out, int direction) { return transform(plan, c2c, in, out, direction); }
int cufftExecR2C(int plan, void *in, void *out) { return transform(plan, r2c, in, out, -1); }
int cufftExecC2R(int plan, void *in, void *out) { return transform(plan, c2r, in, out, 1); }
int cufftExecZ2Z(int plan, void *in, void *out, int direction) { return transform(plan, c2c + doubles, in, out, direction); }
int cufftExecD2Z(int plan, void *in, void *out) { return transform(plan, r2c + doubles, in, out, -1); }
int cufftExecZ2D(int plan, void *in, void *out) { return transform(plan, c2r + doubles, in, out, 1); }
