// SPDX-License-Identifier: GPL-2.0
/*
 * Loads the beginning of a raw file (userspace/rawfile/rawfile.h) as a run that can be mutated,
 * with stacks cut to SIM_PCS; corrupts the bytes of raw files. Downstream: mutate.c.
 */
#include "raw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "rawfile/rawfile.h"
#include "target/elf/go_version.h"
#include "rng.h"

static void *read_file(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "rb");
	void *data = NULL;
	long size = 0;

	if (f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) > 0 && !fseek(f, 0, SEEK_SET))
		data = malloc(size);
	if (data && fread(data, size, 1, f) != 1) {
		free(data);
		data = NULL;
	}
	if (f)
		fclose(f);
	*ret_size = data ? size : 0;
	return data;
}

static int add_record(struct sim_run *run, unsigned int ring, struct buf *b)
{
	const struct gt_record *rec = buf__take(b, sizeof(*rec));
	int payload = rec ? gt_payload_size(rec->kind) : -1;
	const void *data = payload < 0 ? NULL : buf__take(b, payload);
	struct sim_entry *e;
	int tail;

	if (!data)
		return -EBADMSG;
	if (run->n == run->cap) {
		run->cap = run->cap ? run->cap * 2 : 1024;
		e = reallocarray(run->entry, run->cap, sizeof(*e));
		if (!e)
			return -ENOMEM;
		run->entry = e;
	}
	e = &run->entry[run->n++];
	memset(e, 0, sizeof(*e));
	e->at = rec->time;
	e->ring = ring;
	e->rec = *rec;
	memcpy(e->payload, data, payload);
	e->size = sizeof(*rec) + payload;
	tail = gt_tail_size(&e->rec);
	if (tail <= 0)
		return tail;
	data = buf__take(b, tail);
	if (!data)
		return -EBADMSG;
	/* a stack or a text: cut to the available size */
	if (rec->kind == GT_STACK && e->stack.depth > SIM_PCS)
		e->stack.depth = SIM_PCS;
	if (rec->kind == GT_TEXT && e->text.len > SIM_TEXT)
		e->text.len = SIM_TEXT;
	tail = gt_tail_size(&e->rec);
	memcpy(e->payload + payload, data, tail);
	e->size += tail;
	return 0;
}

static void *copy_array(struct buf *b, size_t n, size_t size)
{
	const void *from = buf__take(b, n * size);
	void *to = from ? malloc(n * size + 1) : NULL;

	if (to)
		memcpy(to, from, n * size);
	return to;
}

static void add_snapshot(struct sim_run *run, struct buf *b)
{
	struct snapshot *snap = buf__u32(b) ? &run->second : &run->first;

	if (!buf__u32(b) || snap->g) /* missing, or a second one */
		return;
	snap->time = buf__u64(b);
	snap->time_end = buf__u64(b);
	snap->procs = buf__u32(b);
	buf__u32(b);
	snap->ng = buf__u64(b);
	snap->nm = buf__u64(b);
	snap->np = buf__u64(b);
	snap->nstacks = buf__u64(b);
	snap->stacks_left_out = buf__u64(b);
	snap->g = copy_array(b, snap->ng, sizeof(*snap->g));
	snap->m = copy_array(b, snap->nm, sizeof(*snap->m));
	snap->p = copy_array(b, snap->np, sizeof(*snap->p));
	snap->stacks = copy_array(b, snap->nstacks, sizeof(*snap->stacks));
}

int raw__load(struct sim_run *ret, const char *path, size_t records, bool *ret_tentative)
{
	const struct raw_header *header;
	struct go_version version = {};
	struct buf file, data;
	size_t size;
	void *bytes = read_file(path, &size);
	uint64_t window_end = 0;
	uint32_t type, len;
	int err = 0;

	*ret = (struct sim_run){};
	file = buf__make(bytes, size);
	header = buf__take(&file, sizeof(*header));
	if (!header || memcmp(header->magic, RAW_MAGIC, 8)) {
		free(bytes);
		return -EINVAL;
	}
	go_version__parse(header->go_version, &version);
	*ret_tentative = go_version__since(&version, 26);
	ret->t0 = header->t0;
	while (!err && buf__left(&file) && ret->n < records) {
		type = buf__u32(&file);
		len = buf__u32(&file);
		data = buf__make(buf__take(&file, len), file.bad ? 0 : len);
		buf__skip(&file, -len & 7);
		if (type == RAW_SNAPSHOT)
			add_snapshot(ret, &data);
		if (type == RAW_END)
			window_end = buf__u64(&data);
		for (uint64_t ring = type == RAW_RECORDS ? buf__u64(&data) : 0;
		     !err && type == RAW_RECORDS && buf__left(&data);)
			err = add_record(ret, ring, &data);
	}
	for (size_t i = 0; !window_end && i < ret->n; i++)
		if (ret->entry[i].at > ret->t1)
			ret->t1 = ret->entry[i].at;
	if (window_end)
		ret->t1 = window_end;
	if (ret->t1 < ret->second.time_end)
		ret->t1 = ret->second.time_end;
	free(bytes);
	if (err)
		sim_run__deinit(ret);
	return err;
}

/* ---- bytes ---- */

struct bytes {
	unsigned char *at;
	size_t len, cap;
	uint64_t rng;
};

static size_t below(struct bytes *b, uint64_t n)
{
	return rng__below(&b->rng, n);
}

/* Counts, times and addresses are at multiples of 8, most sizes and types at multiples of 4. */
static void extreme_word(struct bytes *b)
{
	static const uint64_t values[] = {
		0, 1, 7, UINT64_MAX, 1ull << 63, 1ull << 32, 0xfffffff8
	};
	size_t size = below(b, 2) ? 8 : 4;

	if (b->len >= size)
		memcpy(b->at + below(b, b->len / size) * size, &values[below(b, 7)], size);
}

/* A piece of up to 4 KiB, or the end of the file; sometimes not at a word's boundary. */
static void piece(struct bytes *b, size_t *ret_from, size_t *ret_len)
{
	size_t grain = below(b, 4) ? 8 : 1;

	*ret_from = below(b, b->len / grain + 1) * grain;
	*ret_len = below(b, 4096 / grain) * grain;
	if (*ret_len > b->len - *ret_from)
		*ret_len = b->len - *ret_from;
}

static void break_once(struct bytes *b, char *text, size_t size)
{
	size_t from, len;

	piece(b, &from, &len);
	switch (below(b, 6)) {
	case 0:
		snprintf(text, size, "cut at %zu", from);
		b->len = from;
		break;
	case 1:
		snprintf(text, size, "%zu bytes at %zu removed", len, from);
		memmove(b->at + from, b->at + from + len, b->len - from - len);
		b->len -= len;
		break;
	case 2:
		snprintf(text, size, "%zu bytes at %zu twice", len, from);
		if (b->len + len > b->cap)
			break;
		memmove(b->at + from + len, b->at + from, b->len - from);
		b->len += len;
		break;
	case 3:
		snprintf(text, size, "an extreme word");
		extreme_word(b);
		break;
	default:
		snprintf(text, size, "changed bytes");
		for (size_t n = 1 + below(b, 20); n && b->len; n--)
			b->at[below(b, b->len)] = (unsigned char)rng__next(&b->rng);
	}
}

static int write_file(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "wb");
	int err = 0;

	if (!f)
		return -errno;
	if (size && fwrite(data, size, 1, f) != 1)
		err = -EIO;
	return fclose(f) ? -EIO : err;
}

int raw__break(const char *path, uint64_t seed, char *text, size_t size)
{
	struct bytes b = { .rng = seed };
	unsigned char *data = read_file(path, &b.len);
	size_t used = 0;
	int err;

	b.cap = 2 * b.len;
	b.at = data ? realloc(data, b.cap) : NULL;
	if (!b.at) {
		free(data);
		return -ENOMEM;
	}
	text[0] = 0;
	for (size_t n = 1 + below(&b, 3); n; n--) {
		char what[64];

		break_once(&b, what, sizeof(what));
		used += snprintf(text + used, size - used, "%s%s", used ? "; " : "", what);
	}
	err = write_file(path, b.at, b.len);
	free(b.at);
	return err;
}

bool raw__same_bytes(const char *a, const char *b)
{
	size_t na, nb;
	void *x = read_file(a, &na), *y = read_file(b, &nb);
	bool same = x && y && na == nb && !memcmp(x, y, na);

	free(x);
	free(y);
	return same;
}
