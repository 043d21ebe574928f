// SPDX-License-Identifier: GPL-2.0
/*
 * Adds to the generations of a trace, and copies all else: see write.h.
 *
 * Before it in an event's way: align/join.c (items), trace/kernel_write.c (their bytes); after it:
 * trace/file.c. What is added stands behind a generation's first batch, in batches of strings: the first
 * one is there in all versions of the format, and its time is no earlier than the generation's. The ids
 * follow the largest one that the generation has.
 */
#include "align/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "trace/decode_impl.h"
#include "trace/encode.h"
#include "trace/header.h"
#include "trace/outbuf.h"
#include "trace/private.h"

struct output {
	const struct align_job *job;
	struct decoder *decoder;
	struct outbuf out, strings; /* strings: a batch in the making */
	struct kernel_writer *kernel;
	struct kernel_threads
		threads;	/* of a trace without a kernel's side: as perf has them so far */
	struct outbuf losses;	/* of the generation, as private data */
	size_t next, next_loss; /* of perf's events, of its losses */
	bool ended;		/* that perf has come to its end is said */
	uint64_t gen, time, id; /* of the batches and strings that are added now */
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

static int put_text(struct outbuf *to, const char *text, struct error *err)
{
	uint8_t len[LEB_MAX];
	size_t n = (size_t)(leb__put(len, strlen(text)) - len);
	int code = outbuf__put(to, len, n, err);

	return code ?: outbuf__put(to, text, strlen(text), err);
}

static int put_pairs(struct output *o)
{
	const struct align_job *job = o->job;
	struct outbuf data;
	int err = 0;

	outbuf__init(&data, NULL, NULL);
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
	o->added.cores += item->kind == KERNEL_CORE;
	return kernel_writer__add(o->kernel, item);
}

static bool has_name(const struct kernel_thread *thread, const char *name)
{
	return thread->name_len == strlen(name) && !memcmp(thread->name, name, thread->name_len);
}

/* perf tells a thread's name with each event. */
static int add_name(struct output *o, const struct kernel_item *item, const struct perf_sched *ev,
		    bool write)
{
	const uint32_t comm = item->kind == KERNEL_ON ? ev->next_comm : ev->comm;
	const char *name = perf_data__comm(o->job->perf->data, comm);
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

/* Of the target's threads. `write`: false: what was before the trace is in the threads alone. */
static int add_of_threads(struct output *o, size_t i, bool write)
{
	const struct align_job *job = o->job;
	struct kernel_item item[2];
	unsigned int n = join__items(job->perf, job->target, i, item);
	int err = 0;

	for (unsigned int k = 0; !err && k < n; k++) {
		err = add_name(o, &item[k], &job->perf->sched[i], write);
		err = err ?: add_item(o, &item[k], write);
	}
	return err;
}

static uint64_t time_of(const struct output *o, size_t i)
{
	return fit__time(&o->job->perf->clock, o->job->perf->sched[i].time);
}

static int put_loss(struct output *o, const struct private_loss *loss)
{
	const uint64_t number[] = { loss->kind, loss->count, loss->from, loss->to - loss->from };
	uint8_t data[4 * LEB_MAX], *p = data;

	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		p = leb__put(p, number[i]);
	return outbuf__put(&o->losses, data, (size_t)(p - data), o->err);
}

/* What threads did before it is not known any more; nor will readers say it. */
static int add_losses(struct output *o, uint64_t until, bool write)
{
	const struct join_perf *perf = o->job->perf;
	struct private_loss loss = { .kind = GT_CPU_ON };
	size_t at = o->next_loss;
	int err = 0;

	if (!join_perf__pass_losses(perf, &o->next_loss, until))
		return 0;
	for (; !err && at < o->next_loss; at++) {
		loss.count = perf->losses[at].count;
		loss.from = fit__time(&perf->clock, perf->losses[at].from);
		loss.to = fit__time(&perf->clock, perf->losses[at].to);
		err = write ? put_loss(o, &loss) : 0;
	}
	kernel_threads__lose_before(&o->threads, loss.to);
	return err;
}

/* Behind its last event perf knows nothing of threads: the trace may go on. */
static int add_end(struct output *o)
{
	const uint64_t last = join_perf__end(o->job->perf);

	if (o->ended || o->job->side->has_kernel || o->next < o->job->perf->n)
		return 0;
	o->ended = true;
	kernel_threads__lose(&o->threads);
	return put_loss(o,
			&(struct private_loss){ .kind = GT_CPU_ON, .from = last, .to = last + 1 });
}

static int follow_before(struct output *o, uint64_t from)
{
	int err = 0;

	for (size_t i = 0; !err && i < o->job->perf->n && time_of(o, i) < from; i++) {
		err = add_losses(o, time_of(o, i), false);
		err = err ?: add_of_threads(o, i, false);
	}
	return err;
}

/* Of perf's events those before `to`; before `from`, which is so in the first generation, cores only. */
static int add_events(struct output *o, uint64_t from, uint64_t to)
{
	const struct align_job *job = o->job;
	struct kernel_item core;
	uint64_t time;
	int err = 0;

	for (; !err && o->next < job->perf->n; o->next++) {
		time = time_of(o, o->next);
		if (time >= to)
			break;
		if (!job->side->has_kernel && time >= from) {
			err = add_losses(o, time, true);
			err = err ?: add_of_threads(o, o->next, true);
		}
		if (!err && job->wanted[o->next]) {
			core = join__core(job->perf, o->next);
			err = add_item(o, &core, true);
		}
	}
	return err;
}

static int add_to_generation(struct output *o, size_t at)
{
	const struct side *side = o->job->side;
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

/* What stands behind the last generation means nothing to anyone, and stays. */
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
	       (o->job->side->version >= 26 && !b->experiment && first == EV_END_OF_GENERATION);
}

static int copy_batches(struct output *o, struct input *in)
{
	const struct side *side = o->job->side;
	size_t n = 0; /* generations begun */
	bool open = false, ends;
	struct batch b;
	int code;

	while ((code = batch__peek(o->decoder, &b, o->err)) > 0) {
		code = copy(o, in, b.head + (size_t)(b.data.end - b.data.start));
		if (code)
			return code;
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
			code = add_to_generation(o, n++);
		if (code)
			return code;
	}
	if (!code && n < side->ngenerations)
		return error__set(o->err, -EBADMSG, "it has changed while it was read");
	return code;
}

static int write_all(struct output *o, struct input *in)
{
	unsigned int version;
	int code = header__read(in, &version, o->err);

	code = code ?: copy(o, in, TRACE_HEADER_LEN);
	if (code)
		return code;
	input__consume(in, TRACE_HEADER_LEN);
	code = copy_batches(o, in);
	code = code ?: copy_rest(o, in);
	return code ?: outbuf__flush(&o->out, o->err);
}

int align__write(const struct align_job *job, struct trace_file *file, const char *name,
		 struct align_added *ret, struct error *err)
{
	struct output o = { .job = job, .err = err };
	int code = kernel_threads__init(&o.threads);

	outbuf__init(&o.out, file, name);
	outbuf__init(&o.strings, NULL, NULL);
	outbuf__init(&o.losses, NULL, NULL);
	o.kernel = kernel_writer__create();
	o.decoder = decoder__create(job->trace, job->side->version);
	if (!o.kernel || !o.decoder)
		code = -ENOMEM;
	code = code ?: write_all(&o, job->trace);
	decoder__destroy(o.decoder);
	kernel_writer__destroy(o.kernel);
	kernel_threads__deinit(&o.threads);
	outbuf__deinit(&o.out);
	outbuf__deinit(&o.strings);
	outbuf__deinit(&o.losses);
	if (!code)
		*ret = o.added;
	return code == -ENOMEM ? error__set(err, code, "no memory") : code;
}
