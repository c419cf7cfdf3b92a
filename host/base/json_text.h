/* JSON strings of what people and files call things, which may be any bytes. */
#ifndef HX_JSON_TEXT_H
#define HX_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* Valid UTF-8 out of any bytes: what is not becomes U+FFFD.  malloc'ed, terminated; NULL: out of memory. */
char *hx_json_utf8(const char *bytes, size_t n);

/* The same as a JSON string: JSON knows no other bytes.  NULL: out of memory. */
json_t *hx_json_text(const char *text);

#endif
