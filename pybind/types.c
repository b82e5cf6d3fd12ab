/* types.c: the Python types of the binding: Handle, TensorBase, Token, Function, ScriptFunction. */
#include "shim.h"
#include "services.h"
#include "_cgo_export.h"

PyTypeObject *tj_size_type, *tj_handle_type, *tj_tensor_type, *tj_token_type, *tj_function_type, *tj_method_type, *tj_script_function_type, *tj_script_method_type;

/* ---- Handle ---- */

static PyObject *handle_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    return PyErr_Format(PyExc_TypeError, "%s objects are made by the library", cls->tp_name);
}

static void handle_dealloc(PyObject *self) {
    HandleObject *h = (HandleObject *)self;
    PyTypeObject *cls = Py_TYPE(self);
    if (h->weakrefs) PyObject_ClearWeakRefs(self);
    if (h->slot) tj_forget(h->slot);
    cls->tp_free(self);
    Py_DECREF(cls);
}

static PyMemberDef handle_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(HandleObject, weakrefs), READONLY, NULL},
    {NULL},
};
static PyType_Slot handle_slots[] = {
    {Py_tp_doc, "The Python side of one object of the library."},
    {Py_tp_new, handle_new},
    {Py_tp_dealloc, handle_dealloc},
    {Py_tp_members, handle_members},
    {0, NULL},
};
static PyType_Spec handle_spec = {"torchjit._native.Handle", sizeof(HandleObject), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, handle_slots};

/* ---- TensorBase ---- */

/* TensorBase(source) is a new object of the class over a new tensor that shares source's memory. */
static PyObject *tensor_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    PyObject *source;
    if (tj_forked) return tj_raise_forked();
    if (!PyArg_ParseTuple(args, "O!:TensorBase", tj_handle_type, &source)) return NULL;
    int64_t slot = TJAlias(((HandleObject *)source)->slot);
    if (!slot) {
        PyErr_SetString(PyExc_TypeError, "TensorBase expects a Tensor");
        return NULL;
    }
    PyObject *made = tj_adopt(cls, slot);
    if (made && tj_prepare_object(made)) Py_CLEAR(made);
    return made;
}

static int tensor_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    tj_word words[TJ_STACK_WORDS];
    tj_reply reply = {words, 0, TJ_STACK_WORDS, 0};
    view->obj = NULL;
    if (tj_forked) {
        tj_raise_forked();
        return -1;
    }
    tj_array *a = malloc(sizeof *a);
    if (!a) {
        PyErr_NoMemory();
        return -1;
    }
    if (TJLend(((HandleObject *)self)->slot, tj_thread_number(), 0, a, &reply)) {
        free(a);
        tj_raise(&reply);
        return -1;
    }
    Py_ssize_t dense = a->itemsize;
    int contiguous = 1;
    for (int64_t i = a->ndim - 1; i >= 0; i--) {
        if (a->shape[i] != 1 && a->strides[i] != dense) contiguous = 0;
        dense *= a->shape[i];
    }
    if (!contiguous && dense && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
        TJReturn(a->loan);
        free(a);
        PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
        return -1;
    }
    view->buf = a->data;
    view->len = a->bytes;
    view->itemsize = a->itemsize;
    view->readonly = 0;
    view->ndim = (int)a->ndim;
    view->format = flags & PyBUF_FORMAT ? (char *)a->format : NULL;
    view->shape = (flags & PyBUF_ND) == PyBUF_ND ? (Py_ssize_t *)a->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? (Py_ssize_t *)a->strides : NULL;
    view->suboffsets = NULL;
    view->internal = a;
    view->obj = Py_NewRef(self);
    return 0;
}

static void tensor_releasebuffer(PyObject *self, Py_buffer *view) {
    tj_array *a = view->internal;
    if (!tj_forked) TJReturn(a->loan);
    free(a);
}

static PyType_Slot tensor_slots[] = {
    {Py_tp_doc, "A tensor's handle; the class Tensor is made over it."},
    {Py_tp_new, tensor_new},
    {Py_bf_getbuffer, tensor_getbuffer},
    {Py_bf_releasebuffer, tensor_releasebuffer},
    {Py_tp_getset, tj_tensor_getset},
    {Py_tp_methods, tj_tensor_methods},
    {Py_sq_length, tj_tensor_length},
    {Py_mp_length, tj_tensor_length},
    {0, NULL},
};
static PyType_Spec tensor_spec = {"torchjit._native.TensorBase", sizeof(HandleObject), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, tensor_slots};

/* ---- SizeBase ---- */

static PyObject *size_subscript(PyObject *self, PyObject *key) {
    PyObject *item = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
    return item && PySlice_Check(key) ? tj_as_size(Py_TYPE(item) == &PyTuple_Type ? item : PySequence_Tuple(item)) : item;
}

static PyObject *size_concat(PyObject *self, PyObject *other) {
    return tj_as_size(PyTuple_Type.tp_as_sequence->sq_concat(self, other));
}

static PyObject *size_repeat(PyObject *self, Py_ssize_t n) {
    return tj_as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, n));
}

static PyType_Slot size_slots[] = {
    {Py_tp_doc, "A tuple of sizes, whose parts and sums are shapes too."},
    {Py_mp_subscript, size_subscript},
    {Py_sq_concat, size_concat},
    {Py_sq_repeat, size_repeat},
    {0, NULL},
};
static PyType_Spec size_spec = {"torchjit._native.SizeBase", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, size_slots};

/* ---- Token ---- */

static PyObject *token_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    long long number, code;
    if (!PyArg_ParseTuple(args, "LL:Token", &number, &code)) return NULL;
    TokenObject *t = (TokenObject *)cls->tp_alloc(cls, 0);
    if (!t) return NULL;
    t->class_number = number;
    t->code = code;
    if (tj_register_token(t)) Py_CLEAR(t);
    return (PyObject *)t;
}

static void token_dealloc(PyObject *self) {
    PyTypeObject *cls = Py_TYPE(self);
    cls->tp_free(self);
    Py_DECREF(cls);
}

static PyMemberDef token_members[] = {
    {"code", T_LONGLONG, offsetof(TokenObject, code), READONLY, "the number that stands for it in a program"},
    {NULL},
};
static PyType_Slot token_slots[] = {
    {Py_tp_doc, "A value of a closed set, known to the library by class and code."},
    {Py_tp_new, token_new},
    {Py_tp_dealloc, token_dealloc},
    {Py_tp_members, token_members},
    {0, NULL},
};
static PyType_Spec token_spec = {"torchjit._native.Token", sizeof(TokenObject), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, token_slots};

/* ---- Function and ScriptFunction ---- */

static PyObject *function_name(PyObject *self, void *closure);

/* Whether a function is an operator of Python's syntax, which tries the other operand where a class raises TypeError. */
static int is_syntax(PyObject *self) {
    PyObject *dict = ((FunctionObject *)self)->dict;
    return dict && PyDict_GetItemString(dict, "_is_syntax");
}

/* A method of tensors that is called through the class, with a number for the tensor. */
static PyObject *refuse_number(PyObject *self, PyObject *number) {
    PyObject *name = function_name(self, NULL);
    if (!name) return NULL;
    PyErr_Format(PyExc_TypeError, "descriptor '%U' for 'torch._C._TensorBase' objects doesn't apply to a '%s' object", name, Py_TYPE(number)->tp_name);
    Py_DECREF(name);
    return NULL;
}

static PyObject *call_function(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf), nkw = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    tj_word sent[TJ_STACK_WORDS], received[TJ_STACK_WORDS];
    tj_writer w = {sent, 0, TJ_STACK_WORDS, .numbers = ((FunctionObject *)self)->numbers};
    tj_reply reply = {received, 0, TJ_STACK_WORDS, 0};
    if (tj_forked) return tj_raise_forked();
    if (nargs && Py_TYPE(self) == tj_method_type && ((FunctionObject *)self)->overridable & TJ_SUBCLASS && (PyLong_Check(args[0]) || PyFloat_Check(args[0]) || PyComplex_Check(args[0])))
        return refuse_number(self, args[0]);
    for (Py_ssize_t i = 0; i < nargs; i++)
        if (tj_write(&w, args[i])) goto failed;
    for (Py_ssize_t i = 0; i < nkw; i++)
        if (tj_write_name(&w, PyTuple_GET_ITEM(kwnames, i)) || tj_write(&w, args[nargs + i])) goto failed;
    if (w.foreign | tj_modes && (w.foreign & ((FunctionObject *)self)->overridable || tj_modes && ((FunctionObject *)self)->overridable & TJ_SUBCLASS)) {
        PyObject *other;
        if (tj_overridden(self, args, nargs, kwnames, &other)) {
            tj_writer_free(&w);
            return other;
        }
    }
    int rc = TJCall(((FunctionObject *)self)->slot, w.words, nargs, nkw, tj_thread_number(), &reply);
    tj_writer_free(&w);
    if (rc) {
        int python = reply.len > 0 && (reply.words[0].tag & 0xff) == TJ_OBJECT;
        tj_raise(&reply);
        if (python && PyErr_ExceptionMatches(PyExc_TypeError) && is_syntax(self)) {
            PyErr_Clear();
            Py_RETURN_NOTIMPLEMENTED;
        }
        return NULL;
    }
    const tj_word *cursor = reply.words;
    PyObject *result = tj_read(&cursor);
    tj_reply_free(&reply);
    return result;
failed:
    tj_writer_free(&w);
    return NULL;
}

/* A scripted function or method, whose calls are events of a profile. */
static PyObject *call_scripted(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    if (!tj_profiling) return call_function(self, args, nargsf, kwnames);
    int64_t start = tj_now();
    PyObject *result = call_function(self, args, nargsf, kwnames);
    tj_note_call(self, start);
    return result;
}

PyObject *tj_new_function(PyTypeObject *type, int64_t slot, PyObject *name, int overridable) {
    FunctionObject *f = PyObject_GC_New(FunctionObject, type);
    if (!f) return NULL;
    int scripted = type == tj_script_function_type || type == tj_script_method_type;
    f->vectorcall = scripted ? call_scripted : call_function;
    f->slot = slot;
    f->overridable = overridable;
    f->numbers = !scripted && (overridable & TJ_SUBCLASS || name && !strncmp(PyUnicode_AsUTF8(name), "tensor_", 7));
    f->name = Py_XNewRef(name);
    f->dict = f->weakrefs = NULL;
    PyObject_GC_Track(f);
    return (PyObject *)f;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((FunctionObject *)self)->dict);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int function_clear(PyObject *self) {
    Py_CLEAR(((FunctionObject *)self)->dict);
    return 0;
}

static void function_dealloc(PyObject *self) {
    FunctionObject *f = (FunctionObject *)self;
    PyTypeObject *cls = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (f->weakrefs) PyObject_ClearWeakRefs(self);
    function_clear(self);
    Py_XDECREF(f->name);
    if (!tj_forked) TJReleaseCallable(f->slot);
    cls->tp_free(self);
    Py_DECREF(cls);
}

static PyObject *function_get(PyObject *self, PyObject *instance, PyObject *owner) {
    if (!instance || instance == Py_None) return Py_NewRef(self);
    return PyMethod_New(self, instance);
}

static PyObject *function_name(PyObject *self, void *closure) {
    FunctionObject *f = (FunctionObject *)self;
    tj_word words[TJ_STACK_WORDS];
    tj_reply reply = {words, 0, TJ_STACK_WORDS, 0};
    if (f->name) return Py_NewRef(f->name);
    if (tj_forked) return tj_raise_forked();
    if (TJCallableName(f->slot, &reply)) return tj_raise(&reply);
    const tj_word *cursor = reply.words;
    f->name = tj_read(&cursor);
    tj_reply_free(&reply);
    return Py_XNewRef(f->name);
}

/* The name without the module torch._C in which a function stands. */
static PyObject *function_own_name(PyObject *self, void *closure) {
    PyObject *name = function_name(self, closure);
    const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
    if (!text || strncmp(text, "_C.", 3)) return name;
    Py_DECREF(name);
    return PyUnicode_FromString(text + 3);
}

static PyObject *function_repr(PyObject *self) {
    PyObject *name = function_name(self, NULL);
    if (!name) return NULL;
    PyObject *text = PyUnicode_FromFormat("<%s %U>", _PyType_Name(Py_TYPE(self) == tj_method_type ? tj_function_type : Py_TYPE(self)), name);
    Py_DECREF(name);
    return text;
}

static PyObject *script_function_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    return PyErr_Format(PyExc_TypeError, "%s objects are made by the library", cls->tp_name);
}

static PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weakrefs), READONLY, NULL},
    {NULL},
};
static PyGetSetDef function_getset[] = {
    {"__name__", function_own_name, NULL, "the function's name", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL},
};
#define FUNCTION_SLOTS(doc)                                                                                    \
    {Py_tp_doc, doc}, {Py_tp_new, script_function_new}, {Py_tp_call, PyVectorcall_Call},                       \
        {Py_tp_members, function_members}, {Py_tp_getset, function_getset}, {Py_tp_traverse, function_traverse}, \
        {Py_tp_clear, function_clear}, {Py_tp_dealloc, function_dealloc}, {Py_tp_repr, function_repr}
static PyType_Slot function_slots[] = {
    FUNCTION_SLOTS("A function of the library; as a class attribute it is a function still, as those of PyTorch are."),
    {0, NULL},
};
static PyType_Slot method_slots[] = {
    FUNCTION_SLOTS("A function of the library that is a method as a class attribute."),
    {Py_tp_descr_get, function_get},
    {0, NULL},
};
static PyType_Slot script_function_slots[] = {
    FUNCTION_SLOTS("A compiled function."),
    {0, NULL},
};
static PyType_Slot script_method_slots[] = {
    FUNCTION_SLOTS("A method of a compiled module or class, bound to its object."),
    {0, NULL},
};
#define FUNCTION_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL)
static PyType_Spec function_spec = {"torchjit._native.Function", sizeof(FunctionObject), 0,
                                    FUNCTION_FLAGS | Py_TPFLAGS_BASETYPE, function_slots};
static PyType_Spec method_spec = {"torchjit._native.Method", sizeof(FunctionObject), 0,
                                  FUNCTION_FLAGS | Py_TPFLAGS_METHOD_DESCRIPTOR, method_slots};
static PyType_Spec script_function_spec = {"torchjit.jit.ScriptFunction", sizeof(FunctionObject), 0,
                                           FUNCTION_FLAGS, script_function_slots};
static PyType_Spec script_method_spec = {"torchjit._native.ScriptMethod", sizeof(FunctionObject), 0,
                                         FUNCTION_FLAGS, script_method_slots};

/* ---- creation ---- */

static PyTypeObject *add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject *base) {
    PyObject *bases = base ? PyTuple_Pack(1, base) : NULL;
    PyObject *type = PyType_FromSpecWithBases(spec, bases);
    Py_XDECREF(bases);
    if (type && PyModule_AddObjectRef(module, name, type)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

int tj_make_types(PyObject *module) {
    tj_read_layout();
    return (tj_size_type = add_type(module, "SizeBase", &size_spec, &PyTuple_Type)) &&
                   (tj_handle_type = add_type(module, "Handle", &handle_spec, NULL)) &&
                   (tj_tensor_type = add_type(module, "TensorBase", &tensor_spec, tj_handle_type)) &&
                   (tj_token_type = add_type(module, "Token", &token_spec, NULL)) &&
                   (tj_function_type = add_type(module, "Function", &function_spec, NULL)) &&
                   (tj_method_type = add_type(module, "Method", &method_spec, tj_function_type)) &&
                   (tj_script_function_type = add_type(module, "ScriptFunction", &script_function_spec, NULL)) &&
                   (tj_script_method_type = add_type(module, "ScriptMethod", &script_method_spec, NULL))
               ? 0
               : -1;
}
