// SPDX-License-Identifier: GPL-2.0
/*
 * The stack table of a session.
 *
 * Upstream: kfuncs.c, with PCs from unwind.c. Downstream: processes that have mapped the session,
 * which look up the stack ids of records.
 *
 * Entries of a half are adjacent, and each reserved entry is filled, so that a reader can walk a
 * half from its start. written[] counts the words of a half that were filled over all epochs, like
 * committed[] of a ring: a half is begun again only when all words of its last epoch are filled.
 * Until then new stacks get no id; existing ones keep theirs.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "stacks.h"

#define ENTRY_WORDS ((u32)(sizeof(struct gt_stack_entry) / 8))
#define PROBES	    32 /* slots to search: at most half a KiB of the index */

static u32 state__epoch(u64 state)
{
	return state >> 32;
}

static u64 state__of(u32 epoch, u32 word)
{
	return (u64)epoch << 32 | word;
}

static struct gt_stack_entry *stacks__entry(const struct stack_table *table, u32 epoch, u32 word)
{
	return (struct gt_stack_entry *)(table->half[epoch & 1] + word);
}

/* Depends on the hash only; its low bits are well distributed. */
static u64 *stacks__slot(const struct stack_table *table, u64 hash, u32 probe)
{
	return &table->index[((u32)hash + probe) & (table->slots - 1)];
}

/* The id in an index slot; 0: none of this epoch. */
static u32 stacks__id(const struct stack_table *table, u64 slot, u32 epoch, u64 hash)
{
	u32 word = (u32)slot - 1;

	if (READ_ONCE(stacks__entry(table, epoch, word)->hash) != hash)
		return 0;
	return GT_STACK_ID(epoch, word);
}

static bool stacks__is_of(u64 slot, u32 epoch)
{
	return (u32)slot && state__epoch(slot) == epoch;
}

/* The id in this epoch; 0: none, and *ret_room is whether there is a free slot. */
static u32 stacks__find(const struct stack_table *table, u64 hash, u32 epoch, bool *ret_room)
{
	u32 probe, id;
	u64 slot;

	*ret_room = true;
	for (probe = 0; probe < PROBES; probe++) {
		/* acquire: the entry was written before its slot */
		slot = smp_load_acquire(stacks__slot(table, hash, probe));
		if (!stacks__is_of(slot, epoch))
			return 0;
		id = stacks__id(table, slot, epoch, hash);
		if (id)
			return id;
	}
	*ret_room = false;
	return 0;
}

static void stacks__count(struct stack_table *table, u32 epoch, u32 words)
{
	atomic64_fetch_add_release(words, &table->written[epoch & 1]);
}

/* Marks the rest of a full half as unused by an entry of depth 0. */
static void stacks__end(struct stack_table *table, u32 epoch, u32 used)
{
	u32 left = table->words - used;

	memset(stacks__entry(table, epoch, used), 0, min(left, ENTRY_WORDS) * 8);
	stacks__count(table, epoch, left);
}

/* Whether all entries of the epoch before the last, in the same half, were written. */
static bool stacks__may_begin(const struct stack_table *table, u32 epoch)
{
	u64 written = atomic64_read_acquire(&table->written[epoch & 1]);
	u64 laps = written >> __ffs(table->words);

	/* epochs have 32 bits, and every second one uses this half */
	return !(written & (table->words - 1)) && !((laps ^ epoch >> 1) & 0x7fffffff);
}

/*
 * Reserves words for an entry, beginning with the state that the caller has read. 0; -EAGAIN: a new
 * epoch has begun; -ENOSPC: the next one cannot begin yet.
 */
static int stacks__reserve(struct stack_table *table, u64 *state, u32 words, u32 *ret_word)
{
	u32 epoch = state__epoch(*state), used;
	u64 next, now;

	for (;;) {
		used = (u32)*state;
		if (used + words <= table->words) {
			next = *state + words;
		} else if (stacks__may_begin(table, epoch + 1)) {
			next = state__of(epoch + 1, words);
		} else {
			/* Another writer may have begun it: then the count includes its words. */
			now = READ_ONCE(*table->state);
			if (now == *state)
				return -ENOSPC;
			*state = now;
			return -EAGAIN;
		}
		if (try_cmpxchg(table->state, state, next))
			break;
		if (state__epoch(*state) != epoch)
			return -EAGAIN;
	}
	if (state__epoch(next) != epoch)
		stacks__end(table, epoch, used);
	*ret_word = (u32)next - words;
	*state = next;
	return 0;
}

/*
 * Puts a written entry into the index. Returns the id to use: that of a writer that was faster with
 * the same stack, or the entry's own, which is valid without a slot, too.
 */
static u32 stacks__publish(struct stack_table *table, u64 hash, u32 epoch, u32 word)
{
	u32 probe = 0, id;
	u64 slot, *at;

	while (probe < PROBES) {
		at = stacks__slot(table, hash, probe);
		slot = smp_load_acquire(at); /* as in stacks__find() */
		if (stacks__is_of(slot, epoch)) {
			id = stacks__id(table, slot, epoch, hash);
			if (id)
				return id;
			probe++;
		} else if ((u32)slot && (s32)(state__epoch(slot) - epoch) > 0) {
			break; /* this epoch has ended */
		} else if (try_cmpxchg(at, &slot, state__of(epoch, word + 1))) {
			break;
		}
	}
	return GT_STACK_ID(epoch, word);
}

/*
 * Reserves, fills and indexes an entry for a new stack. Returns as stacks__reserve(). Preemption is
 * disabled, because an unfinished entry keeps its half from being begun again.
 */
static int stacks__store(struct stack_table *table, u64 *state, const struct gt_stack_entry *head,
			 const u64 *pcs, u32 *ret_id)
{
	u32 words = ENTRY_WORDS + head->depth, word, epoch;
	struct gt_stack_entry *entry;
	int err = stacks__reserve(table, state, words, &word);

	if (err)
		return err;
	epoch = state__epoch(*state);
	entry = stacks__entry(table, epoch, word);
	WRITE_ONCE(entry->hash, head->hash);
	entry->epoch = epoch;
	entry->depth = head->depth;
	entry->cut = head->cut;
	memcpy(entry->pc, pcs, head->depth * sizeof(*pcs));
	*ret_id = stacks__publish(table, head->hash, epoch, word);
	stacks__count(table, epoch, words);
	return 0;
}

u32 stacks__intern(struct stack_table *table, u64 hash, const u64 *pcs, u32 depth, bool cut)
{
	const struct gt_stack_entry head = { .hash = hash, .depth = depth, .cut = cut };
	u64 state = READ_ONCE(*table->state);
	bool room;
	int err;
	u32 id;

	do {
		id = stacks__find(table, hash, state__epoch(state), &room);
		if (id)
			return id;
		err = -ENOSPC;
		if (!room)
			break;
		preempt_disable();
		err = stacks__store(table, &state, &head, pcs, &id);
		preempt_enable();
	} while (err == -EAGAIN);
	if (err)
		atomic64_inc((atomic64_t *)table->lost);
	return id;
}
