/* A software device: a driver and a compiler with CUDA's functions, whose device is the processor. NVRTC is the compiler of the system, PTX and a device's
   instructions are a shared library behind its length, and a kernel runs one thread, or one block, after another. The device's memory is its own: a kernel that reads or writes anything
   but memory which was allocated, a copy beyond an allocation and one between two addresses of the processor fail, as freed memory does.

   Work of a stream is done when it is given, or, for tests, when somebody waits for it; that of a stream which is captured is put down, and done by each launch of the graph. */
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

enum {
	invalid_value = 1, out_of_memory = 2, invalid_image = 200, invalid_handle = 400, illegal_state = 401, not_found = 500, not_ready = 600, illegal_address = 700, launch_failed = 719,
	capture_unsupported = 900, capture_invalidated = 901, capture_unmatched = 903, capture_unjoined = 904, capture_isolation = 905, captured_event = 907,
};

typedef void (*kernel)(void **arguments, long long first, long long step);

/* Allocations in the order of their addresses. The lock guards them and runs one kernel at a time. */
struct block { uint64_t at, bytes; };
static struct block *blocks;
static int count, room;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* work of libraries asks what is allocated */
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

static int drain_all(void);

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

int cuGetErrorString(int code, const char **text) {
	*text = code == capture_unsupported ? "operation not permitted when stream is capturing" : code == capture_invalidated ? "operation failed due to a previous error during capture" :
		code == capture_unjoined ? "capturing stream has unjoined work" : code == captured_event ? "operation not permitted on an event last recorded in a capturing stream" :
		code == capture_isolation ? "dependency created on uncaptured work in another stream" : code == invalid_handle ? "invalid resource handle" :
		code == out_of_memory ? "out of memory" : code == illegal_address ? "an illegal memory access was encountered" :
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
	drain_all();
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

/* Whether the variable HOST_BACKWARDS has threads, and blocks, run from the last to the first. */
static int backwards(void) { return getenv("HOST_BACKWARDS") != NULL; }

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
	*(int *)dlsym(*module, "host_backwards") = backwards();
	return 0;
}

/* A function of a module, with the module's bounds and the size of its argument. One by blocks does the work of all threads of a block in one call. Without
   run its module is unloaded. */
struct function { kernel run; void (*bounds)(char **low, char **high); int by_blocks; size_t bytes; void *module; struct function *next; };
static struct function *functions;

int cuModuleGetFunction(struct function **function, void *module, const char *name) {
	kernel run = (kernel)dlsym(module, name);
	if (run == NULL)
		return not_found;
	char marker[256];
	snprintf(marker, sizeof marker, "%s_by_blocks", name);
	int by_blocks = dlsym(module, marker) != NULL;
	snprintf(marker, sizeof marker, "%s_bytes", name);
	struct function *f = *function = malloc(sizeof *f);
	pthread_mutex_lock(&lock);
	*f = (struct function){run, (void (*)(char **, char **))dlsym(module, "host_bounds"), by_blocks, *(const long *)dlsym(module, marker), module, functions};
	functions = f;
	pthread_mutex_unlock(&lock);
	return 0;
}

int cuModuleUnload(void *module) {
	pthread_mutex_lock(&lock);
	drain_all();
	for (struct function *f = functions; f != NULL; f = f->next)
		if (f->module == module)
			f->run = NULL;
	pthread_mutex_unlock(&lock);
	return dlclose(module);
}

/* What a stream is given to do. */
struct event;
struct item {
	enum { launch, copy, fill, record, await, library } kind;
	int (*run)(const void *argument);
	struct function *function;
	unsigned blocks, threads;
	void *argument;
	uint64_t to, from, bytes;
	int to_device, from_device;
	unsigned char value;
	struct event *event;
	struct stream *stream; /* that the event was recorded on when it was awaited: it may be recorded again */
};
struct list { struct item *items; int count, room; };

struct capture { struct list list; struct stream *origin; int invalid; };
struct stream { struct list queue; struct capture *capture; int given, joined; /* since the capture began, and how much of that others wait for */ };
struct event { double milliseconds; int passed; struct stream *stream; struct capture *capture; int at; };

enum { most_streams = 1024 };
static struct stream *streams[most_streams];
static int stream_count, captures_open, deferred;

/* For tests: work waits until somebody waits for it. */
void host_defer(int on) {
	pthread_mutex_lock(&lock);
	drain_all();
	deferred = on;
	pthread_mutex_unlock(&lock);
}

static void append(struct list *l, struct item item) {
	if (l->count == l->room)
		l->items = realloc(l->items, (l->room = 2 * l->room + 16) * sizeof *l->items);
	l->items[l->count++] = item;
}

static int drain(struct stream *s);

static int run_kernel(const struct item *i) {
	long long threads = i->function->by_blocks ? i->blocks : (long long)i->blocks * i->threads;
	char here;
	if (i->function->run == NULL)
		return launch_failed;
	stack = &here;
	i->function->bounds(&module_low, &module_high);
	memset(recent, 0, sizeof recent);
	launches++;
	if (launches_until_failure > 0 && --launches_until_failure == 0)
		return launch_failed;
	if (setjmp(illegal))
		return illegal_address;
	void *arguments[] = {i->argument};
	const int is_backwards = backwards();
	for (long long t = 0; t < threads; t++)
		i->function->run(arguments, is_backwards ? threads - 1 - t : t, threads);
	return 0;
}

static int run_item(const struct item *i) {
	struct timespec now;
	switch (i->kind) {
	case launch:
		return run_kernel(i);
	case copy:
		if (is_allocated(i->to, i->bytes) != i->to_device || is_allocated(i->from, i->bytes) != i->from_device)
			return invalid_value;
		memmove((void *)i->to, (void *)i->from, i->bytes);
		return 0;
	case fill:
		if (!is_allocated(i->to, i->bytes))
			return invalid_value;
		memset((void *)i->to, i->value, i->bytes);
		return 0;
	case library:
		return i->run(i->argument);
	case record:
		clock_gettime(CLOCK_MONOTONIC, &now);
		i->event->milliseconds = now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
		i->event->passed = 1;
		return 0;
	case await:
		return i->stream == NULL ? 0 : drain(i->stream);
	}
	return invalid_value;
}

/* Does what a stream was given. The first error is the result. */
static int drain(struct stream *s) {
	int code = 0;
	struct list l = s->queue;
	s->queue = (struct list){0};
	for (int i = 0; i < l.count; i++) {
		int failed = run_item(&l.items[i]);
		code = code ? code : failed;
		free(l.items[i].argument);
	}
	free(l.items);
	return code;
}

static int drain_all(void) {
	int code = 0;
	for (int i = 0; i < stream_count; i++) {
		int failed = drain(streams[i]);
		code = code ? code : failed;
	}
	return code;
}

static int is_stream(struct stream *s) {
	for (int i = 0; i < stream_count; i++)
		if (streams[i] == s)
			return 1;
	return 0;
}

/* Gives work to a stream, which must be one that was made: nothing is done on the stream that all others wait for. Work without later is done at once. */
static int give(struct stream *s, struct item item, int later) {
	int code = 0;
	pthread_mutex_lock(&lock);
	if (!is_stream(s))
		code = invalid_handle;
	else if (s->capture != NULL && (s->capture->invalid || !later))
		s->capture->invalid = 1, code = later ? capture_invalidated : capture_unsupported;
	else if (s->capture != NULL) {
		append(&s->capture->list, item);
		s->given++;
	} else if (deferred && later)
		append(&s->queue, item);
	else {
		code = drain(s);
		code = code ? code : run_item(&item);
		free(item.argument);
	}
	pthread_mutex_unlock(&lock);
	return code;
}

/* Blocks of pinned memory, which copies that are put off may be from and to. */
static struct block pinned[4096];
static int pinned_count;

int cuMemHostAlloc(void **at, size_t bytes, unsigned flags) {
	if ((*at = malloc(bytes)) == NULL)
		return out_of_memory;
	pthread_mutex_lock(&lock);
	pinned[pinned_count++ % 4096] = (struct block){(uint64_t)*at, bytes};
	pthread_mutex_unlock(&lock);
	return 0;
}

int cuMemFreeHost(void *at) {
	pthread_mutex_lock(&lock);
	drain_all();
	for (int i = 0; i < pinned_count; i++)
		if (pinned[i].at == (uint64_t)at) {
			pinned[i] = pinned[--pinned_count];
			pthread_mutex_unlock(&lock);
			free(at);
			return 0;
		}
	pthread_mutex_unlock(&lock);
	return invalid_value;
}

static int is_pinned(uint64_t at, uint64_t bytes) {
	int found = 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < pinned_count; i++)
		found |= at - pinned[i].at < pinned[i].bytes && bytes <= pinned[i].bytes - (at - pinned[i].at);
	pthread_mutex_unlock(&lock);
	return found;
}

/* Copies where the sides that are the device's are allocated and the others are not. */
int cuMemcpyHtoDAsync_v2(uint64_t to, uint64_t from, uint64_t bytes, struct stream *s) {
	return give(s, (struct item){.kind = copy, .to = to, .from = from, .bytes = bytes, .to_device = 1}, is_pinned(from, bytes));
}

int cuMemcpyDtoHAsync_v2(uint64_t to, uint64_t from, uint64_t bytes, struct stream *s) {
	return give(s, (struct item){.kind = copy, .to = to, .from = from, .bytes = bytes, .from_device = 1}, is_pinned(to, bytes));
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, uint64_t bytes, struct stream *s) {
	return give(s, (struct item){.kind = copy, .to = to, .from = from, .bytes = bytes, .to_device = 1, .from_device = 1}, 1);
}

int cuMemsetD8Async(uint64_t at, unsigned char value, uint64_t bytes, struct stream *s) {
	return give(s, (struct item){.kind = fill, .to = at, .value = value, .bytes = bytes}, 1);
}

static void *copy_of(const void *from, size_t bytes) { return memcpy(malloc(bytes), from, bytes); }

int cuLaunchKernel(struct function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, struct stream *s,
	void **arguments, void **extra) {
	if (gx == 0 || gy != 1 || gz != 1 || by != 1 || bz != 1 || bx > 1024)
		return invalid_value;
	return give(s, (struct item){.kind = launch, .function = function, .blocks = gx, .threads = bx, .bytes = function->bytes, .argument = copy_of(arguments[0], function->bytes)}, 1);
}

/* Gives a stream work of a library, whose argument is kept until it is done. */
int host_give(struct stream *s, int (*run)(const void *argument), const void *argument, uint64_t bytes) {
	return give(s, (struct item){.kind = library, .run = run, .bytes = bytes, .argument = copy_of(argument, bytes)}, 1);
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -5; return 0; }

int cuStreamCreateWithPriority(struct stream **made, unsigned flags, int priority) {
	pthread_mutex_lock(&lock);
	*made = streams[stream_count++ % most_streams] = calloc(1, sizeof **made);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Waits for a stream, or asks whether it is done. */
static int visit(struct stream *s, int wait) {
	int code = 0;
	pthread_mutex_lock(&lock);
	if (!is_stream(s))
		code = invalid_handle;
	else if (s->capture != NULL)
		s->capture->invalid = 1, code = capture_unsupported;
	else
		code = wait ? drain(s) : s->queue.count > 0 ? not_ready : 0;
	pthread_mutex_unlock(&lock);
	return code;
}

int cuStreamSynchronize(struct stream *s) { return visit(s, 1); }
int cuStreamQuery(struct stream *s) { return visit(s, 0); }

int cuCtxSynchronize(void) {
	int code = captures_open > 0 ? capture_unsupported : 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < stream_count; i++)
		if (streams[i]->capture != NULL)
			streams[i]->capture->invalid = 1;
	code = code ? code : drain_all();
	pthread_mutex_unlock(&lock);
	return code;
}

int cuStreamBeginCapture_v2(struct stream *s, int mode) {
	if (s->capture != NULL)
		return illegal_state;
	s->capture = calloc(1, sizeof *s->capture);
	s->capture->origin = s;
	captures_open++;
	return 0;
}

struct graph { struct list list; };

int cuStreamEndCapture(struct stream *s, struct graph **graph) {
	struct capture *c = s->capture;
	int code = c == NULL ? illegal_state : c->origin != s ? capture_unmatched : c->invalid ? capture_invalidated : 0;
	*graph = NULL;
	if (c == NULL || c->origin != s)
		return code;
	for (int i = 0; i < stream_count; i++)
		if (streams[i]->capture == c) {
			if (streams[i] != s && streams[i]->given > streams[i]->joined && code == 0)
				code = capture_unjoined;
			streams[i]->capture = NULL;
			streams[i]->given = streams[i]->joined = 0;
		}
	captures_open--;
	if (code == 0) {
		*graph = malloc(sizeof **graph);
		(*graph)->list = c->list;
	}
	return code;
}

static void clear(struct list *l) {
	for (int i = 0; i < l->count; i++)
		free(l->items[i].argument);
	free(l->items);
}

int cuGraphDestroy(struct graph *g) { clear(&g->list); free(g); return 0; }

int cuGraphInstantiateWithFlags(struct graph **executable, struct graph *g, unsigned long long flags) {
	*executable = calloc(1, sizeof **executable);
	for (int i = 0; i < g->list.count; i++) {
		struct item item = g->list.items[i];
		if (item.argument != NULL)
			item.argument = copy_of(item.argument, item.bytes);
		append(&(*executable)->list, item);
	}
	return 0;
}

int cuGraphLaunch(struct graph *executable, struct stream *s) {
	int code = 0;
	for (int i = 0; i < executable->list.count && code == 0; i++) {
		struct item item = executable->list.items[i];
		if (item.kind == record || item.kind == await)
			continue; /* the items are in the order in which they were given */
		if (item.argument != NULL)
			item.argument = copy_of(item.argument, item.bytes);
		code = give(s, item, 1);
	}
	return code;
}

int cuGraphExecDestroy(struct graph *executable) { return cuGraphDestroy(executable); }

int cuEventCreate(struct event **made, unsigned flags) { *made = calloc(1, sizeof **made); (*made)->passed = 1; return 0; }

int cuEventRecord(struct event *e, struct stream *s) {
	pthread_mutex_lock(&lock);
	e->stream = s;
	e->passed = 0;
	e->capture = is_stream(s) ? s->capture : NULL;
	e->at = e->capture ? s->given + 1 : 0;
	pthread_mutex_unlock(&lock);
	return give(s, (struct item){.kind = record, .event = e}, 1);
}

int cuStreamWaitEvent(struct stream *s, struct event *e, unsigned flags) {
	int code = 0;
	pthread_mutex_lock(&lock);
	if (is_stream(s) && e->capture != NULL && e->stream->capture == e->capture) {
		if (s->capture != NULL && s->capture != e->capture)
			code = capture_isolation;
		else {
			s->capture = e->capture;
			if (e->at > e->stream->joined)
				e->stream->joined = e->at;
		}
	} else if (is_stream(s) && s->capture != NULL)
		s->capture->invalid = 1, code = capture_isolation;
	struct stream *recorded = e->passed ? NULL : e->stream;
	pthread_mutex_unlock(&lock);
	return code ? code : give(s, (struct item){.kind = await, .event = e, .stream = recorded}, 1);
}

static int visit_event(struct event *e, int wait) {
	int code = 0;
	pthread_mutex_lock(&lock);
	if (e->capture != NULL) {
		if (e->stream->capture == e->capture)
			e->capture->invalid = 1;
		code = captured_event;
	} else if (!e->passed)
		code = wait ? drain(e->stream) : not_ready;
	pthread_mutex_unlock(&lock);
	return code;
}

int cuEventQuery(struct event *e) { return visit_event(e, 0); }
int cuEventSynchronize(struct event *e) { return visit_event(e, 1); }
int cuEventElapsedTime(float *milliseconds, struct event *from, struct event *to) { *milliseconds = to->milliseconds - from->milliseconds; return from->passed && to->passed ? 0 : not_ready; }
int cuEventDestroy_v2(struct event *e) { return 0; } /* work that waits may refer to it */

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
