// SPDX-License-Identifier: GPL-2.0
/*
 * Prints what target/symbols/pclntab.c finds for each PC of a Go program, in two forms that other
 * tools print, too. selftests/check/symbols.sh compares.
 *
 *	frames FILE OFFSET SIZE STRIDE	as selftests/targets/symbols does (see its format);
 *					the numbers are those of its first line
 *	frames FILE <ADDRESSES		as `go tool addr2line FILE`: two lines per address, function
 *					and line of its innermost frame
 *
 * The environment variable FRAMES_GO has the release of obfuscated programs, which lack it.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/infer/buildinfo.h"
#include "target/symbols/pclntab_impl.h"

struct program {
	struct elf_image *elf;
	struct go_buildinfo info;
	struct pclntab *pt;
	struct symbolizer symbolizer;
};

static bool open_program(struct program *p, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *release = getenv("FRAMES_GO");

	if (fd < 0 || elf_image__open(&p->elf, fd, path, err) ||
	    (release ? !go_version__parse(release, &p->info.version) :
		       buildinfo__read(p->elf, &p->info, err)) ||
	    pclntab__open(&p->pt, p->elf, &p->info.version, err))
		return false;
	pclntab__symbolizer(p->pt, 0, &p->symbolizer);
	return true;
}

/* The runtime takes a name at offset 0 of the table for none. It is the first function's. */
static const char *as_runtime(const struct program *p, const char *name)
{
	return !strcmp(name, pclntab__name(p->pt, 0)) ? "" : name;
}

static size_t print_frame(const struct program *p, const struct sym_frame *f, char *to, size_t size)
{
	int n = snprintf(to, size, "%s %s:%" PRIu32, as_runtime(p, f->func), f->file, f->line);

	return n < 0 || (size_t)n >= size ? 0 : (size_t)n;
}

/*
 * As the runtime's expandFinalInlineFrame: wrappers are omitted, except for an innermost lone one.
 */
static void print_frames(const struct program *p, const struct sym_frame *f, int n, char *to,
			 size_t size)
{
	bool elides = false;
	size_t at = 0;

	to[0] = 0;
	for (int i = 0; i < n && at + 3 < size; i++) {
		bool hide = n > 1 && f[i].wrapper && !elides;

		elides = f[i].elides;
		if (hide)
			continue;
		if (at)
			at += (size_t)sprintf(to + at, "; ");
		at += print_frame(p, &f[i], to + at, size - at);
	}
}

static void describe(const struct program *p, uint64_t pc, char *to, size_t size)
{
	struct sym_frame f[SYM_INLINE_MAX];
	struct go_func here, next;
	int n;

	if (!pclntab__find(p->pt, pc, &here) || !pclntab__find(p->pt, pc + 1, &next)) {
		snprintf(to, size, "-");
		return;
	}
	n = p->symbolizer.frames(p->symbolizer.ctx, pc + 1, f);
	if (next.index != here.index)
		to = stpcpy(to, "last "), size -= 5;
	print_frames(p, f, n, to, size);
}

static bool ends_call(const unsigned char *text, uint64_t at, uint64_t size)
{
	int32_t rel;

	if (at < 4 || text[at - 4] != 0xe8)
		return false;
	memcpy(&rel, text + at - 3, sizeof(rel));
	return at + 1 + (uint64_t)(int64_t)rel < size;
}

static int print_text(const struct program *p, uint64_t offset, uint64_t size, uint64_t stride)
{
	unsigned char *text = calloc(1, size ? size : 1);
	char buf[2][16384] = { "", "" }, *last = buf[0], *now = buf[1], *tmp;
	uint64_t vaddr, text_offset, pcs = 0;

	/* The mapping ends with a page, the program's text before: the rest reads as zeroes. */
	if (!text || !stride || !elf_image__text_segment(p->elf, &vaddr, &text_offset))
		return 1;
	vaddr += offset - text_offset;
	elf_image__read(p->elf, vaddr, text, size);
	printf("text %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", offset, size, stride);
	for (uint64_t at = 0; at < size; at++) {
		if (at % stride && !ends_call(text, at, size))
			continue;
		pcs++;
		describe(p, vaddr + at, now, sizeof(buf[0]));
		if (strcmp(last, now)) {
			printf("%" PRIx64 " %s\n", offset + at, now);
			tmp = last;
			last = now;
			now = tmp;
		}
	}
	printf("%" PRIu64 " PCs\n", pcs);
	free(text);
	return 0;
}

static int print_lines(const struct program *p)
{
	struct sym_frame f[SYM_INLINE_MAX];
	struct go_func func;
	uint64_t pc;

	while (scanf("%" SCNx64, &pc) == 1) {
		if (!pclntab__find(p->pt, pc, &func) ||
		    p->symbolizer.frames(p->symbolizer.ctx, pc + 1, f) < 1)
			printf("?\n?:0\n");
		else
			printf("%s\n%s:%" PRIu32 "\n", func.name, f[0].file, f[0].line);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct program p = { 0 };
	struct error err = { "" };

	if (argc != 2 && argc != 5) {
		fprintf(stderr, "usage: frames FILE [OFFSET SIZE STRIDE]\n");
		return 2;
	}
	if (!open_program(&p, argv[1], &err)) {
		fprintf(stderr, "frames: %s: %s\n", argv[1], err.text);
		return 1;
	}
	return argc == 2 ? print_lines(&p) :
			   print_text(&p, strtoull(argv[2], NULL, 16), strtoull(argv[3], NULL, 16),
				      strtoull(argv[4], NULL, 10));
}
