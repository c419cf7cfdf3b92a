/* Protects: `hexrig report html`: the page is well-formed, shows the figures that it was given, takes nothing that it was given for
 * markup, and asks for nothing from elsewhere. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/xml_text.h"
#include "e2e.h"
#include "html/chart.h"
#include "html/page.h"
#include "html/sections.h"
#include "html/sources.h"
#include "hxt.h"
#include "hxt_proc.h"

#define HOSTILE "</title></style><script>alert(1)</script><img src=x onerror='a'>&amp;\"\x01\xff"

/* --- a page in memory */

static char *text;
static size_t bytes;

static FILE *begin(void)
{
    FILE *f;

    free(text);
    text = NULL;
    f = open_memstream(&text, &bytes);
    assert_non_null(f);
    return f;
}

static unsigned count(const char *word)
{
    unsigned n = 0;

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

/* Tags close in the order in which they opened, and each attribute has its quotes. */
static void is_well_formed(void)
{
    char open[64][32];
    size_t depth = 0;

    for (const char *at = text; (at = strchr(at, '<')); at++) {
        char name[32] = "";
        const char *end = strchr(at, '>');

        assert_non_null(end);
        if (at[1] == '!' || end[-1] == '/')
            continue;
        assert_int_equal(sscanf(at + 1, "%31[a-z0-9/]", name), 1);
        if (*name == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name + 1);
        } else {
            assert_true(depth < HXT_LEN(open));
            memcpy(open[depth++], name, sizeof(name));
        }
        for (const char *c = at; c < end; c++)
            assert_true(c == at || *c != '<');
    }
    assert_int_equal(depth, 0);
}

/* What could fetch something: only the name of SVG, which nobody fetches, looks like an address. */
static void asks_for_nothing(void)
{
    static const char *const words[] = {"<script", "<img", "<link", "<iframe", "<object", "@import", "url(", "\x01", "\xff"};

    for (size_t i = 0; i < HXT_LEN(words); i++)
        assert_int_equal(count(words[i]), 0);
    assert_int_equal(count("http://") + count("https://"), count("xmlns=\"http://www.w3.org/2000/svg\""));
}

/* With ' in place of ". */
static json_t *parsed(const char *json)
{
    char *quoted = strdup(json);
    json_error_t err;
    json_t *j;

    for (char *c = quoted; (c = strchr(c, '\''));)
        *c = '"';
    j = json_loads(quoted, 0, &err);
    free(quoted);
    if (!j)
        fail_msg("%s", err.text);
    return j;
}

/* --- text */

static void says(const char *in, const char *out)
{
    FILE *f = begin();

    hx_xml_text(f, in);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(text, out);
}

static void test_text_is_nothing_but_text(void **state)
{
    (void)state;
    says("", "");
    says("a<b>&\"'c", "a&lt;b&gt;&amp;&quot;&#39;c");
    says("\xc3\xa4 \xf0\x9f\x98\x80\t\n", "\xc3\xa4 \xf0\x9f\x98\x80\t\n");
    says("\x01\x1b\x7f", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    says("\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd");
    says("\xef\xbf\xbe", "\xef\xbf\xbd"); /* U+FFFE is no character */
    says("]]>", "]]&gt;");
}

static void test_a_command_is_quoted_for_a_shell(void **state)
{
    const char *const line[] = {"hexrig", "density", "--geometry", "./my $(x) 'geometry'", "", "a=1,2", NULL};
    FILE *f = begin();

    (void)state;
    hx_page_command(f, line);
    assert_int_equal(fclose(f), 0);
    assert_non_null(strstr(text, "$ <span>hexrig</span> <span>density</span> <span>--geometry</span> "
                                 "<span>&#39;./my $(x) &#39;\\&#39;&#39;geometry&#39;\\&#39;&#39;&#39;</span> <span>&#39;&#39;</span> "
                                 "<span>a=1,2</span></code>"));
}

/* --- sections */

static const char density[] =
    "{'geometry': 'g', 'profile': 'p', 'kv': 'spinor', 'basis': 'klt', 'front_end': 'fuse', 'rows': ["
    "{'profile': 'a<b', 'density': 'batched', 'pos': 16, 'how': 'counted', 'calls_per_token': 72.0,"
    " 'packets_per_token': 0.0, 'bytes_copied_per_token': 1440.0, 'bytes_shared_per_token': 5640192.0,"
    " 'model_us_per_token': {'dispatch': 114061.4, 'marshal': 289.0, 'queue': 0.0, 'exec': 10722.1, 'total': 125072.5},"
    " 'dsp_bytes_per_token': {'ddr': 884736.0, 'dma': 7.0}},"
    "{'profile': 'a<b', 'density': 'queue', 'pos': 16, 'how': 'counted', 'calls_per_token': 0.0, 'packets_per_token': 1.0,"
    " 'model_us_per_token': {'total': 11267.0}},"
    "{'profile': 'a<b', 'density': 'batched', 'pos': 4096, 'how': 'analytic', 'calls_per_token': 72.0,"
    " 'model_us_per_token': {'total': 2125072.5}}], 'uncosted': [{'name': 'libx<y>.so', 'reason': 'none'}]}";

static void test_rows_of_a_sweep_are_its_figures(void **state)
{
    json_t *j = parsed(density);
    FILE *f = begin();

    (void)state;
    assert_int_equal(hx_section_density(f, j), 0);
    assert_int_equal(fclose(f), 0);
    json_decref(j);
    is_well_formed();
    asks_for_nothing();
    assert_int_equal(count("<tr><td class=\"t\">a&lt;b</td><td class=\"t\">batched</td><td>16</td><td class=\"t\">counted</td><td>72</td>"
                           "<td>0</td><td>1440</td><td>5640192</td><td>114.061</td><td>0.289</td><td>0.000</td><td>10.722</td>"
                           "<td>125.073</td><td>884736</td><td>7</td><td>0</td><td>0</td></tr>"), 1);
    assert_int_equal(count("<tr><td"), 3);
    assert_int_equal(count("<figure"), 2);
    assert_int_equal(count("<circle"), 6);               /* three rows in each */
    assert_int_equal(count("<li class=\"s0\">"), 2);     /* batched, whose rows need not follow each other */
    assert_int_equal(count("batched, a&lt;b: 4096, 2125.0725</title>"), 1);
    assert_int_equal(count("libx&lt;y&gt;.so: none."), 1);
}

static void test_the_picture_of_a_roofline_is_in_the_page(void **state)
{
    json_t *j = parsed("{'profile': '<p>', 'ceilings': {'ddr_bytes_per_pcycle': 8.55, 'pcycles_per_us': 1200.0}, 'kernels': [],"
                       " 'methods': [{'name': 'kv spinor', 'exec_roof': 'hvx', 'exec_percent': 17.478, 'roof': 'dispatch',"
                       " 'percent': 99.8, 'ops_per_pcycle': 0.3496, 'exec_pcycles': 815169.6, 'all_pcycles': 964711.2}]}");
    FILE *f = begin();

    (void)state;
    assert_int_equal(hx_section_roofline(f, j, "<svg xmlns=\"http://www.w3.org/2000/svg\"><g></g></svg>"), 0);
    assert_int_equal(fclose(f), 0);
    json_decref(j);
    is_well_formed();
    asks_for_nothing();
    assert_int_equal(count("Profile &lt;p&gt;, per DSP cycle (pcycle) at 1200 MHz: DDR 8.550 B"), 1);
    assert_int_equal(count("<tr><td class=\"t\">kv spinor</td><td class=\"t\">hvx</td><td>17.5</td><td class=\"t\">dispatch</td>"
                           "<td>99.8</td><td>0.350</td><td>0.000</td><td>0</td><td>0</td><td>0</td><td>0</td>"
                           "<td>815170</td><td>964711</td></tr>"), 1);
    assert_int_equal(count("<table"), 1); /* of methods; there is no kernel */
}

static void test_slices_of_a_trace_add_up(void **state)
{
    json_t *j = parsed(
        "{'traceEvents': [{'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': 'session 1'}},"
        "{'ph': 'M', 'pid': 1, 'tid': 2, 'name': 'thread_name', 'args': {'name': 'DSP thread 0'}},"
        "{'ph': 'M', 'pid': 1, 'tid': 3, 'name': 'thread_name', 'args': {'name': 'DSP thread 12'}},"
        "{'ph': 'M', 'pid': 1, 'tid': 4, 'name': 'thread_name', 'args': {'name': 'client calls (2)'}},"
        "{'ph': 'X', 'pid': 1, 'tid': 2, 'name': 'f<x>', 'ts': 0, 'dur': 1000.5,"
        " 'args': {'pcycles': 10, 'stall_pcycles': 3}},"
        "{'ph': 'X', 'pid': 1, 'tid': 4, 'name': 'exec', 'ts': 5000, 'dur': 2000},"
        "{'ph': 'X', 'pid': 1, 'tid': 3, 'name': 'f<x>', 'ts': 100, 'dur': 2000.5,"
        " 'args': {'pcycles': 30, 'stall_pcycles': 4}},"
        "{'ph': 'X', 'pid': 1, 'tid': 3, 'name': 'run', 'ts': 100, 'dur': 6002}"
        "], 'otherData': {'lost_events': 5}}");
    const char *run, *sum, *exec;
    FILE *f = begin();

    (void)state;
    assert_int_equal(hx_section_trace(f, j), 0);
    assert_int_equal(fclose(f), 0);
    json_decref(j);
    is_well_formed();
    assert_int_equal(count("<p>7.000 ms on the modelled clock, 1 session."), 1);
    assert_int_equal(count("<p>5 events of the DSP found no room"), 1);
    run = strstr(text, "<td class=\"t\">DSP thread</td><td class=\"t\">run</td><td>1</td><td>6.002</td><td class=\"b\">"
                       "<i style=\"width:100.0%\">");
    sum = strstr(text, "<td class=\"t\">DSP thread</td><td class=\"t\">f&lt;x&gt;</td><td>2</td><td>3.001</td><td class=\"b\"><i "
                       "style=\"width:50.0%\"></i></td><td>1500.500</td><td>2000.500</td><td>40</td><td>7</td></tr>");
    exec = strstr(text, "<td class=\"t\">client calls</td><td class=\"t\">exec</td><td>1</td><td>2.000</td>");
    assert_true(run && run < sum && sum < exec);
}

static void test_rows_beside_silicon_are_its_figures(void **state)
{
    json_t *j = parsed("{'n_rows': 2, 'free_parameters': 11, 'median_error': 0.036, 'worst_error': 0.199, 'ok': false, 'groups': ["
                       "{'name': 'calls', 'n_rows': 2, 'median_error': 0.067, 'worst_error': 0.199, 'median_bar': 0.1,"
                       " 'worst_bar': 0.25, 'ok': false}], 'rows': [{'id': 'R02', 'group': 'calls', 'what': 'a & b',"
                       " 'ask': '--shape 8x8', 'first_call': true, 'predicted': 393.416, 'measured': 389.0, 'unit': 'us',"
                       " 'ratio': 1.01135}, {'id': 'K03', 'unit': 'pcycles', 'predicted': 41000, 'measured': 40000.0}]}");
    FILE *f = begin();

    (void)state;
    assert_int_equal(hx_section_timing(f, j), 0);
    assert_int_equal(fclose(f), 0);
    json_decref(j);
    is_well_formed();
    asks_for_nothing();
    assert_int_equal(count("<td>6.7</td><td>10</td><td>19.9</td><td>25</td><td class=\"t\">FAIL</td>"), 1);
    assert_int_equal(count("a group misses its bar."), 1);
    assert_int_equal(count("<td class=\"t\">R02</td><td class=\"t\">calls</td><td class=\"t\">a &amp; b</td><td>393.4</td><td>389</td>"
                           "<td class=\"t\">us</td><td>1.011</td><td class=\"t\">first call</td><td class=\"t\">--shape 8x8</td>"), 1);
    assert_int_equal(count("<circle"), 4); /* two rows, and the ends of where they would be equal */
}

/* --- charts */

static void draws(double (*at)[2], size_t n)
{
    const struct hx_chart_line line = {"l", 0, at, n};
    FILE *f = begin();

    hx_chart(f, &(struct hx_chart){"c", "x", "y", &line, 1});
    assert_int_equal(fclose(f), 0);
    is_well_formed();
    assert_int_equal(count("nan") + count("inf"), 0);
    assert_int_equal(count("<circle"), n);
}

static void test_charts_fit_their_values(void **state)
{
    double zero[][2] = {{0, 5}, {16, 5.5}}, one[][2] = {{7, 3}}, wide[][2] = {{1, 1e-3}, {4096, 4e9}}, none[][2] = {{0, 0}};

    (void)state;
    draws(zero, 2); /* not logarithmic */
    assert_int_equal(count(">16</text>"), 1);
    draws(one, 1);
    draws(wide, 2);
    assert_int_equal(count(">4096</text>"), 1);
    assert_int_equal(count(">10G</text>"), 1);
    draws(none, 1);
    draws(none, 0);
    assert_string_equal(text, "");
}

/* --- the page */

static void test_a_page_takes_nothing_for_markup(void **state)
{
    const char *const line[] = {"hexrig", HOSTILE, NULL}, *const heads[] = {"<" HOSTILE, HOSTILE};
    FILE *f = begin();

    (void)state;
    hx_page_begin(f, HOSTILE);
    hx_page_section_begin(f, "id", "Heading", line);
    hx_page_says(f, "%s", HOSTILE);
    hx_page_table_begin(f, HOSTILE, heads, HXT_LEN(heads));
    hx_page_row_begin(f);
    hx_page_cell_text(f, HOSTILE);
    hx_page_row_end(f);
    hx_page_table_end(f);
    hx_page_section_end(f);
    hx_page_end(f);
    assert_int_equal(fclose(f), 0);
    is_well_formed();
    asks_for_nothing();
    assert_int_equal(count("<title>"), 1);
    assert_int_equal(count("&lt;script&gt;alert(1)"), 9); /* a caption names its region, too */
    assert_int_equal(count("prefers-color-scheme:dark"), 1);
    assert_int_equal(count("name=\"viewport\""), 1);
}

/* xmllint, which is no part of what a machine must have, agrees that the page is well-formed. */
static void test_xmllint_reads_it(void **state)
{
    const char *path = hxt_path("%s/page.html", hxt_tmpdir());
    const struct hxt_cmd lint = {.argv = (const char *const[]){"xmllint", "--noout", "--nonet", path, NULL}};
    const struct hxt_cmd version = {.argv = (const char *const[]){"xmllint", "--version", NULL}};
    struct hxt_result res;

    test_a_page_takes_nothing_for_markup(state);
    hxt_write_file(path, text, bytes);
    if (!hxt_succeeds(&version))
        hxt_skip_test("xmllint is not installed (Debian: libxml2-utils)");
    assert_int_equal(hxt_run(&res, &lint), 0);
    if (res.exit_code)
        fail_msg("%s", res.err);
    hxt_result_free(&res);
}

/* --- the commands behind it */

static const struct hx_html_source *source(const char *id)
{
    for (size_t i = 0; i < hx_html_n_sources; i++)
        if (strcmp(hx_html_sources[i].id, id) == 0)
            return &hx_html_sources[i];
    fail_msg("no section %s", id);
    return NULL;
}

static void asks(const char *id, const struct hx_html_asked *asked, const char *shown)
{
    struct hx_html_command c = {.n = 0};
    char line[1024] = "";

    source(id)->ask(&c, asked, "/tmp/file");
    assert_null(c.argv[c.n]);
    assert_null(c.shown[c.n]);
    for (size_t i = 0; i < c.n; i++)
        snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s", i ? " " : "", c.shown[i]);
    assert_string_equal(line, shown);
}

static void test_each_section_has_its_command(void **state)
{
    const struct hx_html_asked none = {.model = NULL};
    const struct hx_html_asked all = {.geometry = "2x2x64", .profile = "p", .densities = "per-vector,queue", .positions = "40,8",
                                      .front_end = "socket", .sweep = {"kv=f32,spinor"}, .n_sweep = 1};
    const struct hx_html_asked swept = {.densities = "queue,batched,layer", .sweep = {"geometry=a,b"}, .n_sweep = 1};
    const struct hx_html_asked model = {.model = "m.gguf"}, wrong = {.positions = "4,x,2"};

    (void)state;
    asks("density", &none, "hexrig density --geometry smollm2-135m --pos 1,16,128,1024,4096 --json");
    asks("density", &all,
         "hexrig density --geometry 2x2x64 --density per-vector,queue --pos 40,8 --sweep kv=f32,spinor --profile p --front-end socket "
         "--json");
    asks("density", &swept, "hexrig density --density queue,batched,layer --pos 1,16,128,1024,4096 --sweep geometry=a,b --json");
    asks("density", &model, "hexrig density --model m.gguf --pos 1,16,128,1024,4096 --json");
    asks("roofline", &all, "hexrig roofline --profile p --front-end socket --svg roofline.svg --json");
    asks("roofline", &model, "hexrig roofline --model m.gguf --svg roofline.svg --json");
    asks("trace", &none, "hexrig trace -o trace.json -- density --geometry smollm2-135m --density batched --pos 16 --json");
    asks("trace", &all,
         "hexrig trace -o trace.json --profile p --front-end socket -- density --geometry 2x2x64 --density queue --pos 8 --json");
    asks("trace", &swept, "hexrig trace -o trace.json -- density --geometry smollm2-135m --density batched --pos 16 --json");
    asks("trace", &wrong, "hexrig trace -o trace.json -- density --geometry smollm2-135m --density batched --pos x --json");
    asks("timing", &all, "hexrig report timing --front-end socket --json");
}

/* --- the command */

#define QUICK "report html --sections density,trace --geometry 2x2x64 --density batched,queue --pos 1,2 -o PAGE"

/* `words` with PAGE replaced by a path; what was written to it goes to `text`. */
static void report(const char *words, const char *path)
{
    const int before = (int)(strstr(words, "PAGE") - words);
    struct hxt_result res;

    e2e_run(&res, hxt_path("%.*s%s", before, words, path));
    if (res.exit_code)
        fail_msg("%s", res.err);
    assert_string_equal(res.out, "");
    hxt_result_free(&res);
    free(text);
    text = hxt_read_file(path, &bytes);
    assert_non_null(text);
}

static void test_the_command_writes_one_file(void **state)
{
    const char *path = hxt_path("%s/one.html", hxt_tmpdir());

    (void)state;
    hxt_write_file(path, "old", 3);
    report(QUICK, path);
    is_well_formed();
    asks_for_nothing();
    assert_int_equal(count("<section "), 2);
    assert_int_equal(count("<h1>hexrig report: 2x2x64</h1>"), 1);
    assert_int_equal(count("$ <span>hexrig</span> <span>report</span> <span>html</span> <span>--sections</span> "
                           "<span>density,trace</span>"), 1);
    assert_int_equal(count("</span> <span>trace.json</span> <span>--</span> <span>density</span> <span>--geometry</span> "), 1);
    assert_int_equal(count("sp_hex.hier_decode_batch_f32"), 2); /* by clients, and on the DSP */
    assert_int_equal(count("hexrig-report."), 0);               /* the folder that does not stay */
    assert_int_equal(access(hxt_path("%s.part", path), F_OK), -1);
    e2e_clean();
}

static void test_wrong_values_are_refused(void **state)
{
    static const struct {
        const char *words, *said;
        int code;
    } wrong[] = {
        {"--sections densities", "unknown value 'densities'; legal: a list of density, roofline, trace, timing", 2},
        {"--model a --geometry b", "--model and --geometry exclude each other", 2},
        {"--front-end usb", "unknown value 'usb'", 2},
        {"more", "'more'", 2},
        {"-o /nowhere/a.html", "/nowhere/a.html: No such file", 1},
        {"--geometry nothing -o PAGE", "unknown value 'nothing'; legal: qwen3-4b", 2},
        {"--pos 1,x -o PAGE", "unknown value 'x'", 2},
        {"--sections trace --pos 9,4x -o PAGE", "unknown value '4x'", 2},
        {"--profile nothing -o PAGE", "nothing.conf: No such file", 2},
        {"--model /dev/null -o PAGE", "not a GGUF file", 1},
    };
    const char *path = hxt_path("%s/never.html", hxt_tmpdir());

    (void)state;
    for (size_t i = 0; i < HXT_LEN(wrong); i++) {
        const int before = (int)strcspn(wrong[i].words, "P");
        struct hxt_result res;

        e2e_run(&res, hxt_path("report html %.*s%s", before, wrong[i].words, wrong[i].words[before] ? path : ""));
        if (res.exit_code != wrong[i].code || !strstr(res.err, wrong[i].said))
            fail_msg("%s: %d: %s", wrong[i].words, res.exit_code, res.err);
        hxt_result_free(&res);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(access(hxt_path("%s.part", path), F_OK), -1);
    }
    e2e_clean();
}

/* --- in a browser */

/* The page in a narrow and in a wide window.  What it is told to say shows that what a page says is heard. */
static const char windows[] =
    "<!DOCTYPE html><title>w</title><iframe src=\"chromium.html\" width=\"320\" height=\"600\"></iframe>"
    "<iframe src=\"chromium.html\" width=\"1200\" height=\"600\"></iframe><script>onload=()=>{console.error('heard');"
    "for(const f of document.querySelectorAll('iframe')){const d=f.contentDocument,p=document.createElement('p');"
    "p.textContent=`${f.width}: ${d.documentElement.scrollWidth-d.documentElement.clientWidth} "
    "${d.querySelectorAll('circle').length} circles`;"
    "document.body.append(p)}}</script>";

/* By name, since the user's settings may point to another browser. */
static const char *browser(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome"};

    for (size_t i = 0; i < HXT_LEN(names); i++) {
        const struct hxt_cmd which = {.argv = (const char *const[]){"sh", "-c", hxt_path("command -v %s", names[i]), NULL}};

        if (hxt_succeeds(&which))
            return names[i];
    }
    return NULL;
}

static void test_chromium_has_no_complaint(void **state)
{
    const char *const home = hxt_path("HOME=%s", hxt_tmpdir()), *const name = browser(), *console;
    const char *const runtime = hxt_path("XDG_RUNTIME_DIR=%s", hxt_tmpdir()); /* where it would leave its dconf/user */
    const char *const url = hxt_path("file://%s/windows.html", hxt_tmpdir());
    const char *const profile = hxt_path("--user-data-dir=%s/chromium", hxt_tmpdir());
    const char *const argv[] = {name, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                                "--allow-file-access-from-files", "--enable-logging=stderr", profile, "--dump-dom", url, NULL};
    const struct hxt_cmd cmd = {.argv = argv, .env = (const char *const[]){home, runtime, NULL}, .timeout_s = E2E_TIMEOUT_S};
    struct hxt_result res;

    (void)state;
    if (!name)
        hxt_skip_test("chromium is not installed (Debian: chromium)");
    report(QUICK, hxt_path("%s/chromium.html", hxt_tmpdir()));
    hxt_write_file(hxt_path("%s/windows.html", hxt_tmpdir()), windows, strlen(windows));
    assert_int_equal(hxt_run(&res, &cmd), 0);
    if (res.exit_code) {
        hxt_result_free(&res);
        hxt_skip_test("chromium does not start here");
    }
    console = strstr(res.err, "CONSOLE");
    if (!console || !strstr(console, "heard") || strstr(console + 1, "CONSOLE"))
        fail_msg("%s", res.err);
    if (!strstr(res.out, "<p>320: 0 8 circles</p><p>1200: 0 8 circles</p>")) /* nothing is wider than its window */
        fail_msg("%s", res.out);
    hxt_result_free(&res);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_nothing_but_text),
        cmocka_unit_test(test_a_command_is_quoted_for_a_shell),
        cmocka_unit_test(test_rows_of_a_sweep_are_its_figures),
        cmocka_unit_test(test_the_picture_of_a_roofline_is_in_the_page),
        cmocka_unit_test(test_slices_of_a_trace_add_up),
        cmocka_unit_test(test_rows_beside_silicon_are_its_figures),
        cmocka_unit_test(test_charts_fit_their_values),
        cmocka_unit_test(test_a_page_takes_nothing_for_markup),
        cmocka_unit_test(test_xmllint_reads_it),
        cmocka_unit_test(test_each_section_has_its_command),
        cmocka_unit_test(test_the_command_writes_one_file),
        cmocka_unit_test(test_wrong_values_are_refused),
        cmocka_unit_test(test_chromium_has_no_complaint),
    };
    int rc = HXT_RUN(tests);

    free(text);
    return rc;
}
