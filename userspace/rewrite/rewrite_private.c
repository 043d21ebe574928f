// SPDX-License-Identifier: GPL-2.0
/*
 * Copies private data from generations of the input to those of the output.
 *
 * Upstream: rewrite.c. Downstream: writer/private_write.h. Kernel events are in rewrite_kernel.c. If names
 * are replaced, records with texts are written anew, and those of unknown kinds are left out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "rewrite/rewrite_impl.h"
#include "writer/private_write.h"

#define KEPT_MAX (1u << 20) /* bytes; a recorder needs a few thousand for a file */
#define TEXT_MAX 64	    /* bytes of a version or the name of a clock */

void rw_private__deinit(struct rewrite *r)
{
	for (size_t i = 0; i < r->nkept; i++)
		free((void *)r->kept[i].data);
	free(r->kept);
}

static bool is_about_file(uint64_t kind)
{
	return kind == PRIVATE_META || kind == PRIVATE_TABLE || kind == PRIVATE_ALIGNMENT;
}

/* rewrite_kernel.c writes those that are in the part. */
static bool is_kernel_kind(uint64_t kind)
{
	return kind == PRIVATE_THREADS || kind == PRIVATE_KERNEL || kind == PRIVATE_MACHINE;
}

int rw_private__use(struct rewrite *r, const struct dictionary *from)
{
	struct private_record record;
	struct private_reader in;
	int err;

	r->tables.from = from;
	r->tables.ticks = (struct private_ticks){};
	private_reader__init(&in, from);
	while ((err = private_reader__next(&in, &record)) > 0)
		if (record.kind == PRIVATE_TICKS &&
		    !private_read__ticks(&record.data, &r->tables.ticks))
			r->tables.ticks = (struct private_ticks){};
	private_reader__deinit(&in);
	return err;
}

/* Records that contain texts, or may contain them. */
static bool has_texts(uint64_t kind)
{
	return kind == PRIVATE_META || kind == PRIVATE_ALIGNMENT || kind == PRIVATE_CAUSE ||
	       kind >= PRIVATE_KIND_END;
}

/* The versions of the recorder and of Go, and the clock; not the command line and the build ID. */
static int write_meta(struct rewrite *r, struct buf *data)
{
	char tool[TEXT_MAX], clock[TEXT_MAX], go_version[TEXT_MAX];
	struct private_meta meta = {};
	const struct {
		const char *name;
		char *text;
		const char **member;
	} kept[] = { { "tool", tool, &meta.tool },
		     { "clock", clock, &meta.clock },
		     { "go_version", go_version, &meta.go_version } };
	struct private_pair pair;

	while (private_read__pair(data, &pair)) {
		for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
			if (pair.name.len != strlen(kept[i].name) ||
			    memcmp(pair.name.data, kept[i].name, pair.name.len))
				continue;
			snprintf(kept[i].text, TEXT_MAX, "%.*s", (int)pair.value.len,
				 pair.value.data);
			*kept[i].member = kept[i].text;
		}
	}
	return private__meta(r->writer, &meta);
}

/* The records with texts: what can be kept of them. */
static int write_without_texts(struct rewrite *r)
{
	struct private_record record;
	struct private_reader in;
	int err;

	private_reader__init(&in, r->tables.from);
	while ((err = private_reader__next(&in, &record)) > 0) {
		err = 0;
		if (record.kind == PRIVATE_META)
			err = write_meta(r, &record.data);
		else if (record.kind == PRIVATE_CAUSE)
			err = private__cause(r->writer, buf__uleb(&record.data), "");
		else if (record.kind == PRIVATE_ALIGNMENT)
			err = private__record(r->writer, PRIVATE_ALIGNMENT, "", 0);
		if (err)
			break;
	}
	private_reader__deinit(&in);
	return err;
}

int rw_private__copy(struct rewrite *r, bool whole)
{
	const struct private_ticks *t = &r->tables.ticks;
	const struct trace_string *s;
	uint64_t kind;
	int err = 0;

	if (t->tick_ns) /* the output's tick is always 1 ns */
		err = private__ticks(r->writer, 1, t->start_ns, t->wall_ns);
	for (size_t i = 0; !err && i < dictionary__nstrings(r->tables.from); i++) {
		s = &r->tables.from->strings[i];
		kind = private_read__kind(s);
		if (kind && kind != PRIVATE_TICKS && !is_kernel_kind(kind) &&
		    (whole || !is_about_file(kind)) && !(r->opts.names && has_texts(kind)))
			err = writer__private(r->writer, s->data, s->len);
	}
	if (!err && r->opts.names)
		err = write_without_texts(r);
	return err ?: rw_kernel__write(r);
}

int rewrite__keep_private(struct rewrite *r, const struct dictionary *from)
{
	const struct trace_string *s;
	size_t bytes = 0;
	uint64_t kind;
	char *copy;

	if (r->nkept) /* the caller has passed them before the first generation's events */
		return 0;
	for (size_t i = 0; i < dictionary__nstrings(from); i++) {
		s = &from->strings[i];
		kind = private_read__kind(s);
		if (!is_about_file(kind) || bytes + s->len > KEPT_MAX ||
		    (r->opts.names && has_texts(kind)))
			continue;
		if (array__grow(&r->kept, r->nkept, &r->kept_cap, sizeof(*r->kept)))
			return -ENOMEM;
		copy = malloc(s->len);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, s->data, s->len);
		r->kept[r->nkept++] = (struct trace_string){ copy, s->len };
		bytes += s->len;
	}
	return 0;
}

int rw_private__write_kept(struct rewrite *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->nkept; i++)
		err = writer__private(r->writer, r->kept[i].data, r->kept[i].len);
	return err;
}
