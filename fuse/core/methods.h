/* What a session's calls amount to by interface and method, and what methods are called.
 *
 * A table has room for a fixed number of methods; what finds none is added up in its last line, so no client and no PD makes it
 * grow.  Names are the PD's (rpc/wire/hx_interfaces.h): copied, bounded, without control characters or spaces.  All functions
 * are the loop's thread's. */
#ifndef HX_METHODS_H
#define HX_METHODS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "hx_interfaces.h"

struct hx_call;
struct hx_session;
struct hx_session_stats;

enum {
    HX_METHODS_MAX = 64,     /* of a session */
    HX_METHODS_CLOSED = 256, /* that closed sessions leave, by process; the oldest goes into the line of all others */
    HX_METHOD_NAME = 48,
    HX_METHOD_TITLE = HX_INTERFACE_NAME + HX_METHOD_NAME + 16,
};

struct hx_method_line {
    char interface[HX_INTERFACE_NAME]; /* "handle:0x10100" where the PD names none */
    char name[HX_METHOD_NAME];         /* "" where the skel names none */
    char library[HX_INTERFACE_NAME];   /* "" without one */
    pid_t pid;                         /* of closed sessions */
    uint64_t key;                      /* of open ones: which interface, see methods.c */
    uint32_t method;
    uint64_t calls, errors; /* calls: INVOKEs, or packets in the line of packets */
    uint64_t bytes_copied, bytes_shared, hvx_ops;
    uint64_t dispatch_ns, marshal_ns, queue_ns, exec_ns; /* modelled, as in hx_session_stats.h */
};

struct hx_methods { /* zeroed = empty */
    struct hx_method_line line[HX_METHODS_MAX];
    unsigned n, last; /* lines; the one that was counted last */
};

struct hx_methods_closed { /* zeroed = empty */
    uint64_t added; /* lines, those that went included; line i is in line[i % HX_METHODS_CLOSED] */
    struct hx_method_line line[HX_METHODS_CLOSED], others;
};

/* "calculator.sum"; "calculator method 2" without the method's name, "handle 0x10100 method 2" without both. */
void hx_method_title(const struct hx_call *call, char title[HX_METHOD_TITLE]);

/* An INVOKE has ended with `result`, its figures are complete. */
void hx_methods_count(struct hx_call *call, int result);

/* Packets of a dspqueue were taken: what the session's figures grew by. */
void hx_methods_count_packets(struct hx_session *s, const struct hx_session_stats *before);

/* A line for each: "session=1 pid=2 interface=calculator library=libcalculator_skel.so method=2 name=sum calls=1 ...". */
void hx_methods_print(const struct hx_session *s, FILE *f);
/* Of closed sessions "session=0 pid=2 ...". */
void hx_methods_print_closed(const struct hx_methods_closed *c, FILE *f);

/* The session ends: its lines are added to those of closed ones. */
void hx_methods_close(struct hx_methods_closed *c, const struct hx_session *s);

#endif
