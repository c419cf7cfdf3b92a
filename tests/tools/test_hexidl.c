/* Protects the IDL compiler: wire formats equal those of published FastRPC interfaces, every mistake is reported where it
 * is, and a failed run writes nothing.  What the generated code does: tests/cases/idl.sh. */
#include <dirent.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hxt.h"
#include "idl.h"

/* --- files in memory: a name and a text each */

static const char *files[8];

static char *read_one(const char *path, size_t *n)
{
    for (size_t i = 0; i + 1 < HXT_LEN(files) && files[i]; i += 2)
        if (strcmp(files[i], path) == 0) {
            *n = strlen(files[i + 1]);
            return strdup(files[i + 1]);
        }
    return hx_idl_read_file(path, n);
}

#define REMOTE "#include \"AEEStdDef.idl\"\n#include \"remote.idl\"\n"

static struct hx_idl *compile(const char *text)
{
    static const char *const dirs[] = {HXT_SRC "/rpc/idl-include"};
    struct hx_idl *idl;

    files[0] = "d/main.idl";
    files[1] = text;
    hx_idl_compile(&idl, "d/main.idl", read_one, dirs, 1);
    return idl;
}

static void expect_layout(const char *text, const char *want)
{
    struct hx_idl *idl = compile(text);

    if (hx_idl_error(idl))
        fail_msg("%s", hx_idl_error(idl));
    char *layout = hx_idl_layout(idl);
    assert_string_equal(layout, want);
    free(layout);
    hx_idl_close(idl);
}

static void expect_error(const char *text, const char *want)
{
    struct hx_idl *idl = compile(text);

    if (!hx_idl_error(idl))
        fail_msg("no error for: %s", text);
    assert_string_equal(hx_idl_error(idl), want);
    hx_idl_close(idl);
}

static void expect_in_header(const char *text, const char *want)
{
    struct hx_idl *idl = compile(text);

    if (hx_idl_error(idl))
        fail_msg("%s", hx_idl_error(idl));
    char *header = hx_idl_header(idl);
    if (!strstr(header, want))
        fail_msg("no '%s' in:\n%s", want, header);
    free(header);
    hx_idl_close(idl);
}

/* --- published interfaces: `sc` and sizes as the stubs of qualcomm/fastrpc 1.x have them */

#define HANDLE_METHODS "0 open sc=0x00020001\n1 close sc=0x01000010\n"

static void test_remotectl1_has_the_published_wire_format(void **state)
{
    (void)state;
    expect_layout(REMOTE "interface remotectl1 : remote_handle64 {\n"
                  "long open1(in string name, rout long handle, rout string dlerror, rout long nErr);\n"
                  "long close1(in long handle, rout string dlerror, rout long nErr);\n"
                  "long grow_heap(in uint32 phyAddr, in uint32 nSize);\n"
                  "long set_param(in long reqID, in sequence<uint32> params);\n};\n",
                  HANDLE_METHODS
                  "2 open1 sc=0x02020200 in=8:nameLen@0,dlerrorLen@4 rout=8:handle@0,nErr@4\n"
                  "3 close1 sc=0x03010200 in=8:handle@0,dlerrorLen@4 rout=4:nErr@0\n"
                  "4 grow_heap sc=0x04010000 in=8:phyAddr@0,nSize@4\n"
                  "5 set_param sc=0x05020000 in=8:reqID@0,paramsLen@4\n");
}

static void test_adsp_perf1_has_the_published_wire_format(void **state)
{
    (void)state;
    expect_layout(REMOTE "interface adsp_perf1 : remote_handle64 {\n"
                  "long enable(in long ix);\n"
                  "long get_usecs(rout sequence<int64> dst);\n"
                  "long get_keys(rout string keys, rout long maxLen, rout long numKeys);\n};\n",
                  HANDLE_METHODS
                  "2 enable sc=0x02010000 in=4:ix@0\n"
                  "3 get_usecs sc=0x03010100 in=4:dstLen@0\n"
                  "4 get_keys sc=0x04010200 in=4:keysLen@0 rout=8:maxLen@0,numKeys@4\n");
}

static void test_dspqueue_rpc_and_adspmsgd_adsp1_have_the_published_wire_format(void **state)
{
    (void)state;
    expect_layout(REMOTE "interface dspqueue_rpc : remote_handle64 {\n"
                  "AEEResult init_process_state(in int32 process_state_fd);\n"
                  "AEEResult create_queue(in uint32 id, in int32 queue_fd, in uint32 count, rout uint64 queue_id);\n"
                  "AEEResult destroy_queue(in uint64 queue_id);\n"
                  "AEEResult is_imported(in uint64 queue_id, rout int32 imported);\n"
                  "AEEResult wait_signal(rout uint32 signal);\n"
                  "AEEResult cancel_wait_signal();\n};\n",
                  HANDLE_METHODS
                  "2 init_process_state sc=0x02010000 in=4:process_state_fd@0\n"
                  "3 create_queue sc=0x03010100 in=12:id@0,queue_fd@4,count@8 rout=8:queue_id@0\n"
                  "4 destroy_queue sc=0x04010000 in=8:queue_id@0\n"
                  "5 is_imported sc=0x05010100 in=8:queue_id@0 rout=4:imported@0\n"
                  "6 wait_signal sc=0x06000100 rout=4:signal@0\n"
                  "7 cancel_wait_signal sc=0x07000000\n");
    /* a 64-bit value after three 32-bit ones is aligned */
    expect_layout(REMOTE "interface adspmsgd_adsp1 : remote_handle64 {\n"
                  "long init2(); long deinit();\n"
                  "long init3(in long heapid, in uint32 ion_flags, in uint32 filter, in uint64 buf_size,\n"
                  "           rout uint64 buff_addr);\n"
                  "long wait(rout uint64 bytes_to_read);\n};\n",
                  HANDLE_METHODS
                  "2 init2 sc=0x02000000\n3 deinit sc=0x03000000\n"
                  "4 init3 sc=0x04010100 in=24:heapid@0,ion_flags@4,filter@8,buf_size@16 "
                  "rout=8:buff_addr@0\n"
                  "5 wait sc=0x05000100 rout=8:bytes_to_read@0\n");
}

/* apps_std: no handle, structs, and more methods than `sc` can number. */
static void test_apps_std_has_the_published_wire_format(void **state)
{
    (void)state;
    expect_layout("interface apps_std {\n"
                  "typedef long FILE;\n"
                  "struct DIR { uint64 handle; };\n"
                  "struct DIRENT { long ino; char name[255]; };\n"
                  "struct STAT { uint64 tsz, dev, ino; uint32 mode, nlink; uint64 rdev, size;\n"
                  "  int64 atime, atimensec, mtime, mtimensec, ctime, ctimensec; };\n"
                  "long fopen(in string name, in string mode, rout FILE psout);\n"
                  "long fread(in FILE sin, rout sequence<octet> buf, rout long bytesRead, rout long bEOF);\n"
                  "long flen(in FILE sin, rout uint64 len);\n"
                  "long fileExists(in string path, rout boolean exists);\n"
                  "long readdir(in DIR dir, rout DIRENT dirent, rout long bEOF);\n"
                  "long p5(); long p6(); long p7(); long p8(); long p9(); long p10(); long p11(); long p12();\n"
                  "long p13(); long p14(); long p15(); long p16(); long p17(); long p18(); long p19();\n"
                  "long p20(); long p21(); long p22(); long p23(); long p24(); long p25(); long p26();\n"
                  "long p27(); long p28(); long p29(); long p30();\n"
                  "long stat(in string name, rout STAT stat);\n"
                  "long ftrunc(in FILE sin, in long offset);\n};\n",
                  "0 fopen sc=0x00030100 in=8:nameLen@0,modeLen@4 rout=4:psout@0\n"
                  "1 fread sc=0x01010200 in=8:sin@0,bufLen@4 rout=8:bytesRead@0,bEOF@4\n"
                  "2 flen sc=0x02010100 in=4:sin@0 rout=8:len@0\n"
                  "3 fileExists sc=0x03020100 in=4:pathLen@0 rout=1:exists@0\n"
                  "4 readdir sc=0x04010100 in=8:dir@0 rout=264:dirent@0,bEOF@260\n"
                  "5 p5 sc=0x05000000\n6 p6 sc=0x06000000\n7 p7 sc=0x07000000\n8 p8 sc=0x08000000\n"
                  "9 p9 sc=0x09000000\n10 p10 sc=0x0a000000\n11 p11 sc=0x0b000000\n"
                  "12 p12 sc=0x0c000000\n13 p13 sc=0x0d000000\n14 p14 sc=0x0e000000\n"
                  "15 p15 sc=0x0f000000\n16 p16 sc=0x10000000\n17 p17 sc=0x11000000\n"
                  "18 p18 sc=0x12000000\n19 p19 sc=0x13000000\n20 p20 sc=0x14000000\n"
                  "21 p21 sc=0x15000000\n22 p22 sc=0x16000000\n23 p23 sc=0x17000000\n"
                  "24 p24 sc=0x18000000\n25 p25 sc=0x19000000\n26 p26 sc=0x1a000000\n"
                  "27 p27 sc=0x1b000000\n28 p28 sc=0x1c000000\n29 p29 sc=0x1d000000\n"
                  "30 p30 sc=0x1e000000\n"
                  "31 stat sc=0x1f020100 in=8:_mid@0,nameLen@4 rout=96:stat@0\n"
                  "32 ftrunc sc=0x1f010000 in=12:_mid@0,sin@4,offset@8\n");
}

/* --- deep types: the layouts of what qaic 1.0.51 writes for the same files, read off its stubs and skels */

static void test_deep_records_lie_as_qaic_lays_them(void **state)
{
    (void)state;
    expect_layout("struct A { octet t; string s; long long z; };\n"
                  "struct B { octet q; A a; sequence<A> more; double d; };\n"
                  "interface probe {\n"
                  "long m0(in octet z, in A a, in octet y, rout A b, rout octet w);\n"
                  "long m1(in B b);\nlong m2(rout B b);\n};\n",
                  "0 m0 sc=0x00020200 in=32:z@0,a.t@8,a.sLen@12,a.z@16,y@24,b.sLen@28 rout=24:b.t@0,b.z@8,w@16\n"
                  "1 m1 sc=0x01030000+ in=40:b.q@0,b.a.t@8,b.a.sLen@12,b.a.z@16,b.moreLen@24,b.d@32\n"
                  "2 m2 sc=0x02020300+ in=8:b.a.sLen@0,b.moreLen@4 rout=32:b.q@0,b.a.t@8,b.a.z@16,b.d@24\n");
    /* a record is padded to its alignment inside another */
    expect_layout("struct P { string s; octet t; };\n"
                  "struct W { P p; octet q; long long big[2]; };\n"
                  "interface p2 {\n"
                  "long a(in P p, in octet z, in sequence<P> q, rout P r, rout octet w, rout sequence<P> x);\n"
                  "long b(in W w, in octet z, in sequence<W> ws, rout W v, rout octet y, rout sequence<W> u);\n};\n",
                  "0 a sc=0x00040300+ in=24:p.sLen@0,p.t@4,z@8,qLen@12,r.sLen@16,xLen@20 rout=2:r.t@0,w@1\n"
                  "1 b sc=0x01040300+ in=48:w.p.sLen@0,w.p.t@4,w.q@8,w.big@16,z@32,wsLen@36,v.p.sLen@40,uLen@44 "
                  "rout=32:v.p.t@0,v.q@1,v.big@8,y@24\n");
}

/* How far apart elements' records lie, which is written nowhere else: 8 and 4 + 1 bytes, 32 and 4 + 24. */
static void test_records_of_elements_are_padded(void **state)
{
    static const char text[] = "struct P { string s; octet t; }; struct W { P p; octet q; long long big[2]; };\n"
                               "interface i { long a(in sequence<P> x, rout sequence<P> y, in sequence<W> w, rout sequence<W> v); };";
    static const char *const in_stub[] = {
        "_r = stub_in_records(_k, xLen, 8);", "_r = stub_in_records(_k, yLen, 4);", "_g = stub_out_records(_k, yLen, 1);",
        "_r = stub_in_records(_k, wLen, 32);", "_r = stub_in_records(_k, vLen, 4);", "_g = stub_out_records(_k, vLen, 24);"};
    static const char *const in_skel[] = {
        "&_k->n_in, (uint64_t)xLen * 8);", "&_k->n_in, (uint64_t)yLen * 4);", "&_k->n_out, (uint64_t)yLen * 1);",
        "&_k->n_in, (uint64_t)wLen * 32);", "&_k->n_in, (uint64_t)vLen * 4);", "&_k->n_out, (uint64_t)vLen * 24);"};
    struct hx_idl *idl = compile(text);

    (void)state;
    char *stub = hx_idl_stub(idl, 0), *skel = hx_idl_skel(idl, 0, HX_IDL_CODES_AS_RETURNED);
    for (size_t i = 0; i < HXT_LEN(in_stub); i++) {
        if (!strstr(stub, in_stub[i]))
            fail_msg("no '%s' in the stub", in_stub[i]);
        if (!strstr(skel, in_skel[i]))
            fail_msg("no '%s' in the skel", in_skel[i]);
    }
    free(stub);
    free(skel);
    hx_idl_close(idl);
}

/* The only deep methods in qualcomm/fastrpc: adsp_listener's first two, and one of apps_std. */
static void test_published_deep_methods_have_their_wire_format(void **state)
{
    (void)state;
    expect_layout("interface adsp_listener {\n"
                  "typedef sequence<uint8> buffer;\ntypedef uint32 handle_t; typedef uint32 invoke_ctx;\n"
                  "long next_invoke(in invoke_ctx prevCtx, in long prevResult, in sequence<buffer> outBufs,\n"
                  " rout invoke_ctx ctx, rout handle_t handle, rout uint32 sc, rout sequence<buffer> inBuffers,\n"
                  " rout sequence<long> inBufLenReq, rout sequence<long> routBufLenReq);\n"
                  "long invoke_get_in_bufs(in invoke_ctx ctx, rout sequence<buffer> inBuffers);\n};\n",
                  "0 next_invoke sc=0x00030300+ in=24:prevCtx@0,prevResult@4,outBufsLen@8,inBuffersLen@12,"
                  "inBufLenReqLen@16,routBufLenReqLen@20 rout=12:ctx@0,handle@4,sc@8\n"
                  "1 invoke_get_in_bufs sc=0x01020000+ in=8:ctx@0,inBuffersLen@4\n");
    expect_layout("interface apps_std { long get_search_paths_with_env(in string env, in string delim,\n"
                  "rout sequence<string> paths, rout uint32 numPaths, rout uint16 maxPathLen); };",
                  "0 get_search_paths_with_env sc=0x00040100+ in=12:envLen@0,delimLen@4,pathsLen@8 "
                  "rout=8:numPaths@0,maxPathLen@4\n");
}

static void test_handles_and_wide_strings_have_the_published_wire_format(void **state)
{
    (void)state;
    expect_layout("interface i { long m(in dmahandle h, in long x, rout dmahandle g);\n"
                  "long w(in wstring w, rout wstring v, in wchar c, inrout wstring b); };",
                  "0 m sc=0x00010011 in=4:x@0\n"
                  "1 w sc=0x01030200 in=20:wLen@0,vLen@4,c@8,bInLen@12,bLen@16\n");
    expect_in_header("interface i { long m(in dmahandle h); };", "int i_m(int h, uint32_t hOffset, uint32_t hLen);");
    expect_in_header("interface i { long m(in wstring w, rout sequence<wstring> v); };",
                     "int i_m(const _wchar_t *w, _wstring1_t *v, int vLen);");
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
         "d/main.idl:1:21: the value 9223372036854775808 does not fit int64_t"},
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
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remotectl1_has_the_published_wire_format),
        cmocka_unit_test(test_adsp_perf1_has_the_published_wire_format),
        cmocka_unit_test(test_dspqueue_rpc_and_adspmsgd_adsp1_have_the_published_wire_format),
        cmocka_unit_test(test_apps_std_has_the_published_wire_format),
        cmocka_unit_test(test_inrout_is_in_then_rout),
        cmocka_unit_test(test_deep_records_lie_as_qaic_lays_them),
        cmocka_unit_test(test_records_of_elements_are_padded),
        cmocka_unit_test(test_published_deep_methods_have_their_wire_format),
        cmocka_unit_test(test_handles_and_wide_strings_have_the_published_wire_format),
        cmocka_unit_test(test_a_base_gives_its_methods_and_its_kind),
        cmocka_unit_test(test_uris_say_what_the_skel_is),
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
        cmocka_unit_test(test_the_command_writes_all_or_nothing),
        cmocka_unit_test(test_the_command_adds_the_offset_when_asked),
    };

    return HXT_RUN(tests);
}
