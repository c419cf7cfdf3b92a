/* How well the published rows determine the parameters of a profile, and what that means for any other figure. */
#ifndef HX_TIMING_FIT_H
#define HX_TIMING_FIT_H

#include <jansson.h>

#include "estimate.h"
#include "timing_params.h"

/* Numbers that an answer may have. */
enum { HX_TIMING_ANSWER_MAX = 256 };

/* Answers a question on the rig that this process is connected to; NULL: it has said on stderr why not. */
typedef json_t *hx_timing_answer(const void *arg);

struct hx_timing_fit_how {
    const char *cmd, *profile, *front_end;
    hx_timing_answer *answer; /* NULL: rows only */
    const void *arg;
};

struct hx_timing_fit {
    struct hx_timing_params params;
    struct hx_estimate_param *param; /* [params.n_varying] */
    double *predicted, *residual;    /* [hx_timing_n_rows] */
    double *slopes;                  /* [hx_timing_n_rows][params.n_varying] */
    struct hx_estimate estimate;
    json_t *answer;                  /* under the profile as it is */
    const double *answer_slopes;     /* [numbers in the answer][params.n_varying] */
};

/* Runs rows and question under the profile and its variants; this process must not be connected to a rig.  Returns an
 * enum hx_exit; *f is the caller's, for hx_timing_fit_free(), also after an error. */
int hx_timing_fit(struct hx_timing_fit *f, const struct hx_timing_fit_how *how);
void hx_timing_fit_free(struct hx_timing_fit *f);

/* The numbers that are modelled, which are the reals of an answer, in its order, those of nested objects where they stand.
 * Calls see() for each with its path, as "model_us.exec". */
typedef void hx_timing_see(void *to, const char *path, double value);
void hx_timing_numbers(json_t *answer, hx_timing_see *see, void *to);

/* Standard deviation of the logarithm of a figure from its slopes: what the parameters leave open, and with the scatter of the
 * rows, which stands for what no parameter mends. */
double hx_timing_sd_of_parameters(const struct hx_timing_fit *f, const double *slopes);
double hx_timing_sd(const struct hx_timing_fit *f, const double *slopes);

#endif
