/* What the driver counted over one phase of a run, and how that is printed: one struct, so that text and JSON agree.
 * Times are modelled by the cost filter, never measured here. */
#ifndef HX_CLI_REPORT_H
#define HX_CLI_REPORT_H

#include <jansson.h>
#include <stddef.h>

#include "base/json_text.h"
#include "hx_session_stats.h"

struct hx_phase_report {
    size_t tokens;        /* that the phase ran */
    struct hx_session_stats sum; /* over the phase */
    double host_s;        /* measured wall seconds of the phase */
};

/* What the driver has counted for this process by now, whoever made the calls; all zero when nothing is connected to a rig.
 * 0, or negative errno. */
int hx_report_now(struct hx_session_stats *now);

/* after - before */
struct hx_session_stats hx_report_diff(const struct hx_session_stats *after,
                                       const struct hx_session_stats *before);

/* Wall clock, seconds. */
double hx_report_clock(void);

/* Most memory that this process had resident so far, bytes. */
size_t hx_report_peak_rss(void);

/* {"dispatch", "marshal", "queue", "exec", "total", "wall"} of the modelled time divided by `by`, in microseconds: what threads spent, its
 * sum, and what went by on the client's virtual clock, with --host-us. */
json_t *hx_report_model_us(const struct hx_session_stats *s, double by);

/* {"ddr", "dma", "l2", "vtcm"}: bytes that DSP code moved there (hx_traffic.h), divided by `by`. */
json_t *hx_report_places(const struct hx_session_stats *s, double by);

/* The same by purpose, of those that have any: {"weights": {"vtcm": ...}}. */
json_t *hx_report_purposes(const struct hx_session_stats *s, double by);

/* {"hit", "miss"}: bytes of weights and tables that calls found in VTCM, or had to fetch, divided by `by`. */
json_t *hx_report_resident(const struct hx_session_stats *s, double by);

/* Adds the three as dsp_bytes_per_token, dsp_bytes_per_token_by_purpose and dsp_resident_bytes_per_token.  0, or -1. */
int hx_report_add_traffic(json_t *to, const struct hx_session_stats *s, double tokens);

/* Called first of all in a program: from then on hx_json_lost() says whether a JSON value of this process is NULL or lacks something
 * for want of memory. */
void hx_json_watch(void);
int hx_json_lost(void);

/* Prints a JSON object as key=value lines, nested keys joined by dots; arrays as numbers with commas. */
void hx_json_print(const json_t *object);

/* What of this process's calls the cost model could not cost exactly, by function or library: an array of {"name", "reason",
 * "pcycles", "hvx_ops"}; NULL when nothing is connected to a rig. */
json_t *hx_report_uncosted(void);

/* Prints the report as one line of JSON, with `uncosted` when there is a rig, or as key=value lines, and releases it.
 * Returns an enum hx_exit; NULL, or hx_json_lost(), is "out of memory", said in the name of `cmd`. */
int hx_report_print(const char *cmd, json_t *report, int json);

/* The same as key=value lines on stderr, for a command whose stdout has its results alone. */
int hx_report_print_aside(const char *cmd, json_t *report);

#endif
