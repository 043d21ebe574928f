// SPDX-License-Identifier: GPL-2.0
/*
 * Replaces names and texts: see anonymize.h.
 */
#include "rewrite/anonymize.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "rewrite/std_packages.h"

#define LABELS_MAX 64 /* labels of a log; the others are left out */

int anonymizer__init(struct anonymizer *a, const char *key, bool all)
{
	/* Two independent hashes of a key that is a text; any two constants do. */
	static const struct siphash_key halves[2] = { { { 1, 0 } }, { { 2, 0 } } };

	*a = (struct anonymizer){ .all = all };
	for (unsigned int i = 0; key && i < 2; i++)
		a->key.word[i] = siphash(&halves[i], key, strlen(key));
	if (!key && getrandom(&a->key, sizeof(a->key), 0) != sizeof(a->key))
		return -errno;
	return 0;
}

static size_t put_name(const struct anonymizer *a, enum anonymous what, struct trace_string name,
		       char *to)
{
	static const char *const prefixes[] = {
		[ANONYMOUS_TASK] = "task_",	  [ANONYMOUS_REGION] = "region_",
		[ANONYMOUS_CATEGORY] = "log_",	  [ANONYMOUS_KEY] = "key_",
		[ANONYMOUS_VALUE] = "value_",	  [ANONYMOUS_THREAD] = "t_",
		[ANONYMOUS_PACKAGE] = "package_", [ANONYMOUS_FUNCTION] = "function_",
		[ANONYMOUS_FILE] = "file_",
	};
	uint64_t hash = siphash(&a->key, name.data, name.len);
	int digits = what == ANONYMOUS_THREAD ? 12 : 16;

	return (size_t)snprintf(to, ANONYMOUS_MAX, "%s%0*" PRIx64, prefixes[what], digits,
				what == ANONYMOUS_THREAD ? hash >> 16 : hash);
}

struct trace_string anonymizer__name(struct anonymizer *a, enum anonymous what,
				     struct trace_string name)
{
	if (!name.len)
		return name;
	return (struct trace_string){ a->name, (uint32_t)put_name(a, what, name, a->name) };
}

/* ---- functions ---- */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The length of the path of the package: up to the first dot after the last slash. */
static uint32_t package_len(struct trace_string function)
{
	uint32_t len = 0;

	for (uint32_t i = 0; i < function.len && function.data[i] != '['; i++)
		if (function.data[i] == '/')
			len = i;
	while (len < function.len && function.data[len] != '.')
		len++;
	return len;
}

/* Whether the compiler makes such names: "func1", "gowrap2", "deferwrap1", "0". */
static bool is_generated(const char *word, size_t len)
{
	static const char *const prefixes[] = { "func", "gowrap", "deferwrap", "" };
	size_t skip;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		skip = strlen(prefixes[i]);
		if (len < skip || memcmp(word, prefixes[i], skip))
			continue;
		while (skip < len && word[skip] >= '0' && word[skip] <= '9')
			skip++;
		if (skip == len)
			return true;
	}
	return false;
}

static size_t generic_len(const char *text, size_t len)
{
	static const char generic[] = "[...]";

	return len >= strlen(generic) && !memcmp(text, generic, strlen(generic)) ? strlen(generic) :
										   0;
}

/* The length of a word of a symbol, which may be "(*Type)" or "(*Type[...])"; 0: something else. */
static size_t word_len(const char *text, size_t len)
{
	bool pointer = len > 2 && text[0] == '(' && text[1] == '*';
	size_t n = pointer ? 2 : 0, start = n;

	while (n < len && is_word(text[n]))
		n++;
	if (pointer && n > start)
		n += generic_len(text + n, len - n);
	if (pointer)
		return n > start && n < len && text[n] == ')' ? n + 1 : 0;
	return n;
}

/* Skips "[...]", "-fm" and "-range1" after a word. */
static size_t suffix_len(const char *text, size_t len)
{
	static const char value[] = "-fm", range[] = "-range";
	size_t n = generic_len(text, len);

	if (len - n >= strlen(value) && !memcmp(text + n, value, strlen(value)))
		return n + strlen(value);
	if (len - n >= strlen(range) && !memcmp(text + n, range, strlen(range)))
		for (n += strlen(range); n < len && text[n] >= '0' && text[n] <= '9';)
			n++;
	return n;
}

/*
 * Whether it is the name of a function or method, possibly of closures in it. Anything longer may
 * contain names of the program: types for which a generic function was compiled, or functions that
 * were inlined.
 */
static bool is_plain_symbol(const char *text, size_t len)
{
	unsigned int free_words = 0;
	size_t at = 0, word;

	while (at < len) {
		word = word_len(text + at, len - at);
		free_words += !is_generated(text + at, word);
		at += word;
		at += suffix_len(text + at, len - at);
		if (at < len && text[at++] != '.')
			return false;
	}
	return free_words <= 2;
}

static bool is_standard(struct trace_string function)
{
	uint32_t package = package_len(function);

	return package + 1 < function.len &&
	       std_package__is((struct trace_string){ function.data, package }) &&
	       is_plain_symbol(function.data + package + 1, function.len - package - 1);
}

/* Of a file of the standard library its name remains, behind the path of its package. */
static struct trace_string standard_file(struct anonymizer *a, struct trace_string function,
					 struct trace_string file)
{
	const char *name = file.len ? memrchr(file.data, '/', file.len) : NULL;
	uint32_t package = package_len(function), len;
	uint32_t dot = 0;

	name = name ? name + 1 : file.data;
	len = file.len - (uint32_t)(name - file.data);
	while (dot < len && is_word(name[dot]))
		dot++;
	if (!(len - dot == 3 && !memcmp(name + dot, ".go", 3)) &&
	    !(len - dot == 2 && !memcmp(name + dot, ".s", 2)))
		return (struct trace_string){ a->file, (uint32_t)put_name(a, ANONYMOUS_FILE, file,
									  a->file) };
	len = (uint32_t)snprintf(a->file, sizeof(a->file), "%.*s/%.*s", (int)package, function.data,
				 (int)len, name);
	if (len >= sizeof(a->file))
		len = sizeof(a->file) - 1;
	return (struct trace_string){ a->file, len };
}

static struct trace_string own_function(struct anonymizer *a, struct trace_string function)
{
	uint32_t package = package_len(function);
	size_t len = 0;

	if (package && package < function.len) {
		len = put_name(a, ANONYMOUS_PACKAGE,
			       (struct trace_string){ function.data, package }, a->function);
		a->function[len++] = '.';
	}
	len += put_name(a, ANONYMOUS_FUNCTION, function, a->function + len);
	return (struct trace_string){ a->function, (uint32_t)len };
}

void anonymizer__frame(struct anonymizer *a, struct trace_string *function,
		       struct trace_string *file)
{
	bool standard = !a->all && is_standard(*function);

	if (standard && file->len)
		*file = standard_file(a, *function, *file);
	else if (file->len)
		*file = (struct trace_string){ a->file, (uint32_t)put_name(a, ANONYMOUS_FILE, *file,
									   a->file) };
	if (!standard && function->len)
		*function = own_function(a, *function);
}

/* ---- logs ---- */

/* Such as 404. */
static bool is_status(struct trace_string s)
{
	for (uint32_t i = 0; i < s.len; i++)
		if (s.data[i] < '0' || s.data[i] > '9')
			return false;
	return s.len <= 3;
}

struct anonymous_label {
	char key[ANONYMOUS_MAX], value[ANONYMOUS_MAX];
};

int anonymizer__labels(struct anonymizer *a, struct trace_string *message)
{
	struct labels_reader r = labels_reader__make(*message);
	struct anonymous_label labels[LABELS_MAX];
	struct label_pair pairs[LABELS_MAX];
	bool cut = false;
	size_t n = 0;
	int err;

	while ((err = labels_reader__next(&r)) > 0) {
		const struct trace_string key = { r.key.data, (uint32_t)r.key.len };
		const struct trace_string value = { r.value.data, (uint32_t)r.value.len };

		cut |= n == LABELS_MAX;
		if (n == LABELS_MAX)
			continue;
		pairs[n].key.data = labels[n].key;
		pairs[n].key.len = (uint32_t)put_name(a, ANONYMOUS_KEY, key, labels[n].key);
		pairs[n].value.data = labels[n].value;
		pairs[n].value.len = (uint32_t)put_name(a, ANONYMOUS_VALUE, value, labels[n].value);
		n++;
	}
	cut |= r.cut;
	labels_reader__deinit(&r);
	*message = (struct trace_string){ "", 0 };
	if (err == -ENOMEM)
		return err;
	if (!err)
		*message = (struct trace_string){ a->labels, (uint32_t)labels__format(pairs, n, cut,
										      a->labels) };
	return 0;
}

int anonymizer__log(struct anonymizer *a, struct trace_string *category,
		    struct trace_string *message)
{
	if (trace_string__equals(*category, LABELS_CATEGORY))
		return anonymizer__labels(a, message);
	if (trace_string__equals(*category, "status") && is_status(*message))
		return 0;
	*message = (struct trace_string){ "", 0 };
	if (!trace_string__equals(*category, "error") && !trace_string__equals(*category, "status"))
		*category = anonymizer__name(a, ANONYMOUS_CATEGORY, *category);
	return 0;
}
