/* Test support: what own_rig.h's rig holds of the machine. */
#ifndef HOLDINGS_H
#define HOLDINGS_H

struct holdings {
    int driver_fds, dsp_fds; /* open descriptors */
    int pds;                 /* user PDs */
    long driver_kib, dsp_kib; /* VmRSS of the driver and of the root PD */
};

/* dsp_* are -1 while there is no DSP. */
struct holdings holdings_now(void);

#endif
