// SPDX-License-Identifier: GPL-2.0
/*
 * Where traces are stored: which destinations are valid, and the key and URL of a file.
 */
#include "unit/test.h"
#include "ship/place.h"

TEST(buckets)
{
	static const char *const bad[] = {
		"",
		"s3://",
		"s3:/bucket",
		"s3://ab",
		"s3://Bucket",
		"s3://-ab",
		"s3://abc.",
		"s3://a_b_c",
		"s3://abc/a//b",
		"s3://abc/.",
		"s3://abc/../x",
		"s3://abc/a?b",
		"s3://abc/a b",
		"s3://abc/%41",
	};
	struct place p = {};
	struct error error;
	char text[400];

	assert_int_equal(place__set_bucket(&p, "s3://my.bucket-1/a/b=c/d_.e/", NULL), 0);
	assert_string_equal(p.bucket, "my.bucket-1");
	assert_string_equal(p.prefix, "a/b=c/d_.e");
	assert_int_equal(place__set_bucket(&p, "s3://abc", NULL), 0);
	assert_string_equal(p.prefix, "");
	assert_int_equal(place__set_bucket(&p, "s3://abc/..x/.y", NULL), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error = (struct error){};
		if (!place__set_bucket(&p, bad[i], &error))
			fail_msg("accepted: %s", bad[i]);
		assert_true(error.text[0]);
	}
	for (int len = 50; len < 400; len += 7) { /* of the bucket, then of the prefix */
		strcpy(text, "s3://");
		memset(text + 5, 'a', (size_t)len - 5);
		text[len] = '\0';
		assert_int_equal(place__set_bucket(&p, text, NULL) == 0, len - 5 <= 63);
		memcpy(text + 5, "abc/", 4);
		assert_int_equal(place__set_bucket(&p, text, NULL) == 0, len - 9 <= 255);
	}
}

static bool accepts(const char *endpoint, bool insecure)
{
	struct place p = {};

	return !place__set_endpoint(&p, endpoint, insecure, NULL);
}

TEST(endpoints)
{
	struct place p = {};

	assert_int_equal(place__set_region(&p, "eu-central-1", NULL), 0);
	assert_true(place__set_region(&p, "", NULL));
	assert_true(place__set_region(&p, "eu/x", NULL));
	assert_true(place__set_region(&p, "eu:s3", NULL));
	assert_int_equal(place__set_endpoint(&p, NULL, false, NULL), 0);
	assert_string_equal(p.endpoint, "https://s3.eu-central-1.amazonaws.com");
	assert_int_equal(place__set_region(&p, "cn-north-1", NULL), 0);
	assert_int_equal(place__set_endpoint(&p, NULL, false, NULL), 0);
	assert_string_equal(p.endpoint, "https://s3.cn-north-1.amazonaws.com.cn");
	assert_false(p.loopback);
	assert_int_equal(place__set_endpoint(&p, "http://127.1.2.3:9000/", false, NULL), 0);
	assert_string_equal(p.endpoint, "http://127.1.2.3:9000");
	assert_true(p.loopback);

	assert_true(accepts("http://localhost", false) && accepts("http://[::1]:1", false));
	assert_true(accepts("https://s3.example.com:65535", false));
	assert_true(accepts("https://[fd00::1]", false) && accepts("http://10.0.0.1", true));
	assert_false(accepts("http://10.0.0.1", false) || accepts("http://localhost.x", false));
	assert_false(accepts("http://127.0.0.1.x", false) || accepts("http://127.0.0.1@x", true));
	assert_false(accepts("ftp://localhost", true) || accepts("localhost", true));
	assert_false(accepts("https://", false) || accepts("https://h:", false));
	assert_false(accepts("https://h:0", false) || accepts("https://h:65536", false));
	assert_false(accepts("https://h/path", false) || accepts("https://u:p@h", false));
	assert_false(accepts("https://h?x", false) || accepts("https://[::1", false));
}

TEST(names)
{
	static const char *const bad[] = {
		"web1-app-42-20261127T031500.000Z.trac",
		"web1-app-42-20261127T031500.000Z.trace.partial",
		"web1-app-42-20261127T031500.00Z.trace",
		"web1-app-42-2026112T0315000.000Z.trace",
		"web1-app-x-20261127T031500.000Z.trace",
		"web1-app-20261127T031500.000Z.trace",
		"web1--42-20261127T031500.000Z.trace",
		"web1-app-42-20261127T031500.000Zx.trace",
		"other.trace",
		"a-b-1-.trace",
	};
	struct place_parts parts;

	assert_true(place__split("web1-my_app-42-20261127T031500.250Z-signal-x.trace", &parts));
	assert_string_equal(parts.host, "web1");
	assert_string_equal(parts.service, "my_app");
	assert_string_equal(parts.pid, "42");
	assert_string_equal(parts.start, "20261127T031500.250Z");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (place__split(bad[i], &parts))
			fail_msg("accepted: %s", bad[i]);
	assert_true(place__is_part("node-1.x_y") && !place__is_part("") && !place__is_part("a/b"));
	assert_true(!place__is_part("..") && !place__is_part("a b"));
}

TEST(made_names_are_split)
{
	const struct file_target target = { "/usr/bin/se-r ver", 7 };
	char name[FILE_NAME_SIZE];
	struct place_parts parts;

	file_name__make(name, &target, 1795749300123000000, "a cause");
	assert_true(place__split(name, &parts));
	assert_string_equal(parts.service, "se_r_ver");
	assert_string_equal(parts.start, "20261127T031500.123Z");
}

TEST(keys)
{
	static const char name[] = "web1-app-42-20261127T031500.250Z.trace";
	struct place p = { .bucket = "b", .prefix = "x/y=z", .endpoint = "https://h" };
	char key[PLACE_KEY_SIZE], url[PLACE_URL_SIZE];
	struct place_parts parts;

	assert_true(place__split(name, &parts));
	place__key(&p, &parts, name, key);
	assert_string_equal(key, "x/y=z/date=2026-11-27/hour=03/host=web1/service=app/"
				 "web1-app-42-20261127T031500.250Z.trace");
	place__url(&p, key, url);
	assert_string_equal(url, "https://h/b/x/y%3Dz/date%3D2026-11-27/hour%3D03/host%3Dweb1/"
				 "service%3Dapp/web1-app-42-20261127T031500.250Z.trace");
	p.prefix[0] = '\0';
	place__key(&p, &parts, name, key);
	assert_memory_equal(key, "date=", 5);
}
