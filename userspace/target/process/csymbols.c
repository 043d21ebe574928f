// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the file and the name of a PC outside of Go's text: see csymbols.h.
 *
 * Upstream: symbols/pclntab.c's symbolizer, which it wraps. Downstream: sequence/stacks.c. The
 * recorder lets it open the files of the process before it drops its privileges. Most recordings
 * have no such PC; then only the list of files is made.
 */
#include "target/process/csymbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/map.h"
#include "target/process/csymbols_impl.h"
#include "target/process/mapped_file.h"
#include "target/process/process.h"

#define MODULES_MAX 256
#define VDSO_MAX    (64 << 10)
#define PCS_MAX	    65536 /* a program can put any address of its C code on its stacks */

struct module {
	uint64_t start, end, offset; /* mapped addresses, and offset in the file */
	char *path;
	int fd;		       /* -1: could not be opened */
	bool tried;	       /* reading was tried: the following members are set */
	uint64_t bias;	       /* run-time minus link-time address */
	struct elf_image *elf; /* NULL: unreadable */
	struct cfuncs *funcs;
	struct cline_reader lines;
};

struct named_pc {
	char *func, *file;
	uint32_t line;
};

struct csymbols {
	struct symbolizer go;
	struct module *module;
	size_t n, cap;
	struct map pcs; /* struct named_pc by PC: a cache of PCS_MAX answers */
};

struct csymbols *csymbols__create(const struct symbolizer *go)
{
	struct csymbols *c = calloc(1, sizeof(*c));

	if (c)
		c->go = *go;
	return c;
}

static void forget_pcs(struct csymbols *c)
{
	void *value;

	for (size_t i = 0; map__next(&c->pcs, &i, &value);) {
		struct named_pc *named = value;

		free(named->func);
		free(named->file);
		free(named);
	}
	map__deinit(&c->pcs);
}

void csymbols__destroy(struct csymbols *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		struct module *m = &c->module[i];

		cline_reader__stop(&m->lines);
		cfuncs__destroy(m->funcs);
		elf_image__destroy(m->elf);
		if (m->fd >= 0)
			close(m->fd);
		free(m->path);
	}
	free(c->module);
	forget_pcs(c);
	free(c);
}

/* ---- the files ---- */

/* Our own vdso is the same as the target's: the kernel has one for all 64-bit processes. */
static int open_vdso(void)
{
	const unsigned char *vdso = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	long page = sysconf(_SC_PAGESIZE);
	int fd = vdso ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	/* Its length is not recorded anywhere: copies page by page until one is missing. */
	for (size_t at = 0; fd >= 0 && at < VDSO_MAX; at += (size_t)page) {
		if (write(fd, vdso + at, (size_t)page) != page)
			break;
	}
	return fd;
}

static void add_line(struct csymbols *c, const struct process *proc, char *line)
{
	struct module m = { .fd = -1, .lines = { .fd = -1 } };
	struct mapped_file file;

	if (!mapped_file__parse(line, &file))
		return;
	m.start = file.start;
	m.end = file.end;
	m.offset = file.offset;
	m.path = strdup(file.name);
	if (!m.path)
		return;
	if (m.path[0] == '/')
		m.fd = mapped_file__open(proc, &file);
	else if (!strcmp(m.path, "[vdso]"))
		m.fd = open_vdso();
	else
		m.path[0] = 0; /* no file, such as JIT code: treated as unmapped */
	if (m.path[0] && !array__grow(&c->module, c->n, &c->cap, sizeof(*c->module))) {
		c->module[c->n++] = m;
		return;
	}
	if (m.fd >= 0)
		close(m.fd);
	free(m.path);
}

void csymbols__add_modules(struct csymbols *c, const struct process *proc)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", proc->pid);
	f = fopen(path, "re");
	while (f && c && c->n < MODULES_MAX && getline(&line, &size, f) > 0)
		add_line(c, proc, line);
	free(line);
	if (f)
		fclose(f);
}

/* ---- a PC ---- */

static void read_module(struct module *m)
{
	struct elf_section sec;
	uint64_t vaddr, offset;

	m->tried = true;
	if (m->fd < 0 || elf_image__open(&m->elf, m->fd, m->path, NULL))
		return;
	if (!elf_image__text_segment(m->elf, &vaddr, &offset)) {
		elf_image__destroy(m->elf);
		m->elf = NULL;
		return;
	}
	m->bias = m->start - m->offset + offset - vaddr;
	m->funcs = cfuncs__create(m->elf);
	if (elf_image__section(m->elf, ".debug_line", &sec) ||
	    elf_image__section(m->elf, ".zdebug_line", &sec))
		cline_reader__start(&m->lines, m->fd);
}

/* "[libc.so.6]" */
static char *module_name(const struct module *m)
{
	const char *slash = strrchr(m->path, '/');
	char *name = NULL;

	if (m->path[0] == '[')
		return strdup(m->path);
	return asprintf(&name, "[%s]", slash ? slash + 1 : m->path) < 0 ? NULL : name;
}

static struct named_pc *name_pc(struct module *m, uint64_t pc)
{
	struct named_pc *named = calloc(1, sizeof(*named));
	struct cline line = { 0 };
	const char *name = NULL;
	size_t len;

	if (!m->tried)
		read_module(m);
	if (m->funcs)
		name = cfuncs__find(m->funcs, pc - m->bias, &len);
	if (m->elf)
		cline_reader__find(&m->lines, pc - m->bias, &line);
	if (!named)
		return NULL;
	named->func = name ? strndup(name, len) : module_name(m);
	named->file = strdup(line.line ? line.file : m->path);
	named->line = line.line;
	return named;
}

static struct module *find_module(const struct csymbols *c, uint64_t pc)
{
	for (size_t i = 0; i < c->n; i++) {
		if (pc >= c->module[i].start && pc < c->module[i].end)
			return &c->module[i];
	}
	return NULL;
}

static int frames(void *ctx, uint64_t pc, struct sym_frame *ret)
{
	struct csymbols *c = ctx;
	int n = c->go.frames(c->go.ctx, pc, ret);
	struct named_pc *named;
	struct module *m;

	if (n)
		return n;
	named = map__get(&c->pcs, pc);
	m = named ? NULL : find_module(c, pc - 1);
	if (m) {
		if (c->pcs.n >= PCS_MAX)
			forget_pcs(c);
		named = name_pc(m, pc - 1);
		if (named && (!named->func || !named->file || map__put(&c->pcs, pc, named))) {
			free(named->func);
			free(named->file);
			free(named);
			named = NULL;
		}
	}
	if (!named)
		return 0;
	*ret = (struct sym_frame){
		.pc = pc - 1,
		.func = named->func,
		.file = named->file,
		.line = named->line,
	};
	return 1;
}

/* A goroutine never starts in C. */
static int start(void *ctx, uint64_t startpc, struct sym_frame *ret)
{
	struct csymbols *c = ctx;

	return c->go.start(c->go.ctx, startpc, ret);
}

void csymbols__symbolizer(struct csymbols *c, struct symbolizer *ret)
{
	*ret = (struct symbolizer){ .ctx = c, .frames = frames, .start = start };
}
