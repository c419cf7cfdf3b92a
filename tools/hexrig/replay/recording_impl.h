/* What the readers of both kinds of recordings share. */
#ifndef HX_RECORDING_IMPL_H
#define HX_RECORDING_IMPL_H

#include "recording.h"

/* A file that is being read. */
struct hx_recording_reader {
    struct hx_recording *r;
    const char *file;
    size_t line; /* from 1 */
    int version; /* 1: was there */
    int has_end; /* of a trace */
    struct hx_error *err;
};

/* A number of a call: where it goes, and which are legal: 0 to `most`. */
struct hx_recording_number {
    const char *key;
    size_t at;   /* of a double in struct hx_recording_draft; HX_RECORDING_UNUSED */
    double most;
    int whole, needed;
};

#define HX_RECORDING_UNUSED SIZE_MAX

/* A call as it stands in its line, before it is looked at as a whole. */
struct hx_recording_draft {
    double at_us, total_us, exec_us, queue_us, marshal_us, copied_bytes, shared_bytes, shared_buffers, session, thread, service;
};

/* -EINVAL after a message that begins with the file and the line. */
int hx_recording_refuse(const struct hx_recording_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "KEY: VALUE is no ...; legal: ..." */
int hx_recording_refuse_number(const struct hx_recording_reader *r, const struct hx_recording_number *n, const char *value);

/* 0, or the refusal; value: as it stands in the file. */
int hx_recording_take_number(const struct hx_recording_reader *r, const struct hx_recording_number *n, struct hx_recording_draft *d,
                             double number, const char *value);

/* What is known of the whole file. */
int hx_recording_take_version(struct hx_recording_reader *r, double version, const char *value);
int hx_recording_take_profile(struct hx_recording_reader *r, const char *value);
int hx_recording_take_clock(struct hx_recording_reader *r, double mhz, const char *value);

/* Adds a call.  0, -EINVAL: its parts take longer than all of it; -ENOMEM. */
int hx_recording_add(struct hx_recording_reader *r, const struct hx_recording_draft *d, const char *method);

/* One line, without its end.  0 or negative errno with a reason. */
int hx_recording_json_line(struct hx_recording_reader *r, const char *line);
int hx_recording_text_line(struct hx_recording_reader *r, char *line);

#endif
