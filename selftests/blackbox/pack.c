// SPDX-License-Identifier: GPL-2.0
/*
 * pack RAW SUBBUF SUBBUFS STACK_WORDS OUT.raw: writes what would be recovered if the records of a
 * raw file (record --save-input) had been written into a flight recorder buffer with such rings.
 * Prints begin and end of the window.
 *
 * Needs no kernel: image.c writes the session's memory, userspace/blackbox/blackbox_write.c makes
 * the checkpoint of the raw file's snapshots, blackbox_read.c reads both. For
 * selftests/check/blackbox.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blackbox/blackbox.h"
#include "lib/error.h"
#include "lib/map.h"
#include "image.h"

struct pack {
	struct image im;
	struct map stack; /* low half of a hash to the copy of its record */
	struct map id;	  /* the same to the id of its entry */
	struct raw_snapshots snapshots;
	uint64_t end;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "pack: %s\n", what);
	exit(1);
}

/* As the module does: once per epoch. */
static uint32_t intern(struct pack *p, uint32_t hash)
{
	uint32_t id = (uint32_t)(uintptr_t)map__get(&p->id, hash);
	uint32_t epoch = p->im.page->stack_state >> 32;
	const struct gt_stack *stack = map__get(&p->stack, hash);

	if (!stack || (id && GT_STACK_ID_EPOCH(id) == (epoch & 0xff)))
		return id;
	id = image__stack(&p->im, (const void *)stack->pc, stack->depth, stack->cut);
	if (map__put(&p->id, hash, (void *)(uintptr_t)id))
		die("no memory");
	return id;
}

static void keep_stack(struct pack *p, const struct gt_record *rec, size_t size)
{
	size_t len = size - sizeof(*rec);
	void *copy = malloc(len);

	if (!copy || map__put(&p->stack, rec->stack, memcpy(copy, rec + 1, len)))
		die("no memory");
}

/* Numbers are those of the rings; a stack's number occurs in no record now. */
static void take_records(struct pack *p, struct buf b, bool stacks)
{
	_Alignas(8) unsigned char bytes[2048];
	struct gt_record *rec = (void *)bytes;
	unsigned int ring = (unsigned int)buf__u64(&b);
	size_t size;

	while ((size = raw_record__size(&b)) && size <= sizeof(bytes)) {
		memcpy(bytes, buf__take(&b, size), size);
		if (!gt_record_is_whole(rec, size))
			die("a broken record");
		if ((rec->kind == GT_STACK) != stacks)
			continue;
		if (stacks) {
			keep_stack(p, rec, size);
			continue;
		}
		if (rec->stack)
			rec->stack = intern(p, rec->stack);
		if (ring >= p->im.page->rings || !image__emit(&p->im, ring, rec, size, NULL))
			die("a record has no room");
	}
}

static void take_all(struct pack *p, struct buf file, bool stacks)
{
	struct raw_chunk chunk;

	while (buf__left(&file) && raw_chunk__next(&file, &chunk)) {
		if (chunk.type == RAW_RECORDS)
			take_records(p, chunk.data, stacks);
		else if (chunk.type == RAW_SNAPSHOT && !stacks)
			raw_snapshots__add(&p->snapshots, &chunk.data);
		else if (chunk.type == RAW_END)
			p->end = buf__u64(&chunk.data);
	}
}

static struct buf read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t size = 0, n;
	char *data = NULL;

	if (!file)
		die(path);
	do {
		data = realloc(data, size + (1 << 24));
		if (!data)
			die("no memory");
		n = fread(data + size, 1, 1 << 24, file);
		size += n;
	} while (n);
	fclose(file);
	return buf__make(data, size);
}

int main(int argc, char **argv)
{
	struct symbolizer symbolizer;
	struct blackbox_image image = {};
	struct blackbox_writer *w;
	struct blackbox_facts facts;
	struct pack p = {};
	struct rawfile *raw;
	struct replay *r;
	struct buf file;
	struct error err = {};
	const void *data;
	size_t size;
	FILE *out;

	if (argc != 6 || replay__open(&r, argv[1], &err))
		die(argc == 6 ? err.text : "RAW SUBBUF SUBBUFS STACK_WORDS OUT.raw");
	file = read_all(argv[1]);
	buf__skip(&file, sizeof(struct raw_header));
	if (!image__create(&p.im, 8, (uint32_t)atol(argv[2]), (uint32_t)atol(argv[3]),
			   (uint32_t)atol(argv[4]), replay__header(r)->t0))
		die("no memory");
	p.im.page->wall = replay__header(r)->wall_ns;
	take_all(&p, file, true);
	take_all(&p, file, false);
	p.im.page->frozen = p.end;
	replay__symbolizer(r, &symbolizer);
	if (blackbox_writer__create(&w, replay__header(r), &symbolizer) ||
	    blackbox_writer__make(w, p.im.memory, p.im.bytes, &p.snapshots.snap[0],
				  &p.snapshots.snap[1], &image.checkpoint[0].data,
				  &image.checkpoint[0].bytes))
		die("no checkpoint");
	image.memory = p.im.memory;
	image.bytes = p.im.bytes;
	if (blackbox__read(&image, &symbolizer, &raw, &facts, &err))
		die(err.text);
	data = rawfile__bytes(raw, &size);
	out = fopen(argv[5], "w");
	if (!out || fwrite(data, 1, size, out) != size || fclose(out))
		die(strerror(errno));
	printf("%llu %llu\n", (unsigned long long)facts.t0, (unsigned long long)facts.t1);
	fprintf(stderr, "%llu records, %llu stacks, %llu gone%s\n",
		(unsigned long long)facts.records, (unsigned long long)facts.stacks,
		(unsigned long long)facts.stacks_gone,
		facts.stale ? ", the snapshots are older" : "");
	return 0;
}
