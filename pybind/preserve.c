/* preserve.c: tensors whose classes run operators by __torch_dispatch__. Such an object has more than the library knows: while the
 * library alone holds the tensor it keeps the object too, so that Python sees the same one again. */
#include "shim.h"
#include "services.h"
#include "_cgo_export.h"

static PyObject *disabled_dispatch; /* the __torch_dispatch__ of classes that want none */

PyObject *tj_set_disabled_dispatch(PyObject *module, PyObject *handler) {
    Py_INCREF(handler);
    Py_XSETREF(disabled_dispatch, handler);
    Py_RETURN_NONE;
}

static int class_dispatches(PyTypeObject *t) {
    static PyObject *name;
    if (!disabled_dispatch || (!name && !(name = PyUnicode_InternFromString("__torch_dispatch__")))) return 0;
    PyObject *handler = _PyType_Lookup(t, name);
    return handler && handler != disabled_dispatch;
}

/* Runs the class's own __del__. */
static void run_del(PyObject *self) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *del = PyObject_GetAttrString(self, "__del__");
    if (del) {
        PyObject *none = PyObject_CallNoArgs(del);
        if (!none) PyErr_WriteUnraisable(del);
        Py_XDECREF(none);
        Py_DECREF(del);
    }
    PyErr_Restore(type, value, trace);
}

/* The last reference is going. Where the library holds the tensor, it takes over the object. */
static void finalize(PyObject *self) {
    HandleObject *h = (HandleObject *)self;
    int64_t slot = h->slot;
    if (tj_forked) return;
    if (!slot || !TJPreserve(slot, self)) {
        if (PyObject_HasAttrString((PyObject *)Py_TYPE(self), "__del__")) run_del(self);
        return;
    }
    tj_leave_slot(slot);
    h->slot = 0;
    if (h->weakrefs && Py_REFCNT(self) == 2) { /* ours, and that of the call */
        PyObject_GC_UnTrack(self);
        Py_SET_REFCNT(self, 0);
        PyObject_ClearWeakRefs(self);
        Py_SET_REFCNT(self, 2);
        PyObject_GC_Track(self);
    }
}

/* The collector's note that an object was finalized, the lowest bit of the word before the object, goes: it is to be finalized once more. */
static void forget_finalized(void *o) {
    ((uintptr_t *)o)[-1] &= ~(uintptr_t)1;
}

/* Python sees the tensor of an object again. */
void tj_revive(void *o, int64_t slot) {
    PyGILState_STATE gil = PyGILState_Ensure();
    tj_enter_slot(o, slot);
    forget_finalized(o);
    PyGILState_Release(gil);
}

/* The tensor of an object has gone. */
void tj_abandon(void *o) {
    if (tj_forked || !Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    forget_finalized(o);
    Py_DECREF((PyObject *)o);
    PyGILState_Release(gil);
}

int tj_prepare_object(PyObject *tensor) {
    PyTypeObject *t = Py_TYPE(tensor);
    if (tj_is_plain_tensor(t) || !class_dispatches(t)) return 0;
    TJSetDispatches(((HandleObject *)tensor)->slot, 1);
    if (PyType_IS_GC(t)) t->tp_finalize = finalize;
    return 0;
}

/* recast(tensor, cls) is the tensor as an object of another class; the object that it was before has none any more. */
PyObject *tj_recast(PyObject *module, PyObject *args) {
    PyObject *from, *made;
    PyTypeObject *cls;
    if (!PyArg_ParseTuple(args, "O!O!:recast", tj_tensor_type, &from, &PyType_Type, &cls)) return NULL;
    if (!PyType_IsSubtype(cls, tj_tensor_type)) return PyErr_Format(PyExc_TypeError, "%s is no class of tensors", cls->tp_name);
    if (!(made = cls->tp_alloc(cls, 0))) return NULL;
    int64_t slot = ((HandleObject *)from)->slot;
    ((HandleObject *)from)->slot = 0;
    tj_enter_slot(made, slot);
    TJSetDispatches(slot, 0);
    if (tj_prepare_object(made)) Py_CLEAR(made);
    return made;
}
