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

/* The first word; in a command line spaces or NULs separate the arguments. */
static void take(char *to, struct trace_string s)
{
	size_t len = 0;

	while (len < s.len && s.data[len] && s.data[len] != ' ')
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
				take(a->build_id, pair.value);
			else if (is_named(&pair, "command"))
				take(a->program, pair.value);
		}
	}
	private_reader__deinit(&in);
	return err;
}
