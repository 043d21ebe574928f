// SPDX-License-Identifier: GPL-2.0
/* Reads the runtime's list of modules, and analyses the file of each plugin: see modules.h. */
#include "target/modules/modules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/arch/arch.h"
#include "target/infer/buildinfo.h"
#include "target/process/mapped_file.h"
#include "target/process/reader.h"

#define MODULE_TEXT 176 /* offset of moduledata.text, which etext follows */

/* Offset of moduledata.next, its last member: runtime/symtab.go. Later releases are taken as the last. */
static unsigned int next_offset(const struct go_version *v)
{
	static const unsigned int at[] = { 544, 560, 584, 584, 576, 576, 576, 584, 560 };
	unsigned int first = 19, n = sizeof(at) / sizeof(at[0]);

	return v->minor < first ? at[0] : at[v->minor - first < n ? v->minor - first : n - 1];
}

/* ---- the list ---- */

struct entry {
	uint64_t data, text, etext;
};

struct listing {
	const struct process *proc;
	uint64_t first;	      /* address of the program's module data */
	unsigned int next_at; /* offset of the pointer to the next one */
	struct entry entry[MODULES_MAX];
	size_t n;
};

static bool is_listed(const struct listing *l, uint64_t data)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entry[i].data == data)
			return true;
	return data == l->first;
}

static bool is_sane(const struct entry *e)
{
	return !(e->data & 7) && e->data < ARCH_USER_MAX && e->text < e->etext &&
	       e->etext < ARCH_USER_MAX;
}

static int read_entry(const struct process *proc, uint64_t data, struct entry *ret)
{
	uint64_t text[2] = { 0 };
	int err = process__read(proc, data + MODULE_TEXT, text, sizeof(text));

	*ret = (struct entry){ data, text[0], text[1] };
	return err ? err : is_sane(ret) ? 0 : -EPROTO;
}

/* Each entry is read once. A longer list, or one that repeats itself, is invalid. */
static int read_list(void *ctx)
{
	struct listing *l = ctx;
	uint64_t data = l->first, next;
	int err;

	for (;;) {
		err = process__read(l->proc, data + l->next_at, &next, sizeof(next));
		if (err || !next)
			return err;
		if (l->n == MODULES_MAX || is_listed(l, next))
			return -EPROTO;
		err = read_entry(l->proc, next, &l->entry[l->n]);
		if (err)
			return err;
		l->n++;
		data = next;
	}
}

static int list(struct listing *l, struct error *error)
{
	int err = reader__run(read_list, l, sizeof(*l), NULL, NULL);

	if (err == -ETIMEDOUT || err == -EINTR)
		return reader__blocked(err, l->proc->pid, error);
	if (err)
		return error__set(error, err, "the runtime's list of modules %s",
				  err == -EPROTO || err == -EFAULT ? "is invalid" :
								     "cannot be read");
	return 0;
}

/* ---- the file of a plugin ---- */

/* Finds the executable mapping of a file that has all of the code. *line is what *ret refers to. */
static bool find_mapping(const struct process *proc, const struct entry *e, char **line,
			 struct mapped_file *ret)
{
	char path[64];
	size_t size = 0;
	bool found = false;
	FILE *f;

	*line = NULL;
	snprintf(path, sizeof(path), "/proc/%d/maps", proc->pid);
	f = fopen(path, "re");
	while (f && !found && getline(line, &size, f) > 0)
		found = mapped_file__parse(*line, ret) && ret->name[0] == '/' &&
			e->text >= ret->start && e->etext <= ret->end;
	if (f)
		fclose(f);
	return found;
}

static int open_file(struct go_module *m, const struct process *proc, const struct entry *e)
{
	struct mapped_file file;
	uint64_t vaddr, offset;
	char *line;
	int err;

	if (!find_mapping(proc, e, &line, &file)) {
		free(line);
		return error__set(&m->why, -EPROTO, "its code is not that of a mapped file");
	}
	m->path = strdup(file.name);
	m->fd = m->path ? mapped_file__open(proc, &file) : -1;
	free(line);
	if (m->fd < 0)
		return error__set(&m->why, -EACCES, "its file cannot be opened");
	snprintf(m->attach_path, sizeof(m->attach_path), "/proc/self/fd/%d", m->fd);
	err = elf_image__open(&m->elf, m->fd, m->path, &m->why);
	if (err)
		return err;
	if (!elf_image__text_segment(m->elf, &vaddr, &offset))
		return error__set(&m->why, -ENOEXEC, "it has no executable segment");
	m->bias = file.start - file.offset + offset - vaddr;
	return 0;
}

/*
 * The plugin loader refuses a plugin whose packages are not those of the program, so a difference is not a
 * valid plugin. Up to 1.20 plugins have no build information.
 */
static int check_version(struct go_module *m, const struct layout *layout)
{
	struct go_buildinfo info = {};
	struct error why = {};
	int err = buildinfo__read(m->elf, &info, &why);

	if (err == -ENOENT && !go_version__since(&layout->version, 21))
		return 0;
	if (err)
		return error__set(&m->why, err, "%s", why.text);
	if (strcmp(info.version.text, layout->version.text) != 0)
		return error__set(&m->why, -EPROTO, "it was built with %s, and the program with %s",
				  info.version.text, layout->version.text);
	return 0;
}

static int open_table(struct go_module *m, const struct layout *layout)
{
	struct pclntab_module file;
	int err = pclntab__open(&m->pclntab, m->elf, &layout->version, &m->why);

	if (err)
		return err;
	file = pclntab__module(m->pclntab);
	if (file.data + m->bias == m->data && file.text + m->bias == m->text &&
	    file.etext + m->bias == m->etext)
		return 0;
	pclntab__destroy(m->pclntab);
	m->pclntab = NULL;
	return error__set(&m->why, -EPROTO,
			  "the runtime's list of modules differs from the plugin's file");
}

/* The address of runtime.gcController, which plugins use, too; 0: unknown, or not needed. */
static uint64_t find_controller(const struct go_program *program)
{
	for (size_t i = 0; i < program->sites->n; i++) {
		const struct site *site = &program->sites->site[i];

		if (site->probe == GT_PROBE_HEAP_GOAL && GT_COOKIE_SITE(site->cookie))
			return GT_COOKIE_PLACE(site->cookie, site->addr) + program->process->bias;
	}
	return 0;
}

static int check_size(struct go_module *m, struct go_modules *all)
{
	uint64_t size = (uint64_t)elf_image__stat(m->elf)->st_size;

	if (size > MODULES_BYTES_MAX - all->bytes)
		return error__set(&m->why, -EFBIG,
				  "the files of the plugins have more than %llu MiB",
				  MODULES_BYTES_MAX >> 20);
	all->bytes += size;
	return 0;
}

static int analyse(struct go_module *m, struct go_modules *all, const struct go_program *program,
		   const struct entry *e)
{
	const struct layout *layout = program->layout;
	uint64_t controller = find_controller(program);
	int err = open_file(m, program->process, e);

	if (!err)
		err = check_size(m, all);
	if (!err)
		err = check_version(m, layout);
	if (!err)
		err = open_table(m, layout);
	if (err)
		return err;
	pclntab__symbolizer(m->pclntab, m->bias, &m->symbolizer);
	return site_list__find_in_plugin(&m->sites, m->elf, m->pclntab, layout,
					 controller ? controller - m->bias : 0, &m->why);
}

static void destroy(struct go_module *m)
{
	if (!m)
		return;
	site_list__deinit(&m->sites);
	pclntab__destroy(m->pclntab);
	elf_image__destroy(m->elf);
	if (m->fd >= 0)
		close(m->fd);
	free(m->path);
	free(m);
}

static int add(struct go_modules *all, const struct go_program *program, const struct entry *e)
{
	struct go_module *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->fd = -1;
	m->data = e->data;
	m->text = e->text;
	m->etext = e->etext;
	err = analyse(m, all, program, e);
	m->has_sites = !err;
	if (err)
		error__set(&m->why, err, "%s", strerror(-err));
	all->module[all->n++] = m;
	return 0;
}

static bool is_known(const struct go_modules *m, uint64_t data)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->module[i]->data == data)
			return true;
	return false;
}

/* Other programs have no plugins, and their function tables, of up to 90 MB, are not needed yet. */
static bool can_have_plugins(const struct site_list *sites)
{
	for (size_t i = 0; i < sites->nmissing; i++)
		if (sites->missing[i].probe == GT_PROBE_PLUGIN_MAPPED)
			return true;
	return sites->has[GT_PROBE_PLUGIN_MAPPED];
}

int modules__read(struct go_modules *m, const struct go_program *program, struct error *error)
{
	struct listing l = {
		.proc = program->process,
		.next_at = next_offset(&program->layout->version),
	};
	size_t before = m->n;
	int err;

	if (!can_have_plugins(program->sites))
		return 0;
	l.first = pclntab__module(program->pclntab).data;
	if (!l.first)
		return error__set(error, -EBADMSG, "its function table is corrupt");
	l.first += program->process->bias;
	err = list(&l, error);

	for (size_t i = 0; i < l.n && !err; i++) {
		if (is_known(m, l.entry[i].data))
			continue;
		if (m->n == MODULES_MAX)
			return error__set(error, -EPROTO, "it has more than %d plugins",
					  MODULES_MAX);
		err = add(m, program, &l.entry[i]);
	}
	return err ? err : (int)(m->n - before);
}

void modules__deinit(struct go_modules *m)
{
	for (size_t i = 0; i < m->n; i++)
		destroy(m->module[i]);
	m->n = 0;
	m->bytes = 0;
}

const char *go_module__path(const struct go_module *module)
{
	return module->path ? module->path : "a module without a file";
}

const char *go_module__name(const struct go_module *module)
{
	const char *path = go_module__path(module), *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- names ---- */

struct modules_symbols {
	const struct go_modules *modules;
	struct symbolizer program;
};

static const struct symbolizer *find_symbolizer(const struct modules_symbols *s, uint64_t pc)
{
	for (size_t i = 0; i < s->modules->n; i++) {
		const struct go_module *m = s->modules->module[i];

		if (m->pclntab && pc >= m->text && pc < m->etext)
			return &m->symbolizer;
	}
	return &s->program;
}

static int frames(void *ctx, uint64_t pc, struct sym_frame *ret)
{
	const struct symbolizer *s = find_symbolizer(ctx, pc - 1);

	return s->frames(s->ctx, pc, ret);
}

static int start(void *ctx, uint64_t startpc, struct sym_frame *ret)
{
	const struct symbolizer *s = find_symbolizer(ctx, startpc);

	return s->start(s->ctx, startpc, ret);
}

struct modules_symbols *modules__symbolizer(const struct go_modules *m,
					    const struct symbolizer *program,
					    struct symbolizer *ret)
{
	struct modules_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct modules_symbols){ m, *program };
	*ret = (struct symbolizer){ s, frames, start };
	return s;
}
