/* Calibration files, see cal_file.h. */
#include "cal_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/text.h"

enum { VERSION = 2, VERSION_LANES = 3, FLAG_K_AFTER_ROPE = 1, FLAG_SHEET = 2, CRC_BYTES = 4 };

static const char magic[8] = "HXCAL\0\0";

struct header {
    char magic[8];
    uint32_t version, dh, basis, flags;
    uint64_t fingerprint;
    uint32_t n_slots, table_bytes;
};
_Static_assert(sizeof(struct header) == 40, "calibration file header");

/* Follows the header in files of VERSION_LANES: blocks that are not the published ones. */
struct lanes {
    uint32_t n_skel, n_res;
};
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

const char *const hx_cal_k_rope_names[] = {"pre", "post", NULL};
const char *const hx_cal_k_names[] = {"before", "after", NULL};

struct hx_cal *hx_cal_alloc(const struct hx_codec_format *f, uint32_t n_slots)
{
    struct hx_cal *cal = calloc(1, sizeof(*cal));

    if (!cal)
        return NULL;
    cal->format = *f;
    cal->n_slots = n_slots;
    cal->table_bytes = hx_block_table_bytes(f->shape, f->basis);
    cal->tables = calloc(n_slots, cal->table_bytes);
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

void *hx_cal_table(const struct hx_cal *cal, size_t slot)
{
    return cal->tables + slot * cal->table_bytes;
}

struct hx_codec *hx_cal_codec(const struct hx_cal *cal)
{
    const size_t bytes = hx_codec_bytes(&cal->format, cal->n_slots);
    void *memory = bytes ? malloc(bytes) : NULL;

    return memory ? hx_codec_init(memory, &cal->format, cal->tables, cal->n_slots) : NULL;
}

/* Bytes in front of the tables. */
static size_t head_bytes(const struct header *h)
{
    return sizeof(*h) + (h->version == VERSION_LANES ? sizeof(struct lanes) : 0);
}

/* Fills *f.  l: of VERSION_LANES, else zeros. */
static int check_header(const struct header *h, const struct lanes *l, const char *name, size_t n,
                        struct hx_codec_format *f, struct hx_error *err)
{
    const size_t body = n - head_bytes(h) - CRC_BYTES;

    if (memcmp(h->magic, magic, sizeof(magic)))
        return hx_error_set(err, -EINVAL, "%s: not a calibration file", name);
    if (h->version != VERSION && h->version != VERSION_LANES)
        return hx_error_set(err, -EINVAL, "%s: calibration file version %u is not supported, only "
                          "%d and %d are%s", name, h->version, VERSION, VERSION_LANES,
                          h->version == 1 ? "; make it anew with `hexrig block calibrate`" : "");
    if (h->flags & ~(uint32_t)(FLAG_K_AFTER_ROPE | FLAG_SHEET))
        return hx_error_set(err, -EINVAL, "%s: unknown flags 0x%x", name, h->flags);
    if (hx_block_shape(h->dh) && !hx_block_shape_of(h->dh, l->n_skel, l->n_res))
        return hx_error_set(err, -EINVAL, "%s: no blocks of head dimension %u have %u skeleton and %u residual lanes", name,
                            h->dh, l->n_skel, l->n_res);
    if (hx_codec_format_lanes(f, h->dh, l->n_skel, l->n_res, h->basis,
                              h->flags & FLAG_SHEET ? HX_CODE_SHEET : HX_CODE_SIGN))
        return hx_error_set(err, -EINVAL, "%s: head dimension %u with basis %u; supported: 64, 128, "
                          "256, 512 with 0 (vht2), 1 (vht2w), 2 (klt)", name, h->dh, h->basis);
    if (h->table_bytes != hx_block_table_bytes(f->shape, f->basis))
        return hx_error_set(err, -EINVAL, "%s: tables of %u bytes; head dimension %u with basis %s "
                          "has %zu", name, h->table_bytes, h->dh, hx_block_basis_names[h->basis],
                          hx_block_table_bytes(f->shape, f->basis));
    if (h->n_slots == 0 || body / h->table_bytes != h->n_slots || body % h->table_bytes)
        return hx_error_set(err, -EINVAL, "%s: truncated or damaged: %zu bytes for %u tables", name,
                            n, h->n_slots);
    return 0;
}

int hx_cal_parse(struct hx_cal **out, const char *name, const void *bytes, size_t n,
                 struct hx_error *err)
{
    const uint8_t *p = bytes;
    struct hx_codec_format f;
    struct hx_cal *cal;
    struct lanes lanes = {0, 0};
    struct header h;
    uint32_t crc;
    int rc;

    if (n < sizeof(h) + CRC_BYTES)
        return hx_error_set(err, -EINVAL, "%s: not a calibration file (%zu bytes)", name, n);
    memcpy(&h, p, sizeof(h));
    if (n < head_bytes(&h) + CRC_BYTES)
        return hx_error_set(err, -EINVAL, "%s: truncated or damaged: %zu bytes", name, n);
    memcpy(&lanes, p + sizeof(h), head_bytes(&h) - sizeof(h));
    rc = check_header(&h, &lanes, name, n, &f, err);
    if (rc)
        return rc;
    memcpy(&crc, p + n - CRC_BYTES, sizeof(crc));
    if (crc != hx_crc32(0, p, n - CRC_BYTES))
        return hx_error_set(err, -EINVAL, "%s: damaged: the CRC-32 does not match", name);
    cal = hx_cal_alloc(&f, h.n_slots);
    if (!cal)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", name);
    cal->k_after_rope = (h.flags & FLAG_K_AFTER_ROPE) != 0;
    cal->fingerprint = h.fingerprint;
    memcpy(cal->tables, p + head_bytes(&h), h.n_slots * cal->table_bytes);
    for (uint32_t i = 0; i < h.n_slots; i++)
        if (hx_codec_check_table(&f, hx_cal_table(cal, i))) {
            hx_cal_free(cal);
            return hx_error_set(err, -EINVAL, "%s: the table of slot %u is not legal", name, i);
        }
    *out = cal;
    return 0;
}

int hx_cal_read(struct hx_cal **out, const char *path, struct hx_error *err)
{
    char *bytes;
    size_t n;
    int rc = hx_text_read(path, &bytes, &n, err);

    if (rc)
        return rc;
    rc = hx_cal_parse(out, path, bytes, n, err);
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

int hx_cal_write(const struct hx_cal *cal, const char *path, struct hx_error *err)
{
    const struct hx_codec_format *form = &cal->format;
    const struct lanes lanes = {form->shape->n_skel, form->shape->n_res};
    struct header h = {.version = hx_block_is_published(form->shape) ? VERSION : VERSION_LANES, .dh = form->shape->dh, .basis = form->basis,
                       .flags = (cal->k_after_rope ? FLAG_K_AFTER_ROPE : 0) |
                                (form->code == HX_CODE_SHEET ? FLAG_SHEET : 0),
                       .fingerprint = cal->fingerprint, .n_slots = cal->n_slots,
                       .table_bytes = (uint32_t)cal->table_bytes};
    const size_t bytes = cal->n_slots * cal->table_bytes;
    size_t more; /* bytes of lanes */
    uint32_t crc;
    int failed;
    FILE *f = fopen(path, "wbe");

    if (!f)
        return hx_error_set(err, -errno, "%s: %s", path,
                            errno == EISDIR ? "is a directory" : strerror(errno));
    memcpy(h.magic, magic, sizeof(magic));
    more = head_bytes(&h) - sizeof(h);
    crc = hx_crc32(hx_crc32(hx_crc32(0, &h, sizeof(h)), &lanes, more), cal->tables, bytes);
    failed = fwrite(&h, sizeof(h), 1, f) != 1 || fwrite(&lanes, 1, more, f) != more || fwrite(cal->tables, bytes, 1, f) != 1 ||
             fwrite(&crc, sizeof(crc), 1, f) != 1;
    failed |= fclose(f) != 0;
    if (failed) {
        int rc = hx_error_set(err, -EIO, "%s: cannot write: %s", path, strerror(errno));

        remove_half(path);
        return rc;
    }
    return 0;
}
