// SPDX-License-Identifier: GPL-2.0
/*
 * Private records of a trace whose names are replaced: each is written anew from its decoded members.
 *
 * The bytes of the input are not copied, because a record may contain other texts than those that its
 * kind has, such as after its last member. Texts are removed unless they are words of gotrace-bpf or
 * numbers of versions; records of unknown kinds and corrupt ones are left out. Upstream:
 * rewrite_private.c, format/private_read.h. Downstream: writer/private_write.h. Kernel events are in
 * rewrite_kernel.c.
 */
#include <stdio.h>
#include <string.h>

#include "format/parked_read.h"
#include "gotrace/record.h"
#include "rewrite/rewrite_impl.h"
#include "target/probe/site.h"
#include "writer/private_parked.h"
#include "writer/private_write.h"

#define PARKED_TEXTS 64
#define TEXT_MAX     32 /* bytes of a version or the name of a clock */
#define NUMBER_MAX   12 /* bytes of "1.26.8" */

/* The text if it is `prefix` and a version, of which the digits and dots remain; else NULL. */
static const char *version_of(struct trace_string s, const char *prefix, char ret[TEXT_MAX])
{
	size_t start = strlen(prefix), len = start;

	if (!trace_string__begins(s, prefix))
		return NULL;
	while (len < s.len && len - start < NUMBER_MAX &&
	       (s.data[len] == '.' || (s.data[len] >= '0' && s.data[len] <= '9')))
		len++;
	if (len == start)
		return NULL;
	snprintf(ret, TEXT_MAX, "%.*s", (int)len, s.data);
	return ret;
}

/* The versions of the recorder and of Go, and the clock; not the command line and the build ID. */
static int write_meta(struct rewrite *r, struct buf *data)
{
	static const char clock[] = "CLOCK_MONOTONIC";
	char tool[TEXT_MAX], go_version[TEXT_MAX];
	struct private_meta meta = {};
	struct private_pair pair;

	while (private_read__pair(data, &pair)) {
		if (trace_string__equals(pair.name, "tool"))
			meta.tool = version_of(pair.value, "gotrace-bpf ", tool);
		else if (trace_string__equals(pair.name, "go_version"))
			meta.go_version = version_of(pair.value, "devel go", go_version) ?:
						  version_of(pair.value, "go", go_version);
		else if (trace_string__equals(pair.name, "clock") &&
			 trace_string__equals(pair.value, clock))
			meta.clock = clock;
	}
	return private__meta(r->writer, &meta);
}

/* Bytes after the last loss may be read as losses, as by all commands: their kinds are unknown. */
static int write_losses(struct rewrite *r, struct buf *data)
{
	struct outbuf losses = {};
	struct private_loss loss;
	int err = 0;

	while (!err && private_read__loss(data, &loss)) {
		if (loss.kind >= GT_KIND_END)
			loss.kind = 0;
		err = private__append_loss(&losses, &loss, NULL);
	}
	err = err ?: private__record(r->writer, PRIVATE_LOSSES, losses.data, losses.len);
	outbuf__deinit(&losses);
	return err;
}

static int write_requests(struct rewrite *r, struct buf *data)
{
	struct private_request request = {}, last = {};
	struct outbuf requests = {};
	int err = 0;

	while (!err && private_read__request(data, &request))
		err = private__append_request(&requests, &last, &request, NULL);
	err = err ?: private__record(r->writer, PRIVATE_REQUESTS, requests.data, requests.len);
	outbuf__deinit(&requests);
	return err;
}

static int write_gaps(struct rewrite *r, struct buf *data)
{
	struct private_gap gap;
	int err = 0;

	while (!err && private_read__gap(data, &gap))
		err = private__gaps(r->writer, &gap, 1);
	return err;
}

/* The bits of the event sets that are named in a list with commas. */
static unsigned int sets_of(const char *names)
{
	unsigned int sets = 0;
	size_t len;

	for (; *names; names += len + (names[len] == ',')) {
		len = strcspn(names, ",");
		for (unsigned int set = 0; set < SITE_SETS; set++) {
			const char *name = site_set__name((enum site_set)set);

			if (strlen(name) == len && !memcmp(name, names, len))
				sets |= 1u << set;
		}
	}
	return sets;
}

static int write_recorded(struct rewrite *r, struct buf *data)
{
	struct private_recorded recorded;

	if (!private_read__recorded(data, &recorded))
		return 0;
	site_set__names(sets_of(recorded.sets), recorded.sets, sizeof(recorded.sets));
	return private__recorded(r->writer, &recorded);
}

/* Without the name of its file. */
static int write_plugin(struct rewrite *r, struct buf *data)
{
	struct private_plugin plugin;

	if (!private_read__plugin(data, &plugin))
		return 0;
	plugin.text = "";
	return private__plugin(r->writer, &plugin);
}

/* The output has no other events than this program knows, so it has the table of this program. */
static int write_table(struct rewrite *r)
{
	if (r->described)
		return 0;
	r->described = true;
	return private__table(r->writer);
}

/* Records that consist of numbers. */
static int write_numbers(struct rewrite *r, struct private_record *record)
{
	struct private_correction correction;
	struct private_host_clock clock;
	struct private_cpu_samples samples = {};
	struct private_short sum = {};
	uint64_t number;

	if (record->kind == PRIVATE_CORRECTION) {
		if (private_read__correction(&record->data, &correction))
			return private__correction(r->writer, &correction);
	} else if (record->kind == PRIVATE_HOST_CLOCK) {
		if (private_read__host_clock(&record->data, &clock))
			return private__host_clock(r->writer, &clock);
	} else if (record->kind == PRIVATE_CPU_SAMPLES) {
		if (private_read__add_cpu_samples(&record->data, &samples))
			return private__cpu_samples(r->writer, &samples);
	} else if (record->kind == PRIVATE_SHORT) {
		if (private_read__add_short(&record->data, &sum))
			return private__short(r->writer, &sum);
	} else if (private_read__number(&record->data, &number)) {
		return record->kind == PRIVATE_CAUSE ?
			       private__cause(r->writer, number, "") :
			       private__number(r->writer, record->kind, number);
	}
	return 0;
}

static int write_record(struct rewrite *r, struct private_record *record)
{
	switch (record->kind) {
	case PRIVATE_META:
		return write_meta(r, &record->data);
	case PRIVATE_LOSSES:
		return write_losses(r, &record->data);
	case PRIVATE_REQUESTS:
		return write_requests(r, &record->data);
	case PRIVATE_GAPS:
		return write_gaps(r, &record->data);
	case PRIVATE_TABLE:
		return write_table(r);
	case PRIVATE_ALIGNMENT:
		return private__record(r->writer, PRIVATE_ALIGNMENT, "", 0);
	case PRIVATE_RECORDED:
		return write_recorded(r, &record->data);
	case PRIVATE_PLUGIN:
		return write_plugin(r, &record->data);
	case PRIVATE_CORRECTION:
	case PRIVATE_SAMPLED:
	case PRIVATE_CLOCK:
	case PRIVATE_CAUSE:
	case PRIVATE_SHORT:
	case PRIVATE_HOST_CLOCK:
	case PRIVATE_CPU_SAMPLES:
		return write_numbers(r, record);
	case PRIVATE_SNAPSHOT: /* the writer */
	case PRIVATE_STARTS:
	case PRIVATE_PARKED:  /* write_parked() */
	case PRIVATE_TICKS:   /* rewrite_private.c */
	case PRIVATE_THREADS: /* rewrite_kernel.c */
	case PRIVATE_KERNEL:
	case PRIVATE_MACHINE:
	case PRIVATE_WAITS:
	case PRIVATE_KIND_END:
		break;
	}
	return 0;
}

/* Reasons that no release has are left out. */
static int write_parked(struct rewrite *r)
{
	const struct parked_list *from = &r->tables.from->parked;
	const char *texts[PARKED_TEXTS];
	struct parked_record record = { .reasons = texts };
	int err = 0;

	while (record.n < PARKED_TEXTS && layout__known_parked_reason(record.n)) {
		texts[record.n] = layout__known_parked_reason(record.n);
		record.n++;
	}
	for (size_t i = 0; i < from->n && !r->inside && !err; i++) {
		const struct parked_entry *entry = &from->at[i];
		const struct parked_text *text = &from->texts[entry->text];
		unsigned int n = 0;

		while (n < record.n &&
		       !trace_string__equals((struct trace_string){ text->data, text->len },
					     texts[n]))
			n++;
		if (n < record.n && entry->goid > record.last)
			err = private__parked(r->writer, &record, entry->goid, n, entry->waited);
	}
	err = err ?: private__parked_end(r->writer, &record);
	parked_record__deinit(&record);
	return err;
}

int rw_records__write(struct rewrite *r)
{
	struct private_record record;
	struct private_reader in;
	int err;

	private_reader__init(&in, r->tables.from);
	while ((err = private_reader__next(&in, &record)) > 0) {
		err = write_record(r, &record);
		if (err)
			break;
	}
	private_reader__deinit(&in);
	return err ?: write_parked(r);
}
