/* geometry.c: what a tensor is, read where Go keeps it: sizes, type, elements. While a trace is recorded, and for whatever is
 * unusual, the methods of the same name with an underscore do the work, which call Go. */
#include "shim.h"
#include "services.h"
#include "_cgo_export.h"

/* Addresses of tensors by slot, 0 for other objects; Go writes them. */
const char **tj_tensors;
static int64_t tensor_room;
int tj_recorders;
static tj_layout layout;

/* Room for more slots; those from count on are empty. There is always room: without memory the process ends, as Go's does. */
void *tj_grow_tensors(int64_t count, int64_t room) {
    const char **grown = realloc(tj_tensors, room * sizeof *grown);
    if (!grown) Py_FatalError("torchjit: out of memory");
    memset(grown + count, 0, (room - count) * sizeof *grown);
    tensor_room = room;
    return tj_tensors = grown;
}

void tj_set_recorders(int n) {
    tj_recorders = n;
}

static inline const char *tensor_of(PyObject *self) {
    return tj_tensors[((HandleObject *)self)->slot];
}

#define FIELD(t, type, name) (*(const type *)((t) + layout.name))
#define COUNT(t, name) (*(const int64_t *)((t) + layout.name + 8)) /* of a slice */

/* Whether Go must be asked: a thread records, or this is a child of fork. */
static inline int must_ask(void) {
    return tj_recorders || tj_forked;
}

/* Calls the method of a name for self and n arguments that follow it in args. */
static PyObject *ask(PyObject *self, PyObject **name, const char *text, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    PyObject *all[8] = {self};
    if (!*name && !(*name = PyUnicode_InternFromString(text))) return NULL;
    Py_ssize_t total = n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    if (total > 7) return PyErr_Format(PyExc_TypeError, "%s() takes fewer arguments", text + 1);
    for (Py_ssize_t i = 0; i < total; i++) all[i + 1] = args[i];
    return PyObject_VectorcallMethod(*name, all, n + 1, kwnames);
}

#define ASK(self, text)                                       \
    do {                                                      \
        static PyObject *name;                                \
        return ask(self, &name, text, NULL, 0, NULL);         \
    } while (0)

/* Whether a slot holds a tensor over so little memory that it may stay a while. */
int tj_can_wait(int64_t slot) {
    const char *t = slot < tensor_room ? tj_tensors[slot] : NULL;
    return t && !FIELD(t, uint16_t, device) && COUNT(FIELD(t, char *, storage), data) <= 4096;
}

/* ---- what it is ---- */

static PyObject *get_shape(PyObject *self, void *closure) {
    if (must_ask()) ASK(self, "_shape");
    const char *t = tensor_of(self);
    return tj_new_size(FIELD(t, int64_t *, shape), COUNT(t, shape));
}

static PyObject *get_dtype(PyObject *self, void *closure) {
    PyObject *o = tj_forked ? NULL : tj_dtype_token(FIELD(tensor_of(self), uint8_t, dtype));
    if (!o) ASK(self, "_dtype");
    return Py_NewRef(o);
}

static PyObject *get_device(PyObject *self, void *closure) {
    static PyObject *cpu;
    if (tj_forked || FIELD(tensor_of(self), uint16_t, device)) ASK(self, "_device");
    if (!cpu) {
        static PyObject *name;
        cpu = ask(self, &name, "_device", NULL, 0, NULL);
    }
    return Py_XNewRef(cpu);
}

static PyObject *get_dim(PyObject *self, PyObject *unused) {
    if (tj_forked) return tj_raise_forked();
    return PyLong_FromLongLong(COUNT(tensor_of(self), shape));
}

static PyObject *get_ndim(PyObject *self, void *closure) {
    return get_dim(self, NULL);
}

static PyObject *get_numel(PyObject *self, PyObject *unused) {
    if (must_ask()) ASK(self, "_numel");
    return PyLong_FromLongLong(FIELD(tensor_of(self), int64_t, numel));
}

static PyObject *get_size(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    static PyObject *name;
    if (n == 0 && !kwnames) return get_shape(self, NULL);
    if (n == 1 && !kwnames && PyLong_CheckExact(args[0]) && !must_ask()) {
        const char *t = tensor_of(self);
        int64_t dims = COUNT(t, shape), dim = PyLong_AsLongLong(args[0]);
        if (dim < 0) dim += dims;
        if (dim >= 0 && dim < dims) return PyLong_FromLongLong(FIELD(t, int64_t *, shape)[dim]);
        PyErr_Clear();
    }
    return ask(self, &name, "_size", args, n, kwnames);
}

static PyObject *get_requires_grad(PyObject *self, void *closure) {
    const char *t = tensor_of(self);
    if (tj_forked || FIELD(t, void *, base)) ASK(self, "_requires_grad");
    return PyBool_FromLong(FIELD(t, uint8_t, requires_grad));
}

static int set_requires_grad(PyObject *self, PyObject *on, void *closure) {
    static PyObject *name;
    if (!on) {
        PyErr_SetString(PyExc_AttributeError, "can't delete attribute 'requires_grad'");
        return -1;
    }
    PyObject *none = ask(self, &name, "_set_requires_grad", &on, 1, NULL);
    Py_XDECREF(none);
    return none ? 0 : -1;
}

Py_ssize_t tj_tensor_length(PyObject *self) {
    static PyObject *name;
    const char *t = tensor_of(self);
    if (!must_ask() && COUNT(t, shape) > 0) return FIELD(t, int64_t *, shape)[0];
    PyObject *o = ask(self, &name, "_length", NULL, 0, NULL);
    Py_ssize_t n = o ? PyNumber_AsSsize_t(o, PyExc_OverflowError) : -1;
    Py_XDECREF(o);
    return n;
}

/* ---- elements ---- */

static double half_to_double(uint16_t h) {
    int sign = h >> 15, exponent = h >> 10 & 31, fraction = h & 1023;
    double d = exponent == 31 ? (fraction ? Py_NAN : Py_HUGE_VAL)
                              : ldexp(exponent ? fraction + 1024 : fraction, (exponent ? exponent : 1) - 25);
    return sign ? -d : d;
}

static double bfloat_to_double(uint16_t h) {
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

/* Bytes of an element of a type, 0 for types whose elements Go must read. */
static const int64_t element_bytes[16] = {1, 1, 2, 4, 8, 2, 4, 8, 0, 8, 16, 1, 0, 0, 0, 2};

static PyObject *element(const char *p, int dtype) {
    switch (dtype) {
    case 0: return PyLong_FromLong(*(const uint8_t *)p);
    case 1: return PyLong_FromLong(*(const int8_t *)p);
    case 2: return PyLong_FromLong(*(const int16_t *)p);
    case 3: return PyLong_FromLong(*(const int32_t *)p);
    case 4: return PyLong_FromLongLong(*(const int64_t *)p);
    case 5: return PyFloat_FromDouble(half_to_double(*(const uint16_t *)p));
    case 6: return PyFloat_FromDouble(*(const float *)p);
    case 7: return PyFloat_FromDouble(*(const double *)p);
    case 9: return PyComplex_FromDoubles(((const float *)p)[0], ((const float *)p)[1]);
    case 10: return PyComplex_FromDoubles(((const double *)p)[0], ((const double *)p)[1]);
    case 11: return PyBool_FromLong(*p != 0);
    default: return PyFloat_FromDouble(bfloat_to_double(*(const uint16_t *)p));
    }
}

/* The first element; NULL where Go must read the elements. */
static const char *elements(const char *t, int64_t *bytes) {
    int dtype = FIELD(t, uint8_t, dtype);
    *bytes = dtype < 16 ? element_bytes[dtype] : 0;
    if (must_ask() || !*bytes || FIELD(t, uint16_t, device) || FIELD(t, void *, foreign)) return NULL;
    const char *data = FIELD(FIELD(t, char *, storage), char *, data);
    return data ? data + FIELD(t, int64_t, offset) * *bytes : "";
}

/* How many objects of a list are made between two looks at Python's signals. */
#define OBJECTS_BETWEEN_SIGNALS 65536

/* The memory that a list is made of: a tensor's, as it was when the making began. */
typedef struct { const char *tensor, *data; } Source;

static const char *data_of(const char *t) { return FIELD(FIELD(t, char *, storage), char *, data); }

/* Runs the signal handlers; 0 where one raises, or gives the tensor other memory. */
static int run_handlers(const Source *source) {
    if (PyErr_CheckSignals() < 0) return 0;
    if (data_of(source->tensor) == source->data) return 1;
    PyErr_SetString(PyExc_RuntimeError, "the tensor has got other memory while a list was made of it");
    return 0;
}

/* Puts the elements of a row into a list of as many; 0 where one cannot be made, or where a signal handler raises. The usual types are told
   apart before the loop. */
static int fill_list(PyObject *list, const char *p, int dtype, int64_t step, const Source *source) {
    Py_ssize_t n = PyList_GET_SIZE(list);
#define EACH(make)                                                                              \
    for (Py_ssize_t i = 0; i < n;) {                                                            \
        Py_ssize_t end = n - i > OBJECTS_BETWEEN_SIGNALS ? i + OBJECTS_BETWEEN_SIGNALS : n;     \
        for (; i < end; i++) {                                                                  \
            PyObject *o = make;                                                                 \
            if (!o) return 0;                                                                   \
            PyList_SET_ITEM(list, i, o);                                                        \
            p += step;                                                                          \
        }                                                                                       \
        if (end < n && !run_handlers(source)) return 0;                                         \
    }                                                                                           \
    return 1
    switch (dtype) {
    case 4: EACH(PyLong_FromLongLong(*(const int64_t *)p));
    case 6: EACH(PyFloat_FromDouble(*(const float *)p));
    case 7: EACH(PyFloat_FromDouble(*(const double *)p));
    default: EACH(element(p, dtype));
    }
#undef EACH
}

static PyObject *list_of(const char *p, int dtype, int64_t bytes, const int64_t *shape, const int64_t *strides, int64_t dims, const Source *source) {
    if (dims == 0) return element(p, dtype);
    PyObject *list = PyList_New(shape[0]);
    if (list && dims == 1) {
        if (!fill_list(list, p, dtype, strides[0] * bytes, source)) Py_CLEAR(list);
        return list;
    }
    for (int64_t i = 0; list && i < shape[0]; i++) {
        PyObject *o = i % 256 != 255 || run_handlers(source) ? list_of(p, dtype, bytes, shape + 1, strides + 1, dims - 1, source) : NULL;
        if (!o) Py_CLEAR(list);
        else PyList_SET_ITEM(list, i, o);
        p += strides[0] * bytes;
    }
    return list;
}

static PyObject *get_list(PyObject *self, PyObject *unused) {
    int64_t bytes, dims, extents[2 * 64];
    const char *t = tensor_of(self), *p = elements(t, &bytes);
    if (!p || (dims = COUNT(t, shape)) > 64) ASK(self, "_tolist");
    /* Making objects may run the collector of Python and with it any program: the tensor could get another shape. */
    memcpy(extents, FIELD(t, int64_t *, shape), dims * sizeof *extents);
    memcpy(extents + 64, FIELD(t, int64_t *, strides), dims * sizeof *extents);
    Source source = {t, data_of(t)};
    return list_of(p, FIELD(t, uint8_t, dtype), bytes, extents, extents + 64, dims, &source);
}

static PyObject *get_item(PyObject *self, PyObject *unused) {
    int64_t bytes;
    const char *t = tensor_of(self), *p = elements(t, &bytes);
    if (!p || FIELD(t, int64_t, numel) != 1) ASK(self, "_item");
    return element(p, FIELD(t, uint8_t, dtype));
}

/* ---- conversion ---- */

static PyObject *to_operator; /* aten::to */

PyObject *tj_set_to_operator(PyObject *module, PyObject *f) {
    Py_INCREF(f);
    Py_XSETREF(to_operator, f);
    Py_RETURN_NONE;
}

/* x.to(dtype) without options: x itself where it has the type. */
static PyObject *convert(PyObject *self, PyObject *dtype, int64_t code) {
    if (FIELD(tensor_of(self), uint8_t, dtype) == code) return Py_NewRef(self);
    PyObject *args[2] = {self, dtype};
    return PyObject_Vectorcall(to_operator, args, 2, NULL);
}

static PyObject *method_to(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {
    static PyObject *name;
    if (n == 1 && !kwnames && !must_ask() && to_operator && PyObject_TypeCheck(args[0], tj_token_type) &&
        ((TokenObject *)args[0])->class_number == 0)
        return convert(self, args[0], ((TokenObject *)args[0])->code);
    return ask(self, &name, "_to", args, n, kwnames);
}

/* x.half() and its kin. */
static PyObject *method_convert(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames, int64_t code) {
    static PyObject *name, *with_arguments;
    PyObject *dtype = tj_dtype_token(code);
    if (!dtype) return PyErr_Format(PyExc_SystemError, "no object for the element type %lld", (long long)code);
    if (n || kwnames) {
        PyObject *all[4] = {dtype};
        Py_ssize_t given = n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
        if (given > 3) return PyErr_Format(PyExc_TypeError, "%s", "a conversion takes a memory format alone");
        memcpy(all + 1, args, given * sizeof *all);
        return ask(self, &with_arguments, "_convert", all, n + 1, kwnames);
    }
    if (!must_ask() && to_operator) return convert(self, dtype, code);
    return ask(self, &name, "_to", &dtype, 1, NULL);
}

#define CONVERTING(name, code)                                                                                  \
    static PyObject *method_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames) {   \
        return method_convert(self, args, n, kwnames, code);                                                                 \
    }
CONVERTING(byte, 0)
CONVERTING(char, 1)
CONVERTING(short, 2)
CONVERTING(int, 3)
CONVERTING(long, 4)
CONVERTING(half, 5)
CONVERTING(float, 6)
CONVERTING(double, 7)
CONVERTING(chalf, 8)
CONVERTING(cfloat, 9)
CONVERTING(cdouble, 10)
CONVERTING(bool, 11)
CONVERTING(bfloat16, 15)

/* ---- the parts of TensorBase ---- */

PyGetSetDef tj_tensor_getset[] = {
    {"shape", get_shape, NULL, "The sizes of the dimensions.", NULL},
    {"dtype", get_dtype, NULL, "The type of the elements.", NULL},
    {"device", get_device, NULL, "Where the elements are.", NULL},
    {"ndim", get_ndim, NULL, "The number of dimensions.", NULL},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether operations are recorded.", NULL},
    {NULL},
};

#define FAST(f) (PyCFunction)(void (*)(void)) f, METH_FASTCALL | METH_KEYWORDS
#define CONVERSION(name, type) \
    {#name, FAST(method_##name), #name "($self, *, memory_format=torch.preserve_format)\n--\n\nThe elements as " type "."}
PyMethodDef tj_tensor_methods[] = {
    {"size", FAST(get_size), "size($self, dim=None)\n--\n\nThe sizes of the dimensions, or the size of one."},
    {"dim", get_dim, METH_NOARGS, "dim($self)\n--\n\nThe number of dimensions."},
    {"ndimension", get_dim, METH_NOARGS, "ndimension($self)\n--\n\nThe number of dimensions."},
    {"numel", get_numel, METH_NOARGS, "numel($self)\n--\n\nThe number of elements."},
    {"nelement", get_numel, METH_NOARGS, "nelement($self)\n--\n\nThe number of elements."},
    {"tolist", get_list, METH_NOARGS, "tolist($self)\n--\n\nThe elements as nested lists; of a tensor without dimensions the number."},
    {"item", get_item, METH_NOARGS, "item($self)\n--\n\nThe only element as a number."},
    {"to", FAST(method_to), "to($self, /, *args, **kwargs)\n--\n\nThe elements in another type, or on another device."},
    CONVERSION(byte, "uint8"), CONVERSION(char, "int8"), CONVERSION(short, "int16"), CONVERSION(int, "int32"),
    CONVERSION(long, "int64"), CONVERSION(half, "float16"), CONVERSION(float, "float32"), CONVERSION(double, "float64"),
    CONVERSION(chalf, "complex32"), CONVERSION(cfloat, "complex64"), CONVERSION(cdouble, "complex128"),
    CONVERSION(bool, "bool"), CONVERSION(bfloat16, "bfloat16"),
    {NULL},
};

void tj_read_layout(void) {
    TJLayout(&layout);
}
