// SPDX-License-Identifier: GPL-2.0
/*
 * Target analysis from the file to the sites: see program.h. After it: capture/session.c.
 */
#include "target/program.h"

int program__open(struct program *ret, int fd, const char *name, struct error *err)
{
	struct program p = {};
	int rc;

	rc = elf_image__open(&p.elf, fd, name, err);
	if (!rc)
		rc = buildinfo__read(p.elf, &p.info, err);
	if (!rc)
		rc = layout__for_version(&p.info.version, &p.layout, err);
	if (!rc)
		rc = pclntab__open(&p.pclntab, p.elf, &p.info.version, err);
	if (!rc)
		rc = layout__read(p.elf, &p.info.version, &p.layout, err);
	if (!rc)
		rc = site_list__find(&p.sites, p.elf, p.pclntab, &p.layout, err);
	if (rc) {
		program__deinit(&p);
		return rc;
	}
	*ret = p;
	return 0;
}

void program__deinit(struct program *program)
{
	site_list__deinit(&program->sites);
	pclntab__destroy(program->pclntab);
	elf_image__destroy(program->elf);
	*program = (struct program){};
}
