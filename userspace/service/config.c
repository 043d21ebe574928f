// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration files: see config.h.
 *
 * Each line is parsed as if it were an option of a command line, by the parser of the verb, so that
 * values are checked by the same code and messages are the same, after the name of the file and the
 * number of the line (command__set_place()).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/command.h"
#include "lib/regular.h"
#include "lib/suggest.h"
#include "service/config.h"

#define OPTIONS_MAX 128
#define BLANK	    " \t"

/* Of one command: the options of its command line, and the file that it names. */
struct config {
	const struct argp *parser;
	void *input;
	int key;		 /* of --config */
	const char *program;	 /* argv[0] */
	const char *path;	 /* NULL: none */
	bool given[OPTIONS_MAX]; /* parser->options[i] is on the command line */
	bool help;		 /* so is --help */
	char place[PATH_MAX + 32];
	char text[]; /* of the file */
};

/* ---- the text ---- */

static char *trimmed(char *text, char *end)
{
	text += strspn(text, BLANK);
	while (end > text && strchr(BLANK, end[-1]))
		end--;
	*end = 0;
	return text;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 127)
			return false;
	return true;
}

/* A line without its end. */
static int split_line(char *line, size_t len, unsigned int number, config_fn fn, void *ctx,
		      struct error *error)
{
	char *name, *equals, *value;

	if (strlen(line) != len || !is_printable(line))
		return error__set(error, -EINVAL, "invalid line: contains a control character");
	name = trimmed(line, line + len);
	if (!*name || *name == '#')
		return 0;
	equals = strchr(name, '=');
	if (!equals)
		return error__set(error, -EINVAL, "invalid line '%.64s': expected NAME = VALUE",
				  name);
	value = trimmed(equals + 1, line + len);
	name = trimmed(name, equals);
	if (!*name || !*value)
		return error__set(error, -EINVAL, "%s is missing: expected NAME = VALUE",
				  *name ? "the value" : "the name");
	return fn(ctx, number, name, value);
}

int config__split(char *text, size_t len, config_fn fn, void *ctx, unsigned int *ret_line,
		  struct error *error)
{
	char *line = text, *stop = text + len, *end;
	int err = 0;

	for (*ret_line = 1; !err && line < stop; line = end + 1, *ret_line += !err) {
		end = memchr(line, '\n', (size_t)(stop - line)) ?: stop;
		*end = 0;
		err = split_line(line, (size_t)(end - line), *ret_line, fn, ctx, error);
	}
	return err;
}

/* ---- options ---- */

static bool is_visible(const struct argp_option *o)
{
	return o->name && !(o->flags & OPTION_HIDDEN);
}

/* Each element of the array of options, which ends with one without name and key. */
static size_t count_options(const struct argp *parser)
{
	size_t n = 0;

	while (n < OPTIONS_MAX && (parser->options[n].name || parser->options[n].key))
		n++;
	return n;
}

static _Noreturn void unknown(const struct config *c, const char *name)
{
	const char *words[OPTIONS_MAX], *meant;
	size_t n = 0, options = count_options(c->parser);

	for (size_t i = 0; i < options; i++)
		if (is_visible(&c->parser->options[i]))
			words[n++] = c->parser->options[i].name;
	meant = suggest__word(name, words, n);
	if (meant)
		usage_error("unknown option '%.64s'; the most similar option is '%s'", name, meant);
	usage_error("unknown option '%.64s'", name);
}

/* The index of the option that a line of the file may have. */
static size_t find(const struct config *c, const char *name)
{
	size_t n = count_options(c->parser);

	for (size_t i = 0; i < n; i++) {
		const struct argp_option *o = &c->parser->options[i];

		if (!is_visible(o) || strcmp(o->name, name))
			continue;
		if (o->key == c->key || o->key == 'h')
			usage_error("the option '%s' is possible only on the command line", name);
		return i;
	}
	unknown(c, name);
}

/* An option without an argument: whether it is to be set. */
static bool is_yes(const char *name, const char *value)
{
	if (strcmp(value, "yes") && strcmp(value, "no"))
		usage_error("invalid value '%.64s' of '%s': must be yes or no", value, name);
	return !strcmp(value, "yes");
}

/* A word of a command line that remains until the process ends; NULL: no memory. */
static char *option_word(const char *name, const char *value)
{
	static struct word {
		struct word *next;
		char text[];
	} *words;
	size_t size = strlen(name) + (value ? strlen(value) : 0) + sizeof("--=");
	struct word *word = malloc(sizeof(*word) + size);

	if (!word)
		return NULL;
	snprintf(word->text, size, "--%s%s%s", name, value ? "=" : "", value ?: "");
	word->next = words;
	words = word;
	return word->text;
}

static int parse_line(void *ctx, unsigned int line, const char *name, const char *value)
{
	struct config *c = ctx;
	const struct argp_option *o;
	char *argv[3] = { (char *)c->program };
	size_t i;

	snprintf(c->place, sizeof(c->place), "%s, line %u", c->path, line);
	i = find(c, name);
	o = &c->parser->options[i];
	if (c->given[i] || (!o->arg && !is_yes(name, value)))
		return 0;
	argv[1] = option_word(name, o->arg ? value : NULL);
	if (!argv[1])
		return -ENOMEM;
	return -argp_parse(c->parser, 2, argv, ARGP_IN_ORDER | COMMAND_FLAGS, NULL, c->input);
}

/* Notes what the command line contains. Mistakes are found when it is parsed. */
static error_t note_option(int key, char *text, struct argp_state *state)
{
	struct config *c = state->input;

	for (size_t i = 0, n = count_options(c->parser); i < n; i++)
		c->given[i] |= c->parser->options[i].key == key;
	c->help |= key == 'h' || key == '?';
	if (key == c->key)
		c->path = text;
	return 0;
}

/* ---- the file ---- */

static int check_owner(int fd, const char *path, struct error *error)
{
	struct stat st;

	if (fstat(fd, &st))
		return error__set(error, -errno, "%s: %s", path, strerror(errno));
	if (st.st_uid && st.st_uid != geteuid())
		return error__set(error, -EPERM,
				  "%s: belongs to another user; it must belong to root or to the "
				  "user who runs gotrace-bpf",
				  path);
	if (st.st_mode & 022)
		return error__set(error, -EPERM, "%s: other users can write it; use chmod go-w %s",
				  path, path);
	return 0;
}

/* Reads at most CONFIG_MAX bytes. Returns their number, or a negative errno and the reason. */
static ssize_t read_file(int fd, const char *path, char *ret, struct error *error)
{
	ssize_t n = 1, len = 0;

	while (n > 0 && len <= CONFIG_MAX) {
		n = read(fd, ret + len, (size_t)(CONFIG_MAX + 1 - len));
		len += n > 0 ? n : 0;
	}
	if (n < 0)
		return error__set(error, -errno, "%s: %s", path, strerror(errno));
	if (len > CONFIG_MAX)
		return error__set(error, -EFBIG, "%s: larger than %d KiB", path, CONFIG_MAX / 1024);
	return len;
}

static int parse_file(struct config *c, struct error *error)
{
	struct error mistake = {};
	unsigned int line;
	ssize_t len;
	int fd = regular__open(c->path, error), err;

	if (fd < 0)
		return fd;
	err = check_owner(fd, c->path, error);
	len = err ? err : read_file(fd, c->path, c->text, error);
	close(fd);
	if (len < 0)
		return (int)len;
	command__set_place(c->place);
	err = config__split(c->text, (size_t)len, parse_line, c, &line, &mistake);
	if (err && mistake.text[0]) {
		snprintf(c->place, sizeof(c->place), "%s, line %u", c->path, line);
		usage_error("%s", mistake.text);
	}
	command__set_place(NULL);
	return err ? error__set(error, err, "%s: %s", c->path, strerror(-err)) : 0;
}

int config__parse(const struct argp *parser, int key, int argc, char **argv, void *input,
		  struct error *error)
{
	struct argp notes = { parser->options, note_option };
	struct config *c = calloc(1, sizeof(*c) + CONFIG_MAX + 2);
	int err = 0;

	if (!c)
		return error__set(error, -ENOMEM, "out of memory");
	c->parser = parser;
	c->input = input;
	c->key = key;
	c->program = argv[0];
	if (!argp_parse(&notes, argc, argv, ARGP_IN_ORDER | COMMAND_FLAGS, NULL, c) && c->path &&
	    !c->help)
		err = parse_file(c, error);
	if (!err)
		argp_parse(parser, argc, argv, ARGP_IN_ORDER | COMMAND_FLAGS, NULL, input);
	free(c);
	return err;
}
