/* The isolation suite's rigs and counts, see isolation.h. */
#include "isolation.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "other_users.h"
#include "own_rig.h"

/* --- counts ------------------------------------------------------------------------------------------------------------ */

static unsigned refused, through, wrong;
static const char *rig_of;

const char *iso_rig_of(void)
{
    return rig_of;
}

/* Nobody but the reader can tell an errno from an AEE code of a skel: both are shown. */
static const char *error_text(int error)
{
    return error > 0 && error < 0x200 ? hxt_path("%s (0x%x)", strerror(error), (unsigned)error)
                                      : hxt_path("0x%x", (unsigned)error);
}

void iso_attempt(const char *name, int expected, int got)
{
    if (expected && got)
        refused++;
    else if (expected)
        through++;
    if (got != expected) {
        print_error("%s: %s, not %s\n", name, error_text(got), error_text(expected));
        wrong++;
    }
    if (getenv("HXT_ATTEMPTS"))
        print_message("%-48s %s\n", name, got ? error_text(got) : "may be done");
}

void iso_end(const char *attacker, unsigned least)
{
    const unsigned attempts = refused + through, bad = wrong;

    printf("| %s | rig of %s | %s | %u attempts refused, %u got through |\n", attacker, rig_of, own_rig_front_end, refused,
           through);
    refused = through = wrong = 0;
    assert_int_equal(bad, 0);
    assert_true(attempts >= least);
}

/* --- rigs --------------------------------------------------------------------------------------------------------------- */

int iso_changes_user;

int iso_become(unsigned uid)
{
    if (geteuid() != uid && (seteuid(0) || setgroups(0, NULL) || setresgid(uid, uid, uid)))
        return -1;
    return setresuid(uid, uid, uid) || prctl(PR_SET_DUMPABLE, 1) ? -1 : 0;
}

static int (*run_front_end)(const char *front_end);

/* The leak checker of a sanitizer cannot look into a process that might be root again. */
static int run_and_stay_nobody(const char *front_end)
{
    int rc = run_front_end(front_end);

    return iso_become(HXT_NOBODY) ? 1 : rc;
}

/* In a process of its own; `folder` is nobody's. */
static int run_as_nobody(const char *folder)
{
    int rc;

    if (hxt_own_mounts() || hxt_show_build(folder)) {
        printf("skip: nobody's rig: no mount namespace: %s\n", strerror(errno));
        return 0;
    }
    if (access("/dev/fuse", F_OK) == 0 && (hxt_fuse_with_mode(folder, 0666) || hxt_fuse_lets_others_in(folder)))
        printf("skip: nobody's rig on fuse: no /dev/fuse with mode 0666: %s\n", strerror(errno));
    setenv("TMPDIR", folder, 1);
    if (setgroups(0, NULL) || setresgid(HXT_NOBODY, HXT_NOBODY, HXT_NOBODY) ||
        setresuid(HXT_NOBODY, HXT_NOBODY, iso_changes_user ? 0 : HXT_NOBODY) || prctl(PR_SET_DUMPABLE, 1))
        return 1;
    if (access(folder, W_OK | X_OK)) {
        printf("skip: nobody's rig: TMPDIR is not for everybody: %s: %s\n", folder, strerror(errno));
        return 0;
    }
    rc = own_rig_run_both(run_and_stay_nobody);
    return iso_become(HXT_NOBODY) ? 1 : rc;
}

static int run_for_nobody(void)
{
    const char *parent = getenv("TMPDIR");
    char folder[4096];
    int rc;

    if (geteuid() != 0) {
        printf("skip: nobody's rig: only root can start it\n");
        return 0;
    }
    snprintf(folder, sizeof(folder), "%s/hxt-nobody-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder) || chown(folder, HXT_NOBODY, HXT_NOBODY))
        return 1;
    rig_of = "nobody";
    rc = own_rig_run(run_as_nobody, folder);
    hxt_remove_tree(folder);
    return rc;
}

int iso_run(int (*run)(const char *front_end))
{
    int rc;

    run_front_end = run;
    rig_of = geteuid() == 0 ? "root" : "user";
    rc = own_rig_run_both(run);
    return rc | run_for_nobody();
}
