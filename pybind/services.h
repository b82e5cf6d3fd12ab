/* services.h: what Go asks of Python; module.c has the functions. No Python header is needed here. */
#ifndef TORCHJIT_SERVICES_H
#define TORCHJIT_SERVICES_H

#include "dlpack.h"
#include "torchjit.h"

int tj_call_python(void *callable, const char *attribute, const tj_word *args, int64_t n, tj_reply *reply,
                   void **result);
void tj_revive(void *o, int64_t slot);
void tj_abandon(void *o);
void tj_incref(void *o);
void tj_decref(void *o);
void *tj_release_gil(void);
void tj_acquire_gil(void *state);
int tj_ensure_gil(void);
int64_t tj_thread_number(void);
/* The same, -1 where the thread has not called the library yet. */
int64_t tj_seen_thread_number(void);
void tj_leave_gil(int state);
int tj_has_object(int64_t slot);
int tj_check_signals(void **raised);
int tj_is_first_thread(void);
void *tj_grow_tensors(int64_t count, int64_t room);
void tj_set_recorders(int n);
extern tj_waiting_slots tj_waiting;
extern int tj_recorders;
void tj_warn(const char *message, int64_t length, const char *file, int64_t file_length, int line, void **raised);
int tj_borrow_array(void *object, tj_array *array, void **raised);
void tj_return_array(void *owner);
void tj_delete_dlpack(dl_managed *m);
void *tj_open_capsule(void *capsule, const char *name, const char *used);

#endif
