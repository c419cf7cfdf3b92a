/* Writes an ELF core: headers, notes, then the memory, with holes where the PD has none. */
#include "core_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core_name.h"

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#else
enum { MACHINE = EM_AARCH64 };
#endif
enum { PAGE = 4096, NOTES_MAX = 1 << 20, WRITE_S = 10 };
#define MOST_BYTES (UINT64_C(8) << 30) /* of a file, holes included */

struct core {
    const struct hx_crash_brief *b;
    const struct hx_maps *maps;
    int fd, pagemap;
    uint64_t limit, written; /* bytes of the file at most; of memory in it */
    time_t until;            /* it may take */
    char *notes;             /* [n_notes] of NOTES_MAX */
    size_t n_notes;
};

/* --- notes ----------------------------------------------------------------------------------------------------------- */

static void add_note(struct core *c, uint32_t type, const void *bytes, size_t n)
{
    const Elf64_Nhdr head = {.n_namesz = 5, .n_descsz = (uint32_t)n, .n_type = type};
    const size_t need = sizeof(head) + 8 + (n + 3) / 4 * 4;

    if (c->n_notes + need > NOTES_MAX)
        return;
    memcpy(c->notes + c->n_notes, &head, sizeof(head));
    memcpy(c->notes + c->n_notes + sizeof(head), "CORE\0\0\0", 8);
    memcpy(c->notes + c->n_notes + sizeof(head) + 8, bytes, n);
    c->n_notes += need;
}

static void add_thread(struct core *c)
{
    const struct hx_crash *crash = &c->b->crash;
    struct elf_prstatus status = {.pr_cursig = (short)crash->signal, .pr_pid = crash->tid};
    struct elf_prpsinfo process = {.pr_sname = 'R', .pr_pid = c->b->pid, .pr_fname = "hexrig-dsp", .pr_psargs = "hexrig-dsp (a user PD)"};
    siginfo_t info = {.si_signo = crash->signal, .si_code = crash->code};

    status.pr_info.si_signo = crash->signal;
    info.si_addr = (void *)(uintptr_t)crash->address;
    memcpy(&status.pr_reg, crash->reg,
           sizeof(status.pr_reg) < sizeof(crash->reg) ? sizeof(status.pr_reg) : sizeof(crash->reg));
    add_note(c, NT_PRSTATUS, &status, sizeof(status));
    add_note(c, NT_PRPSINFO, &process, sizeof(process));
    add_note(c, NT_SIGINFO, &info, sizeof(info));
}

/* By which a debugger finds the libraries. */
static void add_vector(struct core *c)
{
    char path[64], bytes[4096];
    int fd;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/auxv", (int)c->b->pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
    if (n > 0)
        add_note(c, NT_AUXV, bytes, (size_t)n);
    if (fd >= 0)
        close(fd);
}

/* Number of files, size of the unit of offsets; start, end, offset of each; then their names. */
static void add_files(struct core *c)
{
    uint64_t *words = calloc(2 + 3 * c->maps->n, sizeof(*words)), n = 0;
    char *all = NULL;
    size_t bytes = 0, at;

    for (size_t i = 0; i < c->maps->n; i++)
        bytes += c->maps->at[i].path ? strlen(c->maps->at[i].path) + 1 : 0;
    at = (2 + 3 * c->maps->n) * sizeof(*words);
    all = words ? malloc(at + bytes) : NULL;
    for (size_t i = 0, name = 0; all && i < c->maps->n; i++) {
        const struct hx_map *m = &c->maps->at[i];

        if (!m->path)
            continue;
        words[2 + 3 * n] = m->start;
        words[3 + 3 * n] = m->end;
        words[4 + 3 * n++] = m->offset / PAGE;
        memcpy(all + at + name, m->path, strlen(m->path) + 1);
        name += strlen(m->path) + 1;
    }
    if (all) {
        words[0] = n;
        words[1] = PAGE;
        memmove(all + (2 + 3 * n) * sizeof(*words), all + at, bytes);
        memcpy(all, words, (2 + 3 * n) * sizeof(*words));
        add_note(c, NT_FILE, all, (2 + 3 * n) * sizeof(*words) + bytes);
    }
    free(all);
    free(words);
}

/* --- memory ---------------------------------------------------------------------------------------------------------- */

/* Whether the PD has the page, in memory or swapped out, as the file's or its own; what cannot be told counts as its own. */
enum page { NONE, OF_FILE, OWN };

static enum page page_at(const struct core *c, uint64_t address)
{
    uint64_t entry;

    if (c->pagemap < 0 || pread(c->pagemap, &entry, sizeof(entry), (off_t)(address / PAGE * sizeof(entry))) != sizeof(entry))
        return OWN;
    return entry >> 62 == 0 ? NONE : entry >> 61 & 1 ? OF_FILE : OWN;
}

/* The loader has written there, perhaps before the map became read-only. */
static bool is_changed(const struct core *c, const struct hx_map *m)
{
    for (uint64_t at = m->start; at < m->end; at += PAGE)
        if (page_at(c, at) == OWN)
            return true;
    return false;
}

/* What a debugger cannot read in a file. */
static bool is_dumped(const struct core *c, const struct hx_map *m)
{
    if (!m->readable || m->start >= UINT64_C(1) << 47)
        return false;
    return !m->path || (!m->shared && is_changed(c, m));
}

static int dump(struct core *c, const struct hx_map *m, uint64_t offset)
{
    static char page[PAGE];

    for (uint64_t at = m->start; at < m->end; at += PAGE, offset += PAGE) {
        if (offset + PAGE > c->limit || time(NULL) > c->until)
            return -EFBIG;
        if ((!m->path && !m->is_vdso && page_at(c, at) == NONE) || /* reading would make it */
            pread(HX_CRASH_MEMORY_FD, page, PAGE, (off_t)at) != PAGE)
            continue;
        if (pwrite(c->fd, page, PAGE, (off_t)offset) != PAGE)
            return -errno;
        c->written += PAGE;
    }
    return 0;
}

static uint64_t align(uint64_t n)
{
    return (n + PAGE - 1) / PAGE * PAGE;
}

static int write_headers(const struct core *c, const Elf64_Phdr *p, size_t n)
{
    Elf64_Ehdr head = {.e_type = ET_CORE, .e_machine = MACHINE, .e_version = EV_CURRENT, .e_phoff = sizeof(head),
                       .e_ehsize = sizeof(head), .e_phentsize = sizeof(*p), .e_phnum = (uint16_t)n};

    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_VERSION] = EV_CURRENT;
    if (p[0].p_offset + c->n_notes > c->limit)
        return -EFBIG;
    if (pwrite(c->fd, &head, sizeof(head), 0) != sizeof(head) ||
        pwrite(c->fd, p, n * sizeof(*p), sizeof(head)) != (ssize_t)(n * sizeof(*p)) ||
        pwrite(c->fd, c->notes, c->n_notes, (off_t)p[0].p_offset) != (ssize_t)c->n_notes)
        return -EIO;
    return 0;
}

static int write_all(struct core *c)
{
    const size_t n = c->maps->n < 60000 ? c->maps->n : 60000;
    Elf64_Phdr *p = calloc(n + 1, sizeof(*p));
    uint64_t at;
    int rc;

    if (!p)
        return -ENOMEM;
    p[0] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = sizeof(Elf64_Ehdr) + (n + 1) * sizeof(*p), .p_filesz = c->n_notes};
    at = align(p[0].p_offset + c->n_notes);
    for (size_t i = 0; i < n; i++) {
        const struct hx_map *m = &c->maps->at[i];
        const uint64_t bytes = is_dumped(c, m) ? m->end - m->start : 0;

        p[i + 1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = at, .p_vaddr = m->start, .p_memsz = m->end - m->start,
                                .p_filesz = bytes, .p_align = PAGE,
                                .p_flags = (m->readable ? PF_R : 0u) | (m->writable ? PF_W : 0u) | (m->executable ? PF_X : 0u)};
        at += bytes;
    }
    rc = write_headers(c, p, n + 1);
    if (!rc && ftruncate(c->fd, (off_t)(at < c->limit ? at : c->limit)))
        rc = -errno;
    for (size_t i = 0; i < n && !rc; i++)
        if (p[i + 1].p_filesz)
            rc = dump(c, &c->maps->at[i], p[i + 1].p_offset);
    free(p);
    return rc;
}

/* --- the file -------------------------------------------------------------------------------------------------------- */

static void read_text(const char *path, char *text, size_t bytes)
{
    FILE *f = fopen(path, "re");

    if (!f || !fgets(text, (int)bytes, f))
        *text = '\0';
    if (f)
        fclose(f);
}

/* As the kernel does: a regular file of ours with one name, never through a link.  Negative errno. */
static int create(int pid, const char *name)
{
    char path[64];
    int folder, fd, rc = 0;
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%d/cwd", pid);
    folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    fd = folder < 0 ? -1 : openat(folder, name, O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0 || fstat(fd, &st))
        rc = -errno;
    else if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid())
        rc = -EPERM;
    else if (ftruncate(fd, 0))
        rc = -errno;
    if (folder >= 0)
        close(folder);
    if (rc && fd >= 0)
        close(fd);
    return rc ? rc : fd;
}

/* Its name for the log, with the folder. */
static void full_name(int pid, const char *name, char *full, size_t bytes)
{
    char link[64], folder[4096] = "";
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
    n = *name == '/' ? 0 : readlink(link, folder, sizeof(folder) - 1);
    folder[n > 0 ? n : 0] = '\0';
    snprintf(full, bytes, "%s%s%s", folder, *folder ? "/" : "", name);
}

static void write_core(struct core *c, const char *name)
{
    char path[64], full[8192];
    int rc;

    full_name(c->b->pid, name, full, sizeof(full));
    c->fd = create(c->b->pid, name);
    rc = c->fd < 0 ? c->fd : 0;
    snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)c->b->pid);
    c->pagemap = open(path, O_RDONLY | O_CLOEXEC);
    c->notes = calloc(1, NOTES_MAX);
    if (!rc && !c->notes)
        rc = -ENOMEM;
    if (!rc) {
        add_thread(c);
        add_vector(c);
        add_files(c);
        rc = write_all(c);
    }
    if (rc == 0 || rc == -EFBIG)
        printf("crash:   core file: %s, %llu KiB of memory%s\n", full, (unsigned long long)c->written / 1024,
               rc ? ", cut off at its limit of bytes or time" : "");
    else
        printf("crash:   no core file %s: %s\n", full, strerror(-rc));
    free(c->notes);
    if (c->pagemap >= 0)
        close(c->pagemap);
    if (c->fd >= 0)
        close(c->fd);
}

void hx_core_write(const struct hx_crash_brief *b, const struct hx_maps *maps)
{
    struct core c = {.b = b, .maps = maps};
    char pattern[256], uses_pid[16], name[4096];
    struct rlimit limit;

    read_text("/proc/sys/kernel/core_pattern", pattern, sizeof(pattern));
    read_text("/proc/sys/kernel/core_uses_pid", uses_pid, sizeof(uses_pid));
    if (prlimit(b->pid, RLIMIT_CORE, NULL, &limit) || limit.rlim_cur == 0 ||
        hx_core_name(pattern, uses_pid[0] == '1', b, name, sizeof(name)))
        return;
    c.limit = limit.rlim_cur < MOST_BYTES ? limit.rlim_cur : MOST_BYTES; /* RLIM_INFINITY is more, too */
    c.until = time(NULL) + WRITE_S;
    write_core(&c, name);
}
