/* Reads the symbol tables of an ELF file, trusting none of its numbers. */
#include "skel_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* bytes at offset, or NULL when they are not all in the file. */
static const void *at(const struct hx_skel_symbols *s, uint64_t offset, uint64_t bytes)
{
    return offset <= s->bytes && bytes <= s->bytes - offset ? s->file + offset : NULL;
}

static const ElfW(Shdr) *section(const struct hx_skel_symbols *s, unsigned i)
{
    const ElfW(Ehdr) *head = at(s, 0, sizeof(*head));

    if (!head || i >= head->e_shnum || head->e_shentsize != sizeof(ElfW(Shdr)) || head->e_shoff % sizeof(uint64_t))
        return NULL;
    return at(s, head->e_shoff + i * sizeof(ElfW(Shdr)), sizeof(ElfW(Shdr)));
}

/* Calls `visit` for each symbol of the tables of this type until it returns something. */
static const char *each_symbol(const struct hx_skel_symbols *s, uint32_t type,
                               const char *(*visit)(const ElfW(Sym) *, const char *name, const void *ctx), const void *ctx)
{
    const ElfW(Shdr) *table, *names;
    const char *found = NULL;

    for (unsigned i = 0; !found && (table = section(s, i)); i++) {
        const ElfW(Sym) *symbol = at(s, table->sh_offset, table->sh_size);
        const char *text;

        if (table->sh_type != type || !symbol || table->sh_offset % sizeof(uint64_t) || !(names = section(s, table->sh_link)))
            continue;
        text = at(s, names->sh_offset, names->sh_size);
        if (!text || !names->sh_size || text[names->sh_size - 1])
            continue;
        for (size_t n = table->sh_size / sizeof(*symbol); n && !found; n--, symbol++)
            if (symbol->st_name < names->sh_size)
                found = visit(symbol, text + symbol->st_name, ctx);
    }
    return found;
}

static const char *imported(const ElfW(Sym) *symbol, const char *name, const void *beginning)
{
    return symbol->st_shndx == SHN_UNDEF && strncmp(name, beginning, strlen(beginning)) == 0 ? name : NULL;
}

static const char *imports_it(const ElfW(Sym) *symbol, const char *name, const void *function)
{
    return symbol->st_shndx == SHN_UNDEF && *name && dlsym(RTLD_DEFAULT, name) == function ? name : NULL;
}

static const char *covering(const ElfW(Sym) *symbol, const char *name, const void *offset)
{
    const uint64_t pc = *(const uint64_t *)offset;

    /* st_info's type is in the same bits for both sizes of ELF */
    return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && pc - symbol->st_value < symbol->st_size
               ? name
               : NULL;
}

int hx_skel_imports(const struct hx_skel_symbols *s, const char *beginning)
{
    return each_symbol(s, SHT_DYNSYM, imported, beginning) != NULL;
}

const char *hx_skel_import_of(const struct hx_skel_symbols *s, const void *function)
{
    return each_symbol(s, SHT_DYNSYM, imports_it, function);
}

const char *hx_skel_function_at(const struct hx_skel_symbols *s, uintptr_t pc)
{
    const uint64_t offset = pc - s->base;
    const char *name = each_symbol(s, SHT_SYMTAB, covering, &offset);

    return name ? name : each_symbol(s, SHT_DYNSYM, covering, &offset);
}

/* Where the loader has put the code. */
static void find_code(struct hx_skel_symbols *s)
{
    const ElfW(Ehdr) *head = at(s, 0, sizeof(*head));
    const ElfW(Phdr) *segment = head ? at(s, head->e_phoff, (uint64_t)head->e_phnum * sizeof(*segment)) : NULL;

    for (unsigned i = 0; segment && i < head->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && segment[i].p_flags & PF_X) {
            s->from = s->base + segment[i].p_vaddr;
            s->to = s->from + segment[i].p_memsz;
        }
}

int hx_skel_symbols_open(struct hx_skel_symbols *s, void *handle)
{
    struct link_map *map;
    struct stat st;
    void *file = MAP_FAILED;
    int fd, rc = 0;

    memset(s, 0, sizeof(*s));
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map))
        return -ENOENT;
    fd = open(map->l_name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && st.st_size > 0)
        file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        rc = -errno;
    close(fd);
    if (rc)
        return rc;
    *s = (struct hx_skel_symbols){.file = file, .bytes = (size_t)st.st_size, .base = map->l_addr,
                                  .inode = st.st_ino, .changed_ns = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec};
    find_code(s);
    return 0;
}

void hx_skel_symbols_close(struct hx_skel_symbols *s)
{
    munmap((void *)(uintptr_t)s->file, s->bytes);
    s->file = NULL;
    s->bytes = 0;
}
