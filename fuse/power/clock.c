/* The core's clock: the votes of all sessions, and what heat leaves of them. */
#include "clock.h"

#include "core/driver.h"

static const char *const corner_names[] = {"none", "SVS2", "SVS", "SVS_PLUS", "NOM", "NOM_PLUS",
                                           "TURBO"};

/* What the DSP sent is not trusted: above TURBO is TURBO. */
static unsigned corner_of(const struct hx_power_vote *v)
{
    return v->corner > HX_CORNER_TURBO ? HX_CORNER_TURBO : v->corner;
}

/* The level of a voltage corner: corners are spread evenly over the levels. */
static unsigned level_of_corner(const struct hx_profile *p, unsigned corner)
{
    unsigned top = hx_levels(p) - 1, steps = HX_CORNER_TURBO - HX_CORNER_SVS2;

    return corner ? ((corner - HX_CORNER_SVS2) * top + steps / 2) / steps : 0;
}

/* The slowest level of at least so many MHz. */
static unsigned level_of_mhz(const struct hx_profile *p, unsigned mhz)
{
    unsigned level = 0;

    while (level + 1 < hx_levels(p) && hx_level_mhz(p, level) < mhz)
        level++;
    return level;
}

static unsigned wanted_level(const struct hx_profile *p, const struct hx_power_vote *v)
{
    unsigned corner = level_of_corner(p, corner_of(v)), mhz = level_of_mhz(p, v->clock_mhz);

    if (!v->corner && !v->clock_mhz)
        return hx_levels(p) - 1;
    return corner > mhz ? corner : mhz;
}

static const struct hx_session *live(const struct hx_driver *d, unsigned i)
{
    return d->session[i] && d->session[i]->state == HX_SESSION_UP ? d->session[i] : NULL;
}

unsigned hx_clock_level(const struct hx_driver *d)
{
    unsigned top = hx_levels(&d->profile) - 1, most = 0, n = 0, cap = top - d->thermal.taken;

    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (live(d, i)) {
            unsigned level = wanted_level(&d->profile, &live(d, i)->vote);

            n++;
            most = level > most ? level : most;
        }
    if (!n)
        most = top;
    return most < cap ? most : cap;
}

uint32_t hx_clock_khz(const struct hx_driver *d)
{
    return (uint32_t)(hx_level_mhz(&d->profile, hx_clock_level(d)) * 1000.0 + 0.5);
}

bool hx_clock_may_nap(const struct hx_driver *d)
{
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (live(d, i)) {
            const struct hx_power_vote *v = &live(d, i)->vote;

            if (v->awake || (v->latency_us && v->latency_us < d->profile.dsp_wake_us))
                return false;
        }
    return true;
}

void hx_clock_print(const struct hx_driver *d, FILE *f)
{
    const struct hx_profile *p = &d->profile;

    fprintf(f, "clock_mhz=%.1f\nlevel=%u\nlevels_mhz=", hx_clock_khz(d) / 1000.0,
            hx_clock_level(d));
    for (unsigned i = 0; i < hx_levels(p); i++)
        fprintf(f, "%s%.1f", i ? "," : "", hx_level_mhz(p, i));
    fprintf(f, "\nlevels_taken=%u\nmay_nap=%d\n", d->thermal.taken, hx_clock_may_nap(d));
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (live(d, i)) {
            const struct hx_power_vote *v = &live(d, i)->vote;

            fprintf(f, "session=%d pid=%d corner=%s mhz=%u latency_us=%u awake=%u\n",
                    live(d, i)->client_id, live(d, i)->pid, corner_names[corner_of(v)],
                    v->clock_mhz, v->latency_us, v->awake);
        }
}
