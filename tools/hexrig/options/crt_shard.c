/* --crt-shard: starts the other process, gives each of the two a rig, and joins their exit codes. */
#include "crt_shard.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dsp/offload.h"
#include "methods/ntt/shard/shard.h"

int hx_crt_shard_open(struct hx_engine_opts *o)
{
    struct hx_error err = {""};
    char *libexec;
    int rc;

    if (!hx_plan_given(o->plan, "crt-shard"))
        return HX_EXIT_OK;
    if (asprintf(&libexec, "%s/../../libexec/hexrig", o->share) < 0)
        return hx_cmd_fail(o->cmd, "out of memory");
    fflush(stdout);
    rc = hx_shard_open(&o->shard, libexec, &err);
    free(libexec);
    hx_plan_share(o->plan, o->shard);
    if (o->shard && hx_shard_prime(o->shard) != 0)
        hx_plan_make_second(o->plan);
    return rc ? hx_cmd_fail(o->cmd, "%s", err.text) : HX_EXIT_OK;
}

/* A number of the rig that HEXRIG_DEVICE names, wherever it is; 0: none. */
static uint64_t named_rig(void)
{
    const char *device = getenv("HEXRIG_DEVICE");
    char host[256] = "", path[PATH_MAX];
    uint64_t h;

    if (!device || !*device)
        return 0;
    if (realpath(device, path))
        device = path;
    gethostname(host, sizeof(host) - 1);
    h = hx_shard_digest(0, host, strlen(host));
    return hx_shard_digest(h, device, strlen(device)) | 1;
}

int hx_crt_shard_rig(const struct hx_engine_opts *o, int *own)
{
    const uint64_t here = named_rig();
    struct hx_error err = {""};
    uint32_t mine[2], theirs[2];

    *own = 0;
    if (!o->shard || !(hx_plan_offload(o->plan) & HX_OFFLOAD_KV) ||
        !(hx_plan_method(o->plan, HX_SEAM_KV)->gives & HX_TRAIT_RESIDUES))
        return HX_EXIT_OK;
    memcpy(mine, &here, sizeof(mine));
    if (hx_shard_swap(o->shard, hx_shard_digest(0, "rig", 3), mine, theirs, 2, &err))
        return hx_cmd_fail(o->cmd, "%s", err.text);
    *own = !here || memcmp(mine, theirs, sizeof(mine)) == 0;
    return HX_EXIT_OK;
}

int hx_crt_shard_close(struct hx_engine_opts *o, int rc)
{
    const int failed = hx_shard_close(o->shard, rc > HX_EXIT_OK);

    o->shard = NULL;
    return failed && rc <= HX_EXIT_OK ? HX_EXIT_FAILED : rc;
}

json_t *hx_crt_shard_report(const struct hx_engine_opts *o)
{
    return json_pack("{s:s, s:i, s:I}", "transport", hx_shard_transport(o->shard), "prime", hx_shard_prime(o->shard),
                     "words", (json_int_t)hx_shard_words(o->shard));
}
