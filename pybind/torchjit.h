/* torchjit.h: the C interface of the native library.
 *
 * Every call in either direction carries values as a flat run of 16-byte words in preorder: a
 * container's word holds its number of elements, the elements follow. TJCall invokes any callable
 * (a registered function, an operator, a compiled function) by number. */
#ifndef TORCHJIT_H
#define TORCHJIT_H

#include <stdint.h>

/* One word. The low byte of tag is a tj_kind, the rest is a count or a class number; of a number, its tj_numpy_type. */
typedef struct {
    int64_t tag;
    union {
        int64_t i;
        double d;
        const void *p;
    } u;
} tj_word;

/* How the payload of a word and the words after it are read. */
typedef enum {
    TJ_NONE = 0,
    TJ_BOOL,      /* i: 0 or 1 */
    TJ_INT,       /* i */
    TJ_FLOAT,     /* d */
    TJ_COMPLEX,   /* d: real part; the next word's d: imaginary part */
    TJ_STRING,    /* count: bytes of UTF-8; p: the bytes, or NULL where they follow in line */
    TJ_BYTES,     /* count, p as for a string */
    TJ_LIST,      /* count elements follow */
    TJ_TUPLE,     /* count elements follow; p: NULL, or the subclass of tuple, while its caller holds it */
    TJ_SIZE,      /* count int words follow: a tensor's shape */
    TJ_DICT,      /* count pairs follow: key, value, key, value */
    TJ_SLICE,     /* start, stop, step follow */
    TJ_ELLIPSIS,
    TJ_TOKEN,     /* count: token class (dtype, device ...); i: its code */
    TJ_HANDLE,    /* count: handle class (tensor, module ...); i: slot number */
    TJ_CALLABLE,  /* i: slot number of a callable */
    TJ_OBJECT,    /* count: 0, or one more than the element type that a class of numbers stands for; p: a host object: borrowed from arguments, owned by whoever reads a reply */
    TJ_CONSTRUCT, /* count: arguments; a host callable and its arguments follow */
    TJ_MISSING,   /* an argument that was not given */
    TJ_DECLINED   /* an operand that the operator does not take: try the other operand's method */
} tj_kind;

/* The element types of NumPy's scalars, by their names in numpy. Python's own numbers have none, which is 0. */
typedef enum {
    TJ_NUMPY_INT8 = 1,
    TJ_NUMPY_INT16,
    TJ_NUMPY_INT32,
    TJ_NUMPY_INT64,
    TJ_NUMPY_UINT8,
    TJ_NUMPY_FLOAT16,
    TJ_NUMPY_FLOAT32,
    TJ_NUMPY_FLOAT64,
    TJ_NUMPY_COMPLEX64,
    TJ_NUMPY_COMPLEX128
} tj_numpy_type;

/* The words of a reply. The caller lends words with room for cap; a longer reply is in memory of
 * malloc, owned is then 1 and the caller frees it. */
typedef struct {
    tj_word *words;
    int64_t len;
    int64_t cap;
    int64_t owned;
} tj_reply;

/* The memory of a strided array, lent by one side to the other. */
typedef struct {
    void *data;
    int64_t ndim;
    int64_t itemsize;
    int64_t bytes;
    int64_t readonly;
    const char *format; /* struct module character */
    int64_t shape[64];
    int64_t strides[64]; /* in bytes */
    void *owner;         /* what keeps the memory alive */
    int64_t loan;        /* of memory that Go lends: what TJReturn takes */
} tj_array;

/* Slots of small tensors whose Python objects have gone: Go ends their lives at the next call. */
#define TJ_WAITING 64
typedef struct {
    int64_t count;
    int64_t slots[TJ_WAITING];
} tj_waiting_slots;

/* Where the fields of a tensor lie, in bytes: see gojit/tensor/fields.go. */
typedef struct {
    int64_t numel, shape, strides, offset, dtype, device, requires_grad, base, storage, data, foreign;
} tj_layout;

#endif
