// SPDX-License-Identifier: GPL-2.0
/*
 * record --follow: see follow.h.
 *
 * This process records nothing itself. It reads the programs that the followed processes execute
 * (capture/tracker.c), and forks a recorder for each Go program, which drops its privileges like
 * any recorder. The processes are not stopped, so the events before a program's probes are live are
 * missing (recorder_stats.missed_ns); only the first one, if it is a command, is held at its exec.
 * The recorders end when this process ends.
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

#include "capture/tracker.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/regular.h"
#include "target/infer/buildinfo.h"
#include "command.h"
#include "follow.h"

#define AT_ONCE	   64 /* recordings; each has rings of 16 MiB */
#define LISTED	   16 /* programs that ended too early; further ones are counted */
#define PAUSE_MS   200
#define GONE_CHILD 100 /* exit status of a child whose parent ended before it started */

struct executed {
	int pid;
	char name[16]; /* that of struct gt_followed_exec */
};

struct slot {
	pid_t recorder;		 /* 0: free */
	struct executed program; /* that it records; PID 0: the first recording */
};

/* Programs that were not recorded, for one reason. */
struct missed {
	unsigned int n;
	struct executed program[LISTED]; /* the first of them */
};

struct follow {
	const struct recording *first;
	struct tracker *tracker;
	struct error *error;
	int sigfd;
	/* shared with the recorders */
	struct recording_family *family;
	struct recording_report *report; /* [AT_ONCE] */
	struct slot slot[AT_ONCE];
	struct map programs; /* PID -> number of its programs that were passed to a recorder */
	struct map recorder_starts; /* PID -> start of the last of these recorders, ns */
	struct map marks;	    /* PID -> program_mark() of that program */
	uint64_t deadline;	    /* 0: none, or not known yet */
	bool stopping, failed;
	unsigned int recorded, refused;
	struct missed ended, replaced; /* Go programs, before their probes were attached */
	struct missed unseen; /* programs, before it was known whether they are Go programs */
	unsigned long long events, bytes, lost;
};

/* ---- a recorder ---- */

static _Noreturn void run(struct follow *f, struct recording *r, int go)
{
	struct error error = {};
	enum recording_end end;
	int status;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (read(go, &byte, 1) != 1)
		_exit(GONE_CHILD);
	close(go);
	close(f->sigfd);
	tracker__destroy(f->tracker);
	end = recording__run(r, &status, &error);
	if (!r->pid) {
		r->family->status = status;
		r->family->failed = end == RECORDING_FAILED;
	}
	if (end == RECORDING_FAILED && error.text[0] && r->pid)
		log__msg("process %d: %s", r->pid, error.text);
	else if (end == RECORDING_FAILED && error.text[0])
		log__msg("%s", error.text);
	fflush(NULL);
	_exit(end);
}

static struct slot *free_slot(struct follow *f)
{
	for (unsigned int i = 0; i < AT_ONCE; i++)
		if (!f->slot[i].recorder)
			return &f->slot[i];
	return NULL;
}

/*
 * Forks a recorder. If it will launch the command, it starts once it is itself followed. `name` is
 * that of the program, or empty.
 */
static int start(struct follow *f, struct recording *r, const char *name)
{
	struct slot *slot = free_slot(f);
	int go[2], err;
	pid_t pid;

	if (!slot)
		return error__set(f->error, -EAGAIN,
				  "%d recordings are already running, "
				  "which is the maximum",
				  AT_ONCE);
	if (pipe2(go, O_CLOEXEC))
		return error__set(f->error, -errno, "pipe: %s", strerror(errno));
	r->family = f->family;
	r->report = &f->report[slot - f->slot];
	memset(r->report, 0, sizeof(*r->report));
	pid = fork();
	err = errno;
	if (!pid) {
		close(go[1]);
		run(f, r, go[0]);
	}
	close(go[0]);
	if (pid > 0) {
		*slot = (struct slot){ .recorder = pid, .program.pid = r->pid };
		snprintf(slot->program.name, sizeof(slot->program.name), "%s", name);
		err = r->pid || r->args->pid ? 0 : tracker__add_launcher(f->tracker, pid);
		if (!err && write(go[1], "", 1) != 1)
			err = -errno;
	} else {
		err = error__set(f->error, -err, "fork: %s", strerror(err));
	}
	close(go[1]);
	return err;
}

static void missed__add(struct missed *m, const struct executed *program)
{
	if (m->n < LISTED)
		m->program[m->n] = *program;
	m->n++;
}

static void add_result(struct follow *f, const struct slot *slot, int end)
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

/* Reaps recorders that have ended. Returns the number of those that still run. */
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
		add_result(f, &f->slot[i], WIFEXITED(status) ? WEXITSTATUS(status) : -1);
		f->slot[i].recorder = 0;
	}
	return left;
}

/* ---- which programs are recorded ---- */

/* Whether it is a Go program, even one that cannot be recorded. */
static bool runs_go(struct follow *f, const struct executed *program)
{
	int pid = program->pid;
	struct go_buildinfo info = {};
	struct elf_image *elf = NULL;
	struct error why = {};
	char path[64];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = regular__open(path, NULL);
	if (fd < 0) {
		if (errno == ENOENT || errno == ESRCH)
			missed__add(&f->unseen, program);
		else
			log__debug("process %d is not recorded: %s", pid, strerror(errno));
		return false;
	}
	err = elf_image__open(&elf, fd, path, &why);
	if (!err)
		err = buildinfo__read(elf, &info, &why);
	elf_image__destroy(elf);
	close(fd);
	if (err)
		log__debug("process %d is not recorded: %s", pid, why.text);
	return !err;
}

/*
 * A hash by which the programs that a process executes can be distinguished: the auxiliary vector
 * contains addresses that the kernel randomizes at each exec. 0: not readable.
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
 * A program is visible in /proc shortly before the timestamp of its exec is taken. It may then have
 * been passed to a recorder already, in reaction to the exec before.
 */
static bool is_recorded_already(const struct follow *f, const struct gt_followed_exec *exec,
				uint64_t mark)
{
	uint64_t started = (uintptr_t)map__get(&f->recorder_starts, exec->pid);

	return exec->time < started || (started && exec->time < started + 1000000000u && mark &&
					mark == (uintptr_t)map__get(&f->marks, exec->pid));
}

static void handle_exec(void *ctx, const struct gt_followed_exec *exec)
{
	struct follow *f = ctx;
	struct executed program = { .pid = (int)exec->pid };
	int pid = program.pid, first = f->first->args->pid;
	uint64_t mark = program_mark(pid);
	struct recording r = *f->first;
	uintptr_t serial;

	if (exec->held || f->stopping)
		return;
	snprintf(program.name, sizeof(program.name), "%.15s", exec->comm);
	if (is_recorded_already(f, exec, mark) || !runs_go(f, &program))
		return;
	mark = program_mark(pid);
	/* The first program of the first process has been passed to the first recorder. */
	first = first ? first : __atomic_load_n(&f->family->launched, __ATOMIC_SEQ_CST);
	serial = (uintptr_t)map__get(&f->programs, exec->pid);
	serial = (serial ? serial : pid == first) + 1;
	map__put(&f->programs, exec->pid, (void *)serial);
	r.pid = pid;
	r.exec_time = exec->time;
	r.started = clock__now();
	map__put(&f->recorder_starts, exec->pid, (void *)(uintptr_t)r.started);
	map__put(&f->marks, exec->pid, (void *)(uintptr_t)(mark ? mark : 1));
	r.serial = (unsigned int)serial;
	if (start(f, &r, program.name)) {
		log__msg("process %d is not recorded: %s", pid, f->error->text);
		f->error->text[0] = '\0';
		f->failed = true;
	}
}

/*
 * Existing children are followed, not recorded. The tracker notices those that are created
 * meanwhile.
 */
static void add_children(struct follow *f, int pid, int depth)
{
	struct dirent *entry;
	char path[96];
	int child;
	FILE *list;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = depth < 32 ? opendir(path) : NULL;
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", pid, entry->d_name);
		list = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
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

/*
 * Forwards signals that were sent to this process alone; those of the terminal reach all processes.
 */
static void take_signals(struct follow *f)
{
	struct signalfd_siginfo info;

	while (read(f->sigfd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		f->stopping = true;
		for (unsigned int i = 0; info.ssi_code != SI_KERNEL && i < AT_ONCE; i++)
			if (f->slot[i].recorder)
				kill(f->slot[i].recorder, (int)info.ssi_signo);
	}
}

/* Ends the recordings after the duration, which starts when the first probes are live. */
static void check_duration(struct follow *f)
{
	uint64_t t0;

	for (unsigned int i = 0; f->first->args->duration_ns && !f->deadline && i < AT_ONCE; i++) {
		t0 = __atomic_load_n(&f->report[i].stats.t0, __ATOMIC_SEQ_CST);
		if (f->slot[i].recorder && t0)
			f->deadline = t0 + f->first->args->duration_ns;
	}
	if (!f->deadline || f->stopping || clock__now() < f->deadline)
		return;
	f->stopping = true;
	for (unsigned int i = 0; i < AT_ONCE; i++) /* the first recorder ends itself */
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
		check_duration(f);
		/*
		 * In this order, so that the last execs are read after the end of the last process.
		 */
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
		return error__set(f->error, -errno, "signalfd: %s", strerror(errno));
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return error__set(f->error, -ENOMEM, "out of memory");
	f->report = (struct recording_report *)shared;
	f->family = (struct recording_family *)(f->report + AT_ONCE);
	f->family->status = EXIT_FAILED;
	return tracker__create(&f->tracker, handle_exec, f, f->error);
}

/* Lists those missed as "name (PID), name (PID) and 3 more". */
static void list_missed(const struct missed *m, const char *why)
{
	unsigned int listed = m->n < LISTED ? m->n : LISTED;
	char text[LISTED * 32 + 32]; /* at most 30 per name, PID and punctuation */
	size_t at = 0;

	if (!m->n)
		return;
	for (unsigned int i = 0; i < listed; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s (%d)", i ? ", " : "",
				       m->program[i].name, m->program[i].pid);
	if (m->n > listed)
		snprintf(text + at, sizeof(text) - at, " and %u more", m->n - listed);
	log__msg("not recorded because they %s: %s", why, text);
}

/* The status of the command, as without --follow. */
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
		log__msg(
			"%llu processes or programs were not recorded: too many started at the same time",
			(unsigned long long)overflows);
	if (f->recorded > 1)
		log__msg("recorded %u programs: %llu events, %llu bytes, %llu lost", f->recorded,
			 f->events, f->bytes, f->lost);
	list_missed(&f->ended, "ended before their probes were attached");
	list_missed(&f->replaced, "executed another program before their probes were attached");
	list_missed(&f->unseen, "ended before they were analysed");
	if (!f->recorded && f->ended.n + f->replaced.n)
		error__set(f->error, -ENOENT,
			   "nothing was recorded: no Go program ran long enough");
	else if (!f->recorded && !f->refused)
		error__set(f->error, -ENOENT, "nothing was recorded: no Go program was executed");
	return exit_status(f);
}

int follow__run(const struct recording *first, struct error *error)
{
	struct follow f = { .first = first, .error = error, .sigfd = -1 };
	struct recording r = *first;
	int err = prepare(&f);

	if (!err && first->args->pid) {
		err = tracker__add(f.tracker, first->args->pid);
		add_children(&f, first->args->pid, 0);
	}
	if (!err)
		err = start(&f, &r, "");
	if (!err) {
		loop(&f);
		err = conclude(&f);
	} else {
		error__set(error, err, "cannot follow processes: %s", strerror(-err));
		err = EXIT_FAILED;
	}
	tracker__destroy(f.tracker);
	map__deinit(&f.programs);
	map__deinit(&f.recorder_starts);
	map__deinit(&f.marks);
	if (f.sigfd >= 0)
		close(f.sigfd);
	return err;
}
