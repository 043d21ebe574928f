// SPDX-License-Identifier: GPL-2.0
/*
 * What the process that faces clients can still do, should one of them take it over: answer other
 * clients wrongly, ask the supervisor what any client may ask, and exit.
 *
 * It has another user than root, no capability and no way to gain one, an empty root
 * directory, and no system call that opens a file, executes a program, creates a process or
 * a socket with an address, or reaches another process. Calls that are not permitted fail with
 * EPERM: another release of the C library may try one and have a fallback, and the service should
 * not end for that; the call is denied all the same. Calls that only an attacker makes kill the
 * process.
 */
#include "service/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inline/confine.h"

#ifdef __SANITIZE_ADDRESS__
#define MEMORY_LIMITED 0 /* the shadow memory of sanitizers takes terabytes of address space */
#else
#define MEMORY_LIMITED 1
#endif

static int change_user(const struct sandbox_opts *opts)
{
	if (!opts->uid || !opts->gid)
		return -EINVAL;
	if (setgroups(0, NULL) || setresgid(opts->gid, opts->gid, opts->gid) ||
	    setresuid(opts->uid, opts->uid, opts->uid))
		return -errno;
	return 0;
}

static uint64_t address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int set_limits(const struct sandbox_opts *opts, uint64_t used)
{
	int err = confine__limit(RLIMIT_CORE, 0);

	if (!err)
		err = confine__limit(RLIMIT_NPROC, 0);
	if (!err)
		err = confine__limit(RLIMIT_NOFILE, opts->files);
	if (!err && MEMORY_LIMITED)
		err = confine__limit(RLIMIT_AS, used + opts->memory);
	return err;
}

int sandbox__drop(const struct sandbox_opts *opts, struct error *error)
{
	uint64_t used = address_space();
	pid_t parent = getppid();
	int err;

	err = confine__keep_only(opts->fds, opts->nfds);
	if (err)
		return error__set(error, err, "cannot close files: %s", strerror(-err));
	if (!used)
		return error__set(error, -EIO, "cannot read /proc/self/statm");
	if (geteuid() == 0) {
		err = confine__enter_empty_root();
		if (err)
			return error__set(error, err, "cannot enter an empty root directory: %s",
					  strerror(-err));
		err = change_user(opts);
		if (err)
			return error__set(error, err, "cannot change to user %u: %s", opts->uid,
					  strerror(-err));
	}
	err = confine__keep_capabilities(NULL, 0);
	if (err)
		return error__set(error, err, "cannot drop capabilities: %s", strerror(-err));
	err = set_limits(opts, used);
	if (err)
		return error__set(error, err, "cannot set resource limits: %s", strerror(-err));
	/* After the change of the user, which resets both. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return error__set(error, -errno, "cannot confine the process: %m");
	return getppid() == parent ? 0 : error__set(error, -ESRCH, "the supervisor has ended");
}

/* Of the C library, of libmicrohttpd, and of channel.c. */
static const int permitted[] = {
	SCMP_SYS(read),		  SCMP_SYS(write),
	SCMP_SYS(readv),	  SCMP_SYS(writev),
	SCMP_SYS(pread64),	  SCMP_SYS(close),
	SCMP_SYS(recvfrom),	  SCMP_SYS(recvmsg),
	SCMP_SYS(sendto),	  SCMP_SYS(sendmsg),
	SCMP_SYS(sendfile),	  SCMP_SYS(accept4),
	SCMP_SYS(shutdown),	  SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt),	  SCMP_SYS(getsockname),
	SCMP_SYS(poll),		  SCMP_SYS(ppoll),
	SCMP_SYS(epoll_wait),	  SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_ctl),	  SCMP_SYS(memfd_create),
	SCMP_SYS(fstat),	  SCMP_SYS(lseek),
	SCMP_SYS(munmap),	  SCMP_SYS(mremap),
	SCMP_SYS(madvise),	  SCMP_SYS(brk),
	SCMP_SYS(futex),	  SCMP_SYS(clock_gettime),
	SCMP_SYS(gettimeofday),	  SCMP_SYS(time),
	SCMP_SYS(getrandom),	  SCMP_SYS(getpid),
	SCMP_SYS(gettid),	  SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack),	  SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),		  SCMP_SYS(exit_group),
};

static const int fatal[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(mount),
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(userfaultfd),
};

/* Calls that are permitted with some arguments only. */
static int permit_some(scmp_filter_ctx ctx)
{
	const scmp_datum_t exec = PROT_EXEC;
	static const int commands[] = { F_GETFL, F_SETFL, F_GETFD, F_SETFD, F_GET_SEALS };
	static const int memory[] = { SCMP_SYS(mmap), SCMP_SYS(mprotect) };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(memory) / sizeof(memory[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, memory[i], 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, exec, 0));
	for (size_t i = 0; !err && i < sizeof(commands) / sizeof(commands[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				       SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)commands[i]));
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 1,
				       SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
	/* fstat() of glibc; any path would be one in the empty root directory. */
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				       SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
	/* abort() */
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	return err;
}

static int add_rules(scmp_filter_ctx ctx)
{
	int err = permit_some(ctx);

	for (size_t i = 0; !err && i < sizeof(permitted) / sizeof(permitted[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, permitted[i], 0);
	for (size_t i = 0; !err && i < sizeof(fatal) / sizeof(fatal[0]); i++) {
		err = seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, fatal[i], 0);
		if (err == -EACCES)
			err = 0; /* it is the default action */
	}
	return err;
}

int sandbox__seal(const struct sandbox_opts *opts, struct error *error)
{
	scmp_filter_ctx ctx =
		seccomp_init(opts->strict ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(EPERM));
	int err = ctx ? add_rules(ctx) : -ENOMEM;

	if (!err)
		err = seccomp_load(ctx);
	if (ctx)
		seccomp_release(ctx);
	return err ? error__set(error, err, "cannot filter system calls: %s", strerror(-err)) : 0;
}
