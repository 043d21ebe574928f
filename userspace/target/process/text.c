// SPDX-License-Identifier: GPL-2.0
/* Compares the code at the sites in memory with the file: see text.h. */
#include "target/process/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/arch/arch.h"
#include "target/elf/elf.h"
#include "target/probe/site.h"
#include "target/process/process.h"
#include "target/process/reader.h"

/*
 * Without a tracer a breakpoint can only be a uprobe of another recorder; with one its owner is
 * unknown. Our own process traces a command that it starts, and sets no breakpoints.
 */
static pid_t tracer_of(const struct process *proc)
{
	char field[32];
	pid_t tracer = 0;

	if (process__status(proc->pid, "status", "TracerPid", field, sizeof(field)))
		tracer = atoi(field);
	return tracer && syscall(SYS_tgkill, getpid(), tracer, 0) ? tracer : 0;
}

static void command_of(pid_t pid, char *ret, size_t size)
{
	if (process__read_file(pid, "comm", ret, size) <= 0)
		snprintf(ret, size, "?");
	for (char *p = ret; *p; p++)
		if (*p < ' ')
			*p = '\0';
}

static int refuse_breakpoint(pid_t tracer, const struct site *site, struct error *error)
{
	char command[64];

	command_of(tracer, command, sizeof(command));
	return error__set(
		error, -EBUSY,
		"process %d (%s) is debugging it and has a breakpoint in %s, which must be probed; "
		"remove the breakpoint or end the debugger",
		tracer, command, site->func);
}

struct checking {
	const struct process *proc;
	const struct elf_image *elf;
	const struct site_list *sites;
	struct error why;
};

static int check(void *ctx)
{
	struct checking *c = ctx;
	const struct site_list *sites = c->sites;
	uint64_t *addr = calloc(sites->n + 1, sizeof(*addr));
	unsigned char *code = calloc(sites->n + 1, 1), file;
	bool *ok = calloc(sites->n + 1, sizeof(*ok));
	const struct site *trapped = NULL;
	size_t traps = 0;
	pid_t tracer;
	int err = addr && code && ok ? 0 : -ENOMEM;

	for (size_t i = 0; i < sites->n && !err; i++)
		addr[i] = sites->site[i].addr + c->proc->bias;
	if (!err)
		err = process__read_many(c->proc, addr, sites->n, code, 1, ok);
	for (size_t i = 0; i < sites->n && !err; i++) {
		const struct site *site = &sites->site[i];

		if (!ok[i] || elf_image__read(c->elf, site->addr, &file, 1) != 1 || code[i] == file)
			continue;
		if (code[i] != ARCH_BREAKPOINT) {
			err = error__set(&c->why, -EPROTO,
					 "the code of %s in memory differs from the file: "
					 "it was modified at run time; restart the process",
					 site->func);
			break;
		}
		trapped = site;
		traps++;
	}
	if (!err && traps) {
		tracer = tracer_of(c->proc);
		if (tracer)
			err = refuse_breakpoint(tracer, trapped, &c->why);
	}
	free(addr);
	free(code);
	free(ok);
	return err;
}

int text__check(const struct process *proc, const struct elf_image *elf,
		const struct site_list *sites, struct error *error)
{
	struct checking c = { .proc = proc, .elf = elf, .sites = sites };
	int err = reader__run(check, &c, sizeof(c), NULL, NULL);

	if (err == -ETIMEDOUT || err == -EINTR)
		return reader__blocked(err, proc->pid, error);
	return err && c.why.text[0] ? error__set(error, err, "%s", c.why.text) : err;
}
