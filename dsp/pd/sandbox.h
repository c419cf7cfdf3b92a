/* The DSP process runs other people's code: no capabilities, no new privileges, no files but the skels and what loading them
 * needs, no system calls but those of a program that computes. */
#ifndef HX_SANDBOX_H
#define HX_SANDBOX_H

/* Confines the process and all its children.  skel_path: colon- or semicolon-separated folders that stay readable.
 * The log names, once, what the kernel does not offer.  Returns 0 or negative errno.
 * Sanitizer builds need more of the system than this leaves and lose privileges only. */
int hx_sandbox(const char *skel_path);

/* Confines a user PD further: no process but itself, no signal to another, no limit or priority of another, no file but for
 * reading, no way to the memory and descriptors of other PDs and of the root PD, and no heap above 4 GiB (malloc fails
 * instead).  Called in the forked process before its first skel and thread, where hx_sandbox() was
 * called before the fork; leaves out what that could not do.  Returns 0 or negative errno. */
int hx_sandbox_user_pd(void);

#endif
