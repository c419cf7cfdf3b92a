/* Loops that wait for memory to change with `pause`, as barriers of atomic counters do.
 *
 * The words that such a loop reads between two pauses become known by that.  From then on each access to one of them, by whichever
 * thread, is an operation in the order of virtual time (dsp/cost/turns.h), so a thread sees what others have written by its time and
 * nothing else.
 * A pause in which nothing can change takes no turns: the thread looks again when another one writes such a word, at the end of the
 * pause in which that happens on the device.  That needs the trace flags (hexrig_hvx_trace.h) in the loop and in what writes; what else
 * changes the words is seen with the next look, after 16 pauses at the latest.
 *
 * A loop without pause is known by loading one word again and again and touching nothing else: its loads are such operations from the
 * HX_SPIN_REPEATS-th on, and after HX_SPIN_POLLS more that find nothing new the thread waits as in a pause, for as many rounds as there are
 * until another one writes the word.  The word may lie on its own stack, where its owner waits for those whom it has told of it.
 *
 * A thread of an earlier call that reads or awaits a word which a later call has written works for that one from then on, as one that is
 * woken does (qurt_wait.h). */
#ifndef HX_QURT_SPIN_H
#define HX_QURT_SPIN_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { HX_SPIN_WORDS = 256, HX_SPIN_LOADS = 8, HX_SPIN_WORD_BYTES = 4, HX_SPIN_ACCESS_MAX = 8, HX_SPIN_REPEATS = 32, HX_SPIN_POLLS = 1000 };

/* What is known, by number % HX_SPIN_WORDS: address / HX_SPIN_WORD_BYTES, or 0. */
extern _Atomic uintptr_t hx_spin_known[HX_SPIN_WORDS];

/* Other words that the calling thread has loaded since its last pause. */
struct hx_spin_loads {
    unsigned n; /* may be more than there is room for */
    uintptr_t word[HX_SPIN_LOADS];
    uintptr_t last; /* the word of the latest access, if that was a load, else 0, */
    unsigned again; /* and how often in a row */
};
extern __thread struct hx_spin_loads hx_spin_loads;

/* The thread is about to access a word that is known. */
void hx_spin_touch(uintptr_t word, int is_store);
/* The thread has loaded the word HX_SPIN_REPEATS times, which makes it known. */
void hx_spin_poll(uintptr_t word);

/* The thread is about to access p[bytes]: nothing may come between this and the access.  is_own: it lies on the thread's own stack, where
 * others may write, but no condition of a loop with pause becomes known by it. */
static inline void hx_spin_access(const void *p, size_t bytes, int is_store, int is_own)
{
    const uintptr_t word = (uintptr_t)p / HX_SPIN_WORD_BYTES;

    if (bytes > HX_SPIN_ACCESS_MAX) {
        hx_spin_loads.last = 0;
        return;
    }
    if (__builtin_expect(atomic_load_explicit(&hx_spin_known[word % HX_SPIN_WORDS], memory_order_relaxed) == word, 0)) {
        hx_spin_touch(word, is_store);
        return;
    }
    if (!is_store && !is_own) {
        if (hx_spin_loads.n < HX_SPIN_LOADS)
            hx_spin_loads.word[hx_spin_loads.n] = word;
        hx_spin_loads.n++;
    }
    if (is_store || hx_spin_loads.last != word) {
        hx_spin_loads.last = is_store ? 0 : word;
        hx_spin_loads.again = 0;
    } else if (++hx_spin_loads.again == HX_SPIN_REPEATS) {
        hx_spin_poll(word);
    }
}

/* pause(#cycles) */
void hx_spin_pause(unsigned cycles);

#endif
