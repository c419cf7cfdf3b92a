/* The threads of this process that read ahead (host/pager/prefetch.h). */
#ifndef PREFETCH_READERS_H
#define PREFETCH_READERS_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "hxt.h"

/* Threads that read ahead. */
static inline int readers(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *d;
    int n = 0;

    assert_non_null(tasks);
    while ((d = readdir(tasks))) {
        FILE *f = fopen(hxt_path("/proc/self/task/%s/comm", d->d_name), "r");
        char name[32] = "";

        if (!f)
            continue; /* it has just ended */
        n += fgets(name, sizeof(name), f) && strcmp(name, "hx-prefetch\n") == 0;
        fclose(f);
    }
    closedir(tasks);
    return n;
}

/* For hxt_until(): a thread that was joined is still to be seen for a moment. */
static inline int no_readers(void *arg)
{
    (void)arg;
    return readers() == 0;
}

#endif
