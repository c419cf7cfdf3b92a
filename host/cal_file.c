/* Calibration files, see cal_file.h. */
#include "cal_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hx_vht2.h"
#include "text.h"

enum { VERSION = 1, FLAG_K_AFTER_ROPE = 1, CRC_BYTES = 4 };

static const char magic[8] = "HXCAL\0\0";

struct header {
    char magic[8];
    uint32_t version, dh, basis, flags;
    uint64_t fingerprint;
    uint32_t n_slots, table_bytes;
};
_Static_assert(sizeof(struct header) == 40, "calibration file header");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

struct hx_cal *hx_cal_alloc(uint32_t n_slots)
{
    struct hx_cal *cal = calloc(1, sizeof(*cal));

    if (!cal)
        return NULL;
    cal->n_slots = n_slots;
    cal->tables = calloc(n_slots, sizeof(*cal->tables));
    if (!cal->tables) {
        free(cal);
        return NULL;
    }
    return cal;
}

void hx_cal_free(struct hx_cal *cal)
{
    if (!cal)
        return;
    free(cal->tables);
    free(cal);
}

static int table_ok(const struct hx_block_table *t)
{
    if (t->reserved[0] || t->reserved[1])
        return 0;
    for (size_t i = 0; i < HX_BLOCK_SKEL; i++)
        if (t->skeleton[i] >= HX_BLOCK_PAD || !hx_squarefree_index(t->skeleton[i]) ||
            (i && t->skeleton[i] <= t->skeleton[i - 1]))
            return 0;
    for (size_t r = 0; r < HX_BLOCK_RES; r++)
        for (size_t i = 0; i < HX_BLOCK_SKEL; i++)
            if ((t->w[r][i] & 0x7c00) == 0x7c00) /* infinity or NaN */
                return 0;
    return 1;
}

static int check_header(const struct header *h, const char *name, size_t n, struct hx_why *why)
{
    if (memcmp(h->magic, magic, sizeof(magic)))
        return hx_why_set(why, -EINVAL, "%s: not a calibration file", name);
    if (h->version != VERSION)
        return hx_why_set(why, -EINVAL, "%s: calibration file version %u is not supported, only "
                          "%d is", name, h->version, VERSION);
    if (h->dh != HX_BLOCK_DH || h->table_bytes != sizeof(struct hx_block_table))
        return hx_why_set(why, -EINVAL, "%s: head dimension %u with tables of %u bytes; %d with "
                          "%zu is supported", name, h->dh, h->table_bytes, HX_BLOCK_DH,
                          sizeof(struct hx_block_table));
    if (h->basis != HX_BASIS_VHT2)
        return hx_why_set(why, -EINVAL, "%s: basis %u is not supported; supported: 0 (vht2)", name,
                          h->basis);
    if (h->flags & ~(uint32_t)FLAG_K_AFTER_ROPE)
        return hx_why_set(why, -EINVAL, "%s: unknown flags 0x%x", name, h->flags);
    if (h->n_slots == 0 || (n - sizeof(*h) - CRC_BYTES) / sizeof(struct hx_block_table) !=
        h->n_slots || (n - sizeof(*h) - CRC_BYTES) % sizeof(struct hx_block_table))
        return hx_why_set(why, -EINVAL, "%s: truncated or damaged: %zu bytes for %u tables", name,
                          n, h->n_slots);
    return 0;
}

int hx_cal_parse(struct hx_cal **out, const char *name, const void *bytes, size_t n,
                 struct hx_why *why)
{
    const uint8_t *p = bytes;
    struct hx_cal *cal;
    struct header h;
    uint32_t crc;
    int rc;

    if (n < sizeof(h) + CRC_BYTES)
        return hx_why_set(why, -EINVAL, "%s: not a calibration file (%zu bytes)", name, n);
    memcpy(&h, p, sizeof(h));
    rc = check_header(&h, name, n, why);
    if (rc)
        return rc;
    memcpy(&crc, p + n - CRC_BYTES, sizeof(crc));
    if (crc != hx_crc32(0, p, n - CRC_BYTES))
        return hx_why_set(why, -EINVAL, "%s: damaged: the CRC-32 does not match", name);
    cal = hx_cal_alloc(h.n_slots);
    if (!cal)
        return hx_why_set(why, -ENOMEM, "%s: out of memory", name);
    cal->basis = h.basis;
    cal->k_after_rope = (h.flags & FLAG_K_AFTER_ROPE) != 0;
    cal->fingerprint = h.fingerprint;
    memcpy(cal->tables, p + sizeof(h), h.n_slots * sizeof(*cal->tables));
    for (uint32_t i = 0; i < h.n_slots; i++)
        if (!table_ok(&cal->tables[i])) {
            hx_cal_free(cal);
            return hx_why_set(why, -EINVAL, "%s: the table of slot %u is not legal", name, i);
        }
    *out = cal;
    return 0;
}

int hx_cal_read(struct hx_cal **out, const char *path, struct hx_why *why)
{
    char *bytes;
    size_t n;
    int rc = hx_text_read(path, &bytes, &n, why);

    if (rc)
        return rc;
    rc = hx_cal_parse(out, path, bytes, n, why);
    free(bytes);
    return rc;
}

/* Half a file is worse than none; a device or pipe that did not take the bytes is nobody's to remove. */
static void remove_half(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(path);
}

int hx_cal_write(const struct hx_cal *cal, const char *path, struct hx_why *why)
{
    struct header h = {.version = VERSION, .dh = HX_BLOCK_DH, .basis = cal->basis,
                       .flags = cal->k_after_rope ? FLAG_K_AFTER_ROPE : 0,
                       .fingerprint = cal->fingerprint, .n_slots = cal->n_slots,
                       .table_bytes = sizeof(struct hx_block_table)};
    const size_t bytes = cal->n_slots * sizeof(*cal->tables);
    uint32_t crc;
    int failed;
    FILE *f = fopen(path, "wbe");

    if (!f)
        return hx_why_set(why, -errno, "%s: %s", path,
                          errno == EISDIR ? "is a directory" : strerror(errno));
    memcpy(h.magic, magic, sizeof(magic));
    crc = hx_crc32(hx_crc32(0, &h, sizeof(h)), cal->tables, bytes);
    failed = fwrite(&h, sizeof(h), 1, f) != 1 || fwrite(cal->tables, bytes, 1, f) != 1 ||
             fwrite(&crc, sizeof(crc), 1, f) != 1;
    failed |= fclose(f) != 0;
    if (failed) {
        int rc = hx_why_set(why, -EIO, "%s: cannot write: %s", path, strerror(errno));

        remove_half(path);
        return rc;
    }
    return 0;
}
