// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf doctor: what this kernel, the current privileges and a process support, and how to
 * enable the rest. doctor.h lists the files.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/perf_event.h>

#include "capture/cpu_events.h"
#include "capture/kernel_probes.h"
#include "capture/kmod.h"
#include "capture/pid_ns.h"
#include "capture/probes.h"
#include "capture/sampler.h"
#include "inline/inline_clock.h"
#include "lib/capability.h"
#include "lib/log.h"
#include "lib/opts.h"
#include "lib/steps.h"
#include "target/arch/arch.h"
#include "command.h"
#include "doctor.h"

enum { OPT_JSON = 256, OPT_MEASURE };

#define MEASURE_MIN_NS 100000000ull
#define MEASURE_MAX_NS 3600000000000ull

static const struct argp_option options[] = {
	{ "pid", 'p', "PID|NAME", 0, "also check this process", 0 },
	{ "measure", OPT_MEASURE, "TIME", 0,
	  "count the hits of its probes for TIME, such as 3s, and predict what each event set costs",
	  0 },
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	VERBOSE_OPTION,
	LIBRARY_OPTION,
	NO_CACHE_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct doctor *d = state->input;

	switch (key) {
	case OPT_LIBRARY:
		analysis__library(text);
		return 0;
	case OPT_NO_CACHE:
		analysis__no_cache();
		return 0;
	case 'p':
		d->pid = parse_pid(text);
		return 0;
	case OPT_MEASURE:
		if (!opts__duration(text, &d->measure_ns) || d->measure_ns < MEASURE_MIN_NS ||
		    d->measure_ns > MEASURE_MAX_NS)
			usage_error("invalid time '%s': expected 100ms to 1h", text);
		return 0;
	case OPT_JSON:
		d->json = true;
		return 0;
	case 'v':
		log__set_verbose(true);
		return 0;
	case ARGP_KEY_ARG:
		if (d->pid || !is_number(text))
			usage_error("unexpected argument '%s': expected -p PID", text);
		d->pid = parse_pid(text);
		return 0;
	default:
		return command__key(key, state, "doctor");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"[-p PID]",
	"Shows what this kernel, the current privileges and a process support: what would be "
	"recorded, what not, and at what cost. The exit status is 1 if nothing can be recorded.",
	NULL,
	NULL,
	NULL,
};

static void kernel(struct doctor *d)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return;
	if (strcmp(name.machine, ARCH_MACHINE))
		doctor__report(d, BAD, "machine", "%s is not supported: only " ARCH_MACHINE " is",
			       name.machine);
	if (major > 6 || (major == 6 && minor >= 1))
		doctor__report(d, GOOD, "kernel", "%s", name.release);
	else
		doctor__report(d, BAD, "kernel",
			       "%s is not supported: Linux 6.1 or later is required", name.release);
	if (probes__kernel_has_multi())
		doctor__report(d, GOOD, "uprobes",
			       "all sites of a probe are attached with one call (uprobe_multi)");
	else
		doctor__report(
			d, NOTE, "uprobes",
			"each site is attached with a perf event of its own, which takes longer than "
			"the one call per probe of Linux 6.10 and later");
	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK))
		doctor__report(
			d, probes__kernel_has_multi() ? NOTE : BAD, "perf uprobes",
			"uprobe events are missing: the kernel requires CONFIG_UPROBE_EVENTS");
	if (access(KERNEL_BTF, R_OK))
		doctor__report(d, NOTE, "BTF",
			       KERNEL_BTF
			       " is missing: --follow, --cpu-profile and kernel events are "
			       "unavailable; the kernel requires CONFIG_DEBUG_INFO_BTF");
	else
		doctor__report(d, GOOD, "BTF", KERNEL_BTF);
}

static void read_word(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");

	text[0] = '\0';
	if (!f)
		return;
	if (!fgets(text, (int)size, f))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	fclose(f);
}

/* ---- privileges ---- */

static const struct need {
	int cap, instead; /* `instead` suffices, too */
	const char *name, *why;
	enum finding_level level; /* if it is missing */
} needs[] = {
	{ CAP_BPF, CAP_SYS_ADMIN, "cap_bpf", "to load the probes", BAD },
	{ CAP_PERFMON, CAP_SYS_ADMIN, "cap_perfmon", "to attach them", BAD },
	{ CAP_SYS_PTRACE, CAP_SYS_PTRACE, "cap_sys_ptrace",
	  "to read the target's program and memory", BAD },
	{ CAP_CHECKPOINT_RESTORE, CAP_SYS_ADMIN, "cap_checkpoint_restore", "for --probes=inline",
	  NOTE },
};

static unsigned int read_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	unsigned int type = 0;

	if (f && fscanf(f, "%u", &type) != 1)
		type = 0;
	if (f)
		fclose(f);
	return type;
}

/*
 * Whether this kernel refuses uprobes by perf events without CAP_SYS_ADMIN, as 6.16 and older ones with
 * the same fix (CVE-2025-38466) do. The place is beyond the end of the file: it is refused after the
 * privilege was checked. Unknown, and false, without CAP_PERFMON.
 */
static bool needs_admin(void)
{
	struct perf_event_attr attr = {
		.type = read_type(),
		.size = sizeof(attr),
		.config1 = (uintptr_t)"/proc/self/exe",
		.config2 = 1ull << 60,
	};
	int fd;

	if (!attr.type || !capability__has(CAP_PERFMON) || capability__has(CAP_SYS_ADMIN))
		return false;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == EACCES || errno == EPERM;
	close(fd);
	return false;
}

/* setcap replaces the capabilities of a file: the command names all that are required. */
static void report_setcap(struct doctor *d, bool admin)
{
	char path[PATH_MAX] = "gotrace-bpf";
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len > 0)
		path[len] = '\0';
	doctor__report(d, NOTE, "setcap",
		       "to grant what is missing: sudo setcap %s,%s,%s,%s%s=ep %s%s", needs[0].name,
		       needs[1].name, needs[2].name, needs[3].name, admin ? ",cap_sys_admin" : "",
		       path,
		       probes__kernel_has_multi() || capability__has(CAP_PERFMON) ?
			       "" :
			       "; then run doctor again, which tries with cap_perfmon whether "
			       "cap_sys_admin is required, too");
}

static void privileges(struct doctor *d)
{
	const bool multi = probes__kernel_has_multi(), admin = needs_admin();
	bool required = multi || !admin, all = required;

	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		const struct need *need = &needs[i];

		if (capability__has(need->cap) || capability__has(need->instead))
			continue;
		all = false;
		required &= need->level != BAD;
		doctor__report(d, need->level, "privilege", "%s is missing (required %s)",
			       need->name, need->why);
	}
	if (admin)
		doctor__report(d, multi ? NOTE : BAD, "privilege",
			       "cap_sys_admin is missing (required %s: this kernel permits uprobes "
			       "by perf events with it only)",
			       multi ? "for --force-perf-uprobes" : "to attach the probes");
	if (required)
		doctor__report(d, GOOD, "privileges", "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE");
	if (!all)
		report_setcap(d, admin && !multi);
}

static void restrictions(struct doctor *d)
{
	char text[128];
	struct error why = {};

	read_word("/sys/kernel/security/lockdown", text, sizeof(text));
	if (strstr(text, "[confidentiality]"))
		doctor__report(d, BAD, "lockdown",
			       "confidentiality: BPF programs cannot read memory; boot with "
			       "lockdown=integrity or none");
	read_word("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	if (atoi(text) > 2 && !capability__has(CAP_PERFMON) && !capability__has(CAP_SYS_ADMIN))
		doctor__report(d, NOTE, "perf",
			       "perf_event_paranoid is %s: CAP_PERFMON is required", text);
	read_word("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text));
	if (atoi(text) > 1 && !capability__has(CAP_SYS_PTRACE))
		doctor__report(d, NOTE, "ptrace",
			       "yama's ptrace_scope is %s: CAP_SYS_PTRACE is required", text);
	if (pid_ns__check(&why))
		doctor__report(d, BAD, "namespaces", "%s", why.text);
}

/*
 * Loads the programs of these sets, which shows that this kernel's verifier accepts them: with
 * `derives` those that derive parks, ends and system calls. Returns the bytes of the rings, 0 on
 * failure.
 */
static uint64_t load(unsigned int sets, bool has_sites, bool derives, struct error *error)
{
	struct site instruction = { .probe = GT_PROBE_SYSCALL_AT };
	struct site_list sites = { .site = &instruction, .n = 1 };
	struct gt_config config = {};
	struct probes_opts opts = {
		.pid = getpid(),
		.path = "/proc/self/exe",
		.config = &config,
		.sites = &sites,
		.stack_depth = GT_STACK_MAX,
		.sets = sets,
		.derives = derives,
	};
	struct probes *probes;
	uint64_t bytes;
	int err;

	memset(sites.has, has_sites, sizeof(sites.has));
	sites.has[GT_PROBE_SYSCALL_AT] = true;
	err = probes__open(&probes, &opts, error);
	if (err) {
		error__set(error, err, "%s", strerror(-err));
		return 0;
	}
	bytes = probes__ring_bytes(probes);
	probes__destroy(probes);
	return bytes;
}

static void check_probes(struct doctor *d)
{
	struct error error = {};
	unsigned int sets = SITE_SETS_ALL & ~(SITE_SET(KERNEL) | SITE_SET(FAULT));
	uint64_t bytes = load(sets, true, false, &error);

	if (bytes && load(sets, true, true, &error))
		doctor__report(d, GOOD, "probes",
			       "accepted by the kernel; %llu MiB of ring buffers",
			       (unsigned long long)bytes >> 20);
	else
		doctor__report(d, BAD, "probes", "%s", error.text);
}

static void check_kernel_events(struct doctor *d, enum site_set set, const char *what)
{
	struct error error = {};

	if (!kernel_probes__possible(1u << set, &error) &&
	    load(1u << set | SITE_SET(SYSCALL), false, true, &error))
		doctor__report(d, GOOD, site_set__name(set), "%s", what);
	else
		doctor__report(d, NOTE, site_set__name(set), "%s", error.text);
}

#define MODULE_GIVES "it unwinds stacks at a third of the cost, and provides record --blackbox"

/*
 * The module is optional: without it a recording has the same contents, but costs the target more.
 */
static void kernel_module(struct doctor *d)
{
	struct error error = {};
	struct kmod *module;
	int err = kmod__open(&module, &error);

	if (!err && kmod__has_kfuncs(module))
		doctor__report(d, GOOD, "module", "loaded: " MODULE_GIVES);
	else if (err && err != -ENOENT)
		doctor__report(d, NOTE, "module", "%s",
			       error.text[0] ? error.text : strerror(-err));
	else if (!probes__kernel_has_multi())
		doctor__report(
			d, NOTE, "module",
			"%s: before Linux 6.10 uprobes cannot call it; with a later kernel " MODULE_GIVES,
			err ? "not loaded" : "loaded, but without effect");
	else if (err)
		doctor__report(d, NOTE, "module",
			       "not loaded (optional): " MODULE_GIVES
			       "; to install it: make kmod kmod_install and modprobe gotrace");
	else
		doctor__report(
			d, NOTE, "module",
			"loaded without BTF, so BPF programs cannot call it: the kernel requires "
			"CONFIG_DEBUG_INFO_BTF_MODULES; install pahole, check that " KERNEL_BTF
			" exists, and run make kmod again");
	if (!err)
		kmod__close(module);
}

static void cpu_samples(struct doctor *d)
{
	struct error error = {};

	if (sampler__possible(&error))
		doctor__report(d, NOTE, "cpu", "%s", error.text);
	else
		doctor__report(d, GOOD, "cpu",
			       "CPU samples are available: record --cpu-profile HZ");
}

/* With -p, doctor_target.c makes this and all other checks of inline probes. */
static void inline_clock(struct doctor *d)
{
	struct inline_clock clock = {};
	struct error error = {};

	if (inline_clock__init(&clock, &error))
		doctor__report(d, NOTE, "inline", "%s", error.text);
	else
		doctor__report(d, GOOD, "inline",
			       "the clock is suitable for record --probes=inline");
}

int do_doctor(int argc, char **argv, struct error *error)
{
	struct target_facts facts = {};
	struct analysis a = {};
	struct doctor d = {};

	command__end_with_reader();
	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &d);
	if (d.measure_ns && !d.pid)
		usage_error("--measure requires a process: -p PID");
	steps__begin();
	kernel(&d);
	privileges(&d);
	restrictions(&d);
	if (!d.bad) {
		check_probes(&d);
		kernel_module(&d);
		cpu_samples(&d);
		check_kernel_events(&d, SITE_KERNEL,
				    "threads, CPUs, wake-ups and system calls are recorded");
		check_kernel_events(&d, SITE_FAULT,
				    "page faults are available: add fault to --events");
	}
	if (!d.pid)
		inline_clock(&d);
	else
		doctor__target(&d, &a, &facts);
	steps__end();
	doctor__print(&d, d.pid ? &a : NULL, &facts);
	analysis__deinit(&a);
	free(d.finding);
	return d.bad ? EXIT_FAILED : EXIT_DONE;
}
