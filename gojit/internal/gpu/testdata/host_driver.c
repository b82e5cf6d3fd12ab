/* A software device: a driver and a compiler with CUDA's functions, whose device is the processor. NVRTC is the compiler of the system, PTX and a device's
   instructions are a shared library behind its length, and a kernel runs one thread, or one block, after another. The device's memory is its own: a kernel that reads or writes anything
   but memory which was allocated, a copy beyond an allocation and one between two addresses of the processor fail, as freed memory does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { invalid_value = 1, out_of_memory = 2, invalid_image = 200, not_found = 500, illegal_address = 700, launch_failed = 719 };

typedef void (*kernel)(void **arguments, long long first, long long step);

/* Allocations in the order of their addresses. The lock guards them and runs one kernel at a time. */
struct block { uint64_t at, bytes; };
static struct block *blocks;
static int count, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t allocated, limit = 1 << 30;
static int launches_until_failure;
static long long launches;

/* For tests: what is allocated, how much may be, how many kernels ran, and which launch from now on is to fail. */
long long host_allocated(void) { return allocated; }
long long host_launches(void) { return launches; }
void host_set_limit(long long bytes) { limit = bytes; }
void host_fail_launch(int after) { launches_until_failure = after; }

/* The number of blocks that begin at or before an address. */
static int blocks_until(uint64_t at) {
	int low = 0, high = count;
	while (low < high) {
		int middle = (low + high) / 2;
		if (blocks[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int is_allocated(uint64_t at, uint64_t bytes) {
	int i = blocks_until(at) - 1;
	return i >= 0 && at - blocks[i].at <= blocks[i].bytes && bytes <= blocks[i].bytes - (at - blocks[i].at);
}

/* Whether memory is the device's, for libraries. */
int host_is_allocated(uint64_t at, uint64_t bytes) {
	pthread_mutex_lock(&lock);
	int is = is_allocated(at, bytes);
	pthread_mutex_unlock(&lock);
	return is;
}

int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *found) { *found = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int length, int device) { snprintf(name, length, "software device"); return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { *value = attribute == 16 ? 2 : attribute == 75 ? 9 : attribute == 39 ? 1024 : 0; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = context; return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxSynchronize(void) { return 0; }

int cuGetErrorString(int code, const char **text) {
	*text = code == out_of_memory ? "out of memory" : code == illegal_address ? "an illegal memory access was encountered" :
		code == launch_failed ? "unspecified launch failure" : code == invalid_value ? "invalid argument" : "software device";
	return 0;
}

int cuMemAlloc_v2(uint64_t *at, uint64_t bytes) {
	int code = out_of_memory;
	pthread_mutex_lock(&lock);
	char *memory = bytes > limit || allocated > limit - bytes ? NULL : malloc(bytes);
	if (memory != NULL) {
		if (count == room)
			blocks = realloc(blocks, (room = 2 * room + 64) * sizeof *blocks);
		int i = blocks_until((uint64_t)memory);
		memmove(blocks + i + 1, blocks + i, (count++ - i) * sizeof *blocks);
		blocks[i] = (struct block){(uint64_t)memory, bytes};
		memset(memory, 0xa5, bytes);
		allocated += bytes;
		*at = (uint64_t)memory;
		code = 0;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

int cuMemFree_v2(uint64_t at) {
	int code = invalid_value;
	pthread_mutex_lock(&lock);
	int i = blocks_until(at) - 1;
	if (i >= 0 && blocks[i].at == at) {
		allocated -= blocks[i].bytes;
		memmove(blocks + i, blocks + i + 1, (--count - i) * sizeof *blocks);
		free((void *)at);
		code = 0;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

int cuMemGetInfo_v2(uint64_t *available, uint64_t *total) { *available = limit - allocated; *total = limit; return 0; }

/* Copies where the sides that are the device's are allocated and the others are not; a side that is none is NULL. */
static int copy(void *to, const void *from, uint64_t bytes, int to_device, int from_device) {
	pthread_mutex_lock(&lock);
	int fits = is_allocated((uint64_t)to, bytes) == to_device && is_allocated((uint64_t)from, bytes) == from_device;
	if (fits)
		memmove(to, from, bytes);
	pthread_mutex_unlock(&lock);
	return fits ? 0 : invalid_value;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, uint64_t bytes) { return copy((void *)to, from, bytes, 1, 0); }
int cuMemcpyDtoH_v2(void *to, uint64_t from, uint64_t bytes) { return copy(to, (void *)from, bytes, 0, 1); }
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, uint64_t bytes) { return copy((void *)to, (void *)from, bytes, 1, 1); }

int cuMemsetD8_v2(uint64_t at, unsigned char value, uint64_t bytes) {
	pthread_mutex_lock(&lock);
	int fits = is_allocated(at, bytes);
	if (fits)
		memset((void *)at, value, bytes);
	pthread_mutex_unlock(&lock);
	return fits ? 0 : invalid_value;
}

/* What a kernel may touch besides allocations: its stack, and the constants of its module. Allocations that it touched last are looked at first. */
static jmp_buf illegal;
static char *stack, *module_low, *module_high;
enum { recent_blocks = 4 };
static struct block recent[recent_blocks];
static unsigned newest;

static void check(char *at, unsigned long bytes) {
	char here;
	if (at >= &here && at + bytes <= stack || at >= module_low && at + bytes <= module_high)
		return;
	for (int i = 0; i < recent_blocks; i++)
		if ((uint64_t)at - recent[i].at < recent[i].bytes && bytes <= recent[i].bytes - ((uint64_t)at - recent[i].at))
			return;
	if (!is_allocated((uint64_t)at, bytes))
		longjmp(illegal, 1);
	recent[newest++ % recent_blocks] = blocks[blocks_until((uint64_t)at) - 1];
}

/* A file in the folder of temporary files: its name is written over path, which has room for 256 bytes. */
static int temporary(char *path, const char *suffix) {
	const char *folder = getenv("TMPDIR");
	snprintf(path, 256, "%s/kernelXXXXXX%s", folder ? folder : "/tmp", suffix);
	return mkstemps(path, strlen(suffix));
}

enum { header = 17 }; /* the length of the library that follows, in hexadecimal digits, and a line's end */

int cuModuleLoadData(void **module, const char *image) {
	char path[256];
	size_t size = strtoull(image, NULL, 16);
	int file = temporary(path, ".so");
	if (file < 0 || write(file, image + header, size) != (ssize_t)size || close(file) != 0)
		return invalid_image;
	*module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unlink(path);
	if (*module == NULL)
		return invalid_image;
	*(void (**)(char *, unsigned long))dlsym(*module, "host_check") = check;
	return 0;
}

/* A function of a module, with the module's bounds. One by blocks does the work of all threads of a block in one call. */
struct function { kernel run; void (*bounds)(char **low, char **high); int by_blocks; };

int cuModuleGetFunction(struct function **function, void *module, const char *name) {
	kernel run = (kernel)dlsym(module, name);
	if (run == NULL)
		return not_found;
	char marker[256];
	snprintf(marker, sizeof marker, "%s_by_blocks", name);
	*function = malloc(sizeof **function);
	**function = (struct function){run, (void (*)(char **, char **))dlsym(module, "host_bounds"), dlsym(module, marker) != NULL};
	return 0;
}

int cuModuleUnload(void *module) { return dlclose(module); }

int cuLaunchKernel(struct function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
	void **arguments, void **extra) {
	long long threads = function->by_blocks ? gx : (long long)gx * bx;
	char here;
	int code = 0;
	if (gx == 0 || gy != 1 || gz != 1 || by != 1 || bz != 1 || bx > 1024)
		return invalid_value;
	pthread_mutex_lock(&lock);
	stack = &here;
	function->bounds(&module_low, &module_high);
	memset(recent, 0, sizeof recent);
	launches++;
	if (launches_until_failure > 0 && --launches_until_failure == 0)
		code = launch_failed;
	else if (setjmp(illegal))
		code = illegal_address;
	else
		for (long long t = 0; t < threads; t++)
			function->run(arguments, t, threads);
	pthread_mutex_unlock(&lock);
	return code;
}

/* Events: the device is done with everything that it was given, so a mark is passed at once. */
struct event { double milliseconds; };

int cuEventCreate(struct event **made, unsigned flags) { *made = calloc(1, sizeof **made); return 0; }

int cuEventRecord(struct event *e, void *stream) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	e->milliseconds = now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
	return 0;
}

int cuEventQuery(struct event *e) { return 0; }
int cuEventSynchronize(struct event *e) { return 0; }
int cuEventElapsedTime(float *milliseconds, struct event *from, struct event *to) { *milliseconds = to->milliseconds - from->milliseconds; return 0; }
int cuEventDestroy_v2(struct event *e) { free(e); return 0; }

struct program { char path[256]; char log[4096]; char *image, *text; uint64_t size; };

/* Keeps a text and the options it is compiled with in the folder of the variable HOST_TEXTS, for NVRTC itself to compile (.ci/run nvrtc). */
static void keep(const char *text, int options, const char **texts) {
	const char *folder = getenv("HOST_TEXTS");
	char path[512];
	uint64_t hash = 14695981039346656037u;
	if (folder == NULL)
		return;
	for (const char *at = text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 1099511628211u;
	snprintf(path, sizeof path, "%s/%016llx.cu", folder, (unsigned long long)hash);
	FILE *file = fopen(path, "w");
	if (file == NULL)
		return;
	fprintf(file, "//");
	for (int i = 0; i < options; i++)
		fprintf(file, " %s", texts[i]);
	fprintf(file, "\n%s", text);
	fclose(file);
}

int nvrtcVersion(int *major, int *minor) { *major = 0; *minor = 1; return 0; }

int nvrtcCreateProgram(struct program **made, const char *text, const char *name, int headers, const char **contents, const char **names) {
	struct program *p = *made = calloc(1, sizeof *p);
	p->text = strdup(text);
	int file = temporary(p->path, ".c");
	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		return 1;
	return close(file);
}

int nvrtcCompileProgram(struct program *p, int options, const char **texts) {
	char command[2048], library[260];
	keep(p->text, options, texts);
	snprintf(library, sizeof library, "%s.so", p->path);
	snprintf(command, sizeof command, "cc -std=gnu11 -O1 -w -ffp-contract=off -fwrapv -shared -fPIC -fsanitize=kernel-address "
		"--param asan-instrumentation-with-call-threshold=0 --param asan-stack=0 --param asan-globals=0 "
		"-include " HOST_HEADER " -o %s %s -lm 2>&1", library, p->path);
	FILE *out = popen(command, "r");
	if (out == NULL)
		return 1;
	fread(p->log, 1, sizeof p->log - 1, out);
	if (pclose(out) != 0)
		return 6;
	FILE *made = fopen(library, "r");
	unlink(library);
	if (made == NULL || fseek(made, 0, SEEK_END) != 0)
		return 1;
	uint64_t size = ftell(made);
	rewind(made);
	p->size = header + size;
	p->image = malloc(p->size + 1);
	sprintf(p->image, "%016llx\n", (unsigned long long)size);
	int whole = fread(p->image + header, 1, size, made) == size;
	fclose(made);
	return whole ? 0 : 1;
}

int nvrtcGetNumSupportedArchs(int *found) { *found = 2; return 0; }
int nvrtcGetSupportedArchs(int *architectures) { architectures[0] = 75; architectures[1] = 90; return 0; }
int nvrtcGetCUBINSize(struct program *p, uint64_t *size) { *size = p->size; return 0; }
int nvrtcGetCUBIN(struct program *p, char *image) { memcpy(image, p->image, p->size); return 0; }
int nvrtcGetPTXSize(struct program *p, uint64_t *size) { *size = p->size; return 0; }
int nvrtcGetPTX(struct program *p, char *text) { memcpy(text, p->image, p->size); return 0; }
int nvrtcGetProgramLogSize(struct program *p, uint64_t *size) { *size = strlen(p->log) + 1; return 0; }
int nvrtcGetProgramLog(struct program *p, char *text) { strcpy(text, p->log); return 0; }
int nvrtcDestroyProgram(struct program **p) { unlink((*p)->path); free((*p)->image); free((*p)->text); free(*p); *p = NULL; return 0; }
