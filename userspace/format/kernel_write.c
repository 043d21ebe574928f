// SPDX-License-Identifier: GPL-2.0
/*
 * Encodes the kernel events of a generation as private data.
 *
 * Upstream: sequence/kernel_events.c, align/write.c and rewrite/rewrite_tables.c. Downstream:
 * format/private.c. kernel_impl.h and gotrace-private(5) define the bytes. Items are encoded when
 * they arrive, so memory equals the size in the file: about 5 bytes per item.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "format/kernel_impl.h"
#include "format/private.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/outbuf.h"

/* Writes the records of one kind: the open one, and in `done` the closed ones. */
struct item_writer {
	enum private_kind kind;
	struct outbuf done, items;
	uint64_t first, last;	      /* time of the record, of the last item */
	uint64_t address;	      /* of the last fault */
	struct map by_tid, by_number; /* to index + 1 in peers; to number of the call */
	struct kernel_peer *peers;
	char (*names)[KERNEL_NAME_MAX]; /* bytes of the peers' names */
	size_t peers_cap, names_cap;
	uint32_t npeers, ncalls, latest; /* latest: REF_... of the last item's thread */
};

struct kernel_writer {
	struct item_writer target, machine, waits;
	bool has_waits;
	struct outbuf threads;
	uint64_t start_time;
};

static void item_writer__deinit(struct item_writer *s)
{
	outbuf__deinit(&s->done);
	outbuf__deinit(&s->items);
	map__deinit(&s->by_tid);
	map__deinit(&s->by_number);
	free(s->peers);
	free(s->names);
}

struct kernel_writer *kernel_writer__create(void)
{
	struct kernel_writer *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->target.kind = PRIVATE_KERNEL;
	k->machine.kind = PRIVATE_MACHINE;
	k->waits.kind = PRIVATE_WAITS;
	return k;
}

void kernel_writer__destroy(struct kernel_writer *k)
{
	if (!k)
		return;
	item_writer__deinit(&k->target);
	item_writer__deinit(&k->machine);
	item_writer__deinit(&k->waits);
	outbuf__deinit(&k->threads);
	free(k);
}

static struct trace_string cut_name(struct trace_string name, uint32_t max)
{
	if (name.len > max)
		name.len = max;
	return name;
}

static uint8_t *put_name(uint8_t *p, const struct trace_string *name)
{
	p = leb__put(p, name->len);
	if (name->len)
		memcpy(p, name->data, name->len);
	return p + name->len;
}

static struct trace_string call_name(uint32_t number, struct trace_string name)
{
	const char *usual = name.len ? NULL : kernel__syscall(number);

	if (usual)
		name = (struct trace_string){ usual, (uint32_t)strlen(usual) };
	return cut_name(name, CALL_NAME_MAX);
}

/* ---- threads ---- */

/* Writes how long before the generation something began, plus 1; 0: unknown. */
static uint8_t *put_since(uint8_t *p, const struct kernel_writer *k, uint64_t since)
{
	return leb__put(p, since && since <= k->start_time ? k->start_time - since + 1 : 0);
}

/* call: the name of its system call; empty for the usual one. */
static int add_thread(struct kernel_writer *k, const struct kernel_thread *t,
		      struct trace_string call)
{
	struct trace_string name =
		cut_name((struct trace_string){ t->name, t->name_len }, KERNEL_NAME_MAX);
	uint8_t fields[ITEM_MAX + CALL_NAME_MAX], *p = fields;
	bool in_call = t->call != KERNEL_NO_CALL;
	int err;

	*p++ = (uint8_t)((t->run & THREAD_RUN) | (t->in_fault ? THREAD_FAULT : 0) |
			 (t->interrupt ? THREAD_INTERRUPT : 0) | (t->woken ? THREAD_WOKEN : 0) |
			 (in_call ? THREAD_CALL : 0));
	p = leb__put(p, t->tid);
	p = leb__put(p, t->cpu);
	p = put_since(p, k, t->since);
	p = leb__put(p, t->other);
	p = leb__put(p, t->other_pid);
	p = put_name(p, &name);
	if (in_call) {
		call = call_name(t->call, call);
		p = leb__put(p, t->call);
		p = put_since(p, k, t->call_since);
		p = put_name(p, &call);
	}
	if (t->in_fault)
		p = put_since(p, k, t->fault_since);
	if (t->sleep)
		p = leb__put(p, t->sleep);
	err = outbuf__room(&k->threads, LEB_MAX + sizeof(fields), NULL);
	if (err)
		return err;
	leb__append(&k->threads, (uint64_t)(p - fields));
	return outbuf__put(&k->threads, fields, (size_t)(p - fields), NULL);
}

void kernel_writer__set_waits(struct kernel_writer *k)
{
	k->has_waits = true;
}

int kernel_writer__add_thread(struct kernel_writer *k, const struct kernel_thread *t)
{
	return add_thread(k, t, (struct trace_string){});
}

/* ---- items ---- */

/* Closes the record; the next one is decoded independently of it. `always`: even without items. */
static int item_writer__close_record(struct item_writer *s, bool always)
{
	uint8_t head[2 * LEB_MAX], *end = leb__put(leb__put(head, s->first), s->items.len);
	size_t len = (size_t)(end - head);
	int err = 0;

	if (s->items.len || always) {
		err = outbuf__room(&s->done, LEB_MAX + len + s->items.len, NULL);
		if (!err) {
			leb__append(&s->done, len + s->items.len);
			outbuf__put(&s->done, head, len, NULL);
			outbuf__put(&s->done, s->items.data, s->items.len, NULL);
		}
	}
	s->items.len = 0;
	s->npeers = s->ncalls = s->latest = 0;
	s->address = 0;
	map__deinit(&s->by_tid);
	map__deinit(&s->by_number);
	return err;
}

static void item_writer__begin(struct item_writer *s)
{
	s->items.len = s->done.len = 0;
	s->first = s->last = 0;
	item_writer__close_record(s, false);
}

int kernel_writer__begin(struct kernel_writer *k, uint64_t time,
			 const struct kernel_threads *threads)
{
	size_t n = 0;
	struct map_slot *slot = threads ? map__sorted(&threads->map, &n) : NULL;
	const struct kernel_thread *t;
	int err = threads && !slot ? -ENOMEM : 0;

	k->threads.len = 0;
	k->start_time = time;
	k->has_waits = threads && threads->waits;
	item_writer__begin(&k->target);
	item_writer__begin(&k->machine);
	item_writer__begin(&k->waits);
	for (size_t i = 0; !err && i < n; i++) {
		t = slot[i].value;
		err = add_thread(k, t, kernel_threads__syscall(threads, t->call));
	}
	free(slot);
	return err;
}

static int grow_peers(struct item_writer *s)
{
	if (array__grow(&s->peers, s->npeers, &s->peers_cap, sizeof(*s->peers)) ||
	    array__grow(&s->names, s->npeers, &s->names_cap, sizeof(*s->names)))
		return -ENOMEM;
	for (uint32_t i = 0; i < s->npeers; i++) /* the names have moved */
		s->peers[i].name.data = s->names[i];
	return 0;
}

static int add_peer(struct item_writer *s, uint32_t tid, uint32_t pid,
		    const struct trace_string *name)
{
	uint32_t i = s->npeers;

	if ((i == s->peers_cap || i == s->names_cap) && grow_peers(s))
		return -ENOMEM;
	if (map__put(&s->by_tid, tid, (void *)((uintptr_t)i + 1)))
		return -ENOMEM;
	if (name->len)
		memcpy(s->names[i], name->data, name->len);
	s->peers[i] = (struct kernel_peer){ tid, pid, NO_CPU, 0, { s->names[i], name->len } };
	s->npeers++;
	return 0;
}

/* What an item contains about a thread in addition to its tid. */
struct peer_details {
	bool has_pid, has_name;
	uint32_t pid;
	struct trace_string name;
};

static bool same_peer(const struct kernel_peer *peer, const struct peer_details *d)
{
	return (!d->has_pid || peer->pid == d->pid) &&
	       (!d->has_name ||
		(peer->name.len == d->name.len &&
		 (!d->name.len || !memcmp(peer->name.data, d->name.data, d->name.len))));
}

/* Writes a reference, shifted left by `shift` bits that hold `below`. *ret is its REF_... */
static uint8_t *put_ref(struct item_writer *s, uint8_t *p, uint32_t tid,
			const struct peer_details *d, unsigned int shift, unsigned int below,
			uint32_t *ret)
{
	struct trace_string name = cut_name(d->name, KERNEL_NAME_MAX);
	uintptr_t known = tid ? (uintptr_t)map__get(&s->by_tid, tid) : 0;

	*ret = REF_NONE;
	if (!tid)
		return leb__put(p, REF_NONE << shift | below);
	if (known && same_peer(&s->peers[known - 1], d)) {
		*ret = REF_PEER + (uint32_t)known - 1;
		return leb__put(p, (uint64_t)*ret << shift | below);
	}
	if (add_peer(s, tid, d->pid, &name))
		return NULL;
	*ret = REF_PEER + s->npeers - 1;
	p = leb__put(p, REF_NEW << shift | below);
	p = leb__put(p, tid);
	p = leb__put(p, d->pid);
	return put_name(p, &name);
}

static struct kernel_peer *peer_of(struct item_writer *s, uint32_t ref)
{
	return ref >= REF_PEER ? &s->peers[ref - REF_PEER] : NULL;
}

/* Writes index + 1 of the call, or its definition if it is new to the record. */
static uint8_t *put_call(struct item_writer *s, uint8_t *p, const struct kernel_item *item,
			 uint32_t *ret)
{
	uintptr_t known = (uintptr_t)map__get(&s->by_number, item->number);
	struct trace_string name;

	if (!known) {
		known = ++s->ncalls;
		if (map__put(&s->by_number, item->number, (void *)known))
			return NULL;
		name = call_name(item->number, item->name);
		p = leb__put(p, 0);
		p = leb__put(p, item->number);
		p = put_name(p, &name);
	} else {
		p = leb__put(p, known);
	}
	*ret = (uint32_t)known;
	return p;
}

/* Writes the fields after the thread, by kind. `peer` is the thread, NULL for the idle one. */
static uint8_t *put_fields(struct item_writer *s, uint8_t *p, uint8_t *kind,
			   struct kernel_peer *peer, const struct kernel_item *item,
			   const struct peer_details *both, uint32_t *other)
{
	const struct peer_details none = {};
	const struct peer_details pid = { .has_pid = true, .pid = item->other_pid };
	uint32_t call = 0;

	switch (item->kind) {
	case KERNEL_ON:
		if (item->other)
			return put_ref(s, p, item->other, &none, 0, 0, other);
		*kind |= ITEM_MORE;
		return p;
	case KERNEL_OFF:
		p = put_ref(s, p, item->other, both, 3, item->why & 7, other);
		if (!p || !item->sleep)
			return p;
		*kind |= ITEM_MORE;
		return leb__put(p, item->sleep);
	case KERNEL_WAKING:
		*kind |= item->interrupt ? ITEM_MORE : 0;
		return put_ref(s, p, item->other, &pid, 0, 0, other);
	case KERNEL_SYS_ENTER:
		p = put_call(s, p, item, &call);
		if (peer)
			peer->call = call;
		return p;
	case KERNEL_SYS_EXIT:
		call = (uint32_t)(uintptr_t)map__get(&s->by_number, item->number);
		if (!call || !peer || peer->call != call) {
			*kind |= ITEM_MORE;
			p = put_call(s, p, item, &call);
		}
		return p ? leb__put(p, kernel__zigzag(item->value)) : NULL;
	case KERNEL_OCCUPANT:
		*kind |= item->before ? ITEM_MORE : 0;
		return p;
	case KERNEL_MOVED:
		return leb__put(p, item->other);
	case KERNEL_CREATED:
		p = put_ref(s, p, item->other, &none, 0, 0, other);
		return p ? put_name(p, &both->name) : NULL;
	case KERNEL_NAMED:
		return put_name(p, &both->name);
	case KERNEL_FAULT_BEGIN:
		p = leb__put(p, kernel__zigzag(item->value - s->address));
		s->address = item->value;
		return p;
	}
	return p;
}

/*
 * The order in the file is thread, fields, CPU. The fields come before the CPU because the CPU of a
 * wake-up is compared with that of the waker, which the fields may define.
 */
static uint8_t *put_item(struct item_writer *s, uint8_t *p, const struct kernel_item *item)
{
	const struct peer_details both = { true, true, item->other_pid,
					   cut_name(item->name, KERNEL_NAME_MAX) };
	const struct peer_details none = {};
	uint8_t *kind = p++, *same;
	struct kernel_peer *peer;
	uint32_t ref, other = REF_NONE;

	*kind = item->kind;
	p = leb__put(p, item->time - s->last);
	same = p;
	p = put_ref(s, p, item->tid, kernel_item__is_of_cpu(item) ? &both : &none, 0, 0, &ref);
	if (!p)
		return NULL;
	if (ref == s->latest) {
		*kind |= ITEM_SAME;
		p = same;
	}
	s->latest = ref;
	peer = peer_of(s, ref);
	p = put_fields(s, p, kind, peer, item, &both, &other);
	if (!p)
		return NULL;
	peer = peer_of(s, kernel_item__cpu_of_other(item->kind) ? other : ref);
	if (!peer || peer->cpu != item->cpu) {
		*kind |= ITEM_CPU;
		p = leb__put(p, item->cpu);
	}
	if (peer)
		peer->cpu = item->cpu;
	return p;
}

int kernel_writer__add(struct kernel_writer *k, const struct kernel_item *item)
{
	enum private_kind record = kernel_item__record(item->kind);
	struct item_writer *s = record == PRIVATE_MACHINE ? &k->machine :
				record == PRIVATE_WAITS	  ? &k->waits :
							    &k->target;
	struct kernel_item at = *item;
	uint8_t *p;
	int err;

	if (!item->kind || item->kind >= KERNEL_KIND_END)
		return -EINVAL;
	if (s->items.len >= RECORD_BYTES || s->npeers >= RECORD_PEERS - 2 ||
	    s->ncalls >= RECORD_CALLS - 1) {
		err = item_writer__close_record(s, false);
		if (err)
			return err;
	}
	err = outbuf__room(&s->items, ITEM_MAX, NULL);
	if (err)
		return err;
	if (at.time < s->last)
		at.time = s->last;
	if (!s->items.len)
		s->first = s->last = at.time;
	p = put_item(s, (uint8_t *)s->items.data + s->items.len, &at);
	if (!p)
		return -ENOMEM;
	s->last = at.time;
	s->items.len = (size_t)(p - (uint8_t *)s->items.data);
	return 0;
}

size_t kernel_writer__size(const struct kernel_writer *k)
{
	return k->threads.len + k->target.done.len + k->target.items.len + k->machine.done.len +
	       k->machine.items.len + k->waits.done.len + k->waits.items.len;
}

/* ---- the end of a generation ---- */

typedef int put_record(void *to, enum private_kind kind, const void *data, size_t len);

static int put_threads(const struct kernel_writer *k, put_record *put, void *to)
{
	struct outbuf record = {};
	int err;

	if (!k->threads.len)
		return 0;
	err = outbuf__room(&record, LEB_MAX + k->threads.len, NULL);
	if (err)
		return err;
	leb__append(&record, k->start_time);
	outbuf__put(&record, k->threads.data, k->threads.len, NULL);
	err = put(to, PRIVATE_THREADS, record.data, record.len);
	outbuf__deinit(&record);
	return err;
}

static int put_items(struct item_writer *s, bool always, put_record *put, void *to)
{
	struct buf done;
	uint64_t len;
	int err = item_writer__close_record(s, always && !s->done.len);

	done = buf__make(s->done.data, s->done.len);
	while (!err && buf__left(&done)) {
		len = buf__uleb(&done);
		err = put(to, s->kind, buf__take(&done, len), len);
	}
	return err;
}

int kernel_writer__put(struct kernel_writer *k, put_record *put, void *to)
{
	int err = put_threads(k, put, to);

	if (!err)
		err = put_items(&k->target, false, put, to);
	if (!err)
		err = put_items(&k->machine, false, put, to);
	if (!err)
		err = put_items(&k->waits, k->has_waits, put, to);
	return err;
}
