/* Protects: `hexrig report html`: the page is well-formed, shows the figures that it was given, takes nothing that it was given for
 * markup, and asks for nothing from elsewhere. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/xml_text.h"
#include "html/chart.h"
#include "html/page.h"
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
    assert_int_equal(count("&lt;script&gt;alert(1)"), 8);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_nothing_but_text),
        cmocka_unit_test(test_a_command_is_quoted_for_a_shell),
        cmocka_unit_test(test_charts_fit_their_values),
        cmocka_unit_test(test_a_page_takes_nothing_for_markup),
        cmocka_unit_test(test_xmllint_reads_it),
    };
    int rc = HXT_RUN(tests);

    free(text);
    return rc;
}
