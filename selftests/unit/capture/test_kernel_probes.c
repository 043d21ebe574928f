// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own events: which programs are loaded for which sets, in which order they are
 * attached, and which reason is given when that fails. libbpf, the kernel's types and perf events
 * are this file's.
 */

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#include "unit/test.h"
#include "capture/cpu_events.h"
#include "capture/kernel_probes.h"
#include "target/probe/site.h"

#include "unit/fake_skeleton.h"
#include "kernel.skel.h"

#define KERNEL SITE_SET(KERNEL)
#define FAULT  SITE_SET(FAULT)

static struct {
	int attach_error, iter_error, stale_errno;
	bool no_btf, sockets;
	int link_error;
	const char *missing; /* of the kernel's types */
	char order[64];	     /* what was attached, a letter each */
	unsigned int detached;
	int skipped; /* see bpf_obj_get_info_by_fd() */
	int pipe[2];
	unsigned int reads, interrupted;
	int read_error;
	int fault_error, possible_error;
	unsigned int level; /* of the PID namespace */
	unsigned int entries, cleared,
		waiting; /* of waited_cpus; of these, cleared; in waiting_for */
	struct kernel_probes *k;
	struct error err;
} t;

static void attached(char what)
{
	t.order[strlen(t.order)] = what;
}

/* ---- what kernel_probes.c calls ---- */

int access(const char *path, int mode)
{
	return t.no_btf ? -1 : 0;
}

struct btf *btf__load_vmlinux_btf(void)
{
	return (struct btf *)&t;
}

struct bpf_link *bpf_program__attach(const struct bpf_program *program)
{
	assert_memory_equal(program->name, "socket_", 7);
	attached('s');
	errno = t.link_error;
	return t.link_error ? NULL : (struct bpf_link *)&t;
}

STUB_VOID(btf__free, (struct btf *))

__s32 btf__find_by_name_kind(const struct btf *btf, const char *name, __u32 kind)
{
	return t.missing && !strcmp(name, t.missing) ? -ENOENT : 1;
}

STUB(const struct btf_type *, btf__type_by_id, (const struct btf *, __u32), NULL)

int bpf_object__attach_skeleton(struct bpf_object_skeleton *s)
{
	attached('p');
	return t.attach_error;
}

void bpf_object__detach_skeleton(struct bpf_object_skeleton *s)
{
	t.detached++;
}

struct bpf_link *bpf_program__attach_iter(const struct bpf_program *program,
					  const struct bpf_iter_attach_opts *opts)
{
	attached('i');
	assert_string_equal(program->name, "present");
	assert_int_equal(opts->link_info->task.pid, 42);
	return (struct bpf_link *)&t;
}

int bpf_program__fd(const struct bpf_program *program)
{
	return program->autoload ? 100 + (int)(program - fake.program) : -ENOENT;
}

/* Each program has been skipped as often as its place in the skeleton, times t.skipped. */
int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *size)
{
	struct bpf_prog_info *program = info;

	assert_int_equal(*size, sizeof(*program));
	if (t.skipped < 0)
		return t.skipped;
	program->recursion_misses = (uint64_t)((fd - 100 + 1) * t.skipped);
	return 0;
}

STUB(int, bpf_link__fd, (const struct bpf_link *), 5)
STUB(int, bpf_link__destroy, (struct bpf_link *), 0)

int bpf_iter_create(int fd)
{
	assert_int_equal(fd, 5);
	return t.iter_error ? t.iter_error : dup(t.pipe[0]);
}

/* The pass has two parts, then it ends; errno is that of something before. */
ssize_t read(int fd, void *to, size_t size)
{
	errno = t.stale_errno;
	if (t.read_error) {
		errno = t.read_error;
		return -1;
	}
	if (t.interrupted) {
		t.interrupted--;
		errno = t.interrupted % 2 ? EINTR : EAGAIN;
		return -1;
	}
	return t.reads++ < 2 ? 1 : 0;
}

STUB(int, rings__use, (const struct rings *, struct bpf_object *), 0)

int cpu_events__attach(struct cpu_events *e, const struct bpf_program *program, uint64_t config,
		       uint64_t period)
{
	assert_int_equal(period, 1);
	assert_string_equal(program->name,
			    config == PERF_COUNT_SW_PAGE_FAULTS ? "fault_begin" : "fault_end");
	attached(config == PERF_COUNT_SW_PAGE_FAULTS	 ? 'b' :
		 config == PERF_COUNT_SW_PAGE_FAULTS_MIN ? 'm' :
		 config == PERF_COUNT_SW_PAGE_FAULTS_MAJ ? 'M' :
							   '?');
	return t.fault_error;
}

void cpu_events__detach(struct cpu_events *e)
{
	t.detached += 10;
}

int cpu_events__possible(uint64_t config)
{
	assert_int_equal(config, PERF_COUNT_SW_PAGE_FAULTS);
	return t.possible_error;
}

int libbpf_num_possible_cpus(void)
{
	return 6;
}

int bpf_map__set_max_entries(struct bpf_map *map, __u32 max_entries)
{
	assert_string_equal(map->name, "waited_cpus");
	t.entries = max_entries;
	return 0;
}

__u32 bpf_map__max_entries(const struct bpf_map *map)
{
	return t.entries;
}

int bpf_map__fd(const struct bpf_map *map)
{
	return strcmp(map->name, "waited_cpus") ? 41 : 40;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(fd, 40);
	assert_int_equal(*(const __u32 *)key, t.cleared);
	t.cleared++;
	return 0;
}

int bpf_map_get_next_key(int fd, const void *key, void *next_key)
{
	assert_int_equal(fd, 41);
	*(__u32 *)next_key = 7;
	return t.waiting ? 0 : -ENOENT;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	t.waiting--;
	return 0;
}

/* ---- helpers ---- */

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	memset(&fake, 0, sizeof(fake));
	return pipe(t.pipe);
}

static int tear_down(void **state)
{
	kernel_probes__destroy(t.k);
	close(t.pipe[0]);
	close(t.pipe[1]);
	return 0;
}

FIXTURE(set_up, tear_down)

static int open_for(unsigned int sets)
{
	const struct gt_config config = { .tgid = 42, .syscall_at = t.sockets };
	const struct gt_pid_ns pid_ns = { .level = t.level };

	kernel_probes__destroy(t.k);
	t.k = NULL;
	t.order[0] = t.err.text[0] = 0;
	memset(t.order, 0, sizeof(t.order));
	t.reads = 0;
	return kernel_probes__open(&t.k, &config, &pid_ns, NULL, sets, t.sockets, &t.err);
}

static int attach_for(unsigned int sets)
{
	int code = open_for(sets);

	return code ? code : kernel_probes__attach(t.k, &t.err);
}

static void assert_error(int got, int code, const char *text)
{
	assert_int_equal(got, code);
	if (!strstr(t.err.text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, t.err.text);
	t.err.text[0] = 0;
}

/* ---- tests ---- */

static bool is_of_sockets(const struct bpf_program *p)
{
	return !strncmp(p->name, "socket_", 7);
}

TEST(programs_of_sets)
{
	for (unsigned int sets = 0; sets < 4; sets++) {
		assert_int_equal(open_for((sets & 1 ? KERNEL : 0) | (sets & 2 ? FAULT : 0)), 0);
		for (unsigned int i = 0; i < fake.programs; i++) {
			const struct bpf_program *p = &fake.program[i];
			bool fault = !strncmp(p->name, "fault_", 6);

			if (!strcmp(p->name, "thread_ends") || is_of_sockets(p)) {
				assert_false(p->autoload);
				continue;
			}
			assert_int_equal(p->autoload, (sets & (fault ? 2 : 1)) != 0);
			assert_int_equal(p->autoattach, !fault && strcmp(p->name, "present") != 0);
		}
	}
}

/* A thread that was released has no number there: it is remembered before. */
TEST(in_a_pid_namespace)
{
	t.level = 1;
	assert_int_equal(open_for(KERNEL), 0);
	for (unsigned int i = 0; i < fake.programs; i++)
		assert_true(fake.program[i].autoload ||
			    !strncmp(fake.program[i].name, "fault_", 6) ||
			    is_of_sockets(&fake.program[i]));
}

static unsigned int socket_programs(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < fake.programs; i++)
		n += is_of_sockets(&fake.program[i]) && fake.program[i].autoload;
	return n;
}

/* They are not needed: what the kernel lacks or refuses is not an error. */
TEST(sockets)
{
	t.sockets = true;
	assert_int_equal(attach_for(KERNEL), 0);
	assert_int_equal(socket_programs(), 4);
	assert_string_equal(t.order, "pssssi");
	kernel_probes__select(t.k, 0);
	memset(t.order, 0, sizeof(t.order));
	kernel_probes__select(t.k, KERNEL);
	assert_int_equal(kernel_probes__attach(t.k, &t.err), 0);
	assert_string_equal(t.order, "pi"); /* they stay attached */
	t.link_error = EPERM;
	assert_int_equal(attach_for(KERNEL), 0);
	assert_string_equal(t.order, "psi");
	t.link_error = 0;
	t.missing = "btf_trace_sk_data_ready";
	assert_int_equal(attach_for(KERNEL), 0);
	assert_int_equal(socket_programs(), 0);
	t.missing = NULL;
	t.sockets = false;
	assert_int_equal(open_for(KERNEL), 0);
	assert_int_equal(socket_programs(), 0);
}

/* The ends of faults before their begins; what threads do last, when their changes are seen. */
TEST(order)
{
	assert_int_equal(attach_for(KERNEL | FAULT), 0);
	assert_string_equal(t.order, "pmMbi");
	assert_int_equal(t.reads, 3);
	kernel_probes__detach(t.k);
	assert_int_equal(t.detached, 31);
	t.detached = 0;
	kernel_probes__destroy(t.k);
	assert_int_equal(t.detached, 31);
	t.k = NULL;
	assert_int_equal(attach_for(KERNEL), 0);
	assert_string_equal(t.order, "pi");
	assert_int_equal(attach_for(FAULT), 0);
	assert_string_equal(t.order, "pmMb");
	kernel_probes__detach(NULL);
}

static uint64_t number_of(const char *name)
{
	for (unsigned int i = 0; i < fake.programs; i++)
		if (!strcmp(fake.program[i].name, name))
			return i + 1;
	return 0;
}

/* Runs of programs that the kernel has skipped are lost records of what the program reports. */
TEST(skipped_programs)
{
	gt_u64 lost[GT_KIND_END] = { [GT_WAKING] = 1 };

	assert_int_equal(open_for(KERNEL), 0);
	t.skipped = 10;
	kernel_probes__forget_skipped(t.k);
	t.skipped = 12;
	kernel_probes__add_skipped(t.k, lost);
	assert_int_equal(lost[GT_CPU_ON], 2 * number_of("sched_switch"));
	assert_int_equal(lost[GT_WAKING], 1 + 2 * number_of("sched_waking"));
	assert_int_equal(lost[GT_SYS_ENTER], 2 * number_of("sys_enter"));
	assert_int_equal(lost[GT_SYS_EXIT], 2 * number_of("sys_exit"));
	assert_int_equal(lost[GT_THREAD],
			 2 * (number_of("task_newtask") + number_of("task_rename")));
	assert_int_equal(lost[GT_SOCKET], 0); /* they are not loaded */
	memset(lost, 0, sizeof(lost));
	t.skipped = -EPERM;
	kernel_probes__forget_skipped(t.k);
	t.skipped = 0;
	kernel_probes__add_skipped(t.k, lost);
	for (unsigned int kind = 0; kind < GT_KIND_END; kind++)
		assert_int_equal(lost[kind], 0);
}

TEST(cannot_attach)
{
	t.attach_error = -EIO;
	assert_error(attach_for(KERNEL | FAULT), -EIO, "Input/output error");
	assert_string_equal(t.order, "p");
	t.attach_error = 0;
	t.fault_error = -EMFILE;
	assert_error(attach_for(KERNEL | FAULT), -EMFILE, "ulimit -n");
	assert_string_equal(t.order, "pm");
}

TEST(threads_present)
{
	t.stale_errno = EIO; /* the end of the pass is none */
	assert_int_equal(attach_for(KERNEL), 0);
	t.interrupted = 4;
	assert_int_equal(attach_for(KERNEL), 0);
	assert_int_equal(t.reads, 3);
	t.read_error = EFAULT;
	assert_error(attach_for(KERNEL), -EFAULT, "Bad address");
	t.read_error = 0;
	t.iter_error = -EPERM;
	assert_error(attach_for(KERNEL), -EPERM, "not permitted");
	assert_int_equal(t.reads, 0);
}

/* Counts of waits from before the programs were detached are wrong when they are attached again. */
TEST(forgets_waits)
{
	assert_int_equal(attach_for(KERNEL | FAULT), 0);
	assert_int_equal(t.entries, 6);
	t.waiting = 3;
	kernel_probes__select(t.k, KERNEL);
	assert_int_equal(t.cleared, 0);
	kernel_probes__select(t.k, FAULT);
	assert_int_equal(t.cleared, 6);
	assert_int_equal(t.waiting, 0);
	kernel_probes__select(t.k, FAULT);
	assert_int_equal(t.cleared, 6);
}

TEST(cannot_load)
{
	fake.load_error = -EPERM;
	assert_error(open_for(KERNEL), -EPERM, "not permitted; run as root");
	fake.load_error = -EACCES;
	assert_error(open_for(KERNEL), -EACCES, "verifier rejects");
	fake.load_error = -EMFILE;
	assert_error(open_for(KERNEL), -EMFILE, "too many open files");
	fake.load_error = -EINVAL;
	assert_error(open_for(KERNEL), -EINVAL, "Invalid argument");
	t.missing = "btf_trace_sys_exit"; /* the cause, as far as the kernel's types tell it */
	assert_error(open_for(KERNEL), -EINVAL,
		     "no tracepoint raw_syscalls:sys_exit: it requires CONFIG_FTRACE");
}

TEST(possible)
{
	static const char *const needs[] = {
		"btf_trace_sched_switch",	"btf_trace_sched_waking",
		"btf_trace_sched_wakeup",	"btf_trace_sched_wakeup_new",
		"btf_trace_sched_migrate_task", "btf_trace_task_newtask",
		"btf_trace_task_rename",	"bpf_iter_task",
		"btf_trace_sys_enter",		"btf_trace_sys_exit",
	};

	assert_int_equal(kernel_probes__possible(KERNEL | FAULT, &t.err), 0);
	t.possible_error = -EPERM;
	assert_error(kernel_probes__possible(FAULT, &t.err), -EPERM, "not permitted");
	assert_int_equal(kernel_probes__possible(KERNEL, &t.err), 0);
	t.possible_error = -EACCES;
	assert_error(kernel_probes__possible(KERNEL | FAULT, &t.err), -EACCES, "not permitted");
	t.possible_error = -ENOENT;
	assert_error(kernel_probes__possible(FAULT, &t.err), -ENOENT, "without event set fault");
	for (int i = 0; i < 10; i++) {
		t.missing = needs[i];
		assert_error(kernel_probes__possible(KERNEL, &t.err), -ENOENT,
			     "this kernel has no");
	}
	t.no_btf = true;
	assert_error(kernel_probes__possible(KERNEL, &t.err), -ENOENT, "CONFIG_DEBUG_INFO_BTF");
}
