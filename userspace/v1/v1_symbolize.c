// SPDX-License-Identifier: GPL-2.0
/*
 * Symbolizes the PCs of Go 1.5 and 1.6 traces, which contain no names, with the executable of the
 * target.
 *
 * Upstream: v1_parse.c, for each frame of a stack. Downstream: target/elf. Until Go 1.15 the
 * function table, section .gopclntab, has its own format (magic 0xfffffffb, "Go 1.2 Runtime Symbol
 * Information"); target/symbols/pclntab.c reads those of 1.18 and later. On amd64:
 *
 *     header	u32 magic, u16 0, u8 quantum, u8 pointer size, u64 number of functions
 *     functions	{u64 entry, u64 offset of the record} each; then u64 end of the last
 *     files	u32 offset of: u32 number, u32 offset of a file's name each, from 1 on
 *     record	u64 entry, u32 offset of the name, 12 bytes, u32 file table, u32 line table
 *
 * Offsets are relative to the header. File and line tables are pairs of LEB128: the zigzag
 * difference to the previous value, and the number of code bytes for which the new value holds.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/buf.h"
#include "target/elf/elf.h"
#include "v1/v1_impl.h"

#define MAGIC	    0xfffffffbu
#define HEADER_SIZE 16
#define FUNC_SIZE   16	       /* per function in the list */
#define STEPS_MAX   (1u << 30) /* limit for all table steps: seconds, in a crafted table */

struct v1_symbols {
	unsigned char *data;
	struct buf tab; /* the whole section */
	uint64_t nfunc;
	uint32_t files; /* offset of the file table */
	uint32_t steps;
};

static int load(struct v1_symbols *s, int fd, const char *path, struct error *error)
{
	struct elf_section section;
	struct elf_image *elf;
	int err = elf_image__open(&elf, fd, path, error);

	if (err)
		return err;
	if (elf_image__section(elf, ".gopclntab", &section)) {
		s->data = elf_image__load(elf, &section);
		s->tab = buf__make(s->data, s->data ? section.size : 0);
	}
	elf_image__destroy(elf);
	return s->data ? 0 :
			 error__set(error, -ENOEXEC,
				    "%s: no function table (section .gopclntab): not the Go "
				    "program that was traced",
				    path);
}

static int read_header(struct v1_symbols *s, const char *path, struct error *error)
{
	struct buf b = s->tab;
	uint32_t magic = buf__u32(&b);
	uint64_t end;

	if (magic != MAGIC && !b.bad)
		return error__set(error, -ENOEXEC,
				  "%s: not built with Go 1.5 or 1.6, as the traced program was: "
				  "its function table has the magic number %#x",
				  path, magic);
	buf__skip(&b, 2);
	if (buf__u8(&b) != 1 || buf__u8(&b) != 8)
		b.bad = true;
	s->nfunc = buf__u64(&b);
	if (__builtin_mul_overflow(s->nfunc, FUNC_SIZE, &end) ||
	    __builtin_add_overflow(end, HEADER_SIZE + 8, &end) ||
	    !buf__u32_at(&s->tab, end, &s->files))
		b.bad = true;
	return b.bad ? error__set(error, -ENOEXEC, "%s: invalid function table", path) : 0;
}

int v1_symbols__open(struct v1_symbols **ret, const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), err;
	struct v1_symbols *s;

	if (fd < 0)
		return error__set(error, -errno, "%s: %s", path, strerror(errno));
	s = calloc(1, sizeof(*s));
	err = s ? load(s, fd, path, error) : -ENOMEM;
	close(fd);
	if (!err)
		err = read_header(s, path, error);
	if (err) {
		v1_symbols__destroy(s);
		return err;
	}
	*ret = s;
	return 0;
}

void v1_symbols__destroy(struct v1_symbols *s)
{
	if (!s)
		return;
	free(s->data);
	free(s);
}

/* Entry of function i; for nfunc, the end of the last one. */
static uint64_t entry_of(const struct v1_symbols *s, uint64_t i)
{
	uint64_t entry = 0;

	buf__u64_at(&s->tab, HEADER_SIZE + i * FUNC_SIZE, &entry);
	return entry;
}

/* The record of the function that contains `pc`; bad if there is none. */
static struct buf find_record(const struct v1_symbols *s, uint64_t pc)
{
	uint64_t low = 0, high = s->nfunc, middle, at = 0;
	struct buf record = s->tab;

	if (!s->nfunc || pc < entry_of(s, 0) || pc >= entry_of(s, s->nfunc))
		return (struct buf){ .bad = true };
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (entry_of(s, middle) <= pc)
			low = middle;
		else
			high = middle;
	}
	buf__u64_at(&s->tab, HEADER_SIZE + low * FUNC_SIZE + 8, &at);
	buf__seek(&record, at);
	return record;
}

/* The value for `pc` in the table at `at`, of a function that begins at `entry`; -1: none. */
static int32_t value_at(struct v1_symbols *s, uint32_t at, uint64_t entry, uint64_t pc)
{
	uint64_t end = entry, delta;
	struct buf b = s->tab;
	uint32_t value = UINT32_MAX;

	for (buf__seek(&b, at); s->steps < STEPS_MAX; s->steps++) {
		delta = buf__uleb(&b);
		if (!delta && end != entry)
			break;
		value += (uint32_t)(delta & 1 ? ~(delta >> 1) : delta >> 1);
		end += buf__uleb(&b);
		if (b.bad)
			break;
		if (pc < end)
			return (int32_t)value;
	}
	return -1;
}

/* Adds a name. Its id is its offset + 1, since these traces have no strings. */
static int add_name(const struct v1_symbols *s, struct dictionary *dictionary, uint32_t at,
		    uint64_t *ret)
{
	const char *name = buf__string_at(&s->tab, at);
	int err = 0;

	if (!name || !*name)
		return 0;
	if (!dictionary__has_string(dictionary, (uint64_t)at + 1))
		err = dictionary__add_string(dictionary, (uint64_t)at + 1, name, strlen(name));
	if (!err)
		*ret = (uint64_t)at + 1;
	return err;
}

int v1_symbols__frame(struct v1_symbols *s, struct dictionary *dictionary,
		      struct trace_frame *frame)
{
	uint64_t pc = frame->pc - 1, entry;
	struct buf record = find_record(s, pc);
	uint32_t name, files, lines, at;
	int32_t file, line;
	int err;

	entry = buf__u64(&record);
	name = buf__u32(&record);
	buf__skip(&record, 12);
	files = buf__u32(&record);
	lines = buf__u32(&record);
	if (record.bad)
		return 0;
	err = add_name(s, dictionary, name, &frame->func);
	file = value_at(s, files, entry, pc);
	line = value_at(s, lines, entry, pc);
	if (err || file < 1 || line < 0 ||
	    !buf__u32_at(&s->tab, s->files + 4 * (uint64_t)file, &at))
		return err;
	frame->line = (uint64_t)line;
	return add_name(s, dictionary, at, &frame->file);
}
