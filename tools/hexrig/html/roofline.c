/* Ceilings of a profile, and what stands where below them. */
#include "page.h"
#include "sections.h"

static void put_points(FILE *f, const json_t *points, const char *what)
{
    const char *const heads[] = {what, "<roof", "%", "<with call", "%", "ops/pcycle", "ops/B", "DDR B", "DMA B", "L2 B", "VTCM B",
                                 "exec pcycles", "all pcycles"};
    static const char *const bytes[] = {"ddr_bytes", "dma_bytes", "l2_bytes", "vtcm_bytes", "exec_pcycles", "all_pcycles"};
    json_t *p;
    size_t i;

    if (!json_array_size(points))
        return;
    hx_page_table_begin(f, "Counted in calls that were made; % is how much of the time the roof explains", heads,
                        sizeof(heads) / sizeof(heads[0]));
    json_array_foreach(points, i, p) {
        hx_page_row_begin(f);
        hx_page_cell_text(f, hx_page_text(p, "name"));
        hx_page_cell_text(f, hx_page_text(p, "exec_roof"));
        hx_page_cell(f, "%.1f", hx_page_number(p, "exec_percent"));
        hx_page_cell_text(f, hx_page_text(p, "roof"));
        hx_page_cell(f, "%.1f", hx_page_number(p, "percent"));
        hx_page_cell(f, "%.3f", hx_page_number(p, "ops_per_pcycle"));
        hx_page_cell(f, "%.3f", hx_page_number(p, "ops_per_byte"));
        for (size_t k = 0; k < sizeof(bytes) / sizeof(bytes[0]); k++)
            hx_page_cell(f, "%.0f", hx_page_number(p, bytes[k]));
        hx_page_row_end(f);
    }
    hx_page_table_end(f);
}

int hx_section_roofline(FILE *f, const json_t *answer, const char *svg)
{
    const json_t *c = json_object_get(answer, "ceilings");

    hx_page_says(f, "Profile %s, per DSP cycle (pcycle) at %.0f MHz: DDR %.3f B, %.3f B by loads and stores that miss L2; VTCM %.3f B; HVX "
                 "%.3f operations.  A call that does nothing takes %.0f pcycles, a packet %.0f.  All of it is modelled.",
                 hx_page_text(answer, "profile"), hx_page_number(c, "pcycles_per_us"), hx_page_number(c, "ddr_bytes_per_pcycle"),
                 hx_page_number(c, "ddr_load_bytes_per_pcycle"), hx_page_number(c, "vtcm_bytes_per_pcycle"),
                 hx_page_number(c, "hvx_ops_per_pcycle"), hx_page_number(c, "call_pcycles"), hx_page_number(c, "packet_pcycles"));
    fprintf(f, "<div class=\"wide roof\" tabindex=\"0\" role=\"region\" aria-label=\"Roofline\">%s</div>\n", svg);
    put_points(f, json_object_get(answer, "kernels"), "<kernel");
    put_points(f, json_object_get(answer, "methods"), "<method");
    hx_section_uncosted(f, answer);
    return 0;
}
