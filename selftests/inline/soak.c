// SPDX-License-Identifier: GPL-2.0
/*
 * Puts inline probes into a running Go program and takes them out again, many times. After each time
 * it compares the program's whole code with its file, and counts its mappings and files. Prints the
 * number of records, and for how long the thread that makes the system calls was held.
 *
 *	soak PID CYCLES [MS]	MS: how long to record in each cycle (default: 2)
 *	soak PID kill KILLS	kills the recorder, its guardian, the tracer or two at any point of a cycle
 *	soak PID hostile CYCLES	a program that overwrites all that it can: a cycle may fail, with a reason
 *
 * Upstream: selftests/check/inline.sh, `make soak`. Uses no BPF.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gotrace-bpf/analysis.h"
#include "inline/inline_probes.h"
#include "inline/mappings.h"
#include "lib/clock.h"

struct soak {
	struct analysis an;
	uint64_t records, lost, *held;
};

static int take(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size)
{
	struct soak *s = ctx;

	s->records++;
	return 0;
}

static int drain_for(struct soak *s, struct inline_probes *p, uint64_t ms)
{
	uint64_t end = clock__now() + ms * 1000000;
	bool complete;
	int err;

	do {
		usleep(500);
		err = inline_probes__drain(p, inline_probes__now(p), take, s, &complete);
		if (inline_probes__disturbed(p, clock__now()))
			break;
	} while (!err && clock__now() < end);
	return err;
}

static int cycle(struct soak *s, uint64_t ms, uint64_t *ret_held, struct error *err)
{
	const struct inline_opts opts = {
		.process = &s->an.process,
		.elf = s->an.elf,
		.pclntab = s->an.pclntab,
		.layout = &s->an.layout,
		.sites = &s->an.sites,
		.stack_depth = GT_STACK_MAX,
	};
	uint64_t lost[GT_KIND_END] = {};
	struct inline_probes *p;
	int rc = inline_probes__create(&p, &opts, err);

	if (rc)
		return rc;
	rc = inline_probes__install(p, err);
	*ret_held = inline_probes__held_ns(p);
	if (!rc)
		rc = inline_probes__start(p, err);
	if (!rc)
		rc = drain_for(s, p, ms);
	inline_probes__lost(p, lost);
	for (unsigned int kind = 0; kind < GT_KIND_END; kind++)
		s->lost += lost[kind];
	inline_probes__remove(p);
	inline_probes__close(p);
	return rc;
}

/* Compares every byte of the text section. Returns the address of the first difference, or 0. */
static uint64_t changed_at(const struct soak *s)
{
	unsigned char now[4096], file[4096];
	struct elf_section text;
	uint64_t at, n;

	if (!elf_image__section(s->an.elf, ".text", &text))
		return UINT64_MAX;
	for (at = text.addr; at < text.addr + text.size; at += n) {
		n = text.addr + text.size - at;
		n = n < sizeof(now) ? n : sizeof(now);
		if (process__read(&s->an.process, at + s->an.process.bias, now, n) ||
		    elf_image__read(s->an.elf, at, file, n) != n)
			return UINT64_MAX;
		for (uint64_t i = 0; i < n; i++)
			if (now[i] != file[i])
				return at + i;
	}
	return 0;
}

static bool code_is_clean(const struct soak *s)
{
	uint64_t at = changed_at(s);

	if (at == UINT64_MAX)
		fprintf(stderr, "soak: the code cannot be compared\n");
	else if (at)
		fprintf(stderr, "soak: the code at %#" PRIx64 " is not restored\n", at);
	return !at;
}

/* ---- what remains ---- */

/* Mappings of the program and of rings, and open files that are the program. */
struct remains {
	unsigned int mappings, files;
};

static int count_mapping(void *ctx, const struct mapping *m)
{
	struct remains *r = ctx;

	r->mappings += !strcmp(m->perms, "r-xp") || !strcmp(m->perms, "rw-s");
	return 0;
}

static struct remains what_remains(const struct soak *s)
{
	struct remains ret = {};
	char folder[64], path[sizeof(folder) + NAME_MAX + 1], name[PATH_MAX];
	struct dirent *entry;
	ssize_t n;
	DIR *dir;

	mappings__each(s->an.process.pid, count_mapping, &ret);
	snprintf(folder, sizeof(folder), "/proc/%d/fd", s->an.process.pid);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		n = readlink(path, name, sizeof(name) - 1);
		name[n < 0 ? 0 : n] = '\0';
		ret.files += !strcmp(name, s->an.process.exe);
	}
	if (dir)
		closedir(dir);
	return ret;
}

/* The first attachment leaves its areas, and splits mappings of the code; later ones leave nothing. */
static bool more_remains(const struct soak *s, const struct remains *before)
{
	struct remains now = what_remains(s);

	if (now.mappings <= before->mappings && now.files <= before->files)
		return false;
	fprintf(stderr, "soak: mappings: %u, before %u; files: %u, before %u\n", now.mappings,
		before->mappings, now.files, before->files);
	return true;
}

/* ---- kill -9 ---- */

#define CYCLE_US_MIN 2000
#define LATER_US     20000

enum victim { RECORDER, GUARDIAN, TRACER, BOTH, VICTIMS };
static const char *const names[] = { "recorder", "guardian", "tracer", "recorder and guardian" };

/* The only child: the guardian of a recorder, or the process that traces for a guardian. 0: none. */
static pid_t child_of(pid_t parent)
{
	char path[64];
	pid_t pid = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	in = fopen(path, "r");
	if (!in)
		return 0;
	if (fscanf(in, "%d", &pid) != 1)
		pid = 0;
	fclose(in);
	return pid;
}

/*
 * Guardians become our children when their recorder has ended. Whether the recorder ended as it should:
 * by a signal only if that is SIGKILL, which may have come too late.
 */
static bool await_children(pid_t recorder, bool killed)
{
	bool good = true;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) > 0 || errno == EINTR)
		if (pid == recorder)
			good = WIFSIGNALED(status) ? killed && WTERMSIG(status) == SIGKILL :
						     killed || !WEXITSTATUS(status);
	return good;
}

/*
 * A recorder of which a process is killed `us` after its start. False: it crashed, or failed although it
 * was not killed itself.
 */
static bool kill_in_cycle(struct soak *s, enum victim victim, uint64_t us)
{
	struct error err = {};
	uint64_t held;
	bool ends = victim == RECORDER || victim == BOTH;
	pid_t recorder = fork(), guardian, tracer;

	if (recorder < 0) {
		perror("soak: fork");
		exit(1);
	}
	if (!recorder) {
		if (!cycle(s, 1, &held, &err))
			_exit(0);
		fprintf(stderr, "soak: %s\n", err.text);
		_exit(1);
	}
	usleep((useconds_t)us);
	guardian = child_of(recorder);
	tracer = guardian && victim == TRACER ? child_of(guardian) : 0;
	if (tracer)
		kill(tracer, SIGKILL);
	if (guardian && (victim == GUARDIAN || victim == BOTH))
		kill(guardian, SIGKILL);
	if (ends)
		kill(recorder, SIGKILL);
	return await_children(recorder, ends);
}

/*
 * Kills at points spread over a cycle and the time behind it. If both were killed, nothing restores
 * the code but the next recorder; after other kills it must be clean at once.
 */
static int soak_kills(struct soak *s, unsigned long kills)
{
	uint64_t began = clock__now(), range, held;
	struct error err = {};
	unsigned long i, left = 0;
	bool good;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	srandom((unsigned int)began);
	for (i = 0; i < 10; i++)
		kill_in_cycle(s, GUARDIAN, LATER_US);
	range = (clock__now() - began) / 10000 + CYCLE_US_MIN;
	for (i = 0; i < kills; i++) {
		enum victim victim = (enum victim)(i % VICTIMS);

		good = kill_in_cycle(s, victim, (uint64_t)random() % range);
		if (victim != BOTH && good && code_is_clean(s))
			continue;
		if (victim != BOTH) {
			fprintf(stderr, "soak: after kill %lu, of the %s\n", i, names[victim]);
			return 1;
		}
		left += changed_at(s) != 0;
		if (cycle(s, 1, &held, &err) || !code_is_clean(s)) {
			fprintf(stderr, "soak: after kill %lu, of the %s: %s\n", i, names[victim],
				err.text);
			return 1;
		}
	}
	printf("%lu kills within %" PRIu64 " us; %lu left jumps in the code, which the next "
	       "recorder removed\n",
	       kills, range, left);
	return 0;
}

/* ---- a hostile program ---- */

/* Records end when the recorder notices that they are overwritten, as in a recording. */
static int soak_hostile(struct soak *s, unsigned long cycles, uint64_t ms)
{
	unsigned long i, refused = 0;
	uint64_t longest = 0;

	for (i = 0; i < cycles && process__alive(&s->an.process); i++) {
		struct error err = {};
		uint64_t began = clock__now(), held, took;

		if (cycle(s, ms, &held, &err)) {
			refused++;
			fprintf(stderr, "refused: %s\n", err.text);
		}
		took = clock__now() - began;
		longest = took > longest ? took : longest;
	}
	printf("%lu attachments, %lu refused, %" PRIu64 " records; the longest took %" PRIu64
	       " ms\n",
	       i, refused, s->records, longest / 1000000);
	if (i < cycles)
		fprintf(stderr, "soak: the program ended\n");
	return i < cycles;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	unsigned long cycles = argc > 2 ? strtoul(argv[2], NULL, 10) : 1, i;
	uint64_t ms = argc > 3 ? strtoul(argv[3], NULL, 10) : 2;
	struct remains first = {};
	struct soak s = {};
	struct error err = {};
	int rc;

	s.held = calloc(cycles + 1, sizeof(*s.held));
	if (argc < 3 || !s.held || analysis__of_process(&s.an, atoi(argv[1]), &err)) {
		fprintf(stderr, "soak: %s\n", err.text);
		return 1;
	}
	if (!strcmp(argv[2], "kill"))
		return soak_kills(&s, argc > 3 ? strtoul(argv[3], NULL, 10) : 1);
	if (!strcmp(argv[2], "hostile"))
		return soak_hostile(&s, argc > 3 ? strtoul(argv[3], NULL, 10) : 1, 2);
	for (i = 0; i < cycles; i++) {
		rc = cycle(&s, ms, &s.held[i], &err);
		if (rc) {
			fprintf(stderr, "soak: cycle %lu: %s (%s)\n", i, err.text, strerror(-rc));
			return 1;
		}
		if (!code_is_clean(&s) || (i && more_remains(&s, &first)))
			return 1;
		if (!i)
			first = what_remains(&s);
	}
	if (!cycles) /* only the comparison */
		return !code_is_clean(&s);
	qsort(s.held, cycles, sizeof(*s.held), compare);
	printf("%lu cycles, %" PRIu64 " records, %" PRIu64 " lost; a thread was held for %" PRIu64
	       " us (median), %" PRIu64 " (99 %%), %" PRIu64 " (longest)\n",
	       cycles, s.records, s.lost, s.held[cycles / 2] / 1000,
	       s.held[cycles * 99 / 100] / 1000, s.held[cycles - 1] / 1000);
	return 0;
}
