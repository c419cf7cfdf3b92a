/* The text form: version=1, profile=NAME, clock_mhz=N, and a line of words for each call. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording_impl.h"

#define FIELD(name, most, whole, needed) {#name, offsetof(struct hx_recording_draft, name), most, whole, needed}

static const struct hx_recording_number numbers[] = {
    FIELD(at_us, 1e12, 0, 1),         FIELD(total_us, 1e12, 0, 1),    FIELD(exec_us, 1e12, 0, 1),
    FIELD(queue_us, 1e12, 0, 0),      FIELD(marshal_us, 1e12, 0, 0),  FIELD(copied_bytes, 1e15, 1, 0),
    FIELD(shared_bytes, 1e15, 1, 0),  FIELD(shared_buffers, 255, 1, 0), FIELD(session, 65535, 1, 0),
    FIELD(thread, 4294967295.0, 1, 0), FIELD(service, 1, 1, 0),
};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

/* -1: it is none. */
static double number_of(const char *value)
{
    char *end;
    double n = strtod(value, &end);

    return *end || end == value || strspn(value, "0123456789.eE+-") != strlen(value) ? -1 : n;
}

static int unknown(const struct hx_recording_reader *r, const char *key)
{
    char legal[256] = "method";

    for (size_t i = 0; i < NUMBERS; i++)
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), ", %s", numbers[i].key);
    return hx_recording_refuse(r, "unknown key '%.64s' of a call; legal: %s", key, legal);
}

/* The words of a call that were there. */
struct words {
    const char *method;
    int seen[NUMBERS];
};

static int take_word(const struct hx_recording_reader *r, struct hx_recording_draft *d, struct words *w, char *word)
{
    char *value = strchr(word, '=');
    size_t i = 0;

    if (!value)
        return hx_recording_refuse(r, "'%.64s' is no KEY=VALUE", word);
    *value++ = '\0';
    while (i < NUMBERS && strcmp(numbers[i].key, word) != 0)
        i++;
    if (i == NUMBERS && strcmp(word, "method") != 0)
        return unknown(r, word);
    if (i < NUMBERS ? w->seen[i] : w->method != NULL)
        return hx_recording_refuse(r, "%s for the second time", word);
    if (i < NUMBERS) {
        w->seen[i] = 1;
        return hx_recording_take_number(r, &numbers[i], d, number_of(value), value);
    }
    if (!*value || strlen(value) >= HX_RECORDED_NAME)
        return hx_recording_refuse(r, "method: '%.64s' is no name of 1 to %d characters", value, HX_RECORDED_NAME - 1);
    w->method = value;
    return 0;
}

static int take_call(struct hx_recording_reader *r, char *words)
{
    struct hx_recording_draft d = {.session = 1, .thread = 1};
    struct words w = {0};
    int rc = 0;

    for (char *word; !rc && (word = strsep(&words, " \t"));)
        if (*word)
            rc = take_word(r, &d, &w, word);
    if (rc)
        return rc;
    if (!w.method)
        return hx_recording_refuse(r, "method is missing; legal: a name");
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers[i].needed && !w.seen[i])
            return hx_recording_refuse(r, "%s is missing; legal: 0 to %.0f", numbers[i].key, numbers[i].most);
    return hx_recording_add(r, &d, w.method);
}

static int take_head(struct hx_recording_reader *r, char *line)
{
    char *value = strchr(line, '=');

    if (!value)
        return hx_recording_refuse(r, "'%.64s' is no line of a recording; legal: version=, profile=, clock_mhz=, call", line);
    *value++ = '\0';
    if (strcmp(line, "version") == 0)
        return hx_recording_take_version(r, number_of(value), value);
    if (strcmp(line, "profile") == 0)
        return hx_recording_take_profile(r, value);
    if (strcmp(line, "clock_mhz") == 0)
        return hx_recording_take_clock(r, number_of(value), value);
    return hx_recording_refuse(r, "unknown key '%.64s'; legal: version, profile, clock_mhz, call", line);
}

int hx_recording_text_line(struct hx_recording_reader *r, char *line)
{
    line[strcspn(line, "#\r")] = '\0';
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n && strchr(" \t", line[n - 1]);)
        line[--n] = '\0';
    if (!*line)
        return 0;
    if (strncmp(line, "call", 4) == 0 && strchr(" \t", line[4])) /* also "call" alone, of which all is missing */
        return r->version ? take_call(r, line + 4) : hx_recording_refuse(r, "a call before version=%d", HX_RECORDING_VERSION);
    return take_head(r, line);
}
