/* Jobs of hexrig serve: the queue in front of the engines, and the thread that computes all jobs step by step. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd_serve.h"
#include "cmd_serve_past.h"
#include "timed_wait.h"

enum { FIRST_WAIT_MS = 250, LAST_WAIT_MS = 5000 }; /* between attempts to make the engines anew */

struct slot {
    struct hx_engine *e;
    struct hx_serve_job *job; /* NULL: free; the computing thread's */
    struct hx_past past;      /* what e's cache holds while no job runs; the computing thread's */
};

struct hx_jobs {
    pthread_t thread;
    struct slot *slots; /* [n_slots] */
    size_t n_slots, max_queued;
    struct hx_jobs_engines engines;
    int lost; /* 1: the DSP is gone, the engines with it; the computing thread's */
    uint64_t n_keeps; /* of pasts; the computing thread's */
    struct pollfd *fds; /* [n_slots + max_queued] */

    pthread_mutex_t lock; /* protects what follows, and the jobs' fields */
    pthread_cond_t work;  /* a job was queued, or stop */
    struct hx_serve_job *first, **end; /* the queue */
    struct hx_jobs_counts count;
    uint64_t n_jobs;
    int stop;
};

static void put(struct hx_serve_job *job) /* under the lock */
{
    if (--job->refs)
        return;
    pthread_cond_destroy(&job->news);
    hx_serve_request_free(&job->req);
    hx_logprobs_close(&job->probs);
    free(job->text);
    free(job);
}

/* Ends a job and drops the jobs' reference to it; under the lock. */
static void done(struct hx_jobs *j, struct hx_serve_job *job)
{
    if (job->cancelled)
        j->count.cancelled++;
    else if (job->error.status)
        j->count.failed++;
    else
        j->count.done++;
    if (!job->cancelled)
        j->count.failing = job->error.status >= 500;
    j->count.active -= job->state == HX_JOB_ACTIVE;
    job->state = HX_JOB_DONE;
    pthread_cond_broadcast(&job->news);
    put(job);
}

/* --- the computing thread */

/* Clients whose end of the connection is closed wait for nothing; under the lock.  A client cannot half-close. */
static void look_for_the_gone(struct hx_jobs *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n_slots; i++)
        if (j->slots[i].job)
            j->fds[n++] = (struct pollfd){.fd = j->slots[i].job->fd, .events = POLLRDHUP};
    for (struct hx_serve_job *job = j->first; job; job = job->next)
        j->fds[n++] = (struct pollfd){.fd = job->fd, .events = POLLRDHUP};
    if (poll(j->fds, n, 0) <= 0)
        return;
    n = 0;
    for (size_t i = 0; i < j->n_slots; i++)
        if (j->slots[i].job)
            j->slots[i].job->cancelled |= j->fds[n++].revents != 0;
    for (struct hx_serve_job *job = j->first; job; job = job->next)
        job->cancelled |= j->fds[n++].revents != 0;
}

/* Takes the job that *at points to out of the queue; under the lock, as what follows. */
static struct hx_serve_job *unqueue(struct hx_jobs *j, struct hx_serve_job **at)
{
    struct hx_serve_job *job = *at;

    *at = job->next;
    if (!*at)
        j->end = at;
    j->count.queued--;
    return job;
}

static void drop_cancelled(struct hx_jobs *j)
{
    for (struct hx_serve_job **at = &j->first; *at;)
        if ((*at)->cancelled)
            done(j, unqueue(j, at));
        else
            at = &(*at)->next;
}

/* The free slot whose cache suits the prompt best; NULL: none is free. */
static struct slot *slot_for(struct hx_jobs *j, const struct hx_completion_cfg *cfg)
{
    struct slot *best = NULL;

    for (struct slot *s = j->slots; s < j->slots + j->n_slots; s++)
        if (!s->job && (!best || hx_past_better(&s->past, &best->past, cfg->prompt, cfg->n_prompt)))
            best = s;
    return best;
}

/* Queued jobs take free slots; returns how many slots are taken. */
static size_t fill_slots(struct hx_jobs *j)
{
    struct slot *s;

    while (j->first && (s = slot_for(j, &j->first->req.cfg))) {
        struct hx_completion_cfg *cfg = &j->first->req.cfg; /* without a prompt for embeddings */

        cfg->n_cached = hx_past_covers(&s->past, cfg->prompt, cfg->n_prompt);
        s->job = unqueue(j, &j->first);
        s->job->state = HX_JOB_ACTIVE;
        j->count.active++;
        j->count.prompt_tokens += cfg->n_prompt + hx_embedding_tokens(&s->job->req.embedding);
        j->count.cached_tokens += cfg->n_cached;
    }
    return j->count.active;
}

/* What the completion has made and the connection has not seen; under the lock. */
static int publish(struct hx_serve_job *job)
{
    const struct hx_stream *s = &job->c.text;

    job->jobs->count.tokens += job->c.n_made - job->n_made;
    job->n_made = job->c.n_made;
    if (s->ready == job->n)
        return 0;
    if (s->ready >= job->room) {
        char *text = realloc(job->text, 2 * s->ready + 64);

        if (!text)
            return -ENOMEM;
        job->text = text;
        job->room = 2 * s->ready + 64;
    }
    memcpy(job->text + job->n, s->text + job->n, s->ready - job->n);
    job->n = s->ready;
    pthread_cond_broadcast(&job->news);
    return 0;
}

static int step(struct hx_engine *e, struct hx_serve_job *job, struct hx_error *err)
{
    int rc = 0;

    if (job->req.embedding.n)
        return hx_embedding_step(&job->req.embedding, e, err);
    if (!job->c.ids) { /* its first */
        hx_serve_guard_begin(&job->guard, e);
        job->req.cfg.vocab = *job->jobs->engines.vocab;
        rc = hx_completion_open(&job->c, e, &job->req.cfg, err);
    }
    return rc ? rc : hx_completion_step(&job->c, err);
}

/* The job's text so far is lost with the engine; under the lock.  If nobody has seen any, it may begin again: what is no stream is
 * sent when it is whole. */
static void give_back(struct hx_jobs *j, struct slot *s, const char *why)
{
    struct hx_serve_job *job = s->job;
    const int seen = job->req.stream && (job->n || job->n_made);
    const int again = !seen && !job->retried && !job->cancelled;

    s->job = NULL;
    hx_completion_close(&job->c);
    memset(&job->c, 0, sizeof(job->c));
    job->probs.n = 0;
    if (job->req.embedding.n)
        hx_embedding_restart(&job->req.embedding);
    if (!again) {
        if (!job->cancelled)
            hx_serve_fail(&job->error, 500, NULL, NULL, "%s", why);
        done(j, job);
        return;
    }
    job->n = job->n_made = 0;
    job->retried = 1;
    job->state = HX_JOB_QUEUED;
    j->count.active--;
    j->count.queued++;
    job->next = j->first;
    if (!j->first)
        j->end = &job->next;
    j->first = job;
}

/* What its drafter did; under the lock.  One that failed has cost speed and no text. */
static void count_guesses(struct hx_jobs *j, const struct hx_serve_job *job)
{
    const struct hx_spec_stats *n = job->c.g.spec ? hx_spec_stats(job->c.g.spec) : NULL;

    if (!n)
        return;
    j->count.proposed += n->proposed;
    j->count.accepted += n->accepted;
    if (*n->off)
        fprintf(stderr, "hexrig serve: %s: switched off, the text goes on without guesses\n", n->off);
}

/* One step of the slot's job. */
static void advance(struct hx_jobs *j, struct slot *s)
{
    struct hx_serve_job *job = s->job;
    struct hx_error err = {""};
    int rc = 0;

    pthread_mutex_lock(&j->lock);
    int cancelled = job->cancelled;
    pthread_mutex_unlock(&j->lock);

    if (job->req.embedding.n) /* runs over what the cache holds */
        hx_past_forget(&s->past);
    if (!cancelled)
        rc = step(s->e, job, &err);
    pthread_mutex_lock(&j->lock);
    if (rc >= 0 && !cancelled && publish(job))
        rc = hx_error_set(&err, -ENOMEM, "out of memory");
    if (rc == -EIO) {
        j->lost = 1;
        give_back(j, s, err.text);
        pthread_mutex_unlock(&j->lock);
        return;
    }
    if (rc < 0)
        hx_serve_fail(&job->error, 500, NULL, NULL, "%s", err.text);
    if (rc <= 0 || job->cancelled) {
        job->finish = job->c.finish;
        hx_serve_guard_end(&job->guard, s->e);
        count_guesses(j, job);
        s->job = NULL;
        if (rc < 0)
            hx_past_forget(&s->past);
        else
            hx_past_keep(&s->past, &job->c, ++j->n_keeps);
        hx_completion_close(&job->c);
        done(j, job);
    }
    pthread_mutex_unlock(&j->lock);
}

static void cancel_all(struct hx_jobs *j)
{
    for (size_t i = 0; i < j->n_slots; i++)
        if (j->slots[i].job) {
            j->slots[i].job->cancelled = 1;
            hx_completion_close(&j->slots[i].job->c);
            done(j, j->slots[i].job);
            j->slots[i].job = NULL;
        }
    for (struct hx_serve_job *job = j->first; job; job = job->next)
        job->cancelled = 1;
    drop_cancelled(j);
}

/* --- the DSP is gone */

static void refuse_queued(struct hx_jobs *j, const char *why)
{
    while (j->first) {
        struct hx_serve_job *job = unqueue(j, &j->first);

        hx_serve_fail(&job->error, 503, NULL, "server_restarts", "%s", why);
        done(j, job);
    }
}

/* Under the lock, which is released meanwhile.  Until stop. */
static void sleep_ms(struct hx_jobs *j, unsigned ms)
{
    const struct timespec until = hx_timed_wait_end(ms);

    while (!j->stop && pthread_cond_timedwait(&j->work, &j->lock, &until) != ETIMEDOUT)
        ;
}

/* Makes the engines anew, however long that takes; under the lock, which is released meanwhile. */
static void recover(struct hx_jobs *j)
{
    unsigned wait_ms = FIRST_WAIT_MS;
    struct hx_error err = {""};
    int rc;

    for (size_t i = 0; i < j->n_slots; i++)
        if (j->slots[i].job)
            give_back(j, &j->slots[i], "the DSP died");
    j->count.failing = 1;
    while (j->lost && !j->stop) {
        pthread_mutex_unlock(&j->lock);
        rc = j->engines.reopen(j->engines.arg, &err);
        pthread_mutex_lock(&j->lock);
        j->lost = j->count.down = rc != 0;
        if (rc) {
            if (wait_ms == FIRST_WAIT_MS)
                fprintf(stderr, "hexrig serve: the DSP is gone, and cannot be had again yet: %s\n", err.text);
            refuse_queued(j, err.text);
            sleep_ms(j, wait_ms);
            wait_ms = 2 * wait_ms < LAST_WAIT_MS ? 2 * wait_ms : LAST_WAIT_MS;
        }
    }
    for (size_t i = 0; i < j->n_slots; i++) {
        hx_past_forget(&j->slots[i].past);
        j->slots[i].e = j->engines.at[i];
    }
    if (!j->lost) {
        j->count.restarts++;
        j->count.failing = 0;
    }
}

static void *compute(void *arg)
{
    struct hx_jobs *j = arg;

    pthread_mutex_lock(&j->lock);
    while (!j->stop) {
        if (j->lost) {
            recover(j);
            continue;
        }
        look_for_the_gone(j);
        drop_cancelled(j);
        if (!fill_slots(j)) {
            pthread_cond_wait(&j->work, &j->lock);
            continue;
        }
        pthread_mutex_unlock(&j->lock);
        for (size_t i = 0; i < j->n_slots; i++)
            if (j->slots[i].job)
                advance(j, &j->slots[i]);
        pthread_mutex_lock(&j->lock);
    }
    cancel_all(j);
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* --- for connections */

static struct hx_serve_job *new_job(struct hx_jobs *j, struct hx_serve_request *req, int fd)
{
    struct hx_serve_job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    if (req->logprobs && hx_logprobs_open(&job->probs, req->cfg.n_max, req->top)) {
        hx_logprobs_close(&job->probs);
        free(job);
        return NULL;
    }
    job->jobs = j;
    job->req = *req;
    job->req.cfg.stops = (const char *const *)job->req.stops;
    job->req.cfg.logprobs = job->req.logprobs ? &job->probs : NULL;
    memset(req, 0, sizeof(*req));
    job->fd = fd;
    job->refs = 1;
    job->created = time(NULL);
    pthread_cond_init(&job->news, NULL);
    return job;
}

size_t hx_jobs_room(const struct hx_jobs *j)
{
    return j->n_slots + j->max_queued;
}

struct hx_serve_job *hx_job_submit(struct hx_jobs *j, struct hx_serve_request *req, int fd,
                             struct hx_serve_error *e)
{
    struct hx_serve_job *job = new_job(j, req, fd);

    if (!job) {
        hx_serve_fail(e, 500, NULL, NULL, "out of memory");
        return NULL;
    }
    pthread_mutex_lock(&j->lock);
    if (j->count.down && !j->stop) {
        hx_serve_fail(e, 503, NULL, "server_restarts", "the DSP is gone; it is tried again and again");
        j->count.refused++;
        put(job);
        job = NULL;
    } else if (j->stop || j->count.active + j->count.queued == j->n_slots + j->max_queued) {
        hx_serve_fail(e, 503, NULL, j->stop ? "server_stops" : "server_overloaded",
                      j->stop ? "the server ends" : "%zu requests run and %zu wait already",
                      j->count.active, j->count.queued);
        j->count.refused++;
        put(job);
        job = NULL;
    } else {
        job->number = ++j->n_jobs;
        job->refs++; /* put in done() */
        *j->end = job;
        j->end = &job->next;
        j->count.queued++;
        pthread_cond_signal(&j->work);
    }
    pthread_mutex_unlock(&j->lock);
    return job;
}

void hx_job_wait(struct hx_serve_job *job, size_t seen)
{
    pthread_mutex_lock(&job->jobs->lock);
    while (job->state != HX_JOB_DONE && job->n <= seen)
        pthread_cond_wait(&job->news, &job->jobs->lock);
    pthread_mutex_unlock(&job->jobs->lock);
}

void hx_job_wait_done(struct hx_serve_job *job)
{
    hx_job_wait(job, SIZE_MAX);
}

char *hx_job_text(struct hx_serve_job *job, size_t from, size_t *n, int *is_done)
{
    char *text;

    pthread_mutex_lock(&job->jobs->lock);
    *n = job->n - from;
    *is_done = job->state == HX_JOB_DONE;
    text = malloc(*n + 1);
    if (text) {
        if (*n)
            memcpy(text, job->text + from, *n);
        text[*n] = '\0';
    }
    pthread_mutex_unlock(&job->jobs->lock);
    return text;
}

size_t hx_job_made(struct hx_serve_job *job)
{
    size_t n;

    pthread_mutex_lock(&job->jobs->lock);
    n = job->n_made;
    pthread_mutex_unlock(&job->jobs->lock);
    return n;
}

void hx_job_leave(struct hx_serve_job *job)
{
    struct hx_jobs *j;

    if (!job)
        return;
    j = job->jobs;
    pthread_mutex_lock(&j->lock);
    job->cancelled |= job->state != HX_JOB_DONE;
    job->fd = -1; /* it may soon be another connection's */
    put(job);
    pthread_mutex_unlock(&j->lock);
}

struct hx_jobs_counts hx_jobs_count(struct hx_jobs *j)
{
    struct hx_jobs_counts count;

    pthread_mutex_lock(&j->lock);
    count = j->count;
    pthread_mutex_unlock(&j->lock);
    return count;
}

/* --- life */

int hx_jobs_open(struct hx_jobs **out, const struct hx_jobs_engines *engines, size_t queued)
{
    const size_t n = engines->n;
    struct hx_jobs *j = calloc(1, sizeof(*j));
    int rc = -ENOMEM;

    if (!j)
        return rc;
    j->slots = calloc(n, sizeof(*j->slots));
    j->fds = calloc(n + queued, sizeof(*j->fds));
    if (!j->slots || !j->fds)
        goto fail;
    for (size_t i = 0; i < n; i++)
        j->slots[i].e = engines->at[i];
    j->engines = *engines;
    j->n_slots = n;
    j->max_queued = queued;
    j->end = &j->first;
    pthread_mutex_init(&j->lock, NULL);
    hx_timed_wait_init(&j->work);
    rc = -pthread_create(&j->thread, NULL, compute, j);
    if (rc)
        goto fail;
    *out = j;
    return 0;
fail:
    free(j->fds);
    free(j->slots);
    free(j);
    return rc;
}

void hx_jobs_stop(struct hx_jobs *j)
{
    pthread_mutex_lock(&j->lock);
    j->stop = 1;
    pthread_cond_signal(&j->work);
    pthread_mutex_unlock(&j->lock);
    pthread_join(j->thread, NULL);
}

void hx_jobs_close(struct hx_jobs *j)
{
    if (!j)
        return;
    pthread_cond_destroy(&j->work);
    pthread_mutex_destroy(&j->lock);
    for (size_t i = 0; i < j->n_slots; i++)
        hx_past_forget(&j->slots[i].past);
    free(j->fds);
    free(j->slots);
    free(j);
}
