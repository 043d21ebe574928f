// SPDX-License-Identifier: GPL-2.0
/*
 * Adds private data to the generations of a trace and copies everything else: see write.h.
 *
 * Input: align/join.c (items); format/kernel_write.c encodes them. Output: writer/output_file.c.
 * The data are inserted after the first batch of a generation, as batches of strings: that batch
 * exists in all versions of the format, and its time is not before the start of the generation.
 * The new IDs follow the largest one of the generation.
 */
#include "align/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/encode.h"
#include "format/header.h"
#include "format/private.h"
#include "lib/outbuf.h"
#include "reader/decode_impl.h"
#include "writer/output.h"

struct output {
	const struct align_job *job;
	const struct side *side;
	const struct join_perf *perf;
	struct decoder *decoder;
	struct outbuf out, strings; /* strings: a batch in the making */
	struct kernel_writer *kernel;
	struct kernel_threads threads; /* without kernel events in the trace: states from perf */
	struct outbuf losses;	       /* of the generation, as private data */
	size_t next, next_loss;	       /* indices of perf's events and losses */
	bool ended;		       /* the end of perf's data has been written */
	uint64_t gen, time, id;	       /* of the batches and strings that are added */
	struct align_added added;
	struct error *err;
};

/* ---- strings ---- */

static int end_batch(struct output *o)
{
	uint8_t head[1 + 4 * LEB_MAX], *p = head;
	int err;

	if (!o->strings.len)
		return 0;
	*p++ = EV_EVENT_BATCH;
	p = leb__put(p, o->gen);
	p = leb__put(p, TRACE_NO_M);
	p = leb__put(p, o->time);
	p = leb__put(p, o->strings.len);
	o->added.bytes += (uint64_t)(p - head) + o->strings.len;
	err = outbuf__put(&o->out, head, (size_t)(p - head), o->err);
	err = err ?: outbuf__put(&o->out, o->strings.data, o->strings.len, o->err);
	o->strings.len = 0;
	return err;
}

static int put_string(void *to, const void *part, size_t len)
{
	struct output *o = to;
	uint8_t head[2 + 2 * LEB_MAX], *p = head;
	int err = 0;

	if (o->strings.len + sizeof(head) + len > TRACE_BATCH_MAX)
		err = end_batch(o);
	if (!o->strings.len)
		*p++ = EV_STRINGS;
	*p++ = EV_STRING;
	p = leb__put(p, o->id++);
	p = leb__put(p, len);
	err = err ?: outbuf__put(&o->strings, head, (size_t)(p - head), o->err);
	return err ?: outbuf__put(&o->strings, part, len, o->err);
}

static int put_record(void *to, enum private_kind kind, const void *data, size_t len)
{
	return private__parts(kind, data, len, put_string, to);
}

static int put_text(struct outbuf *to, const char *text, struct error *error)
{
	return leb__append_bytes(to, text, strlen(text), error);
}

static int put_pairs(struct output *o)
{
	const struct align_job *job = o->job;
	struct outbuf data = {};
	int err = 0;

	for (size_t i = 0; !err && i < job->npairs; i++) {
		err = put_text(&data, job->pairs[i].name, o->err);
		err = err ?: put_text(&data, job->pairs[i].value, o->err);
	}
	err = err ?: put_record(o, PRIVATE_ALIGNMENT, data.data, data.len);
	outbuf__deinit(&data);
	return err;
}

/* ---- items ---- */

static int add_item(struct output *o, const struct kernel_item *item, bool write)
{
	int err = kernel_threads__apply(&o->threads, item);

	if (err || !write)
		return err;
	o->added.switches += item->kind == KERNEL_ON || item->kind == KERNEL_OFF;
	o->added.wakings += item->kind == KERNEL_WAKING;
	o->added.threads += item->kind == KERNEL_CREATED || item->kind == KERNEL_ENDED ||
			    item->kind == KERNEL_NAMED;
	o->added.cpus += item->kind == KERNEL_CPU && item->tid != KERNEL_NO_THREAD;
	return kernel_writer__add(o->kernel, item);
}

static bool has_name(const struct kernel_thread *thread, const char *name)
{
	return thread->name_len == strlen(name) && !memcmp(thread->name, name, thread->name_len);
}

/* Each event of perf contains the names of its threads. */
static int add_name(struct output *o, const struct kernel_item *item, const struct perf_sched *ev,
		    bool write)
{
	const uint32_t comm = item->kind == KERNEL_ON ? ev->next_comm : ev->comm;
	const char *name = perf_data__comm(o->perf->data, comm);
	const struct kernel_thread *thread = kernel_threads__find(&o->threads, item->tid);

	if (!name || !name[0] || item->kind == KERNEL_CREATED || item->kind == KERNEL_ENDED ||
	    (thread && has_name(thread, name)))
		return 0;
	return add_item(o,
			&(struct kernel_item){ .time = item->time,
					       .kind = KERNEL_NAMED,
					       .tid = item->tid,
					       .cpu = item->cpu,
					       .name = { name, (uint32_t)strlen(name) } },
			write);
}

/* For the target's threads. Without `write`, before the trace, only their states are updated. */
static int add_of_threads(struct output *o, size_t i, bool write)
{
	struct kernel_item item[2];
	unsigned int n = join__items(o->perf, &o->job->alignment->target, i, item);
	int err = 0;

	for (unsigned int k = 0; !err && k < n; k++) {
		err = add_name(o, &item[k], &o->perf->sched[i], write);
		err = err ?: add_item(o, &item[k], write);
	}
	return err;
}

static uint64_t time_of(const struct output *o, size_t i)
{
	return fit__time(&o->perf->clock, o->perf->sched[i].time);
}

/* The earlier states of threads are unknown from now on, for readers too. */
static int add_losses(struct output *o, uint64_t until, bool write)
{
	const struct join_perf *perf = o->perf;
	struct private_loss loss = { .kind = GT_CPU_ON };
	size_t at = o->next_loss;
	int err = 0;

	if (!join_perf__pass_losses(perf, &o->next_loss, until))
		return 0;
	for (; !err && at < o->next_loss; at++) {
		loss.count = perf->losses[at].count;
		loss.from = fit__time(&perf->clock, perf->losses[at].from);
		loss.to = fit__time(&perf->clock, perf->losses[at].to);
		err = write ? private__append_loss(&o->losses, &loss, o->err) : 0;
	}
	kernel_threads__lose_before(&o->threads, loss.to);
	return err;
}

/* From now on it is unknown what the CPUs run. */
static int add_end_of_cpus(struct output *o, uint64_t time)
{
	bool *seen = calloc(PERF_CPUS, sizeof(*seen));
	int err = seen ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < o->perf->n; i++)
		if (o->perf->sched[i].kind == PERF_SWITCH)
			seen[o->perf->sched[i].cpu] = true;
	for (unsigned int cpu = 0; !err && cpu < PERF_CPUS; cpu++)
		if (seen[cpu])
			err = add_item(o,
				       &(struct kernel_item){ .time = time,
							      .kind = KERNEL_CPU,
							      .tid = KERNEL_NO_THREAD,
							      .cpu = (uint16_t)cpu },
				       true);
	free(seen);
	return err;
}

/* After perf's last event the states of threads and CPUs are unknown: the trace may continue. */
static int add_end(struct output *o)
{
	const uint64_t last = join_perf__end(o->perf);
	int err;

	if (o->ended || o->next < o->perf->n)
		return 0;
	o->ended = true;
	err = last < o->side->generation[0].from ? 0 : add_end_of_cpus(o, last + 1);
	if (err || o->side->has_kernel)
		return err;
	kernel_threads__lose(&o->threads);
	return private__append_loss(
		&o->losses,
		&(struct private_loss){ .kind = GT_CPU_ON, .from = last, .to = last + 1 }, o->err);
}

static int follow_before(struct output *o, uint64_t from)
{
	int err = 0;

	for (size_t i = 0; !err && i < o->perf->n && time_of(o, i) < from; i++) {
		err = add_losses(o, time_of(o, i), false);
		err = err ?: add_of_threads(o, i, false);
	}
	return err;
}

/* perf's events before `to`; of those before `from`, in the first generation, only CPUs. */
static int add_events(struct output *o, uint64_t from, uint64_t to)
{
	struct kernel_item core;
	enum join_wanted wanted;
	uint64_t time;
	int err = 0;

	for (; !err && o->next < o->perf->n; o->next++) {
		time = time_of(o, o->next);
		if (time >= to)
			break;
		if (!o->side->has_kernel && time >= from) {
			err = add_losses(o, time, true);
			err = err ?: add_of_threads(o, o->next, true);
		}
		wanted = o->job->alignment->wanted[o->next];
		if (!err && wanted) {
			core = join__cpu_item(o->perf, o->next, wanted);
			err = add_item(o, &core, true);
		}
	}
	return err;
}

static int add_to_generation(struct output *o, size_t at)
{
	const struct side *side = o->side;
	const struct side_generation *gen = &side->generation[at];
	const bool own = side->has_kernel, last = at + 1 == side->ngenerations;
	int err = 0;

	o->id = gen->unused;
	if (!at) {
		err = put_pairs(o);
		if (!err && !own)
			err = follow_before(o, gen->from);
	}
	err = err ?: kernel_writer__begin(o->kernel, gen->from, own ? NULL : &o->threads);
	err = err ?: add_events(o, gen->from, last ? side->to + 1 : gen[1].from);
	err = err ?: add_end(o);
	err = err ?: kernel_writer__put(o->kernel, put_record, o);
	if (!err && o->losses.len)
		err = put_record(o, PRIVATE_LOSSES, o->losses.data, o->losses.len);
	o->losses.len = 0;
	return err ?: end_batch(o);
}

/* ---- the file ---- */

static int copy(struct output *o, struct input *in, size_t len)
{
	const unsigned char *data;
	size_t there;
	int err = input__need(in, len, &data, &there, o->err);

	return err ?: outbuf__put(&o->out, data, len, o->err);
}

/* Data after the last generation mean nothing to readers, and are kept. */
static int copy_rest(struct output *o, struct input *in)
{
	const unsigned char *data;
	size_t len;
	int err;

	while (!(err = input__need(in, 1, &data, &len, o->err)) && len) {
		err = outbuf__put(&o->out, data, len, o->err);
		if (err)
			break;
		input__consume(in, len);
	}
	return err;
}

static bool ends_generation(const struct output *o, const struct batch *b)
{
	uint8_t first = 0;

	buf__u8_at(&b->data, 0, &first);
	return b->end_of_generation ||
	       (o->side->version >= 26 && !b->experiment && first == EV_END_OF_GENERATION);
}

static int copy_batches(struct output *o, struct input *in)
{
	const struct side *side = o->side;
	size_t n = 0; /* generations begun */
	bool open = false, ends;
	struct batch b;
	int err;

	while ((err = batch__peek(o->decoder, &b, o->err)) > 0) {
		err = copy(o, in, b.head + (size_t)(b.data.end - b.data.start));
		if (err)
			return err;
		ends = ends_generation(o, &b);
		batch__consume(o->decoder, &b);
		if (ends || (open && b.gen == o->gen)) {
			open = open && !ends;
			continue;
		}
		open = true;
		o->gen = b.gen;
		o->time = b.time;
		if (n < side->ngenerations && side->generation[n].number == b.gen)
			err = add_to_generation(o, n++);
		if (err)
			return err;
	}
	if (!err && n < side->ngenerations)
		return error__set(o->err, -EBADMSG, "the trace changed while it was read");
	return err;
}

static int write_all(struct output *o, struct input *in)
{
	unsigned int version;
	int err = header__read(in, &version, o->err);

	err = err ?: copy(o, in, TRACE_HEADER_LEN);
	if (err)
		return err;
	input__consume(in, TRACE_HEADER_LEN);
	err = copy_batches(o, in);
	err = err ?: copy_rest(o, in);
	return err ?: outbuf__flush(&o->out, o->err);
}

int align__write(const struct align_job *job, struct trace_file *file, const char *name,
		 struct align_added *ret, struct error *error)
{
	struct output o = { .job = job,
			    .side = &job->alignment->side,
			    .perf = &job->alignment->join,
			    .err = error };
	int err;

	output__buffer(&o.out, file, name);
	o.kernel = kernel_writer__create();
	o.decoder = decoder__create(job->trace, o.side->version);
	err = o.kernel && o.decoder ? write_all(&o, job->trace) : -ENOMEM;
	decoder__destroy(o.decoder);
	kernel_writer__destroy(o.kernel);
	kernel_threads__deinit(&o.threads);
	outbuf__deinit(&o.out);
	outbuf__deinit(&o.strings);
	outbuf__deinit(&o.losses);
	if (!err)
		*ret = o.added;
	return err == -ENOMEM ? error__set(error, err, "out of memory") : err;
}
