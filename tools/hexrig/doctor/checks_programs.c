/* hexrig doctor: what was installed, and what of the machine's programs a rig needs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks.h"
#include "cli/share.h"
#include "hx_version.h"

/* --- hexrig's own files */

static const char *const needed[] = {"libexec/hexrig/hexrig-fuse", "libexec/hexrig/hexrig-dsp", "lib/libsp_hex_skel.so",
                                     "share/hexrig/hexrig-tiny-q8_0.gguf", "share/hexrig/profiles/s22u-577.conf"};

/* The file as it lies in this installation; malloc'ed, NULL: that cannot be told. */
static char *installed(const char *name)
{
    char *share = hx_share(""), *path = NULL;
    const int prefix = share ? (int)(strlen(share) - strlen("/share/hexrig")) : 0;

    if (share && asprintf(&path, "%.*s/%s", prefix, share, name) < 0)
        path = NULL;
    free(share);
    return path;
}

/* "hexrig-fuse 0.1.0" -> "0.1.0"; 0: it does not run. */
static int version_of(const char *program, char *version, size_t bytes)
{
    char *command = NULL, line[128] = "", *blank;
    FILE *out;

    if (asprintf(&command, "'%s' --version 2>/dev/null", program) < 0)
        return 0;
    out = popen(command, "re");
    free(command);
    if (!out)
        return 0;
    if (!fgets(line, sizeof(line), out))
        line[0] = '\0';
    if (pclose(out))
        return 0;
    line[strcspn(line, "\n")] = '\0';
    blank = strrchr(line, ' ');
    snprintf(version, bytes, "%s", blank ? blank + 1 : line);
    return 1;
}

void hx_check_programs(struct hx_finding *f)
{
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        char *path = installed(needed[i]), version[64] = "";
        const int is_program = strstr(needed[i], "libexec") != NULL;

        if (!path || access(path, is_program ? X_OK : R_OK)) {
            hx_found(f, HX_DOCTOR_FAIL, "%s: %s", path ? path : needed[i], path ? strerror(errno) : "this program cannot find its folder");
        } else if (is_program && !version_of(path, version, sizeof(version))) {
            hx_found(f, HX_DOCTOR_FAIL, "%s does not run: a library is missing, or it is for another processor", path);
        } else if (is_program && strcmp(version, hx_version) != 0) {
            hx_found(f, HX_DOCTOR_FAIL, "%s is %s, this is hexrig %s", path, version, hx_version);
        }
        free(path);
        if (f->state == HX_DOCTOR_FAIL) {
            hx_to_do(f, "make, or make install once more, into one folder");
            return;
        }
    }
    hx_found(f, HX_DOCTOR_OK, "hexrig %s, complete", hx_version);
}

/* --- the machine's */

void hx_check_fuse(struct hx_finding *f)
{
    const int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    if (fd >= 0) {
        close(fd);
        hx_found(f, HX_DOCTOR_OK, "/dev/fuse opens");
        return;
    }
    hx_found(f, HX_DOCTOR_NOTE, "/dev/fuse: %s; rigs are Unix sockets, and programs that open device files need hexrig run-with",
             strerror(errno));
    if (errno == ENOENT)
        hx_to_do(f, "modprobe fuse; for a container: docker run --device /dev/fuse --cap-add SYS_ADMIN");
    else if (errno == EACCES)
        hx_to_do(f, "chmod 0666 /dev/fuse as root, as most distributions have it");
    else
        hx_to_do(f, "a container that is granted the device: docker run --device /dev/fuse --cap-add SYS_ADMIN");
}

/* The path of a program in PATH; 1: it is there. */
static int in_path(const char *name, char *path, size_t bytes)
{
    const char *dirs = getenv("PATH");

    while (dirs && *dirs) {
        const size_t n = strcspn(dirs, ":");

        snprintf(path, bytes, "%.*s/%s", (int)n, dirs, name);
        if (n && access(path, X_OK) == 0)
            return 1;
        dirs += n + (dirs[n] == ':');
    }
    return 0;
}

/* fusermount3 clears the mount of a rig that was killed, and makes one for who is not root; its table of mounts is /etc/mtab. */
void hx_check_unmounting(struct hx_finding *f)
{
    char path[4200];
    struct stat st;

    if (!in_path("fusermount3", path, sizeof(path))) {
        hx_found(f, HX_DOCTOR_NOTE, "no fusermount3 in PATH: rigs are Unix sockets");
        hx_to_do(f, "apt-get install fuse3");
    } else if (geteuid() && stat(path, &st) == 0 && !(st.st_mode & S_ISUID && st.st_uid == 0)) {
        hx_found(f, HX_DOCTOR_NOTE, "%s is not set-uid root: only root's rigs can mount", path);
        hx_to_do(f, "chown root %s && chmod u+s %s", path, path);
    } else if (access("/etc/mtab", R_OK)) {
        hx_found(f, HX_DOCTOR_NOTE, "/etc/mtab: %s; fusermount3 does not unmount without it", strerror(errno));
        hx_to_do(f, "ln -s /proc/self/mounts /etc/mtab");
    } else {
        hx_found(f, HX_DOCTOR_OK, "%s", path);
    }
}
