/* A driver and a compiler with CUDA's functions, whose device is the processor: its memory is that of the process, NVRTC is the
   compiler of the system, PTX the name of a shared library, and a kernel runs one thread after another. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void (*kernel)(void **arguments, long long first, long long step);

static long long allocated;

long long host_allocated(void) { return allocated; }

int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int length, int device) { snprintf(name, length, "host"); return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { *value = attribute == 16 ? 2 : attribute == 75 ? 9 : 0; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = context; return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuGetErrorString(int code, const char **text) { *text = code == 2 ? "out of memory" : "host driver"; return 0; }

/* The size lies before the memory. */
int cuMemAlloc_v2(uint64_t *at, uint64_t bytes) {
	uint64_t *block = bytes >> 40 ? NULL : malloc(bytes + 16);
	if (block == NULL)
		return 2;
	*block = bytes;
	memset(block + 2, 0xa5, bytes);
	*at = (uint64_t)(block + 2);
	__atomic_add_fetch(&allocated, bytes, __ATOMIC_SEQ_CST);
	return 0;
}

int cuMemFree_v2(uint64_t at) {
	uint64_t *block = (uint64_t *)at - 2;
	__atomic_sub_fetch(&allocated, *block, __ATOMIC_SEQ_CST);
	free(block);
	return 0;
}

int cuMemGetInfo_v2(uint64_t *available, uint64_t *total) { *available = *total = 1 << 30; return 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, uint64_t bytes) { memcpy((void *)to, from, bytes); return 0; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, uint64_t bytes) { memcpy(to, (void *)from, bytes); return 0; }
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, uint64_t bytes) { memmove((void *)to, (void *)from, bytes); return 0; }
int cuMemsetD8_v2(uint64_t at, unsigned char value, uint64_t bytes) { memset((void *)at, value, bytes); return 0; }

int cuModuleLoadData(void **module, const char *image) {
	*module = dlopen(image, RTLD_NOW | RTLD_LOCAL);
	return *module == NULL ? 200 : 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
	*function = dlsym(module, name);
	return *function == NULL ? 500 : 0;
}

int cuModuleUnload(void *module) { return dlclose(module); }

int cuLaunchKernel(kernel function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
	void **arguments, void **extra) {
	long long threads = (long long)gx * bx;
	if (gx == 0 || gy != 1 || gz != 1 || by != 1 || bz != 1)
		return 1;
	for (long long t = 0; t < threads; t++)
		function(arguments, t, threads);
	return 0;
}

struct program { char path[256]; char log[4096]; };

int nvrtcCreateProgram(struct program **made, const char *text, const char *name, int headers, const char **contents, const char **names) {
	struct program *p = *made = calloc(1, sizeof *p);
	const char *folder = getenv("HOST_DRIVER_FOLDER");
	snprintf(p->path, sizeof p->path, "%s/kernelXXXXXX.c", folder);
	int file = mkstemps(p->path, 2);
	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		return 1;
	return close(file);
}

int nvrtcCompileProgram(struct program *p, int count, const char **options) {
	char command[2048];
	snprintf(command, sizeof command, "cc -std=c11 -O0 -w -ffp-contract=off -fwrapv -shared -fPIC -include " HOST_HEADER " -o %s.so %s -lm 2>&1", p->path, p->path);
	FILE *out = popen(command, "r");
	if (out == NULL)
		return 1;
	fread(p->log, 1, sizeof p->log - 1, out);
	return pclose(out) == 0 ? 0 : 6;
}

int nvrtcGetPTXSize(struct program *p, uint64_t *size) { *size = strlen(p->path) + 4; return 0; }
int nvrtcGetPTX(struct program *p, char *text) { sprintf(text, "%s.so", p->path); return 0; }
int nvrtcGetProgramLogSize(struct program *p, uint64_t *size) { *size = strlen(p->log) + 1; return 0; }
int nvrtcGetProgramLog(struct program *p, char *text) { strcpy(text, p->log); return 0; }
int nvrtcDestroyProgram(struct program **p) { free(*p); *p = NULL; return 0; }
