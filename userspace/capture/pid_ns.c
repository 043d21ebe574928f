// SPDX-License-Identifier: GPL-2.0
/* The PID namespace of this process: see pid_ns.h. */
#include "capture/pid_ns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/cpu_events.h"
#include "capture/probes_impl.h"

#include "pid_ns.skel.h"

/* Inodes of the initial namespaces: include/linux/proc_ns.h, PROC_PID_INIT_INO and its neighbour. */
#define INITIAL_PID_NS	0xeffffffcu
#define INITIAL_USER_NS 0xeffffffdu

/* True as well if it is unknown: a kernel without these namespaces. */
static bool is_initial(const char *path, ino_t initial)
{
	struct stat ns;

	return stat(path, &ns) || ns.st_ino == initial;
}

/* Whether /proc names this process as the kernel does. */
static bool is_own_proc(void)
{
	char name[32] = "";

	return readlink("/proc/self", name, sizeof(name) - 1) > 0 && atoi(name) == getpid();
}

int pid_ns__check(struct error *error)
{
	if (!is_own_proc())
		return error__set(error, -ENOTSUP,
				  "/proc is missing, or of another PID namespace than gotrace-bpf: "
				  "mount its own (mount -t proc proc /proc)");
	if (!is_initial("/proc/self/ns/user", INITIAL_USER_NS))
		return error__set(error, -EPERM,
				  "gotrace-bpf is in a user namespace of its own, in which the "
				  "kernel permits no BPF programs: run it in the initial one (for "
				  "a container: without rootless mode or userns-remap)");
	if (!is_initial("/proc/self/ns/pid", INITIAL_PID_NS) && access(KERNEL_BTF, R_OK))
		return error__set(error, -ENOTSUP,
				  "in a PID namespace of its own, gotrace-bpf requires " KERNEL_BTF
				  ", which is missing: mount sysfs, or use a kernel with "
				  "CONFIG_DEBUG_INFO_BTF");
	return 0;
}

static int find(struct gt_pid_ns *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct pid_ns_bpf *skel;
	int err;

	probes__log_libbpf();
	skel = pid_ns_bpf__open_and_load();
	if (!skel)
		return -errno;
	err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.find), &opts);
	if (!err && (int)opts.retval)
		err = -EFAULT;
	if (!err)
		*ret = skel->bss->found;
	pid_ns_bpf__destroy(skel);
	return err;
}

int pid_ns__find(struct gt_pid_ns *ret, struct error *error)
{
	static struct gt_pid_ns own;
	int err = pid_ns__check(error);

	if (!err && !own.address && !is_initial("/proc/self/ns/pid", INITIAL_PID_NS)) {
		err = find(&own);
		if (err)
			return probes__explain(err, error,
					       "cannot find the PID namespace of gotrace-bpf");
	}
	*ret = own;
	return err;
}
