/* The two checksums of the wire: CRC-8 of a block, CRC-32 of a file. */
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

enum { AT_ONCE = 4, WORTH_TABLES = 4096 };

static uint32_t crc32_bits(uint32_t crc)
{
    for (int bit = 0; bit < 8; bit++)
        crc = (crc >> 1) ^ ((crc & 1) ? 0xEDB88320u : 0);
    return crc;
}

/* of[0] is a byte's remainder; of[k] that of a byte with k zero bytes behind it, so that AT_ONCE bytes are looked up at once. */
static void make_tables(uint32_t of[AT_ONCE][256])
{
    for (uint32_t byte = 0; byte < 256; byte++)
        of[0][byte] = crc32_bits(byte);
    for (size_t k = 1; k < AT_ONCE; k++)
        for (size_t byte = 0; byte < 256; byte++)
            of[k][byte] = of[k - 1][byte] >> 8 ^ of[0][of[k - 1][byte] & 0xff];
}

/* n: a multiple of AT_ONCE.  The tables are on the stack: this file is also built where there are no threads to make them once. */
static uint32_t crc32_tables(uint32_t crc, const uint8_t *p, size_t n)
{
    uint32_t of[AT_ONCE][256];

    make_tables(of);
    for (const uint8_t *end = p + n; p < end; p += AT_ONCE) {
        crc ^= p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        crc = of[3][crc & 0xff] ^ of[2][crc >> 8 & 0xff] ^ of[1][crc >> 16 & 0xff] ^ of[0][crc >> 24];
    }
    return crc;
}

uint32_t hx_crc32(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    const size_t many = n < WORTH_TABLES ? 0 : n / AT_ONCE * AT_ONCE;

    crc = ~crc;
    if (many)
        crc = crc32_tables(crc, p, many);
    for (size_t i = many; i < n; i++)
        crc = crc32_bits(crc ^ p[i]);
    return ~crc;
}
