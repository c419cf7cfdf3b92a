# hexrig: `make`, `make demo`, `make check`; V=1 shows the commands.  All output goes to $(BUILD), laid out as an
# installation is: bin lib libexec/hexrig share/hexrig.
BUILD  ?= build
# no rule but those here: make would look for a .y, an RCS file and twenty others of every header, for most of its own time
MAKEFLAGS += --no-builtin-rules
PREFIX ?= /usr/local
# make has a CC of its own, which ?= would leave as it is
ifeq ($(origin CC),default)
CC     := gcc
endif
MARCH  ?= native
OPT    ?= -O2
SAN    ?=
# runs a program that was just built, when that is for another machine
RUN    ?=

.DEFAULT_GOAL := all

ifeq ($(V),1)
Q =
say = @:
else
Q = @
say = @printf '  %-7s %s\n'
endif

# clang's major version, or nothing
clang := $(shell $(CC) -dM -E -x c /dev/null 2>/dev/null | sed -n 's/^.define __clang_major__ //p')
ifneq ($(and $(clang),$(filter-out clean deps install uninstall,$(or $(MAKECMDGOALS),all))),)
ifneq ($(SAN),$(if $(findstring fuzzer-no-link,$(SAN)),$(SAN)))
$(error SAN=$(SAN) wants CC=gcc)
endif
ifneq ($(shell [ $(clang) -lt 16 ] && echo old),)
$(error $(CC) is clang $(clang): it takes clang 16 or later, or gcc)
endif
endif
VERSION := $(file <tools/VERSION)
# programs that were linked with libhexrig.so go on with later ones of the same number
MAJOR   := $(firstword $(subst ., ,$(VERSION)))
warn    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wno-psabi
# the checks that a sanitizer adds make gcc see strings that could be null
warn    += $(if $(SAN),$(if $(clang),,-Wno-format-truncation -Wno-format-overflow))
sanflag := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
# libFuzzer's build, see `fuzz`; clang 19 does not tell the source as gcc does that it builds for ASan
fuzzer  := $(findstring fuzzer-no-link,$(SAN))
sanflag += $(if $(fuzzer),-fno-sanitize-recover=all -D__SANITIZE_ADDRESS__=1)
# what sanitizers print are lines; all that debuggers want takes half as long again to compile.  A plain build has it of the DSP, of the way
# to it and of the tests' skels, of the rest lines; `make CFLAGS=-g` has it everywhere.
debug   := $(if $(SAN),-g1,-g)
CFLAGS_ALL = -std=gnu11 $(OPT) $(debug) -march=$(MARCH) -ffp-contract=off -fno-math-errno -fvisibility=hidden $(warn) $(sanflag) $(fewer_checks) \
             -MMD -MP -D_GNU_SOURCE $(object_flags) $(CFLAGS)
LDFLAGS_ALL = $(sanflag) $(LDFLAGS)

obj := $(BUILD)/obj
B   := $(BUILD)/bin
L   := $(BUILD)/lib
X   := $(BUILD)/libexec/hexrig
S   := $(BUILD)/share/hexrig
G   := $(BUILD)/gen

# Objects depend on cc.flags, programs on ld.flags, and both on this file.  The stamps hold the flags of the last build and are
# written only when the flags are others now; the comparison is done here rather than in a recipe so that `make -n` tells the
# truth.  `make install` installs what was built, whichever flags that was built with.
cc_stamp := $(obj)/cc.flags Makefile
ld_stamp := $(obj)/ld.flags Makefile
$(obj)/cc.flags: flags := $(CC) $(CFLAGS_ALL)
$(obj)/ld.flags: flags := $(CC) $(LDFLAGS_ALL)
ifneq ($(filter-out install uninstall,$(or $(MAKECMDGOALS),all)),)
ifneq ($(strip $(file <$(obj)/cc.flags)),$(strip $(CC) $(CFLAGS_ALL)))
.PHONY: $(obj)/cc.flags
endif
ifneq ($(strip $(file <$(obj)/ld.flags)),$(strip $(CC) $(LDFLAGS_ALL)))
.PHONY: $(obj)/ld.flags
endif
endif
$(obj)/cc.flags $(obj)/ld.flags:
	@mkdir -p $(@D) && printf '%s\n' '$(subst ','\'',$(flags))' >$@
	@$(if $(and $(clang),$(filter %/cc.flags,$@)),echo "  NOTE    only gcc traces loads and stores of kernels; with clang they cost nothing in the model")

# what client, driver and DSP agree on; and the client library
inc_rpc := -Irpc/include -Irpc/wire -Irpc/queue -Irpc/block
inc_lib := $(inc_rpc) -Irpc/transport -Irpc/rig -Irpc/client -Irpc/listen
inc_dsp := $(inc_rpc) -Idsp/include -Idsp/include/hexrig

# Lazy, so that a tree without the packages can still run `make demo` and `make check`, which install them.
fuse_cflags = $(shell pkg-config --cflags fuse3)
fuse_libs   = $(shell pkg-config --libs fuse3)

# A skel's text lies in 0x10000000..0x1fffffff (docs/architecture.md), 8 MiB each, handed out in the order of the lines that define
# them: ours from 0x10000000, those of tests from 0x18000000, 4 MiB each.  From 0x1c000000 on is left to tools/hexrig-skel.pc.in.
skel_bases      := $(foreach d,0 1 2 3 4 5 6 7,0x1$d000000 0x1$d800000)
test_skel_bases := $(foreach d,8 9 a b,0x1$d000000 0x1$d400000 0x1$d800000 0x1$dc00000)
skel_base        = $(or $(word $(words $($1s)),$($1_bases)),$(error no address is left for another $1))
define skel
skels += $1
$1_skel_o  := $$(call objs,kernels/$2/*.c) $(obj)/gen/$1_skel.o
$1_skel_at := $$(call skel_base,skel)
$$($1_skel_o): | $(G)/$1.h $(3:%=$(G)/%.h)
$(obj)/libhx$1.a: $$($1_skel_o); $$(archive)
$(L)/lib$1_skel.so: $$($1_skel_o) $(3:%=$(obj)/libhx%.a) $(obj)/libhxskel.a $(obj)/libhxwire.a
	$$(call link,-shared -Wl$$(comma)-Ttext-segment=$$($1_skel_at) $$(in) -lm)
endef
# $(call test_skel,NAME): of tests/skel/NAME_skel.c, or of NAME.idl and NAME_imp.c, and of NAME/*.c
define test_skel
test_skels += $1
$1_skel_at := $$(call skel_base,test_skel)
$(BUILD)/tests/lib$1_skel.so: $(if $(wildcard tests/skel/$1.idl),$(obj)/gen/$1_skel.o \
                              $(obj)/tests/skel/$1_imp.o,$(obj)/tests/skel/$1_skel.o) $(call objs,tests/skel/$1/*.c)
	$$(call link,-shared -Wl$$(comma)-Ttext-segment=$$($1_skel_at) $$(in))
endef

# folder -> objects
objs = $(patsubst %.c,$(obj)/%.o,$(wildcard $(1)))
wire_o    := $(call objs,rpc/wire/*.c rpc/queue/*.c rpc/block/*.c)
# what a listener of the host offers to the DSP: the library has the skels, hexrig-dsp the stubs (rpc/reverse/*.idl)
reverse   := apps_std apps_mem adspmsgd_apps
lib_o     := $(call objs,rpc/transport/*.c rpc/rig/*.c rpc/client/*.c rpc/listen/*.c)
reverse_o := $(reverse:%=$(obj)/gen/%_skel.o)
# functions that libcdsprpc.so or libc has, too: they must not get into test programs, which link both sides
dsp_api_o := $(obj)/dsp/queue/dspqueue.o $(obj)/dsp/queue/dspqueue_service.o $(obj)/dsp/reverse/remote.o $(obj)/dsp/reverse/host_file.o \
             $(reverse:%=$(obj)/gen/%_stub.o)
dsp_o     := $(filter-out $(obj)/dsp/pd/main.o $(dsp_api_o),$(call objs,dsp/*/*.c))
crash_o   := $(call objs,fuse/crash/*.c)
fuse_o    := $(filter-out $(obj)/fuse/core/main.o $(crash_o),$(call objs,fuse/*/*.c))
# loaded by itself, where there is MPI
mpi_c     := host/methods/ntt/shard/hexrig_mpi.c
host_c    := $(wildcard host/*/*.c host/*/*/*.c host/*/*/*/*.c)
host_o    := $(call objs,$(filter-out $(mpi_c),$(host_c)))
hexidl_o  := $(call objs,tools/hexidl/*.c)
idl_o     := $(filter-out $(obj)/tools/hexidl/main.o,$(hexidl_o))
theorems_o := $(filter-out $(obj)/tools/theorems/crt_digest_main.o,$(call objs,tools/theorems/*.c))
tools_o   := $(call objs,tools/hexrig/*/*.c) $(theorems_o) $(obj)/tools/preload/client_nodes.o
skel_o    := $(call objs,kernels/skel/*.c)
listing_o := $(call objs,tools/listing/*.c)
# what hexrig has of it, too
tables_o  := $(filter-out %/cli.o %/main.o,$(listing_o))
hexagon_clang_o := $(call objs,tools/hexagon_clang/*.c)
preload_o := $(call objs,tools/preload/*.c) $(obj)/rpc/rig/rig_paths.o $(obj)/rpc/wire/hx_memfd.o
# of fuzz targets: the two ways to drive one, and what some of them share
fuzz_mains := $(patsubst %,$(obj)/tests/lib/%.o,fuzz_main fuzz_libfuzzer)
testlib_o := $(filter-out $(obj)/tests/lib/fuzz_%,$(call objs,tests/lib/*.c))
# each tests/FOLDER/{test,check,bug,fuzz,soak}_NAME.c is one program, $(BUILD)/tests/{test,...}_NAME
tests_c   := $(filter-out tests/lib/%,$(wildcard $(foreach k,test check bug fuzz soak,tests/*/$k_*.c tests/host/*/$k_*.c)))
tests_o   := $(call objs,$(tests_c)) $(testlib_o)
# the programs of one kind
programs_of = $(patsubst %.c,$(BUILD)/tests/%,$(filter $(1)_%,$(notdir $(tests_c))))

# --- skels: one line each.  $(call skel,NAME,DIR) makes $(L)/libNAME_skel.so of kernels/DIR/*.c and of what hexidl makes of
# kernels/DIR/NAME.idl; the stub goes to whoever calls it.  What of kernels/skel it uses comes with it, and so do kernels of
# other skels that a third argument names.
$(eval $(call skel,sp_hex,spinor,silicon))
$(eval $(call skel,silicon,silicon))
$(eval $(call skel,hex_linear,linear))
$(eval $(call skel,ok_linear,ok))
$(eval $(call skel,ntt_kv,ntt,silicon))
$(eval $(call skel,hex_layer,layer,hex_linear))
$(eval $(call skel,kv_proj,kvproj,hex_layer))
$(eval $(call skel,gtc,gtc))

data := $(S)/hexrig-tiny-q8_0.gguf $(patsubst host/data/%,$(S)/%,$(wildcard host/data/*.cal)) $(S)/books-holdout.txt $(S)/topics.txt
profiles := $(patsubst dsp/%,$(S)/%,$(wildcard dsp/profiles/*))
libc := $(patsubst dsp/%,$(S)/%,$(wildcard dsp/libc/*.h dsp/libc/*/*.h))
llama := $(patsubst tools/%,$(S)/%,$(wildcard tools/llama/*))
idls := $(patsubst rpc/idl-include/%,$(S)/idl/%,$(wildcard rpc/idl-include/*.idl))
programs := $(B)/hexrig $(B)/hexidl $(X)/hexrig-fuse $(X)/hexrig-dsp $(X)/hexrig-crash $(X)/hexagon-clang $(L)/libcdsprpc.so $(skels:%=$(L)/lib%_skel.so) \
            $(L)/libhexrig-preload.so $(L)/libcdsprpc.so.1 $(L)/libhexrig.so $(L)/libhexrig.so.$(MAJOR)

# a page of man for each command, and completion for bash: from the tables of options of the program itself
commands := $(shell grep ^COMMAND tools/hexrig/cli/commands.inc | cut -d '"' -f 2)
man1     := $(BUILD)/share/man/man1
manuals  := $(if $(SAN)$(RUN),,$(man1)/hexrig.1 $(commands:%=$(man1)/hexrig-%.1) $(man1)/hexidl.1 $(BUILD)/share/bash-completion/completions/hexrig)

# T6b of `hexrig theorems`: exact arithmetic from a second compiler, where there is one
CLANG := $(firstword $(foreach c,clang clang-19 clang-16 clang-15 clang-14,$(shell command -v $(c) 2>/dev/null)))
programs += $(if $(and $(CLANG),$(if $(SAN),,yes),$(if $(RUN),,yes)),$(X)/crt-digest)
# ranks for `hexrig ppl --crt-shard`, where there is MPI
MPICC := $(shell command -v mpicc 2>/dev/null)
programs += $(if $(and $(MPICC),$(if $(SAN),,yes),$(if $(RUN),,yes)),$(X)/hexrig-mpi.so)
# lines of `hexrig run --chat` can be edited, where there is libedit for this machine
libedit := $(if $(RUN),,$(shell pkg-config --exists libedit 2>/dev/null && echo yes))
.PHONY: all tests demo deb check check-oracle check-oracle-scalar check-sources listings check-listings bench check-conformance check-vm vm-programs install uninstall lint clean deps
.DELETE_ON_ERROR:
# the recipe silences "Nothing to be done"
all: $(programs) $(data) $(profiles) $(libc) $(llama) $(manuals) sdk
	@:

# --- objects: each folder sees what docs/architecture.md lets it see
# Numbers change their type only where it is said, in what strangers talk to also between signed and unsigned.  Kernels are
# left out: FastRPC gives them their lengths as int.
$(wire_o) $(lib_o) $(obj)/fuse/%.o $(obj)/dsp/%.o: private warn += -Wconversion -Wsign-conversion
$(obj)/host/%.o $(obj)/tools/%.o: private warn += -Wconversion -Wno-sign-conversion
$(wire_o):              inc := $(inc_rpc)
$(lib_o):               inc := $(inc_lib) -I$(G)
$(call objs,rpc/listen/*.c dsp/reverse/*.c) $(reverse:%=$(obj)/gen/%_stub.o): | $(reverse:%=$(G)/%.h)
$(obj)/dsp/reverse/host_file.o $(obj)/dsp/reverse/messages.o: inc := $(inc_dsp) -Idsp -I$(G)
# skels call them
$(reverse:%=$(obj)/gen/%_stub.o): object_flags = -fvisibility=default
# the one object that knows the version
$(obj)/rpc/wire/hx_version.o: inc := $(inc_rpc) -DHX_VERSION='"$(VERSION)"'
$(obj)/rpc/wire/hx_version.o: tools/VERSION
$(obj)/dsp/%.o:         inc := $(inc_dsp) -Idsp
$(obj)/fuse/%.o:        inc  = $(inc_rpc) -Ifuse $(fuse_cflags)
$(obj)/kernels/%.o:     inc := $(inc_dsp) -Ikernels -I$(G) -DHEXRIG_COUNT
# every load and store of a kernel tells the DSP process its address, see docs/hvx.md; a sanitizer's callbacks have the same names,
# and clang has no such option.  Of spinor (docs/kernels.md), ntt and skel only the named files do
mem_trace := $(if $(SAN)$(clang),,-fsanitize=kernel-address --param asan-instrumentation-with-call-threshold=0 --param asan-stack=0 --param asan-globals=0)
traced_o  := $(filter-out $(call objs,$(foreach d,spinor ntt skel,kernels/$d/*.c)),$(call objs,kernels/*/*.c)) \
             $(call objs,kernels/skel/ntt_scalar.c kernels/skel/weights.c kernels/spinor/spinor_load_hvx.c kernels/ntt/ring_memory_hvx.c)
$(traced_o): private trace := $(mem_trace)
$(obj)/host/%.o:        inc := $(inc_lib) -I$(G) -Ihost
$(obj)/tools/%.o:       inc := $(inc_lib) -I$(G) -Ihost -Itools -Itools/hexrig -Itools/hexidl -Itools/preload
# the stamp's name tells when libedit has come or gone
libedit_stamp := $(obj)/libedit.$(if $(libedit),there,absent)
$(libedit_stamp):
	@mkdir -p $(@D) && rm -f $(obj)/libedit.* && touch $@
$(obj)/tools/hexrig/run/run_line.o: $(libedit_stamp)
$(obj)/tools/hexrig/run/run_line.o: inc += $(if $(libedit),-DHX_LIBEDIT $(shell pkg-config --cflags libedit))
$(B)/hexrig: private host_libs += $(if $(libedit),$(shell pkg-config --libs libedit))
$(foreach d,host kernels tools tests,$(obj)/$d/%.o): private debug := -g1
$(obj)/tests/skel/%.o:  private debug := $(debug)
# it defines open() and ioctl() themselves, not what a fortified build makes of them
$(obj)/tools/preload/%.o: inc := $(inc_lib) -U_FORTIFY_SOURCE
$(obj)/tools/listing/%.o: inc := $(inc_dsp)
$(obj)/gen/%.o:         inc := $(inc_rpc) -I$(G)
$(obj)/tests/%.o:       inc  = $(inc_lib) -I$(G) -Itools -Itools/hexrig -Itools/hexidl -Ihost -Idsp -Ifuse -Ikernels -Idsp/include -Idsp/include/hexrig -Itests/lib -Itests -DHEXRIG_COUNT \
                               -DHXT_BUILD='"$(abspath $(BUILD))"' -DHXT_SRC='"$(CURDIR)"' $(fuse_cflags)
# what most tests do themselves takes no time, but a third of the build went into optimising it
tests_compute := test_planted_states test_hvx_int check_spinor% test_sp_hex% fuzz_%
$(call objs,$(foreach c,$(tests_c),$(if $(filter $(tests_compute),$(basename $(notdir $c))),,$c))): private object_flags = -O0
# the root PD is linked at a fixed low address, so that all that a skel sees lies below 4 GiB; its heap begins behind it, and the
# skels' addresses lie below both, see docs/architecture.md
$(obj)/dsp/%.o: pic := -fno-pie
pic = -fPIC

$(obj)/%.o: %.c $(cc_stamp)
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CFLAGS_ALL) $(pic) $(inc) $(trace) -c $< -o $@

# --- DIR/NAME.idl -> NAME.h, NAME_stub.c, NAME_skel.c; before anything that may include the header.  They are made anew for a
# changed compiler, but not for a new version number of it.
define idl
$(G)/%.h $(G)/%_stub.c $(G)/%_skel.c: $1/%.idl $(hexidl_o) $(idls) Makefile | $(B)/hexidl
	@mkdir -p $$(@D)
	$(say) IDL $$<
	$(Q)$(RUN) $(B)/hexidl $2 $$< -o $(G)
endef
# implementations in kernels/ return plain AEE codes, the skels add the DSP's offset; methods of the engine may have their calls sent as
# packets, so the stubs ask host/dsp/invoke.c
$(foreach d,$(sort $(dir $(wildcard kernels/*/*.idl))),$(eval $(call idl,$(d:/=),--dsp-codes --invoke hx_invoke)))
$(eval $(call idl,tests/skel))
$(eval $(call idl,rpc/reverse))
$(obj)/gen/%.o: $(G)/%.c $(cc_stamp)
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CFLAGS_ALL) $(pic) $(inc) -c $< -o $@
$(host_o) $(tools_o) $(tests_o): | $(skels:%=$(G)/%.h)

define archive
	@mkdir -p $(@D)
	$(say) AR $(notdir $@)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
endef
$(obj)/libhxwire.a: $(wire_o);       $(archive)
$(obj)/libhxdsp.a: $(dsp_o);         $(archive)
$(obj)/libhxfuse.a: $(fuse_o);       $(archive)
# of these two a program or skel takes what it uses
$(obj)/libhxskel.a: $(skel_o);       $(archive)
$(obj)/libhxstub.a: $(skels:%=$(obj)/gen/%_stub.o) $(obj)/host/dsp/invoke.o; $(archive)
$(obj)/libhxhost.a: $(host_o);       $(archive)
# parts of the commands that tests look into
tools_parts := \
  bench/barrett bench/compare_stats bench/compare_ranks \
  budget/limits budget/figures budget/gate \
  cli/share cli/xml_text cli/near cli/opt_tree cli/opt cli/cmd cli/report cli/help cli/help_columns \
  html/page html/chart html/density html/roofline html/trace html/timing html/sources \
  plan/verdict \
  planted/answer planted/directions planted/keys planted/narrow planted/planted planted/rows planted/tensors \
  report/estimate report/timing_params report/timing_rows \
  roofline/roofline roofline/roofline_svg roofline/roofline_counts roofline/energy \
  subspace/activations subspace/axioms topics/states topics/topics twin/twin ugt/graft
$(obj)/libhxtools.a: $(theorems_o) $(tools_parts:%=$(obj)/tools/hexrig/%.o); $(archive)
$(obj)/libhxtest.a: $(testlib_o);    $(archive)

define link
	@mkdir -p $(@D)
	$(say) LINK $(notdir $@)
	$(Q)$(CC) $(LDFLAGS_ALL) $(1) -o $@
endef
# objects and behind them the archives, in whatever order the rules name them and whichever uses which
in = $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group
# a DT_RPATH, which LD_LIBRARY_PATH does not beat: hexrig starts in a shell that is set up for another libcdsprpc.so
rpath := -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib'

# skels say by themselves that they are to be exported; from here they are not
$(obj)/libhxreverse.a: $(reverse_o); $(archive)
$(L)/libcdsprpc.so: $(lib_o) $(obj)/libhxreverse.a $(obj)/libhxwire.a rpc/client/libcdsprpc.map
	$(call link,-shared -Wl$(comma)--version-script=rpc/client/libcdsprpc.map -Wl$(comma)-soname$(comma)libcdsprpc.so -Wl$(comma)-z$(comma)nodelete -Wl$(comma)--exclude-libs$(comma)libhxreverse.a $(lib_o) $(obj)/libhxreverse.a $(obj)/libhxwire.a -lpthread)
# the name by which programs that were linked with qualcomm/fastrpc look for it
$(L)/libcdsprpc.so.1: $(L)/libcdsprpc.so
	$(Q)ln -sf $(<F) $@
$(X)/hexrig-mpi.so: $(mpi_c) host/methods/ntt/shard/hx_mpi.h Makefile
	@mkdir -p $(@D)
	$(say) MPICC $(notdir $@)
	$(Q)$(MPICC) -std=gnu11 -O2 -g -Wall -Wextra -fPIC -fvisibility=hidden -Ihost -shared $< -o $@
digest_c := tools/theorems/crt_digest_main.c tools/theorems/crt_digest.c $(wildcard host/methods/ntt/ring/encode.c host/methods/ntt/ring/crt*.c)
$(X)/crt-digest: $(digest_c) tools/theorems/crt_digest.h $(wildcard host/methods/ntt/ring/*.h) $(cc_stamp)
	@mkdir -p $(@D)
	$(say) CLANG $(notdir $@)
	$(Q)$(CLANG) -std=gnu11 -O2 -march=$(MARCH) -ffp-contract=off -D_GNU_SOURCE -Itools/theorems $(inc_rpc) -Ihost $(digest_c) -lm -o $@
# the loader looks for hx_stage() of rpc/wire/hx_stage.h, as it does in a shared library anyway
stages = -Wl$(comma)-z$(comma)dynamic-undefined-weak
# `now`: it lies where everybody knows, so its table of libc's functions is not to be written to
$(X)/hexrig-dsp: $(obj)/dsp/pd/main.o $(dsp_api_o) $(obj)/libhxdsp.a $(obj)/libhxwire.a
	$(call link,-no-pie -rdynamic $(stages) -Wl$(comma)-z$(comma)now -Wl$(comma)-Ttext-segment=0x20000000 $(obj)/dsp/pd/main.o $(dsp_api_o) -Wl$(comma)--whole-archive $(obj)/libhxdsp.a -Wl$(comma)--no-whole-archive $(obj)/libhxwire.a -lnuma -ldl -lpthread -lm)
$(X)/hexrig-fuse: $(obj)/fuse/core/main.o $(obj)/libhxfuse.a $(obj)/libhxwire.a
	$(call link,$(stages) $(in) $(fuse_libs) -lpthread -lm)
$(X)/hexrig-crash: $(crash_o)
	$(call link,$(in))
$(B)/hexidl: $(hexidl_o) $(obj)/libhxwire.a
	$(call link,$(in))
$(X)/hexagon-clang: $(hexagon_clang_o)
	$(call link,$(in))
# packet tables from listings that are there already, for tests; not installed
$(BUILD)/tools/hexrig-listing: $(listing_o) $(obj)/libhxwire.a
	$(call link,$(in))
$(obj)/tools/hexrig/subspace/thermal.o: inc += -Ifuse
$(B)/hexrig: $(tools_o) $(tables_o) $(idl_o) $(obj)/fuse/power/thermal.o $(obj)/libhxhost.a $(obj)/libhxstub.a $(obj)/libhxwire.a $(L)/libcdsprpc.so
	$(call link,$(in) -L$(L) -lcdsprpc $(rpath) -lmicrohttpd $(host_libs))
# the C API of host/api/hexrig.h
$(L)/libhexrig.so.$(MAJOR): $(host_o) $(obj)/libhxstub.a $(obj)/libhxwire.a $(L)/libcdsprpc.so host/api/libhexrig.map
	$(call link,-shared -Wl$(comma)--version-script=host/api/libhexrig.map -Wl$(comma)-soname$(comma)$(@F) $(in) -L$(L) -lcdsprpc -Wl$(comma)-rpath$(comma)'$$ORIGIN' $(host_libs))
$(L)/libhexrig.so: $(L)/libhexrig.so.$(MAJOR)
	$(Q)ln -sf $(<F) $@
$(L)/libhexrig-preload.so: $(preload_o)
	$(call link,-shared -Wl$(comma)-soname$(comma)libhexrig-preload.so $(in) -ldl)
host_libs := -ljansson -lnuma -lpthread -lm
comma := ,

# --- what skels and clients compile against: headers in one folder, and their flags for pkg-config
sdk_h := $(wildcard dsp/include/*.h dsp/include/hexrig/*.h rpc/include/*.h)
sdk   := $(addprefix $(BUILD)/include/hexrig/,$(notdir $(sdk_h)) $(reverse:%=%.h)) $(BUILD)/include/hexrig.h \
         $(patsubst tools/%.in,$(L)/pkgconfig/%,$(wildcard tools/*.pc.in)) \
         $(patsubst tools/%.in,$(L)/cmake/hexrig/%,$(wildcard tools/*.cmake.in))
.PHONY: sdk
sdk: $(sdk)
define sdk_copy
	@mkdir -p $(@D)
	$(Q)cp $< $@
endef
$(BUILD)/include/hexrig.h: host/api/hexrig.h; $(sdk_copy)
$(BUILD)/include/hexrig/%: dsp/include/%; $(sdk_copy)
$(BUILD)/include/hexrig/%: dsp/include/hexrig/%; $(sdk_copy)
$(BUILD)/include/hexrig/%: rpc/include/%; $(sdk_copy)
$(reverse:%=$(BUILD)/include/hexrig/%.h): $(BUILD)/include/hexrig/%: $(G)/%; $(sdk_copy)
define with_version
	@mkdir -p $(@D)
	$(Q)sed 's/@VERSION@/$(VERSION)/' $< >$@
endef
$(L)/pkgconfig/%.pc: tools/%.pc.in tools/VERSION Makefile; $(with_version)
$(L)/cmake/hexrig/%.cmake: tools/%.cmake.in tools/VERSION Makefile; $(with_version)

# --- the same in the shape of a Hexagon SDK, for build files that were written for one: docs/sdk.md
K := $(S)/sdk
sdk_files := $(patsubst tools/sdk/%,$(K)/%,$(shell find tools/sdk -type f ! -name '*.c'))
sdk_heads := $(addprefix $(K)/,incs utils/examples ipc/fastrpc/incs ipc/fastrpc/rpcmem/inc libs/worker_pool/inc \
               $(patsubst %,rtos/qurt/computev%/include/qurt,68 69 73 75 79 81))
sdk_clang := $(addprefix $(K)/tools/Tools/bin/,hexagon-clang hexagon-clang++)
sdk_tools := $(patsubst %,$(K)/tools/Tools/bin/hexagon-%,ranlib nm strip objdump objcopy readelf)
sdk_shape := $(sdk_files) $(sdk_heads) $(sdk_clang) $(sdk_tools) $(X)/libno_trace.a
sdk: $(sdk_shape)
$(K)/%: tools/sdk/%; $(sdk_copy)
define sdk_link
	@mkdir -p $(@D)
	$(Q)ln -srfn $1 $@
endef
# a link is as old as what it leads to, so it is made once
$(sdk_heads): | $(BUILD)/include/hexrig.h;               $(call sdk_link,$(BUILD)/include/hexrig)
$(sdk_clang): | $(X)/hexagon-clang;                      $(call sdk_link,$(X)/hexagon-clang)
$(sdk_tools): | $(K)/tools/Tools/bin/hexagon-ar;         $(call sdk_link,$(K)/tools/Tools/bin/hexagon-ar)
$(obj)/tools/sdk/no_trace.o: pic := -fPIC -fno-sanitize=all
$(X)/libno_trace.a: $(obj)/tools/sdk/no_trace.o; $(archive)

# $(call made_by,HEXRIG OPTIONS)
define made_by
	@mkdir -p $(@D)
	$(Q)$(B)/hexrig $(1) >$@
endef
$(man1)/hexrig.1: $(B)/hexrig;   $(call made_by,help --man)
$(man1)/hexrig-%.1: $(B)/hexrig; $(call made_by,help --man $*)
$(man1)/hexidl.1: $(man1)/hexrig-idl.1
	$(Q)echo .so man1/$(<F) >$@
$(BUILD)/share/bash-completion/completions/hexrig: $(B)/hexrig; $(call made_by,help --completion)

$(S)/idl/%: rpc/idl-include/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
# what `hexrig llama` does
$(S)/llama/%: tools/llama/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
# declarations for `hexrig listing`
$(S)/libc/%: dsp/libc/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(S)/profiles/%: dsp/profiles/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(S)/%: host/data/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

# --- tests
kernels_a := $(skels:%=$(obj)/libhx%.a) $(obj)/libhxskel.a
$(foreach c,$(tests_c),$(eval $(BUILD)/tests/$(basename $(notdir $(c))): $(c:%.c=$(obj)/%.o)))
test_b := $(foreach k,test check bug,$(call programs_of,$k))
# what speaks frames without libcdsprpc.so
frame_client_o := $(patsubst %,$(obj)/rpc/transport/%.o,frame_io frame_pack frame_connect) $(obj)/rpc/wire/hx_maps.o
# the conformance test's way to either front end
access_o := $(patsubst %,$(obj)/tests/conformance/%.o,access access_socket client) $(frame_client_o)
# programs that use nothing but libcdsprpc.so, as a stranger's would
api_b := $(addprefix $(BUILD)/tests/,test_silicon_rig test_silicon_layer_rig test_remote_api test_remote_async test_idl_rig test_dspqueue test_dspqueue_multi test_dspqueue_wire bug_dspqueue_stuck test_trace_rig test_turns_rig test_shares_rig test_reader_rig test_races \
                                     test_hostile_client test_fault_matrix test_fault_start test_nth_client test_crash test_host_files test_pd_names bug_registered_buffer)
# and some that need little
lone_b := $(addprefix $(BUILD)/tests/,test_placement test_listing)
$(filter-out $(api_b) $(lone_b),$(test_b)): $(obj)/libhxtest.a $(obj)/libhxtools.a $(obj)/libhxhost.a $(obj)/libhxstub.a $(kernels_a) $(obj)/libhxfuse.a \
                  $(obj)/libhxdsp.a $(obj)/libhxwire.a $(L)/libcdsprpc.so
	$(call link,-no-pie $(in) -L$(L) -lcdsprpc -Wl$(comma)-rpath$(comma)'$$ORIGIN/../lib' -lcmocka $(fuse_libs) $(host_libs) -ldl)
$(api_b): $(obj)/libhxtest.a $(L)/libcdsprpc.so
	$(call link,$(in) -L$(L) -lcdsprpc -Wl$(comma)-rpath$(comma)'$$ORIGIN/../lib' -lcmocka $(api_libs) -lpthread -lm)
$(BUILD)/tests/test_silicon_rig $(BUILD)/tests/test_silicon_layer_rig $(BUILD)/tests/test_trace_rig: $(obj)/libhxstub.a
$(BUILD)/tests/test_trace_rig $(BUILD)/tests/test_nth_client: api_libs := -ljansson
$(BUILD)/tests/test_hostile_client: $(call objs,tests/fuse/hostile/*.c) $(access_o)
# the virtual machine runs it, too, and needs little for that
$(BUILD)/tests/test_placement: $(obj)/libhxtest.a $(obj)/libhxdsp.a $(obj)/libhxwire.a
	$(call link,-no-pie $(in) -lcmocka -lnuma -ldl -lpthread -lm)
fuzz_b := $(call programs_of,fuzz)
$(fuzz_b): $(filter %/$(if $(fuzzer),fuzz_libfuzzer,fuzz_main).o,$(fuzz_mains)) $(obj)/tests/lib/input_limit.o $(obj)/libhxhost.a $(obj)/libhxstub.a $(kernels_a) $(obj)/libhxfuse.a \
                  $(obj)/libhxdsp.a $(obj)/libhxwire.a $(L)/libcdsprpc.so
	$(call link,$(if $(fuzzer),-fsanitize=fuzzer) $(fuzz_flags) -no-pie $(in) -L$(L) -lcdsprpc -Wl$(comma)-rpath$(comma)'$$ORIGIN/../lib' $(fuse_libs) $(host_libs) -ldl)
# it is library, session and DSP in one, and loads skels as a PD does
fuzz_uri := $(BUILD)/tests/fuzz_uri
$(fuzz_uri): $(obj)/rpc/client/remote.o $(obj)/rpc/client/domain_name.o | $(BUILD)/tests/libcalculator_skel.so $(BUILD)/tests/libhxt_classic_skel.so
$(fuzz_uri): fuzz_flags := -rdynamic -Wl,-u,HAP_mmap_get
# the oracle's cases, one per integer HVX intrinsic and immediate, from the one table
$(obj)/tests/hvx_cases.inc: tests/oracle/gen.awk tests/oracle/hvx-v69-intrinsics.txt tests/oracle/scalar-intrinsics.txt Makefile
	@mkdir -p $(@D)
	$(Q)awk -F' [|] ' -f $(filter %.awk %.txt,$^) > $@
$(obj)/tests/dsp/test_hvx_int.o: $(obj)/tests/hvx_cases.inc
$(obj)/tests/dsp/test_hvx_int.o: inc = $(inc_dsp) -Itests -I$(obj)/tests -DHEXRIG_COUNT -DHXT_SRC='"$(CURDIR)"'
# the scalar oracle's, likewise
$(obj)/tests/scalar_cases.inc: tests/oracle_scalar/gen.awk tests/oracle_scalar/scalar-v69-intrinsics.txt Makefile
	@mkdir -p $(@D)
	$(Q)awk -F' [|] ' -f $(filter %.awk %.txt,$^) > $@
$(obj)/tests/dsp/test_scalar_q6.o: $(obj)/tests/scalar_cases.inc
$(obj)/tests/dsp/test_scalar_q6.o: inc = $(inc_dsp) -Itests/oracle_scalar -I$(obj)/tests -DHEXRIG_COUNT -DHXT_SRC='"$(CURDIR)"'
$(BUILD)/tests/test_hexidl $(BUILD)/tests/test_hexidl_wire $(BUILD)/tests/test_method_stats $(BUILD)/tests/test_top $(BUILD)/tests/fuzz_idl: $(idl_o)
$(BUILD)/tests/test_method_stats: $(patsubst %,$(obj)/tools/hexrig/%.o,rig/method_stats cli/cmd)
$(BUILD)/tests/test_top: $(patsubst %,$(obj)/tools/hexrig/%.o,rig/method_stats rig/node_text rig/top_view cli/cmd)
$(BUILD)/tests/test_replay: $(patsubst %,$(obj)/tools/hexrig/replay/%.o,recording recording_json recording_take recording_text replay)
$(BUILD)/tests/fuzz_config: host_libs += -Wl,--wrap=hx_trace_file_open
$(BUILD)/tests/fuzz_tokenizer: $(obj)/tests/lib/decode.o
$(BUILD)/tests/fuzz_http: $(patsubst %,$(obj)/tests/lib/%.o,http_stream gen_model) $(patsubst %,$(obj)/tools/hexrig/serve/cmd_serve_%.o,http routes send conns body json embed format error guard logprobs metrics tokens reply jobs past)
$(BUILD)/tests/fuzz_http: host_libs += -lmicrohttpd -Wl,--wrap=hx_conns_open
$(BUILD)/tests/fuzz_gguf_fields: $(patsubst %,$(obj)/tests/lib/%.o,gguf_parts gen_model)
# a listener of the host without its session
listen_o := $(call objs,rpc/listen/*.c)
$(BUILD)/tests/test_listener: $(listen_o) $(obj)/libhxreverse.a
$(BUILD)/tests/fuzz_listener: $(obj)/tests/lib/fake_session.o $(listen_o) $(obj)/libhxreverse.a
$(BUILD)/tests/fuzz_front_socket: $(patsubst %,$(obj)/tests/lib/%.o,frame_client fake_dsp)
$(BUILD)/tests/fuzz_sessions: $(patsubst %,$(obj)/tests/lib/%.o,fuzz_dsp fuzz_client fuzz_ioctls fuzz_rounds fuzz_lies fuzz_log)
# tables as a kernel gets them
listing_sample  := modmac,stage
listing_corners := operands,nest
$(obj)/tests/listing/%.listing.h: tests/data/listing/%.release.s tests/data/listing/%.debug.s $(listing_o) Makefile | $(BUILD)/tools/hexrig-listing
	@mkdir -p $(@D)
	$(Q)$(RUN) $(BUILD)/tools/hexrig-listing $(wordlist 1,2,$^) -f $(listing_$*) -o $@
$(obj)/tests/tools/test_listing.o: $(patsubst %,$(obj)/tests/listing/%.listing.h,sample corners)
$(obj)/tests/tools/test_listing.o: inc = $(inc_dsp) -Itests/lib -I$(obj)/tests/listing -DHXT_BUILD='"$(abspath $(BUILD))"' -DHXT_SRC='"$(CURDIR)"'
$(BUILD)/tests/test_listing: $(obj)/libhxtest.a
	$(call link,$(in) -lcmocka -lpthread -lm)
.SECONDARY:
$(obj)/tests/skel/%.o: inc := $(inc_dsp) -Itests/skel -DHEXRIG_COUNT
idl_skels := $(patsubst tests/skel/%.idl,%,$(wildcard tests/skel/*.idl))
$(patsubst %,$(obj)/tests/skel/%_imp.o,$(idl_skels)): inc := $(inc_dsp) -I$(G)
$(patsubst %,$(obj)/tests/skel/%_imp.o,$(idl_skels)) $(obj)/tests/tools/test_idl_rig.o $(obj)/tests/rpc/test_host_files.o $(obj)/tests/fuse/test_crash.o $(patsubst %,$(obj)/tests/dsp/test_%_rig.o,turns shares reader): | $(patsubst %,$(G)/%.h,$(idl_skels))
$(BUILD)/tests/test_idl_rig: $(patsubst %,$(obj)/gen/%_stub.o,$(idl_skels))
$(BUILD)/tests/test_host_files: $(obj)/gen/hxt_host_stub.o
$(BUILD)/tests/test_messages: $(obj)/gen/apps_mem_stub.o $(obj)/dsp/reverse/remote.o
$(obj)/tests/skel/hxt_host_imp.o: | $(reverse:%=$(G)/%.h)
$(BUILD)/tests/test_turns_rig $(BUILD)/tests/test_shares_rig: $(obj)/gen/hxt_threads_stub.o
$(BUILD)/tests/test_reader_rig: $(obj)/gen/hxt_reader_stub.o
$(BUILD)/tests/test_confine: $(obj)/fuse/crash/confine.o
$(BUILD)/tests/test_crash: $(obj)/gen/hxt_boom_stub.o $(obj)/fuse/crash/core_name.o
# as a user's skel (tools/hexrig-skel.pc.in): all that has no listing is estimated
user_trace := $(if $(mem_trace),$(mem_trace) -fsanitize-coverage=trace-pc -fno-tree-vectorize -fno-tree-loop-distribute-patterns)
threads_c := tests/skel/hxt_threads_imp.c $(wildcard tests/skel/hxt_threads/*.c)
$(threads_c:%.c=$(obj)/%.o): inc := $(inc_dsp) -I$(G) -Itests/skel -DHEXRIG_COUNT
$(threads_c:%.c=$(obj)/%.o): private trace := $(mem_trace)
$(obj)/tests/skel/hxt_threads/shares.o: private trace := $(user_trace)
$(threads_c:%.c=$(obj)/%.o): | $(G)/hxt_threads.h
reader_c := tests/skel/hxt_reader_imp.c $(wildcard tests/skel/hxt_reader/*.c)
$(reader_c:%.c=$(obj)/%.o): inc := $(inc_dsp) -I$(G) -Itests/skel -DHEXRIG_COUNT
$(reader_c:%.c=$(obj)/%.o): private trace := $(user_trace)
$(reader_c:%.c=$(obj)/%.o): | $(G)/hxt_reader.h
$(foreach t,hxt calculator hxt_queue hxt_classic hxt_deep hxt_escape hxt_threads hxt_boom hxt_reader hxt_v73 hxt_host,$(eval $(call test_skel,$t)))
# Skels whose figures must not depend on the host's optimiser, compiled at each level: tests/libhxt_threads_O0_skel.so, ...,
# tests/O0/libsilicon_skel.so, ...
silicon_c := $(wildcard kernels/silicon/*.c kernels/skel/*.c)
define at_level
$(obj)/O$1/%.o: %.c $(cc_stamp)
	@mkdir -p $$(@D)
	$$(say) CC '$$< -O$1'
	$$(Q)$$(CC) $$(CFLAGS_ALL) -g0 -O$1 $$(pic) $$(inc) $$(trace) -c $$< -o $$@
$(obj)/O$1/kernels/%.o: inc := $(inc_dsp) -Ikernels -I$(G) -DHEXRIG_COUNT
$(traced_o:$(obj)/%=$(obj)/O$1/%): private trace := $(mem_trace)
$(threads_c:%.c=$(obj)/O$1/%.o): inc := $(inc_dsp) -I$(G) -Itests/skel -DHEXRIG_COUNT
$(threads_c:%.c=$(obj)/O$1/%.o): private trace := $(mem_trace)
$(obj)/O$1/tests/skel/hxt_threads/shares.o: private trace := $(user_trace)
$(threads_c:%.c=$(obj)/O$1/%.o) $(silicon_c:%.c=$(obj)/O$1/%.o): | $(G)/hxt_threads.h $(skels:%=$(G)/%.h)
$(BUILD)/tests/libhxt_threads_O$1_skel.so: $(obj)/gen/hxt_threads_skel.o $(threads_c:%.c=$(obj)/O$1/%.o)
	$$(call link,-shared -Wl$$(comma)-Ttext-segment=$$(hxt_threads_skel_at) $$(in))
$(obj)/libhxskel_O$1.a: $(patsubst %.c,$(obj)/O$1/%.o,$(wildcard kernels/skel/*.c)); $$(archive)
$(BUILD)/tests/O$1/libsilicon_skel.so: $(patsubst %.c,$(obj)/O$1/%.o,$(wildcard kernels/silicon/*.c)) $(obj)/gen/silicon_skel.o $(obj)/libhxskel_O$1.a $(obj)/libhxwire.a
	$$(call link,-shared -Wl$$(comma)-Ttext-segment=$$(silicon_skel_at) $$(in) -lm)
endef
levels := 0 1 2 3
$(foreach l,$(levels),$(eval $(call at_level,$l)))
threads_skels := $(levels:%=$(BUILD)/tests/libhxt_threads_O%_skel.so)
silicon_skels := $(levels:%=$(BUILD)/tests/O%/libsilicon_skel.so)
.PHONY: level-skels
level-skels: $(threads_skels) $(silicon_skels)
# `make check` has the kernels of two levels
tests: $(if $(SAN)$(clang),,$(threads_skels) $(patsubst %,$(BUILD)/tests/O%/libsilicon_skel.so,$(filter 0 3,$(levels))))

# the driver's conformance: one program for all front ends; see tests/vm for the static variant
$(obj)/tests/fuse/hostile/%.o $(patsubst %,$(obj)/tests/fuse/%.o,test_hostile_client soak_fairness): inc = $(inc_lib) -Itests/conformance -Itests/lib -Itests -Itests/skel
$(obj)/tests/conformance/%.o: inc := $(inc_lib) -Itests/conformance -Itests/skel
conformance_o := $(call objs,tests/conformance/*.c) $(frame_client_o)
$(BUILD)/tests/conformance: $(conformance_o)
	$(call link,$(in) -lpthread)

# a client without any library of ours, dynamic and static; fortified, as distributions build
$(obj)/tests/run_with/%.o: inc := $(inc_rpc) -Itests/skel -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
$(BUILD)/tests/run_with_client: $(obj)/tests/run_with/client.o
	$(call link,$(in) -lpthread)
$(BUILD)/tests/run_with_msm_client: $(obj)/tests/run_with/msm_client.o
	$(call link,$(in) -lpthread)
$(BUILD)/tests/run_with_client-static: $(obj)/tests/run_with/client.o
	$(call link,-static $(in) -lpthread)

tests: $(BUILD)/tests/run_with_client $(BUILD)/tests/run_with_msm_client $(if $(SAN),,$(BUILD)/tests/run_with_client-static)
tests: $(test_skels:%=$(BUILD)/tests/lib%_skel.so) $(BUILD)/tests/conformance
# preloaded into programs, with the machine's own malloc
preloads := $(patsubst tests/fail/%.c,$(BUILD)/tests/libhxt_%.so,$(wildcard tests/fail/*.c))
tests: $(if $(SAN),,$(preloads))
$(preloads): $(BUILD)/tests/libhxt_%.so: $(obj)/tests/fail/%.o
	$(call link,-shared $(in) -ldl)
tests: all $(test_b) $(fuzz_b)

# sanitizers are gcc's, also beside a build by clang; at -O1 they compile in two thirds of the time
asan := SAN=address,undefined OPT=-O1 BUILD=$(BUILD)/asan $(if $(clang),CC=gcc)
tsan := SAN=thread BUILD=$(BUILD)/tsan $(if $(clang),CC=gcc)

deps:
	@tools/install-deps.sh

# all processors, unless make was told how many
jobs = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
demo: deps
	@$(MAKE) --no-print-directory $(jobs) all
	@tools/demo.sh $(BUILD)

check: deps
	@$(MAKE) --no-print-directory -j2 tests
	@$(MAKE) --no-print-directory -j2 $(asan) tests
	@tests/run.sh $(BUILD)

# every command that compiles, for clangd, which finds it there, and for the static checks; without what only gcc knows
.PHONY: compile-commands
compile-commands:
	@mkdir -p $(BUILD)
	@$(MAKE) --no-print-directory -nB V=1 CC='$(filter-out ccache,$(CC))' mem_trace= levels= few_locations= tests soak $(bench_b) | awk -v dir='$(CURDIR)' -f tools/compile-commands.awk \
	    >$(BUILD)/compile_commands.json

# tabs, long lines, .clang-format; a part of `make check`.  77: no clang-format 14
lint:
	$(Q)tools/lint.sh

# Everything finds everything else relative to itself, so files lie under PREFIX as they do under BUILD.  `uninstall` removes folders
# that are empty then: hexrig's own and lib/pkgconfig, and of a stage (DESTDIR) all that `install` made below PREFIX; on the machine
# itself bin, lib, libexec, include and share are everybody's.
installed := $(patsubst $(BUILD)/%,%,$(programs) $(data) $(profiles) $(libc) $(llama) $(idls) $(manuals) $(sdk) $(sdk_shape))
dest      := $(DESTDIR)$(PREFIX)
install: all
	@for f in $(installed); do \
	    mkdir -p "$(dest)/$${f%/*}" || exit 1; \
	    if [ -h $(BUILD)/$$f ]; then cp -PfT $(BUILD)/$$f "$(dest)/$$f"; \
	    elif [ -x $(BUILD)/$$f ]; then install -m 755 $(BUILD)/$$f "$(dest)/$$f"; \
	    else install -m 644 $(BUILD)/$$f "$(dest)/$$f"; fi || exit 1; \
	done
	$(say) INSTALL $(dest)
uninstalled_folders := share/hexrig/libc/sys share/hexrig/libc share/hexrig/llama share/hexrig/profiles share/hexrig/idl share/hexrig libexec/hexrig include/hexrig lib/pkgconfig lib/cmake/hexrig lib/cmake \
                       share/man/man1 share/bash-completion/completions share/bash-completion \
                       $(if $(filter-out /,$(DESTDIR)),share/man bin lib libexec include share)
uninstall:
	@[ ! -d "$(dest)" ] || { cd "$(dest)" && rm -f $(installed) && \
	    { [ ! -d share/hexrig/sdk ] || find share/hexrig/sdk -depth -type d -empty -delete; } && \
	    for d in $(uninstalled_folders); do \
	        [ ! -d $$d ] || rmdir --ignore-fail-on-non-empty $$d || exit 1; done; }
	$(say) REMOVE $(dest)

# $(BUILD)/hexrig_VERSION_ARCH.deb of what was built; for other machines than this one: make deb MARCH=x86-64-v3 BUILD=build/deb-v3
deb: all
	@rm -rf $(BUILD)/stage && $(MAKE) -s install DESTDIR=$(abspath $(BUILD))/stage PREFIX=/usr
	@tools/deb.sh $(BUILD)/stage $(BUILD) && rm -rf $(BUILD)/stage

# fetches clang-19, lld-19 and qemu-user into $(BUILD)/oracle; exit 77: no tools
check-oracle:
	$(Q)tests/oracle/run.sh $(BUILD)

# the same for scalar intrinsics
check-oracle-scalar:
	$(Q)tests/oracle_scalar/run.sh $(BUILD)

# other people's HVX sources against the headers; HEXRIG_SOURCES=DIR has them, or git and a network.  77: neither
check-sources: sdk
	$(Q)tests/peer/foreign_sources.sh $(BUILD)

# kernels/*/*.listing.h, the packets of the kernels, from clang's listings; check-listings only compares.  77: no clang
listings: all
	$(Q)tools/listing/listings.sh make $(BUILD)
check-listings: all
	$(Q)tools/listing/listings.sh check $(BUILD)

# ns per intrinsic and three kernels beside qemu-hexagon and AVX2
# --- benchmarks: ratios against a limit or a peer measured in the same run
bench_b := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))
$(obj)/tests/bench/%.o: inc = $(inc_lib) -Itests -Itests/bench -DHXT_BUILD='"$(abspath $(BUILD))"' $(fuse_cflags)
$(BUILD)/bench/bench_queue: $(obj)/tests/bench/bench_queue.o $(L)/libcdsprpc.so
	$(call link,$< -L$(L) -lcdsprpc -Wl$(comma)-rpath$(comma)'$$ORIGIN/../lib')
$(obj)/tests/bench/bench_spinor.o: inc = $(inc_dsp) -Ikernels -Idsp -Itests/bench -DHXT_SRC='"$(CURDIR)"'
$(BUILD)/bench/bench_spinor: $(obj)/tests/bench/bench_spinor.o $(kernels_a) $(obj)/libhxdsp.a $(obj)/libhxwire.a
	$(call link,-no-pie $(in) -lnuma -lpthread -lm)
$(obj)/tests/bench/bench_ntt.o: inc = -Ihost -Itests/bench -Itools/hexrig
$(BUILD)/bench/bench_ntt: $(obj)/tests/bench/bench_ntt.o $(obj)/libhxtools.a $(obj)/libhxhost.a
	$(call link,$(in) -lpthread -lm)
$(BUILD)/bench/%: $(obj)/tests/bench/%.o
	$(call link,$(in) $(fuse_libs))
bench: all $(bench_b) $(BUILD)/peer/make_model $(BUILD)/tests/libhxt_skel.so $(BUILD)/tests/libhxt_queue_skel.so
	$(Q)for b in $(bench_b); do $$b || [ $$? = 77 ] || exit 1; done
	$(Q)tests/oracle/bench.sh $(BUILD)
	$(Q)python3 tests/bench/paging.py $(BUILD)
	$(Q)python3 tests/bench/lowrank.py $(BUILD)

# this engine beside llama.cpp, see tests/peer/run.sh; exit 77: no peer
$(obj)/tests/peer/%.o: inc := $(inc_rpc) -Ihost
$(BUILD)/peer/make_model: $(obj)/tests/peer/make_model.o $(obj)/libhxhost.a $(obj)/libhxwire.a $(L)/libcdsprpc.so
	$(call link,$(in) -L$(L) -lcdsprpc -Wl$(comma)-rpath$(comma)'$$ORIGIN/../lib' $(host_libs))
$(BUILD)/peer/peer_llama: $(obj)/tests/peer/peer_llama.o
	$(call link,$(in) -ldl)
.PHONY: bench-peer
bench-peer: all $(BUILD)/peer/make_model $(BUILD)/peer/peer_llama
	$(Q)tests/peer/run.sh $(BUILD)

# llama.cpp's own Hexagon backend, fetched and built: an hour or more.  Exit 77: it cannot be fetched
.PHONY: check-llama
check-llama: all
	$(Q)tests/llama/run.sh $(BUILD)

# the points of docs/conformance.md against the FUSE device and the socket
check-conformance: $(BUILD)/tests/conformance $(BUILD)/tests/libhxt_skel.so $(X)/hexrig-fuse $(X)/hexrig-dsp $(profiles)
	$(Q)tests/cases/conformance.sh $(BUILD)

# and against a character device, in a virtual machine; exit 77: no packages
check-vm:
	$(Q)tests/vm/run.sh $(BUILD)

# what the virtual machine needs, see tests/vm/run.sh
vm-programs: $(BUILD)/tests/test_placement $(BUILD)/tests/conformance-static $(BUILD)/tests/libhxt_skel.so $(X)/hexrig-fuse-static $(X)/hexrig-dsp $(profiles)
$(BUILD)/tests/conformance-static: $(conformance_o)
	$(call link,-static $(in) -lpthread)
# ld warns of dlopen in libfuse's loader of modules, which the rig does not use
$(X)/hexrig-fuse-static: $(obj)/fuse/core/main.o $(obj)/libhxfuse.a $(obj)/libhxwire.a
	$(call link,-static $(in) $(fuse_libs) -lpthread -ldl -lm)

# --- more checks: suites of tests/run.sh beside `check`, one by one or all with check-full.  Exit 0 also when a part was
# skipped; the skip says why.
.PHONY: check-asan check-tsan check-valgrind check-aarch64 check-soak check-faults check-isolation check-full
.PHONY: check-static check-calibration check-determinism check-docs
sub = @$(MAKE) --no-print-directory -j2
soak_b := $(call programs_of,soak)
$(BUILD)/tests/soak_fairness: $(access_o)
$(BUILD)/tests/soak_clients: $(call objs,tests/fuse/soak/*.c)
$(soak_b): $(obj)/libhxtest.a $(L)/libcdsprpc.so
	$(call link,$(in) -L$(L) -lcdsprpc -Wl$(comma)-rpath$(comma)'$$ORIGIN/../lib' -lcmocka -ljansson -lpthread -lm)

# tools that read the sources, which include what is made; docs/testing.md names the packages
check-static: deps
	$(sub) tests
	@tests/run.sh $(BUILD) static
# unmodified programs of others, fetched
.PHONY: check-real
check-real: deps
	$(sub) tests
	@tests/run.sh $(BUILD) real
# a part of `make check` by itself
check-asan: deps
	$(sub) tests
	$(sub) $(asan) tests
	@tests/run.sh $(BUILD) asan
# clients and driver under ThreadSanitizer, with a plain DSP: TSan wants the low addresses where a PD puts its memory
check-tsan: deps tsan-programs
	@tests/run.sh $(BUILD) tsan
# valgrind knows no AVX-512
check-valgrind: deps valgrind-programs
	@tests/run.sh $(BUILD) valgrind
# fetches a cross compiler and qemu-user into $(BUILD)/aarch64
check-aarch64: deps
	@mkdir -p $(BUILD)
	@tests/run.sh $(BUILD) aarch64
# SOAK_S: seconds of clients that come, call and die on each front end (60), and of HTTP requests (600)
check-soak: deps soak-programs
	@tests/run.sh $(BUILD) soak
check-faults: deps soak-programs
	$(sub) $(asan) tests
	@tests/run.sh $(BUILD) faults
check-calibration: deps
	$(sub) tests
	@tests/run.sh $(BUILD) calibration
check-determinism: deps
	$(sub) tests level-skels
	@tests/run.sh $(BUILD) determinism
# every command of the pages, see tests/cases/docs_commands.rules
check-docs: deps
	$(sub) tests
	@tests/run.sh $(BUILD) docs
# a part of `make check` by itself
check-isolation: deps
	$(sub) tests
	@tests/run.sh $(BUILD) isolation
check-full: deps
	$(sub) tests level-skels
	@for p in tsan soak valgrind; do $(MAKE) --no-print-directory $$p-programs || exit 1; done
	$(sub) $(asan) tests
	@AGAIN=0 tests/run.sh $(BUILD) check static tsan valgrind aarch64 oracle vm faults calibration determinism docs real soak

# TIME (60) seconds of each fuzz target, or of TARGETS; JOBS (1) at a time.  By libFuzzer where a clang has it (FUZZ_CC; empty: do
# without), else by the fuzzer of `make check`.  fuzz-merge keeps of what was found what is worth keeping
.PHONY: fuzz fuzz-merge fuzz-programs
FUZZ_CC      = $(shell tests/fuzz.sh compiler)
fuzz_targets := $(patsubst fuzz_%,%,$(notdir $(fuzz_b)))
fuzz fuzz-merge: fuzz_cc = $(FUZZ_CC)
fuzz fuzz-merge: deps
	$(sub) $(if $(fuzz_cc),SAN=address$(comma)undefined$(comma)fuzzer-no-link BUILD=$(BUILD)/fuzz CC="$(fuzz_cc)",$(asan)) fuzz-programs
	@TIME=$(or $(TIME),60) tests/fuzz.sh $(if $(filter fuzz-merge,$@),merge,run) \
	    $(BUILD)/$(if $(fuzz_cc),fuzz,asan) $(or $(TARGETS),$(fuzz_targets))
fuzz-programs: $(if $(TARGETS),$(TARGETS:%=$(BUILD)/tests/fuzz_%),$(fuzz_b))

# gcc takes seven minutes for what the intrinsics and the sanitizers inline here, most of it to tell debuggers where variables are
few_locations := -fno-var-tracking-assignments
few_locations_o := $(call objs,kernels/silicon/layer_hvx.c $(patsubst %,kernels/%_hvx.c,layer/layer_rows layer/layer_attn linear/vrmpy_linear linear/subspace_gate))
# Pointers that overflow: what computes with shapes of its own spends a fifth of its time on that check.  It stays in what reads what
# strangers give, and in the build for `fuzz`.
$(foreach d,host/engine host/methods host/quant kernels tests,$(obj)/$d/%.o): private fewer_checks := $(if $(findstring undefined,$(SAN)),$(if $(clang),,-fno-sanitize=pointer-overflow))
# Kernels of many vectors: their arrays become registers, but below -O2 only after gcc has put a check in front of each access of them,
# and those checks are most of what a sanitizer's build compiles and of what its tests run.  What they load from memory and store there
# stays checked; clang checks HVX kernels as any other code, in the build for `fuzz`.
vectors_checks := $(if $(findstring undefined,$(SAN)),-fno-sanitize=alignment$(comma)null$(comma)pointer-overflow$(comma)object-size$(comma)shift$(comma)signed-integer-overflow$(comma)bounds) \
                  $(if $(and $(findstring address,$(SAN)),$(if $(clang),,gcc)),-O2 --param asan-stack=0 -fno-sanitize-address-use-after-scope)
$(call objs,host/methods/cpu/isa/isa_*.c $(patsubst %,host/methods/ntt/ring/%.c,crt_avx2 crt_avx512 ntt60_avx512)): object_flags = $(vectors_checks)
$(call objs,kernels/*/*_hvx.c): object_flags = $(if $(clang),,$(vectors_checks))
$(few_locations_o): object_flags = $(if $(clang),,$(few_locations) $(if $(findstring thread,$(SAN)),-O1) $(vectors_checks))
# it defines functions that gcc declares by itself when it sanitizes
$(obj)/dsp/machine/hvx_check.o: warn += $(if $(SAN),$(if $(clang),,-Wno-builtin-declaration-mismatch))
.PHONY: tsan-programs valgrind-programs soak-programs
tsan-programs:
	$(sub) tests
	$(sub) $(tsan) tests
	$(Q)mkdir -p $(BUILD)/tsan/rig/libexec/hexrig && rm -rf $(BUILD)/tsan/rig/lib $(BUILD)/tsan/rig/share
	$(Q)cp $(BUILD)/tsan/libexec/hexrig/hexrig-fuse $(X)/hexrig-dsp $(BUILD)/tsan/rig/libexec/hexrig/
	$(Q)cp -R $(L) $(S:%/hexrig=%) $(BUILD)/tsan/rig/
valgrind-programs:
	$(sub) tests
	$(sub) MARCH=x86-64-v3 SAN= BUILD=$(BUILD)/valgrind tests
soak-programs:
	$(sub) tests soak
.PHONY: soak
soak: $(soak_b)

# whatever `link` makes
linked := $(filter-out $(X)/hexrig-mpi.so $(X)/crt-digest $(L)/libcdsprpc.so.1 $(L)/libhexrig.so,$(programs)) $(X)/hexrig-fuse-static $(BUILD)/tools/hexrig-listing \
          $(test_b) $(fuzz_b) $(soak_b) $(bench_b) $(test_skels:%=$(BUILD)/tests/lib%_skel.so) $(threads_skels) $(silicon_skels) \
          $(addprefix $(BUILD)/tests/,conformance conformance-static run_with_client run_with_client-static run_with_msm_client) $(preloads) \
          $(addprefix $(BUILD)/peer/,make_model peer_llama)
$(linked): $(ld_stamp)

clean:
	rm -rf $(BUILD)

-include $(shell find $(obj) -name '*.d' 2>/dev/null)
