/* What a listener's thread serves apps_std, apps_mem and adspmsgd_apps with: open files and folders, memory.  The functions of these
 * interfaces (the IDL files in rpc/reverse) are called by their skels on that thread, and act on what it has begun with. */
#ifndef HX_HOST_H
#define HX_HOST_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host_folders.h"
#include "hx_session.h"

enum { HX_HOST_FILES = 256, HX_HOST_DIRS = 64, HX_HOST_MEMORY = 256, HX_HOST_FIRST_FILE = 100 };
#define HX_HOST_MEMORY_BYTES ((int64_t)4 << 30) /* of all its memory: what a DSP has addresses for */

/* Memory that the DSP has asked for. */
struct hx_host_memory {
    void *va; /* NULL = free entry */
    uint64_t vadsp; /* what the DSP knows it by: its address, or the descriptor */
    int64_t bytes;
};

/* Numbers that the DSP knows are indices: of files from HX_HOST_FIRST_FILE on, of folders from 1 on. */
struct hx_host {
    struct hx_host_folders *folders;
    struct hx_client_session *session; /* whose DSP it serves */
    FILE *file[HX_HOST_FILES];
    DIR *dir[HX_HOST_DIRS];
    struct hx_host_memory memory[HX_HOST_MEMORY];
    int64_t memory_bytes; /* of these */
};

/* The calling thread's; NULL: it is no listener's. */
struct hx_host *hx_host_of_thread(void);

/* Makes it, with the folders that the environment declares now.  NULL: no memory. */
struct hx_host *hx_host_new(struct hx_client_session *s);

/* The calling thread serves with it from now on. */
void hx_host_serve(struct hx_host *h);

/* Closes and frees all that the DSP has left open.  Accepts NULL. */
void hx_host_free(struct hx_host *h);

#endif
