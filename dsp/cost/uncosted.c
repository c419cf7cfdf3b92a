/* Collects what estimates and untraced code amount to, by function, and tells of it in the log and in the PD's table. */
#include "uncosted.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "HAP_farf.h"
#include "skel_symbols.h"

enum { MODULES_MAX = 32, UNITS = 256 /* to a pcycle, so that sums of many threads do not depend on their order */ };
/* A function is told of when it has at least this part of a call, and is more than the glue around a kernel. */
enum { TOLD_FROM = 50, GLUE_PCYCLES = 500 };

static const char no_listing[] = "no listing: estimated by its operations, blocks and accesses";
static const char no_trace[] = "built without the trace flags: only HVX operations and what listings pay for were charged";
static const char no_price[] = "a library function without a price, or not linked by the flags of hexrig-skel.pc: it is free";

struct function {
    char name[HX_UNCOSTED_NAME];
    _Atomic uint64_t units, hvx_ops;
    _Atomic uint64_t host_ns;
    uint64_t seen; /* units up to the last call's end */
    unsigned entry; /* of the table + 1; 0: not told of */
};

struct module {
    struct hx_skel_symbols symbols;
    unsigned function;   /* for what is not known better */
    bool traced;
    const char *declared; /* what the skel's authors say */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all but the sums */
static struct function functions[HX_UNCOSTED_FUNCTIONS] = {{.name = "?"}};
static struct module modules[MODULES_MAX];
static unsigned n_modules, n_functions = 1;
static struct hx_uncosted_table *table;
static _Atomic unsigned last_called; /* library, by its number as a function */

/* The call on this thread, of a library that is not traced.  Times are the host's. */
static __thread struct {
    const struct module *module;
    uint64_t listed_since, listed_ns, cpu_before;
} thread;

void hx_uncosted_open(struct hx_uncosted_table *t)
{
    table = t;
}

/* --- names ---------------------------------------------------------------------------------------------------- */

/* Under lock.  What the optimiser appends to a name (.constprop.0) is left out. */
static unsigned number_of(const char *library, const char *function)
{
    char name[HX_UNCOSTED_NAME];
    unsigned i;

    if (function)
        snprintf(name, sizeof(name), "%.24s:%.*s", library, (int)strcspn(function, "."), function);
    else
        snprintf(name, sizeof(name), "%s", library);
    for (i = 1; i < n_functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return i;
    if (i == HX_UNCOSTED_FUNCTIONS)
        return 0;
    memcpy(functions[i].name, name, sizeof(name));
    return n_functions++;
}

/* Under lock.  The library at this address, its entry filled anew if another one was there before; NULL: no room. */
static struct module *module_at(struct hx_skel_symbols *found, bool *is_new, int *replaced)
{
    struct module *m = NULL;

    for (unsigned i = 0; i < n_modules && !m; i++)
        if (modules[i].symbols.base == found->base && modules[i].symbols.from == found->from)
            m = &modules[i];
    if (m && (m->symbols.inode != found->inode || m->symbols.changed_ns != found->changed_ns)) {
        hx_skel_symbols_close(&m->symbols);
        *replaced = 1;
        *is_new = true;
        m->symbols = *found;
    } else if (m || n_modules == MODULES_MAX) {
        hx_skel_symbols_close(found);
    } else {
        m = &modules[n_modules++];
        *is_new = true;
        m->symbols = *found;
    }
    return m;
}

unsigned hx_uncosted_module(void *handle, const char *name, int *replaced)
{
    struct hx_skel_symbols found;
    struct module *m;
    unsigned function = 0;
    bool is_new = false;

    *replaced = 0;
    if (hx_skel_symbols_open(&found, handle))
        return 0;
    pthread_mutex_lock(&lock);
    m = module_at(&found, &is_new, replaced);
    if (is_new) {
        m->traced = hx_skel_imports(&m->symbols, "__sanitizer_cov_trace_pc");
        m->declared = dlsym(handle, "hx_uncosted_reason");
        m->function = number_of(name, NULL);
    }
    if (m)
        function = m->function;
    pthread_mutex_unlock(&lock);
    return function;
}

unsigned hx_uncosted_function(const void *pc)
{
    const uintptr_t at = (uintptr_t)pc;
    unsigned function = 0;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n_modules && !function; i++) {
        const struct module *m = &modules[i];

        if (at >= m->symbols.from && at < m->symbols.to) {
            const char *name = hx_skel_function_at(&m->symbols, at);
            function = name ? number_of(functions[m->function].name, name) : m->function;
        }
    }
    pthread_mutex_unlock(&lock);
    return function;
}

/* Under lock: the library that a function is in. */
static const struct module *module_of(const struct function *f)
{
    for (unsigned i = 0; i < n_modules; i++) {
        const char *name = functions[modules[i].function].name;

        if (strncmp(f->name, name, strlen(name)) == 0)
            return &modules[i];
    }
    return NULL;
}

/* Under lock. */
static bool is_in_module(uintptr_t pc)
{
    for (unsigned i = 0; i < n_modules; i++)
        if (pc >= modules[i].symbols.from && pc < modules[i].symbols.to)
            return true;
    return false;
}

/* --- telling -------------------------------------------------------------------------------------------------- */

static void set_figures(struct hx_uncosted *e, const struct function *f)
{
    atomic_store_explicit(&e->pcycles, atomic_load_explicit(&f->units, memory_order_relaxed) / UNITS, memory_order_relaxed);
    atomic_store_explicit(&e->hvx_ops, atomic_load_explicit(&f->hvx_ops, memory_order_relaxed), memory_order_relaxed);
    atomic_store_explicit(&e->host_ns, atomic_load_explicit(&f->host_ns, memory_order_relaxed), memory_order_relaxed);
}

/* Under lock.  A new entry; its number + 1, or 0 when there is no room. */
static unsigned add_entry(const char *name, const char *reason)
{
    const uint32_t n = table ? atomic_load_explicit(&table->n, memory_order_relaxed) : 0;
    struct hx_uncosted *e;

    if (!table)
        return 0;
    if (n >= HX_UNCOSTED_MAX) {
        atomic_fetch_add_explicit(&table->more, 1, memory_order_relaxed);
        return 0;
    }
    e = &table->entry[n];
    snprintf(e->name, sizeof(e->name), "%s", name);
    snprintf(e->reason, sizeof(e->reason), "%s", reason);
    atomic_store_explicit(&table->n, n + 1, memory_order_release);
    return n + 1;
}

/* Under lock. */
static void tell(struct function *f, const char *reason, bool in_log)
{
    f->entry = add_entry(f->name, reason);
    if (f->entry)
        set_figures(&table->entry[f->entry - 1], f);
    if (f->entry && in_log)
        FARF(ALWAYS, "uncosted: %s: %s (so far %llu pcycles, %llu HVX operations, %llu us of the host's processor)", f->name, reason,
             (unsigned long long)atomic_load(&f->units) / UNITS, (unsigned long long)atomic_load(&f->hvx_ops),
             (unsigned long long)atomic_load(&f->host_ns) / 1000);
}

/* Under lock. */
static void tell_name(const char *name, const char *reason)
{
    const uint32_t n = table ? atomic_load_explicit(&table->n, memory_order_relaxed) : 0;
    bool known = false;

    for (uint32_t i = 0; i < n && i < HX_UNCOSTED_MAX; i++)
        known |= strcmp(table->entry[i].name, name) == 0 && strcmp(table->entry[i].reason, reason) == 0;
    if (!known && add_entry(name, reason))
        FARF(ALWAYS, "uncosted: %s: %s", name, reason);
}

void hx_uncosted_name(const char *name, const char *reason)
{
    pthread_mutex_lock(&lock);
    tell_name(name, reason);
    pthread_mutex_unlock(&lock);
}

void hx_uncosted_callee(unsigned caller, const void *callee)
{
    const struct module *m;
    const char *name = NULL;
    char full[HX_UNCOSTED_NAME];
    Dl_info info, own;

    if (!dladdr(callee, &info) || !dladdr((void *)hx_uncosted_callee, &own) || info.dli_fbase == own.dli_fbase)
        return; /* what a skel finds in the DSP itself waits or starts something: its time is the clock's */
    pthread_mutex_lock(&lock);
    m = caller && caller < n_functions ? module_of(&functions[caller]) : NULL;
    if (m && !m->declared && !is_in_module((uintptr_t)callee))
        name = hx_skel_import_of(&m->symbols, callee);
    if (name) {
        snprintf(full, sizeof(full), "%.24s:%s", functions[m->function].name, name);
        tell_name(full, no_price);
    }
    pthread_mutex_unlock(&lock);
}

/* Under lock.  What the call that ends has too much of to be silent about. */
static void tell_all(uint64_t exec_pcycles)
{
    for (unsigned i = 1; i < n_functions; i++) {
        struct function *f = &functions[i];
        const uint64_t units = atomic_load_explicit(&f->units, memory_order_relaxed), pcycles = (units - f->seen) / UNITS;
        const struct module *m;

        f->seen = units;

        if (f->entry) {
            set_figures(&table->entry[f->entry - 1], f);
        } else if (pcycles > GLUE_PCYCLES && pcycles * TOLD_FROM > exec_pcycles) {
            m = module_of(f);
            tell(f, m && m->declared ? m->declared : no_listing, !(m && m->declared));
        }
    }
}

/* --- what is counted ------------------------------------------------------------------------------------------ */

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void hx_uncosted_estimated(unsigned function, double pcycles, uint64_t hvx_ops)
{
    const unsigned whose = function ? function : atomic_load_explicit(&last_called, memory_order_relaxed);
    struct function *f = &functions[whose];

    atomic_fetch_add_explicit(&f->units, (uint64_t)(pcycles * (double)UNITS + 0.5), memory_order_relaxed);
    if (hvx_ops)
        atomic_fetch_add_explicit(&f->hvx_ops, hvx_ops, memory_order_relaxed);
}

void hx_uncosted_listed(int listed)
{
    if (!thread.module || thread.module->declared)
        return;
    if (listed)
        thread.listed_since = nanoseconds(CLOCK_MONOTONIC);
    else if (thread.listed_since)
        thread.listed_ns += nanoseconds(CLOCK_MONOTONIC) - thread.listed_since;
    if (!listed)
        thread.listed_since = 0;
}

void hx_uncosted_call_begin(unsigned module)
{
    thread.module = NULL;
    atomic_store_explicit(&last_called, module, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n_modules && module && !thread.module; i++)
        if (modules[i].function == module && !modules[i].traced)
            thread.module = &modules[i];
    pthread_mutex_unlock(&lock);
    if (!thread.module || thread.module->declared)
        return; /* its authors know what there is */
    thread.listed_ns = thread.listed_since = 0;
    thread.cpu_before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

void hx_uncosted_call_end(uint64_t exec_pcycles)
{
    const struct module *m = thread.module;
    struct function *f;

    thread.module = NULL;
    pthread_mutex_lock(&lock);
    if (m) {
        const uint64_t ns = m->declared ? 0 : nanoseconds(CLOCK_THREAD_CPUTIME_ID) - thread.cpu_before;

        f = &functions[m->function];
        if (ns > thread.listed_ns)
            atomic_fetch_add_explicit(&f->host_ns, ns - thread.listed_ns, memory_order_relaxed);
        if (!f->entry)
            tell(f, m->declared ? m->declared : no_trace, !m->declared);
    }
    tell_all(exec_pcycles);
    pthread_mutex_unlock(&lock);
}
