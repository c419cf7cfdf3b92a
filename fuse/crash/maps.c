/* Reads /proc/PID/maps, and the program headers of files that are mapped. */
#include "maps.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(struct hx_map *m, const char *line)
{
    unsigned long long start, end, offset;
    char rights[8];
    int at = 0;

    if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &start, &end, rights, &offset, &at) < 4)
        return -EPROTO;
    *m = (struct hx_map){.start = start, .end = end, .offset = offset, .readable = rights[0] == 'r', .writable = rights[1] == 'w',
                         .executable = rights[2] == 'x', .shared = rights[3] == 's'};
    m->is_vdso = strcmp(line + at, "[vdso]") == 0;
    if (line[at] == '/' && !strstr(line + at, " (deleted)") && !strchr(line + at, '\\'))
        m->path = line + at;
    return 0;
}

/* The whole file, or NULL. */
static char *read_all(int pid)
{
    char name[64], *text = NULL;
    size_t room = 0;
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%d/maps", pid);
    f = fopen(name, "re");
    if (!f)
        return NULL;
    if (getdelim(&text, &room, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    fclose(f);
    return text;
}

int hx_maps_read(struct hx_maps *m, int pid)
{
    char *text = read_all(pid), *rest = text, *line;
    size_t lines = 1;
    int rc = 0;

    for (const char *p = text; p && *p; p++)
        lines += *p == '\n';
    *m = (struct hx_maps){.at = calloc(lines, sizeof(*m->at)), .text = text};
    if (!text || !m->at)
        return text ? -ENOMEM : -ESRCH;
    while (!rc && (line = strsep(&rest, "\n")))
        if (*line) {
            rc = parse(&m->at[m->n], line);
            m->n += !rc;
        }
    return rc;
}

void hx_maps_free(struct hx_maps *m)
{
    free(m->at);
    free(m->text);
    *m = (struct hx_maps){0};
}

const struct hx_map *hx_maps_find(const struct hx_maps *m, uint64_t address)
{
    for (size_t i = 0; i < m->n; i++)
        if (address >= m->at[i].start && address < m->at[i].end)
            return &m->at[i];
    return NULL;
}

bool hx_map_file_address(const struct hx_map *map, uint64_t address, uint64_t *in_file)
{
    const uint64_t at = address - map->start + map->offset;
    FILE *f = map->path ? fopen(map->path, "re") : NULL;
    bool found = false;
    Elf64_Ehdr head;
    Elf64_Phdr p;

    if (!f)
        return false;
    if (fread(&head, sizeof(head), 1, f) == 1 && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
        head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof(p) && head.e_phoff <= 1 << 20 &&
        fseek(f, (long)head.e_phoff, SEEK_SET) == 0)
        for (unsigned i = 0; i < head.e_phnum && !found && fread(&p, sizeof(p), 1, f) == 1; i++)
            if (p.p_type == PT_LOAD && at >= p.p_offset && at - p.p_offset < p.p_filesz) {
                *in_file = at - p.p_offset + p.p_vaddr;
                found = true;
            }
    fclose(f);
    return found;
}
