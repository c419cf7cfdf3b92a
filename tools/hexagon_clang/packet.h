/* The instructions that inline assembly may have, and the calls that they become. */
#ifndef HX_PACKET_H
#define HX_PACKET_H

#include <stdio.h>

#include "statement.h"

enum { HX_PACKET_BYTES = 256 };

/* Writes the statements of C for one packet to `out`: `packet` is its instructions without spaces, with ; between them.
 * 0; -ENOMSG: no such instruction is known, and nothing is written. */
int hx_packet_print(FILE *out, const char *packet, const struct hx_asm_statement *statement);

#endif
