// SPDX-License-Identifier: GPL-2.0
/*
 * doctor: which capabilities recordings require here, which of them are missing, and the command that
 * grants all of them to this program.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/perf_event.h>

#include "capture/probes.h"
#include "lib/capability.h"
#include "doctor.h"

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

/* Names all that are required, as setcap replaces those that the file has. */
static void report_setcap(struct doctor *d, bool admin)
{
	char path[PATH_MAX] = "gotrace-bpf";
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len > 0)
		path[len] = '\0';
	doctor__report(d, NOTE, "setcap",
		       "to grant what is missing: sudo setcap %s,%s,%s,%s%s=ep %s", needs[0].name,
		       needs[1].name, needs[2].name, needs[3].name, admin ? ",cap_sys_admin" : "",
		       path);
}

void doctor__privileges(struct doctor *d)
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
