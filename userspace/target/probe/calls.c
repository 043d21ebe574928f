// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of functions as regions and tasks: see calls.h.
 *
 * The entry is the prologue's push, behind the stack check: a function that must grow its stack
 * begins again before it. call_exits.c finds the exits. The distance of the return address from the
 * upper end of the stack is the same at all of them, which is how sequence/state_calls.c finds the
 * entry that belongs to an exit.
 */
#include "target/probe/calls.h"

#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/log.h"
#include "target/probe/call_exits.h"
#include "target/probe/site_find.h"

#define INSTANCE     "[...]" /* how stacks show the type arguments of a generic function */
#define PATTERN_SIZE 1024

struct pattern {
	const char *text;
	bool is_regex, is_glob;
	bool of_instances;	 /* it has INSTANCE: compared with names in the same form */
	char glob[PATTERN_SIZE]; /* the text, with INSTANCE quoted */
	regex_t regex;
};

/* Quotes each INSTANCE for fnmatch(). Returns whether there are other special characters. */
static bool set_glob(struct pattern *p)
{
	const char *from = p->text, *at;
	size_t len = 0, size = sizeof(p->glob);
	bool special = false;

	for (; (at = strstr(from, INSTANCE)); from = at + strlen(INSTANCE)) {
		p->of_instances = true;
		special |= strcspn(from, "*?[") < (size_t)(at - from);
		if (len < size)
			len += (size_t)snprintf(p->glob + len, size - len, "%.*s\\[...\\]",
						(int)(at - from), from);
	}
	if (len < size)
		snprintf(p->glob + len, size - len, "%s", from);
	return special || strpbrk(from, "*?[");
}

static int pattern__init(struct pattern *p, const char *text, struct error *error)
{
	size_t len = strlen(text);
	char why[128], *inner;
	int err;

	*p = (struct pattern){ .text = text };
	if (len < 2 || text[0] != '/' || text[len - 1] != '/') {
		p->is_glob = set_glob(p) && !strstr(text, "(*");
		return 0;
	}
	inner = strndup(text + 1, len - 2);
	if (!inner)
		return error__set(error, -ENOMEM, "out of memory");
	err = regcomp(&p->regex, inner, REG_EXTENDED | REG_NOSUB);
	free(inner);
	if (err) {
		regerror(err, &p->regex, why, sizeof(why));
		return error__set(error, -EINVAL, "invalid pattern %s: %s", text, why);
	}
	p->is_regex = true;
	return 0;
}

/* `shown`: the name as stacks show it, if that differs. */
static bool pattern__matches(const struct pattern *p, const char *name, const char *shown)
{
	if (p->is_regex)
		return !regexec(&p->regex, name, 0, NULL, 0);
	if (p->of_instances && shown)
		name = shown;
	/* methods of pointers, such as main.(*T).Run, are exact names, too */
	return !strcmp(p->text, name) || (p->is_glob && !fnmatch(p->glob, name, 0));
}

static int add_site(struct calls *calls, const struct elf_image *elf, const struct pclntab *pt,
		    const struct code *code, size_t at, uint64_t cookie, const char *why,
		    struct error *error)
{
	const struct insn *in = &code->insn[at];
	int64_t offset = elf_image__offset(elf, in->addr);
	struct site *s;

	if (offset < 0)
		return error__set(error, -ENOTSUP, "%s is not in the program's file",
				  code->func.name);
	if (array__grow(&calls->site, calls->nsites, &calls->cap, sizeof(*calls->site)))
		return error__set(error, -ENOMEM, "out of memory");
	s = &calls->site[calls->nsites++];
	*s = (struct site){
		.probe = GT_PROBE_FUNC_CALL,
		.cookie = cookie | GT_SITE_CALL_STEPPED(!in->emulated),
		.addr = in->addr,
		.offset = (uint64_t)offset,
		.func_offset = (uint32_t)(in->addr - code->func.entry),
		.cost = in->emulated ? SITE_EMULATED : SITE_STEPPED,
		.why = why,
	};
	snprintf(s->func, sizeof(s->func), "%s", code->func.name);
	code__format(code, at, pt, s->text, sizeof(s->text));
	return 0;
}

/* The entry; in a function without a frame, which calls nothing, its first instruction. */
static size_t find_begin(const struct code *code)
{
	size_t entry = find__entry(code);

	if (entry != NO_INSN || !code->n)
		return entry;
	for (size_t i = 0; i < code->n; i++) {
		if (code->insn[i].kind == INSN_CALL)
			return NO_INSN;
	}
	return code__is_jumped_to(code, code->func.entry) ? NO_INSN : 0;
}

static int add_sites(struct calls *calls, const struct elf_image *elf, const struct pclntab *pt,
		     const struct code *code, struct error *error)
{
	struct call_exit exit[CALL_EXITS_MAX];
	size_t begin = find_begin(code), exits;
	enum gt_recorded_as as = calls->func[calls->n].as;
	int err;

	if (begin == NO_INSN)
		return error__set(error, -ENOTSUP,
				  "%s cannot be a region: it has no instruction at which its entry "
				  "can be probed",
				  code->func.name);
	exits = call_exits__find(code, pt, begin, exit);
	if (exits > CALL_EXITS_MAX)
		return error__set(error, -E2BIG, "%s cannot be a region: it has more than %d exits",
				  code->func.name, CALL_EXITS_MAX);
	err = add_site(calls, elf, pt, code, begin, GT_SITE_CALL_OF(calls->n, 0, as),
		       "a call begins", error);
	for (size_t i = 0; i < exits && !err; i++)
		err = add_site(calls, elf, pt, code, exit[i].insn,
			       GT_SITE_CALL_OF(calls->n, 1, as) | GT_SITE_CALL_FRAME(exit[i].frame),
			       "a call ends", error);
	return err;
}

static int add_func(struct calls *calls, const struct elf_image *elf, const struct pclntab *pt,
		    const struct go_func *func, const struct call_pattern *pattern,
		    struct error *error)
{
	struct call_func *f = &calls->func[calls->n];
	struct code code;
	int err;

	if (func->assembly)
		return error__set(
			error, -ENOTSUP,
			"%s cannot be a region: it is written in assembly, where no register "
			"is certain to hold the goroutine",
			func->name);
	if (!code__read(&code, elf, func))
		return error__set(error, -ENOTSUP,
				  "%s cannot be a region: it cannot be disassembled", func->name);
	*f = (struct call_func){
		.func = *func,
		.as = pattern->as,
		.first = calls->nsites,
	};
	err = add_sites(calls, elf, pt, &code, error);
	code__deinit(&code);
	if (err) {
		calls->nsites = f->first;
		return err;
	}
	f->name = strdup(pattern->name ? pattern->name : func->name);
	if (!f->name)
		return error__set(error, -ENOMEM, "out of memory");
	f->shown = pclntab__shown(pt, func->name);
	f->n = calls->nsites - f->first;
	calls->n++;
	return 0;
}

static struct call_func *find_added(struct calls *calls, const struct go_func *func)
{
	for (size_t i = 0; i < calls->n; i++) {
		if (calls->func[i].func.entry == func->entry)
			return &calls->func[i];
	}
	return NULL;
}

/* A function that an earlier pattern made a region; the region inside of a task has its name. */
static int make_task(struct calls *calls, struct call_func *f, const struct call_pattern *pattern,
		     struct error *error)
{
	char *name = strdup(pattern->name ? pattern->name : f->func.name);

	if (!name)
		return error__set(error, -ENOMEM, "out of memory");
	free(f->name);
	f->name = name;
	f->as = pattern->as;
	for (size_t i = 0; i < f->n; i++)
		calls->site[f->first + i].cookie |= GT_SITE_CALL_OF(0, 0, f->as);
	return 0;
}

/* One of a pattern's functions cannot be probed. Returns 0. */
static int skip(struct calls *calls, const struct error *why)
{
	if (!calls->skipped++)
		calls->why = *why;
	return 0;
}

static int add_matches(struct calls *calls, const struct elf_image *elf, const struct pclntab *pt,
		       const struct pattern *p, const struct call_pattern *pattern,
		       struct error *error)
{
	struct call_func *added;
	struct error why;
	struct go_func func;
	size_t matches = 0, skipped = calls->skipped;
	struct call_pattern named = *pattern;
	char *shown = NULL;
	int err = 0;

	for (size_t i = 0; !err && pclntab__func(pt, i, &func); i++) {
		why = (struct error){};
		free(shown);
		shown = p->of_instances ? pclntab__shown(pt, func.name) : NULL;
		if (pclntab__is_wrapper(pt, &func) || !pattern__matches(p, func.name, shown))
			continue;
		matches++;
		if (!pattern->name)
			named.name = shown;
		added = find_added(calls, &func);
		if (added && pattern->as != GT_AS_REGION && added->as == GT_AS_REGION)
			err = make_task(calls, added, &named, &why);
		if (added)
			continue;
		if (calls->n == CALLS_MAX) {
			free(shown);
			return error__set(error, -E2BIG,
					  "more than %d functions are to be regions, with those "
					  "that match %s",
					  CALLS_MAX, p->text);
		}
		err = add_func(calls, elf, pt, &func, &named, &why);
		if (err && err != -ENOMEM && (p->is_glob || p->is_regex))
			err = skip(calls, &why);
	}
	free(shown);
	if (err)
		return error__set(error, err, "%s", why.text);
	if (matches && calls->skipped - skipped == matches)
		return error__set(error, -ENOTSUP, "%s", calls->why.text);
	return matches ? 0 : -ENOENT;
}

static void note_copy(void *ctx, const char *name, const struct go_func *into)
{
	const struct go_func **first = ctx;
	static __thread struct go_func copy;

	(void)name;
	if (!*first) {
		copy = *into;
		*first = &copy;
	}
}

/*
 * The method that a wrapper calls, if its name follows from that of the wrapper: (*T).M calls T.M, and
 * x.M-fm calls x.M. Else false, and "".
 */
static bool wrapped(const struct pclntab *pt, const char *text, char ret[PATTERN_SIZE])
{
	size_t len = strlen(text);
	const char *open = strstr(text, "(*"), *close = open ? strchr(open, ')') : NULL;
	struct go_func func;

	ret[0] = '\0';
	if (len > 3 && !strcmp(text + len - 3, "-fm"))
		snprintf(ret, PATTERN_SIZE, "%.*s", (int)(len - 3), text);
	else if (close)
		snprintf(ret, PATTERN_SIZE, "%.*s%.*s%s", (int)(open - text), text,
			 (int)(close - open - 2), open + 2, close + 1);
	if (ret[0] && pclntab__named(pt, ret, &func) && !pclntab__is_wrapper(pt, &func))
		return true;
	ret[0] = '\0';
	return false;
}

/* Explains why no function matches: the compiler may have inlined all calls. */
static int explain(const struct pclntab *pt, const struct pattern *p, struct error *error)
{
	const struct go_func *into = NULL;
	struct go_func wrapper;
	char name[PATTERN_SIZE];

	if (!p->is_regex && !p->is_glob)
		pclntab__inlined(pt, &p->text, 1, note_copy, &into);
	if (into)
		return error__set(error, -ENOTSUP,
				  "%s cannot be a region: the compiler inlined all of its calls, "
				  "among others into %s",
				  p->text, into->name);
	if (!p->is_regex && !p->is_glob && wrapped(pt, p->text, name))
		return error__set(error, -ENOTSUP,
				  "%s cannot be a region: it is a wrapper, if the compiler has "
				  "generated it; use %s, which it calls",
				  p->text, name);
	if (!p->is_regex && !p->is_glob && pclntab__named(pt, p->text, &wrapper))
		return error__set(error, -ENOTSUP,
				  "%s cannot be a region: it is a wrapper that the compiler has "
				  "generated",
				  p->text);
	return error__set(error, -ENOENT, "the program has no function %s", p->text);
}

int calls__add(struct calls *calls, const struct elf_image *elf, const struct pclntab *pt,
	       const struct call_pattern *pattern, struct error *error)
{
	struct pattern p;
	int err = pattern__init(&p, pattern->funcs, error);

	if (err)
		return err;
	err = add_matches(calls, elf, pt, &p, pattern, error);
	if (err == -ENOENT)
		err = explain(pt, &p, error);
	if (p.is_regex)
		regfree(&p.regex);
	return err;
}

int calls__matching(const struct calls *calls, const char *funcs, uint64_t *ret,
		    struct error *error)
{
	struct pattern p;
	int err = pattern__init(&p, funcs, error);

	_Static_assert(CALLS_MAX <= 64, "a bit for each");
	*ret = 0;
	if (err)
		return err;
	for (size_t i = 0; i < calls->n; i++)
		*ret |= (uint64_t)pattern__matches(&p, calls->func[i].func.name,
						   calls->func[i].shown)
			<< i;
	if (p.is_regex)
		regfree(&p.regex);
	return 0;
}

static bool calls_gogo(const struct pclntab *pt, const struct insn *in)
{
	struct go_func to;

	return in->kind == INSN_CALL && in->target && pclntab__find(pt, in->target, &to) &&
	       !strcmp(to.name, "runtime.gogo");
}

int calls__add_recovery(struct calls *calls, const struct elf_image *elf, const struct pclntab *pt,
			struct error *error)
{
	struct go_func func;
	struct code code;
	int err = 0;

	if (!pclntab__named(pt, "runtime.recovery", &func) || !code__read(&code, elf, &func)) {
		log__debug("recovered panics are not observed");
		return 0;
	}
	for (size_t i = 0; i < code.n && !err; i++) {
		if (calls_gogo(pt, &code.insn[i]))
			err = add_site(calls, elf, pt, &code, i, GT_SITE_CALL_RECOVERED,
				       "a panic was recovered", error);
	}
	code__deinit(&code);
	return err;
}

void calls__report_skipped(const struct calls *calls)
{
	if (calls->skipped)
		log__msg("left out %zu function%s that the pattern names: %s", calls->skipped,
			 calls->skipped == 1 ? "" : "s", calls->why.text);
}

/*
 * The linker sets runtime.disableMemoryProfiling if the program cannot reach the function that reads
 * the profile: memProfileInternal, before Go 1.23 MemProfile.
 */
void calls__report_no_samples(const struct calls *calls, const struct pclntab *pt)
{
	struct go_func reader;
	size_t i = 0;

	while (i < calls->n && strcmp(calls->func[i].func.name, "runtime.mProf_Malloc"))
		i++;
	if (i == calls->n || pclntab__named(pt, "runtime.memProfileInternal", &reader) ||
	    pclntab__named(pt, "runtime.MemProfile", &reader))
		return;
	log__msg("no calls of runtime.mProf_Malloc are to be expected: the program does not use "
		 "runtime.MemProfile, so its linker has turned the sampling of allocations off");
}

void calls__deinit(struct calls *calls)
{
	for (size_t i = 0; i < calls->n; i++) {
		free(calls->func[i].name);
		free(calls->func[i].shown);
	}
	free(calls->site);
	*calls = (struct calls){ 0 };
}

int calls__join(const struct calls *calls, const struct site_list *sites, struct site_list *ret)
{
	struct site_list both = *sites;

	both.site = calloc(sites->n + calls->nsites + 1, sizeof(*both.site));
	if (!both.site)
		return -ENOMEM;
	if (sites->n)
		memcpy(both.site, sites->site, sites->n * sizeof(*both.site));
	if (calls->nsites)
		memcpy(both.site + sites->n, calls->site, calls->nsites * sizeof(*both.site));
	both.n += calls->nsites;
	both.has[GT_PROBE_FUNC_CALL] = calls->nsites;
	*ret = both;
	return 0;
}
