// SPDX-License-Identifier: GPL-2.0
/*
 * The cache of analyses. A program that changed after its entry was made, as one with a forged
 * build id may: sites of the entry must be valid, or the entry unused. A changed entry: read within
 * bounds, but trusted, as only its owner can change it. Replaces cache_folder.c and cache_key.c.
 *
 * Input: as in patched.h, for the program; or, with the highest bit of the first byte, for its
 * entry:
 *
 *	u16 where, u8 n, n & 15 bytes; n & 0x80: the entry ends there
 */
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "target/process/cache.h"
#include "target/process/cache_impl.h"
#include "patched.h"
#include "sites.h"

#define CHECKSUM 50 /* as in cache.c: after magic and program */
#define PROGRAMS 16

static struct {
	unsigned char *data;
	size_t len;
} entries[PROGRAMS], *stored, *offered;
static unsigned char changed[CACHE_ENTRY_MAX];
static size_t nchanged;

unsigned char *cache_folder__read(const char *name, size_t *ret_len)
{
	unsigned char *copy = malloc(nchanged + !nchanged);

	memcpy(copy, changed, nchanged);
	*ret_len = nchanged;
	return copy;
}

void cache_folder__write(const char *name, const void *data, size_t len)
{
	stored->data = malloc(len);
	stored->len = len;
	memcpy(stored->data, data, len);
}

/* Each change makes another file of the program; here it is the same one still. */
bool cache_key__make(const struct elf_image *elf, const struct go_version *version,
		     char ret[CACHE_KEY_MAX])
{
	const char *id = elf_image__any_build_id(elf);

	snprintf(ret, CACHE_KEY_MAX, "%s %s", version->text, id ? id : "-");
	return true;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	patched__init(PLACE_HEADERS | PLACE_BUILD | PLACE_PROBED | PLACE_MODULE);
	for (uint8_t i = 0; i < patched__programs(); i++) {
		const struct patched *p = patched__apply(&i, 1);
		struct site_list sites;

		stored = &entries[i];
		if (site_list__find(&sites, p->elf, p->pt, &p->layout, NULL))
			abort();
		cache__store(p->elf, &p->layout, &sites);
		if (!stored->data)
			abort();
		site_list__deinit(&sites);
		patched__undo();
	}
	return 0;
}

static void make_entry(struct buf *b)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	memcpy(changed, offered->data, nchanged = offered->len);
	while (!b->bad && buf__left(b) >= 3) {
		size_t at = buf__u16(b) % nchanged;
		uint8_t n = buf__u8(b);
		const unsigned char *p;

		if (n & 0x80) {
			nchanged = at;
			break;
		}
		p = buf__take(b, n & 15);
		if (p && at + (n & 15) <= nchanged)
			memcpy(changed + at, p, n & 15);
	}
	if (nchanged < CHECKSUM + 8)
		return;
	for (size_t i = CHECKSUM + 8; i < nchanged; i++)
		hash = (hash ^ changed[i]) * 0x100000001b3ull;
	memcpy(changed + CHECKSUM, &hash, sizeof(hash));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool of_entry = size && (data[0] & 0x80);
	uint8_t program = size ? data[0] & 0x7f : 0;
	const struct patched *p = patched__apply(of_entry ? &program : data, of_entry ? 1 : size);
	struct buf b = buf__make(data + 1, of_entry ? size - 1 : 0);
	struct site_list sites;
	struct layout layout;

	if (!p)
		return -1;
	offered = &entries[program % patched__programs()];
	make_entry(&b);
	if (cache__load(p->elf, &p->version, &layout, &sites)) {
		if (!of_entry)
			check_sites(p->elf, p->pt, &sites);
		site_list__deinit(&sites);
	} else if (size == 1) { /* as it was stored */
		abort();
	}
	patched__undo();
	return 0;
}
