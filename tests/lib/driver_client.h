/* Test support: a client of the driver by raw ioctls, without the library, of the rig that own_rig.h started on FUSE.
 *
 * drv_connect(), drv_open_skel() and drv_stats() fail the current test when the driver refuses; the others return what
 * ioctl() returns and leave errno. */
#ifndef DRIVER_CLIENT_H
#define DRIVER_CLIENT_H

#include <stdint.h>

#include "fastrpc_uapi.h"
#include "hx_session_stats.h"
#include "own_rig.h"
#include "skel/hxt_skel.h"

int drv_open(const char *node); /* "fastrpc-cdsp"; as open() */
int drv_create(int fd, uint32_t attrs, uint32_t filelen);
uint32_t drv_open_skel(int fd);     /* the test skel in the PD of fd; its handle */
int drv_connect(uint32_t *handle);  /* an open node with an unsigned PD and the test skel in it */

struct fastrpc_invoke_args drv_arg(void *p, size_t n);
int drv_invoke(int fd, uint32_t handle, uint32_t sc, struct fastrpc_invoke_args *args);
/* A method of the test skel with `in` alone, or with n bytes of output. */
int drv_call0(int fd, uint32_t handle, enum hxt_method m, struct hxt_in in);
int drv_call1(int fd, uint32_t handle, enum hxt_method m, struct hxt_in in, void *out, size_t n);

struct hx_session_stats drv_stats(int fd);
/* 1 when the driver has counted the second call of *fd (the first opened the skel), so that it has reached the DSP. */
int drv_call_is_under_way(void *fd);

/* drv_call0() of a thread: drv_run_caller(struct drv_caller *). */
struct drv_caller {
    int fd;
    uint32_t handle;
    enum hxt_method method;
    struct hxt_in in;
    int result, error;
};
void *drv_run_caller(void *caller);

/* A client in a process of its own, which runs `client(ready)` and then ends; returns its pid (> 1) when that has
 * written a byte to `ready`.  The caller waits for it. */
pid_t drv_fork(void (*client)(int ready));

double drv_now(void); /* CLOCK_MONOTONIC, seconds */

/* The group with an own rig, or exit 77 without /dev/fuse. */
#define DRV_RUN(tests) drv_run_group(#tests, tests, HXT_LEN(tests))
int drv_run_group(const char *name, const struct CMUnitTest *tests, size_t n);

#endif
