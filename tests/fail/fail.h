/* What the program of a test and the library that makes calls fail share: a file that both map. */
#ifndef HXT_FAIL_H
#define HXT_FAIL_H

#include <stdint.h>

/* Environment: the file, and the name of the program that it is for. */
#define HXT_FAIL_STATE "HXT_FAIL_STATE"
#define HXT_FAIL_PROGRAM "HXT_FAIL_PROGRAM"

#define HXT_FAIL_FUNCTIONS(X) \
    X(malloc) X(calloc) X(mmap) X(memfd_create) X(eventfd) X(socketpair) X(fork) X(epoll_ctl) X(sendmsg) X(recvmsg) \
    X(pthread_create)

#define HXT_FAIL_ENUM(f) HXT_FAIL_##f,
enum hxt_fail_function { HXT_FAIL_FUNCTIONS(HXT_FAIL_ENUM) HXT_FAIL_N };

struct hxt_fail {
    _Atomic uint32_t armed;    /* 0: every call works */
    _Atomic uint32_t function; /* enum hxt_fail_function */
    _Atomic uint32_t nth;      /* the call that fails, from 1 */
    _Atomic uint32_t all;      /* and all after it */
    _Atomic uint32_t calls;    /* so far, of all processes */
    _Atomic uint32_t failed;
};

#endif
