/* Loads a model and runs it from four threads; then shows the error of a wrong shape. cc threads.c -ltorchjit -lpthread && ./a.out model.pt */
#include <pthread.h>
#include <stdio.h>
#include <torchjit.h>

static tj_model model;

static void *run(void *out) {
    float zeros[144] = {0}, scores[10];
    int64_t shape[] = {1, 1, 12, 12};
    tj_argument x = {.name = "x", .kind = TJ_TENSOR};
    tj_options options = {.threads = 1, .timeout_ms = 10000};
    tj_result result = 0;
    tj_tensor y = 0;
    tj_error error = {0};
    if (tj_tensor_new(zeros, shape, 4, TJ_FLOAT32, &x.tensor, &error) || tj_call(model, "forward", &x, 1, &options, &result, &error) ||
        tj_result_tensor(result, 0, &y, &error) || tj_tensor_read(y, scores, sizeof scores, &error))
        fprintf(stderr, "%s\n", error.message);
    else
        *(float *)out = scores[0];
    tj_error_clear(&error);
    tj_release(x.tensor), tj_release(result), tj_release(y);
    return NULL;
}

int main(int argc, char **argv) {
    tj_error error = {0};
    if (tj_load(argc > 1 ? argv[1] : "model.pt", &model, &error)) return fprintf(stderr, "%s\n", error.message), 1;
    pthread_t threads[4];
    float scores[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run, &scores[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL), printf("thread %d: %.4f\n", i, scores[i]);
    tj_argument wrong = {.kind = TJ_JSON, .text = "[[1.0, 2.0, 3.0]]"};
    tj_result none;
    if (tj_call(model, "forward", &wrong, 1, NULL, &none, &error)) printf("%s:%d: %s\n", error.file ? error.file : "", error.line, error.message);
    tj_error_clear(&error);
    tj_release(model);
    return 0;
}
