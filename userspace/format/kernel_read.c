// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes the kernel events of a generation from its private data.
 *
 * Upstream: format/private_read.c. Downstream: reader/timeline.c. The bytes are untrusted: a
 * corrupt record yields the items before the corruption and is counted. Memory: the records of the
 * generation, and at most RECORD_PEERS threads for each of the three private data kinds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/kernel_impl.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/outbuf.h"

struct item_call {
	uint32_t number;
	struct trace_string name;
};

/* Reads the records of one kind. `bytes` holds them with a u32 length in front of each. */
struct item_reader {
	struct outbuf bytes;
	struct buf records, items; /* remaining records; rest of the open one */
	uint64_t time, address;
	struct kernel_peer *peers;
	struct item_call *calls;
	size_t npeers, peers_cap, ncalls, calls_cap;
	uint32_t latest;	 /* REF_... of the last item's thread */
	struct kernel_item next; /* the item read ahead */
	enum private_kind kind;
	bool has_next;
};

struct kernel_reader {
	struct outbuf threads;
	struct buf thread_records, thread;
	uint64_t start_time;
	struct trace_string call; /* of the last thread read */
	struct item_reader target, machine, waits;
	uint64_t bytes, bad;
};

static void item_reader__deinit(struct item_reader *s)
{
	outbuf__deinit(&s->bytes);
	free(s->peers);
	free(s->calls);
}

void kernel_reader__close(struct kernel_reader *r)
{
	if (!r)
		return;
	item_reader__deinit(&r->target);
	item_reader__deinit(&r->machine);
	item_reader__deinit(&r->waits);
	outbuf__deinit(&r->threads);
	free(r);
}

static uint32_t take_u32(struct buf *b)
{
	uint64_t v = buf__uleb(b);

	if (v > UINT32_MAX)
		b->bad = true;
	return (uint32_t)v;
}

static struct trace_string take_name(struct buf *b, uint32_t max)
{
	uint64_t len = buf__uleb(b);
	const char *data = buf__take(b, len);

	if (data && len <= max)
		return (struct trace_string){ data, (uint32_t)len };
	b->bad = true;
	return (struct trace_string){};
}

/* Values of later recorders are not known here. */
static uint8_t take_sleep(struct buf *b)
{
	uint64_t v = buf__uleb(b);

	return v < GT_SLEEP_END ? (uint8_t)v : GT_SLEEP_PLAIN;
}

/* ---- records ---- */

static int keep_record(struct outbuf *to, const struct buf *data)
{
	uint32_t len = (uint32_t)buf__left(data);
	int err = outbuf__put(to, &len, sizeof(len), NULL);

	return err ? err : outbuf__put(to, data->pos, len, NULL);
}

/* Takes the next of the copied records. At least one must remain. */
static struct buf next_record(struct buf *kept)
{
	uint32_t len = buf__u32(kept);

	return buf__make(buf__take(kept, len), len);
}

static int keep_records(struct kernel_reader *r, const struct dictionary *dictionary)
{
	struct private_reader private;
	struct private_record record;
	struct outbuf *to;
	int err;

	private_reader__init(&private, dictionary);
	while ((err = private_reader__next(&private, &record)) > 0) {
		to = record.kind == PRIVATE_THREADS ? &r->threads :
		     record.kind == PRIVATE_KERNEL  ? &r->target.bytes :
		     record.kind == PRIVATE_MACHINE ? &r->machine.bytes :
		     record.kind == PRIVATE_WAITS   ? &r->waits.bytes :
						      NULL;
		if (to) {
			r->bytes += buf__left(&record.data);
			err = keep_record(to, &record.data);
		}
		if (err < 0)
			break;
	}
	private_reader__deinit(&private);
	return err;
}

static void read_ahead(struct kernel_reader *r, struct item_reader *s);

static void begin_items(struct kernel_reader *r, struct item_reader *s, enum private_kind kind)
{
	s->kind = kind;
	s->records = buf__make(s->bytes.data, s->bytes.len);
	read_ahead(r, s);
}

int kernel_reader__open(struct kernel_reader **ret, const struct dictionary *dictionary)
{
	struct kernel_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	err = keep_records(r, dictionary);
	if (err ||
	    !(r->threads.len | r->target.bytes.len | r->machine.bytes.len | r->waits.bytes.len)) {
		kernel_reader__close(r);
		return err;
	}
	r->thread_records = buf__make(r->threads.data, r->threads.len);
	begin_items(r, &r->target, PRIVATE_KERNEL);
	begin_items(r, &r->machine, PRIVATE_MACHINE);
	begin_items(r, &r->waits, PRIVATE_WAITS);
	*ret = r;
	return 1;
}

uint64_t kernel_reader__bytes(const struct kernel_reader *r)
{
	return r->bytes;
}

bool kernel_reader__has_waits(const struct kernel_reader *r)
{
	return r->waits.bytes.len;
}

uint64_t kernel_reader__bad(const struct kernel_reader *r)
{
	return r->bad;
}

/* ---- threads ---- */

static uint64_t take_since(const struct kernel_reader *r, struct buf *b)
{
	uint64_t before = buf__uleb(b);

	if (before && before - 1 > r->start_time)
		b->bad = true;
	return before ? r->start_time - (before - 1) : 0;
}

/* `b` holds exactly one thread; a later version may append fields, which are ignored. */
static bool take_thread(struct kernel_reader *r, struct buf *b, struct kernel_thread *ret)
{
	struct kernel_thread t = { .call = KERNEL_NO_CALL };
	uint8_t bits = buf__u8(b);
	struct trace_string name;
	uint32_t cpu;

	r->call = (struct trace_string){};
	t.run = bits & THREAD_RUN;
	t.in_fault = bits & THREAD_FAULT;
	t.interrupt = bits & THREAD_INTERRUPT;
	t.woken = bits & THREAD_WOKEN;
	t.tid = take_u32(b);
	cpu = take_u32(b);
	t.cpu = (uint16_t)cpu;
	t.since = take_since(r, b);
	t.other = take_u32(b);
	t.other_pid = take_u32(b);
	name = take_name(b, KERNEL_NAME_MAX);
	if (name.len)
		memcpy(t.name, name.data, name.len);
	t.name_len = (uint8_t)name.len;
	if (bits & THREAD_CALL) {
		t.call = take_u32(b);
		t.call_since = take_since(r, b);
		r->call = take_name(b, CALL_NAME_MAX);
	}
	if (t.in_fault)
		t.fault_since = take_since(r, b);
	if (buf__left(b))
		t.sleep = take_sleep(b);
	if (b->bad || !t.tid || t.run > KERNEL_GONE || cpu > UINT16_MAX)
		return false;
	*ret = t;
	return true;
}

bool kernel_reader__thread(struct kernel_reader *r, struct kernel_thread *ret)
{
	struct buf one;
	uint64_t len;

	for (;;) {
		if (!buf__left(&r->thread)) {
			if (!buf__left(&r->thread_records))
				return false;
			r->thread = next_record(&r->thread_records);
			r->start_time = buf__uleb(&r->thread);
		} else {
			len = buf__uleb(&r->thread);
			one = buf__make(buf__take(&r->thread, len), len);
			if (!r->thread.bad && take_thread(r, &one, ret))
				return true;
			r->thread.bad = true;
		}
		if (r->thread.bad) {
			r->bad++;
			r->thread = (struct buf){};
		}
	}
}

struct trace_string kernel_reader__call(const struct kernel_reader *r)
{
	return r->call;
}

/* ---- items ---- */

/* Opens the next record, whose time must not precede that of the last item. */
static void open_record(struct kernel_reader *r, struct item_reader *s)
{
	struct buf record = next_record(&s->records);
	uint64_t time = buf__uleb(&record), size = buf__uleb(&record);
	const void *items = buf__take(&record, size);

	s->npeers = s->ncalls = 0;
	s->latest = REF_NONE;
	s->address = 0;
	if (record.bad || time < s->time) {
		r->bad++;
		return;
	}
	s->items = buf__make(items, size);
	s->time = time;
}

/* Returns the REF_... of a thread. Adds a newly defined one, up to RECORD_PEERS. */
static uint32_t take_ref(struct item_reader *s, uint64_t ref)
{
	struct kernel_peer peer = { .cpu = NO_CPU };
	struct buf *b = &s->items;

	if (ref != REF_NEW) {
		if (ref >= REF_PEER && ref - REF_PEER >= s->npeers)
			b->bad = true;
		return (uint32_t)ref;
	}
	peer.tid = take_u32(b);
	peer.pid = take_u32(b);
	peer.name = take_name(b, KERNEL_NAME_MAX);
	if (!peer.tid || s->npeers >= RECORD_PEERS ||
	    array__grow(&s->peers, s->npeers, &s->peers_cap, sizeof(peer)))
		b->bad = true;
	if (b->bad)
		return REF_NONE;
	s->peers[s->npeers] = peer;
	return REF_PEER + s->npeers++;
}

/* Returns index + 1 of a system call, or 0 if it is invalid. */
static uint32_t take_call(struct item_reader *s)
{
	struct buf *b = &s->items;
	uint64_t ref = buf__uleb(b);
	struct item_call call;

	if (ref > s->ncalls)
		b->bad = true;
	if (ref || b->bad)
		return (uint32_t)ref;
	call.number = take_u32(b);
	call.name = take_name(b, CALL_NAME_MAX);
	if (s->ncalls >= RECORD_CALLS ||
	    array__grow(&s->calls, s->ncalls, &s->calls_cap, sizeof(call)))
		b->bad = true;
	if (b->bad)
		return 0;
	s->calls[s->ncalls++] = call;
	return s->ncalls;
}

static struct kernel_peer *peer_of(struct item_reader *s, uint32_t ref)
{
	return ref >= REF_PEER && !s->items.bad ? &s->peers[ref - REF_PEER] : NULL;
}

static uint32_t take_other(struct item_reader *s, uint64_t ref, bool pid, bool name,
			   struct kernel_item *item)
{
	uint32_t other = take_ref(s, ref);
	const struct kernel_peer *peer = peer_of(s, other);

	if (peer) {
		item->other = peer->tid;
		item->other_pid = pid ? peer->pid : 0;
		if (name)
			item->name = peer->name;
	}
	return other;
}

static void set_call(struct item_reader *s, uint32_t call, struct kernel_item *item)
{
	if (!call || call > s->ncalls) {
		s->items.bad = true;
		return;
	}
	item->number = s->calls[call - 1].number;
	item->name = s->calls[call - 1].name;
}

/* Decodes the fields after the thread `ref`. Returns the REF_... of the other thread, if any. */
static uint32_t take_fields(struct item_reader *s, uint8_t bits, uint32_t ref,
			    struct kernel_item *item)
{
	struct buf *b = &s->items;
	struct kernel_peer *peer = peer_of(s, ref);
	uint32_t other = REF_NONE, call;
	uint64_t v;

	switch (item->kind) {
	case KERNEL_ON:
		return bits & ITEM_MORE ? REF_NONE :
					  take_other(s, buf__uleb(b), false, false, item);
	case KERNEL_OFF:
		v = buf__uleb(b);
		item->why = v & 7;
		other = take_other(s, v >> 3, true, true, item);
		item->sleep = bits & ITEM_MORE ? take_sleep(b) : GT_SLEEP_PLAIN;
		return other;
	case KERNEL_WAKING:
		item->interrupt = bits & ITEM_MORE;
		return take_other(s, buf__uleb(b), true, false, item);
	case KERNEL_SYS_ENTER:
		call = take_call(s);
		set_call(s, call, item);
		if (peer)
			peer->call = call;
		break;
	case KERNEL_SYS_EXIT:
		call = bits & ITEM_MORE ? take_call(s) : peer ? peer->call : 0;
		set_call(s, call, item);
		item->value = kernel__unzigzag(buf__uleb(b));
		break;
	case KERNEL_OCCUPANT:
		item->before = bits & ITEM_MORE;
		break;
	case KERNEL_MOVED:
		item->other = take_u32(b);
		break;
	case KERNEL_CREATED:
		other = take_other(s, buf__uleb(b), false, false, item);
		item->name = take_name(b, KERNEL_NAME_MAX);
		break;
	case KERNEL_NAMED:
		item->name = take_name(b, KERNEL_NAME_MAX);
		break;
	case KERNEL_FAULT_BEGIN:
		item->value = s->address += kernel__unzigzag(buf__uleb(b));
		break;
	}
	return other;
}

static void take_thread_of(struct item_reader *s, uint8_t bits, struct kernel_item *item)
{
	const struct kernel_peer *peer;

	if (!(bits & ITEM_SAME))
		s->latest = take_ref(s, buf__uleb(&s->items));
	peer = peer_of(s, s->latest);
	if (!peer)
		return;
	item->tid = peer->tid;
	if (kernel_item__is_of_cpu(item)) {
		item->other_pid = peer->pid;
		item->name = peer->name;
	}
}

static void take_cpu(struct item_reader *s, uint8_t bits, struct kernel_peer *peer,
		     struct kernel_item *item)
{
	uint32_t cpu = bits & ITEM_CPU ? take_u32(&s->items) : peer ? peer->cpu : NO_CPU;

	if (cpu > UINT16_MAX)
		s->items.bad = true;
	if (peer)
		peer->cpu = cpu;
	item->cpu = (uint16_t)cpu;
}

/* Returns false for an item of a later version, which is skipped by its size. */
static bool take_item(struct item_reader *s, struct kernel_item *item)
{
	uint8_t bits = buf__u8(&s->items);
	uint32_t other, ref;

	*item = (struct kernel_item){ .kind = bits & ITEM_KIND };
	if (!item->kind || __builtin_add_overflow(s->time, buf__uleb(&s->items), &s->time))
		s->items.bad = true;
	item->time = s->time;
	if (item->kind >= KERNEL_KIND_END) {
		buf__skip(&s->items, buf__uleb(&s->items));
		return false;
	}
	take_thread_of(s, bits, item);
	other = take_fields(s, bits, s->latest, item);
	ref = kernel_item__cpu_of_other(item->kind) ? other : s->latest;
	take_cpu(s, bits, peer_of(s, ref), item);
	if (item->why >= GT_OFF_END || kernel_item__record(item->kind) != s->kind ||
	    (!item->tid && !kernel_item__is_of_cpu(item)))
		s->items.bad = true;
	return true;
}

static void read_ahead(struct kernel_reader *r, struct item_reader *s)
{
	bool known;

	s->has_next = false;
	while (!s->has_next) {
		if (buf__left(&s->items)) {
			known = take_item(s, &s->next);
			s->has_next = known && !s->items.bad;
			if (s->items.bad) {
				r->bad++;
				s->items = (struct buf){};
			}
		} else if (buf__left(&s->records)) {
			open_record(r, s);
		} else {
			return;
		}
	}
}

bool kernel_reader__item(struct kernel_reader *r, struct kernel_item *ret)
{
	struct item_reader *s = &r->target, *more[] = { &r->machine, &r->waits };

	for (unsigned int i = 0; i < 2; i++)
		if (more[i]->has_next && (!s->has_next || more[i]->next.time < s->next.time))
			s = more[i];
	if (!s->has_next)
		return false;
	*ret = s->next;
	read_ahead(r, s);
	return true;
}
