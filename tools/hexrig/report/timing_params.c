/* Reads where a profile's values come from out of its comments: `fitted 1..8: K05, K10`. */
#include "timing_params.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/share.h"

/* By what a fitted parameter is moved: little, as the steps of a fit are. */
#define STEP 1.05

static const char *const origins[] = {
    [HX_TIMING_UNTOLD] = "",
    [HX_TIMING_PUBLISHED] = "published",
    [HX_TIMING_FITTED] = "fitted",
    [HX_TIMING_ASSUMED] = "assumed",
};

const char *hx_timing_origin(enum hx_timing_origin origin)
{
    return origins[origin];
}

/* The word that a note begins with; *rest: what follows it. */
static enum hx_timing_origin origin_of(const char *note, const char **rest)
{
    for (int o = HX_TIMING_PUBLISHED; o <= HX_TIMING_ASSUMED; o++) {
        const size_t n = strlen(origins[o]);

        *rest = note + n;
        if (strncmp(note, origins[o], n) == 0 && strchr(" :,", note[n]))
            return (enum hx_timing_origin)o;
    }
    return HX_TIMING_UNTOLD;
}

/* "LOW..HIGH"; 0 when there is none. */
static int range_of(const char *text, double *low, double *high)
{
    char number[32], *end;

    text += strspn(text, " ");
    /* strtod() would take the first of the two dots */
    snprintf(number, sizeof(number), "%.*s", (int)(strstr(text, "..") ? strstr(text, "..") - text : 0), text);
    *low = strtod(number, &end);
    if (end == number || *end)
        return 0;
    text = strstr(text, "..") + 2;
    *high = strtod(text, &end);
    return end != text;
}

static int describe(struct hx_timing_param *p, char *why, size_t why_bytes)
{
    const char *rest;
    int has_range;

    p->origin = origin_of(p->note, &rest);
    has_range = p->origin != HX_TIMING_UNTOLD && range_of(rest, &p->low, &p->high);
    if (has_range && !(p->low > 0 && p->low <= p->value && p->value <= p->high && p->low < p->high)) {
        snprintf(why, why_bytes, "profile: %s = %g: range %g..%g does not begin above 0 or does not contain it", p->name,
                 p->value, p->low, p->high);
        return -EINVAL;
    }
    p->varies = p->value > 0 && (has_range || p->origin == HX_TIMING_FITTED);
    if (!has_range) {
        p->low = p->varies ? p->value / 3 : 0;
        p->high = p->varies ? p->value * 3 : 0;
    }
    return 0;
}

static int add(struct hx_timing_params *p, size_t key, const char *note, char *why, size_t why_bytes)
{
    struct hx_timing_param new = {.key = key, .name = hx_profile_key(key), .value = hx_profile_get(&p->profile, key)};
    int rc;

    snprintf(new.note, sizeof(new.note), "%s", note);
    rc = describe(&new, why, why_bytes);
    if (rc)
        return rc;
    if (new.varies) {
        memmove(&p->of[p->n_varying + 1], &p->of[p->n_varying], (p->n - p->n_varying) * sizeof(new));
        p->of[p->n_varying++] = new;
    } else {
        p->of[p->n] = new;
    }
    p->n++;
    return 0;
}

int hx_timing_params_read(struct hx_timing_params *p, const char *profile, char *why, size_t why_bytes)
{
    const size_t n = hx_profile_n_keys();
    char (*notes)[HX_PROFILE_NOTE] = calloc(n, sizeof(*notes));
    char *folder = hx_share("profiles");
    int rc = -ENOMEM;

    snprintf(why, why_bytes, "out of memory");
    memset(p, 0, sizeof(*p));
    p->of = calloc(n, sizeof(*p->of));
    if (p->of && notes && folder)
        rc = hx_profile_load_notes(&p->profile, notes, folder, profile, why, why_bytes);
    for (size_t k = 0; !rc && k < n; k++)
        rc = add(p, k, notes[k], why, why_bytes);
    free(folder);
    free(notes);
    return rc;
}

void hx_timing_params_free(struct hx_timing_params *p)
{
    free(p->of);
    p->of = NULL;
}

size_t hx_timing_note_rows(const char *note, char (*ids)[4], size_t max)
{
    size_t n = 0;

    for (const char *at = note; n < max && *at; at++)
        if (isupper((unsigned char)at[0]) && isdigit((unsigned char)at[1]) && isdigit((unsigned char)at[2]) &&
            (at == note || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[3]))
            snprintf(ids[n++], sizeof(*ids), "%.3s", at);
    return n;
}

size_t hx_timing_n_fitted(const struct hx_timing_params *p)
{
    size_t n = 0;

    for (size_t k = 0; k < p->n_varying; k++)
        n += p->of[k].origin == HX_TIMING_FITTED;
    return n;
}

double hx_timing_moved(const struct hx_timing_params *p, size_t k, struct hx_profile *out)
{
    const struct hx_timing_param *param = &p->of[k];
    double value = param->high / param->value >= param->value / param->low ? param->high : param->low;

    if (param->origin == HX_TIMING_FITTED) {
        value = param->value * STEP;
        if (hx_profile_is_count(param->key))
            value = fmax(round(value), param->value + 1);
    }
    *out = p->profile;
    hx_profile_set(out, param->key, value);
    return hx_profile_get(out, param->key);
}
