/* Just enough of <stdio.h> to compile kernels for Hexagon where the compiler has no C library. */
#ifndef HEXRIG_LIBC_STDIO_H
#define HEXRIG_LIBC_STDIO_H

#include <stdarg.h>
#include <stddef.h>

typedef struct hx_libc_file FILE;
extern FILE *stdin, *stdout, *stderr;

int printf(const char *format, ...);
int fprintf(FILE *f, const char *format, ...);
int sprintf(char *s, const char *format, ...);
int snprintf(char *s, size_t n, const char *format, ...);
int vsnprintf(char *s, size_t n, const char *format, va_list ap);
int puts(const char *s);
int fputs(const char *s, FILE *f);
int fflush(FILE *f);

#endif
