/* Test support: a client of the public headers whose calls may fail at any point, for tests/rpc/test_nth_client.c.  No cmocka: it
 * runs in a process of its own. */
#ifndef NTH_CLIENT_H
#define NTH_CLIENT_H

/* The client's whole life: a round with whatever fails now, nth_disarm(), a round in which everything has to work.  kept:
 * descriptors that the library keeps for the life of the process, for a rig of its own.  Exit code:
 * 0 everything worked, NTH_TOLD an interface of the first round said an error, 1 something is wrong, told on stderr. */
enum { NTH_TOLD = 3 };
int nth_client(int kept);

#endif
