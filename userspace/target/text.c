// SPDX-License-Identifier: GPL-2.0
/*
 * The code at the sites, in memory and in the file: see text.h.
 */
#include "target/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/elf.h"
#include "target/process.h"
#include "target/reader.h"
#include "target/site.h"

#define INT3 0xcc

/*
 * Without a tracer an int3 can only be a uprobe's, of another recorder. With one nobody knows whose
 * it is. We ourselves hold a command that we start, and set none.
 */
static pid_t tracer_of(const struct process *proc)
{
	char path[64], line[256];
	pid_t tracer = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", proc->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	if (f)
		fclose(f);
	return tracer && syscall(SYS_tgkill, getpid(), tracer, 0) ? tracer : 0;
}

static void command_of(pid_t pid, char *ret, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(ret, (int)size, f))
		snprintf(ret, size, "?");
	if (f)
		fclose(f);
	for (char *p = ret; *p; p++)
		if (*p < ' ')
			*p = '\0';
}

static int refuse_breakpoint(pid_t tracer, const struct site *site, struct error *err)
{
	char command[64];

	command_of(tracer, command, sizeof(command));
	return error__set(
		err, -EBUSY,
		"process %d (%s) debugs it and has a breakpoint in %s, which is to be probed; "
		"remove that, or end the debugger",
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
	int ret = addr && code && ok ? 0 : -ENOMEM;

	for (size_t i = 0; i < sites->n && !ret; i++)
		addr[i] = sites->site[i].addr + c->proc->bias;
	if (!ret)
		ret = process__read_many(c->proc, addr, sites->n, code, 1, ok);
	for (size_t i = 0; i < sites->n && !ret; i++) {
		const struct site *site = &sites->site[i];

		if (!ok[i] || elf_image__read(c->elf, site->addr, &file, 1) != 1 || code[i] == file)
			continue;
		if (code[i] != INT3) {
			ret = error__set(
				&c->why, -EPROTO,
				"the code of %s in memory is not that of the file: something "
				"has changed it",
				site->func);
			break;
		}
		trapped = site;
		traps++;
	}
	if (!ret && traps) {
		tracer = tracer_of(c->proc);
		if (tracer)
			ret = refuse_breakpoint(tracer, trapped, &c->why);
	}
	free(addr);
	free(code);
	free(ok);
	return ret;
}

int text__check(const struct process *proc, const struct elf_image *elf,
		const struct site_list *sites, struct error *err)
{
	struct checking c = { .proc = proc, .elf = elf, .sites = sites };
	int code = reader__run(check, &c, sizeof(c), NULL, NULL);

	if (code == -ETIMEDOUT || code == -EINTR)
		return reader__blocked(code, proc->pid, err);
	return code && c.why.text[0] ? error__set(err, code, "%s", c.why.text) : code;
}
