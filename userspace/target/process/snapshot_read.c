// SPDX-License-Identifier: GPL-2.0
/*
 * Reads Gs, Ms and Ps from the target's memory, with the offsets of target/layout/layout.h.
 *
 * Upstream: process.c. Downstream: snapshot.c and live.c. Each struct is read as one range that
 * covers all members needed, since a system call costs more than the bytes.
 */
#include "target/process/snapshot_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"

#define WAITSINCE_BEFORE 8	    /* bytes before g.waitreason: g.waitsince, in all releases */
#define STRUCT_MAX	 (16 << 10) /* bytes; all members needed have lower offsets */

static size_t end_of(const uint32_t *offsets, size_t n)
{
	uint32_t last = 0;

	for (size_t i = 0; i < n; i++) {
		if (offsets[i] > last && offsets[i] != GT_NO_OFFSET)
			last = offsets[i];
	}
	return last + 8;
}

static uint64_t word(const struct buf *b, uint32_t offset)
{
	uint64_t v = 0;

	buf__u64_at(b, offset, &v);
	return v;
}

int process__read_words(const struct process *proc, uint64_t addr, size_t n, uint64_t **ret)
{
	uint64_t *words = malloc((n + 1) * sizeof(*words));
	int err = -ENOMEM;

	if (words)
		err = n ? process__read(proc, addr, words, n * sizeof(*words)) : 0;
	if (err)
		free(words);
	else
		*ret = words;
	return err;
}

int go_gs__addresses(const struct process *proc, const struct layout *l, uint64_t **ret,
		     size_t *ret_n)
{
	uint64_t n, array;
	/* Length before pointer: the array grows, then moves; a new one contains all of the old. */
	int err = process__read(proc, l->allglen + proc->bias, &n, sizeof(n));

	if (!err)
		err = process__read(proc, l->allgptr + proc->bias, &array, sizeof(array));
	if (err)
		return err;
	*ret_n = n;
	return n > GS_MAX ? -EPROTO : process__read_words(proc, array, n, ret);
}

/* g.syscallsp, g.syscallpc and g.syscallbp follow g.sched, whose last member is bp. */
static uint32_t syscall_offset(const struct layout *l, unsigned int i)
{
	return l->config.g_sched + l->config.gobuf_bp + 8 * (i + 1);
}

static void parse_g(const struct layout *l, const struct buf *b, struct go_g *ret)
{
	uint8_t reason = 0;

	buf__u8_at(b, l->config.g_waitreason, &reason);
	*ret = (struct go_g){
		.ok = true,
		.stack_lo = word(b, l->g_stack_lo),
		.stack_hi = word(b, l->g_stack_hi),
		.m = word(b, l->config.g_m),
		.goid = word(b, l->config.g_goid),
		.startpc = word(b, l->config.g_startpc),
		.parent = word(b, l->config.g_parent_goid),
		.sp = word(b, l->config.g_sched + l->config.gobuf_sp),
		.pc = word(b, l->config.g_sched + l->config.gobuf_pc),
		.bp = word(b, l->config.g_sched + l->config.gobuf_bp),
		.status = (uint32_t)word(b, l->config.g_status) & ~(uint32_t)GS_SCAN,
		.wait_reason = reason,
		.wait_since = word(b, l->config.g_waitreason - WAITSINCE_BEFORE),
	};
	if (ret->status == GS_SYSCALL && l->derives_syscalls) {
		ret->sp = word(b, syscall_offset(l, 0));
		ret->pc = word(b, syscall_offset(l, 1));
		ret->bp = word(b, syscall_offset(l, 2));
	}
}

#define GS_BATCH 1024
#define GAP_MAX	 512 /* bytes between two Gs that are read as one range */

struct g_batch {
	const uint64_t *addr;
	size_t n, len; /* len: bytes of a G */
	struct process_range range[GS_BATCH];
	size_t first[GS_BATCH + 1]; /* G of each range */
	bool ok[GS_BATCH];
	size_t ranges, size; /* size: bytes of all ranges */
};

/*
 * The runtime allocates Gs next to each other: reading some in one piece takes a quarter of the time,
 * since the kernel looks up the pages of each piece.
 */
static void join(struct g_batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct process_range *r = b->range + b->ranges;
		uint64_t end = i ? r[-1].addr + r[-1].len : 0;

		if (i && b->addr[i] >= end && b->addr[i] - end <= GAP_MAX) {
			b->size += b->addr[i] - end + b->len;
			r[-1].len += b->addr[i] - end + b->len;
			continue;
		}
		b->first[b->ranges++] = i;
		*r = (struct process_range){ b->addr[i], b->len };
		b->size += b->len;
	}
	b->first[b->ranges] = b->n;
}

/* Parses Gs from i to `to`, of which the first one is at `bytes`. */
static void parse_gs(const struct layout *l, const struct g_batch *b, size_t i, size_t to,
		     const unsigned char *bytes, struct go_g *ret)
{
	uint64_t base = b->addr[i];

	for (; i < to; i++) {
		struct buf g = buf__make(bytes + (b->addr[i] - base), b->len);

		parse_g(l, &g, &ret[i]);
	}
}

/* Of a range that cannot be read, some Gs may be readable. */
static int read_each(const struct process *proc, const struct layout *l, const struct g_batch *b,
		     size_t i, size_t to, struct go_g *ret)
{
	unsigned char bytes[STRUCT_MAX];
	int err = 0;

	for (; i < to && (!err || err == -EFAULT); i++) {
		err = process__read(proc, b->addr[i], bytes, b->len);
		if (!err)
			parse_gs(l, b, i, i + 1, bytes, ret);
	}
	return err == -EFAULT ? 0 : err;
}

static int read_batch(const struct process *proc, const struct layout *l, struct g_batch *b,
		      struct go_g *ret)
{
	unsigned char *bytes;
	size_t at = 0;
	int err;

	join(b);
	bytes = malloc(b->size);
	err = bytes ? process__read_ranges(proc, b->range, b->ranges, bytes, b->ok) : -ENOMEM;
	for (size_t i = 0; i < b->n && !err; i++)
		ret[i].ok = false;
	for (size_t i = 0; i < b->ranges && !err; at += b->range[i++].len) {
		if (b->ok[i])
			parse_gs(l, b, b->first[i], b->first[i + 1], bytes + at, ret);
		else if (b->first[i + 1] - b->first[i] > 1)
			err = read_each(proc, l, b, b->first[i], b->first[i + 1], ret);
	}
	free(bytes);
	return err;
}

int go_gs__read(const struct process *proc, const struct layout *l, const uint64_t *addr, size_t n,
		struct go_g *ret)
{
	const uint32_t offsets[] = {
		l->g_stack_lo,
		l->g_stack_hi,
		l->config.g_m,
		l->config.g_goid,
		l->config.g_startpc,
		l->config.g_status,
		l->config.g_waitreason,
		l->config.g_sched + l->config.gobuf_sp,
		l->config.g_sched + l->config.gobuf_pc,
		l->config.g_sched + l->config.gobuf_bp,
		l->config.g_parent_goid == GT_NO_OFFSET ? 0 : l->config.g_parent_goid,
		l->derives_syscalls ? syscall_offset(l, 2) : 0,
	};
	size_t len = end_of(offsets, sizeof(offsets) / sizeof(offsets[0]));
	int err = len <= STRUCT_MAX ? 0 : -EPROTO;

	for (size_t at = 0; at < n && !err; at += GS_BATCH) {
		struct g_batch b = { .addr = addr + at, .n = n - at, .len = len };

		if (b.n > GS_BATCH)
			b.n = GS_BATCH;
		err = read_batch(proc, l, &b, ret + at);
	}
	return err;
}

/* Reads the members of a struct that are at the n offsets to bytes, which ret refers to. */
static int read_members(const struct process *proc, uint64_t addr, const uint32_t *offsets,
			size_t n, unsigned char bytes[STRUCT_MAX], struct buf *ret)
{
	size_t len = end_of(offsets, n);

	*ret = buf__make(bytes, len);
	return len <= STRUCT_MAX ? process__read(proc, addr, bytes, len) : -EPROTO;
}

int go_m__read(const struct process *proc, const struct layout *l, uint64_t addr, struct go_m *ret)
{
	const uint32_t offsets[] = {
		l->m_g0,       l->m_procid,	 l->config.m_curg,
		l->config.m_p, l->config.m_oldp, l->m_alllink,
	};
	unsigned char bytes[STRUCT_MAX];
	struct buf b;
	int err =
		read_members(proc, addr, offsets, sizeof(offsets) / sizeof(offsets[0]), bytes, &b);

	if (err)
		return err;
	*ret = (struct go_m){
		.g0 = word(&b, l->m_g0),
		.procid = word(&b, l->m_procid),
		.curg = word(&b, l->config.m_curg),
		.p = word(&b, l->config.m_p),
		.oldp = word(&b, l->config.m_oldp),
		.alllink = word(&b, l->m_alllink),
	};
	return 0;
}

/* The capacity, not the length: Ps unused after GOMAXPROCS shrank are still referenced. */
int go_ps__addresses(const struct process *proc, const struct layout *l, uint64_t **ret,
		     size_t *ret_n)
{
	uint64_t slice[3];
	int err = process__read(proc, l->allp + proc->bias, slice, sizeof(slice));

	if (err)
		return err;
	if (!slice[1] || slice[1] > slice[2] || slice[2] > PS_MAX)
		return -EPROTO;
	err = process__read_words(proc, slice[0], slice[2], ret);
	if (!err)
		*ret_n = slice[2];
	return err;
}

int go_p__read(const struct process *proc, const struct layout *l, uint64_t addr, struct go_p *ret)
{
	const uint32_t offsets[] = { l->config.p_id, l->p_status, l->p_m };
	unsigned char bytes[STRUCT_MAX];
	struct buf b;
	int err =
		read_members(proc, addr, offsets, sizeof(offsets) / sizeof(offsets[0]), bytes, &b);

	if (err)
		return err;
	*ret = (struct go_p){
		.m = word(&b, l->p_m),
		.id = (uint32_t)word(&b, l->config.p_id),
		.status = (uint32_t)word(&b, l->p_status),
	};
	return 0;
}
