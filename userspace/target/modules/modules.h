/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plugins (-buildmode=plugin) of a process: their files, functions and probe sites.
 *
 * A plugin is a module of the runtime with code of its own, which includes copies of most functions of
 * the runtime. A goroutine that is in a plugin's function parks, starts others and enters system calls by
 * these copies. The runtime keeps its modules in a list that begins with runtime.firstmoduledata. They are
 * never removed. The list is memory of the target, so each of its entries is compared with the mappings
 * of the process and with the plugin's own file.
 */
#ifndef TARGET_MODULES_H
#define TARGET_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "target/elf/elf.h"
#include "target/layout/layout.h"
#include "target/probe/site.h"
#include "target/process/process.h"
#include "target/symbols/pclntab.h"
#include "target/symbols/symbolize.h"

#define MODULES_MAX 64 /* plugins of a process */
#define MODULES_BYTES_MAX                                                                          \
	(1ull << 30) /* of the files of those that are recorded, whose tables are kept */

struct go_module {
	uint64_t data;	      /* address of its runtime.moduledata */
	uint64_t text, etext; /* addresses of its code */
	uint64_t bias;	      /* run-time minus link-time address */
	char *path;	      /* of its file, for messages */
	char attach_path[64]; /* a link to its open file, whose descriptor is `fd` */
	int fd;		      /* -1: not open */
	struct elf_image *elf;
	struct pclntab *pclntab;      /* NULL: its functions are unknown */
	struct symbolizer symbolizer; /* with `pclntab` */
	struct site_list sites;
	bool has_sites;	  /* it can be recorded; false: `why` is the reason */
	bool is_recorded; /* its probes are attached; set by the recorder */
	struct error why;
};

struct go_modules {
	/* The i-th of the list after the program itself. Each is allocated, so its address is stable. */
	struct go_module *module[MODULES_MAX];
	size_t n;
	uint64_t bytes; /* of their files */
};

/* The analysed program of the process. */
struct go_program {
	const struct process *process;
	const struct pclntab *pclntab;
	const struct layout *layout;
	const struct site_list *sites;
};

/*
 * Adds the modules of the list that are not in *m yet, if the program can load plugins. Returns how
 * many were added; or a negative errno and a reason: the list is invalid or cannot be read, and nothing
 * was added.
 */
int modules__read(struct go_modules *m, const struct go_program *program, struct error *error);
void modules__deinit(struct go_modules *m);

/* The path of a module's file, and its name without the folder, or that it has none. */
const char *go_module__path(const struct go_module *module);
const char *go_module__name(const struct go_module *module);

/*
 * Wraps the symbolizer of the program: PCs of plugins are named by their own tables. *m may get more
 * modules later. The caller frees the result after *ret was used last. NULL: no memory.
 */
struct modules_symbols;
struct modules_symbols *modules__symbolizer(const struct go_modules *m,
					    const struct symbolizer *program,
					    struct symbolizer *ret);

#endif
