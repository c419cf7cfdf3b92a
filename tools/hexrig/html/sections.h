/* What is shown of the answers of hexrig's commands: their own figures, rounded as the commands print them. */
#ifndef HX_SECTIONS_H
#define HX_SECTIONS_H

#include <jansson.h>
#include <stdio.h>

/* Each writes the inside of a section; 0, or -ENOMEM. */
int hx_section_density(FILE *f, const json_t *answer);                    /* of hexrig density --json */
int hx_section_roofline(FILE *f, const json_t *answer, const char *svg);  /* of hexrig roofline --json --svg, and the picture */
int hx_section_trace(FILE *f, const json_t *trace);                       /* what hexrig trace has written */
int hx_section_timing(FILE *f, const json_t *answer);                     /* of hexrig report timing --json */

/* Which work the cost model could not cost exactly, of answers that say so. */
void hx_section_uncosted(FILE *f, const json_t *answer);

#endif
