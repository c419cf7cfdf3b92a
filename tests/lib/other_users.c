/* What rigs of other users need of the machine, see other_users.h. */
#include "other_users.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "hxt.h"
#include "hxt_proc.h"

static int make_private(const char *mount_point)
{
    return mount(NULL, mount_point, NULL, MS_REC | MS_PRIVATE, NULL);
}

/* The root of a chroot may be a plain folder of a mount that lies outside: then there is nothing here to make private.  A root that is a
 * mount point shows the same files; it lies over /proc, which is a mount, so that nobody else's mount gets one upon it. */
static int enter_root_that_is_a_mount(void)
{
    char here[4096];

    if (!getcwd(here, sizeof(here)) || make_private("/proc") || mount("/", "/proc", NULL, MS_BIND | MS_REC, NULL) ||
        make_private("/proc"))
        return -1;
    return chroot("/proc") || chdir(here) ? -1 : 0;
}

int hxt_own_mounts(void)
{
    if (unshare(CLONE_NEWNS))
        return -1;
    if (make_private("/") == 0)
        return 0;
    return errno == EINVAL ? enter_root_that_is_a_mount() : -1;
}

int hxt_fuse_with_mode(const char *folder, mode_t mode)
{
    const char *dir = hxt_path("%s/dev", folder), *node = hxt_path("%s/fuse", dir);
    int rc;

    if (mkdir(dir, 0755) || mount("hxt", dir, "tmpfs", 0, NULL))
        return -1;
    rc = mknod(node, S_IFCHR | mode, makedev(10, 229)) || chmod(node, mode) ||
         mount(node, "/dev/fuse", NULL, MS_BIND, NULL);
    umount2(dir, MNT_DETACH);
    rmdir(dir);
    return rc ? -1 : 0;
}

int hxt_fuse_lets_others_in(const char *folder)
{
    static const char conf[] = "user_allow_other\n";
    const char *path = hxt_path("%s/fuse.conf", folder);

    hxt_write_file(path, conf, sizeof(conf) - 1);
    return chmod(path, 0644) || mount(path, "/etc/fuse.conf", NULL, MS_BIND, NULL) ? -1 : 0;
}

static void use_build(const char *build)
{
    setenv("HEXRIG_LIBEXEC", hxt_path("%s/libexec/hexrig", build), 1);
    setenv("DSP_LIBRARY_PATH", hxt_path("%s/tests", build), 1);
}

int hxt_show_build(const char *folder)
{
    const char *build = hxt_path("%s/build", folder);

    if (mkdir(build, 0755) || mount(HXT_BUILD, build, NULL, MS_BIND, NULL))
        return -1;
    use_build(build);
    return 0;
}

static int copy_build(const char *folder)
{
    const char *build = hxt_path("%s/build", folder);
    const char *script = "umask 022 && mkdir -p \"$1\" && cd \"$0\" && cp -R bin lib libexec share \"$1\" && mkdir \"$1/tests\" && "
                         "cp tests/lib*_skel.so \"$1/tests\"";
    const char *argv[] = {"sh", "-c", script, HXT_BUILD, build, NULL};

    if (!hxt_succeeds(&(struct hxt_cmd){.argv = argv}))
        return -1;
    use_build(build);
    return 0;
}

static int nobody_can_run(const char *build)
{
    const char *argv[] = {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c",
                          hxt_path("test -x %s/libexec/hexrig/hexrig-fuse -a -r %s/lib/libsp_hex_skel.so", build, build), NULL};

    return hxt_succeeds(&(struct hxt_cmd){.argv = argv});
}

int hxt_build_for_nobody(const char *folder, char *build, size_t bytes)
{
    snprintf(build, bytes, "%s", HXT_BUILD);
    if (geteuid() != 0 || nobody_can_run(build))
        return geteuid() == 0;
    if (chmod(folder, 0711))
        return 0;
    if ((hxt_own_mounts() || hxt_show_build(folder)) && copy_build(folder))
        return 0;
    snprintf(build, bytes, "%s/build", folder);
    return nobody_can_run(build);
}
