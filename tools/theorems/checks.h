/* The functions of hx_theorems; one file for each field of mathematics. */
#ifndef HX_CHECKS_H
#define HX_CHECKS_H

#include "theorem.h"

#define HX_CHECK(name) enum hx_verdict name(struct hx_theorem_run *r)

/* cm_curve.c: the endomorphism of the curve with complex multiplication by O_K, K = Q(sqrt -163) */
HX_CHECK(hx_t1);
/* traces.c: its numbers of points */
HX_CHECK(hx_t3);
HX_CHECK(hx_t3b);
HX_CHECK(hx_t5);
HX_CHECK(hx_t5b);
/* block.c: the spinor block as a map */
HX_CHECK(hx_t2);
HX_CHECK(hx_t2b);
/* exact.c: the engine's integer arithmetic */
HX_CHECK(hx_t4);
HX_CHECK(hx_t4b);
HX_CHECK(hx_t6);
HX_CHECK(hx_t6b);
/* angles.c: position codes */
HX_CHECK(hx_e91);
HX_CHECK(hx_e91b);
/* weil.c */
HX_CHECK(hx_e92);
/* hecke.c: the modular form of the curve */
HX_CHECK(hx_e93);
HX_CHECK(hx_e93b);
/* bsd.c */
HX_CHECK(hx_e96);
/* activations.c: what a real model makes */
HX_CHECK(hx_e95);
HX_CHECK(hx_e10);

#endif
