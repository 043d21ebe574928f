/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of a traced process, in place of target/process/process.c and reader.c: the bytes of
 * the input at MEMORY, and lists of up to LIST_MAX entries at LIST_MS and LIST_PS. It may change
 * once while it is read, and the process may end after some reads.
 */
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory_input.h"
#include "target/process/process.h"
#include "target/process/reader.h"

static struct {
	struct memory_input in;
	uint8_t *bytes;
	size_t size;
	uint64_t reads, words; /* so far, and the words of 8 bytes in them */
	int end;	       /* the error after the last read: -ESRCH, or -EFAULT */
} memory;

/* False: the input is too short. The caller calls memory__end(). */
static inline bool memory__begin(const uint8_t **data, size_t *size)
{
	if (*size < sizeof(memory.in))
		return false;
	memcpy(&memory.in, *data, sizeof(memory.in));
	memory.end = -ESRCH;
	memory.in.ms %= LIST_MAX;
	memory.in.ps %= LIST_MAX;
	memory.in.reads %= READS_MAX;
	memory.size = *size - sizeof(memory.in);
	memory.bytes = malloc(memory.size + 1);
	if (!memory.bytes)
		abort();
	memcpy(memory.bytes, *data + sizeof(memory.in), memory.size);
	return true;
}

static inline void memory__end(void)
{
	free(memory.bytes);
	memory.bytes = NULL;
}

static inline void memory__count(void)
{
	memory.reads = memory.words = 0;
}

/* Whole words of a list; `at` is relative to it. */
static inline int read_list(char *to, uint64_t at, size_t len, bool is_ms)
{
	if (at % 8)
		return -EFAULT;
	for (; len >= 8; at += 8, to += 8, len -= 8) {
		uint64_t block = at / LIST_BLOCK + 1, word = 0;

		if (!is_ms)
			word = memory.in.p;
		else if (at % LIST_BLOCK / 8 == LIST_LINK && block < memory.in.ms)
			word = LIST_MS + block * LIST_BLOCK;
		memcpy(to, &word, sizeof(word));
	}
	memset(to, 0, len);
	return 0;
}

static inline bool is_in(uint64_t addr, size_t len, uint64_t from, uint64_t size)
{
	return addr >= from && addr - from <= size && len <= size - (addr - from);
}

int process__read(const struct process *proc, uint64_t addr, void *buf, size_t len)
{
	memory.reads++;
	memory.words += (len + 7) / 8;
	if (memory.reads > (memory.in.reads ? memory.in.reads : READS_MAX))
		return memory.end;
	if (memory.reads == memory.in.after && memory.size >= 8)
		memcpy(memory.bytes + memory.in.at % (memory.size - 7), &memory.in.value, 8);
	if (is_in(addr, len, MEMORY, memory.size))
		memcpy(buf, memory.bytes + (addr - MEMORY), len);
	else if (is_in(addr, len, LIST_MS, (uint64_t)memory.in.ms * LIST_BLOCK))
		return read_list(buf, addr - LIST_MS, len, true);
	else if (is_in(addr, len, LIST_PS, (uint64_t)memory.in.ps * 8))
		return read_list(buf, addr - LIST_PS, len, false);
	else
		return -EFAULT;
	return 0;
}

int process__read_many(const struct process *proc, const uint64_t *addr, size_t n, void *buf,
		       size_t len, bool *ok)
{
	for (size_t i = 0; i < n; i++) {
		int err = process__read(proc, addr[i], (char *)buf + i * len, len);

		ok[i] = !err;
		if (err && err != -EFAULT)
			return err;
	}
	return 0;
}

int process__read_ranges(const struct process *proc, const struct process_range *range, size_t n,
			 void *buf, bool *ok)
{
	char *to = buf;

	for (size_t i = 0; i < n; to += range[i++].len) {
		int err = process__read(proc, range[i].addr, to, range[i].len);

		ok[i] = !err;
		if (err && err != -EFAULT)
			return err;
	}
	return 0;
}

bool process__alive(const struct process *proc)
{
	return memory.reads <= (memory.in.reads ? memory.in.reads : READS_MAX);
}

/* In this thread: no read blocks. */
int reader__run(reader_fn fn, void *ctx, size_t size, int (*between)(void *), void *between_ctx)
{
	int err = fn(ctx);

	return between && between(between_ctx) ? -EINTR : err;
}

int reader__blocked(int err, pid_t pid, struct error *error)
{
	return err;
}

#endif
