/* Reads the launcher's variables. */
#include "launcher.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The innermost one first: an mpirun within an allocation of Slurm's sees both. */
static const struct names {
    const char *rank, *ranks, *job, *step; /* job, step: tell jobs apart; NULL: there is none */
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", NULL},
    {"PMI_RANK", "PMI_SIZE", "PMI_JOBID", NULL},
    {"PMIX_RANK", "SLURM_NTASKS", "PMIX_NAMESPACE", NULL},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID"},
};

/* A script of sbatch is task 0 of as many as it has been given processors for, but it is alone until it calls srun. */
static int is_batch_script(void)
{
    return getenv("SLURM_JOB_ID") && !getenv("SLURM_STEP_ID") && !getenv("SLURM_STEP_NUM_TASKS");
}

static const struct names *started_by(void)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
        if (getenv(launchers[i].rank) && getenv(launchers[i].ranks) &&
            !(strncmp(launchers[i].ranks, "SLURM", 5) == 0 && is_batch_script()))
            return &launchers[i];
    return NULL;
}

static int number(const char *name, size_t least, size_t most, size_t *out, struct hx_error *err)
{
    const char *text = getenv(name);
    char *end;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n < least || n > most)
        return hx_error_set(err, -EINVAL, "%s is '%s'; legal: %zu to %zu", name, text, least, most);
    *out = n;
    return 0;
}

/* Ranks of one machine have a session in common; those of several need a name from the launcher. */
static void name_job(struct hx_launcher *l, const struct names *n)
{
    const char *job = n->job ? getenv(n->job) : NULL, *step = n->step ? getenv(n->step) : NULL;

    if (job)
        snprintf(l->job, sizeof(l->job), "%s%s%s", job, step ? "." : "", step ? step : "");
    else
        snprintf(l->job, sizeof(l->job), "%ld", (long)getsid(0));
    for (char *c = l->job; *c; c++)
        *c = isalnum((unsigned char)*c) || *c == '.' ? *c : '-';
}

int hx_launcher_find(struct hx_launcher *l, struct hx_error *err)
{
    const struct names *n = started_by();
    int rc;

    *l = (struct hx_launcher){.ranks = 1};
    if (!n && getenv("PMIX_RANK"))
        return hx_error_set(err, -EINVAL, "PMIX_RANK is '%s', and no OMPI_COMM_WORLD_SIZE, PMI_SIZE or SLURM_NTASKS says of how many",
                            getenv("PMIX_RANK"));
    if (!n)
        return 0;
    rc = number(n->ranks, 1, HX_LAUNCHER_RANKS, &l->ranks, err);
    if (!rc)
        rc = number(n->rank, 0, l->ranks - 1, &l->rank, err);
    name_job(l, n);
    return rc;
}
