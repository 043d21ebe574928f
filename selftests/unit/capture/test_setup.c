// SPDX-License-Identifier: GPL-2.0
/*
 * What is recorded: which options the session gets, how a program that changed meanwhile is
 * noticed, the file's facts, and the signals that end a recording. The process is made up.
 */
#include <signal.h>
#include <sys/signalfd.h>

#include "unit/test.h"
#include "capture/hits.h"
#include "capture/launch.h"
#include "capture/probes_impl.h"
#include "capture/setup.h"
#include "inline/inline_probes.h"
#include "lib/clock.h"
#include "target/process/csymbols.h"
#include "target/process/slots.h"
#include "target/process/text.h"

static struct {
	bool ended, replaced;
	int text_error, attach_error, bias_error;
	uint64_t found_bias;
	unsigned int texts, attached, modules, slots, live, installed, started;
	int slots_error, install_error;
	uint32_t slot_tid[4];
	bool no_csymbols, kernel, calls_only;
	double trap_ns; /* 0: no probe can be attached */
	const char *build_id, *go_build_id;

	struct process process;
	struct layout layout;
	struct launch launch;
	struct site_list sites;
	struct go_modules plugins;
	struct recorder_opts opts;
	struct error err;
} t;

STUB(bool, probes__has_inlined_sites, (const struct site_list *), false)
STUB(int, probes__add_plugin, (struct probes *, const struct go_module *, bool, struct error *), 0)
STUB(const char *, go_module__name, (const struct go_module *), "plugin.so")
STUB(struct modules_symbols *, modules__symbolizer,
     (const struct go_modules *, const struct symbolizer *, struct symbolizer *), NULL)
STUB_VOID(libraries__read,
	  (struct go_libraries *, const struct process *, const struct go_modules *))
STUB(const char *, libraries__format, (const struct go_libraries *, size_t, char *, size_t), "")
STUB(uint64_t, clock__wall_at, (uint64_t mono), mono + 1000)
STUB(bool, process__is_same, (const struct process *), !t.ended && !t.replaced)
STUB(bool, process__was_replaced, (const struct process *), t.replaced && !t.ended)

int process__find_bias(struct process *proc, const struct elf_image *elf, struct error *err)
{
	proc->bias = t.found_bias;
	return t.bias_error ? error__set(err, t.bias_error, "no bias") : 0;
}

int text__check(const struct process *proc, const struct elf_image *elf,
		const struct site_list *sites, struct error *err)
{
	t.texts++;
	return t.text_error;
}

STUB(bool, probes__calls_only, (const struct probes *), t.calls_only)
STUB(bool, probes__has_kernel, (const struct probes *), t.kernel)

int probes__attach(struct probes *s, struct error *err)
{
	t.attached++;
	return t.attach_error;
}

int inline_probes__install(struct inline_probes *p, struct error *err)
{
	assert_int_equal(t.texts, 1);
	assert_int_equal(t.attached, 0); /* uprobes may be in the pages that it replaces */
	t.installed++;
	return t.install_error;
}

int inline_probes__start(struct inline_probes *p, struct error *err)
{
	assert_int_equal(t.attached, 1);
	t.started++;
	return 0;
}

int process__read_slots(const struct process *proc, const struct layout *layout,
			struct thread_slot **ret, size_t *ret_n)
{
	assert_int_equal(t.attached, 1); /* only then no change of a goroutine is missed */
	assert_true(t.live);
	if (t.slots_error)
		return t.slots_error;
	*ret = calloc(2, sizeof(**ret));
	(*ret)[0] = (struct thread_slot){ 7, { .g = 1 } };
	(*ret)[1] = (struct thread_slot){ 9, { .g = 3 } };
	*ret_n = 2;
	return 0;
}

void probes__start_slots(struct probes *s)
{
	t.live++;
}

void probes__set_slot(struct probes *s, uint32_t tid, const struct gt_slot *slot)
{
	assert_int_equal(slot->g, tid == 7 ? 1 : 3);
	t.slot_tid[t.slots++] = tid;
}

int hits__open_trap(struct hits **ret, struct error *err)
{
	if (!t.trap_ns)
		return error__set(err, -EPERM, "not permitted");
	*ret = (struct hits *)&t;
	return 0;
}

STUB(double, hits__trap_ns, (void), t.trap_ns)
STUB(const char *, elf_image__build_id, (const struct elf_image *), t.build_id)
STUB(const char *, elf_image__go_build_id, (const struct elf_image *), t.go_build_id)

void pclntab__symbolizer(struct pclntab *pt, uint64_t bias, struct symbolizer *ret)
{
	*ret = (struct symbolizer){ .ctx = (void *)(uintptr_t)bias };
}

struct csymbols *csymbols__create(const struct symbolizer *go)
{
	return t.no_csymbols ? NULL : (struct csymbols *)&t;
}

void csymbols__add_modules(struct csymbols *c, const struct process *proc)
{
	t.modules++;
}

void csymbols__symbolizer(struct csymbols *c, struct symbolizer *ret)
{
	ret->ctx = c;
}

/* ---- helpers ---- */

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	t.found_bias = 0x400000;
	t.process = (struct process){ .pid = 42,
				      .exe_path = "/proc/self/exe",
				      .attach_path = "/proc/self/fd/9",
				      .exe = "/bin/prog",
				      .cmdline = "./prog -x",
				      .bias = 0x400000 };
	memcpy(t.layout.version.text, "go1.24", 7);
	t.opts = (struct recorder_opts){
		.process = &t.process, .layout = &t.layout, .sites = &t.sites, .modules = &t.plugins
	};
	return 0;
}

FIXTURE(set_up, NULL)

static int attach(void)
{
	t.err.text[0] = 0;
	return setup__attach(&t.opts, NULL, NULL, &t.err);
}

/* ---- tests ---- */

TEST(session_options)
{
	struct probes_opts got;

	t.opts.stack_depth = 24;
	t.opts.sets = 5;
	t.opts.kernel_optional = true;
	t.opts.sample_hz = 99;
	t.opts.ring_size = 1 << 20;
	got = setup__probes(&t.opts, 0);
	assert_int_equal(got.pid, 42);
	assert_string_equal(got.path, "/proc/self/fd/9");
	assert_ptr_equal(got.config, &t.layout.config);
	assert_ptr_equal(got.sites, &t.sites);
	assert_int_equal(got.stack_depth, 24);
	assert_int_equal(got.sets, 5);
	assert_int_equal(got.sample_hz, 99);
	assert_int_equal(got.ring_size, 1 << 20);
	assert_true(got.kernel_optional && !got.force_perf);
	t.opts.force_perf = true;
	t.opts.kernel_optional = false;
	got = setup__probes(&t.opts, 0);
	assert_true(!got.kernel_optional && got.force_perf);
	assert_int_equal(got.session, 0);
}

/* The times of derived events depend on what a trap takes, if that is known. */
TEST(measures_a_trap)
{
	static const struct {
		double trap_ns;
		uint32_t derived_ns;
		bool open;
	} cases[] = { { 0, GT_DERIVED_NS, false },  { 400.9, 600, true },
		      { 2000, 3000, true },	    { 30000, 45000, true },
		      { 0.5, GT_DERIVED_NS, true }, { 1e9, GT_DERIVED_NS, true } };
	struct probes_opts opts = { .derives = true };
	struct hits *trap;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t.trap_ns = cases[i].trap_ns;
		setup__measure(&opts, &trap);
		assert_int_equal(opts.derived_ns, cases[i].derived_ns);
		assert_int_equal(!!trap, cases[i].open);
	}
	opts.derives = false; /* then it is not needed; the trap is, for the cost */
	t.trap_ns = 400;
	setup__measure(&opts, &trap);
	assert_int_equal(opts.derived_ns, GT_DERIVED_NS);
	assert_non_null(trap);
}

TEST(attaches)
{
	assert_int_equal(attach(), 0);
	assert_int_equal(t.texts, 1);
	assert_int_equal(t.attached, 1);
	t.attach_error = -EPERM;
	assert_int_equal(attach(), -EPERM);
	t.text_error = -EPROTO;
	assert_int_equal(attach(), -EPROTO);
	assert_int_equal(t.attached, 2);
}

/* What threads run that have had no hit yet; a command has not run anything. */
TEST(tells_what_threads_run)
{
	t.layout.derives_parks = true;
	assert_true(setup__probes(&t.opts, 0).derives);
	assert_int_equal(attach(), 0);
	assert_int_equal(t.slots, 2);
	assert_int_equal(t.slot_tid[0], 7);
	assert_int_equal(t.slot_tid[1], 9);
	t.attached = 0;
	t.slots_error = -ETIMEDOUT;
	assert_int_equal(attach(), 0);
	t.slots_error = 0;
	t.opts.launch = &t.launch;
	assert_int_equal(attach(), 0);
	assert_int_equal(t.slots, 2);
	assert_int_equal(t.live, 3);
	t.opts.launch = NULL;
	t.attached = 0;
	t.attach_error = -EPERM;
	assert_int_equal(attach(), -EPERM);
	t.layout.derives_parks = false;
	t.attach_error = 0;
	assert_int_equal(attach(), 0);
	assert_int_equal(t.slots, 2);
	assert_int_equal(t.live, 3);
	assert_false(setup__probes(&t.opts, 0).derives);
}

/* Inline probes are in place before the uprobes, and record after them. */
TEST(inline_probes_come_first)
{
	struct inline_probes *inl = (struct inline_probes *)&t;

	t.layout.derives_parks = true;
	assert_false(setup__probes(&t.opts, 2).derives);
	assert_int_equal(setup__probes(&t.opts, 2).is_inline, 2);
	assert_int_equal(setup__attach(&t.opts, NULL, inl, &t.err), 0);
	assert_int_equal(t.installed, 1);
	assert_int_equal(t.started, 1);
	t.texts = t.attached = 0;
	t.install_error = -EBUSY;
	assert_int_equal(setup__attach(&t.opts, NULL, inl, &t.err), -EBUSY);
	assert_int_equal(t.attached, 0);
}

/* A command is held at its exec: neither its code nor what it runs is looked at. */
TEST(attaches_to_a_command)
{
	t.opts.launch = &t.launch;
	t.text_error = -EPROTO;
	t.replaced = true;
	assert_int_equal(attach(), 0);
	assert_int_equal(t.texts, 0);
	assert_int_equal(t.attached, 1);
	t.attach_error = -EPERM;
	assert_int_equal(attach(), -EPERM);
}

TEST(changed_meanwhile)
{
	const char *replaced =
		"process 42 executed another program while probes were being attached";
	const char *ended = "process 42 ended while probes were being attached";

	t.replaced = true;
	assert_int_equal(attach(), -ESRCH);
	assert_string_equal(t.err.text, replaced);
	t.ended = true;
	assert_int_equal(attach(), -ESRCH);
	assert_string_equal(t.err.text, ended);
	set_up(NULL);
	t.ended = true;
	assert_int_equal(attach(), -ESRCH);
	assert_string_equal(t.err.text, ended);
	set_up(NULL);
	t.found_bias += 4096; /* the same program once more, elsewhere */
	assert_int_equal(attach(), -ESRCH);
	assert_string_equal(t.err.text, replaced);
	set_up(NULL);
	t.bias_error = -ENOENT;
	assert_int_equal(attach(), -ESRCH);
	assert_string_equal(t.err.text, "no bias");
}

TEST(facts)
{
	struct raw_header got;

	t.opts.stack_depth = 1;
	t.kernel = true;
	t.build_id = "b1d";
	setup__facts(&t.opts, NULL, 5000, &got);
	assert_int_equal(got.t0, 5000);
	assert_int_equal(got.wall_ns, 6000);
	assert_int_equal(got.bias, 0x400000);
	assert_true(got.flags == RAW_STACKS && !got.no_syscalls);
	assert_string_equal(got.go_version, "go1.24");
	assert_string_equal(got.build_id, "b1d");
	assert_string_equal(got.exe, "/bin/prog");
	assert_string_equal(got.command, "./prog -x");

	t.opts.stack_depth = 0;
	t.kernel = false;
	t.opts.sink.no_syscalls = true;
	t.build_id = NULL;
	memset(t.process.cmdline, 'c', sizeof(t.process.cmdline) - 1);
	memset(t.process.exe, 'e', sizeof(t.process.exe) - 1);
	setup__facts(&t.opts, NULL, 5000, &got);
	assert_true(got.flags == RAW_NO_KERNEL && got.no_syscalls);
	t.calls_only = true;
	setup__facts(&t.opts, NULL, 5000, &got);
	assert_int_equal(got.flags, RAW_NO_KERNEL | RAW_CALLS_ONLY);
	assert_string_equal(got.build_id, "");
	assert_int_equal(strlen(got.command), sizeof(got.command) - 1);
	assert_int_equal(strlen(got.exe), sizeof(got.exe) - 1);
}

TEST(symbols)
{
	struct modules_symbols *plugins;
	struct symbolizer got;

	assert_ptr_equal(setup__symbols(&t.opts, &got, &plugins), &t);
	assert_ptr_equal(got.ctx, &t);
	assert_int_equal(t.modules, 1);
	t.opts.launch = &t.launch; /* which has mapped nothing yet */
	assert_ptr_equal(setup__symbols(&t.opts, &got, &plugins), &t);
	assert_int_equal(t.modules, 1);
	t.no_csymbols = true;
	assert_null(setup__symbols(&t.opts, &got, &plugins));
	assert_ptr_equal(got.ctx, (void *)0x400000); /* Go's alone */
}

TEST(signals)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct signalfd_siginfo info;
	sigset_t set;
	int fd;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = setup__signals(&t.err);
	assert_true(fd >= 0);
	raise(SIGUSR1);
	assert_int_equal(read(fd, &info, sizeof(info)), -1); /* and does not block */
	for (int i = 0; i < 3; i++) {
		raise(ends[i]);
		assert_int_equal(read(fd, &info, sizeof(info)), sizeof(info));
		assert_int_equal(info.ssi_signo, ends[i]);
	}
	close(fd);
}
