/* Damage behind a checksum: without a CRC that is right again a reader's checks of the content are never reached. */
#ifndef SEALED_FILE_H
#define SEALED_FILE_H

#include "hx_block.h"
#include "hxt.h"

/* Writes bytes [n], of which the last four become the CRC-32 of the others. */
static inline void write_sealed(const char *path, uint8_t *bytes, size_t n)
{
    const uint32_t crc = hx_crc32(0, bytes, n - sizeof(crc));

    memcpy(bytes + n - sizeof(crc), &crc, sizeof(crc));
    hxt_write_file(path, bytes, n);
}

/* A field of a file is another: `size` bytes at `at`; then the message has these words. */
struct wrong_field {
    size_t at, size;
    union {
        uint32_t u32;
        float f32;
        double f64;
        char text[8];
    } is;
    const char *words;
};

/* Puts a wrong field into bytes, and what was there back. */
static inline void swap_field(uint8_t *bytes, struct wrong_field *w)
{
    uint8_t was[sizeof(w->is)];

    memcpy(was, bytes + w->at, w->size);
    memcpy(bytes + w->at, &w->is, w->size);
    memcpy(&w->is, was, w->size);
}

#endif
