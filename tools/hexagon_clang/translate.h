/* Inline assembly of a Hexagon, translated: asm statements of preprocessed C or C++ become calls of dsp/include/hexrig/hexrig_asm.h. */
#ifndef HX_TRANSLATE_H
#define HX_TRANSLATE_H

#include <stddef.h>
#include <stdio.h>

/* Copies `text` to `out` with the asm statements translated.  Left as they are: statements without an instruction (barriers for the
 * compiler), those of system headers, and names that a declaration gives to the assembler.  Lines keep the number that they have in
 * their file.
 * 0; -EINVAL: an instruction is not known.  Each one has a line on stderr, FILE:LINE: error: ...; what `out` has then is of no use. */
int hx_asm_translate(FILE *out, const char *text, size_t bytes);

#endif
