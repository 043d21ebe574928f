// SPDX-License-Identifier: GPL-2.0
/*
 * Reads Go's build information: the release that built the program selects all tables used later.
 *
 * Second step of target analysis. Upstream: elf/elf.c. Downstream: layout/layout.c. The format is
 * that of Go's debug/buildinfo: since 1.18 the strings follow the header; before, it pointed to
 * them. Programs without it are passed to build_version.c.
 */
#include "target/infer/buildinfo.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "target/infer/build_version.h"

#define MAGIC	    "\xff Go buildinf:"
#define MAGIC_SIZE  14
#define HEADER_SIZE 32
#define ALIGNMENT   16
#define FLAG_INLINE 0x2
#define FRAMING	    16	       /* bytes of sentinels around the module text */
#define SEARCH_MAX  (64 << 20) /* bytes; the blob is at the start of its section */

/*
 * Loads the section with the blob; old or externally linked programs have it at the start of .data.
 */
static unsigned char *load_data(const struct elf_image *elf, size_t *ret_size)
{
	static const char *const names[] = { ".go.buildinfo", ".data" };
	struct elf_section sec;
	unsigned char *data;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (elf_image__section(elf, names[i], &sec) && sec.size <= SEARCH_MAX) {
			data = elf_image__load(elf, &sec);
			*ret_size = sec.size;
			if (data)
				return data;
		}
	}
	/* Without section headers no other step would work either. */
	return NULL;
}

static bool find_blob(const unsigned char *data, size_t size, size_t *ret)
{
	for (size_t i = 0; i + HEADER_SIZE <= size; i += ALIGNMENT) {
		if (!memcmp(data + i, MAGIC, MAGIC_SIZE)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* Reads a string from the memory image, by the address of its Go string header. */
static char *read_pointed(const struct elf_image *elf, uint64_t header)
{
	uint64_t h[2];
	char *s;

	if (elf_image__read(elf, header, h, sizeof(h)) != sizeof(h) || h[1] > SEARCH_MAX)
		return NULL;
	s = calloc(1, h[1] + 1);
	if (s && elf_image__read(elf, h[0], s, h[1]) != h[1]) {
		free(s);
		s = NULL;
	}
	return s;
}

static char *read_inline(struct buf *b)
{
	uint64_t len = buf__uleb(b);
	const char *p = buf__take(b, len);

	return p ? strndup(p, len) : NULL;
}

/* Copies the value of a "build<TAB>key=value" line. */
static bool setting(const char *mod, const char *key, char *value, size_t size)
{
	char line[64];
	const char *p, *end;

	snprintf(line, sizeof(line), "\nbuild\t%s=", key);
	p = strstr(mod, line);
	if (!p)
		return false;
	p += strlen(line);
	end = strchrnul(p, '\n');
	snprintf(value, size, "%.*s", (int)(end - p < 4096 ? end - p : 4096), p);
	return true;
}

/* Whether `word` is in `text`, delimited by blanks, quotes, or a `=` before it as in all=-N. */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += len) {
		if ((p == text || strchr(" =\"'", p[-1])) && (!p[len] || strchr(" \"'", p[len])))
			return true;
	}
	return false;
}

static void read_settings(const char *mod, struct go_buildinfo *ret)
{
	char value[256];
	const char *p;

	if (strlen(mod) < 2 * FRAMING)
		return;
	mod += FRAMING;
	p = strstr(mod, "path\t");
	if (p == mod || (p && p[-1] == '\n')) {
		p += strlen("path\t");
		snprintf(ret->path, sizeof(ret->path), "%.*s", (int)strcspn(p, "\n"), p);
	}
	ret->cgo = setting(mod, "CGO_ENABLED", value, sizeof(value)) && !strcmp(value, "1");
	ret->race = setting(mod, "-race", value, sizeof(value)) && !strcmp(value, "true");
	ret->trimpath = setting(mod, "-trimpath", value, sizeof(value)) && !strcmp(value, "true");
	ret->unoptimized = setting(mod, "-gcflags", value, sizeof(value)) && has_word(value, "-N");
	ret->plugin = setting(mod, "-buildmode", value, sizeof(value)) && !strcmp(value, "plugin");
	ret->pgo = setting(mod, "-pgo", value, sizeof(value)) && value[0] && strcmp(value, "off");
}

static void read_blob(const struct elf_image *elf, struct buf *b, char **ret_version,
		      char **ret_mod)
{
	uint8_t ptr_size, flags;
	uint64_t version, mod;

	buf__skip(b, MAGIC_SIZE);
	ptr_size = buf__u8(b);
	flags = buf__u8(b);
	version = buf__u64(b);
	mod = buf__u64(b);
	if (flags & FLAG_INLINE) {
		*ret_version = read_inline(b);
		*ret_mod = read_inline(b);
	} else if (ptr_size == 8) {
		*ret_version = read_pointed(elf, version);
		*ret_mod = read_pointed(elf, mod);
	}
}

/* The caller frees both; NULL: there is none. */
static void load_texts(const struct elf_image *elf, char **ret_version, char **ret_mod)
{
	size_t size = 0, at;
	unsigned char *data = load_data(elf, &size);
	struct buf b;

	if (data && find_blob(data, size, &at)) {
		b = buf__make(data + at, size - at);
		read_blob(elf, &b, ret_version, ret_mod);
	}
	free(data);
}

/* Determines what kind of program this is if it has no build information. */
static int read_without(const struct elf_image *elf, struct go_version *ret, struct error *error)
{
	struct elf_section first;
	struct error why = { "" };
	int err;

	if (!elf_image__nth_section(elf, 0, &first))
		return error__set(error, -ENOENT,
				  elf_image__is_packed(elf) ?
					  "it is packed; if it is a Go program, it can be recorded "
					  "once it is unpacked (upx -d)" :
					  "its section headers were removed (as by sstrip); Go's "
					  "function table is found by them");
	err = build_version__find(elf, ret, &why);
	if (err == -ENOENT)
		return error__set(error, err, "not a Go program: %s", why.text);
	return err ? error__set(error, -ENOENT, "%s", why.text) : 0;
}

static int read_version(const struct elf_image *elf, const char *version, struct go_version *ret,
			struct error *error)
{
	const char *compiler = NULL;

	/* Only in these cases: reading all symbol names of a large program takes time. */
	if (!version || strstr(version, "gccgo"))
		compiler = build_version__other_compiler(elf);
	if (compiler)
		return error__set(error, -ENOTSUP,
				  "programs built with %s are not supported: only those "
				  "of the standard Go toolchain (go build) can be recorded",
				  compiler);
	if (!version)
		return read_without(elf, ret, error);
	if (!go_version__parse(version, ret))
		return error__set(error, -ENOENT,
				  "its Go build information contains no release (\"%.40s\"): "
				  "it was obfuscated, for example by garble; record a build that "
				  "is not obfuscated",
				  version);
	return 0;
}

int buildinfo__read(const struct elf_image *elf, struct go_buildinfo *ret, struct error *error)
{
	struct go_buildinfo info = { 0 };
	char *version = NULL, *mod = NULL;
	int err;

	load_texts(elf, &version, &mod);
	err = read_version(elf, version, &info.version, error);
	if (!err && mod)
		read_settings(mod, &info);
	if (!err)
		*ret = info;
	free(version);
	free(mod);
	return err;
}

/* ---- modules ---- */

/* Copies the version from its line, and says whether the next line replaces the module. */
static bool find_module(const char *mod, const char *module, char *version, size_t size,
			bool *ret_replaced)
{
	size_t len = strlen(module);

	for (const char *p = mod; (p = strstr(p, "\ndep\t"));) {
		const char *end;

		p += strlen("\ndep\t");
		if (strncmp(p, module, len) || p[len] != '\t')
			continue;
		p += len + 1;
		end = p + strcspn(p, "\n");
		*ret_replaced = !strncmp(end, "\n=>\t", 4);
		snprintf(version, size, "%.*s", (int)strcspn(p, "\t\n"), p);
		return true;
	}
	return false;
}

static int read_module(const char *mod, const char *module, char *version, size_t size,
		       struct error *error)
{
	bool is_replaced = false;

	if (!find_module(mod, module, version, size, &is_replaced))
		return error__set(error, -ENOENT, "its build information has no version of %s",
				  module);
	if (is_replaced)
		return error__set(error, -ENOTSUP, "its module %s was replaced when it was built",
				  module);
	return 0;
}

int buildinfo__module(const struct elf_image *elf, const char *module, char *version, size_t size,
		      struct error *error)
{
	char *release = NULL, *mod = NULL;
	int err;

	load_texts(elf, &release, &mod);
	err = read_module(mod ?: "", module, version, size, error);
	free(release);
	free(mod);
	return err;
}

int buildinfo__module_release(const struct elf_image *elf, const char *module,
			      struct go_version *ret, struct error *error)
{
	char version[sizeof(ret->text)];
	int err = buildinfo__module(elf, module, version, sizeof(version), error);

	if (!err && !go_version__parse_module(version, ret))
		return error__set(error, -ENOTSUP,
				  "the version %.40s of its module %s is not a release", version,
				  module);
	return err;
}
