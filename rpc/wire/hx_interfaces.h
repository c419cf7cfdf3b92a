/* The interfaces that a PD has opened, and their methods' names: what turns "handle 0x10100 method 2" into "calculator.sum".
 * The PD writes them behind its channel's rings (hx_ring.h) when it opens a skel, and each call says which of them it was for
 * (struct hx_invoke); the driver reads them for its figures, traces and crash reports.  Nothing here is trusted. */
#ifndef HX_INTERFACES_H
#define HX_INTERFACES_H

#include <stdatomic.h>
#include <stdint.h>

enum { HX_INTERFACES_MAX = 32, HX_INTERFACE_NAME = 64, HX_METHOD_NAMES = 8192 };

struct hx_interface {
    char name[HX_INTERFACE_NAME];    /* of the entry point, without _skel_invoke; ends with 0 */
    char library[HX_INTERFACE_NAME]; /* its file's name; ends with 0 */
    uint32_t names_at, names_bytes;  /* of its methods in `names`, 0 behind each, method 0 first; 0 bytes: not known */
};

struct hx_interface_table {
    _Atomic uint32_t n; /* entries that are complete, at most HX_INTERFACES_MAX; interface number i is entry[i - 1] */
    uint32_t names_used;
    struct hx_interface entry[HX_INTERFACES_MAX];
    char names[HX_METHOD_NAMES];
};

#endif
