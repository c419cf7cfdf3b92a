/* Figures of a report by name, for limits (limits.h).
 *
 * A report is an object of groups, {"batched@16": {"calls_per_token": 72, "model_us_per_token": {"total": 125072}}}: names are
 * batched@16.calls_per_token, batched@16.model_us_per_token.total.  What is no number is left out.  What a name of limits cannot have
 * (blanks, and # < = > * ? [ \) is _ in it. */
#ifndef HX_FIGURES_H
#define HX_FIGURES_H

#include <jansson.h>

/* {"NAME": number, ...} of all groups, in their order.  NULL: out of memory. */
json_t *hx_figures(const json_t *groups);

/* What may stand in place of a name, or pattern, that no figure has: "calls_per_token, ..." of its group, or groups.  *behind: what
 * is right in front of it, "batched@16." or "".  Both malloc'ed; 0 or -ENOMEM. */
int hx_figures_legal(const json_t *figures, const json_t *groups, const char *name, char **behind, char **legal);

#endif
