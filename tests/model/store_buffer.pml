/* Memory as threads see it: a store reaches the others late, in the order of its thread (x86's TSO).  A release store is such a
 * store; a sequentially consistent one, a read-modify-write and a system call wait until the thread's stores have arrived.
 * Included after THREADS, VARIABLES and DEPTH (stores of one thread that may be under way) are defined.
 *
 * Not modelled: loads out of order, which the acquire loads of the C forbid, and a thread that reads its own late store;
 * the models keep what only its writer reads in variables beside `memory`. */
byte memory[VARIABLES];
chan late[THREADS] = [DEPTH] of { byte, byte }; /* variable, value */

active [THREADS] proctype store_buffer() /* process i is thread i's */
{
    byte variable, value;
end:
    do
    :: d_step { late[_pid]?variable, value -> memory[variable] = value; variable = 0; value = 0 }
    od
}

#define STORE(thread, variable, value) late[thread]!variable, value
#define FENCE(thread) empty(late[thread])

/* pthread_mutex_t: an unlock is a release store and no more, so nothing that follows it waits for it */
#define LOCK(thread, lock) atomic { memory[lock] == 0 && FENCE(thread) -> memory[lock] = 1 }
#define UNLOCK(thread, lock) STORE(thread, lock, 0)
