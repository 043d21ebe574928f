// SPDX-License-Identifier: GPL-2.0
/*
 * file:line of C code, with libdw, in a child process without privileges.
 *
 * Upstream: csymbols.c starts it for a file with DWARF, at the first PC in it. A hostile file can
 * only harm the child process, which has the file and a socket, limited memory and CPU time, and
 * ends with its parent. The parent waits no longer than the rings allow, then continues without
 * lines.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/process/csymbols_impl.h"

#define PATIENCE_MS 400 /* ms; the rings buffer about a second */
#define MEMORY_MAX  (1ull << 30)
#define CPU_MAX	    20 /* seconds, in total */

/* ---- the child ---- */

static bool find_unit(Dwarf *dw, uint64_t addr, Dwarf_Die *ret)
{
	Dwarf_CU *cu = NULL;

	if (dwarf_addrdie(dw, addr, ret))
		return true;
	/* dwarf_addrdie() needs .debug_aranges, which may be missing. */
	while (dwarf_get_units(dw, cu, &cu, NULL, NULL, ret, NULL) == 0) {
		if (dwarf_haspc(ret, addr) > 0)
			return true;
	}
	return false;
}

static void look_up(Dwarf *dw, uint64_t addr, struct cline *ret)
{
	const char *file, *folder = NULL;
	Dwarf_Attribute attr;
	Dwarf_Line *line;
	Dwarf_Die unit;
	int number = 0;

	if (!dw || !find_unit(dw, addr, &unit))
		return;
	line = dwarf_getsrc_die(&unit, addr);
	file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!file || dwarf_lineno(line, &number) || number <= 0)
		return;
	if (file[0] != '/' && dwarf_attr(&unit, DW_AT_comp_dir, &attr))
		folder = dwarf_formstring(&attr);
	snprintf(ret->file, sizeof(ret->file), "%.120s%s%.120s", folder ? folder : "",
		 folder ? "/" : "", file);
	ret->line = (uint32_t)number;
}

static void limit(int what, rlim_t to)
{
	setrlimit(what, &(struct rlimit){ to, to });
}

/* Closes all descriptors of the recorder: its probes must not outlive it in this process. */
static void isolate(int channel, int file)
{
	cap_t none = cap_init();
	int fd[2] = { fcntl(channel, F_DUPFD, 3), fcntl(file, F_DUPFD, 3) };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 2; i++) {
		if (fd[i] < 0 || dup2(fd[i], i) < 0)
			_exit(1);
	}
	if (close_range(2, ~0u, 0) || !none || cap_set_proc(none))
		_exit(1);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0);
#ifndef __SANITIZE_ADDRESS__ /* its shadow memory is larger */
	limit(RLIMIT_AS, MEMORY_MAX);
#endif
	limit(RLIMIT_CPU, CPU_MAX);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NOFILE, 0); /* DWARF may name other files, which libdw would open */
	limit(RLIMIT_NPROC, 0);
}

__attribute__((noreturn)) static void serve(void)
{
	uint64_t addr;
	Dwarf *dw;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(1, ELF_C_READ, NULL);
	dw = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	while (recv(0, &addr, sizeof(addr), 0) == sizeof(addr)) {
		struct cline answer = { 0 };

		look_up(dw, addr, &answer);
		if (send(0, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
			break;
	}
	_exit(0);
}

/* ---- the parent ---- */

void cline_reader__start(struct cline_reader *r, int fd)
{
	int pair[2];

	*r = (struct cline_reader){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return;
	r->pid = fork();
	if (!r->pid) {
		isolate(pair[1], fd);
		serve();
	}
	close(pair[1]);
	r->fd = pair[0];
	if (r->pid < 0) {
		r->pid = 0;
		cline_reader__stop(r);
	}
}

void cline_reader__stop(struct cline_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->pid) {
		kill(r->pid, SIGKILL);
		while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	*r = (struct cline_reader){ .fd = -1 };
}

static bool ask(const struct cline_reader *r, uint64_t addr, struct cline *ret)
{
	struct pollfd p = { .fd = r->fd, .events = POLLIN };

	return send(r->fd, &addr, sizeof(addr), MSG_NOSIGNAL) == sizeof(addr) &&
	       poll(&p, 1, PATIENCE_MS) == 1 && recv(r->fd, ret, sizeof(*ret), 0) == sizeof(*ret);
}

void cline_reader__find(struct cline_reader *r, uint64_t addr, struct cline *ret)
{
	*ret = (struct cline){ 0 };
	if (!r->pid)
		return;
	if (!ask(r, addr, ret)) {
		*ret = (struct cline){ 0 };
		cline_reader__stop(r);
	}
	ret->file[sizeof(ret->file) - 1] = 0;
}
