/* Atomic operations on words in memory (published names).
 *
 * Each is sequentially consistent and takes no virtual time of its own; a loop that waits for a value carries none (docs/qurt.md).
 * *_return: the value behind the operation; the others return nothing.  A bit is counted from the first word on, 32 (64) to a word. */
#ifndef QURT_ATOMIC_OPS_H
#define QURT_ATOMIC_OPS_H

#ifdef __cplusplus
extern "C" {
#endif

#define HX_QURT_ATOMICS(prefix, T, BITS) \
    static inline T prefix##_set(T *target, T value) \
    { \
        __atomic_store_n(target, value, __ATOMIC_SEQ_CST); \
        return value; \
    } \
    HX_QURT_ATOMIC(prefix, T, and, mask, and) \
    HX_QURT_ATOMIC(prefix, T, or, mask, or) \
    HX_QURT_ATOMIC(prefix, T, xor, mask, xor) \
    HX_QURT_ATOMIC(prefix, T, add, delta, add) \
    HX_QURT_ATOMIC(prefix, T, sub, delta, sub) \
    static inline void prefix##_inc(T *target) \
    { \
        __atomic_add_fetch(target, 1, __ATOMIC_SEQ_CST); \
    } \
    static inline T prefix##_inc_return(T *target) \
    { \
        return __atomic_add_fetch(target, 1, __ATOMIC_SEQ_CST); \
    } \
    static inline void prefix##_dec(T *target) \
    { \
        __atomic_sub_fetch(target, 1, __ATOMIC_SEQ_CST); \
    } \
    static inline T prefix##_dec_return(T *target) \
    { \
        return __atomic_sub_fetch(target, 1, __ATOMIC_SEQ_CST); \
    } \
    static inline void prefix##_set_bit(T *target, unsigned int bit) \
    { \
        __atomic_or_fetch(target + bit / BITS, (T)1 << bit % BITS, __ATOMIC_SEQ_CST); \
    } \
    static inline void prefix##_clear_bit(T *target, unsigned int bit) \
    { \
        __atomic_and_fetch(target + bit / BITS, ~((T)1 << bit % BITS), __ATOMIC_SEQ_CST); \
    } \
    static inline void prefix##_change_bit(T *target, unsigned int bit) \
    { \
        __atomic_xor_fetch(target + bit / BITS, (T)1 << bit % BITS, __ATOMIC_SEQ_CST); \
    } \
    /* 1: *target was old_val and is new_val now */ \
    static inline unsigned int prefix##_compare_and_set(T *target, T old_val, T new_val) \
    { \
        return __atomic_compare_exchange_n(target, &old_val, new_val, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    } \
    /* 1: added; 0: *target is `unless` */ \
    static inline unsigned int prefix##_add_unless(T *target, T delta, T unless) \
    { \
        T now = __atomic_load_n(target, __ATOMIC_SEQ_CST); \
        while (now != unless) \
            if (__atomic_compare_exchange_n(target, &now, (T)(now + delta), 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) \
                return 1; \
        return 0; \
    }
#define HX_QURT_ATOMIC(prefix, T, name, operand, builtin) \
    static inline void prefix##_##name(T *target, T operand) \
    { \
        __atomic_##builtin##_fetch(target, operand, __ATOMIC_SEQ_CST); \
    } \
    static inline T prefix##_##name##_return(T *target, T operand) \
    { \
        return __atomic_##builtin##_fetch(target, operand, __ATOMIC_SEQ_CST); \
    }

HX_QURT_ATOMICS(qurt_atomic, unsigned int, 32)
HX_QURT_ATOMICS(qurt_atomic64, unsigned long long, 64)
#undef HX_QURT_ATOMIC
#undef HX_QURT_ATOMICS

static inline void qurt_atomic_barrier(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#ifdef __cplusplus
}
#endif

#endif
