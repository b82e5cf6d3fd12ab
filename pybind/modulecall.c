/* modulecall.c: calls of compiled modules. One that has no hooks calls its compiled forward without a frame of Python. */
#include "shim.h"

static PyObject *call_with_hooks; /* Module.__call__ */
static PyObject *hooks_of_all;    /* the tuple of the dicts with the hooks of all modules */
static PyObject *forward_name, *hooks_names[3];

static int has_hooks(PyObject *dict) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(hooks_of_all); i++)
        if (PyDict_GET_SIZE(PyTuple_GET_ITEM(hooks_of_all, i))) return 1;
    for (int i = 0; i < 3; i++) {
        PyObject *hooks = PyDict_GetItemWithError(dict, hooks_names[i]);
        if (hooks && !(PyDict_Check(hooks) && PyDict_GET_SIZE(hooks) == 0)) return 1;
    }
    return 0;
}

PyObject *tj_call_with_self(PyObject *function, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    Py_ssize_t n = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    PyObject **all = PyMem_New(PyObject *, n + 1);
    if (!all) return PyErr_NoMemory();
    all[0] = self;
    memcpy(all + 1, args, n * sizeof *all);
    PyObject *result = PyObject_Vectorcall(function, all, nargs + 1, kwnames);
    PyMem_Free(all);
    return result;
}

static PyObject *call_forward(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    PyObject *dict = PyObject_GenericGetDict(self, NULL), *forward = NULL;
    if (!dict) return NULL;
    if (!has_hooks(dict)) forward = PyDict_GetItemWithError(dict, forward_name);
    if (forward && Py_TYPE(forward) == tj_script_method_type) {
        Py_INCREF(forward);
        Py_DECREF(dict);
        PyObject *result = PyObject_Vectorcall(forward, args, nargs, kwnames);
        Py_DECREF(forward);
        return result;
    }
    Py_DECREF(dict);
    if (PyErr_Occurred()) return NULL;
    return tj_call_with_self(call_with_hooks, self, args, nargs, kwnames);
}

static PyObject *module_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    if (!tj_profiling) return call_forward(self, args, nargs, kwnames);
    int64_t start = tj_now();
    PyObject *result = call_forward(self, args, nargs, kwnames);
    tj_note_call(self, start);
    return result;
}

static PyMethodDef definition = {
    "__call__", (PyCFunction)(void (*)(void))module_call, METH_FASTCALL | METH_KEYWORDS, "__call__($self, /, *args, **kwargs)\n--\n\nCalls forward, with the module's hooks.",
};

/* module_call(call_with_hooks, hooks_of_all) returns the method __call__ of compiled modules. */
PyObject *tj_module_call(PyObject *module, PyObject *args) {
    static const char *const names[3] = {"_forward_hooks", "_forward_pre_hooks", "_backward_hooks"};
    PyObject *call, *all;
    if (!PyArg_ParseTuple(args, "OO!:module_call", &call, &PyTuple_Type, &all)) return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all); i++)
        if (!PyDict_Check(PyTuple_GET_ITEM(all, i))) return PyErr_Format(PyExc_TypeError, "module_call() expects a tuple of dicts");
    if (!forward_name && !(forward_name = PyUnicode_InternFromString("forward"))) return NULL;
    for (int i = 0; i < 3; i++)
        if (!hooks_names[i] && !(hooks_names[i] = PyUnicode_InternFromString(names[i]))) return NULL;
    Py_XSETREF(call_with_hooks, Py_NewRef(call));
    Py_XSETREF(hooks_of_all, Py_NewRef(all));
    return PyDescr_NewMethod(&PyBaseObject_Type, &definition);
}
