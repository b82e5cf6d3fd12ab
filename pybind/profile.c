/* profile.c: the events of a profile that are calls of compiled functions and of modules, from Python's side: with what Python and the conversion of
 * arguments and results take; and the ends of tensors' objects. The events within are the library's; both read one clock. */
#include "services.h"
#include "shim.h"

#include <time.h>

int tj_profiling;

typedef struct {
    PyObject *subject;
    int64_t thread, start, end;
} Event;

/* Guarded by the GIL. */
static Event *events;
static Py_ssize_t count, room;
static PyObject *plain_call; /* Module.__call__, while a profile has another in its place */

int64_t tj_now(void) {
    struct timespec t;
#ifdef __APPLE__
    clock_gettime(CLOCK_UPTIME_RAW, &t);
#else
    clock_gettime(CLOCK_MONOTONIC, &t);
#endif
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int grow(Py_ssize_t more) {
    Event *moved = PyMem_Realloc(events, more * sizeof *events);
    if (!moved) return -1;
    events = moved, room = more;
    return 0;
}

void tj_note_call(PyObject *subject, int64_t start) {
    int64_t end = tj_now();
    if (!tj_profiling) return;
    if (count == room && grow(2 * room)) return; /* the time is that of the event around it */
    events[count++] = (Event){Py_NewRef(subject), tj_seen_thread_number(), start, end};
}

void tj_note_release(int64_t start) {
    static PyObject *name;
    if (!name && !(name = PyUnicode_FromString("release of a tensor"))) {
        PyErr_Clear();
        return;
    }
    tj_note_call(name, start);
}

PyObject *tj_begin_calls(PyObject *module, PyObject *unused) {
    if (grow(1024)) return PyErr_NoMemory(); /* not between the first events */
    tj_profiling = 1;
    Py_RETURN_NONE;
}

PyObject *tj_end_calls(PyObject *module, PyObject *unused) {
    tj_profiling = 0;
    Event *found = events;
    Py_ssize_t n = count;
    events = NULL, count = room = 0;
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = list ? Py_BuildValue("OLLL", found[i].subject, (long long)found[i].thread, (long long)found[i].start, (long long)found[i].end) : NULL;
        Py_DECREF(found[i].subject);
        if (item)
            PyList_SET_ITEM(list, i, item);
        else
            Py_CLEAR(list);
    }
    PyMem_Free(found);
    return list;
}

static PyObject *timed_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    int64_t start = tj_now();
    PyObject *result = tj_call_with_self(plain_call, self, args, nargs, kwnames);
    tj_note_call(self, start);
    return result;
}

static PyMethodDef definition = {
    "__call__", (PyCFunction)(void (*)(void))timed_call, METH_FASTCALL | METH_KEYWORDS, "__call__($self, /, *args, **kwargs)\n--\n\nCalls forward, with the module's hooks.",
};

PyObject *tj_timed_module_call(PyObject *module, PyObject *call) {
    Py_XSETREF(plain_call, Py_NewRef(call));
    return PyDescr_NewMethod(&PyBaseObject_Type, &definition);
}
