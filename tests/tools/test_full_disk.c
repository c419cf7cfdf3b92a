/* Protects: on a full disk a command ends with exit code 1 and names the file and the reason, leaves no part of a file and no rig, and
 * the next one works.  Full is a small tmpfs, which needs root. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>

#include "e2e.h"
#include "other_users.h"

#define DATA HXT_SRC "/tests/data/"
#define SHARE HXT_BUILD "/share/hexrig/"

enum { DISK_INODES = 24, TEXT_BYTES = 2000, VECTOR_BYTES = 1 << 20 };

static char disk[256];
static unsigned survived;

static int mount_disk(void **state)
{
    (void)state;
    snprintf(disk, sizeof(disk), "%s/disk", hxt_tmpdir());
    if (mkdir(disk, 0700) || mount("hxt", disk, "tmpfs", MS_NOSUID | MS_NODEV, hxt_path("size=64k,nr_inodes=%d", DISK_INODES)))
        return -1;
    return 0;
}

static int unmount_disk(void **state)
{
    (void)state;
    return umount(disk) || rmdir(disk);
}

static void empty(void)
{
    DIR *d = opendir(disk);
    struct dirent *e;

    assert_non_null(d);
    while ((e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            hxt_remove_tree(hxt_path("%s/%s", disk, e->d_name));
    closedir(d);
}

/* A file with all the room there is. */
static void fill_room(void)
{
    int fd = open(hxt_path("%s/ballast", disk), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    char page[4096] = {1};

    assert_true(fd >= 0);
    while (write(fd, page, sizeof(page)) > 0)
        ;
    assert_int_equal(errno, ENOSPC);
    close(fd);
}

/* Files until there is no room for another one; then `left` of them go. */
static void fill_inodes(int left)
{
    int n = 0, fd;

    while ((fd = open(hxt_path("%s/ballast%d", disk, n), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) >= 0) {
        close(fd);
        n++;
    }
    assert_int_equal(errno, ENOSPC);
    while (left-- > 0)
        unlink(hxt_path("%s/ballast%d", disk, --n));
}

/* Nothing but ballast is on the disk. */
static void expect_no_leftovers(const char *what)
{
    DIR *d = opendir(disk);
    struct dirent *e;

    assert_non_null(d);
    while ((e = readdir(d)))
        if (e->d_name[0] != '.' && strncmp(e->d_name, "ballast", 7) != 0 && strcmp(e->d_name, "hexrig.log") != 0)
            fail_msg("%s: leaves %s", what, e->d_name);
    closedir(d);
}

static void run_on_disk(struct hxt_result *r, const char *words, const char *variable)
{
    const char *env[3] = {NULL};
    struct e2e_run run;

    e2e_command(&run, words);
    if (variable) { /* instead of e2e's folder, or beside it */
        env[0] = hxt_path("%s=%s", variable, disk);
        env[1] = strcmp(variable, "XDG_RUNTIME_DIR") ? run.env : "HEXRIG_DEVICE";
        run.cmd.env = env;
    }
    assert_int_equal(hxt_run(r, &run.cmd), 0);
}

/* Some line names the file and the reason. */
static void expect_told(const char *words, const struct hxt_result *r, const char *file)
{
    if (r->exit_code != 1)
        fail_msg("%s: exit %d, signal %d: '%s'", words, r->exit_code, r->signal, r->err);
    for (const char *line = r->err; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n')) {
        const char *text = hxt_path("%.*s", (int)strcspn(line, "\n"), line);

        if (strstr(text, file) && strstr(text, "No space left on device"))
            return;
    }
    fail_msg("%s: names no %s that has no space: '%s'", words, file, r->err);
}

/* --- files that commands write ------------------------------------------------------------------------------------- */

/* %1$s: a folder with inputs, %2$s: the disk. */
static const struct {
    const char *format, *file;
} writers[] = {
    {"model convert --type q8_0 %1$s/model.gguf %2$s/out.gguf", "out.gguf"},
    {"model capture -f %1$s/text -o %2$s/capture", "capture"},
    {"block calibrate -m %1$s/model.gguf -f %1$s/text -o %2$s/model.cal", "model.cal"},
    {"block encode --cal " SHARE "hexrig-tiny.cal --slot 0 -o %2$s/v.blk %1$s/vectors", "v.blk"},
    {"trace -o %2$s/trace.json -- run -p PROMPT -n 12 --kv spinor", "trace.json"},
    {"model synth --geometry 2x2/1x64x128x128x2048 --act-rank 16 -o %2$s/planted.gguf", "planted.gguf"},
};

static void make_inputs(void)
{
    size_t n;
    char *text = hxt_read_file(SHARE "books-holdout.txt", &n), *zeros = calloc(1, VECTOR_BYTES);

    assert_true(text && n > TEXT_BYTES && zeros);
    hxt_write_file(hxt_path("%s/text", hxt_tmpdir()), text, TEXT_BYTES);
    hxt_write_file(hxt_path("%s/vectors", hxt_tmpdir()), zeros, VECTOR_BYTES);
    assert_int_equal(symlink(DATA "hexrig-tiny-f16.gguf", hxt_path("%s/model.gguf", hxt_tmpdir())), 0);
    free(text);
    free(zeros);
}

static void test_a_file_is_written_whole_or_not_at_all(void **state)
{
    char words[1024];

    (void)state;
    make_inputs();
    for (size_t i = 0; i < HXT_LEN(writers); i++) {
        struct hxt_result r;

        snprintf(words, sizeof(words), writers[i].format, hxt_tmpdir(), disk);
        run_on_disk(&r, words, NULL);
        expect_told(words, &r, writers[i].file);
        if (getenv("HXT_VERBOSE"))
            print_message("%.1f s: %s\n", r.seconds, words);
        expect_no_leftovers(words);
        hxt_result_free(&r);
        empty();
        e2e_clean();
        survived++;
    }
}

/* --- stdout -------------------------------------------------------------------------------------------------------- */

static const char *const printers[] = {
    "density --json --pos 4",
    "ppl -f " SHARE "books-holdout.txt --ctx 8 --chunks 1 --kv f32 --json",
    "methods --json",
    "run -p PROMPT -n 2",
};

static void test_stdout_on_a_full_disk_is_exit_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(printers); i++) {
        const char *argv[] = {"sh", "-c", hxt_path("exec %s/bin/hexrig %s >%s/ballast-out", HXT_BUILD, printers[i], disk), NULL};
        const char *env[] = {hxt_path("XDG_RUNTIME_DIR=%s", e2e_dir()), "HEXRIG_DEVICE", NULL};
        struct hxt_result r;

        fill_room();
        assert_int_equal(hxt_run(&r, &(struct hxt_cmd){.argv = argv, .env = env, .timeout_s = E2E_TIMEOUT_S}), 0);
        expect_told(printers[i], &r, "cannot write the output");
        if (getenv("HXT_VERBOSE"))
            print_message("%.1f s: %s\n", r.seconds, printers[i]);
        hxt_result_free(&r);
        empty();
        e2e_clean();
        survived++;
    }
}

/* --- the folders that a rig uses ----------------------------------------------------------------------------------- */

static const struct {
    const char *words, *variable, *file;
    int inodes; /* how many there are */
} folders[] = {
    {"up", "XDG_RUNTIME_DIR", "hexrig.log", 0},
    {"up --front-end socket", "XDG_RUNTIME_DIR", "/hexrig", 1},     /* the log alone */
    {"up --front-end socket", "XDG_RUNTIME_DIR", "/hexrig/", 3},    /* and the folder */
    {"run -p PROMPT -n 1", "XDG_RUNTIME_DIR", "/hexrig-", 0},
    {"run -p PROMPT -n 1 --front-end socket", "XDG_RUNTIME_DIR", "/hexrig-", 1},
};

static void test_a_rig_that_finds_no_room_says_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(folders); i++) {
        struct hxt_result r;

        fill_inodes(folders[i].inodes);
        run_on_disk(&r, folders[i].words, folders[i].variable);
        expect_told(folders[i].words, &r, folders[i].file);
        expect_no_leftovers(folders[i].words);
        hxt_result_free(&r);
        empty();
        run_on_disk(&r, "run -p PROMPT -n 1", folders[i].variable); /* with room it works */
        assert_int_equal(r.exit_code, 0);
        hxt_result_free(&r);
        empty();
        e2e_clean();
        survived++;
    }
}

/* Room for names and none for bytes: a rig needs none but for its log, which may lose lines. */
static void test_a_rig_whose_log_is_full_serves(void **state)
{
    struct hxt_result r;

    (void)state;
    fill_room();
    run_on_disk(&r, "up --front-end socket --filter log", "XDG_RUNTIME_DIR");
    assert_int_equal(r.exit_code, 0);
    hxt_result_free(&r);
    run_on_disk(&r, "run -p PROMPT -n 2", "XDG_RUNTIME_DIR");
    assert_int_equal(r.exit_code, 0);
    hxt_result_free(&r);
    run_on_disk(&r, "down", "XDG_RUNTIME_DIR");
    assert_int_equal(r.exit_code, 0);
    hxt_result_free(&r);
    expect_no_leftovers("a rig whose log is full");
    empty();
    survived++;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_is_written_whole_or_not_at_all),
        cmocka_unit_test(test_stdout_on_a_full_disk_is_exit_1),
        cmocka_unit_test(test_a_rig_that_finds_no_room_says_where),
        cmocka_unit_test(test_a_rig_whose_log_is_full_serves),
    };
    int rc;

    if (geteuid() || hxt_own_mounts())
        hxt_skip_all("only root can mount a small disk");
    rc = HXT_RUN_FIXTURE(tests, mount_disk, unmount_disk);
    printf("full disk: faults %u survived, %u lost\n", survived, rc != 0);
    return rc;
}
