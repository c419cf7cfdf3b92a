/* Which tokens follow which in a text, and how often. */
#ifndef HX_OTT_PAIRS_H
#define HX_OTT_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct hx_ott_pair {
    uint32_t token, next;
    uint32_t count;
};

struct hx_ott_pairs {
    struct hx_ott_pair *at; /* [n], by rising token, then by rising next */
    size_t n;
};

/* Of ids [n].  0 or -ENOMEM. */
int hx_ott_pairs_count(struct hx_ott_pairs *p, const uint32_t *ids, size_t n);

/* Accepts zeros. */
void hx_ott_pairs_free(struct hx_ott_pairs *p);

/* Those of a token: the first one, and *n how many. */
const struct hx_ott_pair *hx_ott_pairs_of(const struct hx_ott_pairs *p, uint32_t token, size_t *n);

#endif
