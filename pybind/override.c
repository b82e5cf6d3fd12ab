/* override.c: calls that arguments of other classes take over by __torch_function__.
 *
 * Marshalling notes an argument that the library has no form for; only then is anything here looked at. */
#include "shim.h"

static PyObject *method_name(void) {
    static PyObject *name;
    if (!name) name = PyUnicode_InternFromString("__torch_function__");
    return name;
}

/* Whether an object's class has __torch_function__. Tensor itself has none. */
static int overrides(PyObject *o) {
    PyTypeObject *t = Py_TYPE(o);
    if (o == Py_None || t == &PyLong_Type || t == &PyFloat_Type || t == &PyBool_Type || t == &PyUnicode_Type) return 0;
    return _PyType_Lookup(t, method_name()) != NULL;
}

/* Appends the objects that override to found: o, or the items of a list or tuple. */
static int collect(PyObject *found, PyObject *o) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) return overrides(o) ? PyList_Append(found, o) : 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(o, i);
        if (overrides(item) && PyList_Append(found, item)) return -1;
    }
    return 0;
}

static PyObject *call_handler(PyObject *function, PyObject *found, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    PyObject *result = NULL, *handler = NULL, *module = PyImport_ImportModule("torchjit.overrides");
    Py_ssize_t nkw = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    PyObject **stack = PyMem_Malloc((nargs + nkw + 2) * sizeof *stack);
    if (!stack) PyErr_NoMemory();
    if (module && stack && (handler = PyObject_GetAttrString(module, "handle_torch_function"))) {
        stack[0] = function;
        stack[1] = found;
        memcpy(stack + 2, args, (nargs + nkw) * sizeof *stack);
        result = PyObject_Vectorcall(handler, stack, nargs + 2, kwnames);
    }
    PyMem_Free(stack);
    Py_XDECREF(handler);
    Py_XDECREF(module);
    return result;
}

int tj_overridden(PyObject *function, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **result) {
    Py_ssize_t all = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    PyObject *found = PyList_New(0);
    *result = NULL;
    if (!found) return 1;
    for (Py_ssize_t i = 0; i < all; i++)
        if (collect(found, args[i])) {
            Py_DECREF(found);
            return 1;
        }
    int taken = PyList_GET_SIZE(found) > 0;
    if (taken) *result = call_handler(function, found, args, nargs, kwnames);
    Py_DECREF(found);
    return taken;
}

PyObject *tj_has_torch_function_unary(PyObject *module, PyObject *o) {
    return PyBool_FromLong(overrides(o));
}

PyObject *tj_has_torch_function_variadic(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    for (Py_ssize_t i = 0; i < nargs; i++)
        if (overrides(args[i])) Py_RETURN_TRUE;
    Py_RETURN_FALSE;
}
