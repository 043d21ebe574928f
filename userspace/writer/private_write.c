// SPDX-License-Identifier: GPL-2.0
/*
 * Encodes private data records and adds them to the open generation: see private_write.h.
 *
 * Upstream: sequence/ (losses, corrections, kernel events), the command line (metadata).
 * Downstream: writer/tables.c, which writes the strings. gotrace-private(5) defines the format.
 */
#include <stdlib.h>
#include <string.h>

#include "format/describe.h"
#include "format/encode.h"
#include "writer/private_write.h"
#include "writer/writer.h"

static int put_string(void *to, const void *part, size_t len)
{
	return writer__private(to, part, len);
}

int private__record(struct writer *w, enum private_kind kind, const void *data, size_t len)
{
	return private__parts(kind, data, len, put_string, w);
}

int private__meta(struct writer *w, const struct private_meta *meta)
{
	const struct {
		const char *name, *value;
		size_t len;
	} fields[] = {
#define TEXT(member) { #member, meta->member, meta->member ? strlen(meta->member) : 0 }
		TEXT(tool),	  { "command", meta->command, meta->command_len },
		TEXT(build_id),	  TEXT(clock),
		TEXT(go_version),
#undef TEXT
	};
	struct outbuf record = {};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!fields[i].value)
			continue;
		err = leb__append_bytes(&record, fields[i].name, strlen(fields[i].name), NULL);
		err = err ?: leb__append_bytes(&record, fields[i].value, fields[i].len, NULL);
	}
	err = err ?: private__record(w, PRIVATE_META, record.data, record.len);
	outbuf__deinit(&record);
	return err;
}

int private__losses(struct writer *w, const struct private_loss *losses, size_t n)
{
	struct outbuf record = {};
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = private__append_loss(&record, &losses[i], NULL);
	err = err ?: private__record(w, PRIVATE_LOSSES, record.data, record.len);
	outbuf__deinit(&record);
	return err;
}

int private__gaps(struct writer *w, const struct private_gap *gaps, size_t n)
{
	uint8_t data[3 * LEB_MAX], *p;
	struct outbuf record = {};
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		p = leb__put(data, gaps[i].of);
		p = leb__put(p, gaps[i].from);
		p = leb__put(p, gaps[i].to - gaps[i].from);
		err = outbuf__put(&record, data, p - data, NULL);
	}
	err = err ?: private__record(w, PRIVATE_GAPS, record.data, record.len);
	outbuf__deinit(&record);
	return err;
}

int private__correction(struct writer *w, const struct private_correction *correction)
{
	uint8_t data[5 * LEB_MAX], *p = data;

	p = leb__put(p, correction->from);
	p = leb__put(p, correction->to - correction->from);
	p = leb__put(p, correction->goroutines);
	p = leb__put(p, correction->threads);
	p = leb__put(p, correction->events);
	return private__record(w, PRIVATE_CORRECTION, data, p - data);
}

int private__short(struct writer *w, const struct private_short *sum)
{
	uint8_t data[5 * LEB_MAX], *p = data;

	p = leb__put(p, sum->min_ns);
	p = leb__put(p, sum->calls);
	p = leb__put(p, sum->calls_ns);
	p = leb__put(p, sum->kernel);
	p = leb__put(p, sum->kernel_ns);
	return private__record(w, PRIVATE_SHORT, data, p - data);
}

int private__number(struct writer *w, enum private_kind kind, uint64_t number)
{
	uint8_t data[LEB_MAX];

	return private__record(w, kind, data, leb__put(data, number) - data);
}

int private__cause(struct writer *w, uint64_t time, const char *text)
{
	uint8_t data[LEB_MAX + PRIVATE_CAUSE_MAX], *p = leb__put(data, time);
	size_t len = strnlen(text, PRIVATE_CAUSE_MAX);

	memcpy(p, text, len);
	return private__record(w, PRIVATE_CAUSE, data, p + len - data);
}

int private__recorded(struct writer *w, const struct private_recorded *recorded)
{
	uint8_t data[3 * LEB_MAX + PRIVATE_SETS_MAX], *p = data;
	size_t len = strnlen(recorded->sets, PRIVATE_SETS_MAX);

	p = leb__put(p, recorded->time);
	p = leb__put(p, recorded->cost);
	p = leb__put(p, recorded->budget);
	memcpy(p, recorded->sets, len);
	return private__record(w, PRIVATE_RECORDED, data, p + len - data);
}

int private__plugin(struct writer *w, const struct private_plugin *plugin)
{
	uint8_t data[3 * LEB_MAX + PRIVATE_PLUGIN_MAX], *p = data;
	size_t len = strnlen(plugin->text, PRIVATE_PLUGIN_MAX);

	p = leb__put(p, plugin->from);
	p = leb__put(p, plugin->to);
	p = leb__put(p, plugin->recorded);
	memcpy(p, plugin->text, len);
	return private__record(w, PRIVATE_PLUGIN, data, p + len - data);
}

int private__host_clock(struct writer *w, const struct private_host_clock *clock)
{
	uint8_t data[5 * LEB_MAX], *p = data;
	uint64_t shift = (uint64_t)clock->shift;

	p = leb__put(p, clock->time);
	p = leb__put(p, clock->synchronized);
	p = leb__put(p, clock->max_error);
	p = leb__put(p, clock->error);
	p = leb__put(p, shift << 1 ^ -(shift >> 63));
	return private__record(w, PRIVATE_HOST_CLOCK, data, p - data);
}

int private__cpu_samples(struct writer *w, const struct private_cpu_samples *samples)
{
	uint8_t data[3 * LEB_MAX], *p = data;

	p = leb__put(p, samples->period_ns);
	p = leb__put(p, samples->throttles);
	p = leb__put(p, samples->throttled_ns);
	return private__record(w, PRIVATE_CPU_SAMPLES, data, p - data);
}

int private__ticks(struct writer *w, unsigned int tick_ns, uint64_t start_ns, uint64_t wall_ns)
{
	uint8_t data[3 * LEB_MAX], *p = data;

	p = leb__put(p, tick_ns);
	p = leb__put(p, start_ns);
	p = leb__put(p, wall_ns);
	return private__record(w, PRIVATE_TICKS, data, p - data);
}

int private__table(struct writer *w)
{
	uint8_t *table;
	size_t len;
	int err = description__encode(&table, &len);

	if (err)
		return err;
	err = private__record(w, PRIVATE_TABLE, table, len);
	free(table);
	return err;
}

static int put_record(void *to, enum private_kind kind, const void *data, size_t len)
{
	return private__record(to, kind, data, len);
}

int private__kernel(struct writer *w, struct kernel_writer *k)
{
	return kernel_writer__put(k, put_record, w);
}
