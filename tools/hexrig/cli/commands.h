/* The names of hexrig's commands, and its own --help.  Who knows the names need not know the commands: main.c does. */
#ifndef HX_COMMANDS_H
#define HX_COMMANDS_H

#include <stddef.h>

struct hx_command {
    const char *name;
    const char *what; /* it does, for --help */
};

extern const struct hx_command hx_commands[]; /* in the order of commands.inc */
extern const size_t hx_n_commands;

/* The command of that name; NULL: there is none, and with `me`, the name of who asks, that has been said. */
const struct hx_command *hx_command(const char *me, const char *name);

/* Prints hexrig --help. */
void hx_commands_print(void);

#endif
