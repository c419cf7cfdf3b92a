/* Opens that came through libfuse, see fuse_open.h. */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "client_memory.h"
#include "core/driver.h"
#include "fuse_open.h"

struct fuse_open {
    struct hx_opener opener;
    fuse_req_t req;
    struct fuse_file_info fi;
    bool signalled; /* FUSE_INTERRUPT came */
};

static bool some_signalled;

static struct fuse_open *open_of(struct hx_opener *o)
{
    return (struct fuse_open *)(void *)((char *)o - offsetof(struct fuse_open, opener));
}

static void opened(struct hx_opener *o, struct hx_session *s, int rc)
{
    struct fuse_open *f = open_of(o);

    fuse_req_interrupt_func(f->req, NULL, NULL);
    f->fi.fh = (uintptr_t)s;
    if (rc)
        fuse_reply_err(f->req, -rc);
    else if (fuse_reply_open(f->req, &f->fi))
        hx_session_close(s); /* the opener was killed meanwhile */
    free(f);
}

/* Only notes it: libfuse calls this while it holds locks of its own. */
static void interrupted(fuse_req_t req, void *data)
{
    struct fuse_open *f = data;

    (void)req;
    f->signalled = true;
    some_signalled = true;
}

void hx_fuse_open(struct fuse_req *req, const struct fuse_file_info *fi, struct hx_driver *d, pid_t pid, bool secure)
{
    struct fuse_open *f = malloc(sizeof(*f));

    if (!f) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    *f = (struct fuse_open){
        .opener = {.driver = d, .pid = pid, .uid = hx_client_user(fuse_req_ctx(req)->pid, fuse_req_ctx(req)->uid),
                   .secure_node = secure, .opened = opened},
        .req = req,
        .fi = *fi,
    };
    fuse_req_interrupt_func(req, interrupted, f);
    hx_open(&f->opener);
}

/* Of those that wait, the ones of this front end: all, or those that have got a signal. */
static void end_those(struct hx_driver *d, bool all, int rc)
{
    struct hx_opener *next;

    for (struct hx_opener *o = d->openers; o; o = next) {
        next = o->next;
        if (o->opened == opened && (all || open_of(o)->signalled))
            hx_open_refuse(o, rc);
    }
}

void hx_fuse_open_interrupts(struct hx_driver *d)
{
    if (!some_signalled)
        return;
    some_signalled = false;
    end_those(d, false, -EINTR);
}

void hx_fuse_open_end_all(struct hx_driver *d)
{
    end_those(d, true, -ENOENT);
}
