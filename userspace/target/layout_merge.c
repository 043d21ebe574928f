// SPDX-License-Identifier: GPL-2.0
/*
 * Lets DWARF, machine code and the table of releases agree on the runtime's struct offsets.
 *
 * Between layout_dwarf.c, calibrate.c and offsets_table.c, which each fill a list by OFFSETS, and
 * layout.c, which gets one. A wrong offset makes nonsense of a trace, so two sources are better
 * than one, and a contradiction is a refusal; live.c asks the process itself in the end.
 */
#include "target/layout_merge.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "target/offsets_table.h"

#define ENOUGH (OFF_COUNT / 2)
#define REMEDY "build it without -ldflags=-w and -s, or get a newer gotrace-bpf"

static const struct {
	const char *type, *name;
	unsigned int since;
} members[OFF_COUNT] = {
#define MEMBER(id, type, name, old, renamed, since) { type, name, since },
	OFFSETS(MEMBER)
#undef MEMBER
};

struct merge {
	const struct go_version *version;
	const struct offsets *dwarf, *code;
	const struct offsets_row *row;	   /* the release's own; NULL: not in the table */
	const struct offsets_row *near[2]; /* then: its neighbours */
	const struct offsets_row *filled;  /* a neighbour that was needed */
	unsigned int code_knows;
};

static bool is_known(uint32_t offset)
{
	return offset != OFFSET_UNKNOWN;
}

/* "go1.26.8" and nothing else: no candidate, no development version, no experiment. */
static bool is_release(const char *text)
{
	return !strncmp(text, "go", 2) && !text[2 + strspn(text + 2, "0123456789.")];
}

static const char *row_name(const struct offsets_row *row, char *buf, size_t size)
{
	unsigned int patch = row->to;

	/* 1.20 and older had no ".0". */
	if (patch || row->minor > 20)
		snprintf(buf, size, "go1.%u.%u", row->minor, patch);
	else
		snprintf(buf, size, "go1.%u", row->minor);
	return buf;
}

/* The row that holds the release, or the rows on both sides of it, of the same minor release. */
static void find_rows(struct merge *m)
{
	const struct go_version *v = m->version;
	const struct offsets_row *row, *last = NULL;

	for (size_t i = 0; (row = offsets_table__row(i)); i++) {
		last = row;
		if (v->major != 1 || row->minor != v->minor)
			continue;
		if (v->patch >= row->from && v->patch <= row->to) {
			m->row = row;
			break;
		}
		if (row->to < v->patch)
			m->near[0] = row;
		else if (!m->near[1])
			m->near[1] = row;
	}
	if (m->row && !is_release(v->text)) {
		m->near[0] = m->row;
		m->near[1] = m->row = NULL;
	}
	if (!m->row && !m->near[0] && !m->near[1])
		m->near[0] = last;
}

static const char *value(uint32_t offset, char *buf, size_t size)
{
	if (offset == OFFSET_ABSENT)
		snprintf(buf, size, "no such member");
	else
		snprintf(buf, size, "offset %u", offset);
	return buf;
}

static int contradiction(const struct merge *m, size_t i, const char *name_a, uint32_t a,
			 const char *name_b, uint32_t b, struct error *err)
{
	char text_a[32], text_b[32];

	return error__set(err, -EPROTO,
			  "cannot trust the struct offsets of this %s program: for "
			  "%s.%s %s says %s, %s says %s",
			  m->version->text, members[i].type, members[i].name, name_a,
			  value(a, text_a, sizeof(text_a)), name_b,
			  value(b, text_b, sizeof(text_b)));
}

/* What all sources that know the member say. */
static int agree(const struct merge *m, size_t i, uint32_t *ret, struct error *err)
{
	const struct {
		const char *name;
		const uint32_t *at;
	} sources[] = {
		{ "its DWARF", m->dwarf ? m->dwarf->at : NULL },
		{ "its machine code", m->code ? m->code->at : NULL },
		{ "the table of releases", m->row ? m->row->at : NULL },
	};
	const char *first = NULL;

	*ret = OFFSET_UNKNOWN;
	for (size_t s = 0; s < sizeof(sources) / sizeof(sources[0]); s++) {
		uint32_t at = sources[s].at ? sources[s].at[i] : OFFSET_UNKNOWN;

		if (is_known(at) && first && at != *ret)
			return contradiction(m, i, first, *ret, sources[s].name, at, err);
		if (is_known(at) && !first) {
			first = sources[s].name;
			*ret = at;
		}
	}
	return 0;
}

/* Is the machine code what this release would have? Else, the first member where it is not. */
static bool is_near(const struct merge *m, const struct offsets_row *row, size_t *ret_member)
{
	for (size_t i = 0; i < OFF_COUNT; i++) {
		if (is_known(m->code->at[i]) && row->at[i] != m->code->at[i] &&
		    row->at[i] != OFFSET_ABSENT) {
			*ret_member = i;
			return false;
		}
	}
	return true;
}

static int no_neighbour(const struct merge *m, const struct offsets_row *row, size_t i,
			struct error *err)
{
	char name[24];

	return error__set(err, -EPROTO,
			  "%s is not among the releases known here, has no DWARF, "
			  "and its machine code has %s.%s at %u, where %s has it at %u: " REMEDY,
			  m->version->text, members[i].type, members[i].name, m->code->at[i],
			  row_name(row, name, sizeof(name)), row->at[i]);
}

/* What the machine code does not say, from the neighbours that are like it; they must agree, too. */
static int fill(struct merge *m, struct layout_merged *ret, struct error *err)
{
	const struct offsets_row *fits[2] = { NULL }, *unlike = NULL;
	size_t where = 0, n = 0;

	for (size_t k = 0; k < 2; k++) {
		if (m->near[k] && is_near(m, m->near[k], &where))
			fits[n++] = m->near[k];
		else if (m->near[k])
			unlike = m->near[k];
	}
	if (!n)
		return no_neighbour(m, unlike, where, err);
	for (size_t i = 0; i < OFF_COUNT; i++) {
		if (is_known(ret->at[i]))
			continue;
		if (n == 2 && fits[0]->at[i] != fits[1]->at[i])
			return error__set(err, -ENODATA,
					  "nothing tells where %s.%s is: %s has no "
					  "DWARF, is not among the releases known here, and those "
					  "before and after it differ: " REMEDY,
					  members[i].type, members[i].name, m->version->text);
		ret->at[i] = fits[0]->at[i];
	}
	m->filled = fits[0];
	return 0;
}

static bool is_optional(size_t i)
{
	return i == OFF_CORO_GP;
}

/* Nothing may be left open, and nothing absent that the release must have. */
static int complete(const struct merge *m, struct layout_merged *ret, struct error *err)
{
	for (size_t i = 0; i < OFF_COUNT; i++) {
		if (is_optional(i) && !is_known(ret->at[i]))
			ret->at[i] = OFFSET_ABSENT;
		if (!is_known(ret->at[i]))
			return error__set(err, -ENODATA,
					  "nothing tells where %s.%s is in %s: " REMEDY,
					  members[i].type, members[i].name, m->version->text);
		if (ret->at[i] == OFFSET_ABSENT && !is_optional(i) &&
		    go_version__since(m->version, members[i].since))
			return error__set(err, -EPROTO,
					  "%s has no member %s in its %s, which is "
					  "needed: get a newer gotrace-bpf",
					  m->version->text, members[i].name, members[i].type);
	}
	return 0;
}

static void describe(const struct merge *m, struct layout_merged *ret)
{
	char code[48], name[24];
	const char *names[3];
	size_t n = 0, len;

	snprintf(code, sizeof(code), "machine code (%u of %u)", m->code_knows, OFF_COUNT);
	if (m->dwarf)
		names[n++] = "DWARF";
	if (m->code_knows)
		names[n++] = code;
	if (m->row)
		names[n++] = "the table of releases";
	ret->source[0] = 0;
	for (size_t i = 0; i < n; i++) {
		len = strlen(ret->source);
		snprintf(ret->source + len, sizeof(ret->source) - len, "%s%s",
			 i == 0	    ? "" :
			 i == n - 1 ? " and " :
				      ", ",
			 names[i]);
	}
	len = strlen(ret->source);
	if (m->filled)
		snprintf(ret->source + len, sizeof(ret->source) - len, ", the rest as %s",
			 row_name(m->filled, name, sizeof(name)));
	else
		snprintf(ret->source + len, sizeof(ret->source) - len, n > 1 ? " agree" : " alone");
}

static void warn(const struct merge *m, struct layout_merged *ret)
{
	const struct offsets_row *row, *last = NULL;
	const struct go_version *v = m->version;
	char name[24] = "", why[96];
	bool newer;

	ret->warning[0] = 0;
	if (m->row)
		return;
	for (size_t i = 0; (row = offsets_table__row(i)); i++)
		last = row;
	newer = v->major > 1 || v->minor > last->minor;
	if (newer)
		snprintf(why, sizeof(why), "newer than the releases known here (up to %s)",
			 row_name(last, name, sizeof(name)));
	else
		snprintf(why, sizeof(why), "not among the releases known here");
	if (m->dwarf)
		snprintf(ret->warning, sizeof(ret->warning),
			 "%s is %s: struct offsets come from "
			 "the program's DWARF%s",
			 v->text, why, m->code_knows ? ", with which its machine code agrees" : "");
	else if (m->filled)
		snprintf(ret->warning, sizeof(ret->warning),
			 "%s is %s: struct offsets come from "
			 "its machine code, and where that does not tell they are taken to be %s's",
			 v->text, why, row_name(m->filled, name, sizeof(name)));
	else
		snprintf(ret->warning, sizeof(ret->warning),
			 "%s is %s: struct offsets come from "
			 "its machine code",
			 v->text, why);
}

int layout_merge(const struct go_version *version, const struct offsets *dwarf,
		 const struct offsets *code, struct layout_merged *ret, struct error *err)
{
	struct merge m = { .version = version, .dwarf = dwarf, .code = code };
	struct layout_merged merged;
	bool open = false;
	int r = 0;

	find_rows(&m);
	for (size_t i = 0; i < OFF_COUNT && !r; i++) {
		merged.at[i] = OFFSET_ABSENT;
		if (!go_version__since(version, members[i].since))
			continue;
		m.code_knows += code && is_known(code->at[i]);
		r = agree(&m, i, &merged.at[i], err);
		open |= !is_known(merged.at[i]) && !is_optional(i);
	}
	if (!r && !dwarf && !m.row && m.code_knows < ENOUGH)
		r = error__set(err, -ENODATA,
			       "%s is not among the releases known here, has no "
			       "DWARF, and its machine code tells too little: " REMEDY,
			       version->text);
	if (!r && !dwarf && !m.row && open)
		r = fill(&m, &merged, err);
	else if (!r && !dwarf && !m.row && !is_known(merged.at[OFF_CORO_GP]))
		fill(&m, &merged, NULL);
	if (!r)
		r = complete(&m, &merged, err);
	if (r)
		return r;
	describe(&m, &merged);
	warn(&m, &merged);
	*ret = merged;
	return 0;
}
