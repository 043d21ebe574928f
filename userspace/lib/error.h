/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reason of a failure, as one line for the user.
 *
 * A function that knows the reason stores it, with its remedy, in the caller's struct error and
 * returns a negative errno; main() prints it once. Functions whose errno is sufficient take no
 * struct error.
 */
#ifndef LIB_ERROR_H
#define LIB_ERROR_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct error {
	char text[512]; /* no newline, no program name; empty: none */
	int code;	/* the errno that was returned with it */
};

/* Set the reason unless there is one already (the first is the cause). Returns `err`. */
__attribute__((format(printf, 3, 4))) static inline int error__set(struct error *e, int err,
								   const char *fmt, ...)
{
	va_list ap;

	if (e && !e->text[0]) {
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
		e->code = err;
	}
	return err;
}

/*
 * Set the reason *why, preceded by the name of the file unless it begins with that. Returns `err`.
 */
static inline int error__about(struct error *e, int err, const char *name, const struct error *why)
{
	if (!strncmp(why->text, name, strlen(name)))
		return error__set(e, err, "%s", why->text);
	return error__set(e, err, "%s: %s", name, why->text);
}

#endif
