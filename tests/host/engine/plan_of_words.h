/* Plans of words, for the tests of the plan. */
#ifndef PLAN_OF_WORDS_H
#define PLAN_OF_WORDS_H

#include <errno.h>

#include "e2e.h"
#include "engine/plan.h"

enum { MOST_SETTINGS = 12 };

/* Space-separated settings, as a list. */
struct settings {
    char text[512];
    const char *at[MOST_SETTINGS + 1];
};

static inline const char *const *split(struct settings *s, const char *words)
{
    size_t n = 0;

    *s = (struct settings){0};
    snprintf(s->text, sizeof(s->text), "%s", words);
    for (char *word = strtok(s->text, " "); word; word = strtok(NULL, " ")) {
        assert_true(n < MOST_SETTINGS);
        s->at[n++] = word;
    }
    return s->at;
}

static inline int make(struct hx_plan **p, const char *words, const char *prefix, unsigned flags, struct hx_error *err)
{
    struct settings s;
    int rc = hx_plan_open(p, prefix, flags, err);

    assert_int_equal(rc, 0);
    rc = hx_plan_set_list(*p, split(&s, words), err);
    return rc ? rc : hx_plan_resolve(*p, err);
}

static inline struct hx_plan *plan_of(const char *words)
{
    struct hx_plan *p = NULL;
    struct hx_error err = {""};

    if (make(&p, words, "", 0, &err))
        fail_msg("%s: %s", words, err.text);
    return p;
}

static inline void check_refused(const char *words, unsigned flags, const char *says)
{
    struct hx_plan *p = NULL;
    struct hx_error err = {""};

    assert_int_equal(make(&p, words, "", flags, &err), -EINVAL);
    if (strcmp(err.text, says) != 0)
        fail_msg("%s: '%s', not '%s'", words, err.text, says);
    hx_plan_close(p);
}

#endif
