/* hexrig serve: one model behind an OpenAI-compatible HTTP interface.
 *
 * cmd_serve.c       options, start and end
 * cmd_serve_http.c  connections (libmicrohttpd, a thread each), routes, bodies, replies
 * cmd_serve_json.c  what requests say and replies look like
 * cmd_serve_jobs.c  one thread computes: it takes the steps of up to `parallel` completions in turn
 *
 * A connection's thread makes a job, hands it in and waits for its text; the computing thread never waits for a client. */
#ifndef HX_CMD_SERVE_H
#define HX_CMD_SERVE_H

#include <jansson.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "text/chat.h"
#include "generate/completion.h"
#include "engine/engine.h"

enum {
    HX_SERVE_STOPS = 4,            /* of a request, as OpenAI's */
    HX_SERVE_MAX_BODY = 1 << 20,   /* bytes */
    HX_SERVE_MAX_PARALLEL = 64,
    HX_SERVE_MAX_QUEUE = 1 << 10,
};

/* --- errors, as they go out */
struct hx_serve_error {
    unsigned status;    /* of HTTP; 0: no error */
    char param[64];     /* field of the request, or "" */
    const char *code;   /* "context_length_exceeded", ..., or NULL */
    char text[512];
};

/* Fills e and returns -1. */
int hx_serve_fail(struct hx_serve_error *e, unsigned status, const char *param, const char *code,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* {"error": {...}}; NULL: out of memory. */
json_t *hx_serve_error_json(const struct hx_serve_error *e);

/* --- a request */
struct hx_serve_request {
    int chat;          /* 1: /v1/chat/completions */
    int stream, include_usage;
    uint32_t *prompt;  /* cfg.prompt, owned */
    char *stops[HX_SERVE_STOPS]; /* owned */
    struct hx_completion_cfg cfg;
};

/* What all requests share; constant while the server runs. */
struct hx_serve_model {
    const char *name;         /* as clients call it */
    const struct hx_engine *e; /* any of the engines: its model, context and method of choice */
    struct hx_chat chat;
    int has_chat;             /* 0: no template, `why` says what to do */
    struct hx_error err;
    int64_t since;            /* seconds since 1970 */
};

/* Reads a body.  0, or -1 with an error.  r may be freed in any case. */
int hx_serve_parse(struct hx_serve_request *r, const struct hx_serve_model *m, int chat,
                   const char *body, size_t n, struct hx_serve_error *e);
void hx_serve_request_free(struct hx_serve_request *r);

/* --- jobs */
enum hx_job_state { HX_JOB_QUEUED, HX_JOB_ACTIVE, HX_JOB_DONE };

struct hx_jobs;

struct hx_serve_job {
    struct hx_serve_job *next; /* in the queue */
    struct hx_jobs *jobs;
    struct hx_serve_request req; /* constant */
    uint64_t number;
    int64_t created;             /* seconds since 1970 */
    struct hx_completion c;      /* the computing thread's */

    /* what follows is protected by jobs->lock */
    pthread_cond_t news;         /* more text, or done */
    int refs;                    /* the connection's, and the jobs' until it is done */
    enum hx_job_state state;
    int cancelled;               /* 1: its text is not wanted any more */
    int fd;                      /* the client's socket, -1: unknown */
    char *text;                  /* [n] that may go out */
    size_t n, room;
    size_t n_made;               /* tokens */
    enum hx_finish finish;       /* when done, unless failed */
    struct hx_serve_error error; /* when done: status 0, or why there is no text */
};

struct hx_jobs_counts {
    size_t active, queued;
    uint64_t done, cancelled, failed, refused; /* requests */
    uint64_t tokens;                           /* made for all of them */
    int failing; /* 1: the last request that ended by itself met an error of this server, as when its DSP has died */
};

/* Takes n engines, which share a model and stay the caller's; queued: most jobs that wait for one of them.  0 or
 * negative errno. */
int hx_jobs_open(struct hx_jobs **out, struct hx_engine *const *engines, size_t n, size_t queued);

/* Cancels all jobs, which ends every wait for one, and refuses new ones. */
void hx_jobs_stop(struct hx_jobs *j);

/* After hx_jobs_stop(), when no job is referenced any more.  Accepts NULL. */
void hx_jobs_close(struct hx_jobs *j);

/* Hands a request in; *req is the job's from then on.  The caller owns a reference.  NULL with an error: the queue is full
 * (503) or memory is out. */
struct hx_serve_job *hx_job_submit(struct hx_jobs *j, struct hx_serve_request *req, int fd,
                             struct hx_serve_error *e);

/* Waits until there is more than `seen` bytes of text, or no more to come. */
void hx_job_wait(struct hx_serve_job *job, size_t seen);

/* Waits for the end. */
void hx_job_wait_done(struct hx_serve_job *job);

/* A copy of the text from byte `from` on, malloc'ed and terminated; *done is set when nothing follows it.  NULL: out of
 * memory. */
char *hx_job_text(struct hx_serve_job *job, size_t from, size_t *n, int *done);

/* Gives the caller's reference back; a job that is not done is cancelled.  Accepts NULL. */
void hx_job_leave(struct hx_serve_job *job);

struct hx_jobs_counts hx_jobs_count(struct hx_jobs *j);

/* --- replies; all NULL when memory is out.  `text`: [n] bytes. */
json_t *hx_serve_reply(const struct hx_serve_model *m, const struct hx_serve_job *job, const char *text,
                       size_t n);
enum hx_serve_chunk {
    HX_CHUNK_ROLE,  /* a chat's first: who speaks */
    HX_CHUNK_TEXT,
    HX_CHUNK_END,   /* why it ends */
    HX_CHUNK_USAGE, /* when asked for */
};
json_t *hx_serve_chunk(const struct hx_serve_model *m, const struct hx_serve_job *job,
                       enum hx_serve_chunk kind, const char *text, size_t n);
json_t *hx_serve_model_json(const struct hx_serve_model *m);

/* --- HTTP */
struct hx_serve {
    struct hx_serve_model model;
    struct hx_jobs *jobs;
    const char *host; /* address to listen on */
    unsigned port;    /* 0: any; then what was given */
    size_t connections; /* most at a time */
};

struct hx_http;

/* Listens and answers.  0 or negative errno with a reason; s is kept until close. */
int hx_http_open(struct hx_http **out, struct hx_serve *s, struct hx_error *err);

/* Takes no more connections. */
void hx_http_quiet(struct hx_http *h);

/* Ends when all replies are out or broken off.  Accepts NULL. */
void hx_http_close(struct hx_http *h);

#endif
