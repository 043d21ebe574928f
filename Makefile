# SPDX-License-Identifier: GPL-2.0
#
# The one makefile of gotrace-bpf and gotrace: `make help` lists its targets and variables. Every
# product lands in build/. `make demo` and `make check` need nothing but git, make and the package
# registries: they install what is missing first, as `make deps` does.
#
#   build/libgotrace.a   the folders of LIB_DIRS in userspace/: everything but the commands
#   build/gotrace-bpf    userspace/gotrace-bpf, linked with it
#   build/gotrace        the folders of OFFLINE_DIRS in userspace/, linked with it
#   build/bpf/           bpf/*.bpf.c linked into one object, and its skeleton gotrace.skel.h; the one
#                        of --follow, which lives longer, that of --cpu-profile and that of
#                        kernel events are separate objects
#   build/targets/GO/    the Go programs that the tests trace, built with each Go of TARGET_GOS
#   build/lib/           DuckDB's library, for gotrace sql: selftests/deps-engine.sh
#   build/fuzz/          the library built for libFuzzer, selftests/fuzz linked with it, corpora
#   build/reference/     the Go programs that verify the output, built with ORACLE_GO
#   build/kmod/KERNEL/   kmod/gotrace.ko and its build files
#   build/san/           the library and the unit tests, with ASan and UBSan (SAN=1), and
#                        replay/mutate, which tests the sequencer against losses
#   build/mutants/       the library as libgotrace.so, plain and instrumented, and the unit tests linked
#                        with it (SHARED=1), for `make mutants`

VERSION    := $(shell sed -n 's/^.define GOTRACE_VERSION "\(.*\)"/\1/p' include/gotrace/version.h)
ORACLE_GO   := go1.26.8
TARGET_GOS := go1.26.8 go1.21.13 go1.24.9
PREFIX     ?= /usr/local
FUZZ_TIME  ?= 60
MUTANTS    ?= 200
SEED       ?= 1
FRESH      ?=
FIDELITY_GOS ?= $(shell . selftests/releases.lib.sh && last_gos_since 21)
# For `make lint`, in addition to those of `make deps`
LINT_PACKAGES := clang-format-19 shellcheck mandoc man-db

CC        ?= cc
# Caches objects by content, if `make check` has installed it: a fresh clone then builds in a moment.
CCACHE    ?= $(shell command -v ccache)
BPF_CLANG ?= clang-19
BPFTOOL   ?= $(shell PATH="$$PATH:/usr/sbin" command -v bpftool || echo bpftool)
GO        ?= go
# The architecture of the recorder and of the programs it traces, as bpf/ and *_ARCH.c name it; of the
# machine as long as there is no compiler
ARCH      ?= $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null || uname -m)))))
ARCHS     := $(patsubst userspace/target/arch/arch_%.c,%,$(wildcard userspace/target/arch/arch_*.c))
ifeq (,$(filter $(ARCH),$(ARCHS)))
$(error unsupported architecture $(ARCH): must be one of $(ARCHS); docs/adding.md describes how to add one)
endif
ARCH_LIBS_x86 := -lZydis
UNISTD_x86    := asm/unistd_64.h
LIBS      := -lbpf -ldw -lelf $(ARCH_LIBS_$(ARCH)) -lcap -lz -lzstd -ltraceevent -lm \
	     -Wl,--as-needed -lmicrohttpd -lgnutls -lseccomp -Wl,--no-as-needed
OFFLINE_LIBS := -lz -lzstd -ltraceevent -lm -Wl,--as-needed -lmicrohttpd -lgnutls -Wl,--no-as-needed

WARNINGS := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter \
	    -Wno-missing-field-initializers -Werror=implicit-function-declaration \
	    -Werror=incompatible-pointer-types -Werror=int-conversion -Werror=return-type
CFLAGS   ?= -O2 -g
INCLUDES := -Iinclude -Iuserspace -Ibuild/bpf -Ibuild/made
# Both programs are built with these flags; check/hardening.sh reads from them that each had its effect.
HARDENING_x86        := -fcf-protection
HARDENING_arm64      := -mbranch-protection=standard
HARDENING            := -fPIE -fstack-protector-strong -fstack-clash-protection $(HARDENING_$(ARCH))
FORTIFY              := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
LINK_HARDENING_x86   := -Wl,-z,ibt -Wl,-z,shstk
LINK_HARDENING_arm64 := -Wl,-z,force-bti
LINK_HARDENING       := -pie -Wl,-z,relro -Wl,-z,now $(LINK_HARDENING_$(ARCH))
# without optimization glibc has no such checks, and the sanitizers have better ones
NO_FORTIFY = $(SAN)$(filter -O0,$(CFLAGS))$(findstring _FORTIFY_SOURCE,$(CFLAGS))
OUR_CFLAGS := -std=gnu11 -ffile-prefix-map=$(CURDIR)=. -D_GNU_SOURCE $(WARNINGS) $(INCLUDES) -MMD -MP \
	      $(HARDENING) $(if $(NO_FORTIFY),,$(FORTIFY))
# Dependency files become complete at once: another make may read them at any time.
NEW_DEPS    = -MF $(basename $@).d.new
deps_done   = $(Q)mv -f $(basename $@).d.new $(basename $@).d
BPF_CFLAGS  = -target bpf -O2 -g -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wno-missing-declarations \
	      -Iinclude -Ibpf -idirafter /usr/include/$(shell $(CC) -print-multiarch) -MMD -MP

SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# clang also reports a null pointer + 0, which gcc and the next C standard allow
FUZZ_CFLAGS := -O1 -g1 -Wno-gnu-variable-sized-type-not-at-end $(SANITIZERS) -fno-sanitize=pointer-overflow -DBLOCK_SIZE=0 \
	       -DCOUNT_PARSER_STEPS

OUT := $(if $(SHARED),build/mutants,$(if $(SAN),build/san,build))
ifdef SAN
# Without -O2 the checks are all the same, and more of them fail where the code is wrong; the compiler needs
# half of the time. Reports only need the lines.
override CFLAGS := -O1 -g1
OUR_CFLAGS += $(SANITIZERS)
LDFLAGS    += -fsanitize=address,undefined
endif
ifdef SHARED
override CFLAGS := -O2 -fPIC
endif

KERNEL_BPF_SRCS := bpf/syscall.bpf.c bpf/sched.bpf.c bpf/socket.bpf.c
BPF_SRCS  := $(filter-out bpf/fate.bpf.c bpf/follow.bpf.c bpf/hits.bpf.c bpf/pid_ns.bpf.c bpf/sample.bpf.c $(KERNEL_BPF_SRCS),$(wildcard bpf/*.bpf.c))
# In the order of their dependencies: a folder includes headers of those before it only
# (selftests/check/layers.sh).
LIB_DIRS  := lib $(addprefix target/,arch elf symbols infer layout probe process modules) format pack text v1 \
	     writer flight reader rewrite analysis heap metrics diff profile print export report sql align names sequence \
	     rawfile inline trigger budget service ship capture blackbox selection
FORMAT_DIRS := lib format pack text v1 writer reader rewrite analysis heap metrics diff profile print export
in_dirs    = $(addprefix userspace/,$(addsuffix /%,$(1)))
LIB_SRCS  := $(filter-out $(patsubst %,\%_%.c,$(filter-out $(ARCH),$(ARCHS))),$(wildcard $(LIB_DIRS:%=userspace/%/*.c)))
FUZZED_SRCS := $(filter $(call in_dirs,$(FORMAT_DIRS) flight target align names sequence rawfile trigger service inline),$(LIB_SRCS))
FUZZED_SRCS := $(filter-out userspace/lib/arena.c userspace/target/process/cache_folder.c,$(FUZZED_SRCS)) \
	       $(addprefix userspace/ship/,answer.c credentials.c journal.c place.c) \
	       userspace/capture/labels.c userspace/capture/sink.c userspace/capture/served.c $(patsubst %,userspace/blackbox/blackbox_%.c,write checkpoint \
	       stacks read) \
	       $(addprefix selftests/fuzz/,arena.c make_trace.c patched.c steps.c)
FUZZED_PROGRAMS := $(foreach go,$(TARGET_GOS),$(go) $(go)-pie-stripped)
FUZZERS   := $(patsubst selftests/fuzz/%.c,%,$(wildcard selftests/fuzz/fuzz_*.c))
TOOL_SRCS := $(wildcard userspace/gotrace-bpf/*.c)
OFFLINE_DIRS := gotrace gotrace/archive gotrace/views gotrace/top gotrace/fleet
OFFLINE_SRCS := $(wildcard $(OFFLINE_DIRS:%=userspace/%/*.c))
# These replace functions that the sanitizers also replace: the allocator, sysconf()
PLAIN_UNIT := lib/test_memory_limit test_no_memory align/test_no_memory_align
UNIT_TESTS := $(patsubst selftests/unit/%.c,%,$(wildcard selftests/unit/test_*.c \
	      $(LIB_DIRS:%=selftests/unit/%/test_*.c)))
ifdef SAN
UNIT_TESTS := $(filter-out $(PLAIN_UNIT),$(UNIT_TESTS))
endif
objects    = $(patsubst %.c,$(OUT)/obj/%.o,$(1))
SKELETON  := $(patsubst %,build/bpf/%.skel.h,gotrace alone fate follow hits sample kernel pid_ns)

KSELFTESTS := $(filter-out test %.bpf,$(patsubst selftests/kmod/%.c,%,$(wildcard selftests/kmod/*.c)))
TARGETS   := $(patsubst selftests/targets/%/main.go,%,$(wildcard selftests/targets/*/main.go))
ORACLES    := $(patsubst selftests/reference/cmd/%/main.go,%,$(wildcard selftests/reference/cmd/*/main.go))
go_sources = $(shell find $(1) -name '*.go' -o -name 'go.*' -o -name '*.c' 2>/dev/null)
MAN_PAGES := $(patsubst userspace/%,build/%,$(wildcard userspace/man/*.[1-9]))

export ORACLE_GO TARGET_GOS

Q   := $(if $(V),,@)
say  = $(if $(V),@:,@printf '  %-7s %s\n' $(1) $(2))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

all: build/gotrace-bpf build/gotrace ## build the recorder and the reader
lib: $(OUT)/libgotrace.a ## build only the library
bpf: $(SKELETON) ## build the BPF objects and their skeletons
kselftests: $(KSELFTESTS:%=build/selftests/kmod/%) ## build the tests of the kernel module
unit: $(UNIT_TESTS:%=$(OUT)/selftests/unit/%) $(OUT)/selftests/perfdata $(OUT)/selftests/metrics \
	$(if $(SAN),$(OUT)/replay/mutate,build/selftests/frames build/selftests/debugger build/selftests/inline \
	build/selftests/blackbox build/selftests/front) ## build the unit tests; unit/NAME builds one, SAN=1 those with ASan and UBSan
mutants-unit: $(UNIT_TESTS:%=build/mutants/selftests/unit/%) build/mutants/cc $(addprefix build/mutants/,libplanted.so \
	libgotrace.so instrumented/libgotrace.so) ## build the unit tests for mutants; requires SHARED=1
targets: $(foreach go,$(TARGET_GOS),$(TARGETS:%=build/targets/$(go)/%)) ## build the Go programs to trace
reference: $(ORACLES:%=build/reference/%) ## build the Go programs that verify the output
fuzzers: $(FUZZERS:%=build/fuzz/%) build/fuzz/seeds-of-ours build/reference/corpus \
	$(FUZZED_PROGRAMS:%=build/fuzz/programs/%) ## build the fuzz targets and their seeds

# C, and the unit tests

$(OUT)/obj/%.o: %.c $(OUT)/obj/flags
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(OUR_CFLAGS) $(CFLAGS) $(NEW_DEPS) -c $< -o $@
	$(deps_done)

# Names of the system calls that this machine's headers know, as elements of an array

build/made/format/syscalls.h: Makefile
	$(call say,MAKE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)printf '\043include <$(UNISTD_$(ARCH))>\n' | $(CC) -E -dM -x c - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/[\2] = "\1",/p' | sort -V >$@
	$(Q)grep -q '"futex"' $@

$(OUT)/obj/userspace/format/kernel_names.o build/fuzz/obj/userspace/format/kernel_names.o: \
	build/made/format/syscalls.h

# The page of a report: its style sheet and scripts become part of the HTML, in place of the lines
# "@report.css@" and "@scripts@"

REPORT_PAGE := userspace/report/page
build/made/report/page.html: $(wildcard $(REPORT_PAGE)/*) Makefile
	$(call say,MAKE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)cat $(sort $(wildcard $(REPORT_PAGE)/*.js)) >$@.js
	$(Q)sed -e '1s/$$/<!-- written by gotrace report -->/' -e '/^@report.css@$$/{r $(REPORT_PAGE)/report.css' -e 'd}' \
		-e '/^@scripts@$$/{r $@.js' -e 'd}' $(REPORT_PAGE)/report.html >$@
	$(Q)test "$$(grep -c '<script type="application/json" id="gotrace-data"></script>' $@)" = 1

$(OUT)/obj/userspace/report/page.o: build/made/report/page.html

# The named queries of `gotrace sql`, as elements of an array

SQL_QUERIES := $(sort $(wildcard userspace/sql/queries/*.sql))
build/made/sql/named_queries.h: $(SQL_QUERIES) Makefile
	$(call say,MAKE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)for query in $(SQL_QUERIES:userspace/sql/queries/%.sql=%); do \
		printf '{ "%s",\n' $$query; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' userspace/sql/queries/$$query.sql; \
		echo '},'; done >$@

$(OUT)/obj/userspace/sql/queries.o: build/made/sql/named_queries.h

# Both programs are optimized across files, since each event of the reader passes through five of
# them, and each record of the recorder through ten. Objects also contain plain code, with which
# everything else is linked. Tests use that: link-time optimization would take 1 s of CPU time for
# each.
LTO ?= $(if $(SAN)$(SHARED),,-flto=auto -ffat-lto-objects)
NO_LTO := -fno-lto

# Objects are built again when the flags change, whose file the end of this file writes then.
FLAGS := $(CC) $(OUR_CFLAGS) $(CFLAGS) $(LTO)
write_flags = mkdir -p $(OUT)/obj && echo '$(FLAGS)' >$(OUT)/obj/flags

$(OUT)/obj/flags:
	$(Q)$(write_flags)

LTO_DIRS := $(FORMAT_DIRS) sequence rawfile inline capture
$(call objects,$(filter $(call in_dirs,$(LTO_DIRS)),$(LIB_SRCS)) $(OFFLINE_SRCS)): OUR_CFLAGS += $(LTO)

$(call objects,$(filter $(call in_dirs,capture blackbox gotrace-bpf),$(LIB_SRCS) $(TOOL_SRCS))): | $(SKELETON)

# Code that is copied into the traced program: it may use nothing outside of its own section.
TRAMPOLINE_CFLAGS := -std=gnu11 $(WARNINGS) $(INCLUDES) -MMD -MP -O2 -g -fPIC -ffreestanding \
	-mgeneral-regs-only -mno-red-zone -fno-stack-protector -fcf-protection=none \
	-fno-jump-tables -fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns
$(call objects,userspace/inline/trampoline_x86.c): OUR_CFLAGS := $(TRAMPOLINE_CFLAGS)
$(call objects,userspace/inline/trampoline_x86.c): override CFLAGS :=

# A program takes only the objects that it needs from an archive. So all of them are also linked with each
# other, which fails if two define the same name. It takes 0.2 s of CPU time.
$(OUT)/libgotrace.a: $(call objects,$(LIB_SRCS))
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^
	$(Q)$(CC) $(NO_LTO) -r -nostdlib -Wl,--strip-debug $^ -o $@.o && rm $@.o

$(OUT)/gotrace-bpf: $(call objects,$(TOOL_SRCS)) $(OUT)/libgotrace.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(HARDENING) $(LTO) $(LINK_HARDENING) $(LDFLAGS) $^ $(LIBS) -o $@

$(OUT)/gotrace: $(call objects,$(OFFLINE_SRCS)) $(OUT)/libgotrace.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(HARDENING) $(LTO) $(LINK_HARDENING) $(LDFLAGS) $^ $(OFFLINE_LIBS) -o $@

$(call objects,$(UNIT_TESTS:%=selftests/unit/%.c)): OUR_CFLAGS += -Iselftests

$(OUT)/selftests/unit/%: $(OUT)/obj/selftests/unit/%.o $(if $(SHARED),| $(OUT)/libplanted.so $(OUT)/libgotrace.so,$(OUT)/libgotrace.a)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $(filter %.o,$^) $(filter-out %.o,$^) $| -lcmocka $(LIBS) -o $@

# make unit/sequence/test_merge: builds one, and does not run it
unit/%: $(OUT)/selftests/unit/% ;

$(addprefix $(OUT)/selftests/unit/blackbox/,test_blackbox test_blackbox_copy test_blackbox_sequence): $(OUT)/obj/selftests/blackbox/image.o

build/selftests/blackbox: $(addprefix build/obj/selftests/blackbox/,pack.o image.o) build/libgotrace.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ $(LIBS) -o $@

$(OUT)/selftests/inline: $(call objects,selftests/inline/soak.c userspace/gotrace-bpf/analysis.c) $(OUT)/libgotrace.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ $(LIBS) -o $@

build/selftests/front: build/obj/selftests/service/front.o build/libgotrace.a
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

$(OUT)/selftests/metrics: $(OUT)/obj/selftests/metrics/stream.o $(OUT)/libgotrace.a
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

# The library for `make mutants`: libplanted.so, which is empty, precedes libgotrace.so and can replace
# any of its functions. build/mutants/cc compiles the replacement. Another libgotrace.so records the
# functions that a test calls, which doubles the time of the test.

ifdef SHARED
$(OUT)/selftests/unit/%: override LDFLAGS += -Wl,--no-as-needed,--enable-new-dtags,-rpath,$(CURDIR)/$(OUT)
endif

build/mutants/libgotrace.so: $(call objects,$(LIB_SRCS))
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libgotrace.so $^ $(LIBS) -o $@

build/mutants/libplanted.so:
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libplanted.so -o $@

# After the plain object, whose rule makes the generated headers
build/mutants/instrumented/obj/%.o: %.c build/mutants/obj/%.o
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(OUR_CFLAGS) -O1 -g0 -fPIC -finstrument-functions $(NEW_DEPS) -c $< -o $@
	$(deps_done)

# Code that is copied calls no function of the library: see trampoline_x86.c.
build/mutants/instrumented/libgotrace.so: $(call objects,selftests/mutants/reach.c userspace/inline/trampoline_x86.c) \
		$(patsubst %.c,build/mutants/instrumented/obj/%.o,$(filter-out %/trampoline_x86.c,$(LIB_SRCS)))
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libgotrace.so $^ $(LIBS) -o $@

hash := \#
build/mutants/cc: Makefile
	$(Q)mkdir -p $(@D)
	$(file >$@,$(hash)!/bin/sh)
	$(file >>$@,flags="$(OUR_CFLAGS) $(CFLAGS) -O1 -g0")
	$(file >>$@,case "$$*" in (*trampoline_x86.c*) flags="$(TRAMPOLINE_CFLAGS) -g0" ;; esac)
	$(file >>$@,exec $(CCACHE) $(CC) $$flags "$$@")
	$(Q)chmod +x $@

# Tests of the kernel module, for a machine with the module: a virtual one, or `make -C selftests run_tests`

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
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) $(NEW_DEPS) -c $< -o $@
	$(deps_done)

build/selftests/kmod/kfuncs.skel.h: build/selftests/kmod/kfuncs.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name kfuncs_bpf >$@

# BPF: an object a source, one linked object, its skeleton

build/bpf/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) $(NEW_DEPS) -c $< -o $@
	$(deps_done)

# Without the kernel module: see bpf/module.bpf.h
build/bpf/alone/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) -DWITHOUT_MODULE $(NEW_DEPS) -c $< -o $@
	$(deps_done)

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

build/bpf/fate.linked.o build/bpf/hits.linked.o build/bpf/pid_ns.linked.o: build/bpf/%.linked.o: build/bpf/%.bpf.o
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

build/bpf/sample.linked.o: $(patsubst %,build/bpf/alone/%.bpf.o,sample maps seen)
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

build/bpf/kernel.linked.o: $(KERNEL_BPF_SRCS:bpf/%.c=build/bpf/%.o) build/bpf/maps.bpf.o build/bpf/seen.bpf.o
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

build/bpf/%.skel.h: build/bpf/%.linked.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@

# The baseline of `make bench`

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

# Code that reads untrusted bytes, built by clang for libFuzzer and the sanitizers

build/fuzz/obj/%.o: %.c
	$(call say,FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(BPF_CLANG) $(OUR_CFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link $(NEW_DEPS) -c $< -o $@
	$(deps_done)

build/fuzz/libgotrace.a: $(FUZZED_SRCS:%.c=build/fuzz/obj/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

build/fuzz/seeds-of-ours: $(addprefix build/obj/selftests/,fuzz/seeds.o fuzz/seeds_memory.o fuzz/make_trace.o blackbox/image.o blackbox/seed.o) \
		build/libgotrace.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(NO_LTO) $(LDFLAGS) $^ $(OFFLINE_LIBS) -o $@

build/fuzz/fuzz_%: build/fuzz/obj/selftests/fuzz/fuzz_%.o build/fuzz/libgotrace.a
	$(call say,LINK,$@)
	$(Q)$(BPF_CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer $^ $(LIBS) -o $@

# Go: the targets are built with each Go, the reference programs with ORACLE_GO. With GOTOOLCHAIN, any
# go on PATH downloads and runs exactly that one. 1.19 cannot build when it is located in the module
# cache that it uses.

go_of    = $(if $(filter go1.19%,$(1)),GOMODCACHE=$(CURDIR)/build/go1.19 \
	   $$(GOTOOLCHAIN=$(1) $(GO) env GOROOT)/bin/go,GOTOOLCHAIN=$(1) $(GO))
go_build = cd $(1) && CGO_ENABLED=$(if $(filter %/cgo,$@),1,0) $(call go_of,$(2)) build -buildvcs=false -o $(CURDIR)/$@ $(3)

define target_rule
build/targets/$(1)/%: $(call go_sources,selftests/targets)
	$$(call say,GO,$$@)
	$$(Q)$$(call go_build,selftests/targets,$(1),./$$*)
endef
$(foreach go,$(TARGET_GOS),$(eval $(call target_rule,$(go))))

# Programs that the fuzz targets mutate: one with uncompressed DWARF, one stripped (PIE).
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
	$(Q)$(call go_build,selftests/reference,$(ORACLE_GO),./cmd/$*)

# User-visible targets

build = $(MAKE) --no-print-directory -j$(shell nproc)

deps: ## install missing packages with apt (Debian 12 or newer), and the SQL engine with npm; demo, check and other targets for tests run this first
	@selftests/deps.sh $(PACKAGES)
	@selftests/deps-engine.sh || echo "deps: continuing without the SQL engine" >&2

demo: deps ## record a Go server of this project for 3 seconds, and show the results
	@+$(build) all reference build/targets/$(ORACLE_GO)/server
	@selftests/demo.sh

test: ## run the unit tests, plain and sanitized; requires no root and installs nothing
	@+selftests/run $@ $(PARTS)

check: ## run the unit tests and an end-to-end test of each capability; requires root
	@+selftests/run $@ $(PARTS)

check-all: ## run all tests that a release must pass; requires root
	@+selftests/run $@ $(PARTS)

check-long: ## run repetitions: many Go releases, many random inputs, hours of load
	@+selftests/run $@ $(PARTS)

soak: ## attach inline probes 20,000 times; then kill the recorder, its guardian or both 2,000 times
	@+selftests/run check-long soak

check-kunit: ## run the KUnit suites of the kernel module in user-mode Linux
	@selftests/kunit

check-vm: ## run the tests in virtual machines, with Debian's 6.12 and 6.1 kernels
	@selftests/deps.sh
	@+$(build) all kselftests reference $(foreach go,$(TARGET_GOS),$(TARGETS:%=build/targets/$(go)/%))
	@selftests/vm/run $(PARTS)

lint: ## check the sources with clang-format, shellcheck, gofmt, go vet and mandoc
	@selftests/deps.sh $(LINT_PACKAGES)
	@selftests/lint

format-check: ## check the format of all C files with clang-format
	@selftests/lint format

man: ## check that the manual pages render without a warning
	@selftests/lint manuals

bench: ## measure the overhead for the traced program and the speed of reading traces
	@selftests/deps.sh bpftrace time
	@+$(build) all build/bench/empty build/bench/merge build/bench/untraced \
		build/targets/$(ORACLE_GO)/pingpong build/targets/$(ORACLE_GO)/pair build/targets/$(ORACLE_GO)/exits reference
	@selftests/bench/run
	@selftests/bench/calls
	@selftests/bench/servers
	@selftests/bench/reader

fidelity: ## compare traces with those of runtime/trace, per Go release
	@selftests/deps.sh
	@+$(build) all reference
	@selftests/fidelity

faults: ## provoke faults of recorders, recorded programs and the machine; print what was seen of each
	@selftests/deps.sh
	@+$(build) all unit reference $(foreach go,$(TARGET_GOS),$(TARGETS:%=build/targets/$(go)/%))
	@selftests/faults $(PARTS)

mutants: ## mutation testing: make small mistakes in the code, and list those that no unit test detects
	@selftests/mutants/run -n $(MUTANTS) -s $(SEED)

fuzz: ## run libFuzzer on all code that reads untrusted bytes
	@selftests/deps.sh libclang-rt-19-dev
	@+$(build) fuzzers
	@selftests/fuzz/run all $(FUZZ_TIME)

# Built in a copy, since kbuild writes next to the sources; one per kernel, so that none is built twice.
KDIR ?= /lib/modules/$(shell uname -r)/build
KMOD_RELEASE = $(shell sed -n 's/.* UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
KMOD_OUT = build/kmod/$(KMOD_RELEASE)
# A module signing key exists only where the kernel was built.
KMOD_MAKE = $(MAKE) -C $(KDIR) M=$(CURDIR)/$(KMOD_OUT) CONFIG_GOTRACE=m \
	    $(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)

kmod: ## build the optional kernel module
	@test -n "$(KMOD_RELEASE)" || { echo "make kmod: $(KDIR): kernel headers are missing; install" \
		"linux-headers-$$(uname -r), or set KDIR" >&2; exit 1; }
	$(Q)mkdir -p $(KMOD_OUT)/kmod && cp -a --update Kbuild include $(KMOD_OUT) && \
		cp -a --update kmod/Kbuild kmod/*.[ch] $(KMOD_OUT)/kmod
	$(Q)$(KMOD_MAKE) modules
	$(Q)cp $(KMOD_OUT)/kmod/gotrace.ko kmod/gotrace.ko

kmod_install: kmod ## install the kernel module; load it with: modprobe gotrace
	$(Q)$(KMOD_MAKE) INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates modules_install
	$(Q)PATH="$$PATH:/usr/sbin:/sbin" depmod $(if $(DESTDIR),-b $(DESTDIR)) $(KMOD_RELEASE)

offsets: build/reference/offsets ## regenerate userspace/target/layout/offsets_table.c from Go toolchains
	$(Q)mkdir -p build/tmp
	$(Q)selftests/offsets/extract --table >build/tmp/offsets_table.c
	$(Q)mv build/tmp/offsets_table.c userspace/target/layout/offsets_table.c

# One entry per compiled C file, with the command that make would run
compile_commands.json: ## write a compilation database, for clangd and other tools
	@$(MAKE) --no-print-directory -nB V= CCACHE= all unit kselftests | \
	sed -n 's/[\\"]/\\&/g; s,.* -c \([^ ]*\.c\) -o .*,{"directory": "$(CURDIR)"\, "file": "\1"\, "command": "&"},p' | \
	sed '1s/^/[/; $$!s/$$/,/; $$s/$$/]/' >$@

# What the pages take from the code, in place of @NAME@
MAN_FACTS := include/gotrace/version.h include/gotrace/kinds.h userspace/format/spec.h \
	     userspace/target/layout/layout_tables.c userspace/target/layout/offsets_table.c

build/man/%: userspace/man/% userspace/man/fill $(MAN_FACTS)
	$(Q)mkdir -p $(@D) && userspace/man/fill $< >$@

install: all $(MAN_PAGES) ## install the programs and the manual pages
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin build/gotrace-bpf build/gotrace
	@test ! -e build/lib/libduckdb.so || \
		install -v -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/gotrace build/lib/libduckdb.so build/lib/LICENSE.duckdb
	@for page in $(MAN_PAGES); do \
		install -v -D -m 644 $$page \
			$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; done

# systemd reads units of locally installed programs from /usr/local/lib, too.
build/systemd/gotrace-bpf.service: debian/gotrace-bpf.service.in Makefile
	$(Q)mkdir -p $(@D) && sed 's,@BINDIR@,$(PREFIX)/bin,' $< >$@

install_service: build/systemd/gotrace-bpf.service ## install the systemd unit of gotrace-bpf serve, its user, and an example of its configuration
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/systemd/system $<
	install -D -m 644 -t $(DESTDIR)/etc debian/gotrace-bpf.conf.example
	install -D -m 644 debian/gotrace-bpf.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/gotrace-bpf.conf

# The value of a variable, for the test runner
print-%:
	@echo $($*)

clean: ## remove everything that was built
	rm -rf build kmod/gotrace.ko compile_commands.json

help_ARCH         := architecture to build for
help_BPF_CLANG    := clang, for the BPF programs and the fuzzers
help_BPFTOOL      := bpftool
help_CC           := C compiler
help_CCACHE       := ccache command; empty: compile without it
help_CFLAGS       := flags for CC
help_DESTDIR      := root directory for install, install_service and kmod_install
help_FIDELITY_GOS := Go releases for fidelity
help_FRESH        := 1 runs every test, also those that passed with the same inputs (check, check-all, check-long)
help_FUZZ_TIME    := seconds per fuzz target
help_GO           := go command; it downloads other Go releases
help_ORACLE_GO    := Go release that verifies the output
help_KDIR         := build directory of the kernel for kmod
help_LTO          := flags for link-time optimization of both programs
help_MUTANTS      := number of mistakes for mutants
help_PACKAGES     := additional packages for deps
help_PARTS        := run only the tests whose name contains one of these words (test, check, check-all, check-long, check-vm, faults)
help_PREFIX       := directory for install and install_service
help_SAN          := 1 builds with ASan and UBSan into build/san
help_SHARED       := 1 builds a shared library into build/mutants
help_SEED         := seed that selects the mistakes for mutants
help_TARGET_GOS   := Go releases that the target programs are built with
help_V            := 1 prints the commands

help: ## list the targets and variables
	@echo 'usage: make [TARGET]... [VARIABLE=VALUE]...'; echo; echo 'Targets:'
	@sed -n ':a; /\\$$/ { N; s/\\\n//; ba }; s/^\([a-z][a-z_.-]*\):.*## \(.*\)/\1 \2/p' Makefile | \
		while read -r target text; do printf '  %-22s %s\n' $$target "$$text"; done
	@echo; echo 'Variables and their current values:'
	@printf '  %-22s %s\n' $(foreach name,$(sort $(patsubst help_%,%,$(filter help_%,$(.VARIABLES)))), \
		'$(name)' '$(help_$(name)) [$($(name))]')

.PHONY: all lib bpf unit kselftests targets reference fuzzers deps demo test check check-all check-long check-kunit check-vm \
	soak lint format-check man bench faults fidelity mutants mutants-unit fuzz kmod kmod_install offsets compile_commands.json \
	install install_service clean help
# Not for what builds nothing: the thousands of files take longer than the rest of the Makefile
ifneq ($(filter-out print-% help clean,$(or $(MAKECMDGOALS),all)),)
-include $(shell find build -path build/tmp -prune -o -name '*.d' -type f -print 2>/dev/null)
ifneq ($(file <$(OUT)/obj/flags),$(FLAGS))
$(shell $(write_flags))
endif
endif
