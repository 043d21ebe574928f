// SPDX-License-Identifier: GPL-2.0
/*
 * What a process claims that an earlier recording has left in it: mappings, an area of code, and
 * instructions. A patch that is accepted has the length of an instruction of ours, its old bytes are
 * the file's, and the jump that it replaces leads into the area, behind its description. Looking for
 * them takes at most STEPS_SITE reads per site, and STEPS_MAPPING steps per mapping.
 *
 * Input: 8 bytes, an address; GT_INLINE_JUMP bytes each of the file and of memory; a byte whose bits
 * select mappings; the area.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gotrace/inline.h"
#include "inline/areas.h"
#include "inline/leftover.h"
#include "inline/mappings.h"
#include "inline/trampoline.h"

#define CODE	      0x7f0000000000ull
#define STEPS_SITE    3
#define STEPS_MAPPING 3

enum { HAS_FILE = 1, OF_OTHER_SIZE = 2, WITHOUT_FLAG = 4, WITHOUT_RINGS = 8, OTHER_CODE = 16 };

static struct {
	uint64_t addr;
	uint8_t file[GT_INLINE_JUMP], now[GT_INLINE_JUMP], mappings;
	struct gt_inline left;
	uint64_t steps;
} f;

/* ---- the process ---- */

int mappings__each(pid_t pid, int (*fn)(void *ctx, const struct mapping *mapping), void *ctx)
{
	const struct mapping all[] = {
		{ .start = CODE - 4096, .end = CODE, .perms = "rw-p" },
		{ .start = CODE,
		  .end = CODE + GT_INLINE_CODE + (f.mappings & OF_OTHER_SIZE ? 4096 : 0),
		  .perms = "r-xp",
		  .inode = f.mappings & HAS_FILE },
		{ .start = CODE + GT_INLINE_CODE,
		  .end = CODE + GT_INLINE_CODE + AREA_PAGE,
		  .perms = "r--p" },
		{ .start = f.left.rings, .end = f.left.rings + f.left.ring_bytes, .perms = "rw-s" },
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !ret; i++) {
		f.steps++;
		if ((i != 2 || !(f.mappings & WITHOUT_FLAG)) &&
		    (i != 3 || !(f.mappings & WITHOUT_RINGS)))
			ret = fn(ctx, &all[i]);
	}
	return ret;
}

int inject__read(int mem_fd, uint64_t addr, void *buf, size_t size)
{
	const struct trampoline_code ours = trampoline__code();

	f.steps++;
	memset(buf, f.mappings & OTHER_CODE, size);
	if (addr == CODE && size == sizeof(f.left))
		memcpy(buf, &f.left, size);
	else if (addr == CODE + TRAMPOLINE_AT && size == ours.size && !(f.mappings & OTHER_CODE))
		memcpy(buf, ours.bytes, size);
	else if (size == sizeof(f.now) && addr % 8 != 7)
		memcpy(buf, f.now, size);
	else
		return -EIO;
	return 0;
}

int64_t elf_image__offset(const struct elf_image *elf, uint64_t addr)
{
	f.steps++;
	return addr % 16 == 15 ? -1 : 0;
}

size_t elf_image__read(const struct elf_image *elf, uint64_t addr, void *buf, size_t len)
{
	f.steps++;
	if (len != sizeof(f.file))
		abort();
	memcpy(buf, f.file, len);
	return addr % 16 == 14 ? len - 1 : len;
}

/* ---- what is accepted ---- */

static void check(const struct page_patch *p, uint64_t addr, uint64_t code, const uint8_t *file)
{
	int32_t distance;
	uint64_t to;

	if (p->addr != addr || (p->len != GT_INLINE_JUMP && p->len != GT_INLINE_CALL) ||
	    memcmp(p->was, file, p->len))
		abort();
	memcpy(&distance, p->now + 1, sizeof(distance));
	to = addr + 5 + (uint64_t)(int64_t)distance;
	if (to < code + TRAMPOLINE_AT || to >= code + GT_INLINE_CODE)
		abort();
}

static void find(void)
{
	static const struct pages_target target = { .bias = 0x1000 };
	static struct leftover found;
	struct gt_inline in = f.left;
	int err;

	memset(&found, 0xff, sizeof(found));
	in.slots &= ~1u; /* another recorder's may be different */
	err = leftover__find(&found, &target, &in);
	if (err < 0 || err > 1 || f.steps > STEPS_SITE * GT_INLINE_SITES + STEPS_MAPPING * 8)
		abort();
	if (!err)
		return;
	if (found.code != CODE || found.flag != CODE + GT_INLINE_CODE ||
	    found.patches > f.left.nsites || f.left.nsites > GT_INLINE_SITES ||
	    f.steps > STEPS_SITE * f.left.nsites + STEPS_MAPPING * 8 ||
	    (found.fits && (f.mappings & (WITHOUT_FLAG | WITHOUT_RINGS | OTHER_CODE))))
		abort();
	for (size_t i = 0; i < found.patches; i++)
		check(&found.patch[i], found.patch[i].addr, CODE, f.file);
}

static bool take(const uint8_t **data, size_t *size, void *to, size_t len)
{
	if (*size < len)
		return false;
	memcpy(to, *data, len);
	*data += len;
	*size -= len;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct page_patch patch;

	memset(&f, 0, sizeof(f));
	if (!take(&data, &size, &f.addr, sizeof(f.addr)) ||
	    !take(&data, &size, f.file, sizeof(f.file)) ||
	    !take(&data, &size, f.now, sizeof(f.now)) || !take(&data, &size, &f.mappings, 1))
		return 0;
	if (leftover__patch(&patch, f.addr, CODE, f.file, f.now))
		check(&patch, f.addr, CODE, f.file);
	memcpy(&f.left, data, size < sizeof(f.left) ? size : sizeof(f.left));
	find();
	return 0;
}
