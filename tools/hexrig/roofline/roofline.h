/* Ceilings of a modelled phone, and where work that it has done stands below them.
 *
 * Times are DSP cycles (pcycles) at the profile's top clock.  A ceiling says how long some work takes at least: its bytes over
 * the way to DDR or VTCM, its HVX operations, its calls.  The one that asks for most is the work's roof; how much of the time that
 * explains is its share.  Everything here is modelled.  Source: Williams, Waterman, Patterson 2009, with a ceiling for calls. */
#ifndef HX_ROOFLINE_H
#define HX_ROOFLINE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "hx_profile.h"
#include "hx_session_stats.h"

enum hx_roof { HX_ROOF_DDR, HX_ROOF_VTCM, HX_ROOF_HVX, HX_ROOF_DISPATCH, HX_ROOFS };
extern const char *const hx_roof_names[HX_ROOFS + 1]; /* the last one: "none" */

struct hx_ceilings {
    double ddr_bytes;      /* per pcycle over DDR's bus, which DMA and prefetches can fill */
    double ddr_load_bytes; /* per pcycle, what loads and stores that miss L2 get, all threads of a call together */
    double vtcm_bytes;     /* per pcycle: each context loads or stores a vector in each of its cycles */
    double hvx_ops;        /* per pcycle, HVX_OPS_PER_PACKET in each cycle of each context */
    double call_pcycles, packet_pcycles; /* of a call and a packet that do nothing */
    double pcycles_per_us;
};

/* HVX instructions that a packet has room for, loads and stores aside.  Source: Hexagon V69 HVX Programmer's Reference Manual, the
 * resources of a packet. */
enum { HX_HVX_OPS_PER_PACKET = 4 };

struct hx_ceilings hx_ceilings(const struct hx_profile *p);

/* What some work did, by the driver's and the DSP's own counters. */
struct hx_roofline_counts {
    double calls, packets, hvx_ops;
    double ddr_bytes, dma_bytes, l2_bytes, vtcm_bytes; /* by where they were found: hx_traffic.h */
    double exec_pcycles, all_pcycles; /* the latter with dispatch, marshal and queue */
};

/* Out of what the driver has counted for a session in the meantime: the only place that knows where a figure comes from. */
struct hx_roofline_counts hx_roofline_counts(const struct hx_session_stats *sum, const struct hx_ceilings *c);

struct hx_roofline_point {
    struct hx_roofline_counts n;
    double least[HX_ROOFS];         /* pcycles that each ceiling asks for */
    enum hx_roof exec_roof, roof;   /* of its execution; of all, calls included.  HX_ROOFS: nothing was counted */
    double exec_share, share;       /* 0 to 1 of exec_pcycles and of all_pcycles */
    double ops_per_pcycle, ops_per_byte; /* of execution; of bytes that crossed DDR's bus.  0: no operations or no such bytes */
};

struct hx_roofline_point hx_roofline_point(const struct hx_roofline_counts *n, const struct hx_ceilings *c);

json_t *hx_ceilings_json(const struct hx_ceilings *c);
json_t *hx_roofline_point_json(const struct hx_roofline_point *p);

/* Tokens per second that a decode can reach at most on this phone, whoever computes, if each token reads `bytes` of weights from
 * DDR once; 0: no bytes. */
double hx_roofline_tok_s(const struct hx_profile *p, double bytes);

/* --- the picture */

struct hx_roofline_mark {
    const char *name;
    struct hx_roofline_point point;
};

/* Writes an SVG to path: ceilings and points on logarithmic axes, HVX operations per pcycle over HVX operations per byte.  0, or
 * negative errno. */
int hx_roofline_svg(const char *path, const char *title, const struct hx_ceilings *c, const struct hx_roofline_mark *marks,
                    size_t n);

#endif
