/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Configuration files: the options of a command line, one per line.
 *
 *	# a comment
 *	exe = caddy
 *	requests = http,sql
 *	inherit = yes
 *
 * A name is that of a long option. A program that runs as root for months is started by such a file,
 * so it is read only if no other user can have written it. Upstream: verbs with the option --config.
 */
#ifndef SERVICE_CONFIG_H
#define SERVICE_CONFIG_H

#include <argp.h>
#include <stddef.h>

#include "lib/error.h"

#define CONFIG_MAX 65536 /* bytes of a file */

/* A line: its number from 1, name and value. A negative errno ends the reading. */
typedef int (*config_fn)(void *ctx, unsigned int line, const char *name, const char *value);

/*
 * Splits `text`, whose byte text[len] is writable, into lines, and calls `fn` for each with a name.
 * Names and values remain valid as long as `text`, which is changed. 0; what `fn` returned; or -EINVAL
 * and the reason, with *ret_line.
 */
int config__split(char *text, size_t len, config_fn fn, void *ctx, unsigned int *ret_line,
		  struct error *error);

/*
 * Parses a command line. If it has the option with this key, whose argument is a file, the options in
 * the file are parsed first, except those that the command line has as well. A mistake is a
 * usage_error() that names the line. What `parser` stores of the file remains valid until the process
 * ends. It is called once per line and once for the command line, so it may not require that an option
 * is given. 0, or a negative errno and the reason: the file cannot be read, or another user may have
 * written it.
 */
int config__parse(const struct argp *parser, int key, int argc, char **argv, void *input,
		  struct error *error);

#endif
