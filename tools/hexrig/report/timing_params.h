/* The parameters of the cost model: keys of a profile, and where their values come from, as the profile's comments say
 * (docs/profiles.md). */
#ifndef HX_TIMING_PARAMS_H
#define HX_TIMING_PARAMS_H

#include "hx_profile.h"

enum hx_timing_origin { HX_TIMING_UNTOLD, HX_TIMING_PUBLISHED, HX_TIMING_FITTED, HX_TIMING_ASSUMED };

struct hx_timing_param {
    size_t key; /* of hx_profile_key() */
    const char *name;
    double value;
    enum hx_timing_origin origin;
    int varies;       /* fitted, or with a range; and not 0: it has a part in what is uncertain */
    double low, high; /* what would be physical, or 9 in 10 would bet on; 0: it does not vary */
    char note[HX_PROFILE_NOTE];
};

struct hx_timing_params {
    struct hx_profile profile;
    size_t n, n_varying;
    struct hx_timing_param *of; /* [n], those that vary first, else in the order of the keys */
};

/* Reads a profile by its name or path.  0, or negative errno with one line in why[why_bytes]; *p is the caller's, for
 * hx_timing_params_free(), which also takes one that is all zeros. */
int hx_timing_params_read(struct hx_timing_params *p, const char *profile, char *why, size_t why_bytes);
void hx_timing_params_free(struct hx_timing_params *p);

/* The rows that a note names, as in `fitted 1..8: K05, K10`: their ids, at most `max`; returns how many. */
size_t hx_timing_note_rows(const char *note, char (*ids)[4], size_t max);

/* Of the parameters, those that were fitted to rows. */
size_t hx_timing_n_fitted(const struct hx_timing_params *p);

/* "", "published", "fitted", "assumed" */
const char *hx_timing_origin(enum hx_timing_origin origin);

/* The profile with varying parameter k moved: one that was fitted by 5 % (a count by 1 at least), others to the end of
 * their range that is further off.  Returns the moved value, which is another one. */
double hx_timing_moved(const struct hx_timing_params *p, size_t k, struct hx_profile *out);

#endif
