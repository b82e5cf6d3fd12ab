#include "helper.h"

#include <stdlib.h>

extern void tj_release(uint64_t object);

typedef struct {
    tj_dl_managed managed;
    uint64_t owner;
    int64_t sizes[]; /* the shape, then the strides */
} lent;

static void end(tj_dl_managed *m) {
    lent *l = m->context;
    tj_release(l->owner);
    free(l);
}

/* dl_make makes a description of memory that an object keeps, whose shape and strides the caller fills in. NULL: there is no memory for it. */
tj_dl_managed *dl_make(void *data, int32_t ndim, uint64_t owner) {
    lent *l = calloc(1, sizeof *l + 2 * (size_t)ndim * sizeof(int64_t));
    if (!l) return NULL;
    l->owner = owner;
    l->managed.tensor.data = data;
    l->managed.tensor.device_type = 1; /* the processor */
    l->managed.tensor.ndim = ndim;
    l->managed.tensor.lanes = 1;
    l->managed.tensor.shape = l->sizes;
    l->managed.tensor.strides = l->sizes + ndim;
    l->managed.context = l;
    l->managed.deleter = end;
    return &l->managed;
}

void dl_delete(tj_dl_managed *m) {
    if (m->deleter) m->deleter(m);
}
