// SPDX-License-Identifier: GPL-2.0
/*
 * Dispatch of commands: see command.h.
 *
 * Messages name the program by program_invocation_short_name, as in log.c, which is the same
 * whatever name it was started by.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gotrace/version.h"
#include "lib/command.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "lib/memory_limit.h"
#include "lib/mistake.h"
#include "lib/progress.h"
#include "lib/suggest.h"
#include "lib/terminal.h"

static const char *current_verb;  /* NULL: not known yet */
static const char *current_place; /* of a mistake; NULL: the command line */

static bool forced;

void command__set_place(const char *place)
{
	current_place = place;
}

void usage_error(const char *fmt, ...)
{
	const char *name = program_invocation_short_name, *verb = current_verb;
	const char *place = current_place ?: "", *colon = current_place ? ": " : "";
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (verb)
		log__msg("%s: %s%s%s; see '%s %s --help'", verb, place, colon, text, name, verb);
	else
		log__msg("%s%s%s; see '%s --help'", place, colon, text, name);
	exit(EXIT_USAGE);
}

/* This loses no data of a regular file: a broken pipe occurs only where output goes to a pipe. */
static void end_quietly(int sig)
{
	_exit(EXIT_DONE);
}

void command__end_with_reader(void)
{
	sigset_t pipe;

	signal(SIGPIPE, end_quietly);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigprocmask(SIG_UNBLOCK, &pipe, NULL); /* the mask may be inherited */
}

void refuse_same_file(const char *name, const char *path, const char *other_name, const char *other)
{
	struct stat a, b;
	bool same;

	if (!path || !other)
		return;
	same = !strcmp(path, other);
	if (!same && !stat(path, &a) && !stat(other, &b))
		same = a.st_dev == b.st_dev && a.st_ino == b.st_ino && S_ISREG(a.st_mode);
	if (same && strncmp(path, "/dev/", 5))
		usage_error("%s and %s name the same file, %s", name, other_name, path);
}

/* Of the last word of the option: VALUE, or --option=VALUE. */
static const char *value_of(const struct argp_state *state)
{
	const char *word = state->argv[state->next - 1], *value = strchr(word, '=');

	return value ? value + 1 : word;
}

static void limit_memory(const char *size)
{
	if (!memory_limit__set(size))
		usage_error(
			"invalid memory limit '%s': expected a size of at least 16M, such as 2G",
			size);
}

static void set_color(const char *when)
{
	if (!terminal__set_color(when))
		usage_error("invalid value '%s' for --color: must be auto, always or never", when);
}

static int flush(int status);

int command__key(int key, struct argp_state *state, const char *verb)
{
	char name[48];

	switch (key) {
	case ARGP_KEY_ERROR:
		mistake__report(state);
	case 'h':
	case '?':
		command__end_with_reader();
		snprintf(name, sizeof(name), "%s %s", program_invocation_short_name, verb);
		argp_help(state->root_argp, stdout,
			  ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
		exit(flush(EXIT_DONE));
	case OPT_FORCE:
		forced = true;
		return 0;
	case OPT_MAX_MEMORY:
		limit_memory(value_of(state));
		return 0;
	case OPT_COLOR:
		set_color(value_of(state));
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

bool command__forced(void)
{
	return forced;
}

unsigned int parse_tick(const char *text)
{
	if (!strcmp(text, "1ns"))
		return 1;
	if (!strcmp(text, "64ns"))
		return 64;
	usage_error("invalid tick '%s': must be 1ns or 64ns", text);
}

static int help(const struct program *program)
{
	int width = 0;
	size_t i;

	for (i = 0; i < program->ncommands; i++)
		if (width < (int)strlen(program->commands[i].verb))
			width = (int)strlen(program->commands[i].verb);
	printf("Usage: %s COMMAND [OPTION...]\n%s\n\n", program->name, program->what);
	for (i = 0; i < program->ncommands; i++)
		printf("  %-*s   %s\n", width, program->commands[i].verb,
		       program->commands[i].what);
	printf("\n%s\n", program->more);
	return EXIT_DONE;
}

static int version(const struct program *program)
{
	printf("%s %s\n", program->name, GOTRACE_VERSION);
	return EXIT_DONE;
}

/* Output counts only if it was written completely. */
static int flush(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	log__msg("cannot write to standard output");
	return EXIT_FAILED;
}

/* argp moves file names to the end. */
static int run(const struct program *program, const struct command *command, int argc, char **argv)
{
	struct error err = {};
	int status;

	current_verb = command->verb;
	argv[0] = program_invocation_name;
	if (program->limit_memory)
		memory_limit__default(argc, argv);
	status = command->run(argc, argv, &err);
	progress__end();
	memory_limit__explain(&err, argc > 1 ? argv[argc - 1] : NULL);
	if (status && err.text[0])
		log__msg("%s", err.text);
	return status;
}

static const struct command *find(const struct command *commands, size_t n, const char *verb)
{
	for (size_t i = 0; i < n; i++) {
		const struct command *command = &commands[i];

		if (!strcmp(verb, command->verb) ||
		    (command->alias && !strcmp(verb, command->alias)))
			return command;
	}
	return NULL;
}

/* The word may be a command of the other program, a file, a PID, or mistyped. */
static _Noreturn void unknown_verb(const struct program *program, const char *word)
{
	const char *verbs[32], *meant;
	size_t n = 0;

	if (find(program->siblings, program->nsiblings, word))
		usage_error("'%s' is a command of %s: %s %s", word, program->sibling,
			    program->sibling, word);
	while (n < program->ncommands && n < sizeof(verbs) / sizeof(*verbs)) {
		verbs[n] = program->commands[n].verb;
		n++;
	}
	meant = suggest__word(word, verbs, n);
	if (meant)
		usage_error("unknown command '%s'; the most similar command is '%s'", word, meant);
	if (program->fallback && *word && !word[strspn(word, "0123456789")])
		usage_error("unknown command '%s'; to specify a process, use '%s -p %s'", word,
			    program->fallback->verb, word);
	if (!program->fallback && !access(word, F_OK))
		usage_error("'%s' is a file, not a command", word);
	usage_error("unknown command '%s'", word);
}

/* `help VERB` is `VERB --help`. */
static int help_of(const struct program *program, int argc, char **argv)
{
	char *words[] = { argv[0], (char *)"--help", NULL };
	const struct command *command;

	if (argc < 3)
		return help(program);
	command = find(program->commands, program->ncommands, argv[2]);
	if (!command)
		unknown_verb(program, argv[2]);
	return run(program, command, 2, words);
}

static int dispatch(const struct program *program, int argc, char **argv)
{
	const struct command *command;
	const char *verb = argv[1];

	if (argc < 2)
		usage_error("%s", program->ask);
	if (!strcmp(verb, "--help") || !strcmp(verb, "-h") || !strcmp(verb, "help"))
		return help_of(program, argc, argv);
	if (!strcmp(verb, "--version") || !strcmp(verb, "-V"))
		return version(program);
	command = find(program->commands, program->ncommands, verb);
	if (command)
		return run(program, command, argc - 1, argv + 1);
	if (verb[0] == '-' && program->fallback)
		return run(program, program->fallback, argc, argv);
	unknown_verb(program, verb);
}

/*
 * A file that is opened later must not take the number of a closed standard file, and receive our
 * messages. As before, reading and writing of these fails.
 */
static void keep_standard_files(void)
{
	static const int mode[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", mode[fd] | O_CLOEXEC); /* the lowest free number */
}

int program__main(const struct program *program, int argc, char **argv)
{
	keep_standard_files();
	hash__randomize();
	argp_err_exit_status = EXIT_USAGE;
	program_invocation_name = program_invocation_short_name = (char *)program->name;
	return flush(dispatch(program, argc, argv));
}
