// SPDX-License-Identifier: GPL-2.0
/*
 * System calls by a child process that sleeps, alone and in batches: their results, which of a batch
 * are made, what the child has afterwards, what it does if its tracer is killed during a batch, and
 * that code in use is not replaced.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>

#include "unit/test.h"
#include "inline/inject_impl.h"

#define PAGE	  4096
#define FILLER	  0xcc
#define MANY	  (2 * INJECT_BATCH + 2)
#define NO_RESULT 0x7777777777ull
#define WAIT_MS	  5000

/* At the same addresses in the child. */
static struct {
	unsigned char *stub, *table;	/* private, executable */
	volatile unsigned long *rounds; /* of the child's loop, shared */
	unsigned char file[INJECT_STUB];
	pid_t child;
	int mem_fd;
	struct injection *inj;
} f;

static void *page(int prot, int flags)
{
	void *ret = mmap(NULL, PAGE, prot, flags | MAP_ANONYMOUS, -1, 0);

	assert_true(ret != MAP_FAILED);
	return ret;
}

/* A value in RBX, RBP or R12 that differs after a sleep ends the loop. */
static void sleep_for_ever(volatile unsigned long *rounds)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	unsigned long a = 1, b = 2, c = 3;

	for (;; ++*rounds) {
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c));
		syscall(SYS_nanosleep, &ms, NULL);
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c));
		if (a != 1 || b != 2 || c != 3)
			_exit(1);
	}
}

static void start_child(bool blocked)
{
	sigset_t set;

	f.child = fork();
	assert_true(f.child >= 0);
	if (!f.child) {
		sigfillset(&set);
		if (blocked)
			sigprocmask(SIG_BLOCK, &set, NULL);
		sleep_for_ever(f.rounds);
	}
}

static int try_to_begin(struct error *error)
{
	struct inject_target target = {
		.pid = f.child,
		.stub = (uintptr_t)f.stub,
		.stub_size = INJECT_STUB,
		.stub_file = f.file,
	};

	f.mem_fd = inject__open(f.child, O_RDWR, error);
	assert_true(f.mem_fd >= 0);
	target.mem_fd = f.mem_fd;
	return injection__begin(&f.inj, &target, error);
}

static void begin(void)
{
	struct error error = {};

	if (try_to_begin(&error))
		fail_msg("%s", error.text);
}

static void wait_for_rounds(unsigned long more)
{
	unsigned long want = *f.rounds + more;

	for (int i = 0; *f.rounds < want && i < WAIT_MS; i++)
		usleep(1000);
	assert_true(*f.rounds >= want);
}

/* The child sleeps on, and its code is as before. */
static void end(void)
{
	struct error error = {};
	unsigned char now[INJECT_STUB];

	if (injection__end(f.inj, &error, NULL))
		fail_msg("%s", error.text);
	assert_int_equal(inject__read(f.mem_fd, (uintptr_t)f.stub, now, sizeof(now)), 0);
	assert_memory_equal(now, f.file, sizeof(now));
	wait_for_rounds(3);
}

static void setup(void)
{
	memset(&f, 0, sizeof(f));
	f.stub = page(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE);
	f.table = page(PROT_READ, MAP_PRIVATE);
	f.rounds = page(PROT_READ | PROT_WRITE, MAP_SHARED);
	memset(f.stub, FILLER, PAGE);
	memset(f.file, FILLER, sizeof(f.file));
	f.mem_fd = -1;
}

static void teardown(void)
{
	if (f.mem_fd >= 0)
		close(f.mem_fd);
	if (f.child > 0) {
		kill(f.child, SIGKILL);
		waitpid(f.child, NULL, 0);
	}
	munmap(f.stub, PAGE);
	munmap(f.table, PAGE);
	munmap((void *)f.rounds, PAGE);
}

FIXTURE(setup, teardown)

static struct inject_call getppid_call(uint64_t expect)
{
	return (struct inject_call){ .number = SYS_getppid, .expect = expect };
}

/* ---- one call and several ---- */

static void calls(void)
{
	const struct inject_call call[] = {
		getppid_call((uint64_t)getpid()),
		{ SYS_dup2, { 1, 77 }, 77 },
		{ SYS_close, { 77 }, NO_RESULT },
		{ SYS_dup2, { 1, 78 }, 78 },
	};
	size_t done;

	assert_int_equal(INJECT_CALL(f.inj, SYS_getpid), f.child);
	assert_int_equal(INJECT_CALL(f.inj, SYS_close, 99), -EBADF);
	assert_int_equal(injection__calls(f.inj, call, 4, &done), 0); /* of close() */
	assert_int_equal(done, 2);
	assert_int_equal(INJECT_CALL(f.inj, SYS_close, 77), -EBADF);
	assert_int_equal(INJECT_CALL(f.inj, SYS_close, 78), -EBADF);
	assert_int_equal(injection__calls(f.inj, call, 2, &done), 0);
	assert_int_equal(done, 2);
}

TEST(one_by_one)
{
	start_child(false);
	begin();
	calls();
	end();
	assert_int_equal(f.table[0], 0);
}

TEST(by_a_table)
{
	uint64_t number = 0;

	start_child(false);
	begin();
	injection__use_table(f.inj, (uintptr_t)f.table);
	calls();
	assert_int_equal(inject__read(f.mem_fd, (uintptr_t)f.table, &number, sizeof(number)), 0);
	assert_int_equal(number, SYS_getppid);
	end();
}

/* The signal that ends a batch would not arrive. */
TEST(signals_are_blocked)
{
	uint64_t number = 1;

	start_child(true);
	begin();
	injection__use_table(f.inj, (uintptr_t)f.table);
	calls();
	assert_int_equal(inject__read(f.mem_fd, (uintptr_t)f.table, &number, sizeof(number)), 0);
	assert_int_equal(number, 0);
	end();
}

TEST(more_than_a_table)
{
	struct inject_call call[MANY];
	size_t done;

	for (size_t i = 0; i < MANY; i++)
		call[i] = getppid_call((uint64_t)getpid());
	start_child(false);
	begin();
	injection__use_table(f.inj, (uintptr_t)f.table);
	assert_int_equal(injection__calls(f.inj, call, MANY, &done), 0);
	assert_int_equal(done, MANY);
	call[MANY - 1].expect = 0;
	assert_int_equal(injection__calls(f.inj, call, MANY, &done), getpid());
	assert_int_equal(done, MANY - 1);
	end();
}

/* A child that unmaps its table is not harmed: the first fault is in the batch, then nothing is made. */
TEST(no_table)
{
	struct inject_call call = getppid_call((uint64_t)getpid());
	size_t done;

	start_child(false);
	begin();
	injection__use_table(f.inj, (uintptr_t)f.table);
	assert_int_equal(INJECT_CALL(f.inj, SYS_munmap, (uintptr_t)f.table, PAGE), -EFAULT);
	assert_int_equal(injection__calls(f.inj, &call, 1, &done), -EFAULT);
	assert_int_equal(done, 0);
	end();
}

/* ---- a seccomp filter, and a process that changes the stub ---- */

/* getppid() fails in a child with this filter. */
static void forbid_getppid(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		_exit(1);
}

static unsigned int wakes;

static void *wake_for_ever(void *arg)
{
	(void)arg;
	for (;; usleep(20))
		syscall(SYS_futex, &wakes, FUTEX_WAKE_PRIVATE, 1);
	return NULL;
}

/* Makes the forbidden call most of the time; ends if it succeeds. Sleeps without a timeout. */
static void try_to_escape(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wake_for_ever, NULL))
		_exit(1);
	for (;; ++*f.rounds) {
		for (int i = 0; i < 400; i++)
			if (syscall(SYS_getppid) != -1)
				_exit(1);
		syscall(SYS_futex, &wakes, FUTEX_WAIT_PRIVATE, 0, NULL);
	}
}

/* Our calls are made in spite of the filter, and no call of its own, however often it is held. */
TEST(a_filter_stays)
{
	struct error error = {};
	int status;

	f.child = fork();
	assert_true(f.child >= 0);
	if (!f.child) {
		forbid_getppid();
		try_to_escape();
	}
	wait_for_rounds(1);
	for (int i = 0; i < 300 && !waitpid(f.child, &status, WNOHANG); i++) {
		begin();
		assert_int_equal(INJECT_CALL(f.inj, SYS_getppid), getpid());
		injection__end(f.inj, &error, NULL);
		close(f.mem_fd);
	}
	assert_int_equal(waitpid(f.child, &status, WNOHANG), 0);
	begin();
	end();
}

/* Mounts a file with `text` over `path`, in a mount namespace of this process's own. */
static bool show(const char *path, const char *text)
{
	char file[] = "/tmp/test_inject.XXXXXX";
	int fd = mkstemp(file);
	bool shown;

	assert_true(fd >= 0 && write(fd, text, strlen(text)) > 0);
	shown = !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
		!mount(file, path, NULL, MS_BIND, NULL);
	unlink(file);
	close(fd);
	return shown;
}

/* No CPU of these tests has shadow stacks: a process is shown another status of the thread. */
TEST(a_shadow_stack)
{
	struct error error = {};
	char path[64];
	int status;
	pid_t pid;

	if (geteuid())
		return;
	start_child(false);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", f.child, f.child);
	pid = fork();
	if (!pid)
		_exit(!show(path, "x86_Thread_features:\tshstk wrss \n") ? 1 :
		      try_to_begin(&error) != -ENOTSUP			 ? 2 :
		      !strstr(error.text, "uses shadow stacks")		 ? 3 :
									   0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	wait_for_rounds(3);
}

/* Another instruction than ours, which makes system call 24 of 32-bit programs instead. */
TEST(a_changed_stub)
{
	start_child(false);
	begin();
	assert_int_equal(inject__write(f.mem_fd, (uintptr_t)f.stub, "\xcd\x80", 2), 0);
	assert_int_equal(INJECT_CALL(f.inj, SYS_getpid), -EFAULT);
	end();
}

/* ---- signals and deaths ---- */

/* Signals that arrive during a batch are for the child; the default action of this one is to end it. */
TEST(a_signal_meanwhile)
{
	struct inject_call call[] = {
		{ SYS_kill, { 0, SIGUSR1 }, 0 },
		getppid_call((uint64_t)getpid()),
	};
	size_t done;
	int status;

	start_child(false);
	call[0].arg[0] = (uint64_t)f.child;
	begin();
	injection__use_table(f.inj, (uintptr_t)f.table);
	assert_int_equal(injection__calls(f.inj, call, 2, &done), 0);
	assert_int_equal(done, 2);
	injection__end(f.inj, NULL, NULL);
	assert_int_equal(waitpid(f.child, &status, 0), f.child);
	f.child = -1;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
}

/* The tracer is killed while the child sleeps in a batch: the child makes the rest, and goes on. */
TEST(the_tracer_is_killed)
{
	const struct timespec *ms100 = page(PROT_READ | PROT_WRITE, MAP_SHARED);
	const struct inject_call call[] = {
		{ SYS_nanosleep, { (uintptr_t)ms100 }, 0 },
		{ SYS_mmap,
		  { (uintptr_t)f.table + 64 * PAGE, PAGE, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, (uint64_t)-1 },
		  (uintptr_t)f.table + 64 * PAGE },
	};
	unsigned long before;
	unsigned char byte;
	pid_t tracer;
	size_t done;

	*(struct timespec *)ms100 = (struct timespec){ .tv_nsec = 100000000 };
	start_child(false);
	wait_for_rounds(1);
	tracer = fork();
	if (!tracer) {
		begin();
		injection__use_table(f.inj, (uintptr_t)f.table);
		injection__calls(f.inj, call, 2, &done);
		_exit(0);
	}
	usleep(50000); /* if the machine is busy, before or after the batch, which is no failure */
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	before = *f.rounds;
	usleep(150000);
	wait_for_rounds(3);
	assert_true(*f.rounds > before);
	f.mem_fd = inject__open(f.child, O_RDWR, &(struct error){});
	if (!inject__read(f.mem_fd, (uintptr_t)f.table, &byte, 1) && byte == SYS_nanosleep)
		assert_int_equal(inject__read(f.mem_fd, (uintptr_t)f.table + 64 * PAGE, &byte, 1),
				 0);
	close(f.mem_fd);
	begin(); /* removes what was left */
	calls();
	end();
	munmap((void *)ms100, PAGE);
}

/* ---- a stub that is in use ---- */

static void *sleep_in_thread(void *arg)
{
	sleep_for_ever(arg);
	return NULL;
}

/* That of the calling thread, which stays in it. */
static void put_stub(void)
{
	const struct inject_target target = {
		.mem_fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC),
		.stub = (uintptr_t)f.stub,
	};
	const struct user_regs_struct home = {};

	if (stub__write(&target, &home, getpid()))
		_exit(1);
	memcpy(f.stub, "\xeb\xfe", 2); /* jmp to itself */
}

/* One of its threads sleeps, the other one runs in the stub. */
static void start_child_in_stub(void)
{
	pthread_t thread;

	f.child = fork();
	assert_true(f.child >= 0);
	if (f.child)
		return;
	put_stub();
	if (pthread_create(&thread, NULL, sleep_in_thread, (void *)f.rounds))
		_exit(1);
	((void (*)(void))f.stub)();
}

struct tracer {
	pthread_t thread;
	pid_t tid;
	int end[2]; /* closing end[1] ends it */
	bool traces;
};

static void *trace_thread(void *arg)
{
	struct tracer *t = arg;
	char byte;

	t->traces = !ptrace(PTRACE_SEIZE, t->tid, NULL, NULL);
	(void)!read(t->end[0], &byte, 1);
	return NULL;
}

static bool traces(struct tracer *t)
{
	for (int i = 0; i < WAIT_MS && !*(volatile bool *)&t->traces; i++)
		usleep(1000);
	return t->traces;
}

/*
 * Another thread of this process traces the one in the stub, as a job that was late does. The stub
 * must remain: its thread would go on with the registers of another one.
 */
TEST(a_traced_thread_is_in_the_stub)
{
	struct inject_target target = {
		.stub = (uintptr_t)f.stub,
		.stub_size = INJECT_STUB,
		.stub_file = f.file,
	};
	struct error error = {};
	struct tracer tracer = {};
	unsigned char was[INJECT_STUB], now[INJECT_STUB];

	start_child_in_stub();
	wait_for_rounds(1);
	f.mem_fd = inject__open(f.child, O_RDWR, &error);
	assert_true(f.mem_fd >= 0);
	target.pid = tracer.tid = f.child;
	target.mem_fd = f.mem_fd;
	assert_int_equal(inject__read(f.mem_fd, target.stub, was, sizeof(was)), 0);
	assert_int_equal(pipe(tracer.end), 0);
	assert_int_equal(pthread_create(&tracer.thread, NULL, trace_thread, &tracer), 0);
	assert_true(traces(&tracer));

	assert_int_equal(injection__begin(&f.inj, &target, &error), -EBUSY);
	assert_non_null(strstr(error.text, "is busy"));
	assert_int_equal(inject__read(f.mem_fd, target.stub, now, sizeof(now)), 0);
	assert_memory_equal(now, was, sizeof(now));

	close(tracer.end[1]);
	pthread_join(tracer.thread, NULL);
	close(tracer.end[0]);
}
