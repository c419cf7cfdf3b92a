/* Captures of a run of five tokens, for the tests of captures. */
#ifndef CAPTURE_OF_RUN_H
#define CAPTURE_OF_RUN_H

#include "golden.h"
#include "methods/capture/capture.h"
#include "open_engine.h"

enum { N = 5, LAYERS = 6, WIDTH = 256, VOCAB = 2048 };

static const uint32_t ids[N] = {505, 1560, 351, 12, 7};

static inline struct hx_engine *open_capture(const char *path, const char *points, const char *layers)
{
    return hxt_engine_open(&(struct hx_engine_cfg){
        .model = MODEL_Q8_0, .n_ctx = 16, .max_batch = 4, .threads = 1,
        .settings = HXT_SETTINGS("kv=f32", hxt_setting("capture", path), hxt_setting("capture-points", points),
                                 hxt_setting("capture-layers", layers))});
}

static inline struct hx_capture_reader *open_reader(const char *path)
{
    struct hx_capture_reader *r = NULL;
    struct hx_error err;

    if (hx_capture_read(&r, path, &err))
        fail_msg("%s", err.text);
    return r;
}

#endif
