# SPDX-License-Identifier: GPL-2.0
#
# The one makefile of gotrace-bpf and gotrace. Every product lands in build/. `make demo` and `make
# check` need nothing but git, make and the package registries: they run `make deps` first. V=1
# shows commands.
#
#   build/libgotrace.a   userspace/{lib,target,capture,sequence,trace,align}: everything but the commands
#   build/gotrace-bpf    userspace/gotrace-bpf, linked with it
#   build/gotrace        userspace/gotrace, linked with it
#   build/bpf/           bpf/*.bpf.c linked into one object, and its skeleton gotrace.skel.h; the one
#                        of --follow, which lives longer, that of --cpu-profile and that of the
#                        kernel's side by themselves
#   build/targets/GO/    the Go programs that the tests trace, once for each Go of TARGET_GOS
#   build/fuzz/          the library once more for libFuzzer, selftests/fuzz linked with it, corpora
#   build/reference/     the Go programs that judge our output, built with JUDGE_GO
#   build/kmod/KERNEL/   kmod/gotrace.ko and all that it is made of
#   build/san/           the library and the unit tests once more, with ASan and UBSan (SAN=1), and
#                        replay/mutate, which tests the sequencer against losses
#   build/mutants/       the library once more as libgotrace.so, and the unit tests linked with it
#                        (SHARED=1): what `make mutants` plants mistakes in

# Also dkms.conf's and kmod/main.c's, which are built without this file
VERSION    := 0.1
JUDGE_GO   := go1.26.8
TARGET_GOS := go1.26.8 go1.21.13 go1.24.9
PREFIX     ?= /usr/local
FUZZ_TIME  ?= 60

CC        ?= cc
# Objects by content, if `make check` has installed it: a fresh clone builds in a moment then.
CCACHE    ?= $(shell command -v ccache)
BPF_CLANG ?= clang-19
BPFTOOL   ?= $(shell PATH="$$PATH:/usr/sbin" command -v bpftool || echo bpftool)
GO        ?= go
LIBS      := -lbpf -ldw -lelf -lZydis -lcap -lz -lzstd -ltraceevent -lm
OFFLINE_LIBS := -lz -lzstd -ltraceevent -lm

WARNINGS := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter \
	    -Wno-missing-field-initializers -Werror=implicit-function-declaration \
	    -Werror=incompatible-pointer-types -Werror=int-conversion -Werror=return-type
CFLAGS   ?= -O2 -g
INCLUDES := -Iinclude -Iuserspace -Ibuild/bpf -Ibuild/made
OUR_CFLAGS := -std=gnu11 -ffile-prefix-map=$(CURDIR)=. -D_GNU_SOURCE -DGOTRACE_VERSION='"$(VERSION)"' $(WARNINGS) $(INCLUDES) -MMD -MP
BPF_CFLAGS  = -target bpf -O2 -g -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wno-missing-declarations \
	      -Iinclude -Ibpf -idirafter /usr/include/$(shell $(CC) -print-multiarch) -MMD -MP

SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# clang also reports a null pointer + 0, which gcc and the next C standard let be
FUZZ_CFLAGS := -O1 -g1 $(SANITIZERS) -fno-sanitize=pointer-overflow

OUT := $(if $(SHARED),build/mutants,$(if $(SAN),build/san,build))
ifdef SAN
OUR_CFLAGS += $(SANITIZERS)
LDFLAGS    += -fsanitize=address,undefined
endif
ifdef SHARED
override CFLAGS := -O2 -g -fPIC
endif

KERNEL_BPF_SRCS := bpf/sched.bpf.c bpf/syscall.bpf.c
BPF_SRCS  := $(filter-out bpf/follow.bpf.c bpf/sample.bpf.c $(KERNEL_BPF_SRCS),$(wildcard bpf/*.bpf.c))
LIB_SRCS  := $(wildcard $(addprefix userspace/,$(addsuffix /*.c,lib target capture sequence trace align)))
FUZZED_SRCS := $(filter userspace/lib/% userspace/target/% userspace/trace/% userspace/align/%,$(LIB_SRCS))
FUZZED_SRCS := $(filter-out userspace/lib/blocks.c userspace/target/cache_folder.c,$(FUZZED_SRCS)) \
	       $(filter userspace/sequence/%,$(LIB_SRCS)) $(patsubst %,userspace/capture/%.c,sink \
	       rawfile rawchunk replay blackbox_write blackbox_checkpoint blackbox_stacks \
	       blackbox_read) \
	       $(addprefix selftests/fuzz/,blocks.c make_trace.c patched.c)
FUZZED_PROGRAMS := $(foreach go,$(TARGET_GOS),$(go) $(go)-pie-stripped)
FUZZERS   := $(patsubst selftests/fuzz/%.c,%,$(wildcard selftests/fuzz/fuzz_*.c))
TOOL_SRCS := $(wildcard userspace/gotrace-bpf/*.c)
OFFLINE_SRCS := $(wildcard userspace/gotrace/*.c)
# They replace what the sanitizers replace, too: the allocator, sysconf()
PLAIN_UNIT := test_memory_limit test_no_memory test_no_memory_align
UNIT_SRCS := $(filter-out $(if $(SAN),$(PLAIN_UNIT:%=selftests/unit/%.c)),$(wildcard selftests/unit/test_*.c))
objects    = $(patsubst %.c,$(OUT)/obj/%.o,$(1))
SKELETON  := $(patsubst %,build/bpf/%.skel.h,gotrace alone follow sample kernel)

KSELFTESTS := $(filter-out test %.bpf,$(patsubst selftests/kmod/%.c,%,$(wildcard selftests/kmod/*.c)))
TARGETS   := $(patsubst selftests/targets/%/main.go,%,$(wildcard selftests/targets/*/main.go))
JUDGES    := $(patsubst selftests/reference/cmd/%/main.go,%,$(wildcard selftests/reference/cmd/*/main.go))
go_sources = $(shell find $(1) -name '*.go' -o -name 'go.*' -o -name '*.c' 2>/dev/null)
MAN_PAGES := $(wildcard userspace/man/*.[1-9])

export JUDGE_GO TARGET_GOS

Q   := $(if $(V),,@)
say  = $(if $(V),@:,@printf '  %-7s %s\n' $(1) $(2))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

all: build/gotrace-bpf build/gotrace ## build the recorder and the reader
lib: $(OUT)/libgotrace.a
bpf: $(SKELETON)
kselftests: $(KSELFTESTS:%=build/selftests/kmod/%)
unit: $(UNIT_SRCS:selftests/unit/%.c=$(OUT)/selftests/unit/%) $(OUT)/selftests/perfdata \
	$(if $(SAN),$(OUT)/replay/mutate,build/selftests/frames build/selftests/debugger \
	build/selftests/blackbox)
mutants-unit: $(UNIT_SRCS:selftests/unit/%.c=build/mutants/selftests/unit/%) build/mutants/cc
targets: $(foreach go,$(TARGET_GOS),$(TARGETS:%=build/targets/$(go)/%))
reference: $(JUDGES:%=build/reference/%)
fuzzers: $(FUZZERS:%=build/fuzz/%) build/fuzz/seeds-of-ours build/reference/corpus \
	$(FUZZED_PROGRAMS:%=build/fuzz/programs/%)

# C, and the unit tests

$(OUT)/obj/%.o: %.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(OUR_CFLAGS) $(CFLAGS) -c $< -o $@

# Names of the system calls that this machine's headers know, as elements of an array

build/made/trace/syscalls.h: Makefile
	$(call say,MAKE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)printf '\043include <asm/unistd_64.h>\n' | $(CC) -E -dM -x c - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/[\2] = "\1",/p' | sort -V >$@
	$(Q)grep -q '"futex"' $@

$(OUT)/obj/userspace/trace/kernel_names.o build/fuzz/obj/userspace/trace/kernel_names.o: \
	build/made/trace/syscalls.h

# The reader is optimized across files, since each event passes through five of them; objects hold
# plain code as well, for all else that is linked with them.
# Tests are linked from that: the linker's plugin would optimize each of them, for 1 s of CPU time.
LTO ?= $(if $(SAN)$(SHARED),,-flto=auto -ffat-lto-objects)
NO_LTO := -fno-lto
$(call objects,$(filter userspace/lib/% userspace/trace/%,$(LIB_SRCS)) $(OFFLINE_SRCS)): OUR_CFLAGS += $(LTO)

$(call objects,$(filter userspace/capture/% userspace/gotrace-bpf/%,$(LIB_SRCS) $(TOOL_SRCS))): | $(SKELETON)

$(OUT)/libgotrace.a: $(call objects,$(LIB_SRCS))
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(OUT)/gotrace-bpf: $(call objects,$(TOOL_SRCS)) $(OUT)/libgotrace.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LTO) $(LDFLAGS) $^ $(LIBS) -o $@

$(OUT)/gotrace: $(call objects,$(OFFLINE_SRCS)) $(OUT)/libgotrace.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LTO) $(LDFLAGS) $^ $(OFFLINE_LIBS) -o $@

$(OUT)/selftests/unit/%: $(OUT)/obj/selftests/unit/%.o $(if $(SHARED),$(OUT)/libplanted.so $(OUT)/libgotrace.so,$(OUT)/libgotrace.a)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ -lcmocka $(LIBS) -o $@

$(OUT)/selftests/unit/test_blackbox $(OUT)/selftests/unit/test_blackbox_sequence: $(OUT)/obj/selftests/blackbox/image.o

build/selftests/blackbox: $(addprefix build/obj/selftests/blackbox/,pack.o image.o) build/libgotrace.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ $(LIBS) -o $@

build/selftests/frames: build/obj/selftests/symbols/frames.o build/libgotrace.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ $(LIBS) -o $@

$(OUT)/selftests/perfdata: $(OUT)/obj/selftests/perfdata/events.o $(OUT)/libgotrace.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ $(OFFLINE_LIBS) -o $@

build/selftests/debugger: build/obj/selftests/company/debugger.o
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ -o $@

$(OUT)/replay/mutate: $(call objects,$(wildcard selftests/replay/*.c)) $(OUT)/libgotrace.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ $(LIBS) -o $@

# The library as `make mutants` wants it: libplanted.so, which is empty, comes before libgotrace.so and
# can have another version of any of its functions. build/mutants/cc compiles that.

ifdef SHARED
$(call objects,$(LIB_SRCS)): OUR_CFLAGS += -finstrument-functions
$(OUT)/selftests/unit/%: override LDFLAGS += -Wl,--no-as-needed,--enable-new-dtags,-rpath,$(CURDIR)/$(OUT)
endif

build/mutants/libgotrace.so: $(call objects,$(LIB_SRCS)) build/mutants/obj/selftests/mutants/reach.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libgotrace.so $^ $(LIBS) -o $@

build/mutants/libplanted.so:
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libplanted.so -o $@

hash := \#
build/mutants/cc: Makefile
	$(Q)mkdir -p $(@D)
	$(file >$@,$(hash)!/bin/sh)
	$(file >>$@,exec $(CCACHE) $(CC) $(OUR_CFLAGS) $(CFLAGS) -O1 -g0 "$$@")
	$(Q)chmod +x $@

# Tests of the kernel module, for a machine that has it: its virtual one, or `make -C selftests run_tests`

build/selftests/kmod/%: build/obj/selftests/kmod/%.o build/obj/selftests/kmod/test.o
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ -pthread $(KSELFTEST_LIBS) -o $@

build/selftests/kmod/kfuncs: KSELFTEST_LIBS := -lbpf -lelf -lz
build/obj/selftests/kmod/kfuncs.o: OUR_CFLAGS += -Ibuild/selftests/kmod
build/obj/selftests/kmod/kfuncs.o: | build/selftests/kmod/kfuncs.skel.h

build/selftests/kmod/kfuncs.bpf.o: selftests/kmod/kfuncs.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

build/selftests/kmod/kfuncs.skel.h: build/selftests/kmod/kfuncs.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name kfuncs_bpf >$@

# BPF: an object a source, one linked object, its skeleton

build/bpf/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

# Without the kernel module: see bpf/module.bpf.h
build/bpf/alone/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) -DWITHOUT_MODULE -c $< -o $@

build/bpf/alone.linked.o: $(BPF_SRCS:bpf/%.c=build/bpf/alone/%.o)
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

build/bpf/gotrace.bpf.o: $(BPF_SRCS:bpf/%.c=build/bpf/%.o)
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

build/bpf/gotrace.skel.h: build/bpf/gotrace.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name gotrace_bpf >$@

build/bpf/follow.skel.h: build/bpf/follow.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name follow_bpf >$@

build/bpf/sample.linked.o: $(patsubst %,build/bpf/alone/%.bpf.o,sample maps seen)
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

build/bpf/kernel.linked.o: $(KERNEL_BPF_SRCS:bpf/%.c=build/bpf/%.o) build/bpf/maps.bpf.o
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

build/bpf/%.skel.h: build/bpf/%.linked.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@

# The floor that `make bench` compares with

build/bench/empty.skel.h: selftests/bench/empty.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o build/bench/empty.bpf.o
	$(Q)$(BPFTOOL) gen skeleton build/bench/empty.bpf.o name empty_bpf >$@

build/bench/empty: selftests/bench/empty.c build/bench/empty.skel.h build/libgotrace.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(OUR_CFLAGS) -Ibuild/bench $(CFLAGS) $< build/libgotrace.a $(LIBS) -o $@

build/bench/untraced: selftests/bench/untraced.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OUR_CFLAGS) $(CFLAGS) $< -o $@

build/bench/merge: selftests/bench/merge.c build/libgotrace.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OUR_CFLAGS) $(CFLAGS) $< build/libgotrace.a $(LIBS) -o $@

# What reads foreign bytes once more, by clang, as libFuzzer and the sanitizers want it

build/fuzz/obj/%.o: %.c
	$(call say,FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(BPF_CLANG) $(OUR_CFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -c $< -o $@

build/fuzz/libgotrace.a: $(FUZZED_SRCS:%.c=build/fuzz/obj/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

build/fuzz/seeds-of-ours: $(addprefix build/obj/selftests/,fuzz/seeds.o fuzz/make_trace.o blackbox/image.o blackbox/seed.o) \
		build/libgotrace.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ $(OFFLINE_LIBS) -o $@

build/fuzz/fuzz_%: build/fuzz/obj/selftests/fuzz/fuzz_%.o build/fuzz/libgotrace.a
	$(call say,LINK,$@)
	$(Q)$(BPF_CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer $^ $(LIBS) -o $@

# Go: the targets with each Go, the judges with theirs. GOTOOLCHAIN makes whichever go is on PATH
# fetch and run exactly that one. 1.19 cannot build when it stands in the module cache that it uses.

go_of    = $(if $(filter go1.19%,$(1)),GOMODCACHE=$(CURDIR)/build/go1.19 \
	   $$(GOTOOLCHAIN=$(1) $(GO) env GOROOT)/bin/go,GOTOOLCHAIN=$(1) $(GO))
go_build = cd $(1) && CGO_ENABLED=$(if $(filter %/cgo,$@),1,0) $(call go_of,$(2)) build -buildvcs=false -o $(CURDIR)/$@ $(3)

define target_rule
build/targets/$(1)/%: $(call go_sources,selftests/targets)
	$$(call say,GO,$$@)
	$$(Q)$$(call go_build,selftests/targets,$(1),./$$*)
endef
$(foreach go,$(TARGET_GOS),$(eval $(call target_rule,$(go))))

# What the fuzz targets change: with DWARF that is not packed, and of the kind that has the least.
define fuzzed_rule
build/fuzz/programs/$(1): $(call go_sources,selftests/targets)
	$$(call say,GO,$$@)
	$$(Q)$$(call go_build,selftests/targets,$(1),-ldflags=-compressdwarf=false ./tiny)
build/fuzz/programs/$(1)-pie-stripped: $(call go_sources,selftests/targets)
	$$(call say,GO,$$@)
	$$(Q)$$(call go_build,selftests/targets,$(1),-buildmode=pie "-ldflags=-s -w" ./tiny)
endef
$(foreach go,$(TARGET_GOS),$(eval $(call fuzzed_rule,$(go))))

build/reference/%: $(call go_sources,selftests/reference)
	$(call say,GO,$@)
	$(Q)$(call go_build,selftests/reference,$(JUDGE_GO),./cmd/$*)

# What a person calls

build = $(MAKE) --no-print-directory -j$(shell nproc)

deps: ## install what is missing (Debian 12 or newer)
	@selftests/deps.sh

demo: deps ## record a real Go server of ours for 3 seconds, and show what came out
	@+$(build) all reference build/targets/$(JUDGE_GO)/server
	@selftests/demo.sh

check check-long: ## every test; the many-times-repeated ones
	@+selftests/run $@

check-kunit: ## the kernel module's KUnit suites, in user-mode Linux
	@selftests/kunit

check-vm: ## the tests in virtual machines, with Debian's 6.12 and 6.1 kernels (PARTS="...")
	@selftests/deps.sh
	@+$(build) all kselftests reference $(foreach go,$(TARGET_GOS),$(TARGETS:%=build/targets/$(go)/%))
	@selftests/vm/run $(PARTS)

bench: ## what tracing costs the traced program, and what reading costs
	@selftests/deps.sh bpftrace time
	@+$(build) all build/bench/empty build/bench/merge build/bench/untraced \
		build/targets/$(JUDGE_GO)/pingpong reference
	@selftests/bench/run
	@selftests/bench/reader

fidelity: ## our traces against the programs' own, each Go release, servers of others too (FIDELITY_GOS=...)
	@selftests/deps.sh
	@+$(build) all reference
	@selftests/fidelity

mutants: ## small mistakes planted in the code: which do the unit tests miss? (MUTANTS=200 SEED=1)
	@selftests/mutants/run -n $(or $(MUTANTS),200) -s $(or $(SEED),1)

fuzz: ## libFuzzer on everything that reads foreign bytes, each for FUZZ_TIME seconds
	@selftests/deps.sh libclang-rt-19-dev
	@+$(build) fuzzers
	@selftests/fuzz/run all $(FUZZ_TIME)

# Built in a copy, since kbuild writes beside the sources; one for each kernel, so that none is built twice.
KDIR ?= /lib/modules/$(shell uname -r)/build
KMOD_RELEASE = $(shell sed -n 's/.* UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
KMOD_OUT = build/kmod/$(KMOD_RELEASE)
# A key to sign modules with is where the kernel was built, if anywhere.
KMOD_MAKE = $(MAKE) -C $(KDIR) M=$(CURDIR)/$(KMOD_OUT) CONFIG_GOTRACE=m \
	    $(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)

kmod: ## the optional kernel module, for the kernel that runs or the one of KDIR=...
	@test -n "$(KMOD_RELEASE)" || { echo "make kmod: $(KDIR) has no headers of a kernel; install" \
		"linux-headers-$$(uname -r), or give another KDIR" >&2; exit 1; }
	$(Q)mkdir -p $(KMOD_OUT)/kmod && cp -a --update Kbuild include $(KMOD_OUT) && \
		cp -a --update kmod/Kbuild kmod/*.[ch] $(KMOD_OUT)/kmod
	$(Q)$(KMOD_MAKE) modules
	$(Q)cp $(KMOD_OUT)/kmod/gotrace.ko kmod/gotrace.ko

kmod_install: kmod ## install it; then: modprobe gotrace
	$(Q)$(KMOD_MAKE) INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates modules_install
	$(Q)PATH="$$PATH:/usr/sbin:/sbin" depmod $(if $(DESTDIR),-b $(DESTDIR)) $(KMOD_RELEASE)

format-check: ## clang-format over every C file
	@find bpf include kmod userspace selftests -name '*.[ch]' 2>/dev/null | \
		xargs -r clang-format-19 --dry-run --Werror

offsets: build/reference/offsets ## make userspace/target/offsets_table.c from real Go toolchains
	$(Q)mkdir -p build/tmp
	$(Q)selftests/offsets/extract --table >build/tmp/offsets_table.c
	$(Q)mv build/tmp/offsets_table.c userspace/target/offsets_table.c

man: $(MAN_PAGES) ## check that the manual pages render without a warning
	@for page in $^; do \
		warnings=$$(man --warnings -l -Tutf8 $$page 2>&1 >/dev/null); \
		test -z "$$warnings" || { echo "$$page: $$warnings" >&2; exit 1; }; done

install: all
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin build/gotrace-bpf build/gotrace
	@for page in $(MAN_PAGES); do \
		install -v -D -m 644 $$page \
			$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; done

clean:
	rm -rf build kmod/gotrace.ko

help: ## this list
	@sed -n 's/^\([a-z][a-z -]*\):.*## \(.*\)/  \1 - \2/p' Makefile

.PHONY: all lib bpf unit kselftests targets reference fuzzers deps demo check check-long check-kunit check-vm bench \
	fidelity mutants mutants-unit fuzz kmod kmod_install format-check offsets man install clean help
-include $(shell find build -name '*.d' 2>/dev/null)
