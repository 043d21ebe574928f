// SPDX-License-Identifier: GPL-2.0
/*
 * The labels that goroutines have when the recording begins: see labels.h.
 *
 * The process keeps running, so what g.labels points to may be freed during the read. A set counts
 * only if the goroutine still has it afterwards: then it was not freed meanwhile, and a set is
 * immutable. All that is read is untrusted: numbers of goroutines, sets, labels and buckets have
 * limits.
 */
#include "capture/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/sink.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/buf.h"
#include "target/probe/labels_offset.h"
#include "target/process/reader.h"
#include "text/labels.h"

#define BATCH	    1024
#define STRING_MAX  1024 /* bytes; a longer text would not fit into the message */
#define LOG2_MAX    3	 /* of the buckets of a map */
#define BUCKETS_MAX 24	 /* that are read of a map */
#define TOP_MIN	    5	 /* minTopHash of the runtime: lower values are empty slots */

/* As in Go, on all 64-bit architectures. */
struct go_string {
	uint64_t at, len;
};

struct go_label {
	struct go_string key, value;
};

/* A bucket of a map[string]string, up to Go 1.23. */
struct bucket {
	uint8_t tops[8];
	struct go_string key[8], value[8];
	uint64_t overflow;
};

struct map_head {
	uint64_t count;
	uint8_t flags, log2;
	uint16_t noverflow;
	uint32_t hash0;
	uint64_t buckets, older;
};

#define SAME_SIZE_GROWTH 8 /* in map_head.flags */

/* The labels of a set, still in the target's memory. */
struct found_labels {
	struct go_label at[GT_LABELS_MAX];
	size_t n;
	bool cut;
};

struct label_text {
	uint32_t len;
	char bytes[LABELS_SIZE];
};

/* In memory of its own, as the thread that reads may be abandoned: then nothing of it is freed. */
struct present {
	const struct process *proc;
	uint32_t offset;
	bool are_lists;
	struct snapshot_g
		*g; /* addr and goid; in the end of those with labels, and in `m` the set */
	size_t n, found;
	struct label_text *set;
	size_t nsets, sets_cap;
	struct map sets; /* by address: index + 1, or FAILED */
};

#define FAILED ((void *)UINTPTR_MAX)

/* ---- one set ---- */

static void add_label(struct found_labels *f, struct go_string key, struct go_string value)
{
	if (f->n == GT_LABELS_MAX)
		f->cut = true;
	else
		f->at[f->n++] = (struct go_label){ key, value };
}

static int find_in_list(const struct process *proc, uint64_t list, struct found_labels *f)
{
	struct go_string slice; /* address and length, too */
	int err = process__read(proc, list, &slice, sizeof(slice));

	if (err || !slice.len)
		return err;
	f->cut = slice.len > GT_LABELS_MAX;
	f->n = f->cut ? GT_LABELS_MAX : (size_t)slice.len;
	return process__read(proc, slice.at, f->at, f->n * sizeof(f->at[0]));
}

/* The buckets of an array, with their overflows; *left limits all of them. */
static int find_in_buckets(const struct process *proc, uint64_t at, unsigned int n,
			   unsigned int *left, struct found_labels *f)
{
	struct bucket b;
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++) {
		b.overflow = at + i * sizeof(b);
		while (b.overflow && *left && !err) {
			PARSER_STEPS(8);
			(*left)--;
			err = process__read(proc, b.overflow, &b, sizeof(b));
			for (unsigned int k = 0; k < 8 && !err; k++)
				if (b.tops[k] >= TOP_MIN)
					add_label(f, b.key[k], b.value[k]);
		}
	}
	return err;
}

static int find_in_map(const struct process *proc, uint64_t variable, struct found_labels *f)
{
	unsigned int left = BUCKETS_MAX, n;
	struct map_head head = { 0 };
	uint64_t at = 0;
	int err = process__read(proc, variable, &at, sizeof(at));

	if (!err && at)
		err = process__read(proc, at, &head, sizeof(head));
	if (err || !head.count)
		return err;
	n = 1u << (head.log2 < LOG2_MAX ? head.log2 : LOG2_MAX);
	if (head.buckets)
		err = find_in_buckets(proc, head.buckets, n, &left, f);
	if (n > 1 && !(head.flags & SAME_SIZE_GROWTH))
		n /= 2;
	if (!err && head.older)
		err = find_in_buckets(proc, head.older, n, &left, f);
	f->cut |= head.count != f->n;
	return err;
}

/* Reads a string to *at and advances it. False: it is too long, or unreadable. */
static bool read_string(const struct process *proc, struct go_string s, char **at,
			struct trace_string *ret)
{
	if (s.len > STRING_MAX || (s.len && process__read(proc, s.at, *at, s.len)))
		return false;
	*ret = (struct trace_string){ *at, (uint32_t)s.len };
	*at += s.len;
	return true;
}

static void read_texts(const struct process *proc, const struct found_labels *f, char *room,
		       struct label_text *ret)
{
	struct label_pair pair[GT_LABELS_MAX];
	bool cut = f->cut;
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		char *at = room;

		PARSER_STEPS(1);
		if (read_string(proc, f->at[i].key, &at, &pair[n].key) &&
		    read_string(proc, f->at[i].value, &at, &pair[n].value)) {
			room = at;
			n++;
		} else {
			cut = true;
		}
	}
	ret->len = (uint32_t)labels__format(pair, n, cut, ret->bytes);
}

static int read_set(const struct present *p, uint64_t at, struct label_text *ret)
{
	struct found_labels f = { .n = 0 };
	char *room = malloc(2 * GT_LABELS_MAX * STRING_MAX);
	int err = room ? 0 : -ENOMEM;

	if (!err)
		err = p->are_lists ? find_in_list(p->proc, at, &f) : find_in_map(p->proc, at, &f);
	if (!err)
		read_texts(p->proc, &f, room, ret);
	free(room);
	return err;
}

/* ---- all goroutines ---- */

/* Reads the set at that address, which this goroutine has. 0, or an error that ends everything. */
static int add_set(struct present *p, uint64_t at, uint64_t g, void **ret)
{
	uint64_t again = 0;
	int err;

	*ret = FAILED;
	if (p->nsets == LABELS_SETS_MAX)
		return 0;
	if (array__grow(&p->set, p->nsets, &p->sets_cap, sizeof(*p->set)))
		return -ENOMEM;
	err = read_set(p, at, &p->set[p->nsets]);
	if (!err)
		err = process__read(p->proc, g + p->offset, &again, sizeof(again));
	if (err == -ENOMEM || err == -ESRCH)
		return err;
	if (err || again != at) /* it may be kept by another goroutine, which is tried next */
		return 0;
	*ret = (void *)(uintptr_t)++p->nsets;
	return map__put(&p->sets, at, *ret);
}

static int add_goroutine(struct present *p, const struct snapshot_g *g, uint64_t labels)
{
	void *set = map__get(&p->sets, labels);
	int err = 0;

	if (!set)
		err = add_set(p, labels, g->addr, &set);
	if (err || set == FAILED || p->found == LABELS_GOROUTINES_MAX)
		return err;
	p->g[p->found] = *g; /* not behind the one that is read */
	p->g[p->found++].m = (uint64_t)(uintptr_t)set - 1;
	return 0;
}

static int read_all(void *ctx)
{
	struct present *p = ctx;
	uint64_t addr[BATCH], labels[BATCH];
	bool ok[BATCH];
	int err = 0;

	for (size_t at = 0; at < p->n && !err; at += BATCH) {
		size_t n = p->n - at < BATCH ? p->n - at : BATCH;

		for (size_t i = 0; i < n; i++)
			addr[i] = p->g[at + i].addr + p->offset;
		err = process__read_many(p->proc, addr, n, labels, sizeof(labels[0]), ok);
		for (size_t i = 0; i < n && !err; i++)
			if (ok[i] && labels[i])
				err = add_goroutine(p, &p->g[at + i], labels[i]);
	}
	return err;
}

/* `time`: all was read before. */
static int report(const struct present *p, uint64_t time, uint32_t number, struct sink *sink)
{
	int err = 0;

	for (size_t i = 0; i < p->found && !err; i++) {
		const struct label_text *set = &p->set[p->g[i].m];

		err = sink__labels(sink, number + 2 * (uint32_t)i, time, p->g[i].addr, p->g[i].goid,
				   set->bytes, set->len);
	}
	return err;
}

/* Whether labels are recorded, and where the goroutines have them. */
static bool find_labels(const struct recorder_opts *opts, struct present *p)
{
	if (opts->no_labels || !(opts->sets & SITE_SET(USER)) || !opts->sites->has[GT_PROBE_LABELS])
		return false;
	p->offset = labels_offset__find(opts->elf, opts->pclntab);
	for (size_t i = 0; i < opts->sites->n; i++)
		if (opts->sites->site[i].probe == GT_PROBE_LABELS)
			p->are_lists = opts->sites->site[i].cookie == GT_LABELS_LIST;
	if (p->offset == GT_NO_OFFSET)
		log__debug("the labels that goroutines already have are not recorded: the offset "
			   "of g.labels is unknown");
	return p->offset != GT_NO_OFFSET;
}

int labels__read_present(const struct recorder_opts *opts, const struct snapshot *snap,
			 int (*between)(void *), void *ctx, struct sink *sink)
{
	struct present p = { .proc = opts->process, .n = snap->ng };
	uint32_t number = opts->calls ? (uint32_t)opts->calls->n : 0;
	int err;

	if (!snap->ng || !find_labels(opts, &p))
		return 0;
	p.g = malloc(snap->ng * sizeof(*p.g));
	if (!p.g)
		return -ENOMEM;
	memcpy(p.g, snap->g, snap->ng * sizeof(*p.g));
	err = reader__run(read_all, &p, sizeof(p), between, ctx);
	if (err == -ETIMEDOUT || err == -ETIME || err == -EINTR || err == -ESRCH || err == -EPERM)
		return 0; /* without them; the memory may still be in use */
	if (err)
		return err;
	err = report(&p, clock__now(), number, sink);
	map__deinit(&p.sets);
	free(p.set);
	free(p.g);
	return err;
}
