/* Text in XML and HTML. */
#ifndef HX_XML_TEXT_H
#define HX_XML_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Writes text so that it is nothing but text, between tags and in quoted attributes of XML and HTML alike.  What is no UTF-8, or a
 * character that XML does not have, becomes U+FFFD. */
void hx_xml_text(FILE *f, const char *text);
void hx_xml_text_n(FILE *f, const char *text, size_t bytes);

#endif
