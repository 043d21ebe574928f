// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of terminals: see terminal.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/terminal.h"

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;

bool terminal__can_redraw(int fd)
{
	const char *type = getenv("TERM");

	return (!type || strcmp(type, "dumb")) && isatty(fd);
}

bool terminal__has_color(int fd)
{
	const char *no_color = getenv("NO_COLOR");

	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	return !(no_color && *no_color) && terminal__can_redraw(fd);
}

bool terminal__set_color(const char *when)
{
	static const char *const names[] = { "auto", "always", "never" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(when, names[i])) {
			color = i;
			return true;
		}
	return false;
}

unsigned int terminal__columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
}
