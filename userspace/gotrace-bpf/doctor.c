// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf doctor: what this kernel, these privileges and a target allow, and what to do about
 * the rest.
 */
#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <linux/capability.h>

#include "analysis.h"
#include "capture/privilege.h"
#include "capture/session.h"
#include "command.h"

enum verdict { GOOD, NOTE, BAD };

struct doctor {
	int pid;
	bool bad; /* something makes recording impossible */
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0, "look at this process, too", 0 },
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct doctor *d = state->input;

	switch (key) {
	case 'p':
		d->pid = parse_pid(text);
		return 0;
	case ARGP_KEY_ARG:
		usage_error("what is \"%s\"?", text);
	default:
		return command__key(key, state, "doctor");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"[-p PID]",
	"Shows what this kernel, these privileges and a target allow; exits 1 if nothing can be "
	"recorded.",
	NULL,
	NULL,
	NULL,
};

__attribute__((format(printf, 4, 5))) static void say(struct doctor *d, enum verdict verdict,
						      const char *what, const char *fmt, ...)
{
	static const char *const mark[] = { [GOOD] = "ok", [NOTE] = "note", [BAD] = "MISSING" };
	va_list ap;

	d->bad |= verdict == BAD;
	printf("%-8s %-12s ", mark[verdict], what);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static void kernel(struct doctor *d)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return;
	if (strcmp(name.machine, "x86_64"))
		say(d, BAD, "machine", "%s: only x86_64 can be recorded", name.machine);
	if (major > 6 || (major == 6 && minor >= 1))
		say(d, GOOD, "kernel", "%s", name.release);
	else
		say(d, BAD, "kernel", "%s: 6.1 or later is needed", name.release);
	if (session__kernel_has_multi())
		say(d, GOOD, "uprobes", "many by one link (uprobe_multi)");
	else
		say(d, NOTE, "uprobes",
		    "one perf event each: attaching takes longer; 6.10 does better");
	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK))
		say(d, session__kernel_has_multi() ? NOTE : BAD, "perf uprobes",
		    "no uprobe PMU: the kernel needs CONFIG_UPROBE_EVENTS");
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		say(d, BAD, "BTF",
		    "no /sys/kernel/btf/vmlinux: the kernel needs CONFIG_DEBUG_INFO_BTF");
	else
		say(d, GOOD, "BTF", "/sys/kernel/btf/vmlinux");
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
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (privilege__has(needed[i].cap) ||
		    (needed[i].cap != CAP_SYS_PTRACE && privilege__has(CAP_SYS_ADMIN)))
			say(d, GOOD, "privilege", "%s", needed[i].name);
		else
			say(d, BAD, "privilege",
			    "%s, %s: run as root, or setcap "
			    "cap_bpf,cap_perfmon,cap_sys_ptrace+ep on gotrace-bpf",
			    needed[i].name, needed[i].why);
	}
}

static void restrictions(struct doctor *d)
{
	char text[128];
	struct stat ns;

	read_word("/sys/kernel/security/lockdown", text, sizeof(text));
	if (strstr(text, "[confidentiality]"))
		say(d, BAD, "lockdown",
		    "confidentiality: BPF may not read memory; boot with "
		    "lockdown=integrity or none");
	read_word("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	if (atoi(text) > 2 && !privilege__has(CAP_PERFMON) && !privilege__has(CAP_SYS_ADMIN))
		say(d, NOTE, "perf", "perf_event_paranoid is %s: CAP_PERFMON is needed", text);
	read_word("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text));
	if (atoi(text) > 1 && !privilege__has(CAP_SYS_PTRACE))
		say(d, NOTE, "ptrace", "yama's ptrace_scope is %s: CAP_SYS_PTRACE is needed", text);
	if (!stat("/proc/self/ns/pid", &ns) && ns.st_ino != SESSION_INIT_PID_NS)
		say(d, BAD, "namespace",
		    "a PID namespace of our own: run in the host's (--pid=host)");
}

static void target(struct doctor *d)
{
	struct analysis a = {};
	struct error err = {};
	int code = analysis__of_process(&a, d->pid, &err);

	if (a.has_process)
		say(d, GOOD, "process", "%d: %s", d->pid, a.process.cmdline);
	if (a.info.version.text[0])
		say(d, GOOD, "program", "%s, %s%s%s", a.info.path, a.info.version.text,
		    a.info.cgo ? ", cgo" : "", a.info.race ? ", race detector" : "");
	if (code) {
		say(d, BAD, "target", "%s", err.text[0] ? err.text : strerror(-code));
	} else {
		say(d, GOOD, "target", "%zu probes; offsets agree with its memory", a.sites.n);
		if (a.sites.missing[0])
			say(d, NOTE, "target", "not recorded: %s", a.sites.missing);
	}
	analysis__deinit(&a);
}

/* The proof: the programs pass this kernel's verifier (for a target, with its own offsets). */
static void load(struct doctor *d)
{
	struct gt_config config = {};
	struct site_list sites = {};
	struct session_opts opts = {
		.pid = getpid(),
		.path = "/proc/self/exe",
		.config = &config,
		.sites = &sites,
		.stack_depth = GT_STACK_MAX,
		.syscalls = true,
		.gc = true,
	};
	struct session *session;
	struct error err = {};
	int code;

	memset(sites.has, true, sizeof(sites.has));
	code = session__open(&session, &opts, &err);
	if (code) {
		say(d, BAD, "probes", "%s", err.text[0] ? err.text : strerror(-code));
		return;
	}
	say(d, GOOD, "probes", "the kernel accepts them; %llu MiB of rings",
	    (unsigned long long)session__ring_bytes(session) >> 20);
	session__destroy(session);
}

int do_doctor(int argc, char **argv, struct error *err)
{
	struct doctor d = {};

	argp_parse(&parser, argc, argv, ARGP_NO_HELP, NULL, &d);
	kernel(&d);
	privileges(&d);
	restrictions(&d);
	if (!d.bad)
		load(&d);
	if (d.pid)
		target(&d);
	return d.bad ? EXIT_FAILED : EXIT_DONE;
}
