// SPDX-License-Identifier: GPL-2.0
/* Names and texts of an anonymous trace: which functions keep their names, and what logs become. */
#include "unit/test.h"
#include "rewrite/anonymize.h"
#include "rewrite/std_packages.h"

static struct trace_string text(const char *s)
{
	return (struct trace_string){ s, (uint32_t)strlen(s) };
}

static bool is(struct trace_string s, const char *want)
{
	return s.len == strlen(want) && !memcmp(s.data, want, s.len);
}

static bool begins(struct trace_string s, const char *want)
{
	return s.len >= strlen(want) && !memcmp(s.data, want, strlen(want));
}

/* The vectors of the reference implementation: the key 0 to 15, texts 0, 1, 2, ... */
TEST(vectors)
{
	const struct siphash_key key = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };
	unsigned char bytes[16];

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	assert_true(siphash(&key, bytes, 0) == 0x726fdb47dd0e0e31);
	assert_true(siphash(&key, bytes, 1) == 0x74f839c593dc67fd);
	assert_true(siphash(&key, bytes, 8) == 0x93f5f5799a932462);
	assert_true(siphash(&key, bytes, 15) == 0xa129ca6149be45e5);
}

TEST(packages)
{
	static const char *const standard[] = { "runtime",
						"net/http",
						"internal/poll",
						"runtime/internal/atomic",
						"iter",
						"archive/tar",
						"crypto/internal/fips140/sha256",
						"unsafe",
						"net/http/internal",
						"vendor/golang.org/x/net/dns" };
	static const char *const others[] = { "main",
					      "",
					      "net/billing",
					      "app",
					      "app/internal/poll",
					      "run",
					      "golang.org/x/net/dns",
					      "go",
					      "unsafely",
					      "net/",
					      "internal" };

	for (size_t i = 0; i < sizeof(standard) / sizeof(*standard); i++)
		if (!std_package__is(text(standard[i])))
			fail_msg("%s", standard[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (std_package__is(text(others[i])))
			fail_msg("%s", others[i]);
}

TEST(kept_functions)
{
	static const char *const names[] = { "runtime.gopark",
					     "runtime.main.func2",
					     "sync.(*Once).doSlow",
					     "net/http.(*Server).Serve.gowrap3",
					     "net/http.HandlerFunc.ServeHTTP",
					     "slices.SortFunc[...]",
					     "iter.Pull[...].func1",
					     "sync.(*Map[...]).Load",
					     "os.glob..func1",
					     "maps.Keys[...].func1-range2",
					     "sync.(*RWMutex).Unlock-fm",
					     "sync.init.0" };
	struct anonymizer a;

	assert_int_equal(anonymizer__init(&a, "key", false), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct trace_string function = text(names[i]);
		struct trace_string file = text("/home/alice/sdk/src/some/file_1.go");
		char want[64];

		anonymizer__frame(&a, &function, &file);
		if (!is(function, names[i]))
			fail_msg("%s", names[i]);
		snprintf(want, sizeof(want), "%.*s/file_1.go", (int)strcspn(names[i], "."),
			 names[i]);
		assert_true(is(file, want));
	}
}

TEST(replaced_functions)
{
	static const char *const names[] = { "main.main",
					     "example.com/secret.(*T).F",
					     "secret/net/http.Get",
					     "net/billing.F",
					     "slices.SortFunc[go.shape.*secret.T]",
					     "slices.SortFunc[...].secret.F.func1",
					     "sync.OnceFunc.F.secret.G",
					     "type:.eq.secret.T",
					     "go:struct { secret int }.F",
					     "x_cgo_thread_start",
					     "runtime.secret-name",
					     "runtime.(secret).F",
					     "runtime.sec\xc3\xa9ret",
					     "runtime.",
					     ".",
					     "[" };
	struct anonymizer a, all;

	assert_int_equal(anonymizer__init(&a, "key", false), 0);
	assert_int_equal(anonymizer__init(&all, "key", true), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct trace_string function = text(names[i]), file = text("/home/alice/secret.go");

		anonymizer__frame(&a, &function, &file);
		if (memmem(function.data, function.len, "secret", 6) || is(function, names[i]) ||
		    !memmem(function.data, function.len, "function_", 9))
			fail_msg("%s: %.*s", names[i], (int)function.len, function.data);
		assert_true(begins(file, "file_"));
	}
	{
		struct trace_string function = text("runtime.gopark"),
				    file = text("/x/runtime/proc.go");

		anonymizer__frame(&all, &function, &file);
		assert_true(begins(function, "package_") && begins(file, "file_"));
	}
}

/* Functions of one package have one prefix; what is equal remains equal, also in another file. */
TEST(stable)
{
	struct anonymizer a, b, other, random[2];
	struct trace_string f = text("main.f"), g = text("main.g"), none = {}, again = f, third = f;

	assert_int_equal(anonymizer__init(&a, "key", false), 0);
	assert_int_equal(anonymizer__init(&b, "key", false), 0);
	assert_int_equal(anonymizer__init(&other, "yek", false), 0);
	anonymizer__frame(&a, &f, &none);
	assert_int_equal(none.len, 0);
	anonymizer__frame(&b, &again, &none);
	assert_true(f.len == again.len && !memcmp(f.data, again.data, f.len));
	anonymizer__frame(&other, &third, &none);
	assert_true(f.len != third.len || memcmp(f.data, third.data, f.len));
	anonymizer__frame(&b, &g, &none);
	assert_true(!memcmp(f.data, g.data, strlen("package_0123456789abcdef.")) &&
		    memcmp(f.data, g.data, f.len));
	for (int i = 0; i < 2; i++)
		assert_int_equal(anonymizer__init(&random[i], NULL, false), 0);
	assert_true(memcmp(&random[0].key, &random[1].key, sizeof(random[0].key)));
}

TEST(files)
{
	struct anonymizer a;
	struct trace_string function = text("runtime.asm"), file = text("C:\\secret dir\\x.go");

	assert_int_equal(anonymizer__init(&a, "key", false), 0);
	anonymizer__frame(&a, &function, &file);
	assert_true(begins(file, "file_"));
	file = text("asm_amd64.s");
	anonymizer__frame(&a, &function, &file);
	assert_true(is(file, "runtime/asm_amd64.s"));
}

TEST(logs)
{
	static const struct {
		const char *category, *message, *want_category, *want;
	} kept[] = {
		{ "status", "503", "status", "503" },
		{ "status", "secret", "status", "" },
		{ "error", "secret", "error", "" },
		{ LABELS_CATEGORY, "secret", LABELS_CATEGORY, "" },
		{ LABELS_CATEGORY, "", LABELS_CATEGORY, "" },
		{ LABELS_CATEGORY, "...", LABELS_CATEGORY, "..." },
	};
	struct trace_string category, message;
	struct anonymizer a;

	assert_int_equal(anonymizer__init(&a, "key", false), 0);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		category = text(kept[i].category);
		message = text(kept[i].message);
		assert_int_equal(anonymizer__log(&a, &category, &message), 0);
		assert_true(is(category, kept[i].want_category) && is(message, kept[i].want));
	}
	message = text("secret=\"1\", secrets=\"secret\", ...");
	assert_int_equal(anonymizer__labels(&a, &message), 0);
	assert_true(begins(message, "key_") && !memmem(message.data, message.len, "secret", 6) &&
		    memmem(message.data, message.len, ", ...", 5));
	category = text("secret");
	message = text("503");
	assert_int_equal(anonymizer__log(&a, &category, &message), 0);
	assert_true(begins(category, "log_") && !message.len);
	category = text(LABELS_CATEGORY);
	message = text("secret=\"1\", secrets=\"secret\"");
	assert_int_equal(anonymizer__log(&a, &category, &message), 0);
	assert_true(begins(message, "key_") && !memmem(message.data, message.len, "secret", 6) &&
		    memmem(message.data, message.len, "=\"value_", 8));
}
