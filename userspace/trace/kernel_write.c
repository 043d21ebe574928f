// SPDX-License-Identifier: GPL-2.0
/*
 * Items to bytes: a generation's threads and what happened to them, as private data.
 *
 * Before it: sequence/kernel.c, `gotrace align` and trace/rewrite_words.c. After it: trace/private.c.
 * The bytes: kernel_impl.h and gotrace-private(5). Items are encoded as they come, so that memory is
 * what the file will have of them: about 5 bytes each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "trace/encode.h"
#include "trace/kernel_impl.h"
#include "trace/outbuf.h"
#include "trace/private.h"

/* A record in the making, and those before it that are done: its length and its bytes each. */
struct lane {
	enum private_kind kind;
	struct outbuf done, items;
	uint64_t first, last;	      /* time of the record's beginning, of the last item */
	uint64_t address;	      /* of the last fault */
	struct map by_tid, by_number; /* to an index + 1 of the two below */
	struct kernel_peer *peers;
	char (*names)[KERNEL_NAME_MAX];	      /* of the peers */
	uint32_t npeers, cap, ncalls, latest; /* latest: REF_… of the last item's thread */
};

struct kernel_writer {
	struct lane target, machine;
	struct outbuf threads;
	uint64_t begun;
};

static void lane__init(struct lane *s, enum private_kind kind)
{
	*s = (struct lane){ .kind = kind };
	outbuf__init(&s->done, NULL, NULL);
	outbuf__init(&s->items, NULL, NULL);
}

static void lane__deinit(struct lane *s)
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
	struct kernel_writer *k = malloc(sizeof(*k));

	if (!k)
		return NULL;
	lane__init(&k->target, PRIVATE_KERNEL);
	lane__init(&k->machine, PRIVATE_MACHINE);
	outbuf__init(&k->threads, NULL, NULL);
	k->begun = 0;
	return k;
}

void kernel_writer__destroy(struct kernel_writer *k)
{
	if (!k)
		return;
	lane__deinit(&k->target);
	lane__deinit(&k->machine);
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

/* How long before the generation something began; 0: not known. */
static uint8_t *put_since(uint8_t *p, const struct kernel_writer *k, uint64_t since)
{
	return leb__put(p, since && since <= k->begun ? k->begun - since + 1 : 0);
}

int kernel_writer__was(struct kernel_writer *k, const struct kernel_thread *t)
{
	struct trace_string name =
		cut_name((struct trace_string){ t->name, t->name_len }, KERNEL_NAME_MAX);
	struct trace_string none = {}, call;
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
		call = call_name(t->call, none);
		p = leb__put(p, t->call);
		p = put_since(p, k, t->call_since);
		p = put_name(p, &call);
	}
	if (t->in_fault)
		p = put_since(p, k, t->fault_since);
	err = outbuf__room(&k->threads, LEB_MAX + sizeof(fields), NULL);
	if (err)
		return err;
	k->threads.len = (char *)leb__put((uint8_t *)k->threads.data + k->threads.len,
					  (uint64_t)(p - fields)) -
			 k->threads.data;
	return outbuf__put(&k->threads, fields, (size_t)(p - fields), NULL);
}

/* ---- items ---- */

/* A record ends: what comes now begins one that stands on its own. */
static int lane__turn(struct lane *s)
{
	uint8_t head[3 * LEB_MAX], time[LEB_MAX], size[LEB_MAX], *p = head;
	size_t ntime = (size_t)(leb__put(time, s->first) - time);
	size_t nsize = (size_t)(leb__put(size, s->items.len) - size);
	int err = 0;

	if (s->items.len) {
		p = leb__put(p, ntime + nsize + s->items.len);
		memcpy(p, time, ntime);
		memcpy(p + ntime, size, nsize);
		p += ntime + nsize;
		err = outbuf__put(&s->done, head, (size_t)(p - head), NULL);
		if (!err)
			err = outbuf__put(&s->done, s->items.data, s->items.len, NULL);
	}
	s->items.len = 0;
	s->npeers = s->ncalls = s->latest = 0;
	s->address = 0;
	map__deinit(&s->by_tid);
	map__deinit(&s->by_number);
	return err;
}

int kernel_writer__begin(struct kernel_writer *k, uint64_t time,
			 const struct kernel_threads *threads)
{
	size_t n = 0;
	struct map_slot *slot = threads ? map__sorted(&threads->map, &n) : NULL;
	int err = threads && !slot ? -ENOMEM : 0;

	k->target.items.len = k->target.done.len = 0;
	k->machine.items.len = k->machine.done.len = 0;
	k->threads.len = 0;
	k->begun = time;
	k->target.last = k->machine.last = 0;
	lane__turn(&k->target);
	lane__turn(&k->machine);
	for (size_t i = 0; !err && i < n; i++)
		err = kernel_writer__was(k, slot[i].value);
	free(slot);
	return err;
}

static int grow_peers(struct lane *s)
{
	uint32_t cap = s->cap ? 2 * s->cap : 64;
	struct kernel_peer *peers = reallocarray(s->peers, cap, sizeof(*peers));
	void *names;

	if (!peers)
		return -ENOMEM;
	s->peers = peers;
	names = reallocarray(s->names, cap, sizeof(*s->names));
	if (!names)
		return -ENOMEM;
	s->names = names;
	s->cap = cap;
	for (uint32_t i = 0; i < s->npeers; i++) /* they have moved */
		peers[i].name.data = s->names[i];
	return 0;
}

static int add_peer(struct lane *s, uint32_t tid, uint32_t pid, const struct trace_string *name)
{
	uint32_t i = s->npeers;

	if (i == s->cap && grow_peers(s))
		return -ENOMEM;
	if (map__put(&s->by_tid, tid, (void *)((uintptr_t)i + 1)))
		return -ENOMEM;
	if (name->len)
		memcpy(s->names[i], name->data, name->len);
	s->peers[i] = (struct kernel_peer){ tid, pid, NO_CPU, 0, { s->names[i], name->len } };
	s->npeers++;
	return 0;
}

/* What an item says of a thread beside its number. */
struct details {
	bool has_pid, has_name;
	uint32_t pid;
	struct trace_string name;
};

static bool same_peer(const struct kernel_peer *peer, const struct details *d)
{
	return (!d->has_pid || peer->pid == d->pid) &&
	       (!d->has_name ||
		(peer->name.len == d->name.len &&
		 (!d->name.len || !memcmp(peer->name.data, d->name.data, d->name.len))));
}

/* `shift`: bits that are free below the reference, for something else. Its REF_… into *ret. */
static uint8_t *put_ref(struct lane *s, uint8_t *p, uint32_t tid, const struct details *d,
			unsigned int shift, unsigned int below, uint32_t *ret)
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

static struct kernel_peer *peer_of(struct lane *s, uint32_t ref)
{
	return ref >= REF_PEER ? &s->peers[ref - REF_PEER] : NULL;
}

/* Index + 1 of the call, which is told if the record has not had it. */
static uint8_t *put_call(struct lane *s, uint8_t *p, const struct kernel_item *item, uint32_t *ret)
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

/* What comes behind the thread, by kind. `peer`: the thread, NULL: the idle one. */
static uint8_t *put_fields(struct lane *s, uint8_t *p, uint8_t *kind, struct kernel_peer *peer,
			   const struct kernel_item *item, uint32_t *other)
{
	const struct details none = {};
	const struct details pid = { .has_pid = true, .pid = item->other_pid };
	const struct details both = { true, true, item->other_pid,
				      cut_name(item->name, KERNEL_NAME_MAX) };
	uint32_t call = 0;

	switch (item->kind) {
	case KERNEL_ON:
		if (item->other)
			return put_ref(s, p, item->other, &none, 0, 0, other);
		*kind |= ITEM_MORE;
		return p;
	case KERNEL_OFF:
		return put_ref(s, p, item->other, &both, 3, item->why & 7, other);
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
	case KERNEL_CREATED:
		p = put_ref(s, p, item->other, &none, 0, 0, other);
		return p ? put_name(p, &both.name) : NULL;
	case KERNEL_NAMED:
		return put_name(p, &both.name);
	case KERNEL_FAULT_BEGIN:
		p = leb__put(p, kernel__zigzag(item->value - s->address));
		s->address = item->value;
		return p;
	}
	return p;
}

/*
 * The fields are made before the thread's, since they may tell of new threads, which stand in the
 * order of being told: so they come first in the file, too, behind the thread's.
 */
static uint8_t *put_item(struct lane *s, uint8_t *p, const struct kernel_item *item)
{
	const struct details core = { true, true, item->other_pid,
				      cut_name(item->name, KERNEL_NAME_MAX) };
	const struct details none = {};
	uint8_t *kind = p++, *same;
	struct kernel_peer *peer;
	uint32_t ref, other = REF_NONE;

	*kind = item->kind;
	p = leb__put(p, item->time - s->last);
	same = p;
	p = put_ref(s, p, item->tid, item->kind == KERNEL_CORE ? &core : &none, 0, 0, &ref);
	if (!p)
		return NULL;
	if (ref == s->latest) {
		*kind |= ITEM_SAME;
		p = same;
	}
	s->latest = ref;
	peer = peer_of(s, ref);
	p = put_fields(s, p, kind, peer, item, &other);
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
	struct lane *s = item->kind == KERNEL_CORE ? &k->machine : &k->target;
	struct kernel_item at = *item;
	uint8_t *p;
	int err;

	if (!item->kind || item->kind >= KERNEL_KIND_END)
		return -EINVAL;
	if (s->items.len >= RECORD_BYTES || s->npeers >= RECORD_PEERS - 2 ||
	    s->ncalls >= RECORD_CALLS - 1) {
		err = lane__turn(s);
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
	       k->machine.items.len;
}

/* ---- the end of a generation ---- */

typedef int put_record(void *to, enum private_kind kind, const void *data, size_t len);

static int put_threads(const struct kernel_writer *k, put_record *put, void *to)
{
	uint8_t head[LEB_MAX];
	size_t n = (size_t)(leb__put(head, k->begun) - head);
	uint8_t *data;
	int err;

	if (!k->threads.len)
		return 0;
	data = malloc(n + k->threads.len);
	if (!data)
		return -ENOMEM;
	memcpy(data, head, n);
	memcpy(data + n, k->threads.data, k->threads.len);
	err = put(to, PRIVATE_THREADS, data, n + k->threads.len);
	free(data);
	return err;
}

static int put_lane(struct lane *s, put_record *put, void *to)
{
	struct buf done;
	uint64_t len;
	int err = lane__turn(s);

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
		err = put_lane(&k->target, put, to);
	if (!err)
		err = put_lane(&k->machine, put, to);
	return err;
}

static int to_writer(void *to, enum private_kind kind, const void *data, size_t len)
{
	return private__record(to, kind, data, len);
}

int kernel_writer__end(struct kernel_writer *k, struct writer *w)
{
	return kernel_writer__put(k, to_writer, w);
}
