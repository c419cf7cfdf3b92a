/* hexrig doctor: the processor, the kernel, and what this process may use of them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "checks.h"
#include "methods/cpu/isa/isa.h"

/* What the compiler was told that every processor has which runs this program. */
static const char *missing_feature(void)
{
#if defined(__x86_64__)
#ifdef __AVX512F__
    if (!__builtin_cpu_supports("avx512f"))
        return "AVX-512";
#endif
#ifdef __AVX2__
    if (!__builtin_cpu_supports("avx2"))
        return "AVX2";
#endif
#endif
    return NULL;
}

void hx_check_processor(struct hx_finding *f)
{
    const char *missing = missing_feature();

    if (!missing) {
        hx_found(f, HX_DOCTOR_OK, "runs what this hexrig was built for; its engine uses %s", hx_isa_best()->name);
        return;
    }
    hx_found(f, HX_DOCTOR_FAIL, "this hexrig was built for a processor with %s, which this one has not", missing);
    hx_to_do(f, "make clean all here, or make MARCH=x86-64-v3 for any with AVX2");
}

/* CPUs that the control group grants by time (cpu.max of version 2), or 0 where it says nothing. */
static double granted_cpus(void)
{
    long quota, period;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    int n = file ? fscanf(file, "%ld %ld", &quota, &period) : 0;

    if (file)
        fclose(file);
    return n == 2 && period > 0 ? (double)quota / (double)period : 0;
}

void hx_check_cpus(struct hx_finding *f)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const double granted = granted_cpus();
    cpu_set_t set;
    int mine = sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);

    if (mine <= 0) /* more than the set has room for */
        mine = (int)online;
    if (granted > 0 && granted < mine) {
        hx_found(f, HX_DOCTOR_NOTE, "%d of %ld CPUs, but a control group grants the time of %.2g", mine, online, granted);
        hx_to_do(f, "--threads %d, or measured times are those of threads that wait for each other", granted < 2 ? 1 : (int)granted);
    } else if (mine == 1 && online > 1) {
        hx_found(f, HX_DOCTOR_NOTE, "1 of %ld CPUs: client, driver and DSP take turns on it", online);
        hx_to_do(f, "a wider cpuset (taskset, docker --cpuset-cpus), if measured times matter; modelled ones do not change");
    } else {
        hx_found(f, HX_DOCTOR_OK, "%d of %ld", mine, online);
    }
}

void hx_check_sandbox(struct hx_finding *f)
{
    const long landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    const int disabled = landlock < 0 && errno == EOPNOTSUPP;
    const int seccomp = access("/proc/sys/kernel/seccomp/actions_avail", R_OK) == 0 || prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
    struct utsname kernel;

    if (uname(&kernel))
        snprintf(kernel.release, sizeof(kernel.release), "?");
    if (landlock >= 1 && seccomp) {
        hx_found(f, HX_DOCTOR_OK, "Linux %s: landlock %ld and seccomp", kernel.release, landlock);
        return;
    }
    hx_found(f, HX_DOCTOR_NOTE, "Linux %s has no %s%s%s: skels are confined less", kernel.release, landlock < 1 ? "landlock" : "",
             landlock < 1 && !seccomp ? " and no " : "", seccomp ? "" : "seccomp");
    hx_to_do(f, "%s; run skels of yours only",
             disabled ? "add landlock to lsm= on the kernel's command line" : "Linux 5.13 or later, with both built in");
}

void hx_check_limits(struct hx_finding *f)
{
    enum { FILES = 256 };
    struct rlimit files, space;

    if (getrlimit(RLIMIT_NOFILE, &files) || getrlimit(RLIMIT_AS, &space)) {
        hx_found(f, HX_DOCTOR_NOTE, "unknown: %s", strerror(errno));
    } else if (files.rlim_cur < FILES) {
        hx_found(f, HX_DOCTOR_FAIL, "%llu open files: a rig with some clients needs more", (unsigned long long)files.rlim_cur);
        hx_to_do(f, "ulimit -n 1024");
    } else if (space.rlim_cur != RLIM_INFINITY) {
        hx_found(f, HX_DOCTOR_NOTE, "%llu MiB of address space: a DSP process maps 4 GiB and more, hardly any of it used",
                 (unsigned long long)space.rlim_cur >> 20);
        hx_to_do(f, "ulimit -v unlimited");
    } else {
        hx_found(f, HX_DOCTOR_OK, "%llu open files, any address space", (unsigned long long)files.rlim_cur);
    }
}
