// SPDX-License-Identifier: GPL-2.0
/*
 * The reasons to refuse a process that are visible without changing it: see choose.h. Those that only
 * the process itself or its tracer can find are in inject_choose.c, install.c and pages.c; these are
 * found there as well if they arise later.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inline/choose.h"
#include "inline/claim.h"
#include "lib/capability.h"
#include "target/arch/arch.h"
#include "target/process/reader.h"

#define MOUNTS_MAX 100000 /* as the kernel's fs.mount-max */
#define CLAIM_MS   2000	  /* until the guardian of the last recording has ended */
#define PAGE	   4096ull

static bool status(const struct process *proc, const char *key, char *ret, size_t size)
{
	return process__status(proc->pid, "status", key, ret, size);
}

static long status_number(const struct process *proc, const char *key)
{
	char text[64];

	return status(proc, key, text, sizeof(text)) ? atol(text) : 0;
}

/* ---- its state ---- */

static int check_tracer(const struct process *proc, struct error *error)
{
	long tracer = status_number(proc, "TracerPid");

	if (!tracer)
		return 0;
	return error__set(error, -EBUSY,
			  "process %d is traced by process %ld: inline probes need ptrace; "
			  "end that tracer, or record with --probes=uprobe",
			  proc->pid, tracer);
}

static int check_stopped(const struct process *proc, struct error *error)
{
	char state[32];

	if (!status(proc, "State", state, sizeof(state)) || state[0] != 'T')
		return 0;
	return error__set(error, -EBUSY,
			  "process %d is stopped by a signal: continue it with SIGCONT", proc->pid);
}

static bool group_is_frozen(const char *mount, const char *group, const char *file)
{
	char path[PATH_MAX], text[256];
	ssize_t n;
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s%s/%s", mount, group, file) >= sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return strstr(text, "frozen 1") || strstr(text, "FROZEN") || strstr(text, "FREEZING");
}

/* Whether its cgroup is frozen, if the file systems are mounted where they usually are. */
static bool is_frozen(const struct process *proc)
{
	char text[8192], *next = text, *line, *controllers, *group;

	if (process__read_file(proc->pid, "cgroup", text, sizeof(text)) <= 0)
		return false;
	while ((line = strsep(&next, "\n"))) { /* ID:CONTROLLERS:PATH */
		strsep(&line, ":");
		controllers = strsep(&line, ":");
		group = line;
		if (!group)
			continue;
		if (!*controllers &&
		    (group_is_frozen("/sys/fs/cgroup", group, "cgroup.events") ||
		     group_is_frozen("/sys/fs/cgroup/unified", group, "cgroup.events")))
			return true;
		if (strstr(controllers, "freezer") &&
		    group_is_frozen("/sys/fs/cgroup/freezer", group, "freezer.state"))
			return true;
	}
	return false;
}

static int check_frozen(const struct process *proc, struct error *error)
{
	if (!is_frozen(proc))
		return 0;
	return error__set(error, -EBUSY, "the cgroup of process %d is frozen: thaw it first",
			  proc->pid);
}

static int check_claim(const struct process *proc, struct error *error)
{
	if (claim__await(proc->pid, CLAIM_MS))
		return 0;
	return claim__refuse(proc->pid, error);
}

/* ---- what it forbids ---- */

/* arch/x86/kernel/cpu/proc.c: x86_Thread_features (Linux 6.6) lists "shstk" and "wrss". */
static int check_shadow_stack(const struct process *proc, struct error *error)
{
	char features[128];

	if (!status(proc, "x86_Thread_features", features, sizeof(features)) ||
	    !strstr(features, "shstk"))
		return 0;
	return error__set(error, -ENOTSUP,
			  "process %d has a shadow stack, which inline probes do not support; "
			  "record with --probes=uprobe",
			  proc->pid);
}

/* To write its memory, to read what its threads wait in, and to pass a signal on: by /proc and tgkill(2). */
static int check_owner(const struct process *proc, struct error *error)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/mem", proc->pid);
	if (stat(path, &st) || st.st_uid == geteuid() ||
	    (capability__has(CAP_DAC_OVERRIDE) && capability__has(CAP_DAC_READ_SEARCH) &&
	     capability__has(CAP_KILL)))
		return 0;
	return error__set(error, -EPERM,
			  "process %d belongs to another user, so inline probes also require "
			  "CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_KILL; record with "
			  "--probes=uprobe",
			  proc->pid);
}

/* ptrace_may_suspend_seccomp() of kernel/ptrace.c; the rings are opened through /proc/PID/map_files. */
static int check_privileges(const struct process *proc, struct error *error)
{
	char own[16] = "";

	process__status(getpid(), "status", "Seccomp", own, sizeof(own));
	if (!capability__has(CAP_SYS_ADMIN) && !capability__has(CAP_CHECKPOINT_RESTORE))
		return error__set(error, -EPERM,
				  "inline probes require CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE; "
				  "record with --probes=uprobe");
	if (!status_number(proc, "Seccomp") || (capability__has(CAP_SYS_ADMIN) && !atoi(own)))
		return 0;
	return error__set(error, -ENOTSUP,
			  "cannot suspend the seccomp filter of process %d, which needs "
			  "CAP_SYS_ADMIN and no filter on the recorder; record with "
			  "--probes=uprobe",
			  proc->pid);
}

/*
 * "36 35 98:0 /root /mount/point options [tags] - type source options": what is mounted at /proc, if it is
 * that mount.
 */
static void look_at_mount(char *line, bool *ret_is_proc)
{
	char *field = NULL, *type = strstr(line, " - ");

	for (unsigned int i = 0; i < 5 && line; i++)
		field = strsep(&line, " ");
	if (type && field && !strcmp(field, "/proc"))
		*ret_is_proc = !strncmp(type, " - proc ", 8);
}

/*
 * The process opens its own executable there. The check reads the kernel's list of the process's mounts,
 * since a file system that the process has mounted may never answer. The list is missing only while the
 * process ends.
 */
static int check_proc(const struct process *proc, struct error *error)
{
	bool found = false;
	size_t size = 0;
	char path[64], *line = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", proc->pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	for (unsigned int i = 0; i < MOUNTS_MAX && getline(&line, &size, f) > 0; i++)
		look_at_mount(line, &found); /* a later one is above */
	free(line);
	fclose(f);
	if (found)
		return 0;
	return error__set(error, -ENOTSUP,
			  "process %d has no /proc, which inline probes need; record with "
			  "--probes=uprobe",
			  proc->pid);
}

/* ---- its code ---- */

struct code {
	const struct process *proc;
	const struct elf_image *elf;
	const struct gt_inline *in;
	uint64_t foreign; /* link-time address of a breakpoint; 0: none */
};

/* Sites have the jumps of a recorder that was killed, whose bytes may be anything. */
static bool is_in_site(const struct gt_inline *in, uint64_t addr)
{
	for (size_t i = 0; i < in->nsites; i++)
		if (addr - in->site[i].addr < in->site[i].size)
			return true;
	return false;
}

static void look_at_page(struct code *c, uint64_t page)
{
	unsigned char now[PAGE], file[PAGE];
	size_t known = elf_image__read(c->elf, page, file, sizeof(file));

	if (process__read(c->proc, page + c->proc->bias, now, sizeof(now)))
		return;
	for (size_t i = 0; i < known && !c->foreign; i++)
		if (now[i] != file[i] && now[i] == ARCH_BREAKPOINT && !is_in_site(c->in, page + i))
			c->foreign = page + i;
}

static int look_at_code(void *ctx)
{
	struct code *c = ctx;

	for (size_t i = 0; i < c->in->nsites; i++) {
		uint64_t first = c->in->site[i].addr & ~(PAGE - 1),
			 last = (c->in->site[i].addr + c->in->site[i].size - 1) & ~(PAGE - 1);

		look_at_page(c, first);
		if (last != first)
			look_at_page(c, last);
	}
	return 0;
}

/* A breakpoint in the pages that are to be replaced: pages.c would refuse it. */
static int check_code(const struct process *proc, const struct elf_image *elf,
		      const struct gt_inline *in, struct error *error)
{
	struct code c = { .proc = proc, .elf = elf, .in = in };
	int err = reader__run(look_at_code, &c, sizeof(c), NULL, NULL);

	if (err == -ETIMEDOUT || err == -EINTR)
		return reader__blocked(err, proc->pid, error);
	if (err || !c.foreign)
		return err;
	return error__set(error, -EBUSY,
			  "the code of process %d at %#" PRIx64 " differs from its file (a "
			  "breakpoint): another tracer or a debugger changes it; record with "
			  "--probes=uprobe",
			  proc->pid, c.foreign + proc->bias);
}

int inline_process__check(const struct process *proc, const struct elf_image *elf,
			  const struct gt_inline *in, struct error *error)
{
	int (*const checks[])(const struct process *, struct error *) = {
		check_tracer,	    check_stopped,    check_frozen, check_claim,
		check_shadow_stack, check_privileges, check_owner,  check_proc,
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks) && !err; i++)
		err = checks[i](proc, error);
	return err ? err : check_code(proc, elf, in, error);
}
