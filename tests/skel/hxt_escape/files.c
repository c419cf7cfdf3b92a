/* What a skel must not do with files, each tried on a path that it is given. */
#include "attempts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int read_it(const char *path)
{
    return open_with(path, O_RDONLY);
}
static int write_it(const char *path)
{
    return open_with(path, O_WRONLY);
}
static int read_and_write_it(const char *path)
{
    return open_with(path, O_RDWR);
}
static int append_to_it(const char *path)
{
    return open_with(path, O_WRONLY | O_APPEND);
}
static int open_without_access(const char *path)
{
    return open_with(path, O_ACCMODE);
}
static int truncate_without_access(const char *path)
{
    return open_with(path, O_ACCMODE | O_TRUNC);
}
static int truncate_as_reader(const char *path)
{
    return open_with(path, O_RDONLY | O_TRUNC);
}
static int truncate_by_raw_openat(const char *path)
{
    return error_of(syscall(SYS_openat, AT_FDCWD, path, O_ACCMODE | O_TRUNC, 0));
}
static int truncate_by_path(const char *path)
{
    return error_of(truncate(path, 0));
}
static int truncate_by_openat2(const char *path)
{
    uint64_t how[3] = {O_RDONLY | O_TRUNC};

    return error_of(syscall(SYS_openat2, AT_FDCWD, path, how, sizeof(how)));
}
static int truncate_what_is_open(const char *path)
{
    int fd = open(path, O_RDONLY), error = fd < 0 ? errno : error_of(ftruncate(fd, 0));

    close(fd);
    return error;
}
static int create_beside(const char *path)
{
    char name[256];

    snprintf(name, sizeof(name), "%.240s.new", path);
    return open_with(name, O_RDONLY | O_CREAT);
}
static int create_unnamed(const char *path)
{
    char folder[256];

    snprintf(folder, sizeof(folder), "%.240s", path);
    *strrchr(folder, '/') = '\0';
    return open_with(folder, O_TMPFILE | O_RDWR);
}
static int open_as_path(const char *path)
{
    return open_with(path, O_PATH);
}
#ifdef __x86_64__
static int truncate_by_raw_open(const char *path)
{
    return error_of(syscall(SYS_open, path, O_ACCMODE | O_TRUNC, 0));
}
static int truncate_by_creat(const char *path)
{
    return error_of(syscall(SYS_creat, path, 0600));
}
#endif
static int unlink_it(const char *path)
{
    return error_of(unlink(path));
}
static int rename_it(const char *path)
{
    return error_of(rename(path, path));
}
static int link_it(const char *path)
{
    return error_of(link(path, path));
}
static int make_symlink(const char *path)
{
    return error_of(symlink(path, path));
}
static int make_folder(const char *path)
{
    return error_of(mkdirat(AT_FDCWD, path, 0700));
}
static int make_node(const char *path)
{
    return error_of(mknodat(AT_FDCWD, path, 0600, 0));
}
static int change_mode(const char *path)
{
    return error_of(fchmodat(AT_FDCWD, path, 0600, 0));
}
static int change_owner(const char *path)
{
    return error_of(fchownat(AT_FDCWD, path, (uid_t)-1, (gid_t)-1, 0));
}
static int change_times(const char *path)
{
    return error_of(utimensat(AT_FDCWD, path, NULL, 0));
}
static int change_attribute(const char *path)
{
    return error_of(syscall(SYS_setxattr, path, "user.x", "x", 1, 0));
}
static int run_it(const char *path)
{
    char *const argv[] = {"x", NULL};

    return error_of(execv(path, argv));
}

/* Of a file that can be read, mapped for writing at once, or made writable later. */
static int map_it(const char *path, int prot, int later)
{
    int fd = open(path, O_RDONLY), error = errno;
    char *p;

    if (fd < 0)
        return error;
    p = mmap(NULL, 4096, prot, MAP_SHARED, fd, 0);
    error = p == MAP_FAILED ? errno : 0;
    if (!error)
        error = error_of(mprotect(p, 4096, later));
    if (p != MAP_FAILED)
        munmap(p, 4096);
    close(fd);
    return error;
}
static int map_for_writing(const char *path)
{
    return map_it(path, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE);
}
static int make_map_writable(const char *path)
{
    return map_it(path, PROT_READ, PROT_READ | PROT_WRITE);
}

static const struct {
    const char *name;
    int (*run)(const char *path);
    int file, skel_file; /* expected of either */
} on_files[] = {
    {"read", read_it, EACCES, 0},
    {"write", write_it, EACCES, EACCES},
    {"read and write", read_and_write_it, EACCES, EACCES},
    {"append", append_to_it, EACCES, EACCES},
    {"open, access mode 3", open_without_access, EACCES, EACCES},
    {"truncate, access mode 3", truncate_without_access, EACCES, EACCES},
    {"truncate as a reader", truncate_as_reader, EACCES, EACCES},
    {"truncate by openat", truncate_by_raw_openat, EACCES, EACCES},
#ifdef __x86_64__
    {"truncate by open", truncate_by_raw_open, EACCES, EACCES},
    {"truncate by creat", truncate_by_creat, EPERM, EPERM},
#endif
    {"truncate by openat2", truncate_by_openat2, EPERM, EPERM},
    {"truncate by path", truncate_by_path, EPERM, EPERM},
    {"truncate what is open", truncate_what_is_open, EACCES, EPERM},
    {"create beside", create_beside, EACCES, EACCES},
    {"create unnamed", create_unnamed, EACCES, EACCES},
    {"open as a path", open_as_path, EACCES, EACCES},
    {"unlink", unlink_it, EPERM, EPERM},
    {"rename", rename_it, EPERM, EPERM},
    {"link", link_it, EPERM, EPERM},
    {"symlink", make_symlink, EPERM, EPERM},
    {"mkdir", make_folder, EPERM, EPERM},
    {"mknod", make_node, EPERM, EPERM},
    {"chmod", change_mode, EPERM, EPERM},
    {"chown", change_owner, EPERM, EPERM},
    {"utimensat", change_times, EPERM, EPERM},
    {"setxattr", change_attribute, EPERM, EPERM},
    {"exec", run_it, EPERM, EPERM},
    {"map for writing", map_for_writing, EACCES, EACCES},
    {"make its map writable", make_map_writable, EACCES, EACCES},
};

/* Paths that a skel must not open so; NULL: see path_of(). */
static const struct {
    const char *name, *path;
    int flags;
} on_paths[] = {
    {"open / as a path", "/", O_PATH | O_DIRECTORY},
    {"list /", "/", O_RDONLY | O_DIRECTORY},
    {"list /tmp", "/tmp", O_RDONLY | O_DIRECTORY},
    {"list /proc", "/proc", O_RDONLY | O_DIRECTORY},
    {"read users", "/etc/passwd", O_RDONLY},
    {"read users by ..", "/usr/lib/../../etc/passwd", O_RDONLY},
    {"read passwords", "/etc/shadow", O_RDONLY},
    {"make passwords", "/etc/shadow", O_WRONLY | O_CREAT},
    {"read own maps", "/proc/self/maps", O_RDONLY},
    {"read own environ", "/proc/self/environ", O_RDONLY},
    {"write own mem", "/proc/self/mem", O_RDWR},
    {"read own mem", "/proc/self/mem", O_RDONLY},
    {"list own descriptors", "/proc/thread-self/fd", O_RDONLY | O_DIRECTORY},
    {"own root", "/proc/self/root/etc/passwd", O_RDONLY},
    {"map users", "/proc/self/uid_map", O_WRONLY},
    {"oom score", "/proc/self/oom_score_adj", O_WRONLY},
    {"environ of init", "/proc/1/environ", O_RDONLY},
    {"who dumps core", "/proc/sys/kernel/core_pattern", O_WRONLY},
    {"sysrq", "/proc/sysrq-trigger", O_WRONLY},
    {"kernel's memory", "/proc/kcore", O_RDWR},
    {"/sys", "/sys", O_RDONLY | O_DIRECTORY},
    {"cgroup", "/sys/fs/cgroup/cgroup.procs", O_WRONLY},
    {"/dev/mem", "/dev/mem", O_RDWR},
    {"/dev/fuse", "/dev/fuse", O_RDWR},
    {"/dev/tty", "/dev/tty", O_RDWR},
    {"/dev/ptmx", "/dev/ptmx", O_RDWR},
    {"/dev/null", "/dev/null", O_RDWR},
    {"/dev/null, reading", "/dev/null", O_RDONLY},
    {"/dev/shm", "/dev/shm/hexrig-escaped", O_RDWR | O_CREAT},
    {"own standard input", "/proc/self/fd/0", O_RDWR},
    {"own log", "/proc/self/fd/2", O_WRONLY},
    {"read by a link", NULL, O_RDONLY},
    {"write by a link", NULL, O_WRONLY},
    {"follow no link", NULL, O_PATH | O_NOFOLLOW},
    {"the rig's node", NULL, O_RDWR},
    {"the rig's node, reading", NULL, O_RDONLY},
};

static const char *path_of(const struct hxe_in *in, size_t i)
{
    if (on_paths[i].path)
        return on_paths[i].path;
    return strstr(on_paths[i].name, "link") ? in->link : in->node;
}

static size_t paths(const struct hxe_in *in, size_t i, struct hxe_out *out)
{
    if (i < HXE_LEN(on_paths)) {
        name_it(out, on_paths[i].name, "");
        out->expected = EACCES;
        out->error = open_with(path_of(in, i), on_paths[i].flags);
    }
    return HXE_LEN(on_paths);
}

size_t hxe_on_files(const struct hxe_in *in, size_t i, struct hxe_out *out)
{
    const size_t n = 2 * HXE_LEN(on_files);
    const int readable = i >= HXE_LEN(on_files);

    if (i >= n)
        return n + paths(in, i - n, out);
    i %= HXE_LEN(on_files);
    name_it(out, on_files[i].name, readable ? "a skel's file" : "a file");
    out->expected = readable ? on_files[i].skel_file : on_files[i].file;
    out->error = on_files[i].run(readable ? in->skel_file : in->file);
    return n + HXE_LEN(on_paths);
}
