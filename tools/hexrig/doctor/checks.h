/* What hexrig doctor looks at: each a function that leaves a finding in *f, which is all zero. */
#ifndef HX_DOCTOR_CHECKS_H
#define HX_DOCTOR_CHECKS_H

enum hx_doctor_state {
    HX_DOCTOR_OK,
    HX_DOCTOR_NOTE, /* hexrig works, but not as well as it could */
    HX_DOCTOR_FAIL, /* something does not work */
    HX_DOCTOR_STATES
};

struct hx_finding {
    enum hx_doctor_state state;
    char found[512]; /* what is so */
    char to_do[512]; /* about it; "" for nothing */
};

/* What they leave it with. */
void hx_found(struct hx_finding *f, enum hx_doctor_state state, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void hx_to_do(struct hx_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The last one starts a private rig and ends it. */
void hx_check_processor(struct hx_finding *f);
void hx_check_cpus(struct hx_finding *f);
void hx_check_programs(struct hx_finding *f);
void hx_check_fuse(struct hx_finding *f);
void hx_check_unmounting(struct hx_finding *f);
void hx_check_sandbox(struct hx_finding *f);
void hx_check_limits(struct hx_finding *f);
void hx_check_folder(struct hx_finding *f);
void hx_check_mounts(struct hx_finding *f);
void hx_check_device(struct hx_finding *f);
void hx_check_rig(struct hx_finding *f);

#endif
