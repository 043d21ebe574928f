// SPDX-License-Identifier: GPL-2.0
/*
 * record --follow: see follow.h.
 *
 * This process records nothing itself: it reads what the followed processes execute
 * (capture/tracker.c), and has each Go program recorded by a child of its own, which gives up its
 * privileges as any recorder does. Nobody is stopped for it, so what a program does before its
 * probes are live is missing (recorder_stats.missed_ns); only the first one, when it is a command,
 * is held at its exec. Children end when this process does.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/tracker.h"
#include "command.h"
#include "follow.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/regular.h"
#include "target/buildinfo.h"

#define AT_ONCE	   64 /* recordings; each has rings of 16 MiB */
#define LISTED	   16 /* programs that ended too early; more of them are counted */
#define PAUSE_MS   200
#define GONE_CHILD 100 /* exit status: this process ended before the child began */

struct executed {
	int pid;
	char name[16]; /* as struct gt_followed_exec has it */
};

struct slot {
	pid_t recorder;		 /* 0: free */
	struct executed program; /* which it records; PID 0: the first, whatever it is */
};

/* Programs that were not recorded, for one reason. */
struct missed {
	unsigned int n;
	struct executed program[LISTED]; /* the first of them */
};

struct follow {
	const struct recording *first;
	struct tracker *tracker;
	struct error *err;
	int sigfd;
	/* shared with the recorders */
	struct recording_family *family;
	struct recording_report *report; /* [AT_ONCE] */
	struct slot slot[AT_ONCE];
	struct map programs;  /* PID -> how many programs of it were given to a recorder */
	struct map looked_at; /* PID -> when the last of these recorders began */
	struct map marks;     /* PID -> program_mark() of that program */
	uint64_t deadline;    /* 0: none, or not known yet */
	bool stopping, failed;
	unsigned int recorded, refused;
	struct missed ended, replaced; /* Go programs, before their probes were set */
	struct missed unseen;	       /* programs of which it is not known whether they are Go's */
	unsigned long long events, bytes, lost;
};

/* ---- a recorder ---- */

static _Noreturn void run(struct follow *f, struct recording *r, int go)
{
	struct error err = {};
	enum recording_end end;
	int status;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (read(go, &byte, 1) != 1)
		_exit(GONE_CHILD);
	close(go);
	close(f->sigfd);
	tracker__destroy(f->tracker);
	end = recording__run(r, &status, &err);
	if (!r->pid) {
		r->family->status = status;
		r->family->failed = end == RECORDING_FAILED;
	}
	if (end == RECORDING_FAILED && err.text[0] && r->pid)
		log__msg("process %d: %s", r->pid, err.text);
	else if (end == RECORDING_FAILED && err.text[0])
		log__msg("%s", err.text);
	fflush(NULL);
	_exit(end);
}

static struct slot *free_slot(struct follow *f)
{
	unsigned int i;

	for (i = 0; i < AT_ONCE; i++)
		if (!f->slot[i].recorder)
			return &f->slot[i];
	return NULL;
}

/*
 * Forks a recorder; it begins when it is followed itself, should it launch the command. `name`: of
 * the program, if it is known.
 */
static int start(struct follow *f, struct recording *r, const char *name)
{
	struct slot *slot = free_slot(f);
	int go[2], code;
	pid_t pid;

	if (!slot)
		return error__set(f->err, -EAGAIN, "%d recordings run already", AT_ONCE);
	if (pipe2(go, O_CLOEXEC))
		return error__set(f->err, -errno, "pipe: %s", strerror(errno));
	r->family = f->family;
	r->report = &f->report[slot - f->slot];
	memset(r->report, 0, sizeof(*r->report));
	pid = fork();
	code = errno;
	if (!pid) {
		close(go[1]);
		run(f, r, go[0]);
	}
	close(go[0]);
	if (pid > 0) {
		*slot = (struct slot){ .recorder = pid, .program.pid = r->pid };
		snprintf(slot->program.name, sizeof(slot->program.name), "%s", name);
		code = r->pid || r->args->pid ? 0 : tracker__add_launcher(f->tracker, pid);
		if (!code && write(go[1], "", 1) != 1)
			code = -errno;
	} else {
		code = error__set(f->err, -code, "fork: %s", strerror(code));
	}
	close(go[1]);
	return code;
}

static void missed__add(struct missed *m, const struct executed *program)
{
	if (m->n < LISTED)
		m->program[m->n] = *program;
	m->n++;
}

static void add_up(struct follow *f, const struct slot *slot, int end)
{
	const struct recording_report *report = &f->report[slot - f->slot];
	const struct recorder_stats *stats = &report->stats;

	if (end == RECORDING_NOTHING) {
		if (slot->program.pid)
			missed__add(report->replaced ? &f->replaced : &f->ended, &slot->program);
		return;
	}
	if (!stats->t0) {
		f->refused++;
		if (!slot->program.pid)
			f->failed = f->stopping = true;
		return;
	}
	f->failed |= end != RECORDING_DONE;
	f->recorded++;
	f->events += stats->writer.events;
	f->bytes += stats->writer.bytes;
	f->lost += stats->sequencer.lost;
}

/* Looks which recorders have ended. Returns how many are left. */
static unsigned int reap(struct follow *f)
{
	unsigned int i, left = 0;
	int status;

	for (i = 0; i < AT_ONCE; i++) {
		if (!f->slot[i].recorder)
			continue;
		if (waitpid(f->slot[i].recorder, &status, WNOHANG) != f->slot[i].recorder) {
			left++;
			continue;
		}
		add_up(f, &f->slot[i], WIFEXITED(status) ? WEXITSTATUS(status) : -1);
		f->slot[i].recorder = 0;
	}
	return left;
}

/* ---- who is recorded ---- */

/* Its program is a Go program, whether it can be recorded or not. */
static bool runs_go(struct follow *f, const struct executed *program)
{
	int pid = program->pid;
	struct go_buildinfo info = {};
	struct elf_image *elf = NULL;
	struct error why = {};
	char path[64];
	int fd, code;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = regular__open(path, NULL);
	if (fd < 0) {
		if (errno == ENOENT || errno == ESRCH)
			missed__add(&f->unseen, program);
		else
			log__debug("process %d is not recorded: %s", pid, strerror(errno));
		return false;
	}
	code = elf_image__open(&elf, fd, path, &why);
	if (!code)
		code = buildinfo__read(elf, &info, &why);
	elf_image__destroy(elf);
	close(fd);
	if (code)
		log__debug("process %d is not recorded: %s", pid, why.text);
	return !code;
}

/*
 * Tells the programs that a process executes apart: the auxiliary vector has addresses that the
 * kernel chose at random for this very one. 0: not readable.
 */
static uint64_t program_mark(int pid)
{
	uint64_t word[128] = {}, mark = 0;
	char path[64];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	size = read(fd, word, sizeof(word));
	close(fd);
	for (ssize_t i = 0; i < size / 8; i++)
		mark = (mark ^ word[i]) * 0x9e3779b97f4a7c15ull;
	return mark;
}

/*
 * A program can be seen in /proc a moment before its exec is stamped: it was found then by the look
 * at what the process executed before.
 */
static bool is_recorded_already(const struct follow *f, const struct gt_followed_exec *exec,
				uint64_t mark)
{
	uint64_t looked = (uintptr_t)map__get(&f->looked_at, exec->pid);

	return exec->time < looked || (looked && exec->time < looked + 1000000000u && mark &&
				       mark == (uintptr_t)map__get(&f->marks, exec->pid));
}

static void on_exec(void *ctx, const struct gt_followed_exec *exec)
{
	struct follow *f = ctx;
	struct executed program = { .pid = (int)exec->pid };
	int pid = program.pid, first = f->first->args->pid;
	uint64_t mark = program_mark(pid);
	struct recording r = *f->first;
	uintptr_t serial;

	if (exec->held || f->stopping)
		return;
	/* Who begins after it has found this program, or one that came after it. */
	snprintf(program.name, sizeof(program.name), "%.15s", exec->comm);
	if (is_recorded_already(f, exec, mark) || !runs_go(f, &program))
		return;
	mark = program_mark(pid);
	/* The first program of the first process is its first recorder's. */
	first = first ? first : __atomic_load_n(&f->family->launched, __ATOMIC_SEQ_CST);
	serial = (uintptr_t)map__get(&f->programs, exec->pid);
	serial = (serial ? serial : pid == first) + 1;
	map__put(&f->programs, exec->pid, (void *)serial);
	r.pid = pid;
	r.exec_time = exec->time;
	r.started = clock__now();
	map__put(&f->looked_at, exec->pid, (void *)(uintptr_t)r.started);
	map__put(&f->marks, exec->pid, (void *)(uintptr_t)(mark ? mark : 1));
	r.serial = (unsigned int)serial;
	if (start(f, &r, program.name)) {
		log__msg("process %d is not recorded: %s", pid, f->err->text);
		f->err->text[0] = '\0';
		f->failed = true;
	}
}

/* Those that it has already are followed, not recorded; who comes meanwhile the tracker sees. */
static void add_children(struct follow *f, int pid, int depth)
{
	struct dirent *e;
	char path[96];
	int child;
	FILE *list;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = depth < 32 ? opendir(path) : NULL;
	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", pid, e->d_name);
		list = e->d_name[0] == '.' ? NULL : fopen(path, "re");
		while (list && fscanf(list, "%d", &child) == 1)
			if (!tracker__add(f->tracker, child))
				add_children(f, child, depth + 1);
		if (list)
			fclose(list);
	}
	if (dir)
		closedir(dir);
}

/* ---- the loop ---- */

/* What the terminal sends reaches everybody by itself; what was sent to us alone does not. */
static void take_signals(struct follow *f)
{
	struct signalfd_siginfo info;
	unsigned int i;

	while (read(f->sigfd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		f->stopping = true;
		for (i = 0; info.ssi_code != SI_KERNEL && i < AT_ONCE; i++)
			if (f->slot[i].recorder)
				kill(f->slot[i].recorder, (int)info.ssi_signo);
	}
}

/* The duration counts from the moment when the first probes were live. */
static void keep_time(struct follow *f)
{
	uint64_t t0;
	unsigned int i;

	for (i = 0; f->first->args->duration_ns && !f->deadline && i < AT_ONCE; i++) {
		t0 = __atomic_load_n(&f->report[i].stats.t0, __ATOMIC_SEQ_CST);
		if (f->slot[i].recorder && t0)
			f->deadline = t0 + f->first->args->duration_ns;
	}
	if (!f->deadline || f->stopping || clock__now() < f->deadline)
		return;
	f->stopping = true;
	for (i = 0; i < AT_ONCE; i++) /* the first one watches the clock itself */
		if (f->slot[i].recorder && f->slot[i].program.pid)
			kill(f->slot[i].recorder, SIGTERM);
}

static void loop(struct follow *f)
{
	struct pollfd fd[] = {
		{ .fd = f->sigfd, .events = POLLIN },
		{ .fd = tracker__fd(f->tracker), .events = POLLIN },
	};
	bool empty;

	do {
		poll(fd, 2, PAUSE_MS);
		take_signals(f);
		keep_time(f);
		/* In this order: what the last one executed is read after it was seen to be gone. */
		empty = tracker__is_empty(f->tracker);
		tracker__read(f->tracker);
		f->stopping |= empty;
	} while (reap(f) || !f->stopping);
}

static int prepare(struct follow *f)
{
	size_t size = sizeof(*f->family) + AT_ONCE * sizeof(*f->report);
	sigset_t signals;
	char *shared;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	f->sigfd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (f->sigfd < 0)
		return error__set(f->err, -errno, "signalfd: %s", strerror(errno));
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return error__set(f->err, -ENOMEM, "out of memory");
	f->report = (struct recording_report *)shared;
	f->family = (struct recording_family *)(f->report + AT_ONCE);
	f->family->status = EXIT_FAILED;
	return tracker__create(&f->tracker, on_exec, f, f->err);
}

/* "name (PID), name (PID) and 3 more" */
static const char *missed__names(const struct missed *m, char *text, size_t size)
{
	unsigned int listed = m->n < LISTED ? m->n : LISTED, i;
	size_t at = 0;

	for (i = 0; i < listed; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s (%d)", i ? ", " : "",
				       m->program[i].name, m->program[i].pid);
	if (m->n > listed)
		snprintf(text + at, size - at, " and %u more", m->n - listed);
	return text;
}

static void list_missed(const struct follow *f)
{
	char text[LISTED * 32 + 32]; /* a name, a PID, and what stands between them: at most 30 */

	if (f->ended.n)
		log__msg("not recorded, since they ended before their probes were attached: %s",
			 missed__names(&f->ended, text, sizeof(text)));
	if (f->replaced.n)
		log__msg(
			"not recorded, since they executed another program before their probes were "
			"attached: %s",
			missed__names(&f->replaced, text, sizeof(text)));
	if (f->unseen.n)
		log__msg(
			"not recorded if they are Go programs, since they ended within milliseconds: %s",
			missed__names(&f->unseen, text, sizeof(text)));
}

/* That of the command, as without --follow. */
static int exit_status(const struct follow *f)
{
	if (f->family->failed)
		return f->family->status;
	if (f->failed || !f->recorded)
		return EXIT_FAILED;
	return f->first->args->command ? f->family->status : EXIT_DONE;
}

static int conclude(struct follow *f)
{
	uint64_t overflows = tracker__overflows(f->tracker);

	if (overflows)
		log__msg("%llu processes or programs were not seen: too many at once",
			 (unsigned long long)overflows);
	if (f->recorded > 1)
		log__msg("recorded %u programs: %llu events, %llu bytes, %llu lost", f->recorded,
			 f->events, f->bytes, f->lost);
	list_missed(f);
	if (!f->recorded && f->ended.n + f->replaced.n)
		error__set(f->err, -ENOENT,
			   "nothing was recorded: no Go program ran for long enough");
	else if (!f->recorded && !f->refused)
		error__set(f->err, -ENOENT, "nothing was recorded: no Go program was executed");
	return exit_status(f);
}

int follow__run(const struct recording *first, struct error *err)
{
	struct follow f = { .first = first, .err = err, .sigfd = -1 };
	struct recording r = *first;
	int code = prepare(&f);

	if (!code && first->args->pid) {
		code = tracker__add(f.tracker, first->args->pid);
		add_children(&f, first->args->pid, 0);
	}
	if (!code)
		code = start(&f, &r, "");
	if (!code) {
		loop(&f);
		code = conclude(&f);
	} else {
		error__set(err, code, "cannot follow: %s", strerror(-code));
		code = EXIT_FAILED;
	}
	tracker__destroy(f.tracker);
	map__deinit(&f.programs);
	map__deinit(&f.looked_at);
	map__deinit(&f.marks);
	if (f.sigfd >= 0)
		close(f.sigfd);
	return code;
}
