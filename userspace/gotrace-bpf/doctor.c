// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf doctor: what this kernel, these privileges and a target allow, and what to do about
 * the rest.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <linux/capability.h>

#include "capture/cpu_events.h"
#include "capture/kernel_probes.h"
#include "capture/kmod.h"
#include "capture/privilege.h"
#include "capture/sampler.h"
#include "capture/session.h"
#include "command.h"
#include "doctor.h"
#include "lib/log.h"
#include "lib/steps.h"

enum { OPT_JSON = 256 };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID|NAME", 0, "look at this process, too", 0 },
	{ "json", OPT_JSON, NULL, 0, "as JSON", 0 },
	{ "verbose", 'v', NULL, 0, "say more, as why the kernel refuses", 0 },
	NO_CACHE_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct doctor *d = state->input;

	switch (key) {
	case OPT_NO_CACHE:
		analysis__no_cache();
		return 0;
	case 'p':
		d->pid = parse_pid(text);
		return 0;
	case OPT_JSON:
		d->json = true;
		return 0;
	case 'v':
		log__set_verbose(true);
		return 0;
	case ARGP_KEY_ARG:
		if (d->pid || !is_number(text))
			usage_error("unexpected argument '%s': give a process by -p", text);
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
	"Shows what this kernel, these privileges and a target allow: what would be recorded, what "
	"not, and what it would cost; exits 1 if nothing can be recorded.",
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
	if (strcmp(name.machine, "x86_64"))
		doctor__say(d, BAD, "machine", "%s: only x86_64 can be recorded", name.machine);
	if (major > 6 || (major == 6 && minor >= 1))
		doctor__say(d, GOOD, "kernel", "%s", name.release);
	else
		doctor__say(d, BAD, "kernel", "%s: 6.1 or later is needed", name.release);
	if (session__kernel_has_multi())
		doctor__say(d, GOOD, "uprobes", "many by one link (uprobe_multi)");
	else
		doctor__say(d, NOTE, "uprobes",
			    "one perf event each: attaching takes longer; 6.10 does better");
	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK))
		doctor__say(d, session__kernel_has_multi() ? NOTE : BAD, "perf uprobes",
			    "no uprobe PMU: the kernel needs CONFIG_UPROBE_EVENTS");
	if (access(KERNEL_BTF, R_OK))
		doctor__say(d, NOTE, "BTF",
			    "no " KERNEL_BTF ": no --follow, no --cpu-profile, no kernel's "
			    "side; for that the kernel needs CONFIG_DEBUG_INFO_BTF");
	else
		doctor__say(d, GOOD, "BTF", KERNEL_BTF);
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

static void privileges(struct doctor *d)
{
	static const struct {
		int cap;
		const char *name, *why;
	} needed[] = {
		{ CAP_BPF, "CAP_BPF", "to load the probes" },
		{ CAP_PERFMON, "CAP_PERFMON", "to attach them" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "to read the target's program and memory" },
	};
	bool all = true;

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (privilege__has(needed[i].cap) ||
		    (needed[i].cap != CAP_SYS_PTRACE && privilege__has(CAP_SYS_ADMIN)))
			continue;
		all = false;
		doctor__say(d, BAD, "privilege",
			    "%s, %s: run as root, or setcap "
			    "cap_bpf,cap_perfmon,cap_sys_ptrace+ep on gotrace-bpf",
			    needed[i].name, needed[i].why);
	}
	if (all)
		doctor__say(d, GOOD, "privileges", "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE");
}

static void restrictions(struct doctor *d)
{
	char text[128];
	struct stat ns;

	read_word("/sys/kernel/security/lockdown", text, sizeof(text));
	if (strstr(text, "[confidentiality]"))
		doctor__say(d, BAD, "lockdown",
			    "confidentiality: BPF may not read memory; boot with "
			    "lockdown=integrity or none");
	read_word("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	if (atoi(text) > 2 && !privilege__has(CAP_PERFMON) && !privilege__has(CAP_SYS_ADMIN))
		doctor__say(d, NOTE, "perf", "perf_event_paranoid is %s: CAP_PERFMON is needed",
			    text);
	read_word("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text));
	if (atoi(text) > 1 && !privilege__has(CAP_SYS_PTRACE))
		doctor__say(d, NOTE, "ptrace",
			    "yama's ptrace_scope is %s: CAP_SYS_PTRACE is needed", text);
	if (!stat("/proc/self/ns/pid", &ns) && ns.st_ino != SESSION_INIT_PID_NS)
		doctor__say(d, BAD, "namespace",
			    "a PID namespace of our own: run in the host's (--pid=host)");
}

/*
 * The proof: the programs of these sets pass this kernel's verifier (for a target, with its own
 * offsets). Returns the bytes of the rings, 0 on failure.
 */
static uint64_t load(unsigned int sets, bool probes, struct error *err)
{
	struct gt_config config = {};
	struct site_list sites = {};
	struct session_opts opts = {
		.pid = getpid(),
		.path = "/proc/self/exe",
		.config = &config,
		.sites = &sites,
		.stack_depth = GT_STACK_MAX,
		.sets = sets,
	};
	struct session *session;
	uint64_t bytes;
	int code;

	memset(sites.has, probes, sizeof(sites.has));
	code = session__open(&session, &opts, err);
	if (code) {
		error__set(err, code, "%s", strerror(-code));
		return 0;
	}
	bytes = session__ring_bytes(session);
	session__destroy(session);
	return bytes;
}

static void probes(struct doctor *d)
{
	struct error err = {};
	uint64_t bytes = load(SITE_SETS_ALL & ~(SITE_SET(KERNEL) | SITE_SET(FAULT)), true, &err);

	if (bytes)
		doctor__say(d, GOOD, "probes", "the kernel accepts them; %llu MiB of rings",
			    (unsigned long long)bytes >> 20);
	else
		doctor__say(d, BAD, "probes", "%s", err.text);
}

static void kernels_side(struct doctor *d, enum site_set set, const char *what)
{
	struct error err = {};

	if (!kernel_probes__possible(1u << set, &err) && load(1u << set, false, &err))
		doctor__say(d, GOOD, site_set__name(set), "%s", what);
	else
		doctor__say(d, NOTE, site_set__name(set), "%s", err.text);
}

#define MODULE_GIVES "stacks for a third of the cost, and black boxes (record --blackbox)"

/* Optional: a recording without it is the same, but costs the target more. */
static void kernel_module(struct doctor *d)
{
	struct error err = {};
	struct kmod *module;
	int code = kmod__open(&module, &err);

	if (!code && kmod__has_kfuncs(module))
		doctor__say(d, GOOD, "module", "loaded: " MODULE_GIVES);
	else if (code && code != -ENOENT)
		doctor__say(d, NOTE, "module", "%s", err.text[0] ? err.text : strerror(-code));
	else if (!session__kernel_has_multi())
		doctor__say(d, NOTE, "module",
			    "%s: before 6.10 programs of uprobes cannot call it; "
			    "with a later kernel: " MODULE_GIVES,
			    code ? "not loaded" : "loaded without effect");
	else if (code)
		doctor__say(d, NOTE, "module",
			    "not loaded (optional): " MODULE_GIVES "; make kmod "
			    "kmod_install, modprobe gotrace");
	else
		doctor__say(
			d, NOTE, "module",
			"loaded without BTF, so BPF programs cannot call it; the "
			"kernel needs CONFIG_DEBUG_INFO_BTF_MODULES, and make kmod pahole and " KERNEL_BTF);
	if (!code)
		kmod__close(module);
}

static void cpu_samples(struct doctor *d)
{
	struct error err = {};

	if (sampler__possible(&err))
		doctor__say(d, NOTE, "cpu", "%s", err.text);
	else
		doctor__say(d, GOOD, "cpu", "can be sampled: record --cpu-profile HZ");
}

int do_doctor(int argc, char **argv, struct error *err)
{
	struct target_facts facts = {};
	struct analysis a = {};
	struct doctor d = {};

	command__end_with_reader();
	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &d);
	steps__begin();
	kernel(&d);
	privileges(&d);
	restrictions(&d);
	if (!d.bad) {
		probes(&d);
		kernel_module(&d);
		cpu_samples(&d);
		kernels_side(&d, SITE_KERNEL,
			     "threads, cores, wake-ups and system calls: recorded");
		kernels_side(&d, SITE_FAULT, "page faults can be recorded: record --events");
	}
	if (d.pid)
		doctor__target(&d, &a, &facts);
	steps__end();
	doctor__print(&d, d.pid ? &a : NULL, &facts);
	analysis__deinit(&a);
	free(d.finding);
	return d.bad ? EXIT_FAILED : EXIT_DONE;
}
