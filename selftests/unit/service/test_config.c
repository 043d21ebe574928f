// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration files: which lines there are, how they are combined with a command line, and which
 * files and lines are refused. Each command line is parsed in a child, because a mistake ends it.
 */
#include <argp.h>
#include <sys/stat.h>

#include "unit/test.h"
#include "lib/command.h"
#include "service/config.h"
#include "unit/child.h"

/* ---- lines ---- */

static int print_line(void *ctx, unsigned int line, const char *name, const char *value)
{
	char *at = ctx;

	snprintf(at + strlen(at), 512 - strlen(at), "%u[%s][%s]", line, name, value);
	return strcmp(name, "stop") ? 0 : -ECANCELED;
}

static int split(const char *text, size_t len, char ret[512], unsigned int *line,
		 struct error *error)
{
	char *copy = malloc(len + 1);
	int err;

	memcpy(copy, text, len);
	ret[0] = 0;
	*error = (struct error){};
	err = config__split(copy, len, print_line, ret, line, error);
	free(copy);
	return err;
}

TEST(lines)
{
	static const struct {
		const char *text, *lines;
	} good[] = {
		{ "", "" },
		{ "\n\n", "" },
		{ "a=b", "1[a][b]" },
		{ "a=b\n", "1[a][b]" },
		{ "# x = y\n \t# z\n \t a \t=\t b c \t\n", "3[a][b c]" },
		{ "a = b = c\n\nd=#e", "1[a][b = c]3[d][#e]" },
		{ "a=b\na=c", "1[a][b]2[a][c]" },
	};
	struct error error;
	unsigned int line;
	char ret[512];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(split(good[i].text, strlen(good[i].text), ret, &line, &error), 0);
		assert_string_equal(ret, good[i].lines);
	}
}

TEST(bad_lines)
{
	static const struct {
		const char *text, *error;
		size_t len;
		unsigned int line;
	} bad[] = {
		{ "a", "invalid line 'a': expected NAME = VALUE", 1, 1 },
		{ "a=b\n=c", "the name is missing: expected NAME = VALUE", 6, 2 },
		{ "\n\na = \n", "the value is missing: expected NAME = VALUE", 7, 3 },
		{ "a=b\0c", "invalid line: contains a control character", 5, 1 },
		{ "#\0", "invalid line: contains a control character", 2, 1 },
		{ "a=\033[0m", "invalid line: contains a control character", 6, 1 },
		{ "a=b\r\n", "invalid line: contains a control character", 5, 1 },
		{ "a=\177", "invalid line: contains a control character", 3, 1 },
	};
	struct error error;
	unsigned int line;
	char ret[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(split(bad[i].text, bad[i].len, ret, &line, &error), -EINVAL);
		assert_string_equal(error.text, bad[i].error);
		assert_int_equal(line, bad[i].line);
	}
	assert_int_equal(split("a=b\nstop=x\nc=d", 14, ret, &line, &error), -ECANCELED);
	assert_string_equal(ret, "1[a][b]2[stop][x]");
	assert_int_equal(line, 2);
	assert_string_equal(error.text, "");
}

/* ---- with a command line ---- */

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0, "process", 0 },
	{ "exe", 1000, "NAME", 0, "executable", 0 },
	{ "config", 1001, "FILE", 0, "file", 0 },
	{ "inherit", 1002, NULL, 0, "flag", 0 },
	{ "cpu-profile", 1003, "HZ", OPTION_ARG_OPTIONAL, "rate", 0 },
	{ "secret", 1004, "X", OPTION_HIDDEN, NULL, 0 },
	HELP_OPTION,
	{},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key == 'p' && text[0] == '-')
		usage_error("invalid PID '%s'", text);
	if (key == 'p' || key == 1000 || (key > 1001 && key <= 1004))
		printf("%d%s%s ", key, text ? "=" : "", text ?: "");
	else if (key != 1001)
		return command__key(key, state, "serve");
	return 0;
}

static const struct argp parser = { options, parse, NULL, NULL, NULL, NULL, NULL };

static char path[] = "/tmp/test_config.XXXXXX";

struct call {
	const char *text; /* of the file */
	size_t len;
	mode_t mode;
	char *argv[8];
};

static void call(const void *ctx)
{
	const struct call *c = ctx;
	struct error error = {};
	int argc = 0, fd = open(path, O_WRONLY | O_TRUNC), err;

	program_invocation_name = program_invocation_short_name = (char *)"tool";
	argp_err_exit_status = EXIT_USAGE;
	if (fd < 0 || write(fd, c->text, c->len) != (ssize_t)c->len || fchmod(fd, c->mode))
		exit(100);
	while (c->argv[argc])
		argc++;
	err = config__parse(&parser, 1001, argc, (char **)c->argv, NULL, &error);
	if (err)
		printf("%s", error.text);
	exit(err ? EXIT_FAILED : EXIT_DONE);
}

static struct ran ran(const char *text, mode_t mode, char *option, char *value)
{
	struct call c = { text, strlen(text), mode, { "tool", "--config", path, option, value } };

	return in_child(call, &c);
}

#define RUNS(text, option, value, out_text)                                                        \
	do {                                                                                       \
		struct ran r = ran(text, 0600, option, value);                                     \
                                                                                                   \
		assert_string_equal(r.err, "");                                                    \
		assert_string_equal(r.out, out_text);                                              \
		assert_int_equal(r.status, EXIT_DONE);                                             \
	} while (0)

TEST(combined)
{
	RUNS("", NULL, NULL, "");
	RUNS("exe = a\nexe = b c\ninherit = yes\n", NULL, NULL, "1000=a 1000=b c 1002 ");
	RUNS("inherit = no\n", NULL, NULL, "");
	RUNS("cpu-profile = 99\n", NULL, NULL, "1003=99 ");
	/* the command line comes last, and replaces all lines of its options */
	RUNS("exe = a\npid = 2\nexe = b\n", "--exe", "z", "112=2 1000=z ");
	RUNS("exe = a\npid = 2\n", "-p", "7", "1000=a 112=7 ");
	RUNS("inherit = no\n", "--inherit", NULL, "1002 ");
	RUNS("exe = --inherit\n", NULL, NULL, "1000=--inherit ");
}

static void assert_refused(const char *text, const char *reason)
{
	struct ran r = ran(text, 0600, NULL, NULL);
	char expected[512];

	snprintf(expected, sizeof(expected), "tool: %s, line %s; see 'tool --help'\n", path,
		 reason);
	assert_string_equal(r.err, expected);
	assert_int_equal(r.status, EXIT_USAGE);
}

TEST(refused_lines)
{
	assert_refused("exe = a\n\nexes = b\n",
		       "3: unknown option 'exes'; the most similar option is 'exe'");
	assert_refused("zzzzzzz = b\n", "1: unknown option 'zzzzzzz'");
	assert_refused("exe\n", "1: invalid line 'exe': expected NAME = VALUE");
	assert_refused("#\nsecret = b\n", "2: unknown option 'secret'");
	assert_refused("config = b\n",
		       "1: the option 'config' is possible only on the command line");
	assert_refused("help = yes\n", "1: the option 'help' is possible only on the command line");
	assert_refused("inherit = true\n",
		       "1: invalid value 'true' of 'inherit': must be yes or no");
	assert_refused("\npid = -1\n", "2: invalid PID '-1'");
}

/* A mistake of the command line itself is reported without the file, before that is read. */
TEST(refused_command_line)
{
	struct ran r = ran("exe = a\n", 0600, "--nothing", NULL);

	assert_int_equal(r.status, EXIT_USAGE);
	assert_null(strstr(r.err, path));
	assert_non_null(strstr(r.err, "--nothing"));
	r = ran("nonsense\n", 0600, "--help", NULL);
	assert_int_equal(r.status, EXIT_DONE);
	assert_non_null(strstr(r.out, "--exe=NAME"));
}

static void assert_failed(struct ran r, const char *reason)
{
	assert_string_equal(r.err, "");
	assert_non_null(strstr(r.out, reason));
	assert_int_equal(r.status, EXIT_FAILED);
}

TEST(refused_files)
{
	static char large[CONFIG_MAX + 2];
	struct call c = { "", 0, 0600, { "tool", "--config=/nonexistent/file" } };

	assert_failed(in_child(call, &c), "/nonexistent/file: No such file or directory");
	c.argv[1] = "--config=/dev/null";
	assert_failed(in_child(call, &c), "/dev/null: not a regular file");
	assert_failed(ran("exe = a\n", 0620, NULL, NULL), "other users can write it");
	assert_failed(ran("exe = a\n", 0602, NULL, NULL), "other users can write it");
	memset(large, '\n', sizeof(large) - 1);
	assert_failed(ran(large, 0600, NULL, NULL), "larger than 64 KiB");
	large[CONFIG_MAX] = 0;
	RUNS(large, NULL, NULL, "");
	if (geteuid())
		return;
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_failed(ran("exe = a\n", 0600, NULL, NULL), "belongs to another user");
	assert_int_equal(chown(path, 0, 0), 0);
}

static int begin(void **state)
{
	int fd = mkstemp(path);

	close(fd);
	return fd < 0;
}

static int end(void **state)
{
	return unlink(path);
}

GROUP(begin, end)
