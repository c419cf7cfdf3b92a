/* Grammars of JSON: of any object, or of what a JSON schema describes.
 *
 * Texts are JSON as every strict parser reads it (RFC 8259): valid UTF-8 without surrogates and NUL, integers of up to 15 digits,
 * other numbers below 1e116.  Between the parts of an object or array there may be a space, or a newline and up to 16 spaces.
 *
 * Of JSON Schema (2020-12; draft-07's `definitions`, too) there are: type, enum, const, properties, required,
 * additionalProperties, items, minItems, maxItems, minLength, maxLength, anyOf, allOf of one, $ref to "#", "#/$defs/NAME" and
 * "#/definitions/NAME"; titles and other remarks are passed over.  Any other keyword is refused, since a text that did not keep to it
 * would look as if it did.  Properties come in the schema's order, those that are not required may be left out, and there are no
 * others, unless the object has none of its own: then names are free, and values are what additionalProperties says. */
#ifndef HX_JSON_GRAMMAR_H
#define HX_JSON_GRAMMAR_H

#include <jansson.h>

#include "base/error.h"
#include "grammar.h"

enum {
    HX_SCHEMA_DEPTH = 32,       /* schemas within each other */
    HX_SCHEMA_VALUES = 200,     /* of an enum */
    HX_SCHEMA_PROPERTIES = 128, /* of an object */
    HX_SCHEMA_CHOICES = 32,     /* of anyOf */
    HX_SCHEMA_REFS = 64,        /* definitions that are used */
    HX_SCHEMA_ITEMS = 256,      /* minItems, maxItems */
    HX_SCHEMA_CHARS = 2048,     /* minLength, maxLength */
    HX_SCHEMA_SHORTEST = 4096,  /* bytes of the shortest text */
};

/* schema NULL: any object.  Borrowed for the call.  0; -ENOMEM; -EINVAL: the reason says what is wrong, and where
 * ("#/properties/age: ..."); -E2BIG: it is above a limit, which the reason names. */
int hx_json_grammar(struct hx_grammar **out, const json_t *schema, struct hx_error *err);

#endif
