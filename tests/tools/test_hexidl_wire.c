/* Protects the IDL compiler: wire formats equal those of published FastRPC interfaces. */
#include "idl_text.h"

/* --- published interfaces: `sc` and sizes as the stubs of qualcomm/fastrpc 1.x have them */

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
    char *stub = hx_idl_stub(idl, 0, NULL), *skel = hx_idl_skel(idl, 0, HX_IDL_CODES_AS_RETURNED);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remotectl1_has_the_published_wire_format),
        cmocka_unit_test(test_adsp_perf1_has_the_published_wire_format),
        cmocka_unit_test(test_dspqueue_rpc_and_adspmsgd_adsp1_have_the_published_wire_format),
        cmocka_unit_test(test_apps_std_has_the_published_wire_format),
        cmocka_unit_test(test_deep_records_lie_as_qaic_lays_them),
        cmocka_unit_test(test_records_of_elements_are_padded),
        cmocka_unit_test(test_published_deep_methods_have_their_wire_format),
        cmocka_unit_test(test_handles_and_wide_strings_have_the_published_wire_format),
    };

    return HXT_RUN(tests);
}
