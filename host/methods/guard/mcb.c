/* Scores of a batch of texts, see mcb.h. */
#include "mcb.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRAMS = 4 };

const char *const hx_mcb_names[] = {"spread", "blend", "wording", "rules", "way", NULL};

static const double weights[HX_MCB_SCORES] = {.30, .20, .20, .15, .15};

static double distance(const double *a, const double *b, size_t d)
{
    double both = 0, one = 0, other = 0;

    for (size_t i = 0; i < d; i++) {
        both += a[i] * b[i];
        one += a[i] * a[i];
        other += b[i] * b[i];
    }
    return one > 0 && other > 0 ? fmin(1, fmax(0, 1 - both / sqrt(one * other))) : 0;
}

/* --- states */

static double spread(const struct hx_mcb_text *t, size_t n, size_t d)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            sum += distance(t[i].end, t[j].end, d);
    return sum / ((double)n * (double)(n - 1) / 2);
}

static double blend(const struct hx_mcb_text *t, size_t n, size_t d)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < n; i++)
        sum += fmin(distance(t[i].both, t[i].end, d), distance(t[i].both, t[i + 1].end, d));
    return sum / (double)(n - 1);
}

static double way(const struct hx_mcb_text *t, size_t n, size_t d)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += distance(t[i].middle, t[i].end, d);
    return sum / (double)n;
}

/* --- tokens */

static size_t count(const struct hx_mcb_text *t, const uint32_t *gram, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i + size <= t->n; i++)
        n += memcmp(t->ids + i, gram, size * sizeof(*gram)) == 0;
    return n;
}

/* 1 for the first place of a gram in its text. */
static int is_first(const struct hx_mcb_text *t, size_t at, size_t size)
{
    for (size_t i = 0; i < at; i++)
        if (memcmp(t->ids + i, t->ids + at, size * sizeof(*t->ids)) == 0)
            return 0;
    return 1;
}

/* Clipped precision of text i's grams, all others being its references; one is added to either count, as short texts have few of the
 * longer grams.  Source: Papineni et al. 2002; Lin and Och 2004 (the addition). */
static double precision(const struct hx_mcb_text *t, size_t n, size_t i, size_t size)
{
    double hit = 1, all = 1;

    for (size_t at = 0; at + size <= t[i].n; at++) {
        const uint32_t *gram = t[i].ids + at;
        const size_t own = is_first(&t[i], at, size) ? count(&t[i], gram, size) : 0;
        size_t most = 0;

        for (size_t j = 0; j < n && own; j++) {
            const size_t there = j == i ? 0 : count(&t[j], gram, size);

            most = there > most ? there : most;
        }
        hit += (double)(most < own ? most : own);
        all += (double)own;
    }
    return hit / all;
}

/* References are as long as the nearest of them, so texts of one batch have no penalty for brevity here. */
static double self_bleu(const struct hx_mcb_text *t, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double log_sum = 0;

        for (size_t size = 1; size <= GRAMS; size++)
            log_sum += log(precision(t, n, i, size)) / GRAMS;
        sum += exp(log_sum);
    }
    return sum / (double)n;
}

static int is_new(const struct hx_mcb_text *t, size_t text, size_t at)
{
    for (size_t j = 0; j < text; j++)
        if (count(&t[j], t[text].ids + at, 2))
            return 0;
    return is_first(&t[text], at, 2);
}

static double distinct_2(const struct hx_mcb_text *t, size_t n)
{
    double different = 0, all = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t at = 0; at + 2 <= t[i].n; at++) {
            different += is_new(t, i, at);
            all++;
        }
    return all > 0 ? different / all : 0;
}

/* --- rules */

/* The last two letters of a text; 0 where it has none. */
static int ending(const char *text)
{
    int last = 0, before = 0;

    for (; *text; text++)
        if (isalpha((unsigned char)*text)) {
            before = last;
            last = tolower((unsigned char)*text);
        }
    return before ? before << 8 | last : 0;
}

static int lacks(const char *text, char letter)
{
    for (; *text; text++)
        if (tolower((unsigned char)*text) == letter)
            return 0;
    return 1;
}

static double rules(const struct hx_mcb_text *t, size_t n, char letter)
{
    double met = 0, mean = 0;

    for (size_t i = 0; i < n; i++)
        mean += (double)strlen(t[i].text) / (double)n;
    for (size_t i = 0; i < n; i++) {
        met += lacks(t[i].text, letter);
        met += fabs((double)strlen(t[i].text) - mean) <= mean / 4;
        met += i && ending(t[i].text) && ending(t[i].text) == ending(t[i - 1].text);
    }
    return met / (double)(3 * n - 1); /* the first has nobody to rhyme with */
}

static char tier_of(double index)
{
    static const struct {
        double from;
        char tier;
    } tiers[] = {{80, 'S'}, {65, 'A'}, {50, 'B'}, {35, 'C'}};

    for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++)
        if (index >= tiers[i].from)
            return tiers[i].tier;
    return 'D';
}

int hx_mcb_score(const struct hx_mcb_text *t, size_t n, size_t d, char letter, struct hx_mcb *out, struct hx_error *err)
{
    *out = (struct hx_mcb){.tier = 'D'};
    if (n < 2)
        return hx_error_set(err, -EINVAL, "mcb: %zu texts; 2 are needed", n);
    for (size_t i = 0; i < n; i++)
        if (t[i].n < 2)
            return hx_error_set(err, -EINVAL, "mcb: text %zu has %zu tokens; 2 are needed", i, t[i].n);
    out->score[0] = 100 * spread(t, n, d);
    out->score[1] = 100 * blend(t, n, d);
    out->score[2] = 100 * (1 - self_bleu(t, n) + distinct_2(t, n)) / 2;
    out->score[3] = rules(t, n, letter) * out->score[0];
    out->score[4] = 100 * way(t, n, d);
    for (size_t i = 0; i < HX_MCB_SCORES; i++)
        out->index += weights[i] * out->score[i];
    out->tier = tier_of(out->index);
    return 0;
}
