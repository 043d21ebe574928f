// SPDX-License-Identifier: GPL-2.0
/* What a process can do in the sandbox of the front: each test runs one in a child. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "unit/confined.h"
#include "service/sandbox.h"

#define OTHER  65534
#define MEMORY (64u << 20)

static void enter(int fd, bool strict)
{
	const struct sandbox_opts opts = {
		.uid = OTHER,
		.gid = OTHER,
		.fds = &fd,
		.nfds = 1,
		.memory = MEMORY,
		.files = 32,
		.strict = strict,
	};
	struct error error = {};

	if (sandbox__drop(&opts, &error) || sandbox__seal(&opts, &error)) {
		dprintf(STDERR_FILENO, "%s\n", error.text);
		_exit(99);
	}
}

typedef int (*action_fn)(int fd);

static pid_t start(action_fn action, int fd, bool strict)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	enter(fd, strict);
	_exit(action(fd));
}

static int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* The wait status of a process that entered the sandbox and did `action`. */
static int run(action_fn action, bool strict)
{
	int fds[2], status;

	assert_int_equal(pipe(fds), 0);
	status = wait_for(start(action, fds[1], strict));
	close(fds[0]);
	close(fds[1]);
	return status;
}

static int try_files(int fd)
{
	struct stat *none = NULL;

	DENIED(1, open("/", O_RDONLY));
	DENIED(2, open("/dev/null", O_RDONLY));
	DENIED(3, open("/x", O_RDWR | O_CREAT, 0600));
	DENIED(4, syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0));
	DENIED(5, mkdir("/x", 0700));
	DENIED(6, unlink("/x"));
	DENIED(7, chdir("/"));
	DENIED(8, chroot("/"));
	DENIED(9, syscall(SYS_newfstatat, AT_FDCWD, "/", none, 0));
	DENIED(10, ioctl(STDERR_FILENO, 0x5412, "x")); /* TIOCSTI */
	DENIED(11, dup2(fd, STDERR_FILENO));
	return 0;
}

static int try_processes(int fd)
{
	DENIED(1, syscall(SYS_fork));
	DENIED(2, syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
	DENIED(3, syscall(SYS_clone3, NULL, 0));
	DENIED(4, kill(getppid(), 0));
	DENIED(5, syscall(SYS_tgkill, getppid(), getppid(), 0));
	DENIED(6, syscall(SYS_pidfd_open, getppid(), 0));
	DENIED(7, setuid(0));
	DENIED(8, syscall(SYS_prctl, 22, 0, 0, 0, 0));
	DENIED(9, syscall(SYS_seccomp, 0, 0, NULL));
	return 0;
}

static int try_sockets(int fd)
{
	int pair[2];

	DENIED(1, socket(AF_INET, SOCK_STREAM, 0));
	DENIED(2, socket(AF_INET6, SOCK_DGRAM, 0));
	DENIED(3, socket(AF_UNIX, SOCK_STREAM, 0));
	DENIED(4, socket(AF_NETLINK, SOCK_RAW, 0));
	DENIED(5, socketpair(AF_INET, SOCK_STREAM, 0, pair));
	DENIED(6, connect(fd, NULL, 0));
	DENIED(7, bind(fd, NULL, 0));
	DENIED(8, listen(fd, 1));
	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ? 9 : 0;
}

static int try_code(int fd)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return 1;
	DENIED(2, mprotect(page, 4096, PROT_READ | PROT_EXEC));
	DENIED(3, mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	return 0;
}

TEST(calls_are_denied)
{
	exits_with(run(try_files, false), 0);
	exits_with(run(try_processes, false), 0);
	exits_with(run(try_sockets, false), 0);
	exits_with(run(try_code, false), 0);
}

static int try_exec(int fd)
{
	char *const args[] = { "true", NULL };

	return execve("/bin/true", args, NULL);
}

static int try_ptrace(int fd)
{
	return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int try_bpf(int fd)
{
	return (int)syscall(SYS_bpf, 0, NULL, 0);
}

static int try_read_of_parent(int fd)
{
	return (int)syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0);
}

static int try_open(int fd)
{
	return open("/", O_RDONLY);
}

TEST(attacks_kill)
{
	killed(run(try_exec, false));
	killed(run(try_ptrace, false));
	killed(run(try_bpf, false));
	killed(run(try_read_of_parent, false));
	killed(run(try_open, true));
}

static int pause_until_closed(int fd)
{
	char byte;

	return write(fd, "r", 1) != 1 || read(fd, &byte, 1);
}

/* Reads the value of NAME in /proc/PID/status. */
static void status_of(pid_t pid, const char *name, char *ret, size_t size)
{
	char path[64], line[256];
	size_t len = strlen(name);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	ret[0] = '\0';
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && line[len] == ':')
			snprintf(ret, size, "%s", line + len + 2);
	ret[strcspn(ret, "\n")] = '\0';
	fclose(f);
}

static void expect(pid_t pid, const char *name, const char *value)
{
	char text[256];

	status_of(pid, name, text, sizeof(text));
	assert_string_equal(text, value);
}

TEST(privileges)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid = start(pause_until_closed, fds[1], false);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	expect(pid, "Seccomp", "2");
	expect(pid, "NoNewPrivs", "1");
	expect(pid, "CapEff", "0000000000000000");
	expect(pid, "CapPrm", "0000000000000000");
	expect(pid, "CapInh", "0000000000000000");
	expect(pid, "CapAmb", "0000000000000000");
	if (geteuid() == 0) {
		expect(pid, "Uid", "65534\t65534\t65534\t65534");
		expect(pid, "Gid", "65534\t65534\t65534\t65534");
		expect(pid, "Groups", " ");
	}
	close(fds[0]);
	exits_with(wait_for(pid), 0);
}

static int check_limits(int fd)
{
	for (int i = STDERR_FILENO + 1; i < 64; i++)
		if ((fcntl(i, F_GETFD) >= 0) != (i == fd))
			return 1;
#ifndef __SANITIZE_ADDRESS__
	if (malloc(2 * MEMORY))
		return 2;
#endif
	for (int i = 0; i < 40; i++)
		if (memfd_create("x", 0) < 0)
			return errno == EMFILE && i > 20 ? 0 : 3;
	return 4;
}

TEST(resources)
{
	exits_with(run(check_limits, false), 0);
}

/* The parent of the confined process ends without closing the other end of its descriptor. */
TEST(dies_with_its_parent)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		start(pause_until_closed, fds[1], false);
		_exit(read(fds[0], &byte, 1) != 1);
	}
	close(fds[1]);
	exits_with(wait_for(pid), 0);
	assert_int_equal(read(fds[0], &byte, 1), 0); /* no process has fds[1] any more */
	close(fds[0]);
}

TEST(root_is_not_a_user)
{
	const struct sandbox_opts opts = { .files = 32, .memory = MEMORY };
	struct error error = {};
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(sandbox__drop(&opts, &error) ? 0 : 1);
	exits_with(wait_for(pid), geteuid() == 0 ? 0 : 1);
}

/* As under a unit with ProtectSystem=strict. */
static int make_read_only(const char *path)
{
	return mount("none", path, "tmpfs", MS_RDONLY, NULL);
}

/* Without the filter of system calls, which would prevent all of this. */
static int use_root_directory(void)
{
	const struct sandbox_opts opts = {
		.uid = OTHER, .gid = OTHER, .files = 32, .memory = MEMORY
	};
	struct error error = {};

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    make_read_only("/tmp") || make_read_only("/run"))
		return 1;
	signal(SIGCHLD, SIG_IGN);
	if (sandbox__drop(&opts, &error)) {
		dprintf(STDERR_FILENO, "%s\n", error.text);
		return 2;
	}
	if (open("/0", O_RDONLY) >= 0 || open("0", O_RDONLY) >= 0 || open("/proc", O_PATH) >= 0 ||
	    open("../../self", O_PATH) >= 0)
		return 3;
	return !mkdir("/x", 0700) || open("/x", O_RDWR | O_CREAT, 0600) >= 0 ? 4 : 0;
}

TEST(the_root_directory_is_empty)
{
	pid_t pid;

	if (geteuid())
		skip();
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(use_root_directory());
	exits_with(wait_for(pid), 0);
}
