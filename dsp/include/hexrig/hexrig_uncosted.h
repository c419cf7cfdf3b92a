/* Says why a skel's scalar code has no price.
 *
 * Code without the trace flags costs nothing in the model of execution time, but for its HVX operations and what listings pay
 * for; the rig says so in its log when such a skel is called.  A skel whose code between its kernels is not worth a price says why,
 * in one file and outside of functions:
 *
 *     HX_UNCOSTED("table building, once per session; the rest is listed");
 *
 * Then the log is silent, and the rig's node `uncosted` and JSON reports show the reason.  For hexagon-clang it vanishes. */
#ifndef HEXRIG_UNCOSTED_H
#define HEXRIG_UNCOSTED_H

#if defined(__hexagon__) && !defined(__LP64__)
#define HX_UNCOSTED(reason) _Static_assert(1, "")
#else
#define HX_UNCOSTED(reason) \
    extern const char hx_uncosted_reason[]; \
    __attribute__((visibility("default"), used, weak)) const char hx_uncosted_reason[] = reason
#endif

#endif
