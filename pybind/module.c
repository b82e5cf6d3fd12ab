/* module.c: the module torchjit._native and the services of Python that Go calls. */
#include "shim.h"
#include "_cgo_export.h"
#include "dlpack.h"
#include "services.h"

#include <pthread.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

int tj_forked;

static void in_child(void) {
    tj_forked = 1;
}

/* ---- services for Go; each takes the GIL itself unless it says otherwise ---- */

/* Moves the pending exception into *raised. */
static void fetch_exception(void **raised) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    *raised = value;
}

/* Calls callable, or its attribute where attribute is not NULL, with n arguments that start at
 * args. On success *result is the owned object and w its words, which borrow from it. On failure
 * returns -1 and *result is the owned exception. */
int tj_call_python(void *callable, const char *attribute, const tj_word *args, int64_t n, tj_reply *reply,
                   void **result) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *tuple = PyTuple_New(n), *value = NULL;
    PyObject *target = attribute ? PyObject_GetAttrString(callable, attribute) : Py_NewRef(callable);
    const tj_word *cursor = args;
    for (int64_t i = 0; tuple && i < n; i++) {
        PyObject *o = tj_read(&cursor);
        if (!o) Py_CLEAR(tuple);
        else PyTuple_SET_ITEM(tuple, i, o);
    }
    if (target && tuple) value = PyObject_Call(target, tuple, NULL);
    Py_XDECREF(target);
    Py_XDECREF(tuple);
    tj_writer w = {reply->words, 0, reply->cap, 0};
    if (value && tj_write(&w, value)) {
        tj_writer_free(&w);
        Py_CLEAR(value);
    }
    int rc = value ? 0 : -1;
    if (value) {
        *result = value;
        reply->words = w.words;
        reply->len = w.len;
        reply->owned = w.owned;
    } else {
        fetch_exception(result);
    }
    PyGILState_Release(gil);
    return rc;
}

void tj_incref(void *o) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_INCREF((PyObject *)o);
    PyGILState_Release(gil);
}

void tj_decref(void *o) {
    if (tj_forked || !Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)o);
    PyGILState_Release(gil);
}

/* Gives up the GIL, which the caller holds. */
void *tj_release_gil(void) {
    return PyEval_SaveThread();
}

void tj_acquire_gil(void *state) {
    PyEval_RestoreThread(state);
}

/* Takes the GIL, whether the thread holds it or not; the result is for tj_leave_gil. */
int tj_ensure_gil(void) {
    return (int)PyGILState_Ensure();
}

/* Whether the calling thread is the process's first one, in which Python runs signal handlers. It does not take the
 * GIL: the thread that waits for an operation may hold it. */
int tj_is_first_thread(void) {
#if defined(__linux__)
    return syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
    return pthread_main_np();
#else
    return 0;
#endif
}

void tj_leave_gil(int state) {
    PyGILState_Release((PyGILState_STATE)state);
}

/* ---- numbers of threads ---- */

static __thread int64_t thread_number = -1;
static pthread_mutex_t numbers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t number_key;
static int64_t *free_numbers, free_count, free_room, next_number;

/* Called when a thread ends: its number may be given again. */
static void leave_number(void *kept) {
    pthread_mutex_lock(&numbers_lock);
    if (free_count == free_room) {
        int64_t room = 2 * free_room + 16;
        int64_t *grown = realloc(free_numbers, room * sizeof *grown);
        if (grown) free_numbers = grown, free_room = room;
    }
    if (free_count < free_room) free_numbers[free_count++] = (int64_t)(intptr_t)kept - 1;
    pthread_mutex_unlock(&numbers_lock);
}

static void make_number_key(void) {
    pthread_key_create(&number_key, leave_number);
}

/* The number of the calling thread, from 0 on; where it is new to the thread, its one's complement. */
int64_t tj_thread_number(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (thread_number >= 0) return thread_number;
    pthread_once(&once, make_number_key);
    pthread_mutex_lock(&numbers_lock);
    thread_number = free_count ? free_numbers[--free_count] : next_number++;
    pthread_mutex_unlock(&numbers_lock);
    pthread_setspecific(number_key, (void *)(intptr_t)(thread_number + 1));
    return ~thread_number;
}

int64_t tj_seen_thread_number(void) { return thread_number; }

/* Runs pending signal handlers. Returns -1 and the exception where one raised. */
int tj_check_signals(void **raised) {
    PyGILState_STATE gil = PyGILState_Ensure();
    int rc = PyErr_CheckSignals();
    if (rc) fetch_exception(raised);
    PyGILState_Release(gil);
    return rc;
}

/* Borrows the memory of an object that has the buffer protocol; array->owner is to be passed to
 * tj_return_array. */
/* Each run of a program warns once at each place, as often as it runs: there is no registry of what was warned of before. */
void tj_warn(const char *message, int64_t length, const char *file, int64_t file_length, int line, void **raised) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *text = PyUnicode_DecodeUTF8(message, length, "replace"), *name = PyUnicode_DecodeUTF8(file, file_length, "replace");
    if (!text || !name || PyErr_WarnExplicitObject(PyExc_UserWarning, text, name, line, NULL, NULL)) fetch_exception(raised);
    Py_XDECREF(text);
    Py_XDECREF(name);
    PyGILState_Release(gil);
}

int tj_borrow_array(void *object, tj_array *array, void **raised) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_buffer *view = calloc(1, sizeof *view);
    int rc = view ? PyObject_GetBuffer(object, view, PyBUF_STRIDES | PyBUF_FORMAT) : -1;
    if (!rc && view->ndim > 64) {
        PyBuffer_Release(view);
        PyErr_SetString(PyExc_ValueError, "the array has more than 64 dimensions");
        rc = -1;
    }
    if (rc) {
        free(view);
        if (!PyErr_Occurred()) PyErr_NoMemory();
        fetch_exception(raised);
    } else {
        array->data = view->buf;
        array->ndim = view->ndim;
        array->itemsize = view->itemsize;
        array->bytes = view->len;
        array->readonly = view->readonly;
        array->format = view->format ? view->format : "B";
        for (int i = 0; i < view->ndim; i++) {
            array->shape[i] = view->shape[i];
            array->strides[i] = view->strides[i];
        }
        array->owner = view;
    }
    PyGILState_Release(gil);
    return rc;
}

void tj_return_array(void *owner) {
    if (tj_forked || !Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(owner);
    free(owner);
    PyGILState_Release(gil);
}

/* The pointer in a capsule of a given name; the capsule is renamed so that it serves once. */
void *tj_open_capsule(void *capsule, const char *name, const char *used) {
    PyGILState_STATE gil = PyGILState_Ensure();
    void *p = PyCapsule_IsValid(capsule, name) ? PyCapsule_GetPointer(capsule, name) : NULL;
    if (p) PyCapsule_SetName(capsule, used);
    PyErr_Clear();
    PyGILState_Release(gil);
    return p;
}

void tj_delete_dlpack(dl_managed *m) {
    if (m->deleter) m->deleter(m);
}

/* ---- functions of the module ---- */

/* What a capsule lends: the tensor object is kept until the borrower is done. */
typedef struct {
    dl_managed managed;
    tj_array array;
    int64_t strides[64]; /* in elements */
    PyObject *owner;
} lent_tensor;

static void delete_lent(dl_managed *m) {
    lent_tensor *lent = m->context;
    if (!tj_forked && Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        TJReturn(lent->array.loan);
        Py_DECREF(lent->owner);
        PyGILState_Release(gil);
    }
    free(lent);
}

/* A capsule that nobody took over still owns its tensor. */
static void destroy_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor")) delete_lent(PyCapsule_GetPointer(capsule, "dltensor"));
}

static PyObject *native_to_dlpack(PyObject *module, PyObject *tensor) {
    tj_word words[TJ_STACK_WORDS];
    tj_reply reply = {words, 0, TJ_STACK_WORDS, 0};
    if (tj_forked) return tj_raise_forked();
    if (!PyObject_TypeCheck(tensor, tj_tensor_type)) return PyErr_Format(PyExc_TypeError, "to_dlpack expects a Tensor");
    lent_tensor *lent = calloc(1, sizeof *lent);
    if (!lent) return PyErr_NoMemory();
    if (TJLend(((HandleObject *)tensor)->slot, tj_thread_number(), 1, &lent->array, &reply)) {
        free(lent);
        return tj_raise(&reply);
    }
    dl_tensor *t = &lent->managed.tensor;
    t->data = lent->array.data;
    t->device_type = DL_CPU;
    t->ndim = (int32_t)lent->array.ndim;
    t->bits = (uint8_t)(lent->array.itemsize * 8);
    t->lanes = 1;
    switch (lent->array.format[0]) {
    case '?': t->code = DL_BOOL; break;
    case 'B': t->code = DL_UINT; break;
    case 'e': case 'f': case 'd': t->code = DL_FLOAT; break;
    case 'Z': t->code = DL_COMPLEX; break;
    default: t->code = DL_INT;
    }
    t->shape = lent->array.shape;
    for (int64_t i = 0; i < lent->array.ndim; i++) lent->strides[i] = lent->array.strides[i] / lent->array.itemsize;
    t->strides = lent->strides;
    lent->managed.context = lent;
    lent->managed.deleter = delete_lent;
    lent->owner = Py_NewRef(tensor);
    PyObject *capsule = PyCapsule_New(&lent->managed, "dltensor", destroy_capsule);
    if (!capsule) delete_lent(&lent->managed);
    return capsule;
}

static PyObject *native_function(PyObject *module, PyObject *name) {
    Py_ssize_t n;
    const char *s = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &n) : NULL;
    if (!s) return PyErr_Format(PyExc_TypeError, "function expects a str");
    int64_t slot = TJFunction((char *)s, n);
    if (!slot) return PyErr_Format(PyExc_AttributeError, "torchjit._native has no function '%s'", s);
    return tj_new_function(tj_method_type, slot, name, TJ_FOREIGN);
}

/* The runtime belongs to one interpreter: its handles, threads and classes are kept once for the process. Where another
 * interpreter has imported the module, Python gives a second one a copy of it, whose first user asks. */
static int check_interpreter(void) {
    if (PyInterpreterState_Get() == PyInterpreterState_Main()) return 0;
    PyErr_SetString(PyExc_ImportError, "torchjit cannot be imported in a subinterpreter: its runtime serves the main interpreter of the process alone");
    return -1;
}

static PyObject *native_check_interpreter(PyObject *module, PyObject *none) {
    if (check_interpreter()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *native_register_handle_class(PyObject *module, PyObject *args) {
    long long number;
    PyObject *cls;
    if (!PyArg_ParseTuple(args, "LO:register_handle_class", &number, &cls)) return NULL;
    if (tj_register_handle_class(number, cls)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *native_register_exception(PyObject *module, PyObject *args) {
    PyObject *name, *cls;
    if (!PyArg_ParseTuple(args, "UO:register_exception", &name, &cls)) return NULL;
    if (tj_register_exception(name, cls)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *native_set_size_class(PyObject *module, PyObject *cls) {
    if (tj_set_size_class(cls)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *native_set_token_factory(PyObject *module, PyObject *factory) {
    if (tj_set_token_factory(factory)) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"function", native_function, METH_O, "function($module, name, /)\n--\n\nThe registered function of that name."},
    {"check_interpreter", native_check_interpreter, METH_NOARGS,
     "check_interpreter($module, /)\n--\n\nRaises ImportError in a subinterpreter."},
    {"register_handle_class", native_register_handle_class, METH_VARARGS,
     "register_handle_class($module, number, cls, /)\n--\n\nSays which class the handles of a class number have."},
    {"register_exception", native_register_exception, METH_VARARGS,
     "register_exception($module, name, cls, /)\n--\n\nSays which class errors of that name are raised as."},
    {"to_dlpack", native_to_dlpack, METH_O, "to_dlpack($module, tensor, /)\n--\n\nA DLPack capsule over the tensor's memory."},
    {"has_torch_function_unary", tj_has_torch_function_unary, METH_O,
     "has_torch_function_unary($module, relevant_arg, /)\n--\n\nWhether an object's class has __torch_function__."},
    {"set_torch_function_enabled", tj_set_torch_function_enabled, METH_O,
     "set_torch_function_enabled($module, enabled, /)\n--\n\nWhether calls in this thread can be overridden; returns what it was."},
    {"torch_function_enabled", tj_torch_function_enabled, METH_NOARGS,
     "torch_function_enabled($module, /)\n--\n\nWhether calls in this thread can be overridden."},
    {"count_modes", tj_count_modes, METH_O, "count_modes($module, change, /)\n--\n\nNotes that modes have become active or inactive."},
    {"has_torch_function_variadic", (PyCFunction)(void (*)(void))tj_has_torch_function_variadic, METH_FASTCALL,
     "has_torch_function_variadic($module, /, *relevant_args)\n--\n\nWhether a class among those of objects has __torch_function__."},
    {"module_call", tj_module_call, METH_VARARGS,
     "module_call($module, call_with_hooks, hooks_of_all, note_module, /)\n--\n\nThe method __call__ of compiled modules."},
    {"timed_module_call", tj_timed_module_call, METH_O,
     "timed_module_call($module, call, /)\n--\n\nThe method __call__ of modules while a profile collects events."},
    {"profiler_begin_calls", tj_begin_calls, METH_NOARGS, "profiler_begin_calls($module, /)\n--\n\nBegins to note calls of compiled functions and modules."},
    {"profiler_end_calls", tj_end_calls, METH_NOARGS,
     "profiler_end_calls($module, /)\n--\n\nEnds that; tuples of what was called, thread, start and end in nanoseconds of the monotonic clock."},
    {"recast", tj_recast, METH_VARARGS, "recast($module, tensor, cls, /)\n--\n\nThe tensor as an object of another class; the object given is used up."},
    {"set_disabled_dispatch", tj_set_disabled_dispatch, METH_O,
     "set_disabled_dispatch($module, handler, /)\n--\n\nSets the __torch_dispatch__ of classes that run no operators."},
    {"set_size_class", native_set_size_class, METH_O, "set_size_class($module, cls, /)\n--\n\nSets the class of shapes."},
    {"set_to_operator", tj_set_to_operator, METH_O, "set_to_operator($module, f, /)\n--\n\nSets the function that x.to(dtype) calls."},
    {"set_token_factory", native_set_token_factory, METH_O,
     "set_token_factory($module, factory, /)\n--\n\nSets what makes a token from its class number and code."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "torchjit._native", "The native library; its functions are registered in Go.", -1, methods,
};

/* Adds every function that is registered in Go under its name. */
static int add_functions(PyObject *module) {
    tj_word words[TJ_STACK_WORDS];
    tj_reply reply = {words, 0, TJ_STACK_WORDS, 0};
    TJFunctionNames(&reply);
    const tj_word *cursor = reply.words;
    PyObject *names = tj_read(&cursor);
    tj_reply_free(&reply);
    for (Py_ssize_t i = 0; names && i < PyList_GET_SIZE(names); i++) {
        PyObject *name = PyList_GET_ITEM(names, i);
        PyObject *f = native_function(module, name);
        if (!f || PyObject_SetAttr(module, name, f)) Py_CLEAR(names);
        Py_XDECREF(f);
    }
    int rc = names ? 0 : -1;
    Py_XDECREF(names);
    return rc;
}

PyMODINIT_FUNC PyInit__native(void) {
    if (check_interpreter()) return NULL;
    if (pthread_atfork(NULL, NULL, in_child)) return PyErr_Format(PyExc_ImportError, "pthread_atfork failed");
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    if (tj_make_types(module) || add_functions(module)) Py_CLEAR(module);
    return module;
}
