// SPDX-License-Identifier: GPL-2.0
/*
 * See patched.h. The locations are found with the tested code, in our own unchanged programs, which
 * changes do not affect.
 */
#include "patched.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/buf.h"
#include "target/elf/elf.h"
#include "target/probe/site.h"
#include "target/symbols/pclntab_impl.h"

#define PROGRAMS     "build/fuzz/programs/*"
#define PROGRAMS_MAX 16
#define PLACES_MAX   4096
#define CHANGES_MAX  64
#define CHANGE_MAX   31
#define FUNCTIONS    24 /* further ones than those that are probed */

struct place {
	uint64_t offset; /* in the file */
	uint32_t len;
};

struct program {
	struct patched p;
	unsigned char *bytes;
	size_t size;
	struct place place[PLACES_MAX];
	unsigned int nplaces;
	bool cut; /* the file in memory is shorter now */
};

static struct program *programs[PROGRAMS_MAX];
static unsigned int nprograms;
static struct program *current;
static struct place changed[CHANGES_MAX];
static unsigned int nchanged;
static unsigned int wanted;

static void die(const char *path, const char *why)
{
	fprintf(stderr, "%s: %s\n", path, why);
	exit(1);
}

static void add(struct program *g, unsigned int kind, uint64_t offset, uint64_t len)
{
	if (!(wanted & kind) || offset >= g->size || g->nplaces == PLACES_MAX)
		return;
	if (len > g->size - offset)
		len = g->size - offset;
	if (len > UINT16_MAX)
		len = UINT16_MAX;
	if (len)
		g->place[g->nplaces++] = (struct place){ offset, (uint32_t)len };
}

/* What stands at a link-time address, if it is in the file. */
static void add_at(struct program *g, unsigned int kind, uint64_t addr, uint64_t len)
{
	struct elf_section s;

	for (size_t i = 0; elf_image__nth_section(g->p.elf, i, &s); i++) {
		if (s.in_file && s.addr && addr >= s.addr && addr - s.addr < s.size) {
			add(g, kind, s.offset + (addr - s.addr), len);
			return;
		}
	}
}

static void add_section(struct program *g, unsigned int kind, const char *name, uint64_t len)
{
	struct elf_section s;

	if (elf_image__section(g->p.elf, name, &s) && s.in_file)
		add(g, kind, s.offset, s.size < len ? s.size : len);
}

static void add_headers(struct program *g)
{
	uint64_t shoff;

	memcpy(&shoff, g->bytes + 40, sizeof(shoff));
	add(g, PLACE_HEADERS, 0, 64);
	add(g, PLACE_HEADERS, 64, 12 * 56);
	add(g, PLACE_HEADERS, shoff, 32 * 64);
	add_section(g, PLACE_HEADERS, ".shstrtab", 512);
	add_section(g, PLACE_BUILD, ".go.buildinfo", 512);
	add_section(g, PLACE_BUILD, ".note.go.buildid", 128);
	add_section(g, PLACE_BUILD, ".note.gnu.build-id", 64);
}

/* Module data begin with the table's address. */
static void add_module(struct program *g)
{
	static const char *const in[] = { ".go.module", ".noptrdata", ".data" };
	struct elf_section s;

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		const unsigned char *at;

		if (!elf_image__section(g->p.elf, in[i], &s) || !s.in_file)
			continue;
		at = memmem(g->bytes + s.offset, s.size, &g->p.pt->addr, 8);
		if (at)
			add(g, PLACE_MODULE, (uint64_t)(at - g->bytes), 400);
	}
	for (size_t i = 0; elf_image__nth_section(g->p.elf, i, &s); i++) {
		if (s.type == 4 && s.in_file) /* SHT_RELA */
			add(g, PLACE_MODULE, s.offset, 24 * 64);
	}
}

static void add_function(struct program *g, const struct go_func *func, unsigned int code)
{
	struct pclntab *pt = g->p.pt;
	uint64_t base = pt->addr, pcs = base + pt->at.pcs;
	struct func_info f;
	uint64_t tree;

	if (!pclntab__info(pt, func->index, &f))
		return;
	tree = pclntab__funcdata(pt, &f, FUNCDATA_INL_TREE);
	add_at(g, code, func->entry, func->end - func->entry);
	add_at(g, PLACE_TABLE, base + pt->at.funcs + 8ull * func->index, 16);
	add_at(g, PLACE_TABLE | PLACE_INLINING, base + f.record,
	       pt->header_size + 4ull * f.npcdata + 4ull * f.nfuncdata);
	add_at(g, PLACE_TABLE, base + pt->at.names + (uint32_t)f.name, strlen(func->name) + 1);
	add_at(g, PLACE_TABLE, pcs + f.pcfile, 32);
	add_at(g, PLACE_TABLE, pcs + f.pcln, 64);
	add_at(g, PLACE_TABLE, base + pt->at.cus + 4ull * f.cu, 32);
	if (!tree)
		return;
	add_at(g, PLACE_INLINING, pcs + pclntab__pcdata(pt, &f, PCDATA_INL_TREE), 64);
	add_at(g, PLACE_INLINING, tree, 256);
}

/* Functions that target/infer/calibrate*.c reads, and that are not all probed. */
/* clang-format off */
static const char *const read_from[] = {
	"runtime.(*gcControllerState).findRunnableGCWorker", "runtime.(*p).init",
	"runtime.GOMAXPROCS", "runtime.acquirem", "runtime.allgadd", "runtime.atomicAllG",
	"runtime.casGToWaiting", "runtime.casgstatus", "runtime.coroexit", "runtime.coroswitch",
	"runtime.coroswitch_m", "runtime.execute", "runtime.findRunnable", "runtime.flushmcache",
	"runtime.forEachG", "runtime.gcBgMarkWorker", "runtime.goexit0", "runtime.gopanic",
	"runtime.gopark", "runtime.mcall", "runtime.mcommoninit", "runtime.minit",
	"runtime.newproc.func1", "runtime.newproc1", "runtime.newstack", "runtime.oneNewExtraM",
	"runtime.procresize", "runtime.reentersyscall", "runtime.releasep",
	"runtime.releasepNoTrace", "runtime.rt0_go", "runtime.signalM", "runtime.wirep",
};
/* clang-format on */

/* The probed functions, those that offsets are read from, and others all over the program. */
static void add_functions(struct program *g)
{
	struct site_list sites;
	struct go_func f;
	struct error err;

	add_at(g, PLACE_TABLE, g->p.pt->addr, 72);
	if (site_list__find(&sites, g->p.elf, g->p.pt, &g->p.layout, &err))
		die(PROGRAMS, err.text);
	for (size_t i = 0; i < sites.n; i++) {
		if ((!i || strcmp(sites.site[i].func, sites.site[i - 1].func)) &&
		    pclntab__named(g->p.pt, sites.site[i].func, &f))
			add_function(g, &f, PLACE_PROBED);
	}
	site_list__deinit(&sites);
	for (size_t i = 0; i < sizeof(read_from) / sizeof(read_from[0]); i++) {
		if (pclntab__named(g->p.pt, read_from[i], &f))
			add_function(g, &f, PLACE_READ);
	}
	for (size_t i = 0; i < FUNCTIONS; i++) {
		if (pclntab__func(g->p.pt, i * g->p.pt->nfunc / FUNCTIONS, &f))
			add_function(g, &f, 0);
	}
}

/* Around each place in a section where a text stands. */
static void add_text(struct program *g, unsigned int kind, const char *section, const char *text,
		     uint64_t before, uint64_t len)
{
	const unsigned char *at, *end;
	struct elf_section s;

	if (!elf_image__section(g->p.elf, section, &s) || !s.in_file)
		return;
	at = g->bytes + s.offset;
	end = at + s.size;
	for (int i = 0; i < 8 && (at = memmem(at, (size_t)(end - at), text, strlen(text) + 1)); i++)
		add(g, kind, (uint64_t)(at++ - g->bytes) - before, len);
}

static void add_debug(struct program *g)
{
	static const char *const types[] = {
		"runtime", "runtime.g", "runtime.m", "runtime.p", "runtime.gobuf", "runtime.stack",
	};
	static const char *const globals[] = {
		"runtime.allgs",
		"runtime.allglen",
		"runtime.allp",
		"runtime.gomaxprocs",
	};

	add_section(g, PLACE_DWARF, ".debug_abbrev", 1024);
	add_section(g, PLACE_DWARF, ".debug_info", 256);
	add_section(g, PLACE_DWARF, ".debug_str", 64);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		add_text(g, PLACE_DWARF, ".debug_info", types[i], 32, i ? 2048 : 128);
	add_section(g, PLACE_SYMBOLS, ".symtab", 24 * 64);
	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++)
		add_text(g, PLACE_SYMBOLS, ".strtab", globals[i], 8, 32);
}

static void load_file(struct program *g, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(path, "cannot be read");
	g->size = (size_t)st.st_size;
	g->bytes = malloc(g->size);
	g->p.fd = memfd_create("program", MFD_CLOEXEC);
	if (!g->bytes || read(fd, g->bytes, g->size) != (ssize_t)g->size || g->p.fd < 0 ||
	    write(g->p.fd, g->bytes, g->size) != (ssize_t)g->size)
		die(path, "cannot be copied");
	close(fd);
}

static struct program *load(const char *path)
{
	struct program *g = calloc(1, sizeof(*g));
	struct go_buildinfo info;
	struct error err = {};

	load_file(g, path);
	if (elf_image__open(&g->p.elf, g->p.fd, path, &err) ||
	    buildinfo__read(g->p.elf, &info, &err) ||
	    layout__for_version(&info.version, &g->p.layout, &err) ||
	    pclntab__open(&g->p.pt, g->p.elf, &info.version, &err))
		die(path, err.text);
	g->p.version = info.version;
	layout__read(g->p.elf, g->p.pt, &info.version, NULL, &g->p.layout, NULL);
	add_headers(g);
	add_module(g);
	add_functions(g);
	add_debug(g);
	return g;
}

static void unload(struct program *g)
{
	pclntab__destroy(g->p.pt);
	elf_image__destroy(g->p.elf);
	close(g->p.fd);
	free(g->bytes);
	free(g);
}

void patched__init(unsigned int kinds)
{
	glob_t found;

	wanted = kinds;
	if (glob(PROGRAMS, 0, NULL, &found))
		die(PROGRAMS, "no program there: make fuzzers builds them");
	for (size_t i = 0; i < found.gl_pathc && nprograms < PROGRAMS_MAX; i++) {
		struct program *g = load(found.gl_pathv[i]);

		if (g->nplaces)
			programs[nprograms++] = g;
		else /* a stripped program has no DWARF */
			unload(g);
	}
	globfree(&found);
	if (!nprograms)
		die(PROGRAMS, "nothing in them is to be changed");
}

unsigned int patched__programs(void)
{
	return nprograms;
}

/* Reads a place and where in it. False: the input ends. */
static bool read_place(const struct program *g, struct buf *b, struct place *ret)
{
	unsigned int i = buf__u16(b) % g->nplaces;
	uint32_t where = buf__u16(b) % g->place[i].len;

	*ret = (struct place){ g->place[i].offset + where, g->place[i].len - where };
	return !b->bad;
}

static void write_back(struct program *g, uint64_t offset, const void *data, size_t len)
{
	if (pwrite(g->p.fd, data, len, (off_t)offset) != (ssize_t)len)
		abort();
}

static bool change(struct program *g, struct buf *b)
{
	struct place to, from;
	const unsigned char *p;
	uint8_t how;

	if (!read_place(g, b, &to))
		return false;
	how = buf__u8(b);
	if (b->bad)
		return false;
	if (how & 0x20) {
		g->cut = true;
		return !ftruncate(g->p.fd, (off_t)to.offset);
	}
	if (to.len > (how & CHANGE_MAX))
		to.len = how & CHANGE_MAX;
	if (how & 0x40) {
		if (!read_place(g, b, &from))
			return false;
		if (to.len > from.len)
			to.len = from.len;
		p = g->bytes + from.offset;
	} else {
		p = buf__take(b, to.len);
	}
	if (!p)
		return false;
	if (!g->cut) /* or the file would grow again, with a hole */
		write_back(g, to.offset, p, to.len);
	changed[nchanged++] = to;
	return true;
}

const struct patched *patched__apply(const uint8_t *data, size_t size)
{
	struct buf b = buf__make(data, size);

	if (!size)
		return NULL;
	current = programs[buf__u8(&b) % nprograms];
	nchanged = 0;
	while (nchanged < CHANGES_MAX && change(current, &b))
		;
	return &current->p;
}

void patched__undo(void)
{
	if (current->cut) {
		write_back(current, 0, current->bytes, current->size);
		current->cut = false;
	}
	for (unsigned int i = 0; i < nchanged; i++)
		write_back(current, changed[i].offset, current->bytes + changed[i].offset,
			   changed[i].len);
}
