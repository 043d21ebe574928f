// SPDX-License-Identifier: GPL-2.0
/*
 * Merges struct offsets from DWARF, machine code and the table of releases.
 *
 * Upstream: layout_dwarf.c, infer/calibrate.c and offsets_table.c each fill the list OFFSETS.
 * Downstream: layout.c gets one list. Wrong offsets produce a wrong trace, so all sources are
 * compared, and a contradiction is an error; process/live.c checks the result.
 */
#include "target/layout/layout_merge.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "target/layout/offsets_table.h"

#define ENOUGH (OFF_COUNT / 2)
#define REMEDY "build it without -ldflags=-w and -s, or upgrade gotrace-bpf"

struct merge {
	const struct go_version *version;
	const struct offsets *dwarf, *code;
	const struct offsets_row *row;	   /* the row of the release; NULL: not in the table */
	const struct offsets_row *near[2]; /* then: its neighbors */
	const struct offsets_row *filled;  /* a neighbor that was needed */
	const struct offsets_row *newest;  /* of the table */
	unsigned int code_knows;
};

static bool is_known(uint32_t offset)
{
	return offset != OFFSET_UNKNOWN;
}

/* Whether it is a release such as "go1.26.8": no candidate, development version or experiment. */
static bool is_release(const char *text)
{
	return !strncmp(text, "go", 2) && !text[2 + strspn(text + 2, "0123456789.")];
}

static const char *row_name(const struct offsets_row *row, char *buf, size_t size)
{
	unsigned int patch = row->to;

	/* 1.20 and older have no ".0". */
	if (patch || row->minor > 20)
		snprintf(buf, size, "go1.%u.%u", row->minor, patch);
	else
		snprintf(buf, size, "go1.%u", row->minor);
	return buf;
}

/* Finds the row of the release, or its neighbors in the same minor release. */
static void find_rows(struct merge *m)
{
	const struct go_version *v = m->version;
	const struct offsets_row *row;

	for (size_t i = 0; (row = offsets_table__row(i)); i++) {
		m->newest = row;
		if (v->major != 1 || row->minor != v->minor)
			continue;
		if (v->patch >= row->from && v->patch <= row->to) {
			m->row = row;
			continue;
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
		m->near[0] = m->newest;
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
			 const char *name_b, uint32_t b, struct error *error)
{
	char text_a[32], text_b[32];

	return error__set(error, -EPROTO,
			  "inconsistent struct offsets in this %s program: "
			  "%s.%s: %s in %s, %s in %s",
			  m->version->text, offset_members[i].type, offset_members[i].name,
			  value(a, text_a, sizeof(text_a)), name_a,
			  value(b, text_b, sizeof(text_b)), name_b);
}

/* The value in all sources that have the member; -EPROTO if they differ. */
static int agree(const struct merge *m, size_t i, uint32_t *ret, struct error *error)
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
			return contradiction(m, i, first, *ret, sources[s].name, at, error);
		if (is_known(at) && !first) {
			first = sources[s].name;
			*ret = at;
		}
	}
	return 0;
}

/* Whether the machine code agrees with the row; else, the first member that differs. */
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

static int no_neighbor(const struct merge *m, const struct offsets_row *row, size_t i,
		       struct error *error)
{
	char name[24];

	return error__set(error, -EPROTO,
			  "%s is not a known release, has no DWARF, and its machine code "
			  "has %s.%s at offset %u, but %s has it at offset %u: " REMEDY,
			  m->version->text, offset_members[i].type, offset_members[i].name,
			  m->code->at[i], row_name(row, name, sizeof(name)), row->at[i]);
}

/* Fills gaps from the neighbors that agree with the machine code; these must agree, too. */
static int fill(struct merge *m, struct layout_merged *ret, struct error *error)
{
	const struct offsets_row *similar[2] = { NULL }, *different = NULL;
	size_t where = 0, n = 0;

	for (size_t k = 0; k < 2; k++) {
		if (m->near[k] && is_near(m, m->near[k], &where))
			similar[n++] = m->near[k];
		else if (m->near[k])
			different = m->near[k];
	}
	if (!n)
		return no_neighbor(m, different, where, error);
	for (size_t i = 0; i < OFF_COUNT; i++) {
		if (is_known(ret->at[i]))
			continue;
		if (n == 2 && similar[0]->at[i] != similar[1]->at[i])
			return error__set(error, -ENODATA,
					  "the offset of %s.%s is unknown: %s has no DWARF, is not "
					  "a known release, and the releases before and after it "
					  "differ: " REMEDY,
					  offset_members[i].type, offset_members[i].name,
					  m->version->text);
		ret->at[i] = similar[0]->at[i];
	}
	m->filled = similar[0];
	return 0;
}

static bool is_optional(size_t i)
{
	return i == OFF_CORO_GP;
}

/* Checks that nothing is unknown, and nothing absent that the release must have. */
static int complete(const struct merge *m, struct layout_merged *ret, struct error *error)
{
	for (size_t i = 0; i < OFF_COUNT; i++) {
		if (is_optional(i) && !is_known(ret->at[i]))
			ret->at[i] = OFFSET_ABSENT;
		if (!is_known(ret->at[i]))
			return error__set(
				error, -ENODATA, "the offset of %s.%s in %s is unknown: " REMEDY,
				offset_members[i].type, offset_members[i].name, m->version->text);
		if (ret->at[i] == OFFSET_ABSENT && !is_optional(i) &&
		    go_version__since(m->version, offset_members[i].since))
			return error__set(error, -EPROTO,
					  "%s has no member %s in its %s, which is "
					  "required: upgrade gotrace-bpf",
					  m->version->text, offset_members[i].name,
					  offset_members[i].type);
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
	const struct go_version *v = m->version;
	char name[24] = "", why[96];

	ret->warning[0] = 0;
	if (m->row)
		return;
	if (v->major > 1 || v->minor > m->newest->minor)
		snprintf(why, sizeof(why), "newer than the known releases (up to %s)",
			 row_name(m->newest, name, sizeof(name)));
	else
		snprintf(why, sizeof(why), "not a known release");
	if (m->dwarf)
		snprintf(ret->warning, sizeof(ret->warning),
			 "%s is %s: struct offsets come from "
			 "the program's DWARF%s",
			 v->text, why, m->code_knows ? ", with which its machine code agrees" : "");
	else if (m->filled)
		snprintf(ret->warning, sizeof(ret->warning),
			 "%s is %s: struct offsets come from "
			 "its machine code, and the missing ones from %s",
			 v->text, why, row_name(m->filled, name, sizeof(name)));
	else
		snprintf(ret->warning, sizeof(ret->warning),
			 "%s is %s: struct offsets come from "
			 "its machine code",
			 v->text, why);
}

int layout_merge(const struct go_version *version, const struct offsets *dwarf,
		 const struct offsets *code, struct layout_merged *ret, struct error *error)
{
	struct merge m = { .version = version, .dwarf = dwarf, .code = code };
	struct layout_merged merged;
	bool open = false;
	int err = 0;

	find_rows(&m);
	for (size_t i = 0; i < OFF_COUNT && !err; i++) {
		merged.at[i] = OFFSET_ABSENT;
		if (!go_version__since(version, offset_members[i].since))
			continue;
		m.code_knows += code && is_known(code->at[i]);
		err = agree(&m, i, &merged.at[i], error);
		open |= !is_known(merged.at[i]) && !is_optional(i);
	}
	if (!err && !dwarf && !m.row && m.code_knows < ENOUGH)
		err = error__set(
			error, -ENODATA,
			"%s is not a known release, has no DWARF, "
			"and too few offsets can be inferred from its machine code: " REMEDY,
			version->text);
	if (!err && !dwarf && !m.row && open)
		err = fill(&m, &merged, error);
	else if (!err && !dwarf && !m.row && !is_known(merged.at[OFF_CORO_GP]))
		fill(&m, &merged, NULL);
	if (!err)
		err = complete(&m, &merged, error);
	if (err)
		return err;
	describe(&m, &merged);
	warn(&m, &merged);
	*ret = merged;
	return 0;
}
