/* marshal.c: Python objects to words and back.
 *
 * Everything here runs with the GIL held; the tables need no other lock. */
#include "shim.h"
#include "services.h"
#include "_cgo_export.h"

#define MAX_CLASSES 128
#define MAX_DEPTH 256

static PyTypeObject *handle_classes[MAX_CLASSES];
static PyObject **slot_objects; /* slot number -> its one Python object, borrowed */
static int64_t slot_capacity;
static PyObject *tokens;        /* (class, code) -> token */
static PyObject *token_factory; /* makes a token that is not in the table */
static PyTypeObject *size_class;
#define DTYPES 16
static PyObject *dtype_tokens[DTYPES]; /* code -> token, borrowed from tokens */
static PyObject *exceptions;    /* name -> exception class */

/* ---- tables ---- */

int tj_register_handle_class(int64_t number, PyObject *cls) {
    if (number < 0 || number >= MAX_CLASSES || !PyType_Check(cls) ||
        !PyType_IsSubtype((PyTypeObject *)cls, tj_handle_type)) {
        PyErr_SetString(PyExc_TypeError, "register_handle_class expects a number and a subclass of Handle");
        return -1;
    }
    Py_INCREF(cls);
    Py_XSETREF(handle_classes[number], (PyTypeObject *)cls);
    return 0;
}

static PyObject *token_key(int64_t class_number, int64_t code) {
    return PyLong_FromLongLong(class_number << 48 ^ code);
}

int tj_register_token(TokenObject *token) {
    if (!tokens && !(tokens = PyDict_New())) return -1;
    PyObject *key = token_key(token->class_number, token->code);
    if (!key) return -1;
    int rc = PyDict_SetItem(tokens, key, (PyObject *)token);
    Py_DECREF(key);
    if (!rc && token->class_number == 0 && token->code >= 0 && token->code < DTYPES) dtype_tokens[token->code] = (PyObject *)token;
    return rc;
}

/* The object of an element type, borrowed; NULL where there is none. */
PyObject *tj_dtype_token(int64_t code) {
    return code >= 0 && code < DTYPES ? dtype_tokens[code] : NULL;
}

int tj_register_exception(PyObject *name, PyObject *cls) {
    if (!exceptions && !(exceptions = PyDict_New())) return -1;
    return PyDict_SetItem(exceptions, name, cls);
}

int tj_set_size_class(PyObject *cls) {
    if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "set_size_class expects a subclass of tuple");
        return -1;
    }
    Py_INCREF(cls);
    Py_XSETREF(size_class, (PyTypeObject *)cls);
    return 0;
}

int tj_set_token_factory(PyObject *factory) {
    Py_INCREF(factory);
    Py_XSETREF(token_factory, factory);
    return 0;
}

/* Whether a class is Tensor or Parameter themselves. */
int tj_is_plain_tensor(PyTypeObject *t) {
    return t == handle_classes[0] || t == handle_classes[1];
}

/* ---- writing ---- */

static int grow(tj_writer *w, int64_t more) {
    int64_t cap = w->cap * 2;
    while (cap < w->len + more) cap *= 2;
    tj_word *words = w->owned ? realloc(w->words, cap * sizeof *words) : malloc(cap * sizeof *words);
    if (!words) {
        PyErr_NoMemory();
        return -1;
    }
    if (!w->owned) memcpy(words, w->words, w->len * sizeof *words);
    w->words = words;
    w->cap = cap;
    w->owned = 1;
    return 0;
}

static inline tj_word *next_word(tj_writer *w) {
    if (w->len == w->cap && grow(w, 1)) return NULL;
    return &w->words[w->len++];
}

static inline int put_int(tj_writer *w, int64_t tag, int64_t i) {
    tj_word *x = next_word(w);
    if (!x) return -1;
    x->tag = tag;
    x->u.i = i;
    return 0;
}

static inline int put_float(tj_writer *w, int64_t tag, double d) {
    tj_word *x = next_word(w);
    if (!x) return -1;
    x->tag = tag;
    x->u.d = d;
    return 0;
}

static inline int put_pointer(tj_writer *w, int64_t tag, const void *p) {
    tj_word *x = next_word(w);
    if (!x) return -1;
    x->tag = tag;
    x->u.p = p;
    return 0;
}

void tj_writer_free(tj_writer *w) {
    if (w->owned) free(w->words);
    w->owned = 0;
}

int tj_write_name(tj_writer *w, PyObject *name) {
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(name, &n);
    if (!s) return -1;
    return put_pointer(w, TJ_STRING | (int64_t)n << 8, s);
}

static int write_typed_long(tj_writer *w, PyObject *o, int64_t type) {
    int overflow;
    int64_t i = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) {
        PyErr_SetString(PyExc_RuntimeError, "Overflow when unpacking long");
        return -1;
    }
    if (i == -1 && PyErr_Occurred()) return -1;
    return put_int(w, TJ_INT | type << 8, i);
}

static int write_long(tj_writer *w, PyObject *o) {
    return write_typed_long(w, o, 0);
}

static int write_deep(tj_writer *w, PyObject *o, int depth);

static int write_items(tj_writer *w, int64_t kind, PyTypeObject *cls, PyObject *o, int depth) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    if (put_pointer(w, kind | (int64_t)n << 8, cls)) return -1;
    for (Py_ssize_t i = 0; i < n && i < PySequence_Fast_GET_SIZE(o); i++)
        if (write_deep(w, PySequence_Fast_GET_ITEM(o, i), depth)) return -1;
    return 0;
}

static int write_dict(tj_writer *w, PyObject *o, int depth) {
    PyObject *key, *item;
    Py_ssize_t at = 0;
    if (put_int(w, TJ_DICT | (int64_t)PyDict_GET_SIZE(o) << 8, 0)) return -1;
    while (PyDict_Next(o, &at, &key, &item))
        if (write_deep(w, key, depth) || write_deep(w, item, depth)) return -1;
    return 0;
}

/* Writes a bound of a slice: objects that stand for an index are the index. */
static int write_bound(tj_writer *w, PyObject *o, int depth) {
    if (o == Py_None || PyLong_CheckExact(o) || !PyIndex_Check(o) || PyObject_TypeCheck(o, tj_handle_type)) return write_deep(w, o, depth);
    PyObject *index = PyNumber_Index(o);
    int rc = index ? write_long(w, index) : -1;
    Py_XDECREF(index);
    return rc;
}

static int write_slice(tj_writer *w, PyObject *o, int depth) {
    PySliceObject *s = (PySliceObject *)o;
    if (put_int(w, TJ_SLICE, 0)) return -1;
    return write_bound(w, s->start, depth) || write_bound(w, s->stop, depth) || write_bound(w, s->step, depth) ? -1 : 0;
}

static int is_enum(PyObject *o) {
    return PyObject_HasAttrString((PyObject *)Py_TYPE(o), "__members__");
}

static const char *const numpy_names[] = {
    [TJ_NUMPY_INT8] = "int8", [TJ_NUMPY_INT16] = "int16", [TJ_NUMPY_INT32] = "int32", [TJ_NUMPY_INT64] = "int64",
    [TJ_NUMPY_UINT8] = "uint8", [TJ_NUMPY_FLOAT16] = "float16", [TJ_NUMPY_FLOAT32] = "float32", [TJ_NUMPY_FLOAT64] = "float64",
    [TJ_NUMPY_COMPLEX64] = "complex64", [TJ_NUMPY_COMPLEX128] = "complex128",
};

static int is_numpy(PyObject *o) {
    return !strncmp(Py_TYPE(o)->tp_name, "numpy.", 6);
}

/* The tj_numpy_type of one of numpy's scalars, 0 for others. */
static int64_t numpy_type(PyObject *o) {
    if (is_numpy(o))
        for (int64_t i = 1; i < (int64_t)(sizeof numpy_names / sizeof *numpy_names); i++)
            if (!strcmp(Py_TYPE(o)->tp_name + 6, numpy_names[i])) return i;
    return 0;
}

static int write_complex(tj_writer *w, PyObject *o) {
    Py_complex c = PyComplex_AsCComplex(o);
    if (c.real == -1 && PyErr_Occurred()) return -1;
    return put_float(w, TJ_COMPLEX | numpy_type(o) << 8, c.real) || put_float(w, TJ_COMPLEX, c.imag) ? -1 : 0;
}

/* numpy's scalars other than float64 and complex128, which are Python's numbers too. */
static int write_numpy_scalar(tj_writer *w, PyObject *o, int *done) {
    PyNumberMethods *nb = Py_TYPE(o)->tp_as_number;
    const char *name = Py_TYPE(o)->tp_name;
    *done = 0;
    if (!is_numpy(o) || !nb || !strcmp(name, "numpy.ndarray")) return 0;
    *done = 1;
    if (!strncmp(name, "numpy.bool", 10)) {
        int truth = PyObject_IsTrue(o);
        return truth < 0 ? -1 : put_int(w, TJ_BOOL, truth);
    }
    if (!strncmp(name, "numpy.complex", 13)) return write_complex(w, o);
    if (nb->nb_index) {
        PyObject *i = PyNumber_Index(o);
        if (i) {
            int rc = write_typed_long(w, i, numpy_type(o));
            Py_DECREF(i);
            return rc;
        }
        PyErr_Clear();
    }
    if (nb->nb_float) {
        double d = PyFloat_AsDouble(o);
        if (d == -1 && PyErr_Occurred()) return -1;
        return put_float(w, TJ_FLOAT | numpy_type(o) << 8, d);
    }
    *done = 0;
    return 0;
}

/* The element type that a class of numbers stands for, plus one; 0 for other objects. */
static int64_t named_dtype(PyObject *o) {
    return o == (PyObject *)&PyFloat_Type ? 8 : o == (PyObject *)&PyLong_Type ? 5 : o == (PyObject *)&PyBool_Type ? 12 : 0;
}

static int write_other(tj_writer *w, PyObject *o, int depth) {
    int done;
    if (PyObject_TypeCheck(o, tj_handle_type)) {
        if (Py_TYPE(o) != handle_classes[1] && PyObject_TypeCheck(o, tj_tensor_type) && tj_is_subclass(o)) w->foreign |= TJ_SUBCLASS;
        return put_int(w, TJ_HANDLE, ((HandleObject *)o)->slot);
    }
    if (PyObject_TypeCheck(o, tj_token_type)) {
        TokenObject *t = (TokenObject *)o;
        return put_int(w, TJ_TOKEN | t->class_number << 8, t->code);
    }
    if (Py_TYPE(o) == tj_script_function_type || Py_TYPE(o) == tj_function_type || Py_TYPE(o) == tj_method_type || Py_TYPE(o) == tj_script_method_type)
        return put_int(w, TJ_CALLABLE, ((FunctionObject *)o)->slot);
    if (PySlice_Check(o)) return write_slice(w, o, depth);
    if (o == Py_Ellipsis) return put_int(w, TJ_ELLIPSIS, 0);
    if (PyComplex_Check(o)) return write_complex(w, o);
    if (PyBytes_Check(o))
        return put_pointer(w, TJ_BYTES | (int64_t)PyBytes_GET_SIZE(o) << 8, PyBytes_AS_STRING(o));
    if (is_enum(o) && !(w->numbers && PyLong_Check(o))) return put_pointer(w, TJ_OBJECT, o);
    if (PyFloat_Check(o)) return put_float(w, TJ_FLOAT | numpy_type(o) << 8, PyFloat_AS_DOUBLE(o));
    if (PyLong_Check(o)) return write_long(w, o);
    if (PyUnicode_Check(o)) return tj_write_name(w, o);
    if (PyTuple_Check(o)) return write_items(w, TJ_TUPLE, Py_TYPE(o), o, depth);
    if (PyList_Check(o)) return write_items(w, TJ_LIST, NULL, o, depth);
    if (PyDict_Check(o)) return write_dict(w, o, depth);
    if (write_numpy_scalar(w, o, &done)) return -1;
    if (done) return 0;
    w->foreign |= TJ_FOREIGN;
    return put_pointer(w, TJ_OBJECT | named_dtype(o) << 8, o);
}

static int write_deep(tj_writer *w, PyObject *o, int depth) {
    PyTypeObject *t = Py_TYPE(o);
    if (depth > MAX_DEPTH) {
        PyErr_SetString(PyExc_ValueError, "the argument is nested too deeply");
        return -1;
    }
    if (t == handle_classes[0]) return put_int(w, TJ_HANDLE, ((HandleObject *)o)->slot);
    if (t == &PyLong_Type) return write_long(w, o);
    if (t == &PyFloat_Type) return put_float(w, TJ_FLOAT, PyFloat_AS_DOUBLE(o));
    if (o == Py_None) return put_int(w, TJ_NONE, 0);
    if (t == &PyBool_Type) return put_int(w, TJ_BOOL, o == Py_True);
    if (t == &PyUnicode_Type) return tj_write_name(w, o);
    if (t == &PyTuple_Type) return write_items(w, TJ_TUPLE, NULL, o, depth + 1);
    if (t == &PyList_Type) return write_items(w, TJ_LIST, NULL, o, depth + 1);
    if (t == &PyDict_Type) return write_dict(w, o, depth + 1);
    return write_other(w, o, depth + 1);
}

/* Appends the words of o. Strings and objects are borrowed: o must outlive the words. */
int tj_write(tj_writer *w, PyObject *o) {
    return write_deep(w, o, 0);
}

/* ---- reading ---- */

/* Makes room for the object of a slot. */
static int reserve_slot(int64_t slot) {
    int64_t cap = slot_capacity ? slot_capacity * 2 : 1024;
    if (slot < slot_capacity) return 0;
    while (cap <= slot) cap *= 2;
    PyObject **grown = realloc(slot_objects, cap * sizeof *grown);
    if (!grown) return -1;
    memset(grown + slot_capacity, 0, (cap - slot_capacity) * sizeof *grown);
    slot_objects = grown;
    slot_capacity = cap;
    return 0;
}

/* Makes slot the property of a new object of cls; on failure gives the slot back. */
PyObject *tj_adopt(PyTypeObject *cls, int64_t slot) {
    if (reserve_slot(slot)) {
        TJRelease(slot);
        return PyErr_NoMemory();
    }
    PyObject *o = cls->tp_alloc(cls, 0);
    if (!o) {
        TJRelease(slot);
        return NULL;
    }
    ((HandleObject *)o)->slot = slot;
    slot_objects[slot] = o;
    return o;
}

tj_waiting_slots tj_waiting;

/* The object of slot is going away. A call of Go for a small tensor would cost more than making it, so some wait for the
 * next call, which is there before the memory is wanted again. */
void tj_forget(int64_t slot) {
    if (slot < slot_capacity) slot_objects[slot] = NULL;
    if (tj_forked) return;
    if (!tj_can_wait(slot)) {
        int64_t start = tj_profiling ? tj_now() : 0;
        TJRelease(slot);
        if (start) tj_note_release(start);
        return;
    }
    tj_waiting.slots[tj_waiting.count++] = slot;
    if (tj_waiting.count == TJ_WAITING) TJReleaseWaiting();
}

/* Whether a slot has an object. */
int tj_has_object(int64_t slot) {
    return slot < slot_capacity && slot_objects[slot];
}

/* A slot has no object any more, or o. */
void tj_leave_slot(int64_t slot) {
    slot_objects[slot] = NULL;
}

void tj_enter_slot(PyObject *o, int64_t slot) {
    if (reserve_slot(slot)) Py_FatalError("torchjit: out of memory");
    ((HandleObject *)o)->slot = slot;
    slot_objects[slot] = o;
}

static PyObject *read_handle(int64_t number, int64_t slot) {
    if (slot < slot_capacity && slot_objects[slot]) return Py_NewRef(slot_objects[slot]);
    PyTypeObject *cls = number < MAX_CLASSES ? handle_classes[number] : NULL;
    if (!cls) {
        TJRelease(slot);
        return PyErr_Format(PyExc_SystemError, "handle class %lld is not registered", (long long)number);
    }
    return tj_adopt(cls, slot);
}

static PyObject *read_token(int64_t number, int64_t code) {
    if (number == 0 && tj_dtype_token(code)) return Py_NewRef(dtype_tokens[code]);
    PyObject *key = token_key(number, code);
    if (!key) return NULL;
    PyObject *o = tokens ? PyDict_GetItemWithError(tokens, key) : NULL;
    Py_DECREF(key);
    if (o) return Py_NewRef(o);
    if (PyErr_Occurred()) return NULL;
    if (!token_factory) return PyErr_Format(PyExc_SystemError, "token class %lld is not registered", (long long)number);
    return PyObject_CallFunction(token_factory, "LL", (long long)number, (long long)code);
}

/* The bytes of a string word: elsewhere, or in the words that follow. */
static const char *read_text(const tj_word *x, int64_t n, const tj_word **cursor) {
    if (x->u.p) return x->u.p;
    const char *s = (const char *)*cursor;
    *cursor += (n + sizeof(tj_word) - 1) / sizeof(tj_word);
    return s;
}

#define ITEMS_BETWEEN_SIGNALS 4096

/* Gives back what *cursor holds, and moves the cursor behind it. */
static void drop(const tj_word **cursor) {
    const tj_word *x = *cursor;
    if ((x->tag & 0xff) != TJ_HANDLE) {
        Py_XDECREF(tj_read(cursor));
        return;
    }
    (*cursor)++;
    if (!tj_has_object(x->u.i)) tj_forget(x->u.i);
}

/* Puts the items of a list, or else of a tuple, into a new one; takes it over. */
static PyObject *read_items(PyObject *all, int is_list, int64_t n, const tj_word **cursor) {
    for (int64_t i = 0; all && i < n; i++) {
        if (i % ITEMS_BETWEEN_SIGNALS == ITEMS_BETWEEN_SIGNALS - 1 && PyErr_CheckSignals()) {
            PyObject *class, *raised, *trace;
            PyErr_Fetch(&class, &raised, &trace);
            for (; i < n; i++) drop(cursor);
            Py_CLEAR(all);
            PyErr_Restore(class, raised, trace);
            break;
        }
        PyObject *o = tj_read(cursor);
        if (!o) Py_CLEAR(all);
        else if (is_list) PyList_SET_ITEM(all, i, o);
        else PyTuple_SET_ITEM(all, i, o);
    }
    return all;
}

static PyObject *read_list(int64_t n, const tj_word **cursor) {
    return read_items(PyList_New(n), 1, n, cursor);
}

static PyObject *read_tuple(PyTypeObject *cls, int64_t n, const tj_word **cursor) {
    return read_items(cls ? cls->tp_alloc(cls, n) : PyTuple_New(n), 0, n, cursor);
}

/* A shape. */
PyObject *tj_new_size(const int64_t *sizes, int64_t n) {
    PyObject *tuple = size_class ? size_class->tp_alloc(size_class, n) : PyTuple_New(n);
    for (int64_t i = 0; tuple && i < n; i++) {
        PyObject *o = PyLong_FromLongLong(sizes[i]);
        if (!o) Py_CLEAR(tuple);
        else PyTuple_SET_ITEM(tuple, i, o);
    }
    return tuple;
}

/* Takes over a tuple and returns its items as a shape. */
PyObject *tj_as_size(PyObject *tuple) {
    if (!tuple || !PyTuple_CheckExact(tuple) || !size_class) return tuple;
    Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    PyObject *size = size_class->tp_alloc(size_class, n);
    for (Py_ssize_t i = 0; size && i < n; i++) PyTuple_SET_ITEM(size, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
    Py_DECREF(tuple);
    return size;
}

static PyObject *read_dict(int64_t n, const tj_word **cursor) {
    PyObject *dict = PyDict_New();
    for (int64_t i = 0; dict && i < n; i++) {
        PyObject *key = tj_read(cursor);
        PyObject *item = key ? tj_read(cursor) : NULL;
        if (!item || PyDict_SetItem(dict, key, item)) Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(item);
    }
    return dict;
}

static PyObject *read_construct(int64_t n, const tj_word **cursor) {
    PyObject *callable = tj_read(cursor);
    if (!callable) return NULL;
    PyObject *args = read_tuple(NULL, n, cursor);
    PyObject *o = args ? PyObject_Call(callable, args, NULL) : NULL;
    Py_DECREF(callable);
    Py_XDECREF(args);
    return o;
}

static PyObject *read_slice(const tj_word **cursor) {
    PyObject *parts = read_tuple(NULL, 3, cursor);
    if (!parts) return NULL;
    PyObject *o = PySlice_New(PyTuple_GET_ITEM(parts, 0), PyTuple_GET_ITEM(parts, 1), PyTuple_GET_ITEM(parts, 2));
    Py_DECREF(parts);
    return o;
}

/* The type of the object that a callable word of a number stands for. */
static PyTypeObject *callable_type(int64_t n) {
    PyTypeObject *types[] = {tj_function_type, tj_script_function_type, tj_script_method_type, tj_method_type};
    return types[n & 3];
}

/* Builds the object at *cursor and moves the cursor behind it. Takes over the references of object
 * words. */
PyObject *tj_read(const tj_word **cursor) {
    const tj_word *x = (*cursor)++;
    int64_t n = x->tag >> 8;
    switch (x->tag & 0xff) {
    case TJ_NONE:
    case TJ_MISSING:
        Py_RETURN_NONE;
    case TJ_BOOL:
        return PyBool_FromLong(x->u.i != 0);
    case TJ_INT:
        return PyLong_FromLongLong(x->u.i);
    case TJ_FLOAT:
        return PyFloat_FromDouble(x->u.d);
    case TJ_COMPLEX:
        return PyComplex_FromDoubles(x->u.d, ((*cursor)++)->u.d);
    case TJ_STRING: {
        const char *s = read_text(x, n, cursor);
        return PyUnicode_DecodeUTF8(s, n, "surrogateescape");
    }
    case TJ_BYTES: {
        const char *s = read_text(x, n, cursor);
        return PyBytes_FromStringAndSize(s, n);
    }
    case TJ_LIST:
        return read_list(n, cursor);
    case TJ_TUPLE:
        return read_tuple((PyTypeObject *)x->u.p, n, cursor);
    case TJ_SIZE:
        return read_tuple(size_class, n, cursor);
    case TJ_DICT:
        return read_dict(n, cursor);
    case TJ_SLICE:
        return read_slice(cursor);
    case TJ_ELLIPSIS:
        return Py_NewRef(Py_Ellipsis);
    case TJ_TOKEN:
        return read_token(n, x->u.i);
    case TJ_HANDLE:
        return read_handle(n, x->u.i);
    case TJ_CALLABLE:
        return tj_new_function(callable_type(n), x->u.i, NULL, n == 1 ? TJ_FOREIGN : TJ_FOREIGN | TJ_SUBCLASS);
    case TJ_OBJECT:
        return (PyObject *)x->u.p;
    case TJ_CONSTRUCT:
        return read_construct(n, cursor);
    case TJ_DECLINED:
        Py_RETURN_NOTIMPLEMENTED;
    }
    return PyErr_Format(PyExc_SystemError, "word of unknown kind %lld", (long long)(x->tag & 0xff));
}

/* ---- errors ---- */

void tj_reply_free(tj_reply *reply) {
    if (reply->owned) free(reply->words);
    reply->owned = 0;
}

/* The class of a name, borrowed: a built-in one, or torch.cuda's. */
static PyObject *exception_class(const char *name) {
    static PyObject *out_of_memory;
    PyObject *builtins = PyEval_GetBuiltins();
    PyObject *cls = builtins ? PyDict_GetItemString(builtins, name) : NULL;
    if (!cls && !strcmp(name, "OutOfMemoryError")) {
        PyObject *module = out_of_memory ? NULL : PyImport_ImportModule("torchjit.cuda");
        if (module) out_of_memory = PyObject_GetAttrString(module, "OutOfMemoryError");
        Py_XDECREF(module);
        if (!out_of_memory) PyErr_Clear();
        cls = out_of_memory;
    }
    return cls && PyExceptionClass_Check(cls) ? cls : PyExc_RuntimeError;
}

/* Gives the exception that is set the notes which Python shows below its message: attributes of the exception, no part of its text. */
static void add_notes(const tj_word *cursor, const tj_word *end) {
    PyObject *type, *exception, *traceback, *notes = PyList_New(0);
    PyErr_Fetch(&type, &exception, &traceback);
    PyErr_NormalizeException(&type, &exception, &traceback);
    while (notes && cursor < end) {
        PyObject *note = tj_read(&cursor);
        if (!note || PyList_Append(notes, note)) Py_CLEAR(notes);
        Py_XDECREF(note);
    }
    if (!notes || PyObject_SetAttrString(exception, "__notes__", notes)) PyErr_Clear(); /* the message is what counts */
    Py_XDECREF(notes);
    PyErr_Restore(type, exception, traceback);
}

/* Raises what a failed call replied: an exception object, or a class name, a message and notes. */
PyObject *tj_raise(tj_reply *reply) {
    const tj_word *cursor = reply->words;
    PyObject *first = reply->len > 0 ? tj_read(&cursor) : NULL;
    if (!first) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "a native call failed without a reason");
    } else if (PyExceptionInstance_Check(first)) {
        PyErr_SetObject((PyObject *)Py_TYPE(first), first);
    } else {
        PyObject *message = tj_read(&cursor);
        PyObject *cls = exceptions ? PyDict_GetItem(exceptions, first) : NULL;
        if (!cls) cls = exception_class(PyUnicode_AsUTF8(first));
        if (message) {
            PyErr_SetObject(cls, message);
            if (cursor < reply->words + reply->len) add_notes(cursor, reply->words + reply->len);
        }
        Py_XDECREF(message);
    }
    Py_XDECREF(first);
    tj_reply_free(reply);
    return NULL;
}

PyObject *tj_raise_forked(void) {
    PyErr_SetString(PyExc_RuntimeError,
                    "torchjit cannot be used in a child process made by fork(): the Go runtime does not survive it. "
                    "Use the 'spawn' or 'forkserver' start method of multiprocessing");
    return NULL;
}
