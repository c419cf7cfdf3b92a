/* Figures by interface and method, as a rig's node `methods` has them (docs/run-with.md), printed for people and for machines from
 * the same structs.  Times are modelled. */
#ifndef HX_METHOD_STATS_H
#define HX_METHOD_STATS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct hx_method_stat {
    char interface[64], library[64]; /* library: "" of the PD's own services */
    char name[48];                   /* "": not known */
    unsigned method;
    pid_t pid; /* whose calls, as the rig sees it; 0 once calls of several are added up */
    uint64_t calls, errors, bytes_copied, bytes_shared, hvx_ops;
    uint64_t dispatch_ns, marshal_ns, queue_ns, exec_ns;
};

/* 1: lines of the same method, whoever called it. */
int hx_method_stat_is_same(const struct hx_method_stat *a, const struct hx_method_stat *b);

/* All modelled time of a line, in ns. */
uint64_t hx_method_stat_ns(const struct hx_method_stat *l);

/* "interface.name", or "interface.NUMBER" of a method whose name is not known. */
enum { HX_METHOD_STAT_TITLE = 128 };
void hx_method_stat_title(const struct hx_method_stat *l, char title[HX_METHOD_STAT_TITLE]);

struct hx_method_stats { /* zeroed = empty */
    struct hx_method_stat *at; /* [n], owned */
    size_t n;
};

/* Reads a node's text.  0, -ENOMEM, or -EPROTO: it is no such text.  hx_method_stats_free() in any case. */
int hx_method_stats_parse(struct hx_method_stats *s, const char *text);
void hx_method_stats_free(struct hx_method_stats *s);

/* Takes away what was there before, by process and method, and the calls of `n` processes of others. */
void hx_method_stats_since(struct hx_method_stats *s, const struct hx_method_stats *before, const pid_t *others, size_t n);

/* Adds up the lines of each method, whoever called it, leaves out those without calls, and puts the dearest first. */
void hx_method_stats_merge(struct hx_method_stats *s);

/* Gives methods without a name the one that the IDL file has for them.  0, or an enum hx_exit after a message of `cmd`. */
int hx_method_stats_name(struct hx_method_stats *s, const char *cmd, const char *idl_file);

/* A table, or one JSON object {"version": 1, "profile": ..., "front_end": ..., "methods": [...], "total": {...}}.  NULL: out of
 * memory. */
void hx_method_stats_print(const struct hx_method_stats *s, const char *profile, FILE *f);
json_t *hx_method_stats_json(const struct hx_method_stats *s, const char *profile, const char *front_end);

/* For budgets: {"silicon.matmul": {"calls": ..., "model_ms": {...}}, ..., "total": {...}}.  NULL: out of memory. */
json_t *hx_method_stats_figures(const struct hx_method_stats *s);

#endif
