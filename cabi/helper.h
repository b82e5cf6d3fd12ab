/* helper.h: what the library's own C code has besides torchjit.h. */
#ifndef TORCHJIT_HELPER_H
#define TORCHJIT_HELPER_H

#define TORCHJIT_NO_PROTOTYPES /* cgo declares the functions by Go's types */
#include "torchjit.h"

/* The layout that DLPack gives to tensors, version 0. */
typedef struct {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} tj_dl_tensor;

typedef struct DLManagedTensor {
    tj_dl_tensor tensor;
    void *context;
    void (*deleter)(struct DLManagedTensor *);
} tj_dl_managed;

tj_dl_managed *dl_make(void *data, int32_t ndim, uint64_t owner);
void dl_delete(tj_dl_managed *m);

#endif
