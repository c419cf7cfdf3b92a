/* Loads BLAS and LAPACK, see blas.h. */
#include "blas.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "liblapacke.so.3"

static struct hx_blas functions;
static char missing[256]; /* why `functions` is not complete; "": it is */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* dlsym() looks into the libraries that LAPACK itself needs, too, of which one is BLAS. */
static void load(void)
{
    static const struct {
        const char *name;
        void *to;
    } wanted[] = {
        {"LAPACKE_dsyevd", &functions.dsyevd}, {"LAPACKE_dgeqrf", &functions.dgeqrf}, {"LAPACKE_dorgqr", &functions.dorgqr},
        {"LAPACKE_dgesdd", &functions.dgesdd}, {"LAPACKE_dgesv", &functions.dgesv},   {"dgemm_", &functions.dgemm},
        {"dsyrk_", &functions.dsyrk},
    };
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL); /* stays: OpenBLAS' threads live in it */
    void (*threads)(int n);

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && !*missing; i++) {
        void *f = library ? dlsym(library, wanted[i].name) : NULL;

        if (!f) {
            const char *why = dlerror();

            strncpy(missing, why ? why : wanted[i].name, sizeof(missing) - 1);
        }
        memcpy(wanted[i].to, &f, sizeof(f));
    }
    threads = library ? (void (*)(int))dlsym(library, "openblas_set_num_threads") : NULL;
    if (threads) /* other LAPACKs have one thread anyway */
        threads(1);
}

const struct hx_blas *hx_blas(struct hx_error *err)
{
    pthread_once(&once, load);
    if (!*missing)
        return &functions;
    hx_error_set(err, -ELIBACC, "LAPACK is missing: %s; install the package liblapacke", missing);
    return NULL;
}
