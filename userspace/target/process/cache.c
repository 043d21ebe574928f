// SPDX-License-Identifier: GPL-2.0
/*
 * Serializes an analysis for the cache, and reads it back: see cache.h.
 *
 * Upstream: layout/layout.c, probe/site.c. Downstream: cache_folder.c stores the entries. An entry
 * is written and read by the same build of this program, which its first bytes identify, so the
 * format need not be stable. Little-endian, strings with their lengths:
 *
 *	magic, program, checksum of the rest (FNV-1a, against accidental damage)
 *	key: the file and the time of its last change (cache_key.c)
 *	layout: its members from `config` to `warning`, as they are in memory
 *	code: start, length and bytes, for each probed function
 *	sites
 */
#include "target/process/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/buf.h"
#include "lib/log.h"
#include "target/arch/arch.h"
#include "target/process/cache_impl.h"

#define MAGIC	   "gotrace-bpf cache"
#define HEADER	   (sizeof(MAGIC) + 32 + 8)
#define CODE_MAX   (256u << 10) /* bytes of one function */

/*
 * The members of struct layout that layout__for_version() does not set, from `config` to `warning`:
 * numbers and strings, no pointers. An entry holds their bytes.
 */
#define FOUND_AT   offsetof(struct layout, config)
#define FOUND_SIZE (offsetof(struct layout, exit_is_tentative) - FOUND_AT)

static uint64_t hash(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

/* ---- names ---- */

/* Identifies this build of the program, so that entries of others are not used. */
static void name_tool(uint64_t ret[4])
{
	struct stat st = { 0 };

	stat("/proc/self/exe", &st);
	ret[0] = (uint64_t)st.st_size;
	ret[1] = st.st_ino;
	ret[2] = (uint64_t)st.st_mtim.tv_sec;
	ret[3] = (uint64_t)st.st_mtim.tv_nsec;
}

/* The file name of an entry. */
static void name_entry(const char *key, char file[32])
{
	snprintf(file, 32, "%016llx", (unsigned long long)hash(key, strlen(key)));
}

/* ---- out ---- */

struct out {
	unsigned char *data;
	size_t len; /* of CACHE_ENTRY_MAX bytes */
	bool full;
};

static void put(struct out *o, const void *data, size_t len)
{
	if (o->full || len > CACHE_ENTRY_MAX - o->len) {
		o->full = true;
		return;
	}
	memcpy(o->data + o->len, data, len);
	o->len += len;
}

static void put_number(struct out *o, uint64_t v)
{
	put(o, &v, sizeof(v));
}

static void put_text(struct out *o, const char *s)
{
	put_number(o, strlen(s));
	put(o, s, strlen(s));
}

static uint64_t start_of(const struct site *s)
{
	return s->addr - s->func_offset;
}

/*
 * Writes the code of each function once: from its start to the end of its last site's instruction.
 */
static void put_code(struct out *o, const struct elf_image *elf, const struct site_list *sites,
		     size_t first)
{
	uint64_t start = start_of(&sites->site[first]);
	size_t len = 0;
	unsigned char *code;

	for (size_t i = 0; i < sites->n; i++) {
		if (start_of(&sites->site[i]) != start)
			continue;
		if (i < first)
			return;
		if (sites->site[i].func_offset + ARCH_INSN_MAX > len)
			len = sites->site[i].func_offset + ARCH_INSN_MAX;
	}
	code = len <= CODE_MAX ? malloc(len) : NULL;
	if (code && (len = elf_image__read(elf, start, code, len)) > 0) {
		put_number(o, start);
		put_number(o, len);
		put(o, code, len);
	} else {
		o->full = true;
	}
	free(code);
}

static void put_site(struct out *o, const struct site *s)
{
	put_number(o, s->probe);
	put_number(o, s->cookie);
	put_number(o, s->addr);
	put_number(o, s->func_offset);
	put_number(o, s->cost);
	put_text(o, s->func);
	put_text(o, s->text);
	put_text(o, s->why);
}

static void put_header(struct out *o)
{
	uint64_t tool[4];

	name_tool(tool);
	put(o, MAGIC, sizeof(MAGIC));
	put(o, tool, sizeof(tool));
	put_number(o, 0); /* the checksum */
}

void cache__store(const struct elf_image *elf, const struct layout *layout,
		  const struct site_list *sites)
{
	char key[CACHE_KEY_MAX], file[32];
	struct out o = { 0 };
	uint64_t sum;

	if (sites->nmissing || !cache_key__make(elf, &layout->version, key))
		return;
	o.data = malloc(CACHE_ENTRY_MAX);
	if (!o.data)
		return;
	name_entry(key, file);
	put_header(&o);
	put_text(&o, key);
	put(&o, (const char *)layout + FOUND_AT, FOUND_SIZE);
	for (size_t i = 0; i < sites->n; i++)
		put_code(&o, elf, sites, i);
	put_number(&o, 0);
	put_number(&o, sites->n);
	for (size_t i = 0; i < sites->n; i++)
		put_site(&o, &sites->site[i]);
	if (!o.full) {
		sum = hash(o.data + HEADER, o.len - HEADER);
		memcpy(o.data + HEADER - sizeof(sum), &sum, sizeof(sum));
		cache_folder__write(file, o.data, o.len);
	}
	free(o.data);
}

/* ---- in ---- */

/* The functions of an entry; the program has the same code at these addresses. */
struct known {
	uint64_t start[SITES_MAX], len[SITES_MAX];
	size_t n;
};

/* Reads at most `size` - 1 bytes without NUL. */
static bool get_text(struct buf *b, char *ret, size_t size)
{
	uint64_t len = buf__u64(b);
	const char *p = len < size ? buf__take(b, (size_t)len) : NULL;

	if (!p || memchr(p, 0, (size_t)len)) {
		b->bad = true;
		return false;
	}
	memcpy(ret, p, (size_t)len);
	ret[len] = 0;
	return true;
}

static bool get_header(struct buf *b, const char *key)
{
	uint64_t tool[4];
	char theirs[CACHE_KEY_MAX];
	const void *magic = buf__take(b, sizeof(MAGIC)), *by = buf__take(b, sizeof(tool));
	uint64_t sum = buf__u64(b);

	name_tool(tool);
	return !b->bad && !memcmp(magic, MAGIC, sizeof(MAGIC)) && !memcmp(by, tool, sizeof(tool)) &&
	       sum == hash(b->pos, buf__left(b)) && get_text(b, theirs, sizeof(theirs)) &&
	       !strcmp(theirs, key);
}

static bool get_layout(struct buf *b, const struct go_version *version, struct layout *ret)
{
	const void *found = buf__take(b, FOUND_SIZE);

	if (!found || layout__for_version(version, ret, NULL))
		return false;
	memcpy((char *)ret + FOUND_AT, found, FOUND_SIZE);
	ret->source[sizeof(ret->source) - 1] = 0;
	ret->warning[sizeof(ret->warning) - 1] = 0;
	return true;
}

static bool is_code(const struct elf_image *elf, uint64_t start, const void *code, size_t len)
{
	unsigned char *here = malloc(len);
	bool same =
		here && elf_image__read(elf, start, here, len) == len && !memcmp(here, code, len);

	free(here);
	return same;
}

static bool get_code(struct buf *b, const struct elf_image *elf, struct known *ret)
{
	uint64_t start, len;
	const void *code;

	for (ret->n = 0; (start = buf__u64(b)) != 0; ret->n++) {
		len = buf__u64(b);
		if (b->bad || !len || len > CODE_MAX || ret->n == SITES_MAX)
			return false;
		code = buf__take(b, (size_t)len);
		if (!code || !is_code(elf, start, code, (size_t)len))
			return false;
		ret->start[ret->n] = start;
		ret->len[ret->n] = len;
	}
	return !b->bad;
}

static bool is_known(const struct known *known, const struct site *s)
{
	for (size_t i = 0; i < known->n; i++) {
		if (known->start[i] == start_of(s))
			return s->func_offset < known->len[i];
	}
	return false;
}

/* Reads a string into *texts, which has room for all strings of the entry. */
static const char *get_kept(struct buf *b, char **texts)
{
	char *text = *texts;

	if (!get_text(b, text, buf__left(b)))
		return NULL;
	*texts += strlen(text) + 1;
	return text;
}

static bool get_site(struct buf *b, const struct elf_image *elf, const struct known *known,
		     struct site *ret, char **texts)
{
	uint64_t probe = buf__u64(b), func_offset, cost;
	int64_t offset;

	ret->cookie = buf__u64(b);
	ret->addr = buf__u64(b);
	func_offset = buf__u64(b);
	cost = buf__u64(b);
	offset = elf_image__offset(elf, ret->addr);
	if (b->bad || probe >= GT_PROBE_COUNT || func_offset > CODE_MAX || cost > SITE_STEPPED ||
	    offset < 0)
		return false;
	ret->probe = (enum gt_probe)probe;
	ret->offset = (uint64_t)offset;
	ret->func_offset = (uint32_t)func_offset;
	ret->cost = (enum site_cost)cost;
	if (!is_known(known, ret) || !get_text(b, ret->func, sizeof(ret->func)) ||
	    !get_text(b, ret->text, sizeof(ret->text)))
		return false;
	ret->why = get_kept(b, texts);
	return ret->why;
}

static bool get_sites(struct buf *b, const struct elf_image *elf, const struct known *known,
		      struct site_list *ret, char **texts)
{
	uint64_t n = buf__u64(b);

	ret->site = n && n <= SITES_MAX ? calloc((size_t)n, sizeof(*ret->site)) : NULL;
	if (!ret->site)
		return false;
	for (; ret->n < n; ret->n++) {
		if (!get_site(b, elf, known, &ret->site[ret->n], texts))
			return false;
		ret->has[ret->site[ret->n].probe] = true;
	}
	return !b->bad && !buf__left(b);
}

static bool get_list(struct buf *b, const struct elf_image *elf, const struct known *known,
		     struct site_list *ret)
{
	char *texts = malloc(buf__left(b) + 1);

	*ret = (struct site_list){ .texts = texts };
	return texts && get_sites(b, elf, known, ret, &texts);
}

bool cache__load(const struct elf_image *elf, const struct go_version *version,
		 struct layout *ret_layout, struct site_list *ret_sites)
{
	char key[CACHE_KEY_MAX], file[32];
	struct site_list sites = { 0 };
	struct layout layout;
	struct known known;
	unsigned char *data;
	struct buf b;
	bool good;
	size_t len;

	if (!cache_key__make(elf, version, key))
		return false;
	name_entry(key, file);
	data = cache_folder__read(file, &len);
	if (!data)
		return false;
	b = buf__make(data, len);
	good = get_header(&b, key) && get_layout(&b, version, &layout) &&
	       get_code(&b, elf, &known) && get_list(&b, elf, &known, &sites);
	free(data);
	if (!good) {
		log__debug("the cached analysis of this program is invalid: analysing it again");
		site_list__deinit(&sites);
		return false;
	}
	*ret_layout = layout;
	*ret_sites = sites;
	return true;
}
