// SPDX-License-Identifier: GPL-2.0
/*
 * A flight recorder buffer as input of the fuzz target (selftests/fuzz/fuzz_blackbox.c):
 * overwritten rings, a stack, a record that was never committed.
 */
#include "seed.h"

#include <stdlib.h>
#include <string.h>

#include "blackbox/blackbox.h"
#include "image.h"

static int one_frame(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	*frame = (struct sym_frame){ .pc = pc, .func = "main.f", .file = "f.go", .line = 1 };
	return 1;
}

static void put(uint8_t **at, const void *data, size_t len)
{
	memcpy(*at, data, len);
	*at += len;
}

size_t blackbox_seed(unsigned int rings, unsigned int records, uint8_t *ret, size_t max)
{
	struct snapshot_g g[3] = { { .addr = 0x1000, .goid = 1, .startpc = 0x400, .status = 4 },
				   { .addr = 0x1100, .goid = 2, .m = 0x3000, .status = 2 },
				   { .addr = 0x1200, .goid = 3, .status = 1 } };
	struct snapshot_m m = { .addr = 0x3000, .curg = 0x1100, .p = 0x2000, .tid = 7 };
	struct snapshot_p p = { .addr = 0x2000, .m = 0x3000, .status = 1 };
	struct snapshot snap = { .time = 5100,
				 .time_end = 5200,
				 .procs = 1,
				 .g = g,
				 .m = &m,
				 .p = &p,
				 .ng = 3,
				 .nm = 1,
				 .np = 1 };
	static const unsigned char kinds[] = { GT_PARK,		GT_EXECUTE, GT_SYSCALL_ENTER,
					       GT_SYSCALL_EXIT, GT_READY,   GT_YIELD,
					       GT_P_STOP,	GT_P_START };
	const struct raw_header facts = { .t0 = 1000, .flags = RAW_STACKS, .go_version = "go1.25" };
	const struct symbolizer symbolizer = { NULL, one_frame, one_frame };
	struct blackbox_writer *w;
	struct image_slot held;
	const void *checkpoint;
	struct image im;
	uint8_t *at = ret;
	uint32_t id, sizes[2];
	size_t size;
	unsigned int i;

	if (!image__create(&im, rings, 512 / rings, 4, 64, 500) ||
	    blackbox_writer__create(&w, &facts, &symbolizer))
		exit(2);
	id = image__stack(&im, (uint64_t[]){ 0x401, 0x402 }, 2, false);
	for (i = 0; i < records; i++) {
		struct {
			struct gt_record rec;
			uint64_t payload[3];
		} full = { { .time = 1000 + i * 40,
			     .tid = 7 + i % 2,
			     .kind = kinds[i % 8],
			     .stack = id,
			     .object = 0x1000 + i % 3 * 0x100 },
			   { 1 + i % 3, 0, 0 } };

		image__emit(&im, i % rings, &full.rec,
			    sizeof(full.rec) + (size_t)gt_payload_size(full.rec.kind),
			    i + 20 == records ? &held : NULL);
	}
	im.page->frozen = 1000 + records * 40;
	if (blackbox_writer__make(w, im.memory, im.bytes, &snap, &snap, &checkpoint, &size) ||
	    sizeof(sizes) + 2 * size + im.bytes > max)
		exit(2);
	sizes[0] = (uint32_t)size;
	sizes[1] = records % 2 ? (uint32_t)size - 100 : 0;
	put(&at, sizes, sizeof(sizes));
	put(&at, checkpoint, sizes[0]);
	put(&at, checkpoint, sizes[1]);
	put(&at, im.memory, im.bytes);
	blackbox_writer__destroy(w);
	image__destroy(&im);
	return (size_t)(at - ret);
}
