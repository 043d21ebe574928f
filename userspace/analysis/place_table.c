// SPDX-License-Identifier: GPL-2.0
/*
 * The relevant frame of a stack, and numbers for times by part, reason and place: see place_table.h.
 *
 * Names of functions come from the trace and may be any bytes.
 */
#include "analysis/place_table.h"

#include <errno.h>
#include <string.h>

#define TEXTS_MEMORY (16u << 20) /* bytes; beyond this, new places are PLACE_OTHERS */

/* The first elements of the paths of packages, as of Go 1.26. */
static const char *const standard[] = {
	"archive", "bufio",    "builtin", "bytes",   "cmp",	 "compress", "container", "context",
	"crypto",  "database", "debug",	  "embed",   "encoding", "errors",   "expvar",	  "flag",
	"fmt",	   "go",       "hash",	  "html",    "image",	 "index",    "internal",  "io",
	"iter",	   "log",      "maps",	  "math",    "mime",	 "net",	     "os",	  "path",
	"plugin",  "reflect",  "regexp",  "runtime", "slices",	 "sort",     "strconv",	  "strings",
	"structs", "sync",     "syscall", "testing", "text",	 "time",     "unicode",	  "unique",
	"unsafe",  "vendor",   "weak",
};
/* Those of them that implement waiting, whatever for. */
static const char *const low[] = { "internal", "runtime", "sync", "syscall" };

/*
 * The first element of the path of the function's package: "net" of "net/http.(*conn).serve", "main"
 * of "main.f[example.com/x.T]". A path that begins with a domain has none: "net.example/x.f".
 */
static struct trace_string first_element(struct trace_string function)
{
	uint32_t end = 0, i;

	while (end < function.len && !strchr("./[(", function.data[end]))
		end++;
	for (i = end; i < function.len && !strchr("/[(", function.data[i]); i++)
		;
	if (end < function.len && function.data[end] == '.' && i < function.len &&
	    function.data[i] == '/')
		end = 0;
	return (struct trace_string){ function.data, end };
}

static bool is_one_of(struct trace_string element, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == element.len && !memcmp(names[i], element.data, element.len))
			return true;
	return false;
}

bool place__is_standard(struct trace_string function)
{
	return is_one_of(first_element(function), standard, sizeof(standard) / sizeof(*standard));
}

static bool is_low(struct trace_string function)
{
	return is_one_of(first_element(function), low, sizeof(low) / sizeof(*low));
}

int place_table__init(struct place_table *p)
{
	*p = (struct place_table){ .texts = intern__create() };
	return p->texts ? 0 : -ENOMEM;
}

void place_table__deinit(struct place_table *p)
{
	intern__destroy(p->texts);
	map__deinit(&p->stacks);
	map__deinit(&p->numbers);
}

void place_table__forget_stacks(struct place_table *p)
{
	map__deinit(&p->stacks);
	p->stacks = (struct map){};
}

/* NULL: the stack has no frames with a name. */
static const struct trace_frame *relevant_frame(const struct dictionary *dictionary, uint64_t stack)
{
	const struct trace_frame *frame, *named = NULL, *above = NULL;
	size_t n = dictionary__frames(dictionary, stack);
	struct trace_string function;

	for (size_t i = 0; i < n; i++) {
		frame = dictionary__frame(dictionary, stack, i);
		if (!dictionary__string(dictionary, frame->func, &function) || !function.len)
			continue;
		if (!place__is_standard(function))
			return frame;
		if (!above && !is_low(function))
			above = frame;
		if (!named)
			named = frame;
	}
	return above ? above : named;
}

static int intern_frame(struct place_table *p, const struct dictionary *dictionary,
			const struct trace_frame *frame, uint32_t *ret)
{
	struct intern_frame kept = { .line = frame->line < UINT32_MAX ? (uint32_t)frame->line :
									UINT32_MAX };
	struct trace_string text;
	uint32_t id;

	*ret = PLACE_OTHERS;
	if (intern__memory(p->texts) > TEXTS_MEMORY)
		return 0;
	if (dictionary__string(dictionary, frame->func, &text) &&
	    intern__text(p->texts, text, &kept.func))
		return -ENOMEM;
	if (dictionary__string(dictionary, frame->file, &text) &&
	    intern__text(p->texts, text, &kept.file))
		return -ENOMEM;
	id = intern__stack(p->texts, &kept, 1);
	if (id && id < PLACE_OTHERS)
		*ret = id;
	return id ? 0 : -ENOMEM;
}

int place_table__of(struct place_table *p, const struct dictionary *dictionary, uint64_t stack,
		    uint32_t *ret)
{
	uintptr_t known = (uintptr_t)map__get(&p->stacks, stack);
	const struct trace_frame *frame;
	int err = 0;

	*ret = known ? (uint32_t)(known - 1) : PLACE_UNKNOWN;
	if (known || !stack)
		return 0;
	frame = relevant_frame(dictionary, stack);
	if (frame)
		err = intern_frame(p, dictionary, frame, ret);
	return err ? err : map__put(&p->stacks, stack, (void *)((uintptr_t)*ret + 1));
}

/* All numbers from PLACES_MAX on have the place PLACE_OTHERS, and no reason but their part. */
int place_table__number(struct place_table *p, uint32_t reason, uint32_t place, uint32_t *ret)
{
	uint64_t key = (uint64_t)reason << 32 | place;
	uintptr_t known = (uintptr_t)map__get(&p->numbers, key);

	*ret = known ? (uint32_t)(known - 1) : PLACES_MAX + (reason >> 16);
	if (known || p->n == PLACES_MAX)
		return 0;
	if (map__put(&p->numbers, key, (void *)((uintptr_t)p->n + 1)))
		return -ENOMEM;
	p->at[p->n] = (struct place){ reason, place };
	*ret = p->n++;
	return 0;
}

struct place place_table__at(const struct place_table *p, uint32_t number)
{
	if (number < p->n)
		return p->at[number];
	return (struct place){ (number - PLACES_MAX) << 16, PLACE_OTHERS };
}

struct place_frame place_table__frame(const struct place_table *p, uint32_t place)
{
	struct place_frame ret = {};
	const struct intern_frame *frame;
	size_t n;

	frame = place == PLACE_OTHERS ? NULL : intern__stack_at(p->texts, place, &n);
	if (!frame)
		return ret;
	ret.function = intern__text_at(p->texts, frame->func);
	ret.file = intern__text_at(p->texts, frame->file);
	ret.line = frame->line;
	return ret;
}
