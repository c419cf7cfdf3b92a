/* An answer as an object: what a row of `hexrig density --json` is, whoever asks the question. */
#ifndef HX_DENSITY_ROW_H
#define HX_DENSITY_ROW_H

#include <jansson.h>

#include "answer.h"

/* density: as the row calls it.  NULL: out of memory. */
json_t *hx_density_row(const char *density, size_t pos, const struct hx_density_answer *a);

#endif
