/* The CPU's energy counters (RAPL), where the kernel shows them and this user may read them. */
#ifndef HX_POWER_SENSOR_H
#define HX_POWER_SENSOR_H

struct hx_power_sensor {
    char path[256]; /* of the packages' folder; "" when there is none */
};

/* Looks for readable counters below `root` (NULL: /sys/class/powercap).  1: found; 0: none, and `why` of `n` bytes says so. */
int hx_power_sensor_find(struct hx_power_sensor *s, const char *root, char *err, int n);

/* Joules of all packages since some moment; differences count.  A counter that wraps around makes a step back, which
 * the caller sees as a negative difference.  Negative: not readable any more. */
double hx_power_sensor_joules(const struct hx_power_sensor *s);

#endif
