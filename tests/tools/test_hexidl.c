/* Protects the IDL compiler: the language is what it says, every mistake is reported where it is, and the command writes all files or
 * none.  What the generated code does: tests/cases/idl.sh. */
#include <dirent.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "idl_text.h"

static void expect_error(const char *text, const char *want)
{
    struct hx_idl *idl = compile(text);

    if (!hx_idl_error(idl))
        fail_msg("no error for: %s", text);
    assert_string_equal(hx_idl_error(idl), want);
    hx_idl_close(idl);
}

/* --- interfaces */

static void test_a_base_gives_its_methods_and_its_kind(void **state)
{
    (void)state;
    expect_layout("interface b { typedef short t; long x(in t a); };\ninterface c : b { long y(in t b); };\n"
                  "interface d : c { long z(in sequence<t> q); };",
                  "0 x sc=0x00010000 in=2:a@0\n"
                  "interface c\n0 x sc=0x00010000 in=2:a@0\n1 y sc=0x01010000 in=2:b@0\n"
                  "interface d\n0 x sc=0x00010000 in=2:a@0\n1 y sc=0x01010000 in=2:b@0\n"
                  "2 z sc=0x02020000 in=4:qLen@0\n");
    files[2] = "d/base.idl";
    files[3] = REMOTE "interface base : remote_handle64 { long x(); };";
    expect_layout("#include \"base.idl\"\ninterface i : base { long y(); };",
                  HANDLE_METHODS "2 x sc=0x02000000\n3 y sc=0x03000000\n");
    /* inside an interface a file's methods become the interface's */
    files[3] = "struct s { long a; };\nlong x(in s p);";
    expect_layout("interface i {\n#include \"base.idl\"\nlong y(); };", "0 x sc=0x00010000 in=4:p@0\n1 y sc=0x01000000\n");
    expect_in_header("interface i {\n#include \"base.idl\"\nlong y(); };", "} i_s;\n");
    files[3] = "long x(in s p)";
    expect_error("interface i {\n#include \"base.idl\"\nlong y(); };", "d/base.idl:1:11: 's' is not a type");
    memset(files, 0, sizeof(files));
}

/* _modver tells the DSP which kind of entry point it is. */
static void test_uris_say_what_the_skel_is(void **state)
{
    (void)state;
    expect_in_header("interface plain { long x(); };", "\"file:///libplain_skel.so?plain_skel_invoke\"\n");
    expect_in_header(REMOTE "interface h : remote_handle64 { long x(); };",
                     "\"file:///libh_skel.so?h_skel_handle_invoke&_modver=1.0\"\n");
    expect_in_header("const string IDL_VERSION = \"1.2.3\";\n" REMOTE "interface h : remote_handle64 { long x(); };",
                     "?h_skel_handle_invoke&_modver=1.0&_idlver=1.2.3\"\n");
}

static void test_words_of_c_get_a_prefix(void **state)
{
    (void)state;
    expect_in_header("interface i { long delete(in long class); };", "int i_delete(int _cxx_class);");
    expect_in_header("struct s { long new; };", "    int _cxx_new;\n");
    expect_in_header("const short break = 3;", "#define _cxx_break 3\n");
}

static void test_inrout_is_in_then_rout(void **state)
{
    (void)state;
    expect_layout("interface i { long m(inrout octet a, inrout sequence<short> s, inrout string t, in octet b); };",
                  "0 m sc=0x00030300 in=24:a@0,sInLen@4,sLen@8,tInLen@12,tLen@16,b@20 rout=1:a@0\n");
}

/* --- the language */

static void test_constants_are_computed(void **state)
{
    static const char *const cases[][2] = {
        {"const long A = 1 + 2 * 3 - 8 / 4 % 3;", "#define A 5\n"},
        {"const long A = -(1 << 4) | 3;", "#define A (-13)\n"},
        {"const unsigned long A = 0xffffffff;", "#define A 4294967295u\n"},
        {"const unsigned long long A = 18446744073709551615;", "UINT64_C(18446744073709551615)"},
        {"const long long A = -9223372036854775807 - 1;", "#define A INT64_MIN\n"},
        {"const long long A = -9223372036854775808;", "#define A INT64_MIN\n"},
        {"const octet A = 'a'; const long B = A >> 1;", "#define B 48\n"},
        {"const boolean A = TRUE;", "#define A 1\n"},
        {"const string A = \"x\\\"y\";", "#define A \"x\\\"y\"\n"},
        {"enum e { P, Q }; const long A = Q * 7;", "#define A 7\n"},
        {"const long N = 3; struct s { long a[N + 1]; };", "int a[4];"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        expect_in_header(cases[i][0], cases[i][1]);
}

static void test_conditionals_and_comments_are_obeyed(void **state)
{
    (void)state;
    expect_in_header("#ifdef X\nnonsense ' {\n#else\nconst long A = 1;\n#endif\n", "#define A 1\n");
    expect_in_header("#define X\n#ifdef X\nconst long A = 1;\n#else\nbad\n#endif\n", "#define A 1\n");
    expect_in_header("#if 0\n#include \"none.idl\"\n#endif\nconst long A = 1;", "#define A 1\n");
    expect_in_header("/* What A\n * is: a comment */\nconst long A = 1;",
                     "/* What A\n * is: a comment */\n#define A 1\n");
    expect_in_header("// */ ends /* nothing\nconst long A = 1;", "/* * / ends / * nothing */\n");
}

static void test_an_include_is_read_once_and_only_used(void **state)
{
    (void)state;
    files[2] = "d/types.idl";
    files[3] = "#include \"more.idl\"\ntypedef long id;\ninterface other { long m(); };";
    files[4] = "d/more.idl";
    files[5] = "typedef short small;";
    expect_layout("#include \"types.idl\"\n#include \"more.idl\"\n"
                  "interface i { long m(in small a, in id b); };",
                  "0 m sc=0x00010000 in=8:a@0,b@4\n");
    expect_in_header("#include \"types.idl\"\ninterface i { long m(in id a); };",
                     "#include \"types.h\"\n");
    /* what happens in an included file is reported there */
    files[3] = "typedef\n  wrong id;";
    expect_error("#include \"types.idl\"", "d/types.idl:2:3: 'wrong' is not a type");
    memset(files, 0, sizeof(files));
}

static void test_mistakes_are_named_where_they_are(void **state)
{
    static const char *const cases[][2] = {
        {"interface i {\n  long m(in lnog x);\n};", "d/main.idl:2:13: 'lnog' is not a type"},
        {"interface i { long m(in long x) };",
         "d/main.idl:1:33: unexpected '}'; ';' after the method should be here"},
        {"interface i { long m(long x); };",
         "d/main.idl:1:22: unexpected 'long'; 'in', 'rout' or 'inrout' should be here"},
        {"interface i { long m(in long x", "d/main.idl:1:31: the file ends where ')' after the "
                                           "parameters should be"},
        {"interface i { float m(); };", "d/main.idl:1:15: a method returns long (or AEEResult), an AEE code"},
        {"interface i { long m(); long m(); };", "d/main.idl:1:30: 'i_m' is declared already"},
        {"interface i { long m(in long x, in long x); };",
         "d/main.idl:1:41: two arguments would be called 'x'"},
        {"interface i { long m(in sequence<long> x, in long xLen); };",
         "d/main.idl:1:51: two arguments would be called 'xLen'"},
        {"interface i { long m(in long errno); };",
         "d/main.idl:1:30: 'errno' is a word of IDL or of the generated code"},
        {"interface i { long m(in long _x); };",
         "d/main.idl:1:30: '_x': names that begin with '_' belong to the generated code"},
        {"interface i { };", "d/main.idl:1:11: interface 'i' has no methods"},
        {"interface i : j { long m(); };",
         "d/main.idl:1:15: 'j' is no interface that is declared above"},
        {"interface i : i { long m(); };", "d/main.idl:1:15: 'i' is no interface that is declared above"},
        {"interface j { long m(); };\ninterface i : j, k { long m(); };", "d/main.idl:2:16: an interface has one base"},
        {"interface j { long m(); };\ninterface i : j { long m(); };", "d/main.idl:2:24: 'i_m' is declared already"},
        {"interface i : remote_handle64 { long m(); };",
         "d/main.idl:1:15: 'remote_handle64' is not declared; #include \"remote.idl\""},
        {REMOTE "interface i : remote_handle64 { long open(in long x); };",
         "d/main.idl:3:38: 'i_open' is declared already"},
        {"interface i { long m(in sequence<sequence<long>> x); };",
         "d/main.idl:1:34: a sequence of sequences needs a typedef for the inner one, which C names"},
        {"interface i { long m(in sequence<dmahandle> x); };",
         "d/main.idl:1:34: a sequence of handles is not supported"},
        {"struct s { string a[2]; };",
         "d/main.idl:1:20: an array of sequences, strings or handles is not supported"},
        {"struct s { string a; }; typedef s t[2];",
         "d/main.idl:1:36: an array of sequences, strings or handles is not supported"},
        {"struct s { long aLen; string a; };", "d/main.idl:1:30: two members are called 'aLen'"},
        {"struct s { string a; }; interface i { long m(inrout s x); };",
         "d/main.idl:1:55: parameter 'x': inrout is not possible for a type with sequences, strings or handles inside, "
         "nor for a handle"},
        {"interface i { long m(in dmahandle x, in long xOffset); };",
         "d/main.idl:1:46: two arguments would be called 'xOffset'"},
        {"interface i { async long m(); };", "d/main.idl:1:15: 'async' is not supported"},
        {"const string IDL_VERSION = \"1.2.3.4\";",
         "d/main.idl:1:14: IDL_VERSION is one to three numbers below 1000: \"1.2.3\""},
        {"const string IDL_VERSION = \"1..2\";",
         "d/main.idl:1:14: IDL_VERSION is one to three numbers below 1000: \"1.2.3\""},
        {"const string IDL_VERSION = \"1000\";",
         "d/main.idl:1:14: IDL_VERSION is one to three numbers below 1000: \"1.2.3\""},
        {"union u { long a; };", "d/main.idl:1:1: 'union' is not supported"},
        {"struct s { s x; };", "d/main.idl:1:12: 's' is not a type"},
        {"struct s { long a; short a; };", "d/main.idl:1:26: two members are called 'a'"},
        {"struct p { long a; };\ninterface i { long m(in p p); };", "d/main.idl:2:27: 'p' is a type"},
        {"const long x = 1; interface i { long m(in long x); };",
         "d/main.idl:1:48: 'x' is a constant"},
        {"enum e { uint8_t };", "d/main.idl:1:10: 'uint8_t' is a built-in type"},
        {"interface i { long m(in long int32); };", "d/main.idl:1:30: 'int32' is a type"},
        {"const long size = 1;",
         "d/main.idl:1:12: a constant 'size' would disturb the generated code"},
        {"typedef long a[0];", "d/main.idl:1:16: the count 0 is not within 1..1048576"},
        {"typedef double a[1024][1024];", "d/main.idl:1:17: the array has 8388608 bytes; 1048576 are "
                                           "the limit"},
        {"enum e { A = 3 };", "d/main.idl:1:12: enumerators count from 0: a value cannot be given"},
        {"const long X = 9223372036854775808;", "d/main.idl:1:16: the value 9223372036854775808 does not fit int"},
        {"const long long X = 9223372036854775808;",
         "d/main.idl:1:21: the value 9223372036854775808 does not fit int64"},
        {"const long X = -9223372036854775808;", "d/main.idl:1:16: the value -9223372036854775808 does not fit int"},
        {"interface i { const string IDL_VERSION = \"1.2.3\"; long m(); };",
         "d/main.idl:1:28: IDL_VERSION is the file's: it belongs outside of the interface"},
        {"const octet A = 256;", "d/main.idl:1:17: the value 256 does not fit unsigned char"},
        {"const unsigned long A = -1;", "d/main.idl:1:25: the value -1 does not fit unsigned int"},
        {"const long A = 1 / 0;", "d/main.idl:1:18: the constant cannot be computed in 64 bits"},
        {"const long A = B;", "d/main.idl:1:16: 'B' is not a whole-numbered constant"},
        {"const long A = 12x;", "d/main.idl:1:16: '12x' is not a number"},
        {"const long A = 99999999999999999999;",
         "d/main.idl:1:16: the number '99999999999999999999' does not fit 64 bits"},
        {"const string A = \"x;\n", "d/main.idl:1:18: this literal has no closing \""},
        {"/* no end", "d/main.idl:1:1: this comment has no end"},
        {"#if 0\n", "d/main.idl:1:1: this #if has no #endif"},
        {"#endif", "d/main.idl:1:1: #endif without an #if"},
        {"#define A 3\nconst long B = A;", "d/main.idl:2:16: 'A' is not a whole-numbered constant"},
        {"#undef A 3\n", "d/main.idl:1:10: unexpected text after this directive"},
        {"#frob", "d/main.idl:1:1: unknown directive '#frob'"},
        {"\n#include \"none.idl\"\n", "d/main.idl:2:10: cannot read 'none.idl'"},
        {"long @", "d/main.idl:1:1: unexpected 'long'; interface, typedef, struct, enum, const or "
                   "#include should be here"},
        {"@", "d/main.idl:1:1: unexpected character '@'"},
        {"\xff", "d/main.idl:1:1: unexpected byte 0xff"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        expect_error(cases[i][0], cases[i][1]);
}

static void test_deep_nesting_ends_with_an_error(void **state)
{
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH + 32);

    (void)state;
    strcpy(text, "const long A = ");
    memset(text + 15, '(', DEPTH);
    text[15 + DEPTH] = '\0';
    struct hx_idl *idl = compile(text);
    assert_non_null(strstr(hx_idl_error(idl), "nested too deeply"));
    hx_idl_close(idl);
    memset(text + 15, '-', DEPTH);
    idl = compile(text);
    assert_non_null(strstr(hx_idl_error(idl), "nested too deeply"));
    hx_idl_close(idl);
    free(text);
}

static void test_too_many_buffers_are_refused(void **state)
{
    char text[16384] = "interface i { long m(in sequence<octet> p0", *p = text + strlen(text);

    (void)state;
    for (int i = 1; i < 255; i++)
        p += sprintf(p, ", in sequence<octet> p%d", i);
    strcpy(p, "); };");
    expect_error(text, "d/main.idl:1:20: 'm' needs 256 in and 0 out buffers; 255 of each are the limit");
}

/* --- results of an implementation */

static void expect_in_skel(const struct hx_idl *idl, enum hx_idl_codes codes, const char *text, bool there)
{
    char *skel = hx_idl_skel(idl, 0, codes);

    if ((strstr(skel, text) != NULL) != there)
        fail_msg("%s'%s' in:\n%s", there ? "no " : "", text, skel);
    free(skel);
}

/* Of methods with and without a result, of a deep one, and of open and close: each exactly once. */
static void test_dsp_codes_add_the_offset_once(void **state)
{
    static const char helper[] = "static int skel_code(int rc)\n{\n    return rc > 0 ? AEE_DSP(rc) : rc;\n}\n";
    struct hx_idl *idl = compile(REMOTE "struct P { string s; };\n"
                                        "interface i : remote_handle64 { long a(in long x); long b(in P p); long c(rout long y); };");

    (void)state;
    assert_null(hx_idl_error(idl));
    expect_in_skel(idl, HX_IDL_CODES_DSP, helper, true);
    expect_in_skel(idl, HX_IDL_CODES_DSP, "    return skel_code(i_open(pra[1].buf.pv, &pra[2].h64));\n", true);
    expect_in_skel(idl, HX_IDL_CODES_DSP, "    return skel_code(i_close(pra[0].h64));\n", true);
    expect_in_skel(idl, HX_IDL_CODES_DSP, "    return skel_code(i_a(h, in.x));\n", true);
    expect_in_skel(idl, HX_IDL_CODES_DSP, "        _k->rc = skel_code(i_b(_h, &p));\n", true);
    expect_in_skel(idl, HX_IDL_CODES_DSP, "    int rc = i_c(h, &rout.y);\n", true);
    expect_in_skel(idl, HX_IDL_CODES_DSP, "    return skel_code(rc);\n", true);
    expect_in_skel(idl, HX_IDL_CODES_DSP, "    return methods[method].serve(_h, pra);\n}\n", true);
    expect_in_skel(idl, HX_IDL_CODES_AS_RETURNED, "skel_code", false);
    expect_in_skel(idl, HX_IDL_CODES_AS_RETURNED, "    return i_a(h, in.x);\n", true);
    hx_idl_close(idl);
}

/* With the handle, of plain and deep methods; not of an interface without one. */
static void test_a_stub_calls_what_it_is_told_to(void **state)
{
    static const char methods[] = "{ long a(in long x); long b(in P p); };";
    struct hx_idl *idl = compile(hxt_path(REMOTE "struct P { string s; }; interface i : remote_handle64 %s", methods));
    char *stub = hx_idl_stub(idl, 0, "elsewhere"), *plain = hx_idl_stub(idl, 0, NULL);

    (void)state;
    assert_non_null(strstr(stub, "\nint elsewhere(remote_handle64 h, uint32_t sc, remote_arg *args);\n"));
    assert_non_null(strstr(stub, "return elsewhere(_h, _sc, _args);"));
    assert_null(strstr(stub, "remote_handle64_invoke"));
    assert_null(strstr(plain, "elsewhere"));
    assert_non_null(strstr(plain, "return remote_handle64_invoke(_h, _sc, _args);"));
    free(stub);
    free(plain);
    hx_idl_close(idl);
    idl = compile(hxt_path("struct P { string s; }; interface i %s", methods));
    stub = hx_idl_stub(idl, 0, "elsewhere");
    assert_null(strstr(stub, "elsewhere"));
    free(stub);
    hx_idl_close(idl);
}

/* By which hexrig's figures, traces and crash reports name a method. */
static void test_a_skel_names_its_methods(void **state)
{
    struct hx_idl *idl = compile(REMOTE "interface h : remote_handle64 { long x(); long delete(); };");

    (void)state;
    expect_in_skel(idl, HX_IDL_CODES_AS_RETURNED,
                   "const char h_skel_methods[] =\n    \"open\\0\"\n    \"close\\0\"\n    \"x\\0\"\n    \"delete\\0\"\n    \"\";\n",
                   true);
    hx_idl_close(idl);
    idl = compile("interface plain { long x(); };");
    expect_in_skel(idl, HX_IDL_CODES_AS_RETURNED, "const char plain_skel_methods[] =\n    \"x\\0\"\n    \"\";\n", true);
    hx_idl_close(idl);
    expect_error("interface i { long skel_methods(); };", "d/main.idl:1:20: 'i_skel_methods' is declared already");
}

/* --- the command */

static int run_hexidl(char *const args[], int n)
{
    char *argv[8] = {"hexidl"};

    for (int i = 0; i < n; i++)
        argv[1 + i] = args[i];
    optind = 0; /* getopt starts anew */
    return hx_idl_main(1 + n, argv);
}

static int count_files(const char *dir)
{
    struct dirent **list;
    int n = scandir(dir, &list, NULL, NULL);

    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
    return n - 2;
}

static void test_files_that_are_no_text_are_refused_with_the_reason(void **state)
{
    static const char *const cases[][2] = {
        {".", ".:1:1: cannot read this file: Is a directory"},
        {"/dev/zero", "/dev/zero:1:1: cannot read this file: File too large"},
        {"/nonexistent", "/nonexistent:1:1: cannot read this file: No such file or directory"},
    };
    struct hx_idl *idl;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        assert_true(hx_idl_compile(&idl, cases[i][0], hx_idl_read_file, NULL, 0) < 0);
        assert_string_equal(hx_idl_error(idl), cases[i][1]);
        hx_idl_close(idl);
    }
}

/* void is long, as in qaic; a bound says nothing on the wire. */
static void test_void_and_bounds_change_nothing(void **state)
{
    (void)state;
    expect_layout("interface i { void m(in sequence<long, 5> a, in string<7> b); };",
                  "0 m sc=0x00030000 in=8:aLen@0,bLen@4\n");
    expect_in_header("interface i { void m(in long x); };", "int i_m(int x);");
}

static void test_the_command_writes_all_or_nothing(void **state)
{
    const char *dir = hxt_tmpdir();
    char in[] = HXT_SRC "/kernels/spinor/sp_hex.idl", inc[] = "-I" HXT_SRC "/rpc/idl-include", out[512], bad[512];

    (void)state;
    snprintf(out, sizeof(out), "%s/gen", dir);
    mkdir(out, 0755);
    snprintf(bad, sizeof(bad), "%s/bad.idl", dir);
    hxt_write_file(bad, "interface i { long m(in x); };", 30);
    assert_int_equal(run_hexidl((char *[]){bad, "-o", out, inc}, 4), 1);
    assert_int_equal(count_files(out), 0);
    assert_int_equal(run_hexidl((char *[]){in, "-o", out, inc}, 4), 0);
    assert_int_equal(count_files(out), 3);
    assert_int_equal(access(hxt_path("%s/sp_hex_skel.c", out), R_OK), 0);
    assert_int_equal(run_hexidl((char *[]){in, "-o", "/nonexistent", inc}, 4), 1);
    assert_int_equal(run_hexidl((char *[]){in}, 1), 2);
    assert_int_equal(run_hexidl((char *[]){in, in, "-o", out}, 4), 2);
    assert_int_equal(run_hexidl((char *[]){"--frob"}, 1), 2);
    /* when one file cannot be written, none is: a folder is in the way of the second */
    hxt_remove_tree(out);
    mkdir(out, 0755);
    mkdir(hxt_path("%s/sp_hex_stub.c.tmp", out), 0755);
    assert_int_equal(run_hexidl((char *[]){in, "-o", out, inc}, 4), 1);
    assert_int_equal(count_files(out), 1);
}

/* 1 when the file has the text. */
static int file_has(const char *path, const char *text)
{
    size_t n;
    char *all = hx_idl_read_file(path, &n);
    int has = all && memmem(all, n, text, strlen(text)) != NULL;

    free(all);
    return has;
}

static void test_the_command_adds_the_offset_when_asked(void **state)
{
    const char *dir = hxt_tmpdir();
    char in[] = HXT_SRC "/kernels/spinor/sp_hex.idl", inc[] = "-I" HXT_SRC "/rpc/idl-include", out[512];

    (void)state;
    snprintf(out, sizeof(out), "%s/codes", dir);
    mkdir(out, 0755);
    assert_int_equal(run_hexidl((char *[]){in, "-o", out, inc}, 4), 0);
    assert_false(file_has(hxt_path("%s/sp_hex_skel.c", out), "skel_code"));
    assert_int_equal(run_hexidl((char *[]){in, "--dsp-codes", "-o", out, inc}, 5), 0);
    assert_true(file_has(hxt_path("%s/sp_hex_skel.c", out), "return skel_code("));
    assert_false(file_has(hxt_path("%s/sp_hex_stub.c", out), "skel_code"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inrout_is_in_then_rout),
        cmocka_unit_test(test_a_base_gives_its_methods_and_its_kind),
        cmocka_unit_test(test_uris_say_what_the_skel_is),
        cmocka_unit_test(test_a_skel_names_its_methods),
        cmocka_unit_test(test_words_of_c_get_a_prefix),
        cmocka_unit_test(test_constants_are_computed),
        cmocka_unit_test(test_conditionals_and_comments_are_obeyed),
        cmocka_unit_test(test_an_include_is_read_once_and_only_used),
        cmocka_unit_test(test_mistakes_are_named_where_they_are),
        cmocka_unit_test(test_deep_nesting_ends_with_an_error),
        cmocka_unit_test(test_too_many_buffers_are_refused),
        cmocka_unit_test(test_files_that_are_no_text_are_refused_with_the_reason),
        cmocka_unit_test(test_void_and_bounds_change_nothing),
        cmocka_unit_test(test_dsp_codes_add_the_offset_once),
        cmocka_unit_test(test_a_stub_calls_what_it_is_told_to),
        cmocka_unit_test(test_the_command_writes_all_or_nothing),
        cmocka_unit_test(test_the_command_adds_the_offset_when_asked),
    };

    return HXT_RUN(tests);
}
