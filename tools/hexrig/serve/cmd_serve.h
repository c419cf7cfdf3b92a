/* hexrig serve: one model behind an OpenAI-compatible HTTP interface.
 *
 * cmd_serve.c       options, start and end
 * cmd_serve_conns.c which connections there are, how long they may take, which has to go when there are too many
 * cmd_serve_http.c  connections (libmicrohttpd, a thread each) and bodies
 * cmd_serve_routes.c what is answered where; cmd_serve_send.c sends it
 * cmd_serve_json.c  what requests say; cmd_serve_format.c: their response_format
 * cmd_serve_embed.c requests for embeddings, and replies to them; cmd_serve_body.c: what all bodies have in common
 * cmd_serve_reply.c what replies look like; cmd_serve_error.c: those that are errors; cmd_serve_logprobs.c: what they
 *                   say of tokens
 * cmd_serve_tokens.c /tokenize and /detokenize; cmd_serve_metrics.c: /metrics
 * cmd_serve_jobs.c  one thread computes: it takes the steps of up to `parallel` completions in turn
 * cmd_serve_guard.c what a guard saw of a request, and how near a memory's questions are
 * cmd_serve_past.c  what the caches of its engines hold from the completions before
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
#include "generate/embedding.h"
#include "engine/engine.h"
#include "methods/cog/cog.h"
#include "methods/guard/guard_tap.h"

enum {
    HX_SERVE_STOPS = 4,            /* of a request, as OpenAI's */
    HX_SERVE_CHOICES = 8,
    HX_SERVE_INPUTS = 256,         /* of a request for embeddings */
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
    size_t n;          /* choices that are wanted, 1..HX_SERVE_CHOICES */
    size_t index;      /* which of them this one is */
    uint32_t *prompt;  /* cfg.prompt, owned */
    char *stops[HX_SERVE_STOPS]; /* owned */
    struct hx_grammar *grammar;  /* cfg.grammar, owned */
    int logprobs;                /* 1: wanted, and of each token `top` others */
    size_t top;
    struct hx_completion_cfg cfg;
    struct hx_embedding embedding; /* with inputs: it is for embeddings, and the computing thread's until the job is done */
    int base64;                    /* 1: in this form */
    struct hx_cog_match known;     /* how far its question is from what the server's memory has, where it has one */
};

/* What all requests share; constant while the server runs, but for what the lock protects. */
struct hx_serve_model {
    const char *name;         /* as clients call it */
    const struct hx_cog *memory; /* NULL: none */
    pthread_rwlock_t lock;    /* protects e, vocab and chat: held while a request is read, and while the engines are made anew */
    const struct hx_engine *e; /* any of the engines: its model, context and method of choice; NULL: there are none now */
    struct hx_vocab *vocab;    /* e's, for grammars; NULL: it has tokens for none, `vocab_err` says why */
    struct hx_error vocab_err;
    struct hx_chat chat;
    int has_chat;             /* 0: no template, `why` says what to do */
    struct hx_error err;
    int64_t since;            /* seconds since 1970 */
};

/* Reads a body.  0, or -1 with an error.  r may be freed in any case. */
int hx_serve_parse(struct hx_serve_request *r, const struct hx_serve_model *m, int chat,
                   const char *body, size_t n, struct hx_serve_error *e);
void hx_serve_request_free(struct hx_serve_request *r);

/* The same for one for embeddings. */
int hx_serve_parse_embedding(struct hx_serve_request *r, const struct hx_serve_model *m, const char *bytes, size_t n,
                             struct hx_serve_error *e);

/* A body that is an object of `known` fields (NULL-terminated) at most; NULL with an error.  e: zeros. */
json_t *hx_serve_body(const char *bytes, size_t n, const char *const *known, struct hx_serve_error *e);

/* 0, or -1 with an error: it is not the server's model. */
int hx_serve_check_model(const struct hx_serve_model *m, const json_t *name, struct hx_serve_error *e);

/* Reads response_format into r->grammar.  0, or -1 with an error. */
int hx_serve_format(struct hx_serve_request *r, const struct hx_serve_model *m, const json_t *v, struct hx_serve_error *e);

/* --- jobs */
enum hx_job_state { HX_JOB_QUEUED, HX_JOB_ACTIVE, HX_JOB_DONE };

struct hx_jobs;

/* What a guard saw of a job: at its begin what it had seen before, at its end what it saw of this one (of `seen` tokens, not_finite, told,
 * projected, teh_sum, teh_most).  on: the engine has one. */
struct hx_serve_guard {
    int on;
    struct hx_guard_seen seen;
};

struct hx_serve_job {
    struct hx_serve_job *next; /* in the queue */
    struct hx_jobs *jobs;
    struct hx_serve_request req; /* constant, but for embedding, and cfg.n_cached, which is set when it is given an engine */
    uint64_t number;             /* this and the next are the connection's, once it is handed in */
    int64_t created;             /* seconds since 1970 */
    struct hx_completion c;      /* the computing thread's */
    struct hx_serve_guard guard; /* likewise, until the job is done */

    /* what follows is protected by jobs->lock */
    pthread_cond_t news;         /* more text, or done */
    int refs;                    /* the connection's, and the jobs' until it is done */
    enum hx_job_state state;
    int retried;                 /* 1: it was begun before, and the DSP was gone */
    int cancelled;               /* 1: its text is not wanted any more */
    int fd;                      /* the client's socket, -1: unknown */
    char *text;                  /* [n] that may go out */
    size_t n, room;
    size_t n_made;               /* tokens */
    struct hx_logprobs probs;    /* of the first n_made tokens, when wanted; the computing thread adds to them without the lock */
    enum hx_finish finish;       /* when done, unless failed */
    struct hx_serve_error error; /* when done: status 0, or why there is no text */
};

struct hx_jobs_counts {
    size_t active, queued;
    uint64_t done, cancelled, failed, refused; /* requests */
    uint64_t tokens;                           /* made for all of them */
    uint64_t prompt_tokens, cached_tokens;     /* of their prompts; of these, those that an engine's cache had */
    uint64_t proposed, accepted;               /* guesses of drafters, and those that became text */
    uint64_t restarts; /* of the engines, after their DSP was gone */
    int failing; /* 1: the last request that ended by itself met an error of this server, as when its DSP has died, or down */
    int down;    /* 1: the engines could not be made anew; it is tried again and again */
};

/* Where jobs get their engines from. */
struct hx_jobs_engines {
    struct hx_engine *const *at; /* [n], which share a model and stay the caller's */
    size_t n;
    struct hx_vocab *const *vocab; /* of their model; changes with them */
    int (*reopen)(void *arg, struct hx_error *err); /* makes all at[] anew; 0 or negative errno with a reason */
    void *arg;
};

/* queued: most jobs that wait for an engine.  When a DSP is gone, the jobs that have made text fail, the others are begun
 * again, once; until the engines are there again new ones are refused.  0 or negative errno. */
int hx_jobs_open(struct hx_jobs **out, const struct hx_jobs_engines *engines, size_t queued);

/* Cancels all jobs, which ends every wait for one, and refuses new ones. */
void hx_jobs_stop(struct hx_jobs *j);

/* After hx_jobs_stop(), when no job is referenced any more.  Accepts NULL. */
void hx_jobs_close(struct hx_jobs *j);

/* Requests that run and wait at most. */
size_t hx_jobs_room(const struct hx_jobs *j);

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

/* Tokens that have been made so far. */
size_t hx_job_made(struct hx_serve_job *job);

/* Gives the caller's reference back; a job that is not done is cancelled.  Accepts NULL. */
void hx_job_leave(struct hx_serve_job *job);

struct hx_jobs_counts hx_jobs_count(struct hx_jobs *j);

/* --- replies; all NULL when memory is out */

/* Of a job's text. */
struct hx_serve_part {
    const char *text; /* [n] bytes */
    size_t n;
    size_t first, end; /* tokens whose log-probabilities go with it, when they are wanted */
};

/* The jobs of a request, one for each choice. */
struct hx_serve_choices {
    struct hx_serve_job *job[HX_SERVE_CHOICES];
    size_t n;
};

void hx_serve_guard_begin(struct hx_serve_guard *g, const struct hx_engine *e);
void hx_serve_guard_end(struct hx_serve_guard *g, const struct hx_engine *e);

/* r->known of a question, its tokens ids [n].  0, or -1 with an error.  Nothing where there is no memory. */
int hx_serve_look_up(struct hx_serve_request *r, const struct hx_serve_model *m, const uint32_t *ids, size_t n, struct hx_serve_error *e);

/* The header's value: of jobs that are done (done: 1) what guards saw, the largest and the mean TEH, sums of the others; and of a memory
 * the tier and the similarity.  0: there is neither. */
int hx_serve_guard_text(const struct hx_serve_model *m, const struct hx_serve_choices *all, int done, char *to, size_t room);

#define HX_SERVE_GUARD_HEADER "X-Hexrig-Guard"
enum { HX_SERVE_GUARD_TEXT = 192 }; /* bytes that its value needs at most */

/* parts: [all->n] */
json_t *hx_serve_reply(struct hx_serve_model *m, const struct hx_serve_choices *all, const struct hx_serve_part *parts);
enum hx_serve_chunk {
    HX_CHUNK_ROLE,  /* a chat's first: who speaks */
    HX_CHUNK_TEXT,
    HX_CHUNK_END,   /* why it ends */
};
json_t *hx_serve_chunk(struct hx_serve_model *m, const struct hx_serve_job *job, enum hx_serve_chunk kind,
                       const struct hx_serve_part *part);

/* Of a request for embeddings. */
json_t *hx_serve_embedding_reply(const struct hx_serve_model *m, const struct hx_serve_job *job);

/* The last chunk, when asked for. */
json_t *hx_serve_usage_chunk(struct hx_serve_model *m, const struct hx_serve_choices *all);

/* The logprobs of a choice or chunk: null when they are not wanted, or when the model is gone with the DSP. */
json_t *hx_serve_logprobs(struct hx_serve_model *m, const struct hx_serve_job *job, const struct hx_serve_part *part);
json_t *hx_serve_model_json(const struct hx_serve_model *m);

/* --- connections */
enum {
    HX_CONN_HEAD_S = 10,  /* the head of a connection's first request */
    HX_CONN_NEXT_S = 30,  /* the next head, from the end of the reply before */
    HX_CONN_BODY_S = 30,  /* a body */
    HX_CONNS_HALF = 64,   /* most that have no whole request: the oldest of the address with the most of them has to go */
    HX_CONNS_SPARE = 32,  /* more requests than run and wait: what is answered at once */
    HX_CONNS_BURST = 256, /* and more connections than all that, until those that have to go are gone */
};

enum hx_conn_state { HX_CONN_HEAD, HX_CONN_NEXT, HX_CONN_BODY, HX_CONN_WHOLE };

struct hx_conns;
struct hx_conn_entry;
struct sockaddr;

/* most: requests at a time, of which one address gets all but half of HX_CONNS_SPARE.  0 or negative errno. */
int hx_conns_open(struct hx_conns **out, size_t most);

/* When no connection is left.  Accepts NULL. */
void hx_conns_close(struct hx_conns *c);

/* A connection begins, with its first head.  NULL: out of memory.  fd has to be open until hx_conns_del(). */
struct hx_conn_entry *hx_conns_add(struct hx_conns *c, int fd, const struct sockaddr *from);
void hx_conns_del(struct hx_conns *c, struct hx_conn_entry *e);

/* Drops those that take too long.  A thread of c's own does that four times a second. */
void hx_conns_look(struct hx_conns *c);

/* What the connection does from now on.  For HX_CONN_BODY (a head is there): 1: it is one request too many. */
int hx_conns_set(struct hx_conns *c, struct hx_conn_entry *e, enum hx_conn_state state);

/* --- HTTP */
struct hx_serve {
    struct hx_serve_model model;
    struct hx_jobs *jobs;
    const char *host; /* address to listen on */
    const char *cors; /* origin of pages that may use the server, "*": any; NULL: none */
    unsigned port;    /* 0: any; then what was given */
    size_t connections; /* requests at a time, waiting ones included */
};

struct hx_http;

/* Listens and answers.  0 or negative errno with a reason; s is kept until close. */
int hx_http_open(struct hx_http **out, struct hx_serve *s, struct hx_error *err);

/* Takes no more connections. */
void hx_http_quiet(struct hx_http *h);

/* Ends when all replies are out or broken off.  Accepts NULL. */
void hx_http_close(struct hx_http *h);

#endif
