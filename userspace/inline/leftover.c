// SPDX-License-Identifier: GPL-2.0
/* Implements leftover.h. */
#include "inline/leftover.h"

#include <string.h>

#include "inline/areas.h"
#include "inline/mappings.h"
#include "inline/trampoline.h"

#define CALL   0xe8
#define JUMP   0xe9
#define JBE    0x0f, 0x86
#define OPCODE 1 /* bytes of a call's or a jump's, before its distance */

struct search {
	int mem_fd;
	struct gt_inline in; /* the process's, read once */
	bool has_flag, has_rings;
};

bool leftover__is_sane(const struct gt_inline *left, uint64_t code)
{
	return left->magic[0] == GT_INLINE_MAGIC0 && left->magic[1] == GT_INLINE_MAGIC1 &&
	       left->code == code && left->code_bytes == GT_INLINE_CODE &&
	       left->flag == code + GT_INLINE_CODE && left->nsites <= GT_INLINE_SITES;
}

bool leftover__patch(struct page_patch *ret, uint64_t addr, uint64_t code,
		     const unsigned char file[GT_INLINE_JUMP],
		     const unsigned char now[GT_INLINE_JUMP])
{
	static const unsigned char jbe[] = { JBE };
	bool is_call = file[0] == CALL;
	int32_t distance;
	uint64_t to;

	if (!is_call && memcmp(file, jbe, sizeof(jbe)))
		return false;
	*ret = (struct page_patch){ .addr = addr,
				    .len = is_call ? GT_INLINE_CALL : GT_INLINE_JUMP };
	memcpy(ret->was, file, ret->len);
	memcpy(ret->now, now, ret->len);
	memcpy(&distance, now + OPCODE, sizeof(distance));
	to = addr + OPCODE + sizeof(distance) + (uint64_t)(int64_t)distance;
	return now[0] == (is_call ? CALL : JUMP) &&
	       to - (code + TRAMPOLINE_AT) < GT_INLINE_CODE - TRAMPOLINE_AT &&
	       (is_call || now[GT_INLINE_CALL] == file[GT_INLINE_CALL]);
}

static size_t find_patches(struct page_patch ret[GT_INLINE_SITES],
			   const struct pages_target *target, const struct gt_inline *left)
{
	unsigned char file[GT_INLINE_JUMP], now[GT_INLINE_JUMP];
	size_t n = 0;

	for (size_t i = 0; i < left->nsites; i++) {
		uint64_t addr = left->site[i].addr, linked = addr - target->bias;

		if (elf_image__offset(target->elf, linked) >= 0 &&
		    elf_image__read(target->elf, linked, file, sizeof(file)) == sizeof(file) &&
		    !inject__read(target->mem_fd, addr, now, sizeof(now)) &&
		    leftover__patch(&ret[n], addr, left->code, file, now))
			n++;
	}
	return n;
}

/* Looks for an area of code. A file system could delay the read of a mapping that has a file. */
static int look(void *ctx, const struct mapping *m)
{
	struct search *s = ctx;

	if (m->inode || m->end - m->start != GT_INLINE_CODE || strcmp(m->perms, "r-xp") ||
	    inject__read(s->mem_fd, m->start, &s->in, sizeof(s->in)))
		return 0;
	return leftover__is_sane(&s->in, m->start);
}

/* Looks for the areas that belong to the code: the flag and the rings. */
static int look_at_others(void *ctx, const struct mapping *m)
{
	struct search *s = ctx;

	if (m->start <= s->in.flag && m->end >= s->in.flag + AREA_PAGE && !strcmp(m->perms, "r--p"))
		s->has_flag = true;
	if (m->start == s->in.rings && m->end - m->start == s->in.ring_bytes &&
	    !strcmp(m->perms, "rw-s"))
		s->has_rings = true;
	return 0;
}

static bool fits(const struct search *s, const struct gt_inline *in)
{
	const struct trampoline_code ours = trampoline__code();
	unsigned char code[GT_INLINE_CODE];

	return s->has_flag && s->has_rings && s->in.slots == in->slots &&
	       s->in.nsites == in->nsites && s->in.stride == in->stride &&
	       s->in.ring_bytes == in->ring_bytes &&
	       !memcmp(&s->in.config, &in->config, sizeof(in->config)) &&
	       ours.size <= sizeof(code) - TRAMPOLINE_AT &&
	       !inject__read(s->mem_fd, s->in.code + TRAMPOLINE_AT, code, ours.size) &&
	       !memcmp(code, ours.bytes, ours.size);
}

int leftover__find(struct leftover *ret, const struct pages_target *target,
		   const struct gt_inline *in)
{
	struct search s = { .mem_fd = target->mem_fd };
	int err = mappings__each(target->pid, look, &s);

	if (err <= 0)
		return err;
	err = mappings__each(target->pid, look_at_others, &s);
	if (err < 0)
		return err;
	*ret = (struct leftover){ .code = s.in.code, .flag = s.in.flag, .rings = s.in.rings };
	ret->fits = fits(&s, in);
	ret->patches = find_patches(ret->patch, target, &s.in);
	return 1;
}
