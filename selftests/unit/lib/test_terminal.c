// SPDX-License-Identifier: GPL-2.0
/*
 * What a terminal can do, by its environment variables and --color. Whether there is a terminal is this
 * file's.
 */
#include "unit/test.h"
#include "lib/terminal.h"

static bool terminal;

int isatty(int fd)
{
	return terminal;
}

static int set_up(void **state)
{
	terminal = true;
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	return !terminal__set_color("auto");
}

FIXTURE(set_up, NULL)

TEST(redraws)
{
	assert_true(terminal__can_redraw(1));
	unsetenv("TERM");
	assert_true(terminal__can_redraw(1));
	setenv("TERM", "dumb", 1);
	assert_false(terminal__can_redraw(1));
	setenv("TERM", "dumber", 1);
	assert_true(terminal__can_redraw(1));
	terminal = false;
	assert_false(terminal__can_redraw(1));
}

TEST(colors)
{
	assert_true(terminal__has_color(1));
	setenv("NO_COLOR", "", 1);
	assert_true(terminal__has_color(1));
	setenv("NO_COLOR", "0", 1);
	assert_false(terminal__has_color(1));
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	assert_false(terminal__has_color(1));
	setenv("TERM", "xterm", 1);
	terminal = false;
	assert_false(terminal__has_color(1));
}

TEST(option)
{
	assert_true(terminal__set_color("never"));
	assert_false(terminal__has_color(1));
	setenv("NO_COLOR", "1", 1);
	terminal = false;
	assert_true(terminal__set_color("always"));
	assert_true(terminal__has_color(1));
	assert_false(terminal__set_color("alway"));
	assert_false(terminal__set_color(""));
	assert_true(terminal__has_color(1));
	assert_true(terminal__set_color("auto"));
	assert_false(terminal__has_color(1));
}

TEST(columns)
{
	assert_int_equal(terminal__columns(-1), 80);
}
