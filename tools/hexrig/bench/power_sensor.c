/* Finds RAPL's energy counters and adds them up.  Their format is that of the Linux kernel's
 * Documentation/power/powercap/powercap.rst: NAME:N/energy_uj, where NAME:N is a package and NAME:N:M a part of it. */
#include "power_sensor.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* microjoules; negative when the counter cannot be read */
static double counter(const char *root, const char *zone)
{
    char path[512];
    double uj = -1;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s/energy_uj", root, zone);
    f = fopen(path, "re");
    if (!f)
        return -1;
    if (fscanf(f, "%lf", &uj) != 1)
        uj = -1;
    fclose(f);
    return uj;
}

/* a zone that is no part of another one */
static int is_package(const char *zone)
{
    const char *colon = strchr(zone, ':');

    return colon && !strchr(colon + 1, ':');
}

double hx_power_sensor_joules(const struct hx_power_sensor *s)
{
    struct dirent *e;
    double sum = 0;
    int found = 0;
    DIR *d = opendir(s->path);

    if (!d)
        return -1;
    while ((e = readdir(d))) {
        const double uj = is_package(e->d_name) ? counter(s->path, e->d_name) : -1;

        if (uj >= 0) {
            sum += uj * 1e-6;
            found = 1;
        }
    }
    closedir(d);
    return found ? sum : -1;
}

int hx_power_sensor_find(struct hx_power_sensor *s, const char *root, char *err, int n)
{
    DIR *d;

    snprintf(s->path, sizeof(s->path), "%s", root ? root : "/sys/class/powercap");
    d = opendir(s->path);
    if (!d) {
        snprintf(err, (size_t)n, "none: %s: %s", s->path, strerror(errno));
        s->path[0] = 0;
        return 0;
    }
    closedir(d);
    if (hx_power_sensor_joules(s) >= 0)
        return 1;
    snprintf(err, (size_t)n, "none: no readable energy_uj in %s", s->path);
    s->path[0] = 0;
    return 0;
}
