// SPDX-License-Identifier: GPL-2.0
/*
 * See guardian_filter.h. The guardian reads what the target has: its memory, threads and mappings. It
 * writes to the target by a descriptor that is open already, and has threads of the target traced by
 * another process (inject_tracer.c).
 *
 * Calls that are not permitted fail with EPERM: another release of the C library may try one and have a
 * fallback, and the program's code is to be restored all the same. Calls that only an attacker makes kill
 * the process.
 */
#include "inline/guardian_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "inline/confine.h"
#include "lib/log.h"
#include "target/process/proc.h"

static const int permitted[] = {
	SCMP_SYS(read),		SCMP_SYS(write),
	SCMP_SYS(pread64),	SCMP_SYS(pwrite64),
	SCMP_SYS(lseek),	SCMP_SYS(close),
	SCMP_SYS(getdents64),	SCMP_SYS(readlinkat),
	SCMP_SYS(statx),	SCMP_SYS(newfstatat),
	SCMP_SYS(fstat),	SCMP_SYS(dup2),
	SCMP_SYS(fcntl),	SCMP_SYS(poll),
	SCMP_SYS(ppoll),	SCMP_SYS(sendto),
	SCMP_SYS(recvfrom),	SCMP_SYS(sendmsg),
	SCMP_SYS(recvmsg),	SCMP_SYS(nanosleep),
	SCMP_SYS(munmap),	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(mremap),	SCMP_SYS(clock_gettime),
	SCMP_SYS(madvise),	SCMP_SYS(gettimeofday),
	SCMP_SYS(brk),		SCMP_SYS(time),
	SCMP_SYS(futex),	SCMP_SYS(getrandom),
	SCMP_SYS(getpid),	SCMP_SYS(gettid),
	SCMP_SYS(sysinfo),	SCMP_SYS(sched_getscheduler),
	SCMP_SYS(sched_yield),	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(sigaltstack),	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),		SCMP_SYS(exit_group),
};

static const int fatal[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(bpf),
	SCMP_SYS(open),
	SCMP_SYS(creat),
	SCMP_SYS(openat2),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(mount),
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(chroot),
	SCMP_SYS(pivot_root),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(pidfd_getfd),
};

/* Its own scheduling; signals to itself, by abort() for example; whether another thread is there. */
static int permit_some_others(scmp_filter_ctx ctx)
{
	int err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(sched_setscheduler), 1,
				   SCMP_A0(SCMP_CMP_EQ, 0));

	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				       SCMP_A2(SCMP_CMP_EQ, 0));
	return err;
}

/* Calls that are permitted with some arguments only. */
static int permit_some(scmp_filter_ctx ctx, int proc)
{
	static const int memory[] = { SCMP_SYS(mmap), SCMP_SYS(mprotect) };
	const scmp_datum_t directory = (scmp_datum_t)(unsigned int)proc;
	const scmp_datum_t not_reading = O_ACCMODE | O_CREAT | O_TRUNC;
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(memory) / sizeof(memory[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, memory[i], 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 1,
				       SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(openat), 2,
				       SCMP_A0(SCMP_CMP_EQ, directory),
				       SCMP_A2(SCMP_CMP_MASKED_EQ, not_reading, 0));
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, SCMP_SYS(openat), 1,
				       SCMP_A0(SCMP_CMP_NE, directory));
	for (scmp_datum_t flag = 1; !err && flag <= not_reading; flag <<= 1)
		if (not_reading & flag)
			err = seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, SCMP_SYS(openat), 1,
					       SCMP_A2(SCMP_CMP_MASKED_EQ, flag, flag));
	return err;
}

static int filter_calls(int proc)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = ctx ? permit_some(ctx, proc) : -ENOMEM;

	if (!err)
		err = permit_some_others(ctx);
	for (size_t i = 0; !err && i < sizeof(permitted) / sizeof(permitted[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, permitted[i], 0);
	for (size_t i = 0; !err && i < sizeof(fatal) / sizeof(fatal[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, fatal[i], 0);
	if (!err)
		err = seccomp_load(ctx);
	if (ctx)
		seccomp_release(ctx);
	return err;
}

int guardian__confine(int proc)
{
	/* To read threads of other users, to see who holds a lock, and to change its own scheduling. */
	static const cap_value_t caps[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_SYS_NICE,
					    CAP_KILL };
	int err;

	tzset(); /* syslog() would read the time zone */
	log__connect_syslog();
	err = proc__use(proc);
	confine__enter_empty_root(); /* if it may */
	if (!err)
		err = confine__limit(RLIMIT_CORE, 0);
	if (!err)
		err = confine__keep_capabilities(caps, sizeof(caps) / sizeof(caps[0]));
	return err ? err : filter_calls(proc);
}
