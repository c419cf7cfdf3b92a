/* hexrig doctor: folders and mounts of rigs, and whether one starts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks.h"
#include "hx_rig.h"

static void own_folder(char *dir, size_t bytes)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (runtime && access(runtime, W_OK) == 0)
        snprintf(dir, bytes, "%s/hexrig", runtime);
    else
        snprintf(dir, bytes, "/tmp/hexrig-%u", (unsigned)geteuid());
}

void hx_check_folder(struct hx_finding *f)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char dir[4200];
    struct stat st;

    own_folder(dir, sizeof(dir));
    if (lstat(dir, &st) == 0 && st.st_uid != geteuid()) {
        hx_found(f, HX_DOCTOR_FAIL, "%s belongs to user %u", dir, (unsigned)st.st_uid);
        hx_to_do(f, "hexrig up --mount DIR with a folder of yours, or set XDG_RUNTIME_DIR to one");
    } else if (runtime && *runtime && access(runtime, W_OK)) {
        hx_found(f, HX_DOCTOR_NOTE, "XDG_RUNTIME_DIR=%s: %s; the default rig is %s", runtime, strerror(errno), dir);
        hx_to_do(f, "unset it, or make that folder: mkdir -m 700 %s", runtime);
    } else {
        hx_found(f, HX_DOCTOR_OK, "the default rig is %s", dir);
    }
}

/* Blanks of /proc/self/mountinfo are octal numbers there. */
static void unescape(char *text)
{
    char *to = text;

    for (; *text; text++) {
        unsigned c = 0;

        if (*text == '\\' && sscanf(text + 1, "%3o", &c) == 1 && c && strlen(text) > 3)
            text += 3;
        *to++ = c ? (char)c : *text;
    }
    *to = '\0';
}

/* A rig's mount without a server answers so, and at once. */
static int is_dead(const char *dir)
{
    struct stat st;

    return stat(dir, &st) && errno == ENOTCONN;
}

void hx_check_mounts(struct hx_finding *f)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char *line = NULL, dir[4200], dead[300] = "";
    size_t room = 0;
    int rigs = 0, n_dead = 0;

    while (file && getline(&line, &room, file) > 0) {
        if (!strstr(line, " - fuse.hexrig ") || sscanf(line, "%*s %*s %*s %*s %4199s", dir) != 1)
            continue;
        unescape(dir);
        rigs++;
        if (!is_dead(dir))
            continue;
        n_dead++;
        if (strlen(dead) + strlen(dir) + 2 < sizeof(dead))
            snprintf(dead + strlen(dead), sizeof(dead) - strlen(dead), " %s", dir);
    }
    free(line);
    if (file)
        fclose(file);
    if (!n_dead) {
        hx_found(f, HX_DOCTOR_OK, rigs == 1 ? "1 rig, which serves" : "%d rigs, all serve", rigs);
        return;
    }
    hx_found(f, HX_DOCTOR_NOTE, "%d of %d mounts have no server:%s", n_dead, rigs, dead);
    hx_to_do(f, "for each: hexrig down --mount DIR, or fusermount3 -u -z DIR");
}

void hx_check_device(struct hx_finding *f)
{
    const char *device = getenv("HEXRIG_DEVICE");

    if (device && *device && access(device, F_OK)) {
        hx_found(f, HX_DOCTOR_FAIL, "HEXRIG_DEVICE=%s: %s", device, strerror(errno));
        hx_to_do(f, "unset HEXRIG_DEVICE, or start the rig whose node it names");
    } else if (device && *device) {
        hx_found(f, HX_DOCTOR_OK, "HEXRIG_DEVICE=%s, whatever else runs", device);
    } else if (access("/dev/fastrpc-cdsp", F_OK) == 0) {
        hx_found(f, HX_DOCTOR_OK, "/dev/fastrpc-cdsp is there, for who has no default rig");
    } else {
        hx_found(f, HX_DOCTOR_OK, "none is set; commands find the default rig, or start a private one");
    }
}

void hx_check_rig(struct hx_finding *f)
{
    const struct hx_rig_cfg cfg = {.force_private = 1};
    char why[1280] = "";
    int rc;

    unsetenv("HEXRIG_DEVICE"); /* its own check has told of it */
    rc = hx_rig_configure(&cfg);
    if (!rc)
        rc = hx_rig_connect(why, sizeof(why));
    if (rc) {
        hx_found(f, HX_DOCTOR_FAIL, "no private rig: %.400s", *why ? why : strerror(-rc));
        hx_to_do(f, "what the lines above say; hexrig up tells the log's place");
        return;
    }
    hx_found(f, HX_DOCTOR_OK, "a private rig starts, front end %s, profile %s", hx_rig_front_end(), hx_rig_profile());
    hx_rig_disconnect();
}
