// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events: see kernel_probes.h. The programs are in bpf/sched.bpf.c and bpf/syscall.bpf.c.
 * Unlike the probes they require the kernel's types (BTF), which libbpf takes tens of milliseconds
 * to read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "capture/cpu_events.h"
#include "capture/kernel_probes.h"
#include "lib/log.h"
#include "target/probe/site.h"

#include "kernel.skel.h"

#define FAULT_EVENTS 3

struct kernel_probes {
	struct kernel_bpf *skel;
	struct cpu_events faults[FAULT_EVENTS]; /* start; end of minor, and of major faults */
	bool has_faults;			/* they are attached */
	bool has_sockets;			/* the programs of sockets are loaded */
	unsigned int sets;			/* bits, by enum site_set: loaded */
	unsigned int selected;			/* those of them that are attached */
	gt_u64 skipped[GT_KIND_END];		/* before kernel_probes__forget_skipped() */
};

/* Required features of the kernel, and the name in its BTF that shows each. */
static const struct need {
	int kind;
	const char *name, *what, *config;
} needs[] = {
	{ BTF_KIND_TYPEDEF, "btf_trace_sched_switch", "tracepoint sched:sched_switch",
	  "CONFIG_BPF_EVENTS" },
	{ BTF_KIND_TYPEDEF, "btf_trace_sched_waking", "tracepoint sched:sched_waking",
	  "CONFIG_BPF_EVENTS" },
	{ BTF_KIND_TYPEDEF, "btf_trace_sched_wakeup", "tracepoint sched:sched_wakeup",
	  "CONFIG_BPF_EVENTS" },
	{ BTF_KIND_TYPEDEF, "btf_trace_sched_wakeup_new", "tracepoint sched:sched_wakeup_new",
	  "CONFIG_BPF_EVENTS" },
	{ BTF_KIND_TYPEDEF, "btf_trace_sched_migrate_task", "tracepoint sched:sched_migrate_task",
	  "CONFIG_BPF_EVENTS" },
	{ BTF_KIND_TYPEDEF, "btf_trace_task_newtask", "tracepoint task:task_newtask",
	  "CONFIG_BPF_EVENTS" },
	{ BTF_KIND_TYPEDEF, "btf_trace_task_rename", "tracepoint task:task_rename",
	  "CONFIG_BPF_EVENTS" },
	{ BTF_KIND_FUNC, "bpf_iter_task", "BPF iterator of tasks", "CONFIG_BPF_SYSCALL" },
	{ BTF_KIND_TYPEDEF, "btf_trace_sys_enter", "tracepoint raw_syscalls:sys_enter",
	  "CONFIG_FTRACE_SYSCALLS" },
	{ BTF_KIND_TYPEDEF, "btf_trace_sys_exit", "tracepoint raw_syscalls:sys_exit",
	  "CONFIG_FTRACE_SYSCALLS" },
};

static int find_needs(struct error *error)
{
	struct btf *btf = access(KERNEL_BTF, R_OK) ? NULL : btf__load_vmlinux_btf();
	const struct need *need;
	int err = 0;

	if (!btf)
		return error__set(error, -ENOENT,
				  KERNEL_BTF
				  " is missing: the kernel requires CONFIG_DEBUG_INFO_BTF");
	for (need = needs; need < needs + sizeof(needs) / sizeof(*needs) && !err; need++)
		if (btf__find_by_name_kind(btf, need->name, (__u32)need->kind) < 0)
			err = error__set(error, -ENOENT, "this kernel has no %s: it requires %s",
					 need->what, need->config);
	btf__free(btf);
	return err;
}

int kernel_probes__possible(unsigned int sets, struct error *error)
{
	int err = sets & SITE_SET(KERNEL) ? find_needs(error) : 0;

	if (!err && sets & SITE_SET(FAULT))
		err = cpu_events__possible(PERF_COUNT_SW_PAGE_FAULTS);
	switch (-err) {
	case EPERM:
	case EACCES:
		return error__set(error, err,
				  "page faults: not permitted; run as root, or with CAP_BPF and "
				  "CAP_PERFMON, and without a seccomp filter that forbids "
				  "perf_event_open");
	case 0:
		return 0;
	default:
		return error__set(error, err,
				  "page faults: this kernel has no perf event for them "
				  "(CONFIG_PERF_EVENTS); record without event set fault");
	}
}

static int explain(int err, unsigned int sets, struct error *error)
{
	if (err == -EPERM)
		error__set(error, err,
			   "kernel events: not permitted; run as root, or with CAP_BPF and "
			   "CAP_PERFMON");
	if (err == -EMFILE)
		error__set(error, err,
			   "kernel events: too many open files; raise the limit (ulimit -n)");
	kernel_probes__possible(sets, error);
	return error__set(error, err, "kernel events: %s%s",
			  err == -EACCES ? "the kernel's verifier rejects the BPF programs" :
					   strerror(-err),
			  log__verbose() ? "" : " (--verbose shows the kernel's log)");
}

/* The offset of a per-CPU variable in the per-CPU area. */
static bool find_per_cpu(const struct btf *btf, const char *name, long *ret)
{
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
	const struct btf_var_secinfo *var = section ? btf_var_secinfos(section) : NULL;
	int n = section ? btf_vlen(section) : 0;

	id = btf__find_by_name_kind(btf, name, BTF_KIND_VAR);
	for (; n > 0; n--, var++) {
		if (id < 0 || var->type != (__u32)id)
			continue;
		*ret = var->offset;
		return true;
	}
	return false;
}

/* For in_interrupt() in bpf/sched.bpf.c. 0: unknown. */
static long find_preempt_count(const struct btf *btf)
{
	long rq, count;

	if (!find_per_cpu(btf, "runqueues", &rq) ||
	    (!find_per_cpu(btf, "__preempt_count", &count) &&
	     !find_per_cpu(btf, "pcpu_hot", &count)))
		return 0;
	return count - rq;
}

static bool is_of_sockets(const struct kernel_bpf *skel, const struct bpf_program *program)
{
	return program == skel->progs.socket_established ||
	       program == skel->progs.socket_readable || program == skel->progs.socket_read ||
	       program == skel->progs.socket_written;
}

/*
 * Whether the kernel has the tracepoints of the programs of sockets: 6.3 and later. Without them
 * requests begin when their goroutine is made runnable. The kernel's flight recorder has no such
 * records.
 */
static bool has_sockets(const struct kernel_bpf *skel, const struct btf *btf)
{
	static const char *const types[] = { "btf_trace_inet_sock_set_state",
					     "btf_trace_sk_data_ready",
					     "btf_trace_sock_recv_length",
					     "btf_trace_sock_send_length" };

	if (skel->rodata->config.session || !skel->rodata->config.syscall_at)
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (btf__find_by_name_kind(btf, types[i], BTF_KIND_TYPEDEF) < 0)
			return false;
	return true;
}

/* Sets what the programs cannot relocate by BTF themselves, and *sockets to whether that is possible. */
static int prepare(struct kernel_bpf *skel, unsigned int sets, bool *sockets)
{
	bool needed = sets & SITE_SET(KERNEL) || *sockets;
	struct btf *btf = needed ? btf__load_vmlinux_btf() : NULL;

	if (!btf) {
		*sockets = false;
		return sets & SITE_SET(KERNEL) ? -errno : 0;
	}
	skel->rodata->preempt_count_from_rq = find_preempt_count(btf);
	*sockets &= has_sockets(skel, btf);
	btf__free(btf);
	return 0;
}

/* bpf/waits.bpf.h: no thread waits for a CPU, and what each CPU runs is unknown. Nothing is attached. */
static void forget_waits(const struct kernel_probes *k)
{
	int cpus = bpf_map__fd(k->skel->maps.waited_cpus),
	    threads = bpf_map__fd(k->skel->maps.waiting_for);
	const char nothing[64] = {};
	__u32 key;

	for (key = 0; key < bpf_map__max_entries(k->skel->maps.waited_cpus); key++)
		bpf_map_update_elem(cpus, &key, nothing, BPF_ANY);
	while (!bpf_map_get_next_key(threads, NULL, &key) && !bpf_map_delete_elem(threads, &key))
		;
}

static void choose_programs(struct kernel_bpf *skel, unsigned int sets, bool sockets)
{
	struct bpf_program *program;
	bool fault, call, wanted;

	bpf_object__for_each_program (program, skel->obj) {
		fault = program == skel->progs.fault_begin || program == skel->progs.fault_end;
		call = program == skel->progs.sys_enter || program == skel->progs.sys_exit;
		wanted = sets & (fault ? SITE_SET(FAULT) : SITE_SET(KERNEL));
		if (is_of_sockets(skel, program))
			wanted = sockets;
		bpf_program__set_autoload(program, wanted || (call && sets & SITE_SET(SYSCALL)));
	}
	bpf_map__set_autocreate(skel->maps.connections, sockets);
	if (!skel->rodata->pid_ns.level) {
		bpf_program__set_autoload(skel->progs.thread_ends, false);
		bpf_map__set_autocreate(skel->maps.ending, false);
	}
	bpf_program__set_autoattach(skel->progs.present, false);
	bpf_program__set_autoattach(skel->progs.fault_begin, false);
	bpf_program__set_autoattach(skel->progs.fault_end, false);
	bpf_program__set_autoattach(skel->progs.socket_established, false);
	bpf_program__set_autoattach(skel->progs.socket_readable, false);
	bpf_program__set_autoattach(skel->progs.socket_read, false);
	bpf_program__set_autoattach(skel->progs.socket_written, false);
}

static int open_programs(struct kernel_probes *k, const struct gt_config *config,
			 const struct gt_pid_ns *pid_ns, const struct rings *rings, bool sockets)
{
	int err;

	k->skel = kernel_bpf__open();
	if (!k->skel)
		return -errno;
	k->skel->rodata->config = *config;
	k->skel->rodata->pid_ns = *pid_ns;
	err = prepare(k->skel, k->sets, &sockets);
	if (err)
		return err;
	choose_programs(k->skel, k->sets, sockets);
	k->has_sockets = sockets;
	err = bpf_map__set_max_entries(k->skel->maps.waited_cpus,
				       (__u32)libbpf_num_possible_cpus());
	err = err ? err : rings__use(rings, k->skel->obj);
	return err ? err : kernel_bpf__load(k->skel);
}

int kernel_probes__open(struct kernel_probes **ret, const struct gt_config *config,
			const struct gt_pid_ns *pid_ns, const struct rings *rings,
			unsigned int sets, bool sockets, struct error *error)
{
	struct kernel_probes *k = calloc(1, sizeof(*k));
	int err = -ENOMEM;

	if (k) {
		k->sets = k->selected = sets;
		err = open_programs(k, config, pid_ns, rings, sockets);
	}
	if (err && k && k->has_sockets) {
		log__debug("the arrival of requests is not recorded: %s", strerror(-err));
		kernel_bpf__destroy(k->skel);
		err = open_programs(k, config, pid_ns, rings, false);
	}
	if (err) {
		kernel_probes__destroy(k);
		return explain(err, sets, error);
	}
	*ret = k;
	return 0;
}

/* Runs the program `present` once for each of the target's threads; it records their state. */
int kernel_probes__present(const struct kernel_probes *k)
{
	union bpf_iter_link_info info = { .task.pid = k->skel->rodata->config.tgid };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	struct bpf_link *link;
	char nothing[64];
	ssize_t n = 1;
	int fd, err = 0;

	if (!(k->selected & SITE_SET(KERNEL)))
		return 0;
	link = bpf_program__attach_iter(k->skel->progs.present, &opts);
	fd = link ? bpf_iter_create(bpf_link__fd(link)) : -errno;
	if (fd < 0)
		err = fd;
	while (!err && n > 0) {
		n = read(fd, nothing, sizeof(nothing));
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			err = -errno;
		else if (n < 0)
			n = 1;
	}
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

static int attach_faults(struct kernel_probes *k)
{
	static const uint64_t ends[] = { PERF_COUNT_SW_PAGE_FAULTS_MIN,
					 PERF_COUNT_SW_PAGE_FAULTS_MAJ };
	int err = 0;

	for (unsigned int i = 0; i < 2 && !err; i++)
		err = cpu_events__attach(&k->faults[i + 1], k->skel->progs.fault_end, ends[i], 1);
	return err ? err :
		     cpu_events__attach(&k->faults[0], k->skel->progs.fault_begin,
					PERF_COUNT_SW_PAGE_FAULTS, 1);
}

static void detach_faults(struct kernel_probes *k)
{
	for (unsigned int i = 0; i < FAULT_EVENTS; i++)
		cpu_events__detach(&k->faults[i]);
	k->has_faults = false;
}

/* Without one of them there is no arrival: requests begin when their goroutine is made runnable. */
static void attach_sockets(struct kernel_probes *k)
{
	const struct bpf_object_skeleton *skeleton = k->skel->skeleton;
	const struct bpf_prog_skeleton *each = skeleton->progs;

	for (int i = 0; i < skeleton->prog_cnt && k->has_sockets; i++, each++) {
		if (!is_of_sockets(k->skel, *each->prog) || *each->link)
			continue;
		*each->link = bpf_program__attach(*each->prog);
		k->has_sockets = *each->link;
	}
	if (!k->has_sockets)
		log__debug("the arrival of requests is not recorded: %s", strerror(errno));
}

int kernel_probes__attach(struct kernel_probes *k, struct error *error)
{
	int err = kernel_bpf__attach(k->skel);

	if (!err && k->has_sockets)
		attach_sockets(k);
	if (!err && k->selected & SITE_SET(FAULT) && !k->has_faults) {
		err = attach_faults(k);
		k->has_faults = true;
	}
	if (!err)
		err = kernel_probes__present(k);
	return err ? explain(err, k->sets, error) : 0;
}

/* How often the kernel has skipped the program. 0 as well if that is unknown. */
static uint64_t skipped(const struct bpf_program *program)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	int fd = bpf_program__fd(program);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.recursion_misses;
}

/* A switch is of two threads, of which one or both may be the target's. */
static void count_skipped(const struct kernel_probes *k, gt_u64 lost[GT_KIND_END])
{
	lost[GT_CPU_ON] += skipped(k->skel->progs.sched_switch);
	lost[GT_WAKING] += skipped(k->skel->progs.sched_waking);
	lost[GT_SYS_ENTER] += skipped(k->skel->progs.sys_enter);
	lost[GT_SYS_EXIT] += skipped(k->skel->progs.sys_exit);
	lost[GT_THREAD] += skipped(k->skel->progs.task_newtask);
	lost[GT_THREAD] += skipped(k->skel->progs.task_rename);
	lost[GT_SOCKET] += skipped(k->skel->progs.socket_readable);
	lost[GT_SOCKET] += skipped(k->skel->progs.socket_read);
	lost[GT_SOCKET] += skipped(k->skel->progs.socket_written);
}

void kernel_probes__add_skipped(const struct kernel_probes *k, gt_u64 lost[GT_KIND_END])
{
	gt_u64 now[GT_KIND_END] = {};

	count_skipped(k, now);
	for (unsigned int kind = 0; kind < GT_KIND_END; kind++)
		lost[kind] += now[kind] - k->skipped[kind];
}

void kernel_probes__forget_skipped(struct kernel_probes *k)
{
	memset(k->skipped, 0, sizeof(k->skipped));
	count_skipped(k, k->skipped);
}

static bool is_selected(const struct kernel_probes *k, const struct bpf_program *program)
{
	bool call = program == k->skel->progs.sys_enter || program == k->skel->progs.sys_exit;

	if (program == k->skel->progs.present || program == k->skel->progs.fault_begin ||
	    program == k->skel->progs.fault_end)
		return false; /* they are attached in other ways */
	return k->selected & SITE_SET(KERNEL) || (call && k->sets & SITE_SET(SYSCALL));
}

void kernel_probes__select(struct kernel_probes *k, unsigned int sets)
{
	const struct bpf_object_skeleton *skeleton = k->skel->skeleton;
	bool had_kernel = k->selected & SITE_SET(KERNEL);

	k->selected = k->sets & sets;
	__atomic_store_n(&k->skel->bss_calls->calls_only_now, !(k->selected & SITE_SET(KERNEL)),
			 __ATOMIC_SEQ_CST);
	for (int i = 0; i < skeleton->prog_cnt; i++) {
		const struct bpf_prog_skeleton *each = &skeleton->progs[i];
		bool selected = is_selected(k, *each->prog);

		if (is_of_sockets(k->skel, *each->prog))
			continue;
		bpf_program__set_autoattach(*each->prog, selected);
		if (selected || !*each->link)
			continue;
		bpf_link__destroy(*each->link);
		*each->link = NULL;
	}
	if (!(k->selected & SITE_SET(FAULT)))
		detach_faults(k);
	if (had_kernel && !(k->selected & SITE_SET(KERNEL)))
		forget_waits(k);
}

void kernel_probes__detach(struct kernel_probes *k)
{
	if (!k)
		return;
	detach_faults(k);
	kernel_bpf__detach(k->skel);
}

void kernel_probes__destroy(struct kernel_probes *k)
{
	if (!k)
		return;
	if (k->skel)
		kernel_probes__detach(k);
	kernel_bpf__destroy(k->skel);
	free(k);
}
