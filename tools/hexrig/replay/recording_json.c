/* What `hexrig trace` writes: an event to a line.  A call is a slice with a handle, and its parts are the slices behind it on its track. */
#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastrpc_uapi.h"
#include "recording_impl.h"

#define FIELD(key, member, most, whole) {key, offsetof(struct hx_recording_draft, member), most, whole, 1}
#define UNUSED(key) {key, HX_RECORDING_UNUSED, 1e19, 1, 0}

static const struct hx_recording_number of_slice[] = {
    FIELD("ts", at_us, 1e15, 0), FIELD("dur", total_us, 1e15, 0), FIELD("pid", session, 65535, 1), FIELD("tid", thread, 1e9, 1)};
static const struct hx_recording_number of_call[] = {
    FIELD("copied_bytes", copied_bytes, 1e15, 1), FIELD("shared_bytes", shared_bytes, 1e15, 1),
    FIELD("shared_buffers", shared_buffers, 255, 1), UNUSED("method"), UNUSED("hvx_ops"), UNUSED("ddr_bytes"), UNUSED("dma_bytes"),
    UNUSED("l2_bytes"), UNUSED("vtcm_bytes"), UNUSED("hit_bytes"), UNUSED("miss_bytes")};
enum { OF_SLICE = sizeof(of_slice) / sizeof(of_slice[0]), OF_CALL = sizeof(of_call) / sizeof(of_call[0]) };

/* The value as it would stand in the file. */
static int take(const struct hx_recording_reader *r, const struct hx_recording_number *n, struct hx_recording_draft *d, const json_t *of)
{
    const json_t *v = json_object_get(of, n->key);
    char *text;
    int rc;

    if (!v)
        return n->needed ? hx_recording_refuse(r, "%s is missing; legal: 0 to %.0f", n->key, n->most) : 0;
    text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
    if (!text)
        return hx_error_set(r->err, -ENOMEM, "out of memory");
    rc = json_is_number(v) ? hx_recording_take_number(r, n, d, json_number_value(v), text) : hx_recording_refuse_number(r, n, text);
    free(text);
    return rc;
}

/* Only keys that are legal: those of the numbers, and `others` (words). */
static int check_keys(const struct hx_recording_reader *r, json_t *of, const char *what, const struct hx_recording_number *numbers,
                      size_t n, const char *const *others)
{
    char legal[256] = "";
    const char *key;
    json_t *value;

    json_object_foreach(of, key, value) {
        size_t i = 0, k = 0;

        while (i < n && strcmp(numbers[i].key, key) != 0)
            i++;
        while (others[k] && strcmp(others[k], key) != 0)
            k++;
        if (i < n || others[k])
            continue;
        for (k = 0; others[k]; k++)
            snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s, ", others[k]);
        for (i = 0; i < n; i++)
            snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", numbers[i].key, i + 1 < n ? ", " : "");
        return hx_recording_refuse(r, "unknown key '%.64s' of %s; legal: %s", key, what, legal);
    }
    return 0;
}

/* A word that is needed.  NULL after a refusal. */
static const char *word(const struct hx_recording_reader *r, const json_t *of, const char *key, int *rc)
{
    const char *value = json_string_value(json_object_get(of, key));

    if (!value)
        *rc = hx_recording_refuse(r, "%s is missing, or no string", key);
    return value;
}

static int take_call(struct hx_recording_reader *r, struct hx_recording_draft *d, const char *name, json_t *args)
{
    static const char *const others[] = {"handle", "result", NULL};
    int rc = check_keys(r, args, "a call's args", of_call, OF_CALL, others);
    const char *handle = word(r, args, "handle", &rc);

    for (size_t i = 0; !rc && i < OF_CALL; i++)
        rc = take(r, &of_call[i], d, args);
    if (rc)
        return rc;
    d->service = strtoul(handle, NULL, 0) <= FASTRPC_HANDLE_MAX_STATIC;
    return hx_recording_add(r, d, name);
}

/* A part of the last call of its track: until it is known, its time is dispatch. */
static int take_part(struct hx_recording_reader *r, const struct hx_recording_draft *d, const char *name)
{
    struct hx_recorded_call *c = r->r->n ? &r->r->at[r->r->n - 1] : NULL;
    const uint64_t ns = (uint64_t)(d->total_us * 1e3 + 0.5);
    uint64_t *to;

    if (!c || c->session != (unsigned)d->session || c->thread != (unsigned)d->thread)
        return 0; /* of a DSP thread */
    to = strcmp(name, "exec") == 0 ? &c->exec_ns : strcmp(name, "marshal") == 0 ? &c->marshal_ns
       : strcmp(name, "queue") == 0 || strcmp(name, "lock") == 0 ? &c->queue_ns : NULL;
    if (!to)
        return 0;
    if (ns > c->dispatch_ns)
        return hx_recording_refuse(r, "%s: %.3f us are more than is left of its call, line %zu: %.3f us", name, d->total_us, c->line,
                                   (double)c->dispatch_ns / 1e3);
    *to += ns;
    c->dispatch_ns -= ns;
    return 0;
}

static int take_slice(struct hx_recording_reader *r, json_t *e)
{
    static const char *const others[] = {"ph", "cat", "name", "args", NULL};
    struct hx_recording_draft d = {0};
    json_t *args = json_object_get(e, "args");
    int rc = check_keys(r, e, "a slice", of_slice, OF_SLICE, others);
    const char *name = rc ? NULL : word(r, e, "name", &rc);

    for (size_t i = 0; !rc && i < OF_SLICE; i++)
        rc = take(r, &of_slice[i], &d, e);
    if (!rc && args && !json_is_object(args))
        rc = hx_recording_refuse(r, "args is no object");
    if (rc)
        return rc;
    if (json_object_get(args, "handle"))
        return take_call(r, &d, name, args);
    return args ? 0 : take_part(r, &d, name);
}

static int take_event(struct hx_recording_reader *r, json_t *e)
{
    int rc = 0;
    const char *ph = word(r, e, "ph", &rc);

    if (rc)
        return rc;
    if (strcmp(ph, "X") == 0)
        return take_slice(r, e);
    return strcmp(ph, "M") == 0 ? 0 : hx_recording_refuse(r, "ph: '%.64s'; legal: X, M", ph);
}

static int take_other_data(struct hx_recording_reader *r, const json_t *whole)
{
    const json_t *o = json_object_get(whole, "otherData"), *version = json_object_get(o, "version"), *mhz = json_object_get(o, "clock_mhz");
    const char *profile = json_string_value(json_object_get(o, "profile"));
    char *text = json_dumps(version, JSON_ENCODE_ANY);
    int rc = 0;

    if (version)
        rc = hx_recording_take_version(r, json_is_integer(version) ? json_number_value(version) : -1, text ? text : "?");
    free(text);
    if (!rc && profile)
        rc = hx_recording_take_profile(r, profile);
    return rc || !mhz ? rc : hx_recording_take_clock(r, json_number_value(mhz), "of otherData");
}

/* Decodes `bytes` of text; NULL after a refusal. */
static json_t *decode(const struct hx_recording_reader *r, const char *text, size_t bytes, int *rc)
{
    json_error_t error;
    json_t *j = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);

    if (j && json_is_object(j))
        return j;
    *rc = hx_recording_refuse(r, "%s; legal: an event to a line, as hexrig trace writes it", j ? "no object" : error.text);
    json_decref(j);
    return NULL;
}

int hx_recording_json_line(struct hx_recording_reader *r, const char *line)
{
    static const char end[] = "], \"otherData\": ";
    size_t n = strlen(line);
    char *whole;
    json_t *j;
    int rc = 0;

    if (r->line == 1)
        return strstr(line, "\"traceEvents\": [") && line[n - 1] == '['
                   ? 0 : hx_recording_refuse(r, "no trace as hexrig trace writes it: \"traceEvents\": [ at the end of the line");
    if (r->has_end)
        return n ? hx_recording_refuse(r, "text behind the trace's end") : 0;
    if (strncmp(line, end, sizeof(end) - 1) != 0) {
        j = decode(r, line, n && line[n - 1] == ',' ? n - 1 : n, &rc);
        rc = j ? take_event(r, j) : rc;
        json_decref(j);
        return rc;
    }
    r->has_end = 1;
    if (asprintf(&whole, "{%s", line + 3) < 0)
        return hx_error_set(r->err, -ENOMEM, "out of memory");
    j = decode(r, whole, strlen(whole), &rc);
    rc = j ? take_other_data(r, j) : rc;
    json_decref(j);
    free(whole);
    return rc;
}
