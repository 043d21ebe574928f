// SPDX-License-Identifier: GPL-2.0
/*
 * An analysis as bytes, and back: see cache.h. cache_folder.c keeps them.
 *
 * An entry is written and read by one build of this tool: its first bytes name the build, so that
 * nothing here needs a format that lasts. Little-endian, texts with their lengths:
 *
 *	magic, tool, checksum of what follows (FNV-1a, against accidents)
 *	key: which file, and since when it has not changed (cache_key.c)
 *	layout: the members of FIELDS, as they are in memory
 *	code: start, length and bytes, for each probed function
 *	sites
 */
#include "target/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/buf.h"
#include "lib/log.h"
#include "target/cache_impl.h"

#define MAGIC	  "gotrace-bpf cache"
#define HEADER	  (sizeof(MAGIC) + 32 + 8)
#define SITES_MAX 128
#define CODE_MAX  (256u << 10) /* bytes of one function */
#define INSN_MAX  15	       /* bytes of an instruction */

/* What layout__for_version() does not know: numbers and texts, no pointers. */
#define FIELDS(X)                                                                                  \
	X(config)                                                                                  \
	X(g_stack_lo)                                                                              \
	X(g_stack_hi) X(g_atomicstatus) X(m_g0) X(m_procid) X(m_oldp) X(m_alllink) X(p_status)     \
		X(p_m) X(allglen) X(allgptr) X(allp) X(allm) X(gomaxprocs) X(source) X(warning)

#define FIELD(name) { offsetof(struct layout, name), sizeof(((struct layout *)0)->name) },
static const struct {
	size_t at, size;
} fields[] = { FIELDS(FIELD) };
#undef FIELD

#define NFIELDS (sizeof(fields) / sizeof(fields[0]))

static uint64_t hash(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

/* ---- names ---- */

/* This build of the tool, so that no other one's entries are taken for its own. */
static void name_tool(uint64_t ret[4])
{
	struct stat st = { 0 };

	stat("/proc/self/exe", &st);
	ret[0] = (uint64_t)st.st_size;
	ret[1] = st.st_ino;
	ret[2] = (uint64_t)st.st_mtim.tv_sec;
	ret[3] = (uint64_t)st.st_mtim.tv_nsec;
}

/* The name of an entry's file. */
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

/* Once for each function: from its start up to the end of its last site's instruction. */
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
		if (sites->site[i].func_offset + INSN_MAX > len)
			len = sites->site[i].func_offset + INSN_MAX;
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
	for (size_t i = 0; i < NFIELDS; i++)
		put(&o, (const char *)layout + fields[i].at, fields[i].size);
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

/* The functions of an entry, whose code this program has at the same places. */
struct known {
	uint64_t start[SITES_MAX], len[SITES_MAX];
	size_t n;
};

/* At most `size` - 1 bytes, and no NUL among them. */
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
	if (layout__for_version(version, ret, NULL))
		return false;
	for (size_t i = 0; i < NFIELDS; i++) {
		const void *p = buf__take(b, fields[i].size);

		if (p)
			memcpy((char *)ret + fields[i].at, p, fields[i].size);
	}
	ret->source[sizeof(ret->source) - 1] = 0;
	ret->warning[sizeof(ret->warning) - 1] = 0;
	return !b->bad;
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

/* A text that stays, in *texts, where there is room for each of the entry's. */
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
		log__debug("what was kept of this program's analysis does not fit: a new one");
		site_list__deinit(&sites);
		return false;
	}
	*ret_layout = layout;
	*ret_sites = sites;
	return true;
}
