// SPDX-License-Identifier: GPL-2.0
/*
 * What --label and --by need of a set of labels. Under test: analysis/labels.c, and the options of
 * analysis/select.c. check/labels.sh compares the results of the commands with a second
 * implementation.
 */
#include "unit/test.h"
#include "analysis/labels.h"
#include "analysis/select.h"

static struct intern *names;

static struct trace_string text(const char *string)
{
	return (struct trace_string){ string, (uint32_t)strlen(string) };
}

static struct goroutine_labels read_set(const struct selection *s, const char *message)
{
	struct goroutine_labels labels = {};

	assert_int_equal(labels__read(s, names, text(message), &labels), 0);
	return labels;
}

static bool selects(const char *label, const char *message)
{
	struct selection s = {};

	assert_int_equal(selection__option(&s, SELECT_LABEL, label), 0);
	return read_set(&s, message).selected;
}

TEST(patterns)
{
	assert_true(selects("a=1", "a=\"1\""));
	assert_true(selects("a=1", "\"a b\"=\"2\", a=\"1\", ..."));
	assert_false(selects("a=1", "a=\"12\""));
	assert_false(selects("a=12", "a=\"1\""));
	assert_false(selects("a=1", "aa=\"1\""));
	assert_false(selects("a=*", ""));
	assert_false(selects("a=*", "..."));
	assert_true(selects("a=*", "a=\"\""));
	assert_true(selects("a=", "a=\"\""));
	assert_false(selects("a=?", "a=\"\""));
	assert_true(selects("a=/*/x?", "a=\"/u/xx/xy\""));
	assert_false(selects("a=/*/x?", "a=\"/u/xx/y\""));
	assert_true(selects("a=*a*b*", "a=\"xxayyb\""));
	assert_false(selects("a=*a*b", "a=\"xxaybc\""));
	assert_true(selects("a=b=c", "a=\"b=c\""));
}

/* The time must not grow exponentially with the number of stars. */
TEST(many_stars)
{
	char label[200] = "a=", message[1010] = "a=\"";

	for (size_t i = 0; i < 48; i++)
		strcat(label, "*x");
	strcat(label, "*y");
	memset(message + 3, 'x', 1000);
	strcpy(message + 1003, "\"");
	assert_false(selects(label, message));
}

TEST(all_must_hold)
{
	struct selection s = {};

	assert_true(read_set(&s, "").selected); /* no filter */
	assert_false(selection__has_labels(&s));
	assert_int_equal(selection__option(&s, SELECT_LABEL, "a=1"), 0);
	assert_int_equal(selection__option(&s, SELECT_LABEL, "b=2"), 0);
	assert_true(selection__has_labels(&s));
	assert_true(selection__by_goroutine(&s));
	assert_true(read_set(&s, "a=\"1\", b=\"2\"").selected);
	assert_false(read_set(&s, "a=\"1\"").selected);
	assert_false(read_set(&s, "b=\"2\"").selected);
	assert_false(read_set(&s, "").selected);
}

TEST(groups)
{
	struct selection s = {};
	struct trace_string value;
	struct goroutine_labels one, other, none;

	assert_int_equal(selection__option(&s, SELECT_BY, "label:key"), 0);
	assert_true(selection__has_labels(&s));
	assert_false(selection__by_goroutine(&s));
	one = read_set(&s, "a=\"1\", key=\"v\"");
	other = read_set(&s, "key=\"\"");
	none = read_set(&s, "keys=\"v\"");
	assert_int_equal(one.group, read_set(&s, "key=\"v\", z=\"\"").group);
	assert_int_equal(none.group, read_set(&s, "").group);
	assert_true(one.group && other.group && none.group);
	assert_true(one.group != other.group && other.group != none.group);
	assert_true(one.selected);
	assert_true(labels__value(&s, intern__text_at(names, one.group), &value));
	assert_int_equal(value.len, 1);
	assert_memory_equal(value.data, "v", 1);
	assert_true(labels__value(&s, intern__text_at(names, other.group), &value));
	assert_int_equal(value.len, 0);
	assert_false(labels__value(&s, intern__text_at(names, none.group), &value));
	assert_int_equal(intern__text_at(names, none.group).len, strlen("(no key)"));
}

/* A log of the program's own in the same category changes nothing, nor does the label of a GC worker. */
TEST(no_set)
{
	struct selection s = { .by_label = "a" };
	struct goroutine_labels labels = { .group = 77 };
	struct semantics m = { .kind = SEMANTICS_LOG,
			       .name = text("goroutine labels"),
			       .message = text("a=\"1\"") };
	struct trace_string set = {};

	assert_true(labels__are_set(&m, &set));
	assert_ptr_equal(set.data, m.message.data);
	m.name.len--;
	assert_false(labels__are_set(&m, &set));
	m.name.len++;
	m.kind = SEMANTICS_REGION_BEGIN;
	assert_false(labels__are_set(&m, &set));
	m.kind = SEMANTICS_LABEL;
	m.name = text("GC (idle)");
	assert_false(labels__are_set(&m, &set));
	m.name = text("GC=\"1\"");
	assert_true(labels__are_set(&m, &set));
	assert_ptr_equal(set.data, m.name.data);
	assert_int_equal(labels__read(&s, names, text("a=\"1\", hello"), &labels), -EINVAL);
	assert_int_equal(labels.group, 77);
}

static int setup(void **state)
{
	names = intern__create();
	return !names;
}

static void teardown(void)
{
	intern__destroy(names);
}

GROUP(setup, teardown)
