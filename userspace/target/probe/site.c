// SPDX-License-Identifier: GPL-2.0
/*
 * Where to probe: the choice of an instruction for each transition of the table.
 *
 * Upstream: site_table.c, symbols/pclntab.c, arch/, site_find.c. Downstream: capture/probes.c
 * attaches the sites.
 *
 * Profile-guided builds inline functions such as casgstatus, gdestroy, reentersyscall and runqput,
 * whose own code then misses transitions. So each inlined copy needs a site of its own
 * (site_inline.c). If one has none, an alternative row is tried; otherwise the program is rejected,
 * rather than recorded with gaps.
 */
#include "target/probe/site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "target/probe/site_find.h"
#include "target/probe/site_impl.h"

#define WAITING	    4
#define RUNNING	    2
#define INLINED_MAX (1u << 16) /* an ordinary build has 2 */

static bool applies(const struct row *row, const struct layout *layout)
{
	unsigned int minor = layout->version.minor;

	return minor >= row->since && (!row->until || minor <= row->until);
}

static void note_inlined(void *ctx, const char *name, const struct go_func *into)
{
	struct finder *f = ctx;

	/* The copies in one function are consecutive. */
	for (size_t i = f->ninlined; i-- > 0 && f->inlined[i].into.entry == into->entry;) {
		if (f->inlined[i].what == name)
			return;
	}
	if (f->ninlined == INLINED_MAX ||
	    array__grow(&f->inlined, f->ninlined, &f->inlined_cap, sizeof(*f->inlined))) {
		f->out_of_memory = true;
		return;
	}
	f->inlined[f->ninlined++] = (struct inlined){ name, *into };
}

static int find_inlined(struct finder *f)
{
	const char *names[2 * SITE_ROWS_MAX];
	size_t n = 0;
	int err;

	for (size_t i = 0; i < site_nrows; i++) {
		const char *both[] = { site_rows[i].func, site_rows[i].callee };

		for (size_t k = 0; k < 2; k++) {
			size_t j = 0;

			while (both[k] && j < n && strcmp(names[j], both[k]))
				j++;
			if (both[k] && j == n)
				names[n++] = both[k];
		}
	}
	err = pclntab__inlined(f->pt, names, n, note_inlined, f);
	return f->out_of_memory ? -ENOMEM : err;
}

bool finder__add(struct finder *f, const struct row *row, const struct code *code, size_t at,
		 uint64_t cookie)
{
	struct site_list *list = &f->list;
	const struct insn *in = &code->insn[at];
	struct site *s;
	int64_t offset = elf_image__offset(f->elf, in->addr);

	if (offset < 0 || list->n >= SITES_MAX) {
		f->overflow = true;
		return false;
	}
	if (array__grow(&list->site, list->n, &f->site_cap, sizeof(*list->site))) {
		f->out_of_memory = true;
		return false;
	}
	s = &list->site[list->n++];
	*s = (struct site){
		.probe = row->probe,
		.cookie = cookie,
		.addr = in->addr,
		.offset = (uint64_t)offset,
		.func_offset = (uint32_t)(in->addr - code->func.entry),
		.cost = in->emulated ? SITE_EMULATED : SITE_STEPPED,
		.why = row->why,
	};
	snprintf(s->func, sizeof(s->func), "%s", code->func.name);
	code__format(code, at, f->pt, s->text, sizeof(s->text));
	return true;
}

static size_t add_calls(struct finder *f, const struct row *row, const struct code *code,
			uint64_t callee)
{
	size_t added = 0;

	for (size_t at = 0; (at = find__call(code, callee, at)) != NO_INSN; at++)
		added += finder__owns(f, row, code, at) &&
			 finder__add(f, row, code, at, row->cookie);
	return added;
}

static size_t find_mark_done(const struct code *code, uint64_t callee)
{
	int64_t old, new;

	for (size_t at = 0; (at = find__call(code, callee, at)) != NO_INSN; at++) {
		if (find__constant(code, at, GPR_ARG2, &old) && old == WAITING &&
		    find__constant(code, at, GPR_ARG3, &new) && new == RUNNING)
			return at;
	}
	return NO_INSN;
}

/* The instruction, for kinds that have exactly one. */
static size_t find_one(const struct row *row, const struct code *code, uint64_t callee)
{
	size_t call;

	switch (row->how) {
	case ENTRY:
		return find__entry(code);
	case CALL_MARK_DONE:
		return find_mark_done(code, callee);
	default:
		break;
	}
	call = find__call(code, callee, 0);
	if (call == NO_INSN || find__call(code, callee, call + 1) != NO_INSN)
		return NO_INSN;
	return find__after_call(code, call, 1u << GPR_ARG1);
}

static size_t add_sites(struct finder *f, const struct row *row, const struct code *code,
			uint64_t callee)
{
	size_t at;

	if (row->how == CAS)
		return finder__add_cas(f, row, code);
	if (row->how == RUNNEXT)
		return finder__add_runnext(f, row, code);
	if (row->how == CALL)
		return add_calls(f, row, code, callee);
	if (row->how == TRACE_TEST)
		return finder__add_trace_tests(f, row, code, callee);
	if (row->how == TRACE_GUARD)
		return finder__add_trace_guards(f, row, code);
	if (row->how == ADDED)
		return finder__add_added(f, row, code);
	if (row->how == GOAL)
		return finder__add_goal(f, row, code, callee);
	at = find_one(row, code, callee);
	return at != NO_INSN && finder__add(f, row, code, at, row->cookie);
}

/* Whether the callee that reveals the transition was inlined into the row's function. */
static bool callee_inlined(const struct finder *f, const struct row *row)
{
	if (row->how == CAS || row->how == TRACE_GUARD)
		return false;
	for (size_t i = 0; row->callee && i < f->ninlined; i++) {
		if (!strcmp(f->inlined[i].what, row->callee) &&
		    !strcmp(f->inlined[i].into.name, row->func))
			return true;
	}
	return false;
}

/*
 * Adds sites in the function itself. 1: found; 0: the program does not have it; -ENOENT: a reason.
 */
static int try_function(struct finder *f, const struct row *row, char *reason)
{
	struct go_func func, callee = { 0 };
	struct code code;
	size_t added;

	if (!pclntab__named(f->pt, row->func, &func)) {
		snprintf(reason, REASON_SIZE, "the program has no function %s", row->func);
		return 0;
	}
	if (callee_inlined(f, row)) {
		snprintf(reason, REASON_SIZE, "the compiler inlined %s into %s", row->callee,
			 row->func);
		return -ENOENT;
	}
	if (row->callee && row->how != TRACE_GUARD &&
	    !pclntab__named(f->pt, row->callee, &callee)) {
		snprintf(reason, REASON_SIZE, "the program has no function %s", row->callee);
		return -ENOENT;
	}
	if (!code__read(&code, f->elf, &func)) {
		snprintf(reason, REASON_SIZE, "%s cannot be disassembled", row->func);
		return -ENOENT;
	}
	added = add_sites(f, row, &code, callee.entry);
	code__deinit(&code);
	if (added)
		return 1;
	snprintf(reason, REASON_SIZE, "%s has no instruction that can be probed", row->func);
	return -ENOENT;
}

/* Adds sites in the functions with an inlined copy of the row's function, once for each. */
static int try_inlined(struct finder *f, const struct row *row, char *reason)
{
	int found = 0;

	for (size_t i = 0; i < f->ninlined; i++) {
		const struct inlined *in = &f->inlined[i];

		if (strcmp(in->what, row->func) ||
		    (row->inliner_ok && !strcmp(in->into.name, row->inliner_ok)))
			continue;
		if (!finder__add_inlined(f, row, &in->into, reason))
			return -ENOENT;
		found = 1;
	}
	return found;
}

/* Like try_function(), with all inlined copies. On failure the list is left unchanged. */
static int try_row(struct finder *f, const struct row *row, char *reason)
{
	size_t before = f->list.n;
	int own, copies;

	own = try_function(f, row, reason);
	copies = own < 0 ? own : try_inlined(f, row, reason);
	if (copies >= 0 && (own || copies))
		return 1;
	f->list.n = before;
	return copies;
}

static bool row__is_needed(const struct row *row)
{
	return row->need != OPTIONAL && row->need != OPTIONAL_IF_LINKED;
}

static int note_missing(struct finder *f, const struct row *row, const char *reason)
{
	struct site_list *list = &f->list;
	struct site_missing *m;

	if (array__grow(&list->missing, list->nmissing, &f->missing_cap, sizeof(*list->missing)))
		return -ENOMEM;
	m = &list->missing[list->nmissing++];
	*m = (struct site_missing){
		.probe = row->probe,
		.needed = row__is_needed(row),
		.why = row->why,
	};
	snprintf(m->reason, sizeof(m->reason), "%s", reason);
	return 0;
}

/* Tries a row and its alternatives, which follow it. 0, or a negative errno with a reason. */
static int find_group(struct finder *f, size_t first, size_t end, struct error *error)
{
	const struct row *row = &site_rows[first];
	char reason[REASON_SIZE] = "", other[REASON_SIZE];
	int found = try_row(f, row, reason), err;
	bool linked = found != 0;

	if (found == 0 && (row->need == IF_LINKED || row->need == OPTIONAL_IF_LINKED))
		return 0;
	for (size_t i = first + 1; i < end && found != 1; i++) {
		found = applies(&site_rows[i], f->layout) ? try_row(f, &site_rows[i], other) :
							    found;
		linked |= found != 0;
	}
	if (f->out_of_memory)
		return -ENOMEM;
	if (found == 1 || (f->plugin && !linked))
		return 0;
	err = note_missing(f, row, reason);
	if (err || !row__is_needed(row))
		return err;
	return error__set(error, -ENOTSUP, "cannot observe when %s: %s%s", row->why, reason,
			  strstr(reason, "inlined") ? "; a build with -pgo=off can be recorded" :
						      "");
}

static int find(struct site_list *ret, struct finder *finder, struct error *error)
{
	struct finder f = *finder;
	const struct layout *layout = f.layout;
	int err = find_inlined(&f);
	size_t end;

	if (err)
		error__set(error, err, "cannot read the program's inline tree");
	for (size_t i = 0; i < site_nrows && (!err || err == -ENOTSUP); i = end) {
		end = i + 1;
		while (end < site_nrows && site_rows[end].need == OR_ELSE)
			end++;
		if (applies(&site_rows[i], layout)) {
			int group_err = find_group(&f, i, end, error);

			err = group_err ? group_err : err;
		}
	}
	if (err == -ENOMEM)
		error__set(error, err, "out of memory");
	if (!err && f.overflow)
		err = error__set(error, -ENOTSUP,
				 "the program has more than %d probe sites, or a site outside "
				 "of its file",
				 SITES_MAX);
	if (!err && !finder__add_syscalls(&f) && f.plugin)
		err = error__set(error, -ENOTSUP,
				 "cannot observe when a goroutine enters or leaves a system call");
	if (f.out_of_memory && !err)
		err = error__set(error, -ENOMEM, "out of memory");
	for (size_t i = 0; i < f.list.n; i++)
		f.list.has[f.list.site[i].probe] = true;
	free(f.inlined);
	*ret = f.list;
	return err;
}

int site_list__find(struct site_list *ret, const struct elf_image *elf, const struct pclntab *pt,
		    const struct layout *layout, struct error *error)
{
	return find(ret, &(struct finder){ .elf = elf, .pt = pt, .layout = layout }, error);
}

int site_list__find_in_plugin(struct site_list *ret, const struct elf_image *elf,
			      const struct pclntab *pt, const struct layout *layout,
			      uint64_t controller, struct error *error)
{
	struct finder f = {
		.elf = elf, .pt = pt, .layout = layout, .plugin = true, .controller = controller
	};

	return find(ret, &f, error);
}

void site_list__deinit(struct site_list *sites)
{
	free(sites->site);
	free(sites->missing);
	free(sites->texts);
	*sites = (struct site_list){ 0 };
}
