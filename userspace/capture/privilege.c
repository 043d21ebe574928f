// SPDX-License-Identifier: GPL-2.0
/*
 * Drops capabilities after the last attach: see privilege.h. Links stay attached by their file
 * descriptors, and reading maps by descriptor requires no capability.
 */
#include "capture/privilege.h"

#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "lib/log.h"

static const struct {
	unsigned int purpose;
	cap_value_t cap;
} uses[] = {
	{ PRIVILEGE_READ, CAP_SYS_PTRACE },	    { PRIVILEGE_MODULES, CAP_CHECKPOINT_RESTORE },
	{ PRIVILEGE_MODULES, CAP_DAC_READ_SEARCH }, { PRIVILEGE_COMMAND, CAP_KILL },
	{ PRIVILEGE_FOLDER, CAP_DAC_OVERRIDE },	    { PRIVILEGE_FOLDER, CAP_FOWNER },
	{ PRIVILEGE_EVENTS, CAP_PERFMON },	    { PRIVILEGE_UPROBES, CAP_PERFMON },
	{ PRIVILEGE_UPROBES, CAP_SYS_ADMIN },	    { PRIVILEGE_OWNER, CAP_CHOWN },
};

static bool is_needed(unsigned int keep, cap_value_t cap)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (uses[i].cap == cap && uses[i].purpose & keep)
			return true;
	return false;
}

/*
 * Requires CAP_SETPCAP; without it, only no_new_privs prevents an exec from gaining capabilities.
 */
static void empty_bounding_set(void)
{
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (cap_drop_bound(cap))
			return;
}

void privilege__drop(unsigned int keep)
{
	cap_t had = cap_get_proc(), left = cap_init();
	cap_flag_value_t is_set;

	empty_bounding_set();
	for (size_t i = 0; had && left && i < sizeof(uses) / sizeof(uses[0]); i++) {
		cap_value_t cap = uses[i].cap;

		if (!is_needed(keep, cap) || cap_get_flag(had, cap, CAP_PERMITTED, &is_set) ||
		    is_set != CAP_SET)
			continue;
		cap_set_flag(left, CAP_PERMITTED, 1, &cap, CAP_SET);
		cap_set_flag(left, CAP_EFFECTIVE, 1, &cap, CAP_SET);
	}
	/* This also removes the ambient capabilities: they must be permitted and inheritable. */
	if (!left || cap_set_proc(left))
		log__debug("cannot drop privileges");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		log__debug("cannot set no_new_privs");
	cap_free(had);
	cap_free(left);
}

/*
 * Execution of programs, writing to other processes, changes of the system, and the namespaces
 * and users of this process. Reading the target, attaching for another window and writing files remain.
 */
static const int forbidden[] = {
	SCMP_SYS(execve),	SCMP_SYS(execveat),	   SCMP_SYS(process_vm_writev),
	SCMP_SYS(init_module),	SCMP_SYS(finit_module),	   SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load),	SCMP_SYS(kexec_file_load), SCMP_SYS(reboot),
	SCMP_SYS(mount),	SCMP_SYS(umount2),	   SCMP_SYS(move_mount),
	SCMP_SYS(open_tree),	SCMP_SYS(fsopen),	   SCMP_SYS(pivot_root),
	SCMP_SYS(chroot),	SCMP_SYS(unshare),	   SCMP_SYS(setns),
	SCMP_SYS(swapon),	SCMP_SYS(swapoff),	   SCMP_SYS(setuid),
	SCMP_SYS(setgid),	SCMP_SYS(setreuid),	   SCMP_SYS(setregid),
	SCMP_SYS(setresuid),	SCMP_SYS(setresgid),	   SCMP_SYS(setgroups),
	SCMP_SYS(settimeofday), SCMP_SYS(clock_settime),   SCMP_SYS(clock_adjtime),
	SCMP_SYS(sethostname),	SCMP_SYS(add_key),	   SCMP_SYS(request_key),
	SCMP_SYS(keyctl),	SCMP_SYS(io_uring_setup),  SCMP_SYS(userfaultfd),
	SCMP_SYS(iopl),		SCMP_SYS(ioperm),	   SCMP_SYS(acct),
	SCMP_SYS(quotactl),
};

static const int forbidden_families[] = { AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK };

void privilege__forbid_calls(unsigned int keep)
{
	const uint32_t deny = SCMP_ACT_ERRNO(EPERM);
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int err = ctx ? seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;

	for (size_t i = 0; !err && i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
		err = seccomp_rule_add(ctx, deny, forbidden[i], 0);
	if (!err && !(keep & (PRIVILEGE_COMMAND | PRIVILEGE_INLINE)))
		err = seccomp_rule_add(ctx, deny, SCMP_SYS(ptrace), 0);
	for (size_t i = 0; !err && i < sizeof(forbidden_families) / sizeof(int); i++)
		err = seccomp_rule_add(ctx, deny, SCMP_SYS(socket), 1,
				       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)forbidden_families[i]));
	if (!err)
		err = seccomp_load(ctx);
	if (err)
		log__debug("cannot filter system calls");
	if (ctx)
		seccomp_release(ctx);
}
