/* Texts by topic, see topics.h. */
#include "topics.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "generate/ppl.h"
#include "text/text.h"

static int no_memory(struct hx_error *err)
{
    return hx_error_set(err, -ENOMEM, "topics: out of memory");
}

size_t hx_topics_find(const struct hx_topics *t, const char *name)
{
    size_t i = 0;

    while (i < t->n_topics && strcmp(t->name[i], name) != 0)
        i++;
    return i;
}

int hx_topics_json_set(json_t *to, const char *name, json_t *of)
{
    char *key = hx_json_utf8(name, strlen(name));

    for (int i = 2; key && json_object_get(to, key); i++) {
        char *other = NULL;

        if (asprintf(&other, "%s %d", key, i) < 0)
            other = NULL;
        free(key);
        key = other;
    }
    if (!key) {
        json_decref(of);
        return -1;
    }
    const int rc = json_object_set_new(to, key, of);

    free(key);
    return rc;
}

/* *topic: that of the name, a new one if need be.  where: of the name, for the message. */
static int take_topic(struct hx_topics *t, const char *where, const char *name, size_t *topic, struct hx_error *err)
{
    const size_t i = hx_topics_find(t, name), bytes = strlen(name);
    char **more, *copy;

    *topic = i;
    if (i < t->n_topics)
        return 0;
    if (!bytes)
        return hx_error_set(err, -EINVAL, "%s: a topic without a name", where);
    if (bytes > HX_TOPIC_NAME)
        return hx_error_set(err, -EINVAL, "%s: topic '%.40s...': a name of %zu bytes; %d are the most", where, name, bytes, HX_TOPIC_NAME);
    more = realloc(t->name, (i + 1) * sizeof(*more));
    if (!more)
        return no_memory(err);
    t->name = more;
    copy = strdup(name);
    if (!copy)
        return no_memory(err);
    t->name[t->n_topics++] = copy;
    return 0;
}

/* Takes over the ids. */
static int add(struct hx_topics *t, uint32_t *ids, size_t n, size_t topic, struct hx_error *err)
{
    struct hx_topic_text *more = realloc(t->at, (t->n + 1) * sizeof(*more));

    if (!more) {
        free(ids);
        return no_memory(err);
    }
    t->at = more;
    t->at[t->n++] = (struct hx_topic_text){ids, n, topic};
    t->longest = n > t->longest ? n : t->longest;
    return 0;
}

/* --- prompts */

static char *trim(char *line)
{
    char *end;

    while (isspace((unsigned char)*line))
        line++;
    end = line + strlen(line);
    while (end > line && isspace((unsigned char)end[-1]))
        *--end = 0;
    return line;
}

static int add_prompt(struct hx_topics *t, const struct hx_tokenizer *tok, const char *text, size_t topic, size_t most,
                      struct hx_error *err)
{
    uint32_t *ids = NULL;
    size_t n;

    if (hx_tokenizer_encode_with(tok, text, strlen(text), HX_ENCODE_BOS, &ids, &n))
        return no_memory(err);
    if (n)
        return add(t, ids, n < most ? n : most, topic, err);
    free(ids);
    return 0;
}

static int take_line(struct hx_topics *t, const struct hx_tokenizer *tok, const char *path, char *line, size_t *topic, size_t most,
                     struct hx_error *err)
{
    line = trim(line);
    if (!*line)
        return 0;
    if (*line == '#')
        return take_topic(t, path, trim(line + 1), topic, err);
    if (*topic == SIZE_MAX)
        return hx_error_set(err, -EINVAL, "%s: '%.40s' stands in front of the first `# TOPIC`", path, line);
    return add_prompt(t, tok, line, *topic, most, err);
}

int hx_topics_read(struct hx_topics *t, const struct hx_tokenizer *tok, const char *path, size_t most, struct hx_error *err)
{
    char *text, *line, *rest;
    size_t bytes, topic = SIZE_MAX;
    int rc = hx_text_read(path, &text, &bytes, err);

    if (rc)
        return rc;
    if (strlen(text) != bytes)
        rc = hx_error_set(err, -EINVAL, "%s: a byte 0: prompts are text", path);
    rest = text;
    while (!rc && (line = strsep(&rest, "\n")))
        rc = take_line(t, tok, path, line, &topic, most, err);
    if (!rc && !t->n)
        rc = hx_error_set(err, -EINVAL, "%s: there is no prompt in it", path);
    free(text);
    return rc;
}

/* --- windows */

static int add_windows(struct hx_topics *t, const struct hx_tokenizer *tok, const uint32_t *ids, size_t n, size_t topic, size_t windows,
                       size_t ctx, struct hx_error *err)
{
    const size_t bos = hx_tokenizer_adds_bos(tok) ? 1 : 0;
    int rc = 0;

    for (size_t i = 0; i < windows && !rc; i++) {
        uint32_t *window = malloc(ctx * sizeof(*window));

        if (!window)
            return no_memory(err);
        memcpy(window, ids + hx_ppl_window(n, ctx, windows, i), ctx * sizeof(*window));
        if (bos)
            window[0] = hx_tokenizer_bos(tok);
        rc = add(t, window, ctx, topic, err);
    }
    return rc;
}

int hx_topics_windows(struct hx_topics *t, const struct hx_tokenizer *tok, const char *what, size_t windows, size_t ctx,
                      struct hx_error *err)
{
    const char *sign = strchr(what, '='), *path = sign ? sign + 1 : what;
    char *name = strndup(what, sign ? (size_t)(sign - what) : strlen(what));
    uint32_t *ids = NULL;
    size_t n = 0, topic;
    int rc = name ? take_topic(t, path, name, &topic, err) : no_memory(err);

    if (!rc)
        rc = hx_text_encode(tok, path, &ids, &n, err);
    if (!rc && n < ctx + windows)
        rc = hx_error_set(err, -EINVAL, "%s: %zu tokens; %zu windows of %zu need %zu", path, n, windows, ctx, ctx + windows);
    if (!rc)
        rc = add_windows(t, tok, ids, n, topic, windows, ctx, err);
    free(ids);
    free(name);
    return rc;
}

void hx_topics_free(struct hx_topics *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->at[i].ids);
    for (size_t i = 0; i < t->n_topics; i++)
        free(t->name[i]);
    free(t->at);
    free(t->name);
    *t = (struct hx_topics){0};
}
