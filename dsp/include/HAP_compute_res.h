/* The compute resource manager (published names): VTCM and the turn of serialized users, shared by all PDs of the rig.
 *
 *     compute_res_attr_t a;
 *     HAP_compute_res_attr_init(&a);
 *     HAP_compute_res_attr_set_vtcm_param(&a, 2 << 20, 1);
 *     unsigned ctx = HAP_compute_res_acquire(&a, 10000);         // 0: not within 10 ms
 *     char *vtcm = HAP_compute_res_attr_get_vtcm_ptr(&a);
 *     ...
 *     HAP_compute_res_release(ctx);
 *
 * Who waits gets what he waits for when it is free and nobody more urgent (QuRT priority of the caller, then first come)
 * could have it.  Waiting is real, and on the virtual clock, which shows it as `queue`; a wait whose end lies behind the
 * timeout by the virtual clock has failed, however early it really was.  What a PD holds comes back when it ends.
 *
 * A context in cache mode keeps its address while others use the memory in between: acquire assigns it, acquire_cached and
 * release_cached take it and give it back.
 *
 * Functions return 0, HAP_COMPUTE_RES_NOT_SUPPORTED, or another value that is not 0 (AEE_EBADPARM and the like).  The
 * functions behind the names are compute_resource_*, which is also what skels import that were built with another SDK. */
#ifndef HAP_COMPUTE_RES_H
#define HAP_COMPUTE_RES_H

#ifdef __cplusplus
extern "C" {
#endif

#define HAP_COMPUTE_RES_NOT_SUPPORTED 0x80000404

typedef struct {
    unsigned long long attributes[8]; /* private */
} compute_res_attr_t;

typedef struct {
    unsigned int page_size; /* bytes */
    unsigned int num_pages;
} compute_res_vtcm_page_def_t;

typedef struct {
    unsigned int block_size;    /* bytes */
    unsigned int page_list_len; /* elements of page_list in use */
    compute_res_vtcm_page_def_t page_list[8];
} compute_res_vtcm_page_t;

typedef enum {
    HAP_COMPUTE_RES_HMX_NON_SHARED = 0,
    HAP_COMPUTE_RES_HMX_SHARED, /* not emulated */
    HAP_COMPUTE_RES_HMX_TYPE_MAX,
} compute_res_hmx_type_t;

/* --- what the names below stand for */
int compute_resource_attr_init(compute_res_attr_t *attr);
int compute_resource_attr_set_serialize(compute_res_attr_t *attr, unsigned char b_enable);
int compute_resource_attr_set_hmx_param(compute_res_attr_t *attr, unsigned char b_enable);
int compute_resource_attr_set_vtcm_param(compute_res_attr_t *attr, unsigned int vtcm_size,
                                         unsigned char b_single_page);
int compute_resource_attr_set_vtcm_param_v2(compute_res_attr_t *attr, unsigned int vtcm_size,
                                            unsigned int min_page_size, unsigned int min_vtcm_size);
int compute_resource_attr_set_app_type(compute_res_attr_t *attr, unsigned int application_id);
int compute_resource_attr_set_cache_mode(compute_res_attr_t *attr, unsigned char b_enable);
int compute_resource_attr_set_release_callback(compute_res_attr_t *attr,
                                               int (*release_callback)(unsigned int context_id,
                                                                       void *client_context),
                                               void *client_context);
void *compute_resource_attr_get_vtcm_ptr(compute_res_attr_t *attr);
int compute_resource_attr_get_vtcm_ptr_v2(compute_res_attr_t *attr, void **vtcm_ptr,
                                          unsigned int *vtcm_size);
int compute_resource_query_VTCM(unsigned int application_id, unsigned int *total_block_size,
                                compute_res_vtcm_page_t *total_block_layout,
                                unsigned int *avail_block_size,
                                compute_res_vtcm_page_t *avail_block_layout);
unsigned int compute_resource_acquire(compute_res_attr_t *attr, unsigned int timeout_us);
int compute_resource_release(unsigned int context_id);
int compute_resource_acquire_cached(unsigned int context_id, unsigned int timeout_us);
int compute_resource_release_cached(unsigned int context_id);
int compute_resource_check_release_request(unsigned int context_id);
int compute_resource_update_priority(unsigned int context_id, unsigned short priority);
int compute_resource_hmx_lock(unsigned int context_id);
int compute_resource_hmx_unlock(unsigned int context_id);
int compute_resource_hmx_lock2(unsigned int context_id, compute_res_hmx_type_t type);
int compute_resource_hmx_unlock2(unsigned int context_id, compute_res_hmx_type_t type);

/* --- attributes; all functions refuse an attribute that was not initialised */

static inline int HAP_compute_res_attr_init(compute_res_attr_t *attr)
{
    return compute_resource_attr_init(attr);
}

/* 1: not at the same time as any other context that asks for it. */
static inline int HAP_compute_res_attr_set_serialize(compute_res_attr_t *attr,
                                                     unsigned char b_serialize)
{
    return compute_resource_attr_set_serialize(attr, b_serialize);
}

/* vtcm_size bytes, 0 = none; single page as in HAP_vtcm_mgr.h. */
static inline int HAP_compute_res_attr_set_vtcm_param(compute_res_attr_t *attr,
                                                      unsigned int vtcm_size,
                                                      unsigned char b_single_page)
{
    return compute_resource_attr_set_vtcm_param(attr, vtcm_size, b_single_page);
}

/* Instead of the former: pages of at least min_page_size (0 = any), and at least min_vtcm_size bytes where vtcm_size are not
 * to be had (0 = vtcm_size).  AEE_EBADPARM: min_vtcm_size > vtcm_size. */
static inline int HAP_compute_res_attr_set_vtcm_param_v2(compute_res_attr_t *attr,
                                                         unsigned int vtcm_size,
                                                         unsigned int min_page_size,
                                                         unsigned int min_vtcm_size)
{
    return compute_resource_attr_set_vtcm_param_v2(attr, vtcm_size, min_page_size, min_vtcm_size);
}

static inline int HAP_compute_res_attr_set_cache_mode(compute_res_attr_t *attr,
                                                      unsigned char b_enable)
{
    return compute_resource_attr_set_cache_mode(attr, b_enable);
}

/* 1: threads may take HMX by the context.  HAP_COMPUTE_RES_NOT_SUPPORTED where the profile has none, as those of V69. */
static inline int HAP_compute_res_attr_set_hmx_param(compute_res_attr_t *attr,
                                                     unsigned char b_enable)
{
    return compute_resource_attr_set_hmx_param(attr, b_enable);
}

/* VTCM has one partition, which every application id gets. */
static inline int HAP_compute_res_attr_set_app_type(compute_res_attr_t *attr,
                                                    unsigned int application_id)
{
    return compute_resource_attr_set_app_type(attr, application_id);
}

/* release_callback(context, client_context) is called, on a thread of the manager's in the holder's PD, when a more urgent
 * caller waits for what the context holds; once per hold.  It must not block. */
static inline int HAP_compute_res_attr_set_release_callback(
    compute_res_attr_t *attr,
    int (*release_callback)(unsigned int context_id, void *client_context), void *client_context)
{
    return compute_resource_attr_set_release_callback(attr, release_callback, client_context);
}

/* After a successful acquire; NULL: no VTCM. */
static inline void *HAP_compute_res_attr_get_vtcm_ptr(compute_res_attr_t *attr)
{
    return compute_resource_attr_get_vtcm_ptr(attr);
}

/* The same with the size in bytes of what was granted. */
static inline int HAP_compute_res_attr_get_vtcm_ptr_v2(compute_res_attr_t *attr, void **vtcm_ptr,
                                                       unsigned int *vtcm_size)
{
    return compute_resource_attr_get_vtcm_ptr_v2(attr, vtcm_ptr, vtcm_size);
}

/* VTCM in all and its largest free range, each with its pages.  Pointers may be NULL. */
static inline int HAP_compute_res_query_VTCM(unsigned int application_id,
                                             unsigned int *total_block_size,
                                             compute_res_vtcm_page_t *total_block_layout,
                                             unsigned int *avail_block_size,
                                             compute_res_vtcm_page_t *avail_block_layout)
{
    return compute_resource_query_VTCM(application_id, total_block_size, total_block_layout,
                                       avail_block_size, avail_block_layout);
}

/* --- contexts */

/* A context id, or 0: not within timeout_us (0 = now or not; 1..199 count as 200).  What can never be had fails at once
 * with a line in the log. */
static inline unsigned int HAP_compute_res_acquire(compute_res_attr_t *attr,
                                                   unsigned int timeout_us)
{
    return compute_resource_acquire(attr, timeout_us);
}

/* Gives back all of a context of this PD, which ends. */
static inline int HAP_compute_res_release(unsigned int context_id)
{
    return compute_resource_release(context_id);
}

/* Of contexts in cache mode.  AEE_EEXPIRED: not within timeout_us; AEE_EALREADY: it is held. */
static inline int HAP_compute_res_acquire_cached(unsigned int context_id, unsigned int timeout_us)
{
    return compute_resource_acquire_cached(context_id, timeout_us);
}

static inline int HAP_compute_res_release_cached(unsigned int context_id)
{
    return compute_resource_release_cached(context_id);
}

/* 0: nobody more urgent waits for what the context holds. */
static inline int HAP_compute_res_check_release_request(unsigned int context_id)
{
    return compute_resource_check_release_request(context_id);
}

/* The context's urgency from now on: 1..255, 0 = the calling thread's priority. */
static inline int HAP_compute_res_update_priority(unsigned int context_id, unsigned short priority)
{
    return compute_resource_update_priority(context_id, priority);
}

/* The calling thread takes HMX, when no other thread of any PD has it, and gives it back.  0; HAP_COMPUTE_RES_NOT_SUPPORTED: the
 * profile has none; AEE_EBADPARM: no context with HMX; AEE_EALREADY, AEE_EBADSTATE: it has HMX already, or does not have it. */
static inline int HAP_compute_res_hmx_lock(unsigned int context_id)
{
    return compute_resource_hmx_lock(context_id);
}

static inline int HAP_compute_res_hmx_unlock(unsigned int context_id)
{
    return compute_resource_hmx_unlock(context_id);
}

/* The same for HMX alone; HAP_COMPUTE_RES_NOT_SUPPORTED for a shared one. */
static inline int HAP_compute_res_hmx_lock2(unsigned int context_id, compute_res_hmx_type_t type)
{
    return compute_resource_hmx_lock2(context_id, type);
}

static inline int HAP_compute_res_hmx_unlock2(unsigned int context_id, compute_res_hmx_type_t type)
{
    return compute_resource_hmx_unlock2(context_id, type);
}

#ifdef __cplusplus
}
#endif

#endif
