/* What a skel must not do with files, each tried on a path that it is given. */
#include "attempts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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
};

size_t hxe_on_files(const struct hxe_in *in, size_t i, struct hxe_out *out)
{
    const int readable = i >= HXE_LEN(on_files);

    if (i < 2 * HXE_LEN(on_files)) {
        i %= HXE_LEN(on_files);
        name_it(out, on_files[i].name, readable ? "a skel's file" : "a file");
        out->expected = readable ? on_files[i].skel_file : on_files[i].file;
        out->error = on_files[i].run(readable ? in->skel_file : in->file);
    }
    return 2 * HXE_LEN(on_files);
}
