/* override.c: calls that arguments of other classes take over by __torch_function__.
 *
 * Marshalling notes an argument that the library has no form for; only then is anything here looked at. */
#include "shim.h"

static PyObject *method_name(void) {
    static PyObject *name;
    if (!name) name = PyUnicode_InternFromString("__torch_function__");
    return name;
}

int tj_modes;
static __thread int disabled;

/* The __torch_function__ of classes that want none, borrowed; NULL until torchjit.overrides is loaded. */
static PyObject *no_handler(void) {
    static PyObject *found;
    if (!found) {
        PyObject *module = PyImport_ImportModule("torchjit._override");
        found = module ? PyObject_GetAttrString(module, "_disabled_torch_function_impl") : NULL;
        Py_XDECREF(module);
        if (!found) PyErr_Clear();
    }
    return found;
}

/* Whether a class, which is no plain one of tensors, has __torch_function__. */
static int class_overrides(PyTypeObject *t) {
    PyObject *handler = _PyType_Lookup(t, method_name());
    return handler && handler != no_handler();
}

int tj_is_subclass(PyObject *tensor) {
    return class_overrides(Py_TYPE(tensor));
}

/* Whether an object's class has __torch_function__ that counts. */
static int overrides(PyObject *o) {
    PyTypeObject *t = Py_TYPE(o);
    if (tj_is_plain_tensor(t) || o == Py_None || t == &PyLong_Type || t == &PyFloat_Type || t == &PyBool_Type || t == &PyUnicode_Type) return 0;
    return !disabled && class_overrides(t);
}

/* Whether a mode is active in this thread; asked only where one is in some thread. -1: failed. */
static int has_mode(void) {
    if (!tj_modes || disabled) return 0;
    PyObject *module = PyImport_ImportModule("torchjit._override");
    PyObject *answer = module ? PyObject_CallMethod(module, "has_mode", NULL) : NULL;
    int has = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(module);
    Py_XDECREF(answer);
    return has;
}

PyObject *tj_set_torch_function_enabled(PyObject *module, PyObject *enabled) {
    int was = !disabled, wanted = PyObject_IsTrue(enabled);
    if (wanted < 0) return NULL;
    disabled = !wanted;
    return PyBool_FromLong(was);
}

PyObject *tj_torch_function_enabled(PyObject *module, PyObject *unused) {
    return PyBool_FromLong(!disabled);
}

PyObject *tj_count_modes(PyObject *module, PyObject *change) {
    long n = PyLong_AsLong(change);
    if (n == -1 && PyErr_Occurred()) return NULL;
    tj_modes += (int)n;
    Py_RETURN_NONE;
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
    PyObject *result = NULL, *handler = NULL, *module = PyImport_ImportModule("torchjit._override");
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
    int taken;
    *result = NULL;
    if (!found) return 1;
    for (Py_ssize_t i = 0; i < all; i++)
        if (collect(found, args[i])) {
            Py_DECREF(found);
            return 1;
        }
    taken = PyList_GET_SIZE(found) > 0 ? 1 : has_mode();
    if (taken > 0) *result = call_handler(function, found, args, nargs, kwnames);
    Py_DECREF(found);
    return taken;
}

PyObject *tj_has_torch_function_unary(PyObject *module, PyObject *o) {
    if (overrides(o)) Py_RETURN_TRUE;
    int mode = has_mode();
    return mode < 0 ? NULL : PyBool_FromLong(mode);
}

PyObject *tj_has_torch_function_variadic(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    for (Py_ssize_t i = 0; i < nargs; i++)
        if (overrides(args[i])) Py_RETURN_TRUE;
    int mode = has_mode();
    return mode < 0 ? NULL : PyBool_FromLong(mode);
}
