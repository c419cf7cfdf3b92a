/* HMX's arithmetic on tiles of 32 x 32 half floats, whoever may use it.
 *
 * Layout from public code, not from silicon: element (row, column) lies at half (row / 2) * 64 + column * 2 + row % 2, in activations
 * [row][k], weights [k][column] and outputs alike.  Products are added up without loss, and rounded once, when they are stored, as
 * users of V69 and V73 have published; here the sum is a double, which loses what lies 53 bits below it.
 * Nothing is infinite or no number: the largest exponent is one as any other, and what lies beyond the largest half becomes that.
 * So does the model of HMX in quic/qemu as long as bit 20 of USR is 0, and nothing here could set it. */
#ifndef HX_HMX_TILE_H
#define HX_HMX_TILE_H

#include <stdint.h>

enum { HX_HMX_SIDE = 32, HX_HMX_TILE_BYTES = 2048, HX_HMX_TABLE_WORDS = 32, HX_HMX_TABLE_BYTES = 256 };

/* [row][column] */
typedef double hx_hmx_sums[HX_HMX_SIDE][HX_HMX_SIDE];

/* sums += activation x weight */
void hx_hmx_multiply(hx_hmx_sums sums, const uint16_t *activation, const uint16_t *weight);

/* tile = sums * scale + bias, by column: the lower half of a word of the table is the scale, the upper one the bias. */
void hx_hmx_convert(uint16_t *tile, const hx_hmx_sums sums, const uint32_t table[HX_HMX_TABLE_WORDS]);

#endif
