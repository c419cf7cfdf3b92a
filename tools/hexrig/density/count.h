/* Counting tokens for an answer. */
#ifndef HX_DENSITY_COUNT_H
#define HX_DENSITY_COUNT_H

#include "answer.h"

/* One token at position pos of a session of its own, whatever the position and the way of q are.  0 or negative errno with a reason. */
int hx_density_count(const struct hx_density_question *q, size_t pos, struct hx_density_answer *a, struct hx_error *err);

#endif
