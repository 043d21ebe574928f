/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters that the commands share: which goroutines, events and lines are requested.
 *
 * A command lists the options that it accepts, GOROUTINE_OPTION(...) and so on, among its own;
 * others are unknown to it. trace_args__option() of open.c passes their values to
 * selection__option(). The commands apply the filters to what they print, so that a filter omits
 * elements and changes nothing else: the output is that without the filter, reduced. --top is applied
 * last, after sorting. select_events.c has the filters of `gotrace events`.
 */
#ifndef SELECT_H
#define SELECT_H

#include <argp.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/event.h"
#include "format/kernel.h"
#include "lib/error.h"
#include "lib/map.h"

#define SELECT_PATTERN_MAX 256 /* bytes of a regular expression */
/* Types of events, by enum ev, then those of kernel events, by enum kernel_kind. */
#define SELECT_KERNEL	   EV_END
#define SELECT_TYPES	   (SELECT_KERNEL + KERNEL_KIND_END)

/* A regular expression for names that have an ID. */
struct select_pattern {
	const char *text; /* NULL: any name matches */
	regex_t regex;	  /* the same, compiled; it lives as long as the process */
	char *matches;	  /* by ID of a name: 0 not compared yet, 1 no, 2 yes */
	size_t nmatches;
};

#define SELECT_LABELS_MAX 16 /* --label options */

struct select_label {
	const char *key; /* key_len bytes */
	size_t key_len;
	const char *value; /* with * and ? */
};

struct selection {
	bool have_goroutine;
	uint64_t goroutine;
	struct select_pattern function;		      /* of the start function */
	struct select_pattern name;		      /* of tasks or regions */
	struct select_label label[SELECT_LABELS_MAX]; /* all must hold; labels.h */
	size_t nlabels;
	const char *by_label; /* the key by whose values to group; NULL: by start function */
	uint64_t top;	      /* number of elements; 0: all */

	/* of events only: */
	bool have_thread, by_type;
	uint64_t thread;
	bool types[SELECT_TYPES];
	const char *kernel_type; /* one of the kernel events among them; NULL: there is none */
	const char *reasons;	 /* comma-separated; NULL: any */
};

enum {
	SELECT_GOROUTINE = 1100,
	SELECT_FUNCTION,
	SELECT_TOP,
	SELECT_TYPE,
	SELECT_REASON,
	SELECT_THREAD,
	SELECT_NAME,
	SELECT_LABEL,
	SELECT_BY
};
#define GOROUTINE_OPTION(what) { "goroutine", SELECT_GOROUTINE, "ID", 0, what, 0 }
#define REGEX_HELP	       "matches REGEX, a POSIX extended regular expression"
#define FUNCTION_HELP	       "only goroutines whose start function " REGEX_HELP
#define FUNCTION_OPTION	       { "function", SELECT_FUNCTION, "REGEX", 0, FUNCTION_HELP, 0 }
#define NAME_OPTION(what)      { "name", SELECT_NAME, "REGEX", 0, what " whose name " REGEX_HELP, 0 }
#define TYPE_HELP	       "only events of these types, comma-separated, such as GoBlock,GoUnblock"
#define TYPE_OPTION	       { "type", SELECT_TYPE, "NAMES", 0, TYPE_HELP, 0 }
#define REASON_HELP	       "only transitions for these reasons, comma-separated, such as 'chan receive'"
#define REASON_OPTION	       { "reason", SELECT_REASON, "REASONS", 0, REASON_HELP, 0 }
#define THREAD_OPTION	       { "thread", SELECT_THREAD, "TID", 0, "only events on this thread", 0 }
#define LABEL_OPTION(what)     { "label", SELECT_LABEL, "KEY=VALUE", 0, what, 0 }
#define LABEL_HELP                                                                                 \
	"only the time in which a goroutine has this label, such as endpoint=/search; VALUE may "  \
	"contain * and ?; may be repeated: all must match"
#define BY_HELP                                                                                    \
	"group by the values of this label instead of start functions; each period in which a "    \
	"goroutine has one value is counted"
#define BY_OPTION	 { "by", SELECT_BY, "label:KEY", 0, BY_HELP, 0 }
#define TOP_OPTION(what) { "top", SELECT_TOP, "N", 0, what, 0 }

/*
 * argp handler for the options above: 0, or ARGP_ERR_UNKNOWN for another key. An invalid value is a
 * usage_error().
 */
error_t selection__option(struct selection *s, int key, const char *text);
void selection__deinit(struct selection *s);

/*
 * Whether the pattern accepts `name`. `id` identifies the name during the run, as naming.h does;
 * each is compared once. 0 or -ENOMEM.
 */
int select_pattern__accepts(struct select_pattern *p, uint32_t id, struct trace_string name,
			    bool *ret);
/* Whether --function accepts the start function `name`. 0 or -ENOMEM. */
static inline int selection__function(struct selection *s, uint32_t id, struct trace_string name,
				      bool *ret)
{
	return select_pattern__accepts(&s->function, id, name, ret);
}

/* Whether there is a filter by goroutine; whether there is any filter. */
static inline bool selection__by_goroutine(const struct selection *s)
{
	return s->have_goroutine || s->function.text || s->nlabels;
}

/* Whether labels of goroutines matter. */
static inline bool selection__has_labels(const struct selection *s)
{
	return s->nlabels || s->by_label;
}

static inline bool selection__any(const struct selection *s)
{
	return selection__by_goroutine(s) || s->top;
}

/*
 * Whether --goroutine and --function accept the goroutine; `matches`: those of --function, by ID, which
 * select_goroutines() finds. Borrowed; NULL: none.
 */
static inline bool selection__goroutine(const struct selection *s, const struct map *matches,
					uint64_t id)
{
	return (!s->have_goroutine || s->goroutine == id) &&
	       (!s->function.text || (matches && map__get(matches, id)));
}

/* -ENOENT, with the message that the trace `name` has no such goroutine; `where`: or "". */
int selection__none(const struct selection *s, const char *name, const char *where,
		    struct error *error);

/* The number of elements to print of `n`. */
static inline size_t selection__top(const struct selection *s, size_t n)
{
	return s->top && s->top < n ? (size_t)s->top : n;
}

#endif
