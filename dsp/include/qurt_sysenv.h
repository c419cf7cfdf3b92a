/* The machine that QuRT runs on (published names). */
#ifndef QURT_SYSENV_H
#define QURT_SYSENV_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    unsigned int arch_version; /* 0x69; 0x73 where the profile says so */
} qurt_arch_version_t;

typedef struct {
    unsigned int max_hthreads; /* the profile's hw_threads */
} qurt_sysenv_max_hthreads_t;

/* QURT_EOK or QURT_EINVALID: no machine. */
int qurt_sysenv_get_arch_version(qurt_arch_version_t *vers);
int qurt_sysenv_get_max_hw_threads(qurt_sysenv_max_hthreads_t *mhwt);

#ifdef __cplusplus
}
#endif

#endif
