/* What callers get wrong is an error with a message, never the end of the process. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torchjit.h>

typedef struct {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

struct DLManagedTensor {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct DLManagedTensor *);
};

static int wrong = 0;
static tj_error error;

static void expect(int line, int fault, int want, const char *text) {
    if (fault != want || error.fault != want || (want != TJ_OK && (!error.message || !strstr(error.message, text)))) {
        printf("line %d: fault %d, %s; expected %d, %s\n", line, fault, error.message ? error.message : "no message", want, text);
        wrong = 1;
    }
    tj_error_clear(&error);
}

#define EXPECT(call, want, text) expect(__LINE__, call, want, text)

static int deleted = 0;
static void deleter(struct DLManagedTensor *m) { (void)m, deleted++; }

static void *cancel_soon(void *c) { return tj_cancel_now(*(tj_cancel *)c), NULL; }

int main(int argc, char **argv) {
    tj_model model = 0, spin = 0;
    tj_tensor t = 0, u = 0;
    tj_result result = 0;
    tj_info info;
    char *text = NULL;
    float numbers[4] = {1, 2, 3, 4}, read[4];
    int64_t shape[] = {2, 2}, negative[] = {-1}, huge[] = {INT64_MAX, 4};
    (void)argc;
    EXPECT(tj_load(NULL, &model, &error), TJ_CALLER, "the path is NULL");
    EXPECT(tj_load("missing.pt", &model, &error), TJ_CALLER, "missing.pt");
    EXPECT(tj_load(argv[1], NULL, &error), TJ_CALLER, "the model is NULL");
    EXPECT(tj_load_bytes("junk", 4, &model, &error), TJ_CALLER, "no archive");
    EXPECT(tj_load_bytes(NULL, 4, &model, &error), TJ_CALLER, "the data is NULL");
    EXPECT(tj_compile("wrong.py", "def f(x: int):\n    return x.nothing\n", &model, &error), TJ_PROGRAM, "wrong.py");
    if (!tj_compile("wrong.py", "def f(x: int):\n    return x.nothing\n", &model, &error) || error.line != 2 || strcmp(error.file, "wrong.py"))
        printf("an error of compilation has the place %s:%d\n", error.file, error.line), wrong = 1;
    tj_error_clear(&error);
    if (tj_load("missing.pt", &model, NULL) != TJ_CALLER) printf("without an error there is no fault\n"), wrong = 1;
    EXPECT(tj_load(argv[1], &model, &error), TJ_OK, "");
    EXPECT(tj_signature(model, "backward", &text, &error), TJ_CALLER, "no method 'backward'");
    EXPECT(tj_signature(model, "forward", &text, &error), TJ_OK, "");
    if (!strstr(text, "\"name\":\"x\"")) printf("%s\n", text), wrong = 1;
    tj_free(text);
    EXPECT(tj_methods(99, &text, &error), TJ_CALLER, "99 is no model");

    EXPECT(tj_tensor_new(numbers, shape, 2, 77, &t, &error), TJ_CALLER, "element type 77");
    EXPECT(tj_tensor_new(NULL, shape, 2, TJ_FLOAT32, &t, &error), TJ_CALLER, "the data is NULL");
    EXPECT(tj_tensor_new(numbers, negative, 1, TJ_FLOAT32, &t, &error), TJ_CALLER, "");
    EXPECT(tj_tensor_new(numbers, huge, 2, TJ_FLOAT32, &t, &error), TJ_CALLER, "");
    EXPECT(tj_tensor_new(numbers, NULL, 2, TJ_FLOAT32, &t, &error), TJ_CALLER, "dimensions");
    EXPECT(tj_tensor_new(numbers, shape, 65, TJ_FLOAT32, &t, &error), TJ_CALLER, "dimensions");
    EXPECT(tj_tensor_new(numbers, shape, 2, TJ_FLOAT32, &t, &error), TJ_OK, "");
    EXPECT(tj_tensor_info(model, &info, &error), TJ_CALLER, "another object");
    EXPECT(tj_tensor_info(t, &info, &error), TJ_OK, "");
    if (info.dtype != TJ_FLOAT32 || info.ndim != 2 || info.shape[1] != 2 || info.bytes != 16) printf("another description\n"), wrong = 1;
    EXPECT(tj_tensor_read(t, read, 15, &error), TJ_CALLER, "the tensor has 16");

    tj_argument bad = {.kind = 99}, none = {.kind = TJ_TENSOR, .tensor = 12345}, good = {.kind = TJ_TENSOR, .tensor = t}, json = {.kind = TJ_JSON, .text = "[1, "};
    EXPECT(tj_call(model, "forward", &bad, 1, NULL, &result, &error), TJ_CALLER, "none of tj_kind");
    EXPECT(tj_call(model, "forward", &none, 1, NULL, &result, &error), TJ_CALLER, "12345 is no tensor");
    EXPECT(tj_call(model, "forward", &json, 1, NULL, &result, &error), TJ_CALLER, "found no JSON");
    EXPECT(tj_call(model, "forward", NULL, 1, NULL, &result, &error), TJ_CALLER, "1 arguments");
    EXPECT(tj_call(model, "forward", NULL, 0, NULL, &result, &error), TJ_CALLER, "missing a value");
    EXPECT(tj_call(model, NULL, NULL, 0, NULL, &result, &error), TJ_CALLER, "the method is NULL");
    EXPECT(tj_call(model, "forward", &good, 1, NULL, &result, &error), TJ_PROGRAM, "conv2d");
    EXPECT(tj_result_json(result, 0, &text, &error), TJ_CALLER, "0 is no result");

    EXPECT(tj_compile("spin.py", "def spin():\n    n = 0\n    while True:\n        n += 1\n    return n\n\ndef same(x):\n    return x, 3, 'text'\n", &spin, &error), TJ_OK, "");
    tj_options options = {.timeout_ms = 20};
    EXPECT(tj_call(spin, "spin", NULL, 0, &options, &result, &error), TJ_CALLER, "deadline");
    options = (tj_options){.cancel = tj_cancel_new()};
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_soon, &options.cancel);
    EXPECT(tj_call(spin, "spin", NULL, 0, &options, &result, &error), TJ_CALLER, "cancel");
    pthread_join(thread, NULL);
    EXPECT(tj_call(spin, "same", &good, 1, NULL, &result, &error), TJ_OK, "");
    if (tj_result_count(result) != 3 || tj_result_name(result, 3)) printf("another number of outputs\n"), wrong = 1;
    EXPECT(tj_result_json(result, 2, &text, &error), TJ_OK, "");
    if (strcmp(text, "\"text\"")) printf("%s\n", text), wrong = 1;
    tj_free(text);
    EXPECT(tj_result_tensor(result, 2, &u, &error), TJ_CALLER, "not a");
    EXPECT(tj_result_tensor(result, 3, &u, &error), TJ_CALLER, "no output 3");
    EXPECT(tj_result_tensor(result, 1, &u, &error), TJ_OK, "");
    int64_t three = 0;
    EXPECT(tj_tensor_read(u, &three, 8, &error), TJ_OK, "");
    if (three != 3) printf("the number is %ld\n", (long)three), wrong = 1;

    struct DLManagedTensor *lent = NULL, own = {.tensor = {.data = numbers, .device_type = 1, .ndim = 2, .code = 2, .bits = 32, .lanes = 1, .shape = shape}, .deleter = deleter};
    EXPECT(tj_tensor_to_dlpack(t, &lent, &error), TJ_OK, "");
    tj_release(t);
    if (memcmp(lent->tensor.data, numbers, 16) || lent->tensor.shape[1] != 2 || lent->tensor.strides[0] != 2) printf("another tensor is lent\n"), wrong = 1;
    lent->deleter(lent);
    EXPECT(tj_tensor_from_dlpack(&own, &u, &error), TJ_OK, "");
    numbers[0] = 7;
    EXPECT(tj_tensor_read(u, read, 16, &error), TJ_OK, "");
    if (read[0] != 7) printf("the tensor is a copy\n"), wrong = 1;
    own.tensor.bits = 31;
    EXPECT(tj_tensor_from_dlpack(&own, &u, &error), TJ_CALLER, "with 31 bits");
    own.tensor.bits = 32, own.tensor.device_type = 2;
    EXPECT(tj_tensor_from_dlpack(&own, &u, &error), TJ_CALLER, "device of type 2");
    if (deleted) printf("an error took the memory\n"), wrong = 1;
    tj_release(t), tj_release(0), tj_release(999);
    tj_free(NULL), tj_error_clear(NULL), tj_cancel_now(0);
    if (!tj_version()[0]) printf("no version\n"), wrong = 1;
    puts(wrong ? "not all as expected" : "all as expected");
    return wrong;
}
