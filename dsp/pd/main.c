/* hexrig-dsp: the emulated cDSP.  The driver starts it; it is not a command for users. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/low_memory.h"
#include "base/machine.h"
#include "hx_version.h"
#include "module.h"
#include "base/placement.h"
#include "root_pd.h"
#include "sandbox.h"

static const struct option options[] = {
    {"channel", required_argument, NULL, 'c'}, {"profile", required_argument, NULL, 'p'},
    {"skel-path", required_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'},
    {"vtcm-table", required_argument, NULL, 't'}, {"version", no_argument, NULL, 'V'}, {0},
};

static void usage(FILE *out)
{
    fprintf(out, "usage: hexrig-dsp --channel FD,FD,FD,FD,FD --profile PATH --skel-path DIR[:DIR...]\n"
                 "                  [--vtcm-table FD]\n"
                 "The emulated DSP of a rig.  hexrig-fuse starts it and passes the descriptors:\n"
                 "rings, arena, request bell, reply bell, control socket.\n");
}

static int parse_channel(const char *text, int *fd)
{
    int used = 0;

    if (sscanf(text, "%d,%d,%d,%d,%d%n", &fd[0], &fd[1], &fd[2], &fd[3], &fd[4], &used) !=
        HX_FD_LOG)
        return -1;
    return text[used] ? -1 : 0;
}

static int fail(const char *what, int rc)
{
    fprintf(stderr, "hexrig-dsp: %s: %s\n", what, strerror(-rc));
    return 1;
}

/* The folder of the profiles that came with this program; a user's own profile may include one of them. */
static const char *shipped_profiles(void)
{
    static const char from_here[] = "/../../share/hexrig/profiles";
    static char path[4096 + sizeof(from_here)];
    ssize_t n = readlink("/proc/self/exe", path, 4096);
    char *slash;

    path[n > 0 ? n : 0] = '\0';
    slash = strrchr(path, '/');
    strcpy(slash ? slash : path, from_here);
    return path;
}

int main(int argc, char **argv)
{
    const char *profile_path = NULL, *skel_path = "";
    int fd[HX_PD_FDS] = {-1, -1, -1, -1, -1, -1}, table_fd = -1, c, rc;
    static struct hx_dsp_channel channel;
    struct hx_profile profile;
    char why[512];

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'c':
            if (parse_channel(optarg, fd)) {
                fprintf(stderr, "hexrig-dsp: --channel '%s' is not five numbers\n", optarg);
                return 2;
            }
            break;
        case 'p': profile_path = optarg; break;
        case 's': skel_path = optarg; break;
        case 't': table_fd = atoi(optarg); break;
        case 'h': usage(stdout); return 0;
        case 'V': printf("hexrig-dsp %s\n", hx_version); return 0;
        default: usage(stderr); return 2;
        }
    }
    if (!profile_path || fd[0] < 0 || optind != argc) {
        usage(stderr);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a DSP without its driver is of no use */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* Ctrl-C is the driver's to handle, it ends us */
    hx_low_heap();
    hx_placement_start();
    if (hx_profile_load(&profile, shipped_profiles(), profile_path, why, sizeof(why))) {
        fprintf(stderr, "hexrig-dsp: %s\n", why);
        return 1;
    }
    rc = hx_machine_init(&profile);
    if (rc)
        return fail("VTCM at 0xFF000000", rc);
    rc = table_fd < 0 ? 0 : hx_machine_share_vtcm_table(table_fd);
    if (rc)
        return fail("--vtcm-table", rc);
    hx_module_set_path(skel_path);
    rc = hx_sandbox(skel_path);
    if (rc)
        return fail("sandbox", rc);
    rc = hx_dsp_channel_open(&channel, fd);
    if (rc)
        return fail("channel", rc);
    rc = hx_root_pd_main(&channel);
    hx_dsp_channel_close(&channel);
    return rc;
}
