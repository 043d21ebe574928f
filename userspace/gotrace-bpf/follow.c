// SPDX-License-Identifier: GPL-2.0
/*
 * record --follow: see follow.h.
 *
 * This process records nothing itself. It reads the programs that the followed processes execute
 * (capture/tracker.c), and starts a recorder for each Go program (recorders.c). The processes are not
 * stopped, so the events before a program's probes are live are missing (recorder_stats.missed_ns);
 * only the first one, if it is a command, is held at its exec.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/tracker.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/regular.h"
#include "target/infer/buildinfo.h"
#include "command.h"
#include "follow.h"
#include "recorders.h"

#define LISTED	 16 /* programs that ended too early; further ones are counted */
#define PAUSE_MS 200

/* Programs that were not recorded, for one reason. */
struct missed {
	unsigned int n;
	struct executed program[LISTED]; /* the first of them */
};

struct follow {
	const struct recording *first;
	struct tracker *tracker;
	struct error *error;
	struct recorders recorders;
	struct map programs; /* PID -> number of its programs that were passed to a recorder */
	struct map recorder_starts; /* PID -> start of the last of these recorders, ns */
	struct map marks;	    /* PID -> program_mark() of that program */
	uint64_t deadline;	    /* 0: none, or not known yet */
	bool stopping, failed;
	unsigned int refused;
	struct missed ended, replaced; /* Go programs, before their probes were attached */
	struct missed unseen; /* programs, before it was known whether they are Go programs */
};

static void missed__add(struct missed *m, const struct executed *program)
{
	if (m->n < LISTED)
		m->program[m->n] = *program;
	m->n++;
}

/* Called by recorders.c. */
static void add_result(void *ctx, const struct recorder_slot *slot,
		       const struct recording_report *report, int end)
{
	struct follow *f = ctx;

	if (end == RECORDING_NOTHING) {
		if (slot->program.pid)
			missed__add(report->replaced ? &f->replaced : &f->ended, &slot->program);
		return;
	}
	if (!report->stats.t0) {
		f->refused++;
		if (!slot->program.pid)
			f->failed = f->stopping = true;
		return;
	}
	f->failed |= end != RECORDING_DONE;
}

/*
 * Starts a recorder. `name` is that of the program, or empty. 0, or a negative errno and the reason.
 */
static int start(struct follow *f, struct recording *r, const char *name)
{
	struct recorder_slot *slot = recorders__free_slot(&f->recorders);

	if (!slot)
		return error__set(f->error, -EAGAIN,
				  "%d recordings are already running, "
				  "which is the maximum",
				  RECORDERS_MAX);
	return recorders__start(&f->recorders, slot, r, name, f->error);
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

/* False: it has ended, or is about to. */
static bool has_executable(int pid)
{
	char path[64], target[2];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, target, sizeof(target)) > 0;
}

static void handle_exec(void *ctx, const struct gt_followed_exec *exec)
{
	struct follow *f = ctx;
	struct executed program = { .pid = (int)exec->pid };
	int pid = program.pid, first = f->first->args->pid;
	uint64_t mark = recorders__program_mark(pid);
	struct recording r = *f->first;
	uintptr_t serial;

	if (exec->held || f->stopping)
		return;
	snprintf(program.name, sizeof(program.name), "%.15s", exec->comm);
	if (is_recorded_already(f, exec, mark) || !runs_go(f, &program))
		return;
	mark = recorders__program_mark(pid);
	if (!mark &&
	    has_executable(pid)) /* in the middle of an exec, which is going to be reported */
		return;
	/* The first program of the first process has been passed to the first recorder. */
	first = first ? first : __atomic_load_n(&f->recorders.family->launched, __ATOMIC_SEQ_CST);
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

/* Ends the recordings after the duration, which starts when the first probes are live. */
static void check_duration(struct follow *f)
{
	const struct recorders *all = &f->recorders;
	uint64_t t0;

	for (unsigned int i = 0; f->first->args->duration_ns && !f->deadline && i < RECORDERS_MAX;
	     i++) {
		t0 = __atomic_load_n(&all->report[i].stats.t0, __ATOMIC_SEQ_CST);
		if (all->slot[i].recorder && t0)
			f->deadline = t0 + f->first->args->duration_ns;
	}
	if (!f->deadline || f->stopping || clock__now() < f->deadline)
		return;
	f->stopping = true;
	for (unsigned int i = 0; i < RECORDERS_MAX; i++) /* the first recorder ends itself */
		if (all->slot[i].recorder && all->slot[i].program.pid)
			kill(all->slot[i].recorder, SIGTERM);
}

static void loop(struct follow *f)
{
	struct pollfd fd[] = {
		{ .fd = f->recorders.sigfd, .events = POLLIN },
		{ .fd = tracker__fd(f->tracker), .events = POLLIN },
	};
	bool empty;

	do {
		poll(fd, 2, PAUSE_MS);
		f->stopping |= recorders__take_signals(&f->recorders);
		check_duration(f);
		/*
		 * In this order, so that the last execs are read after the end of the last process.
		 */
		empty = tracker__is_empty(f->tracker);
		tracker__read(f->tracker);
		f->stopping |= empty;
	} while (recorders__reap(&f->recorders) || !f->stopping);
}

static int prepare(struct follow *f)
{
	int err = recorders__init(&f->recorders, add_result, f, false, f->error);

	if (err)
		return err;
	f->recorders.family->status = EXIT_FAILED;
	err = tracker__create(&f->tracker, handle_exec, f, f->error);
	f->recorders.tracker = f->tracker;
	return err;
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
	const struct recording_family *family = f->recorders.family;

	if (family->failed)
		return family->status;
	if (f->failed || !f->recorders.recorded)
		return EXIT_FAILED;
	return f->first->args->command ? family->status : EXIT_DONE;
}

static int conclude(struct follow *f)
{
	uint64_t overflows = tracker__overflows(f->tracker);
	const struct recorders *all = &f->recorders;

	if (overflows)
		log__msg(
			"%llu processes or programs were not recorded: too many started at the same time",
			(unsigned long long)overflows);
	recorders__report(all);
	list_missed(&f->ended, "ended before their probes were attached");
	list_missed(&f->replaced, "executed another program before their probes were attached");
	list_missed(&f->unseen, "ended before they were analysed");
	if (!all->recorded && f->ended.n + f->replaced.n)
		error__set(f->error, -ENOENT,
			   "nothing was recorded: no Go program ran long enough");
	else if (!all->recorded && !f->refused)
		error__set(f->error, -ENOENT, "nothing was recorded: no Go program was executed");
	return exit_status(f);
}

int follow__run(const struct recording *first, struct error *error)
{
	struct follow f = { .first = first, .error = error };
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
	recorders__deinit(&f.recorders);
	return err;
}
