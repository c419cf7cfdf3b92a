/* Runs another program under this one: it gets our signals, we get its status, and it does not outlive us. */
#ifndef HX_RUN_PROGRAM_H
#define HX_RUN_PROGRAM_H

struct hx_program {
    char **argv;        /* NULL-terminated; found by PATH */
    const char *device; /* path of the rig's fastrpc-cdsp */
    int watch;          /* 1: under hx_seccomp_watch(), served until the program and all that it started have ended */
};

/* Runs it to its end.  Returns its exit status, 128 + N for signal N, 127 or 126 when it cannot be executed, HX_EXIT_FAILED
 * when it could not be started; what is ours has been said on stderr.  To be called once, in the first thread. */
int hx_program_run(const struct hx_program *p);

#endif
