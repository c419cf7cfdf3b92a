/* Profiles: what a modelled phone costs.  A text file of `key = value` lines; `#` starts a comment, and every number
 * names its source (a row of SILICON, or "assumed").  The driver reads the dispatch costs, the DSP the machine. */
#ifndef HX_PROFILE_H
#define HX_PROFILE_H

#include <stddef.h>
#include <stdint.h>

struct hx_profile {
    char name[64];             /* file name without .conf */
    double dispatch_us;        /* per call, > 0 */
    double marshal_us_per_kib; /* per KiB copied in or out, >= 0 */
    double share_us_per_buffer; /* cache maintenance per fd-backed argument, >= 0 */
    double clock_mhz;          /* pcycles per us, > 0 */
    unsigned hvx_contexts;     /* 1..16 */
    unsigned sessions;         /* open files per node, 1..14 */
    unsigned poll_mode;        /* 1: the driver knows SET_OPTION, as newer kernels do */
    unsigned capabilities;     /* 0: this firmware does not answer GET_DSP_INFO */
    unsigned dspqueue;         /* 1: this DSP's firmware has it; 0: dspqueue_create() gives 0x80000414 */
};

/* Reads `name` (a file when it contains a slash or ends in .conf, else DIR/name.conf).  Returns 0, -ENOENT, -EINVAL or
 * another negative errno with one line in why[why_bytes], naming file, line, key and legal range. */
int hx_profile_load(struct hx_profile *p, const char *dir, const char *name, char *why,
                    size_t why_bytes);

#endif
