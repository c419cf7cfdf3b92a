/* The two checksums of the wire: CRC-8 of a block, CRC-32 of a file. */
#include <pthread.h>

#include "hx_block.h"

uint8_t hx_crc8(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint8_t crc = 0;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (uint8_t)(crc << 1) ^ ((crc & 0x80) ? 0x07 : 0);
    }
    return crc;
}

/* of[0] is a byte's remainder; of[k] that of a byte with k zero bytes behind it, so that eight bytes are looked up at once. */
static struct {
    uint32_t of[8][256];
    pthread_once_t once;
} crc32_tables = {.once = PTHREAD_ONCE_INIT};

static void make_crc32_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;

        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) ? 0xEDB88320u : 0);
        crc32_tables.of[0][byte] = crc;
    }
    for (size_t k = 1; k < 8; k++)
        for (size_t byte = 0; byte < 256; byte++) {
            const uint32_t before = crc32_tables.of[k - 1][byte];

            crc32_tables.of[k][byte] = before >> 8 ^ crc32_tables.of[0][before & 0xff];
        }
}

uint32_t hx_crc32(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    pthread_once(&crc32_tables.once, make_crc32_tables);
    crc = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t next = 0;

        for (size_t i = 0; i < 8; i++)
            next ^= crc32_tables.of[7 - i][p[i] ^ (i < 4 ? crc >> 8 * i & 0xff : 0)];
        crc = next;
    }
    for (; n; n--, p++)
        crc = crc >> 8 ^ crc32_tables.of[0][(crc ^ *p) & 0xff];
    return ~crc;
}
