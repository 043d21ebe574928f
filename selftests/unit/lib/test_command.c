// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of a program of verbs: which verb runs, the help, and the one line and the exit status
 * of each mistake. The program is this file's; each case runs in a child.
 */
#include <argp.h>
#include <signal.h>

#include "unit/test.h"
#include "gotrace/version.h"
#include "lib/command.h"
#include "lib/log.h"
#include "unit/child.h"

/* ---- a program ---- */

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const char **file = state->input;

	switch (key) {
	case 'v':
		return 0;
	case 's':
	case 't':
	case 'u':
		printf("-%c %s\n", key, arg ? arg : "");
		return 0;
	case ARGP_KEY_ARG:
		if (*file)
			return ARGP_ERR_UNKNOWN;
		*file = arg;
		return 0;
	}
	return command__key(key, state, "read");
}

/* Prints what it was called with; fails as the name of the file says. */
static int run_read(int argc, char **argv, struct error *err)
{
	static const struct argp_option options[] = {
		{ "verbose", 'v', NULL, 0, "more", 0 },
		{ "size", 's', "BYTES", 0, "how many", 0 },
		{ "strict", 't', NULL, 0, "no mercy", 0 },
		{ "string", 'u', NULL, 0, "text", 0 },
		{ "secret", 1000, NULL, OPTION_HIDDEN, NULL, 0 },
		FORCE_OPTION,
		COLOR_OPTION,
		MEMORY_OPTION,
		HELP_OPTION,
		{},
	};
	static const struct argp argp = { options, parse, "FILE", "Reads.", NULL, NULL, NULL };
	const char *file = NULL;

	argp_parse(&argp, argc, argv, COMMAND_FLAGS, NULL, &file);
	printf("%s reads %s%s\n", argv[0], file ? file : "nothing",
	       command__forced() ? " by force" : "");
	if (file && !strcmp(file, "bad"))
		return error__set(err, -EBADMSG, "%s is bad", file), EXIT_FAILED;
	return file && !strcmp(file, "silent") ? EXIT_FAILED : EXIT_DONE;
}

static int run_watch(int argc, char **argv, struct error *err)
{
	printf("watches");
	for (int i = 1; i < argc; i++)
		printf(" %s", argv[i]);
	printf("\n");
	return EXIT_DONE;
}

/* Takes no file. */
static error_t parse_stop(int key, char *arg, struct argp_state *state)
{
	return key == 'q' || key == 't' ? 0 : command__key(key, state, "stop");
}

static int run_stop(int argc, char **argv, struct error *err)
{
	static const struct argp_option options[] = {
		{ "quiet", 'q', NULL, 0, "less", 0 },
		{ "time", 't', "TIME", 0, "when", 0 },
		{},
	};
	static const struct argp argp = { options, parse_stop, NULL, NULL, NULL, NULL, NULL };

	argp_parse(&argp, argc, argv, COMMAND_FLAGS, NULL, NULL);
	return EXIT_DONE;
}

static const struct command commands[] = {
	{ "read", run_read, "reads a file" },
	{ "watch", run_watch, "watches a process", .alias = "observe" },
	{ "stop", run_stop, "stops" },
};

static const struct command siblings[] = { { "spy" } };

static struct program program = {
	.name = "tool",
	.what = "Does things.",
	.more = "And more.",
	.ask = "missing command",
	.commands = commands,
	.ncommands = 3,
	.sibling = "toolbox",
	.siblings = siblings,
	.nsiblings = 1,
};

#define HELP                                                                                       \
	"Usage: tool COMMAND [OPTION...]\nDoes things.\n\n"                                        \
	"  read    reads a file\n  watch   watches a process\n  stop    stops\n\nAnd more.\n"

static void call(const void *ctx)
{
	char *const *words = ctx;
	char *argv[8] = { "some/path/tool" };
	int argc = 1;

	while (words[argc - 1]) {
		argv[argc] = words[argc - 1];
		argc++;
	}
	exit(program__main(&program, argc, argv));
}

#define CALL(...) in_child(call, (const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static void assert_ran(struct ran ran, int status, const char *out, const char *err)
{
	assert_string_equal(ran.err, err);
	assert_string_equal(ran.out, out);
	assert_int_equal(ran.status, status);
}

#define USAGE(ran, text) assert_ran(ran, EXIT_USAGE, "", "tool: " text "; see 'tool --help'\n")
#define STOP_MISTAKE(ran, text)                                                                    \
	assert_ran(ran, EXIT_USAGE, "", "tool: stop: " text "; see 'tool stop --help'\n")
#define MISTAKE(ran, text)                                                                         \
	assert_ran(ran, EXIT_USAGE, "", "tool: read: " text "; see 'tool read --help'\n")

/* ---- verbs ---- */

TEST(verbs)
{
	assert_ran(CALL("read"), EXIT_DONE, "tool reads nothing\n", "");
	assert_ran(CALL("read", "f"), EXIT_DONE, "tool reads f\n", "");
	assert_ran(CALL("read", "f", "--force"), EXIT_DONE, "tool reads f by force\n", "");
	assert_ran(CALL("watch", "1", "2"), EXIT_DONE, "watches 1 2\n", "");
	assert_ran(CALL("observe", "1", "2"), EXIT_DONE, "watches 1 2\n", "");
	assert_ran(CALL("read", "bad"), EXIT_FAILED, "tool reads bad\n", "tool: bad is bad\n");
	assert_ran(CALL("read", "silent"), EXIT_FAILED, "tool reads silent\n", "");
}

TEST(helps)
{
	struct ran ran;

	assert_ran(CALL("help"), EXIT_DONE, HELP, "");
	assert_ran(CALL("--help"), EXIT_DONE, HELP, "");
	assert_ran(CALL("-h"), EXIT_DONE, HELP, "");
	assert_ran(CALL("--version"), EXIT_DONE, "tool " GOTRACE_VERSION "\n", "");
	assert_ran(CALL("-V"), EXIT_DONE, "tool " GOTRACE_VERSION "\n", "");
	ran = CALL("help", "read");
	assert_ran(CALL("read", "--help"), EXIT_DONE, ran.out, "");
	assert_ran(CALL("read", "-h"), EXIT_DONE, ran.out, "");
	assert_ran(CALL("read", "-?"), EXIT_DONE, ran.out, "");
	assert_ptr_equal(strstr(ran.out, "Usage: tool read "), ran.out);
	assert_non_null(strstr(ran.out, "--size=BYTES"));
	assert_null(strstr(ran.out, "secret"));
	assert_ran(CALL("help", "watch"), EXIT_DONE, "watches --help\n", "");
	USAGE(CALL("help", "zzz"), "unknown command 'zzz'");
}

TEST(no_verbs)
{
	USAGE(CALL(), "missing command");
	USAGE(CALL("raed"), "unknown command 'raed'; the most similar command is 'read'");
	USAGE(CALL("zzz"), "unknown command 'zzz'");
	USAGE(CALL("spy"), "'spy' is a command of toolbox: toolbox spy");
	USAGE(CALL("/dev/null"), "'/dev/null' is a file, not a command");
	USAGE(CALL("4711"), "unknown command '4711'");
	USAGE(CALL("-p", "4711"), "unknown command '-p'");
}

/* A program that has one takes options for that verb's, and a number for a process. */
TEST(a_fallback)
{
	program.fallback = &commands[1];
	assert_ran(CALL("-p", "4711"), EXIT_DONE, "watches -p 4711\n", "");
	assert_ran(CALL("--help"), EXIT_DONE, HELP, "");
	USAGE(CALL("4711"), "unknown command '4711'; to specify a process, use 'watch -p 4711'");
	USAGE(CALL("4711x"), "unknown command '4711x'");
	USAGE(CALL(""), "unknown command ''");
	USAGE(CALL("/dev/null"), "unknown command '/dev/null'");
	program.fallback = NULL;
}

static void print_to_a_full_disk(const void *ctx)
{
	assert_non_null(freopen("/dev/full", "w", stdout));
	call(ctx);
}

TEST(output_that_does_not_arrive)
{
	static const char *const watch[] = { "watch", NULL }, *const help[] = { "help", "read",
										NULL };

	assert_ran(in_child(print_to_a_full_disk, watch), EXIT_FAILED, "",
		   "tool: cannot write to standard output\n");
	assert_ran(in_child(print_to_a_full_disk, help), EXIT_FAILED, "",
		   "tool: cannot write to standard output\n");
}

/* ---- options ---- */

TEST(long_options)
{
	assert_ran(CALL("read", "--si", "5"), EXIT_DONE, "-s 5\ntool reads nothing\n", "");
	assert_ran(CALL("read", "--strict"), EXIT_DONE, "-t \ntool reads nothing\n", "");
	MISTAKE(CALL("read", "--zzzzzz"), "unrecognized option '--zzzzzz'");
	MISTAKE(CALL("read", "--zzzzzz=5"), "unrecognized option '--zzzzzz'");
	MISTAKE(CALL("read", "--stroct"),
		"unrecognized option '--stroct'; the most similar option is '--strict'");
	MISTAKE(CALL("read", "--stroct=1"),
		"unrecognized option '--stroct'; the most similar option is '--strict'");
	MISTAKE(CALL("read", "--secrat"), "unrecognized option '--secrat'");
	MISTAKE(CALL("read", "--str"), "option '--str' is ambiguous: --strict, --string");
	MISTAKE(CALL("read", "--strict=1"), "option '--strict' takes no argument");
	MISTAKE(CALL("read", "--stric=1"), "option '--strict' takes no argument");
	MISTAKE(CALL("read", "--size"), "option '--size' requires an argument: BYTES");
	MISTAKE(CALL("read", "f", "--si"), "option '--size' requires an argument: BYTES");
}

TEST(short_options)
{
	assert_ran(CALL("read", "-vs5"), EXIT_DONE, "-s 5\ntool reads nothing\n", "");
	MISTAKE(CALL("read", "-x"), "unrecognized option '-x'");
	MISTAKE(CALL("read", "-vx"), "unrecognized option '-x'");
	MISTAKE(CALL("read", "-vxv"), "unrecognized option '-x'");
	MISTAKE(CALL("read", "-xv", "f"), "unrecognized option '-x'");
	MISTAKE(CALL("read", "-s"), "option '-s' requires an argument: BYTES");
	MISTAKE(CALL("read", "-vs"), "option '-s' requires an argument: BYTES");
}

TEST(unexpected_arguments)
{
	MISTAKE(CALL("read", "f", "g"), "unexpected argument 'g'");
	MISTAKE(CALL("read", "f", "g", "h"), "unexpected argument 'g'");
	MISTAKE(CALL("read", "f", ""), "unexpected argument ''");
	MISTAKE(CALL("read", "f", "-"), "unexpected argument '-'");
	MISTAKE(CALL("read", "f", "--", "g"), "unexpected argument 'g'");
	STOP_MISTAKE(CALL("stop", "--quiet", "x"), "unexpected argument 'x'");
	STOP_MISTAKE(CALL("stop", "--time=5", "x"), "unexpected argument 'x'");
	STOP_MISTAKE(CALL("stop", "-t", "5", "x"), "unexpected argument 'x'");
	STOP_MISTAKE(CALL("stop", "-qt5", "x"), "unexpected argument 'x'");
	STOP_MISTAKE(CALL("stop", "--", "x"), "unexpected argument 'x'");
	STOP_MISTAKE(CALL("stop", "x"), "unexpected argument 'x'");
}

TEST(memory)
{
#define EXPECTED ": expected a size of at least 16M, such as 2G"
	assert_ran(CALL("read", "--max-memory=1G"), EXIT_DONE, "tool reads nothing\n", "");
	assert_ran(CALL("read", "--max-memory", "1G"), EXIT_DONE, "tool reads nothing\n", "");
	assert_ran(CALL("read", "--color=never"), EXIT_DONE, "tool reads nothing\n", "");
	MISTAKE(CALL("read", "--color", "red"),
		"invalid value 'red' for --color: must be auto, always or never");
	MISTAKE(CALL("read", "--max-memory=15M"), "invalid memory limit '15M'" EXPECTED);
	MISTAKE(CALL("read", "--max-memory", "x"), "invalid memory limit 'x'" EXPECTED);
}

/* ---- what verbs ask for ---- */

static void parse_ticks(const void *ctx)
{
	printf("%u %u\n", parse_tick("1ns"), parse_tick("64ns"));
}

static void parse_bad_tick(const void *ctx)
{
	parse_tick(ctx);
}

static void assert_refused(void (*fn)(const void *ctx), const void *ctx, const char *why)
{
	struct ran ran = in_child(fn, ctx);

	assert_non_null(strstr(ran.err, why));
	assert_int_equal(ran.status, EXIT_USAGE);
}

TEST(ticks)
{
	assert_ran(in_child(parse_ticks, NULL), 0, "1 64\n", "");
	assert_refused(parse_bad_tick, "2ns", "invalid tick '2ns': must be 1ns or 64ns");
}

static void compare(const void *ctx)
{
	const char *const *path = ctx;

	refuse_same_file("--in", path[0], "--out", path[1]);
}

#define COMPARE(a, b) compare, ((const char *const[]){ a, b })

TEST(same_file)
{
	char one[] = "/tmp/test_command.XXXXXX", two[64];
	int fd = mkstemp(one);

	assert_true(fd >= 0);
	close(fd);
	snprintf(two, sizeof(two), "%s.link", one);
	assert_int_equal(link(one, two), 0);
	assert_refused(COMPARE(one, one), "--in and --out name the same file, /tmp/test_command.");
	assert_refused(COMPARE(one, two), "name the same file");
	assert_refused(COMPARE("-", "-"), "name the same file, -");
	assert_ran(in_child(COMPARE(one, "/tmp")), 0, "", "");
	assert_ran(in_child(COMPARE("/tmp", "/tmp/")), 0, "", ""); /* no regular file */
	assert_ran(in_child(COMPARE("/dev/null", "/dev/null")), 0, "", "");
	assert_ran(in_child(COMPARE(one, "/no/such/file")), 0, "", "");
	assert_ran(in_child(COMPARE(NULL, one)), 0, "", "");
	assert_ran(in_child(COMPARE(one, NULL)), 0, "", "");
	unlink(two);
	unlink(one);
}

/* Whatever was inherited of SIGPIPE. */
static void write_to_nobody(const void *ctx)
{
	sigset_t pipes;
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipes, NULL);
	if (ctx)
		command__end_with_reader();
	if (pipe(fd) || close(fd[0]) || write(fd[1], "x", 1) < 0)
		exit(7);
}

TEST(reader_that_has_gone)
{
	assert_int_equal(in_child(write_to_nobody, NULL).status, 7);
	assert_int_equal(in_child(write_to_nobody, "").status, EXIT_DONE);
}
