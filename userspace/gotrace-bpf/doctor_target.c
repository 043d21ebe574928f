// SPDX-License-Identifier: GPL-2.0
/*
 * doctor -p: what would be recorded of a process, what not and why, and at what cost.
 *
 * Everything except the number of goroutines comes from the analysis with which record starts, so
 * that both have the same result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inline/inline_probes.h"
#include "target/process/snapshot.h"
#include "target/process/text.h"
#include "command.h"
#include "doctor.h"
#include "interrupt.h"

#define COMMAND_MAX 150 /* of its command line: two lines */

static bool has_section(const struct analysis *a, const char *name)
{
	struct elf_section sec;

	return elf_image__section(a->elf, name, &sec);
}

#define BUILD_WORDS 9

/* How a program was built: words such as "PIE" or "stripped". */
struct build_word {
	const char *name; /* in JSON */
	const char *text;
	bool is;
};

static void build_words(const struct analysis *a, struct build_word *ret)
{
	const struct build_word words[BUILD_WORDS] = {
		{ "pie", "PIE", elf_image__is_relocatable(a->elf) },
		{ "stripped", "no symbol table", !has_section(a, ".symtab") },
		{ "no_dwarf", "no DWARF",
		  !has_section(a, ".debug_info") && !has_section(a, ".zdebug_info") },
		{ "cgo", "cgo enabled", a->info.cgo },
		/* The startup code of the C library has this section. */
		{ "external", "external linker", has_section(a, ".init") },
		{ "race", "race detector", a->info.race },
		{ "pgo", "profile-guided", a->info.pgo },
		{ "trimpath", "-trimpath", a->info.trimpath },
		{ "unoptimized", "not optimized (-N)", a->info.unoptimized },
	};

	memcpy(ret, words, sizeof(words));
}

static void report_program(struct doctor *d, const struct analysis *a)
{
	struct build_word word[BUILD_WORDS];
	char text[256] = "";

	doctor__report(d, GOOD, "program", "%s, %s",
		       a->info.path[0] ? a->info.path : a->process.exe, a->info.version.text);
	build_words(a, word);
	for (int i = 0; i < BUILD_WORDS; i++) {
		size_t len = strlen(text);

		if (word[i].is)
			snprintf(text + len, sizeof(text) - len, "%s%s", len ? ", " : "",
				 word[i].text);
	}
	doctor__report(d, GOOD, "build", "%s",
		       text[0] ? text : "static, with symbol table and DWARF");
}

/* ---- where it runs ---- */

static bool other_namespace(int pid, const char *name)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, name);
	if (stat(path, &theirs))
		return false;
	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	return !stat(path, &ours) && ours.st_ino != theirs.st_ino;
}

/* The kernel shows "/path (deleted)"; another file may be at /path by now. */
static void find_environment(const struct analysis *a, struct target_facts *f)
{
	static const char suffix[] = " (deleted)";
	const char *exe = a->process.exe;
	size_t len = strlen(exe);
	char path[4096 + 32];
	struct stat st;

	if (len >= sizeof(suffix) && !strcmp(exe + len - (sizeof(suffix) - 1), suffix)) {
		snprintf(path, sizeof(path), "/proc/%d/root%.*s", a->process.pid,
			 (int)(len - (sizeof(suffix) - 1)), exe);
		f->replaced = !lstat(path, &st);
		f->deleted = !f->replaced;
	}
	f->other_pid_ns = other_namespace(a->process.pid, "pid");
	f->other_mnt_ns = other_namespace(a->process.pid, "mnt");
	f->other_user_ns = other_namespace(a->process.pid, "user");
}

static void report_environment(struct doctor *d, const struct target_facts *f)
{
	if (f->deleted || f->replaced)
		doctor__report(
			d, NOTE, "file",
			"the program file was %s since the start; the running one is analysed",
			f->deleted ? "deleted" : "replaced");
	if (f->other_pid_ns || f->other_mnt_ns || f->other_user_ns)
		doctor__report(d, GOOD, "namespaces",
			       "separate:%s%s%s; thread IDs in the trace are those of the host",
			       f->other_pid_ns ? " pid" : "", f->other_mnt_ns ? " mnt" : "",
			       f->other_user_ns ? " user" : "");
}

/* ---- what would be recorded ---- */

/* A site at which no probe is attached, because its event is derived. */
static bool is_unused(const struct analysis *a, const struct site *site)
{
	return site__is_derived(&a->sites, &a->layout, site->probe);
}

static size_t attached(const struct analysis *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->sites.n; i++)
		n += !is_unused(a, &a->sites.site[i]);
	return n;
}

static bool is_stepped(const struct analysis *a, const struct site *site)
{
	return site->cost == SITE_STEPPED && !is_unused(a, site);
}

static size_t stepped(const struct analysis *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->sites.n; i++)
		n += is_stepped(a, &a->sites.site[i]);
	return n;
}

static size_t sites_of(const struct analysis *a, enum site_set set)
{
	size_t n = 0;

	for (size_t i = 0; i < a->sites.n; i++)
		n += site__set(a->sites.site[i].probe) == set && !is_unused(a, &a->sites.site[i]);
	return n;
}

/* CPU samples and kernel events have no probes: doctor.c reports them. */
static bool has_probes(enum site_set set)
{
	return set != SITE_CPU && set != SITE_KERNEL && set != SITE_FAULT;
}

static void report_set(struct doctor *d, const struct analysis *a, enum site_set set)
{
	const struct site_list *sites = &a->sites;
	enum finding_level level = GOOD;
	size_t len;
	char text[600];

	if (set == SITE_USER && !sites_of(a, set))
		snprintf(text, sizeof(text),
			 "the program uses no tasks, regions or logs of runtime/trace");
	else
		snprintf(text, sizeof(text), "recorded with %zu probes", sites_of(a, set));
	for (size_t i = 0; i < sites->nmissing; i++) {
		const struct site_missing *m = &sites->missing[i];

		if (site__set(m->probe) != set)
			continue;
		len = strlen(text);
		snprintf(text + len, sizeof(text) - len, "%s %s (%s)",
			 level == GOOD ? "; missing:" : ",", m->why, m->reason);
		level = m->needed ? BAD : level == BAD ? BAD : NOTE;
	}
	if (level == BAD)
		doctor__report(d, level, site_set__name(set), "not recorded%s", strchr(text, ';'));
	else
		doctor__report(d, level, site_set__name(set), "%s", text);
}

static void report_cost(struct doctor *d, const struct analysis *a)
{
	const struct site_list *sites = &a->sites;
	size_t slow = stepped(a), len;
	char text[300];

	if (!slow) {
		doctor__report(d, GOOD, "cost",
			       "low: the kernel emulates all probed instructions, "
			       "about 0.7 us per hit");
		return;
	}
	snprintf(text, sizeof(text),
		 "%zu of %zu probed instructions are single-stepped, about 4 us "
		 "per hit:",
		 slow, attached(a));
	for (size_t i = 0; i < sites->n; i++) {
		len = strlen(text);
		if (is_stepped(a, &sites->site[i]))
			snprintf(text + len, sizeof(text) - len, " %s", sites->site[i].func);
	}
	doctor__report(d, NOTE, "cost", "%s", text);
}

/* With the checks that record makes before it changes the process. */
static void check_inline(const struct analysis *a, struct target_facts *f)
{
	const struct inline_opts opts = {
		.process = &a->process,
		.elf = a->elf,
		.pclntab = a->pclntab,
		.layout = &a->layout,
		.sites = &a->sites,
		.modules = &a->modules,
		.stack_depth = GT_STACK_MAX,
	};
	struct inline_probes *inl;
	int err = inline_probes__create(&inl, &opts, &f->inline_refused);

	f->inline_checked = true;
	if (err) {
		error__set(&f->inline_refused, err, "%s", strerror(-err));
		return;
	}
	f->inline_probes = inline_probes__which(inl);
	inline_probes__close(inl);
}

static void report_inline(struct doctor *d, const struct target_facts *f)
{
	if (!f->inline_checked)
		return;
	if (f->inline_refused.text[0])
		doctor__report(d, NOTE, "inline", "%s", f->inline_refused.text);
	else
		doctor__report(d, GOOD, "inline",
			       "record --probes=inline is possible, for %d kinds of probes",
			       __builtin_popcountll(f->inline_probes));
}

static void report_modules(struct doctor *d, const struct analysis *a)
{
	char others[768];

	if (a->libraries.nothers)
		doctor__report(d, NOTE, "libraries",
			       "not recorded: the Go code of %s: see --library",
			       libraries__format(&a->libraries, 0, others, sizeof(others)));
	if (a->modules_why.text[0])
		doctor__report(d, NOTE, "plugins", "unknown: %s", a->modules_why.text);
	for (size_t i = 0; i < a->modules.n; i++) {
		const struct go_module *m = a->modules.module[i];
		const char *path = go_module__path(m);

		if (m->has_sites)
			doctor__report(d, GOOD, "plugin", "%s, %zu probes", path, m->sites.n);
		else
			doctor__report(d, NOTE, "plugin",
				       "%s: what it executes is not recorded: %s", path,
				       m->why.text);
	}
}

static void count(const struct analysis *a, struct target_facts *f)
{
	struct snapshot snap;

	if (snapshot__read(&a->process, &a->layout, NULL, &snap))
		return;
	f->counted = true;
	f->goroutines = snap.ng;
	f->threads = snap.nm;
	f->procs = snap.procs;
	snapshot__deinit(&snap);
}

void doctor__target(struct doctor *d, struct analysis *a, struct target_facts *f)
{
	struct error error = {};
	const struct interrupt how = { .status = EXIT_FAILED };
	size_t len;
	int err;

	interrupt__allow(&how);
	err = analysis__of_process(a, d->pid, &error);
	interrupt__forbid();
	len = a->has_process ? strlen(a->process.cmdline) : 0;

	if (a->has_process) {
		doctor__report(d, GOOD, "process", "%d: %.*s%s", d->pid, COMMAND_MAX,
			       a->process.cmdline, len > COMMAND_MAX ? "..." : "");
		find_environment(a, f);
	}
	if (a->info.version.text[0])
		report_program(d, a);
	report_environment(d, f);
	if (err) {
		doctor__report(d, BAD, "target", "%s", error.text[0] ? error.text : strerror(-err));
	} else {
		doctor__report(d, GOOD, "offsets", "%s; verified in its memory", a->layout.source);
		if (a->layout.warning[0])
			doctor__report(d, NOTE, "offsets", "%s", a->layout.warning);
		if (text__check(&a->process, a->elf, &a->sites, &error))
			doctor__report(d, BAD, "code", "%s", error.text);
		report_modules(d, a);
		check_inline(a, f);
		count(a, f);
		if (d->measure_ns && !d->bad && doctor__measure(d, a, &f->measured, &error))
			doctor__report(d, BAD, "measured", "%s", error.text);
	}
	if (!a->sites.n)
		return;
	for (int set = 0; set < SITE_SETS; set++)
		if (has_probes(set))
			report_set(d, a, set);
	report_cost(d, a);
	report_inline(d, f);
	measured__report(d, &f->measured);
	if (f->counted)
		doctor__report(d, GOOD, "now", "%zu goroutines, %zu threads, %u Ps", f->goroutines,
			       f->threads, f->procs);
}

/* ---- JSON ---- */

static void sets_json(struct json *j, const struct analysis *a)
{
	const struct site_list *sites = &a->sites;

	json__open(j, "events", '{');
	for (int set = 0; set < SITE_SETS; set++) {
		if (!has_probes(set))
			continue;
		json__open(j, site_set__name(set), '{');
		json__u64(j, "probes", sites_of(a, set));
		json__open(j, "missing", '[');
		for (size_t i = 0; i < sites->nmissing; i++) {
			if (site__set(sites->missing[i].probe) == (enum site_set)set)
				json__string(j, NULL, site__probe_name(sites->missing[i].probe));
		}
		json__close(j, ']');
		json__close(j, '}');
	}
	json__close(j, '}');
}

static void environment_json(struct json *j, const struct analysis *a, const struct target_facts *f)
{
	json__u64(j, "pid", (uint64_t)a->process.pid);
	json__string(j, "command", a->process.cmdline);
	json__string(j, "exe", a->process.exe);
	json__string(j, "file", f->deleted ? "deleted" : f->replaced ? "replaced" : "unchanged");
	json__open(j, "own_namespaces", '[');
	if (f->other_pid_ns)
		json__string(j, NULL, "pid");
	if (f->other_mnt_ns)
		json__string(j, NULL, "mnt");
	if (f->other_user_ns)
		json__string(j, NULL, "user");
	json__close(j, ']');
}

static void inline_json(struct json *j, const struct target_facts *f)
{
	const char *refused = f->inline_refused.text;

	json__open(j, "inline", '{');
	json__string(j, "refused", refused[0] ? refused : NULL);
	json__open(j, "probes", '[');
	for (unsigned int probe = 0; probe < GT_PROBE_COUNT; probe++)
		if (f->inline_probes >> probe & 1)
			json__string(j, NULL, site__probe_name((enum gt_probe)probe));
	json__close(j, ']');
	json__close(j, '}');
}

static void plugins_json(struct json *j, const struct analysis *a)
{
	json__open(j, "plugins", '[');
	for (size_t i = 0; i < a->modules.n; i++) {
		const struct go_module *m = a->modules.module[i];

		json__open(j, NULL, '{');
		json__string(j, "file", m->path);
		json__string(j, "refused", m->has_sites ? NULL : m->why.text);
		json__u64(j, "probes", m->has_sites ? m->sites.n : 0);
		json__close(j, '}');
	}
	json__close(j, ']');
}

void doctor__target_json(struct json *j, const struct analysis *a, const struct target_facts *f)
{
	struct build_word word[BUILD_WORDS];

	json__open(j, "target", '{');
	if (a->has_process)
		environment_json(j, a, f);
	if (a->info.version.text[0]) {
		json__string(j, "program", a->info.path);
		json__string(j, "go", a->info.version.text);
		json__string(j, "build_id", elf_image__build_id(a->elf));
		build_words(a, word);
		json__open(j, "build", '{');
		for (int i = 0; i < BUILD_WORDS; i++)
			json__bool(j, word[i].name, word[i].is);
		json__close(j, '}');
	}
	if (a->layout.source[0]) {
		json__string(j, "offsets", a->layout.source);
		json__string(j, "warning", a->layout.warning[0] ? a->layout.warning : NULL);
	}
	if (a->sites.n) {
		json__u64(j, "probes", attached(a));
		json__u64(j, "stepped", stepped(a));
		sets_json(j, a);
	}
	if (f->inline_checked)
		inline_json(j, f);
	plugins_json(j, a);
	analysis__libraries_json(a, j);
	if (f->counted) {
		json__u64(j, "goroutines", f->goroutines);
		json__u64(j, "threads", f->threads);
		json__u64(j, "procs", f->procs);
	}
	measured__json(j, &f->measured);
	json__close(j, '}');
}
