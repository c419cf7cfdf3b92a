/* One request and its reply, as the files of hexrig serve that deal with HTTP see them: cmd_serve_http.c, which has connections,
 * cmd_serve_routes.c, which knows what is where, and cmd_serve_send.c, which sends replies. */
#ifndef HX_CMD_SERVE_EXCHANGE_H
#define HX_CMD_SERVE_EXCHANGE_H

#include <microhttpd.h>

#include "cmd_serve.h"

enum { HX_IDLE_S = 30 }; /* that a connection may do nothing */

/* One request on its way in, and its jobs. */
struct hx_exchange {
    struct hx_serve *s;
    struct MHD_Connection *c;
    char *body; /* [n] */
    size_t n;
    struct hx_serve_choices all; /* until a stream takes them */
    int too_much; /* 1: for this one there is nothing but /health */
};

/* The reply to a request; MHD_NO breaks the connection off. */
enum MHD_Result hx_answer(struct hx_exchange *x, const char *method, const char *path);

/* Prometheus's view. */
enum MHD_Result hx_metrics(struct hx_exchange *x, const char *rest);

/* The replies to a body, of the model's tokenizer; NULL with an error. */
json_t *hx_serve_tokenize(const struct hx_exchange *x, const struct hx_tokenizer *t, struct hx_serve_error *e);
json_t *hx_serve_detokenize(const struct hx_exchange *x, const struct hx_tokenizer *t, struct hx_serve_error *e);

/* --- sending */

/* Takes j; NULL breaks the connection off.  header, if not NULL, with its value. */
enum MHD_Result hx_send_json(struct hx_exchange *x, unsigned status, json_t *j, const char *header, const char *value);

/* Takes bytes [n]. */
enum MHD_Result hx_send_bytes(struct hx_exchange *x, unsigned status, const char *type, char *bytes, size_t n);

/* To OPTIONS, with --cors: what a page of another origin may send here. */
enum MHD_Result hx_send_preflight(struct hx_exchange *x);

enum MHD_Result hx_send_error(struct hx_exchange *x, const struct hx_serve_error *e);

/* What the jobs of x->all make, as events, which takes them, or as a whole, when it is there. */
enum MHD_Result hx_send_stream(struct hx_exchange *x);
enum MHD_Result hx_send_whole(struct hx_exchange *x);

/* Leaves all jobs. */
void hx_serve_leave(struct hx_serve_choices *all);

/* -1: unknown. */
int hx_socket_of(struct MHD_Connection *c);

#endif
