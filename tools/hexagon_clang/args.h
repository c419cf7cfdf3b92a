/* A command line of hexagon-clang, sorted into what each step of this machine's compiler gets. */
#ifndef HX_ARGS_H
#define HX_ARGS_H

#include <stddef.h>

struct hx_arg_list {
    char **at; /* NULL behind the last */
    size_t count, room;
};

/* The strings are not copied; they must live as long as the list.  Ends the program when there is no memory. */
void hx_arg_add(struct hx_arg_list *list, const char *arg);
void hx_arg_add_list(struct hx_arg_list *list, const struct hx_arg_list *more);
/* The words of `text`, which is cut up for that. */
void hx_arg_add_words(struct hx_arg_list *list, char *text);

enum hx_arg_stop { HX_STOP_LINK, HX_STOP_COMPILE, HX_STOP_ASSEMBLER, HX_STOP_PREPROCESS };

struct hx_args {
    struct hx_arg_list preprocess; /* -D, -I, -include, ... */
    struct hx_arg_list both;       /* -O, -f, -m, -g, -W, -std: all steps */
    struct hx_arg_list depend;     /* -MD, -MF, ...: once per source */
    struct hx_arg_list link;       /* libraries, objects, -Wl, in their order; of a source HX_ARG_SOURCE */
    struct hx_arg_list sources;
    const char *output;   /* of -o, or NULL */
    const char *language; /* of -x, or NULL */
    enum hx_arg_stop stop;
    int arch;    /* 69 when the command line says nothing */
    int shared, ieee;
    int has_base;    /* it says where the text of a library lies */
    int has_depend_file, has_depend_target;
};

/* Stands in the link list for the next source's object. */
#define HX_ARG_SOURCE "\001"

/* 0; -EINVAL with a line on stderr. */
int hx_args_read(struct hx_args *args, int argc, char **argv);

#endif
