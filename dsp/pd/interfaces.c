/* The PD's side of the table of interfaces: who is in it, and the names of methods, which skels carry. */
#include "interfaces.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the table, which only this PD writes */
static struct hx_interface_table *table;

void hx_interfaces_open(struct hx_interface_table *t)
{
    table = t;
}

/* Bytes of a list of names, each with its 0, up to an empty one; 0 when it does not end within `most`. */
static uint32_t bytes_of(const char *names, uint32_t most)
{
    uint32_t n = 0;

    while (n < most && names[n]) {
        n += (uint32_t)strnlen(names + n, most - n);
        if (n++ == most)
            return 0;
    }
    return n < most ? n : 0;
}

/* Under lock. */
static void add_names(struct hx_interface *e, void *dl)
{
    char symbol[HX_INTERFACE_NAME + 16];
    const char *names;
    uint32_t n;

    snprintf(symbol, sizeof(symbol), "%s_skel_methods", e->name);
    names = dlsym(dl, symbol);
    n = names ? bytes_of(names, HX_METHOD_NAMES - table->names_used) : 0;
    memcpy(table->names + table->names_used, names ? names : "", n);
    e->names_at = table->names_used;
    e->names_bytes = n;
    table->names_used += n;
}

static unsigned find(const struct hx_interface *e)
{
    unsigned n = table->n;

    for (unsigned i = 0; i < n; i++)
        if (strcmp(table->entry[i].name, e->name) == 0 && strcmp(table->entry[i].library, e->library) == 0)
            return i + 1;
    return 0;
}

unsigned hx_interface_number(void *dl, const char *library, const char *symbol)
{
    const char *end = strstr(symbol, "_skel_");
    struct hx_interface e = {0};
    unsigned number;

    if (!table || !end)
        return 0;
    snprintf(e.name, sizeof(e.name), "%.*s", (int)(end - symbol), symbol);
    snprintf(e.library, sizeof(e.library), "%s", library);
    pthread_mutex_lock(&lock);
    number = find(&e);
    if (!number && table->n < HX_INTERFACES_MAX) {
        add_names(&e, dl);
        table->entry[table->n] = e;
        number = ++table->n;
    }
    pthread_mutex_unlock(&lock);
    return number;
}
