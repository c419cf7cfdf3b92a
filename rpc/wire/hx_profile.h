/* Profiles: what a modelled phone costs.  A text file of `key = value` lines; `#` starts a comment, and every number
 * names its source, a published measurement or "assumed" (docs/profiles.md).  `include = NAME.inc` reads a file beside it
 * (or in DIR) first.  The driver reads the dispatch costs, the DSP the machine. */
#ifndef HX_PROFILE_H
#define HX_PROFILE_H

#include <stddef.h>
#include <stdint.h>

/* Parameters of the cost model, dsp/cost/cost.h; times in pcycles. */
struct hx_cost {
    double packet_pcycles; /* from one packet of a thread to the next, > 0 */
    double load_pcycles;   /* latency of a scalar load that hits L1 */
    double mpy_pcycles;    /* latency of scalar multiplies; float takes a packet more */
    double hvx_pcycles;    /* context cycle: from one vector packet of a context to the next, and latency of its results */
    double vtcm_pcycles;   /* latency of a vector load from VTCM */
    double l2_pcycles;     /* latency of a scalar load that hits L2 */
    double ddr_pcycles;    /* latency of a load that goes to DDR, in a page that was used before */
    double dma_setup_pcycles;    /* from dmstart to the first byte */
    double dma_bytes_per_pcycle; /* DMA between DDR and VTCM, > 0 */
    double vtcm_request_pcycles; /* per request to the VTCM manager */
    double vtcm_release_pcycles; /* per release of what it granted */
    double handoff_pcycles;      /* from the waking to the woken thread */
    unsigned l1_kib, l2_kib;     /* data caches; rounded down to powers of two */
    double spill_pcycles;        /* from a vector store to the stack until it can be read again */
    double l2_vector_pcycles;    /* latency of a vector load that hits L2, which HVX reads without L1 */
    double vtcm_scalar_pcycles;  /* latency of a scalar load from VTCM */
    double ddr_line_pcycles;     /* from one line that loads and stores of all threads move between DDR and L2 to the next */
    double ddr_thread_pcycles;   /* the same of one thread, in the long run */
    double ddr_page_pcycles;     /* more latency when the 4-KiB page is not among the last ddr_pages ones */
    unsigned ddr_pages;
    double ddr_cold;             /* factor on all of these while DDR is cold, >= 1 */
    double ddr_cold_us;          /* DSP time for which it is cold in a new PD */
    double hmx_tile_pcycles;     /* HMX: the product of two tiles of 32 x 32 half floats */
};

struct hx_profile {
    char name[64];             /* file name without .conf */
    double dispatch_us;        /* per call when both sides are awake, > 0; the next nine: hx_overhead.h */
    double dispatch_contains_us; /* execution that dispatch_us contains: only what is beyond it takes longer; < dispatch_us */
    double serial_us;          /* of dispatch_us: calls of all clients one after the other, >= 0 */
    double handover_us;        /* a call that found another one there sleeps, and has to be woken, >= 0 */
    double packet_us;          /* per dspqueue packet, its answer included, > 0 */
    double marshal_us_per_kib; /* per KiB copied in or out, >= 0 */
    double share_us_per_buffer; /* cache maintenance per fd-backed argument, >= 0 */
    double clock_mhz;          /* pcycles per us at the top level, > 0 */
    double clock_low_mhz;      /* at the lowest, <= clock_mhz */
    unsigned clock_levels;     /* evenly spaced, 1..64 */
    double linger_us;          /* an idle DSP stays awake for at most this */
    double power_idle_w;       /* always */
    double power_active_w;     /* more while a call executes at the top level, fuse/power/thermal.h */
    double ddr_pj_per_byte;    /* energy of a byte that crosses DDR's bus, and so on: no part in any time */
    double l2_pj_per_byte;
    double vtcm_pj_per_byte;
    double hvx_pj_per_op;
    double storage_hit_us;     /* of hexrig run --storage profile, which is the host's: handing over what is in memory */
    double storage_miss_us;    /* from asking for a page to having it */
    double storage_mb_s;       /* 10^6 bytes per second of all that is read, > 0 */
    double cpu_mid_capacity;   /* of the phone's middle cores, 1024: its big one; hexrig run --model-cpus mid */
    double cpu_little_capacity;
    double rth_k_per_w;        /* kelvins above ambient per watt, in the steady state */
    double tau_s;              /* time constant of the warming, > 0 */
    double ambient_c;
    double throttle_c;         /* hotter: a level is taken away, */
    double recover_c;          /* cooler: given back, <= throttle_c; */
    double throttle_ms;        /* one per this much virtual time, > 0 */
    struct hx_cost cost;
    double linger_ratio;       /* and for at most so many times as long as it worked */
    double dsp_wake_us;        /* waking a DSP that has slept long */
    double dsp_wake_tau_us;    /* how fast its sleep gets deeper */
    double host_cold_us;       /* a call after much work of the host's own */
    double host_cold_tau_us;
    double host_sleep_us;      /* waking a caller that has waited long */
    double host_sleep_after_us; /* a wait up to this costs nothing */
    double host_sleep_tau_us;
    unsigned hvx_contexts;     /* 1..16 */
    unsigned hw_threads;       /* hardware threads that a skel sees, 1..16 */
    unsigned issue_threads;    /* of these, how many the core issues a packet of in each of their cycles, 1..16 */
    unsigned sessions;         /* open files per node, 1..14 */
    unsigned poll_mode;        /* 1: the driver knows SET_OPTION, and ignores GET_DSP_INFO's domain, as newer kernels do */
    unsigned capabilities;     /* 0: this firmware does not answer GET_DSP_INFO */
    unsigned vtcm_kib;         /* 256..8192, a multiple of 256; 0, which no file can say: all that there is */
    unsigned dspqueue;         /* 1: this DSP's firmware has it; 0: dspqueue_create() gives 0x80000414 */
    unsigned arch;             /* HX_ARCH_MIN..HX_ARCH_MAX, decimal: 69 is V69; 0, which no file can say: the least */
    unsigned hmx;              /* 1: skels may use HMX */
};

enum { HX_ARCH_MIN = 69, HX_ARCH_MAX = 73 };

/* Reads `name` (a file when it contains a slash or ends in .conf, else DIR/name.conf).  Returns 0, -ENOENT, -EINVAL or
 * another negative errno with one line in why[why_bytes], naming file, line, key and legal range. */
int hx_profile_load(struct hx_profile *p, const char *dir, const char *name, char *why,
                    size_t why_bytes);

/* The same; notes[hx_profile_n_keys()] gets what stands behind `#` on the line that sets each key, cut to fit. */
enum { HX_PROFILE_NOTE = 256 };
int hx_profile_load_notes(struct hx_profile *p, char (*notes)[HX_PROFILE_NOTE], const char *dir, const char *name,
                          char *why, size_t why_bytes);

/* Key by key, k < hx_profile_n_keys(): its name, whether it is a whole number, whether it has a part only in what calls cost beside
 * their execution, or only in the first milliseconds of a PD, its value.  set: rounds a count, and takes the nearest legal value. */
size_t hx_profile_n_keys(void);
const char *hx_profile_key(size_t k);
int hx_profile_is_count(size_t k);
int hx_profile_is_of_calls(size_t k);
int hx_profile_is_of_start(size_t k);
double hx_profile_get(const struct hx_profile *p, size_t k);
void hx_profile_set(struct hx_profile *p, size_t k, double value);

#endif
