/* What the program of a test and the library that makes calls fail share: a file that both map. */
#ifndef HXT_FAIL_H
#define HXT_FAIL_H

#include <stdint.h>

/* Environment: the file, and the name of the program that it is for.  A user PD, which the DSP forks, is "hexrig-pd". */
#define HXT_FAIL_STATE "HXT_FAIL_STATE"
#define HXT_FAIL_PROGRAM "HXT_FAIL_PROGRAM"
#define HXT_FAIL_PD "hexrig-pd"

/* Some stand for a family:
 *   pipe       pipe2
 *   open       openat, fopen, opendir
 *   read       pread, fread, fgets, getline; not of devices (/dev/fuse), eventfds and their like
 *   write      pwrite, fwrite, fflush and fclose of what was written; likewise */
#define HXT_FAIL_FUNCTIONS(X) \
    X(malloc) X(calloc) X(realloc) X(aligned_alloc) X(mmap) X(memfd_create) X(eventfd) X(socketpair) X(pipe) X(fork) \
    X(posix_spawn) X(pthread_create) X(epoll_ctl) X(sendmsg) X(recvmsg) X(open) X(read) X(write) X(ftruncate)

#define HXT_FAIL_ENUM(f) HXT_FAIL_##f,
enum hxt_fail_function { HXT_FAIL_FUNCTIONS(HXT_FAIL_ENUM) HXT_FAIL_N };

struct hxt_fail {
    _Atomic uint32_t armed;    /* 0: every call works, and none is counted */
    _Atomic uint32_t function; /* enum hxt_fail_function */
    _Atomic uint32_t nth;      /* the call that fails, from 1; 0: none */
    _Atomic uint32_t all;      /* and all after it */
    _Atomic uint32_t calls[HXT_FAIL_N]; /* so far, of all processes */
    _Atomic uint32_t failed;
};

/* The library's own; absent (NULL) where it is not preloaded.  NULL also when it is there for another program. */
struct hxt_fail *hxt_fail_state(void) __attribute__((weak));

#endif
