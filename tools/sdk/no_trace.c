/* What code with a skel's trace calls, for programs that are not skels: nothing happens.  They are linked so that build systems find
 * that the compiler works; the rig does not run them. */
#define NOTHING(name) \
    void name(void); \
    void name(void) \
    { \
    }

NOTHING(__asan_load1_noabort)
NOTHING(__asan_load2_noabort)
NOTHING(__asan_load4_noabort)
NOTHING(__asan_load8_noabort)
NOTHING(__asan_load16_noabort)
NOTHING(__asan_loadN_noabort)
NOTHING(__asan_store1_noabort)
NOTHING(__asan_store2_noabort)
NOTHING(__asan_store4_noabort)
NOTHING(__asan_store8_noabort)
NOTHING(__asan_store16_noabort)
NOTHING(__asan_storeN_noabort)
NOTHING(__asan_handle_no_return)
NOTHING(__sanitizer_cov_trace_pc)
