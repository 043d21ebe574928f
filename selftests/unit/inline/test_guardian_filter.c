// SPDX-License-Identifier: GPL-2.0
/* What a guardian can do whose target has taken it over: each test runs an attack in a child. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/sched.h>

#include "unit/confined.h"

#include "inline/guardian_filter.h"
#include "inline/inject_impl.h"
#include "inline/confine.h"
#include "target/process/proc.h"
#include "target/process/process.h"

#define NOT_CONFINED 99

static pid_t parent; /* of the process that is confined */

typedef int (*action_fn)(int proc);

/* The wait status of a process that was confined, as a guardian is, and did `action`. */
static int run(action_fn action)
{
	int proc = proc__directory(), status;
	pid_t pid;

	parent = getpid();
	pid = fork();
	assert_true(proc >= 0 && pid >= 0);
	if (!pid)
		_exit(guardian__confine(proc) ? NOT_CONFINED : action(proc));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(proc);
	return status;
}

static int do_exec(int proc)
{
	char *const args[] = { "true", NULL };

	return execve("/bin/true", args, NULL);
}

static int do_exec_of_descriptor(int proc)
{
	return (int)syscall(SYS_execveat, proc, "self/exe", NULL, NULL, 0);
}

static int do_ptrace(int proc)
{
	return (int)ptrace(PTRACE_SEIZE, parent, NULL, NULL);
}

static int do_write_to_memory(int proc)
{
	return (int)syscall(SYS_process_vm_writev, parent, NULL, 0, NULL, 0, 0);
}

static int do_bpf(int proc)
{
	return (int)syscall(SYS_bpf, 0, NULL, 0);
}

static int do_open(int proc)
{
	return open("/etc/passwd", O_RDONLY);
}

static int do_open_old(int proc)
{
	return (int)syscall(SYS_open, "/etc/passwd", O_RDONLY);
}

static int do_openat2(int proc)
{
	return (int)syscall(SYS_openat2, proc, "self", NULL, 0);
}

static int do_open_memory(int proc)
{
	return openat(proc, "1/mem", O_WRONLY);
}

static int do_create(int proc)
{
	return openat(proc, "x", O_CREAT, 0600);
}

static int do_truncate(int proc)
{
	return openat(proc, "self/comm", O_TRUNC);
}

TEST(attacks_kill)
{
	const action_fn actions[] = {
		do_exec,    do_exec_of_descriptor, do_ptrace,  do_bpf,	       do_write_to_memory,
		do_open,    do_open_old,	   do_openat2, do_open_memory, do_create,
		do_truncate
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		killed(run(actions[i]));
}

static int try_others(int proc)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	DENIED(1, fork());
	DENIED(2, syscall(SYS_clone3, NULL, 0));
	DENIED(3, kill(parent, 0));
	DENIED(4, socket(AF_INET, SOCK_STREAM, 0));
	DENIED(5, socket(AF_UNIX, SOCK_STREAM, 0));
	DENIED(6, mprotect(page, 4096, PROT_READ | PROT_EXEC));
	DENIED(7, mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	DENIED(8, syscall(SYS_unlinkat, proc, "x", 0));
	DENIED(9, syscall(SYS_linkat, proc, "self/exe", proc, "x", 0));
	DENIED(10, setuid(1));
	DENIED(11, syscall(SYS_pidfd_open, parent, 0));
	DENIED(12, syscall(SYS_memfd_create, "x", 0));
	DENIED(13, syscall(SYS_tgkill, parent, parent, SIGCONT));
	DENIED(14, sched_setscheduler(parent, SCHED_OTHER, &(struct sched_param){}));
	if (geteuid())
		return 0;
	return syscall(SYS_tgkill, parent, parent, 0) ||
			       syscall(SYS_tgkill, getpid(), gettid(), SIGCONT) ?
		       15 :
		       0;
}

TEST(others_are_denied)
{
	exits_with(run(try_others), 0);
}

/* Only /proc can be read: of root, by no path that leads out of it. */
static int read_proc(int proc)
{
	char target[64], text[16];
	struct stat st;
	int fd;

	if (!process__status(parent, "status", "Tgid", text, sizeof(text)) || atoi(text) != parent)
		return 1;
	if (proc__readlink("/proc/self", target, sizeof(target)) < 1 ||
	    proc__stat("/proc/self/exe", &st))
		return 2;
	fd = openat(proc, "../etc/passwd", O_RDONLY);
	return fd >= 0 || errno != ENOENT ? 3 : 0;
}

/* Links of /proc lead to all files of another process. */
static int follow_links(int proc)
{
	static const char *const links[] = { "root/etc/passwd", "cwd/.", "exe", "ns/user", "fd/0" };
	char path[64];

	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%d/%s", parent, links[i]);
		if (openat(proc, path, O_RDONLY) >= 0 || errno != ELOOP)
			return i + 1;
	}
	return 0;
}

TEST(proc_is_read)
{
	if (!geteuid())
		exits_with(run(read_proc), 0);
}

TEST(links_are_not_followed)
{
	if (!geteuid())
		exits_with(run(follow_links), 0);
}

/* The capabilities that remain, and no others. */
static int list_capabilities(int proc)
{
	char text[32];

	if (!process__status(getpid(), "status", "CapEff", text, sizeof(text)))
		return 1;
	return strtoull(text, NULL, 16) != (1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH |
					    1ull << CAP_SYS_NICE | 1ull << CAP_KILL);
}

TEST(capabilities)
{
	if (!geteuid())
		exits_with(run(list_capabilities), 0);
}

/* The process that traces holds a socket and a pidfd beside /dev/null, and its root directory is empty. */
TEST(tracer_holds_nothing)
{
	char path[64], target[256];
	int hangs_up, status, n = 0;
	pid_t child, tracer = 0;
	DIR *dir;
	FILE *f;

	if (geteuid())
		return;
	child = fork();
	if (!child)
		_exit(pause());
	hangs_up = tracer__start(child);
	assert_true(hangs_up >= 0);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", getpid(), gettid());
	f = fopen(path, "r");
	assert_non_null(f);
	while (fscanf(f, "%d", &tracer) == 1 && tracer == child)
		;
	fclose(f);
	assert_true(tracer > 0 && tracer != child);
	snprintf(path, sizeof(path), "/proc/%d/root", tracer);
	for (int ms = 0;
	     ms < 10000 && (!readlink(path, target, sizeof(target)) || target[1] != 'p'); ms++)
		usleep(1000);
	assert_memory_equal(target, "/proc/", 6);
	snprintf(path, sizeof(path), "/proc/%d/fd", tracer);
	dir = opendir(path);
	assert_non_null(dir);
	for (struct dirent *d; (d = readdir(dir));) {
		char name[512] = {};

		if (d->d_name[0] == '.' ||
		    readlinkat(dirfd(dir), d->d_name, name, sizeof(name) - 1) < 1)
			continue;
		if (atoi(d->d_name) > 2)
			n += !strncmp(name, "socket:", 7) || strstr(name, "[pidfd]") ? 1 : 100;
		else
			assert_string_equal(name, "/dev/null");
	}
	closedir(dir);
	assert_int_equal(n, 2);
	kill(tracer, SIGKILL);
	assert_int_equal(poll(&(struct pollfd){ .fd = hangs_up }, 1, 10000), 1);
	kill(child, SIGKILL);
	waitpid(tracer, &status, 0);
	waitpid(child, &status, 0);
}

/* The PID that a tracer was started for may be that of another process later. */
TEST(tracer_refuses_another_process)
{
	struct clone_args again = { .exit_signal = SIGCHLD, .set_tid_size = 1 };
	struct user_regs_struct regs;
	struct tracee *tracee;
	pid_t first, child;

	if (geteuid())
		return;
	first = fork();
	if (!first)
		_exit(pause());
	assert_int_equal(tracee__create(&tracee, first), 0);
	assert_int_equal(tracee__hold(tracee, first, false, &regs), 0);
	assert_int_equal(tracee__release(tracee), 0);
	kill(first, SIGKILL);
	assert_int_equal(waitpid(first, NULL, 0), first);
	again.set_tid = (uintptr_t)&first;
	child = (pid_t)syscall(SYS_clone3, &again, sizeof(again));
	if (!child)
		_exit(pause());
	assert_int_equal(child, first);
	assert_int_equal(tracee__hold(tracee, first, false, &regs), -ESRCH);
	tracee__destroy(tracee);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
