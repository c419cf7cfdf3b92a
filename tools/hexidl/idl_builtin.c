/* The built-in types: their names in IDL and in C, and what they are on the wire. */
#include <stdio.h>
#include <string.h>

#include "idl_tree.h"

static const struct {
    const char *idl;
    struct idl_type type;
} builtins[] = {
    {"octet", {IDL_INTEGER, false, "unsigned char", 1, 1, NULL, 0, NULL}},
    {"char", {IDL_INTEGER, true, "char", 1, 1, NULL, 0, NULL}},
    {"boolean", {IDL_BOOLEAN, false, "bool", 1, 1, NULL, 0, NULL}},
    {"wchar", {IDL_INTEGER, false, "_wchar_t", 2, 2, NULL, 0, NULL}},
    {"dmahandle", {IDL_DMA, false, "_dmahandle1_t", 0, 0, NULL, 0, NULL}},
    {"short", {IDL_INTEGER, true, "short", 2, 2, NULL, 0, NULL}},
    {"unsigned short", {IDL_INTEGER, false, "unsigned short", 2, 2, NULL, 0, NULL}},
    {"long", {IDL_INTEGER, true, "int", 4, 4, NULL, 0, NULL}},
    {"unsigned long", {IDL_INTEGER, false, "unsigned int", 4, 4, NULL, 0, NULL}},
    {"long long", {IDL_INTEGER, true, "int64", 8, 8, NULL, 0, NULL}},
    {"unsigned long long", {IDL_INTEGER, false, "uint64", 8, 8, NULL, 0, NULL}},
    {"int64", {IDL_INTEGER, true, "int64", 8, 8, NULL, 0, NULL}},
    {"uint64", {IDL_INTEGER, false, "uint64", 8, 8, NULL, 0, NULL}},
    {"float", {IDL_FLOATING, true, "float", 4, 4, NULL, 0, NULL}},
    {"double", {IDL_FLOATING, true, "double", 8, 8, NULL, 0, NULL}},
    {"int8_t", {IDL_INTEGER, true, "int8_t", 1, 1, NULL, 0, NULL}},
    {"uint8_t", {IDL_INTEGER, false, "uint8_t", 1, 1, NULL, 0, NULL}},
    {"int16_t", {IDL_INTEGER, true, "int16_t", 2, 2, NULL, 0, NULL}},
    {"uint16_t", {IDL_INTEGER, false, "uint16_t", 2, 2, NULL, 0, NULL}},
    {"int32_t", {IDL_INTEGER, true, "int32_t", 4, 4, NULL, 0, NULL}},
    {"uint32_t", {IDL_INTEGER, false, "uint32_t", 4, 4, NULL, 0, NULL}},
    {"int64_t", {IDL_INTEGER, true, "int64_t", 8, 8, NULL, 0, NULL}},
    {"uint64_t", {IDL_INTEGER, false, "uint64_t", 8, 8, NULL, 0, NULL}},
};

const struct idl_type *idl_builtin(const char *name)
{
    char with_t[32];

    snprintf(with_t, sizeof(with_t), "%.20s_t", name); /* `int8` is `int8_t` */
    for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
        if (strcmp(builtins[i].idl, name) == 0 ||
            (strstr(name, "int") && strcmp(builtins[i].idl, with_t) == 0))
            return &builtins[i].type;
    return NULL;
}
