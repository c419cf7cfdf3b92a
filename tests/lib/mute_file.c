/* Files on a FUSE server that does not answer, see mute_file.h. */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hxt.h"
#include "hxt_proc.h"
#include "mute_file.h"

enum { MUTE = 2, HALF_MUTE = 3 };

static struct stat attributes(fuse_ino_t ino)
{
    struct stat st = {.st_ino = ino, .st_nlink = 1, .st_size = MUTE_FILE_BYTES};

    st.st_mode = ino == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644;
    return st;
}

static void get_attributes(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    const struct stat st = attributes(ino);

    (void)fi;
    fuse_reply_attr(req, &st, 60);
}

static void look_up(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    const fuse_ino_t ino = strcmp(name, "y") == 0 ? HALF_MUTE : MUTE;
    struct fuse_entry_param e = {.ino = ino, .attr_timeout = 60, .entry_timeout = 60, .attr = attributes(ino)};

    (void)parent;
    fuse_reply_entry(req, &e);
}

static void open_file(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    fi->direct_io = ino == HALF_MUTE && fi->flags & O_SYNC;
    fuse_reply_open(req, fi);
}

static void read_file(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
    static const char zeros[MUTE_FILE_BYTES];

    (void)off;
    (void)fi;
    if (ino == HALF_MUTE)
        fuse_reply_buf(req, zeros, size < sizeof(zeros) ? size : sizeof(zeros));
}

static void write_file(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t off, struct fuse_file_info *fi)
{
    (void)req, (void)ino, (void)bytes, (void)size, (void)off, (void)fi;
}

/* close() waits for this. */
static void flush_file(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    (void)fi;
    if (ino == HALF_MUTE)
        fuse_reply_err(req, 0);
}

void mute_file_serve(int ready)
{
    static const struct fuse_lowlevel_ops ops = {.getattr = get_attributes, .lookup = look_up, .open = open_file, .read = read_file,
                                                 .write = write_file, .flush = flush_file};
    char *argv[] = {"mute", "-o", "auto_unmount", NULL};
    struct fuse_args args = FUSE_ARGS_INIT(3, argv);
    struct fuse_session *se = fuse_session_new(&args, &ops, sizeof(ops), NULL);

    if (se && fuse_session_mount(se, hxt_path("%s/mute", hxt_tmpdir())) == 0 && write(ready, "", 1) == 1)
        fuse_session_loop(se);
}

void mute_file_end(pid_t server)
{
    const char *argv[] = {"fusermount3", "-u", "-z", "-q", hxt_path("%s/mute", hxt_tmpdir()), NULL};

    assert_int_equal(kill(server, SIGKILL), 0);
    assert_int_equal(waitpid(server, NULL, 0), server);
    hxt_succeeds(&(struct hxt_cmd){.argv = argv}); /* or it is unmounted already */
}
