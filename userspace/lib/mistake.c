// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the option that getopt rejected: see mistake.h.
 *
 * argp does not pass on what getopt found. The word is the one before state->next or, in a cluster
 * of short options whose last one is valid, the one at state->next. An argument that the command
 * did not accept is at state->next, too, after options that may all be valid.
 */
#include <argp.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/command.h"
#include "lib/mistake.h"
#include "lib/suggest.h"

#define OPTIONS_MAX 64 /* options of one command */

static bool is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc;
}

static const struct argp_option *short_option(const struct argp_option *o, char key)
{
	for (; !is_end(o); o++)
		if (isascii(o->key) && o->key == key)
			return o;
	return NULL;
}

/* The unknown letter in a cluster such as -vx; 0: none. */
static char wrong_letter(const struct argp_option *options, const char *word)
{
	const struct argp_option *o;

	if (word[0] != '-' || word[1] == '-')
		return '\0';
	for (word++; *word; word++) {
		o = short_option(options, *word);
		if (!o)
			return *word;
		if (o->arg) /* the rest of the word is its argument */
			return '\0';
	}
	return '\0';
}

static _Noreturn void unknown(const struct argp_option *o, const char *word, size_t len)
{
	const char *names[OPTIONS_MAX], *meant;
	char name[64];
	size_t n = 0;

	for (; !is_end(o) && n < OPTIONS_MAX; o++)
		if (o->name && !(o->flags & OPTION_HIDDEN))
			names[n++] = o->name;
	snprintf(name, sizeof(name), "%.*s", (int)len - 2, word + 2);
	meant = suggest__word(name, names, n);
	if (meant)
		usage_error("unrecognized option '%.*s'; the most similar option is '--%s'",
			    (int)len, word, meant);
	usage_error("unrecognized option '%.*s'", (int)len, word);
}

/* The option for a word "--name" or "--name=value"; `len` excludes the value. */
static const struct argp_option *long_option(const struct argp_option *o, const char *word,
					     size_t len)
{
	const struct argp_option *found = NULL;
	char also[256] = "";
	size_t at = 0, n = 0;

	for (; !is_end(o); o++) {
		if (!o->name || strncmp(o->name, word + 2, len - 2))
			continue;
		if (!o->name[len - 2])
			return o;
		found = o;
		n++;
		if (at < sizeof(also))
			at += (size_t)snprintf(also + at, sizeof(also) - at, "%s--%s",
					       at ? ", " : "", o->name);
	}
	if (n > 1)
		usage_error("option '%.*s' is ambiguous: %s", (int)len, word, also);
	return found;
}

/* Returns if the option is valid. `last`: no word follows. */
static void report_long(const struct argp_option *options, const char *word, bool last)
{
	size_t len = strcspn(word, "=");
	const struct argp_option *o = long_option(options, word, len);

	if (!o)
		unknown(options, word, len);
	if (word[len] && !o->arg)
		usage_error("option '--%s' takes no argument", o->name);
	if (!word[len] && o->arg && last)
		usage_error("option '--%s' requires an argument: %s", o->name, o->arg);
}

void mistake__report(const struct argp_state *state)
{
	const struct argp_option *options = state->root_argp->options, *o;
	const char *word = state->next > 0 ? state->argv[state->next - 1] : "";
	bool last = state->next >= state->argc;
	char wrong = '\0';

	if (!last)
		wrong = wrong_letter(options, state->argv[state->next]);
	if (!wrong)
		wrong = wrong_letter(options, word);
	if (wrong)
		usage_error("unrecognized option '-%c'", wrong);
	if (!strncmp(word, "--", 2) && word[2])
		report_long(options, word, last);
	o = word[0] == '-' && word[1] ? short_option(options, word[strlen(word) - 1]) : NULL;
	if (last && o && o->arg)
		usage_error("option '-%c' requires an argument: %s", o->key, o->arg);
	usage_error("unexpected argument '%s'", last ? word : state->argv[state->next]);
}
