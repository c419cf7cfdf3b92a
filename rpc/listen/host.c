/* What a listener's thread serves with: made, found, closed. */
#include "host.h"

#include <stdlib.h>

#include "rpcmem.h"

static __thread struct hx_host *current;

struct hx_host *hx_host_of_thread(void)
{
    return current;
}

void hx_host_serve(struct hx_host *h)
{
    current = h;
}

struct hx_host *hx_host_new(struct hx_client_session *s)
{
    struct hx_host *h = calloc(1, sizeof(*h));

    if (!h)
        return NULL;
    h->session = s;
    h->folders = hx_host_folders_of_environment();
    if (h->folders)
        return h;
    free(h);
    return NULL;
}

void hx_host_free(struct hx_host *h)
{
    if (!h)
        return;
    for (unsigned i = 0; i < HX_HOST_FILES; i++)
        if (h->file[i])
            fclose(h->file[i]);
    for (unsigned i = 0; i < HX_HOST_DIRS; i++)
        if (h->dir[i])
            closedir(h->dir[i]);
    for (unsigned i = 0; i < HX_HOST_MEMORY; i++)
        rpcmem_free(h->memory[i].va);
    hx_host_folders_free(h->folders);
    free(h);
}
