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

uint32_t hx_crc32(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) ? 0xEDB88320u : 0);
    }
    return ~crc;
}
