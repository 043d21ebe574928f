// SPDX-License-Identifier: GPL-2.0
/*
 * Where the members of a library's structs are that a preset reads: see presets_impl.h.
 *
 * Members have moved in patch releases (response.status in Go 1.26.11), so a release later than the
 * examined ones requires DWARF. Upstream: layout/layout_dwarf.c. Downstream: presets.c.
 */
#include <errno.h>
#include <string.h>

#include "lib/log.h"
#include "target/infer/buildinfo.h"
#include "target/infer/offsets.h"
#include "target/layout/layout_dwarf.h"
#include "target/probe/presets_impl.h"

const unsigned int preset_latest_go[] = {
	RELEASE(20, 14), RELEASE(21, 13), RELEASE(22, 12),
	RELEASE(23, 12), RELEASE(24, 13), RELEASE(25, 14),
	RELEASE(26, 11), RELEASE(27, 4),  0,
};

/* Whether the offsets of this release were examined: those of its minor release, up to one patch. */
static bool is_examined(const struct preset *preset, unsigned int release)
{
	if (preset->module)
		return true;
	for (const unsigned int *latest = preset->latest; *latest; latest++) {
		if (RELEASE_MINOR(*latest) == RELEASE_MINOR(release))
			return release <= *latest;
	}
	return false;
}

static void from_table(const struct preset *preset, unsigned int release,
		       uint32_t ret[PRESET_MEMBERS])
{
	for (size_t i = 0; i < preset->nmembers; i++) {
		const struct preset_member *m = &preset->member[i];

		if (release >= m->since && release <= m->until)
			ret[m->id] = m->offset;
	}
}

/* Those that the program's structs have; a struct that it lacks is used by none of its functions. */
static int from_dwarf(const struct preset *preset, const struct elf_image *elf, unsigned int minor,
		      uint32_t ret[PRESET_MEMBERS], struct error *error)
{
	struct dwarf_member wanted[DWARF_MEMBERS_MAX] = {};
	unsigned int id[DWARF_MEMBERS_MAX];
	uint32_t found[DWARF_MEMBERS_MAX];
	size_t n = 0;
	int err;

	for (size_t i = 0; i < preset->nmembers && n < DWARF_MEMBERS_MAX; i++) {
		const struct preset_member *m = &preset->member[i];

		if (minor < RELEASE_MINOR(m->since) || minor > RELEASE_MINOR(m->until))
			continue;
		wanted[n] = (struct dwarf_member){ m->type, m->name };
		id[n++] = m->id;
	}
	err = layout_dwarf__members(elf, wanted, n, found, error);
	for (size_t i = 0; i < n && !err; i++) {
		if (found[i] != OFFSET_UNKNOWN)
			ret[id[i]] = found[i] == OFFSET_ABSENT ? GT_NO_OFFSET : found[i];
	}
	return err;
}

/* Whether structs of other modules, whose versions are dates, are the examined ones. */
static int check_structs(const struct preset *preset, const struct elf_image *elf,
			 struct error *error)
{
	size_t prefix = strlen("v0.0.0-");
	char version[64];
	int err = 0;

	for (const char *const *module = preset->structs_of; module && *module; module++) {
		struct error why = {};

		err = buildinfo__module(elf, *module, version, sizeof(version), &why);
		if (!err &&
		    (strncmp(version, preset->structs_latest, prefix) ||
		     strncmp(version, preset->structs_latest, strlen(preset->structs_latest)) > 0))
			return error__set(error, -ENOTSUP,
					  "its %s %s is later than those whose structs were "
					  "examined",
					  *module, version);
		if (err != -ENOENT)
			return err ? error__set(error, err, "%s", why.text) : 0;
	}
	return err ? error__set(error, -ENOTSUP, "its build information has no version of %s",
				preset->structs_of[0]) :
		     0;
}

int preset__offsets(const struct preset *preset, const struct elf_image *elf,
		    const struct go_version *version, uint32_t ret[PRESET_MEMBERS],
		    struct error *error)
{
	unsigned int release = RELEASE(version->minor, version->patch);
	struct error why = {};

	for (size_t i = 0; i < PRESET_MEMBERS; i++)
		ret[i] = GT_NO_OFFSET;
	if (!from_dwarf(preset, elf, version->minor, ret, &why))
		return 0;
	log__debug("offsets of a %s: the table of releases, since %s", preset->what, why.text);
	if (!is_examined(preset, release))
		return error__set(error, -ENOTSUP,
				  "its release %s is later than those whose structs were examined, "
				  "and %s",
				  version->text, why.text);
	from_table(preset, release, ret);
	return check_structs(preset, elf, error);
}
