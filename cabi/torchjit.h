/* torchjit.h: runs models that PyTorch saved, from C. The library needs neither Python nor libtorch.
 *
 * Link with -ltorchjit. A program:
 *
 *     tj_error error = {0};
 *     tj_model model;
 *     tj_result result;
 *     tj_argument x = {.kind = TJ_TENSOR, .tensor = t};
 *     if (tj_load("model.pt", &model, &error) || tj_call(model, "forward", &x, 1, NULL, &result, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *
 * Errors. A function that can fail returns whose mistake it is (tj_fault), TJ_OK for none, and describes it in *error, which may be NULL. What
 * *error holds is the caller's: tj_error_clear frees it. No call ends the process: a mistake of the library is TJ_INTERNAL.
 *
 * Objects are numbers, 0 for none, and live until tj_release. A number that is none, or stands for another kind of object, is an error.
 *
 * Threads. Every function may be called from any number of threads at once, also with the same model. tj_result, tj_tensor and tj_cancel too.
 *
 * Processes. The library has a runtime with threads of its own: a child that was forked after it was loaded cannot use it. Load it in the child.
 */
#ifndef TORCHJIT_H
#define TORCHJIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t tj_model;  /* a module, an exported program, or compiled functions */
typedef uint64_t tj_tensor;
typedef uint64_t tj_result; /* what a call gave: one or more outputs with names */
typedef uint64_t tj_cancel; /* ends calls from another thread */

/* Whose mistake an error is. */
typedef enum {
    TJ_OK = 0,
    TJ_PROGRAM = 1, /* the program failed on what it was given, or does not compile */
    TJ_CALLER = 2,  /* the call asks for what there is not; a file is none; a call was cancelled or its time was over */
    TJ_INTERNAL = 3 /* the library is wrong */
} tj_fault;

typedef struct {
    int32_t fault;  /* tj_fault */
    int32_t line;   /* the place in a program, counted from 1; 0: none is known */
    int32_t column; /* counted from 0 */
    char *message;  /* what was found and expected, with the lines that led to it */
    char *file;     /* the file of the place, NULL where none is known */
} tj_error;

/* The types of elements. */
typedef enum {
    TJ_UINT8 = 0, TJ_INT8 = 1, TJ_INT16 = 2, TJ_INT32 = 3, TJ_INT64 = 4, TJ_FLOAT16 = 5, TJ_FLOAT32 = 6, TJ_FLOAT64 = 7,
    TJ_COMPLEX64 = 9, TJ_COMPLEX128 = 10, TJ_BOOL8 = 11, TJ_BFLOAT16 = 15
} tj_dtype;

/* What an argument is. */
typedef enum { TJ_NONE = 0, TJ_TENSOR, TJ_INT, TJ_FLOAT, TJ_BOOL, TJ_STRING, TJ_JSON } tj_kind;

typedef struct {
    const char *name; /* of the parameter; NULL: by place */
    int32_t kind;     /* tj_kind */
    tj_tensor tensor; /* of TJ_TENSOR */
    int64_t integer;  /* of TJ_INT and TJ_BOOL */
    double number;    /* of TJ_FLOAT */
    const char *text; /* of TJ_STRING, and of TJ_JSON: lists, dictionaries, {"dtype": "float32", "shape": [2], "data": [1, 2]} for tensors */
} tj_argument;

typedef struct {
    int32_t threads;      /* of each operation; 0: as tj_set_threads says */
    int64_t timeout_ms;   /* the call ends with TJ_CALLER when it takes longer; 0: never */
    tj_cancel cancel;     /* the call ends with TJ_CALLER when this is cancelled; 0: nothing is */
} tj_options;

typedef struct {
    int32_t dtype; /* tj_dtype */
    int32_t ndim;
    int64_t shape[64];
    size_t bytes; /* of all elements */
} tj_info;

struct DLManagedTensor; /* of dlpack.h */

#ifndef TORCHJIT_NO_PROTOTYPES

/* The version of the library, which is not to be freed. */
const char *tj_version(void);

/* Frees what an error holds, and makes it none. */
void tj_error_clear(tj_error *error);
/* Frees a text that a function gave. NULL is allowed. */
void tj_free(void *text);
/* Ends the life of an object. 0 and what has been released do nothing. */
void tj_release(uint64_t object);
/* Sets how many threads an operation uses where a call does not say; less than 1: as many as there are processors. */
void tj_set_threads(int32_t n);

/* Loads a file of torch.jit.save or torch.export.save, or one in memory, which is copied. Methods __setstate__ of the file run, within bounds. */
int tj_load(const char *path, tj_model *model, tj_error *error);
int tj_load_bytes(const void *data, size_t size, tj_model *model, tj_error *error);
/* Compiles the functions of a source text, which become the methods of the model. name is what messages call the text. */
int tj_compile(const char *name, const char *text, tj_model *model, tj_error *error);
/* Gives the names of the methods as a JSON list, and what a method takes and gives as a JSON object. Free the text with tj_free. */
int tj_methods(tj_model model, char **json, tj_error *error);
int tj_signature(tj_model model, const char *method, char **json, tj_error *error);
/* Calls a method. Parameters with defaults may be left out. options may be NULL. */
int tj_call(tj_model model, const char *method, const tj_argument *arguments, int32_t count, const tj_options *options, tj_result *result, tj_error *error);

/* How many outputs a result has: the items of a tuple, a list or a dictionary of strings, or one. */
int32_t tj_result_count(tj_result result);
/* The name of an output, to be freed with tj_free; NULL where there is none. */
char *tj_result_name(tj_result result, int32_t output);
/* An output that is a tensor, a number or a list of numbers as a tensor, or any output as JSON, to be freed with tj_free. */
int tj_result_tensor(tj_result result, int32_t output, tj_tensor *tensor, tj_error *error);
int tj_result_json(tj_result result, int32_t output, char **json, tj_error *error);

/* Makes a tensor of a copy of elements in row-major order. */
int tj_tensor_new(const void *data, const int64_t *shape, int32_t ndim, int32_t dtype, tj_tensor *tensor, tj_error *error);
/* Describes a tensor, and copies its elements in row-major order to memory of `bytes` bytes, which is tj_info.bytes. */
int tj_tensor_info(tj_tensor tensor, tj_info *info, tj_error *error);
int tj_tensor_read(tj_tensor tensor, void *to, size_t bytes, tj_error *error);
/* Makes a tensor over the memory of a DLPack tensor, which is taken over (its deleter is called when nothing uses it any more), or one for others over
 * the memory of a tensor. Neither copies. */
int tj_tensor_from_dlpack(struct DLManagedTensor *managed, tj_tensor *tensor, tj_error *error);
int tj_tensor_to_dlpack(tj_tensor tensor, struct DLManagedTensor **managed, tj_error *error);

/* Makes what ends calls that have it among their options, now or when they begin. */
tj_cancel tj_cancel_new(void);
void tj_cancel_now(tj_cancel cancel);

#endif /* TORCHJIT_NO_PROTOTYPES */

#ifdef __cplusplus
}
#endif

#endif
