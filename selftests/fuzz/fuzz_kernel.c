// SPDX-License-Identifier: GPL-2.0
/*
 * Arbitrary bytes as the kernel events of a generation. Three bytes precede each record: its kind, as
 * an index of `kinds`, and its length. The events read must be in order of time, and the same
 * after writing and reading them again.
 */
#include <stdlib.h>
#include <string.h>

#include "format/kernel.h"
#include "format/private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool so)
{
	if (!so)
		abort();
}

static int add_part(void *to, const void *part, size_t len)
{
	struct dictionary *dictionary = to;

	return dictionary__add_string(dictionary, dictionary__nstrings(dictionary) + 1, part, len);
}

static int add_record(void *to, enum private_kind kind, const void *data, size_t len)
{
	return private__parts(kind, data, len, add_part, to);
}

static void add_records(struct dictionary *dictionary, struct buf *b)
{
	static const enum private_kind kinds[] = { PRIVATE_THREADS, PRIVATE_KERNEL, PRIVATE_MACHINE,
						   PRIVATE_WAITS };
	enum private_kind kind;
	size_t len;

	while (buf__left(b) && !b->bad) {
		kind = kinds[buf__u8(b) % 4];
		len = buf__u16(b);
		if (len > buf__left(b))
			len = buf__left(b);
		if (!b->bad)
			require(!add_record(dictionary, kind, buf__take(b, len), len));
	}
}

static void require_same(const struct kernel_item *a, const struct kernel_item *b)
{
	require(a->time == b->time && a->tid == b->tid && a->kind == b->kind && a->why == b->why);
	require(a->sleep == b->sleep && a->before == b->before);
	require(a->interrupt == b->interrupt && a->cpu == b->cpu && a->other == b->other);
	require(a->other_pid == b->other_pid && a->number == b->number && a->value == b->value);
	/* Of one call a record may have several names, until it is written. */
	if (a->kind == KERNEL_SYS_ENTER || a->kind == KERNEL_SYS_EXIT)
		return;
	require(a->name.len == b->name.len);
	require(!a->name.len || !memcmp(a->name.data, b->name.data, a->name.len));
}

/* All of `r` into the threads and, if there is one, a writer. */
static void read_all(struct kernel_reader *r, struct kernel_writer *k)
{
	struct kernel_threads threads = {};
	struct kernel_thread thread;
	struct kernel_item item;
	uint64_t last = 0;

	while (kernel_reader__thread(r, &thread))
		kernel_threads__set(&threads, &thread);
	require(!kernel_writer__begin(k, UINT64_MAX, &threads));
	while (kernel_reader__item(r, &item)) {
		require(item.time >= last);
		last = item.time;
		kernel_threads__apply(&threads, &item);
		require(!kernel_writer__add(k, &item));
	}
	kernel_threads__lose_before(&threads, last);
	kernel_threads__forget_gone(&threads);
	kernel_threads__deinit(&threads);
}

static void compare(const struct dictionary *dictionary, const struct dictionary *again)
{
	struct kernel_reader *a = NULL, *b = NULL;
	struct kernel_item x, y;
	bool more;

	require(kernel_reader__open(&a, dictionary) == 1);
	if (kernel_reader__open(&b, again) == 1) {
		while ((more = kernel_reader__item(a, &x))) {
			require(kernel_reader__item(b, &y));
			require_same(&x, &y);
		}
		require(!kernel_reader__item(b, &y) && !kernel_reader__bad(b));
	} else {
		require(!kernel_reader__item(a, &x));
	}
	kernel_reader__close(a);
	kernel_reader__close(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = buf__make(data, size);
	struct kernel_writer *k = kernel_writer__create();
	struct dictionary dictionary, again;
	struct kernel_reader *r = NULL;

	dictionary__init(&dictionary);
	dictionary__init(&again);
	add_records(&dictionary, &b);
	if (kernel_reader__open(&r, &dictionary) > 0) {
		read_all(r, k);
		require(!kernel_writer__put(k, add_record, &again));
		compare(&dictionary, &again);
	}
	kernel_reader__close(r);
	kernel_writer__destroy(k);
	dictionary__deinit(&dictionary);
	dictionary__deinit(&again);
	return 0;
}
