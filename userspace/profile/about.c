// SPDX-License-Identifier: GPL-2.0
/*
 * What a trace reports about the traced program: see about.h. Only traces of gotrace-bpf have it,
 * in the private data of their first generation; gotrace-private(5) lists the members.
 */
#include "profile/about.h"

#include <string.h>

#include "format/private_read.h"

static bool is_named(const struct private_pair *pair, const char *name)
{
	return pair->name.len == strlen(name) && !memcmp(pair->name.data, name, pair->name.len);
}

/* Up to the first byte that is one of `ends`, or 0. */
static void take(char *to, struct trace_string s, const char *ends)
{
	size_t len = 0;

	while (len < s.len && s.data[len] && !strchr(ends, s.data[len]))
		len++;
	if (len >= ABOUT_TEXT_MAX)
		return;
	memcpy(to, s.data, len);
	to[len] = '\0';
}

int about__read(struct about *a, const struct dictionary *dictionary)
{
	struct private_record record;
	struct private_reader in;
	struct private_pair pair;
	int err;

	private_reader__init(&in, dictionary);
	while ((err = private_reader__next(&in, &record)) > 0) {
		while (record.kind == PRIVATE_META && private_read__pair(&record.data, &pair)) {
			if (is_named(&pair, "build_id"))
				take(a->build_id, pair.value, " ");
			else if (is_named(&pair,
					  "command")) /* spaces or NULs between the arguments */
				take(a->program, pair.value, " ");
			else if (is_named(&pair, "go_version"))
				take(a->go_version, pair.value, " ");
			else if (is_named(&pair, "tool"))
				take(a->tool, pair.value, "");
		}
	}
	private_reader__deinit(&in);
	return err;
}
