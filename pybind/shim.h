/* shim.h: what the C files of the binding share. */
#ifndef TORCHJIT_SHIM_H
#define TORCHJIT_SHIM_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "torchjit.h"

/* A growing run of words: starts in the caller's array, moves to the heap when that is full. */
typedef struct {
    tj_word *words;
    int64_t len, cap;
    int owned;
    int foreign; /* an object that the library has no form for was written */
    int numbers; /* members of an enum that are integers are nothing else */
} tj_writer;

/* The Python object of a Go value: a slot number and nothing else. */
typedef struct {
    PyObject_HEAD
    int64_t slot;
    PyObject *weakrefs;
} HandleObject;

/* A value of a closed set (dtype, device, layout): its class number and code. */
typedef struct {
    PyObject_HEAD
    int64_t class_number;
    int64_t code;
} TokenObject;

/* A callable of the library. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    int64_t slot;
    PyObject *name;
    PyObject *dict;
    PyObject *weakrefs;
    int overridable; /* which tj_foreign arguments may take a call over */
    int numbers; /* an operator or another function of tensors: takes no enums, so that members that are integers are nothing else */
} FunctionObject;

/* What an argument may be that the call of an operator looks at twice: an object that the library has no form for, a tensor
 * of a class that has __torch_function__. */
enum { TJ_FOREIGN = 1, TJ_SUBCLASS = 2 };

extern PyTypeObject *tj_size_type, *tj_handle_type, *tj_tensor_type, *tj_token_type, *tj_function_type, *tj_method_type, *tj_script_function_type, *tj_script_method_type;
extern int tj_forked;

/* marshal.c */
int tj_write(tj_writer *w, PyObject *o);
int tj_write_name(tj_writer *w, PyObject *name);
void tj_writer_free(tj_writer *w);
PyObject *tj_read(const tj_word **cursor);
int tj_register_handle_class(int64_t number, PyObject *cls);
int tj_register_token(TokenObject *token);
int tj_register_exception(PyObject *name, PyObject *cls);
int tj_set_size_class(PyObject *cls);
int tj_set_token_factory(PyObject *factory);
PyObject *tj_adopt(PyTypeObject *cls, int64_t slot);
void tj_forget(int64_t slot);
PyObject *tj_raise(tj_reply *reply);
PyObject *tj_raise_forked(void);
void tj_reply_free(tj_reply *reply);
PyObject *tj_dtype_token(int64_t code);
PyObject *tj_new_size(const int64_t *sizes, int64_t n);
PyObject *tj_as_size(PyObject *tuple);

/* geometry.c */
extern PyGetSetDef tj_tensor_getset[];
extern PyMethodDef tj_tensor_methods[];
int tj_can_wait(int64_t slot);
Py_ssize_t tj_tensor_length(PyObject *self);
void tj_read_layout(void);
PyObject *tj_set_to_operator(PyObject *module, PyObject *f);

/* profile.c */
/* Whether a profile collects events. */
extern int tj_profiling;
/* The monotonic clock in nanoseconds, as the library reads it. */
int64_t tj_now(void);
/* Notes a call of a function or module that began then and has ended. */
void tj_note_call(PyObject *subject, int64_t start);
/* Notes that the end of a tensor's object, which began then, has given memory back. */
void tj_note_release(int64_t start);
PyObject *tj_begin_calls(PyObject *module, PyObject *unused);
PyObject *tj_end_calls(PyObject *module, PyObject *unused);
/* The method that takes the place of Module.__call__ while a profile collects events. */
PyObject *tj_timed_module_call(PyObject *module, PyObject *call);

/* modulecall.c */
PyObject *tj_module_call(PyObject *module, PyObject *args);
/* Calls function with self before the arguments. */
PyObject *tj_call_with_self(PyObject *function, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* override.c */
/* How many modes of torch.overrides are active in all threads. */
extern int tj_modes;
/* Whether a tensor's class, which is not Tensor itself, has __torch_function__. */
int tj_is_subclass(PyObject *tensor);
PyObject *tj_set_torch_function_enabled(PyObject *module, PyObject *enabled);
PyObject *tj_torch_function_enabled(PyObject *module, PyObject *unused);
PyObject *tj_count_modes(PyObject *module, PyObject *change);
int tj_is_plain_tensor(PyTypeObject *t);
/* Whether an argument of a call overrides it by __torch_function__; if so *result is what that gave, NULL where it failed. */
int tj_overridden(PyObject *function, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **result);
PyObject *tj_has_torch_function_unary(PyObject *module, PyObject *o);
PyObject *tj_has_torch_function_variadic(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* preserve.c */
/* Prepares a new tensor of a class for what the class wants: that it runs operators. */
int tj_prepare_object(PyObject *tensor);
PyObject *tj_recast(PyObject *module, PyObject *args);
PyObject *tj_set_disabled_dispatch(PyObject *module, PyObject *handler);
void tj_leave_slot(int64_t slot);
void tj_enter_slot(PyObject *o, int64_t slot);

/* types.c */
int tj_make_types(PyObject *module);
PyObject *tj_new_function(PyTypeObject *type, int64_t slot, PyObject *name, int overridable);

#define TJ_STACK_WORDS 64

#endif
