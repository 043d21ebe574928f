// SPDX-License-Identifier: GPL-2.0
/*
 * What the answers of a server mean, files with keys, and the checksum of a file.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "unit/test.h"
#include "ship/transfer.h"
#include "unit/trace_bytes.h"

/* SHA-256 of "abc", from FIPS 180-2 */
#define ABC	   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define ABC_BASE64 "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="

static const struct transfer abc = { .bytes = 3, .digest = { ABC, ABC_BASE64 } };

static enum transfer_result put(unsigned int status, const char *checksum)
{
	struct http_answer answer = { .status = status };

	strcpy(answer.checksum, checksum);
	return transfer__result(&abc, &answer, false);
}

static enum transfer_result head(uint64_t length, const char *checksum, const char *sha256)
{
	struct http_answer answer = { .status = 200, .length = length };

	strcpy(answer.checksum, checksum);
	strcpy(answer.sha256, sha256);
	return transfer__result(&abc, &answer, true);
}

TEST(answers)
{
	static const unsigned int denied[] = { 301, 307, 401, 403, 404, 405, 501 },
				  passing[] = { 0, 400, 408, 409, 429, 500, 502, 503, 504 };

	assert_int_equal(put(200, ABC_BASE64), TRANSFER_ACCEPTED);
	assert_int_equal(put(200, ""), TRANSFER_UNCERTAIN);
	assert_int_equal(put(200, "x"), TRANSFER_UNCERTAIN);
	assert_int_equal(put(412, ABC_BASE64), TRANSFER_UNCERTAIN);
	for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++)
		assert_int_equal(put(denied[i], ABC_BASE64), TRANSFER_DENIED);
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		assert_int_equal(put(passing[i], ABC_BASE64), TRANSFER_RETRY);
	assert_int_equal(head(3, ABC_BASE64, ""), TRANSFER_ACCEPTED);
	assert_int_equal(head(3, "", ABC), TRANSFER_ACCEPTED);
	assert_int_equal(head(3, "x", ABC), TRANSFER_DIFFERS);
	assert_int_equal(head(3, "", ""), TRANSFER_DIFFERS);
	assert_int_equal(head(4, ABC_BASE64, ABC), TRANSFER_DIFFERS);
	assert_int_equal(transfer__result(&abc, &(struct http_answer){ .status = 404 }, true),
			 TRANSFER_RETRY);
	assert_int_equal(transfer__result(&abc, &(struct http_answer){ .status = 403 }, true),
			 TRANSFER_DENIED);
	assert_int_equal(transfer__result(&abc, &(struct http_answer){ .untrusted = true }, false),
			 TRANSFER_DENIED);
}

static const char *write_file(const char *text, size_t len, mode_t mode)
{
	const char *path = scratch("file");
	FILE *f;

	unlink(path);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
	return path;
}

TEST(digests)
{
	struct digest_text text;
	struct digest d = {};
	char *large = calloc(1, 10u << 20);
	unsigned int steps = 1;
	int fd = open(write_file("abc", 3, 0600), O_RDONLY);

	assert_int_equal(digest__begin(&d), 0);
	assert_int_equal(digest__step(&d, fd, 3, &text), 1);
	assert_string_equal(text.hex, ABC);
	assert_string_equal(text.base64, ABC_BASE64);
	assert_int_equal(digest__begin(&d), 0);
	assert_int_equal(digest__step(&d, fd, 0, &text), 1);
	assert_string_equal(text.hex, DIGEST_OF_NOTHING);
	assert_int_equal(digest__begin(&d), 0);
	assert_int_equal(digest__step(&d, fd, 4, &text), -ENODATA);
	close(fd);
	fd = open(write_file(large, 10u << 20, 0600), O_RDONLY);
	assert_int_equal(digest__begin(&d), 0); /* also ends the one that failed */
	while (!digest__step(&d, fd, 10u << 20, &text))
		steps++;
	assert_int_equal(steps, 3);
	/* head -c 10M /dev/zero | sha256sum */
	assert_string_equal(text.hex,
			    "e5b844cc57f57094ea4585e235f36c78c1cd222262bb89d53c94dcb4d6b3e55d");
	close(fd);
	free(large);
}

static int read_keys(struct credentials *ret, const char *text, mode_t mode, struct error *error)
{
	*error = (struct error){};
	return credentials__read(ret, write_file(text, strlen(text), mode), error);
}

TEST(keys_of_a_file)
{
	static const char good[] = "aws_access_key_id = A\naws_secret_access_key=s/+=\n"
				   "aws_session_token = t==\nregion = x\n"
				   "[other]\naws_access_key_id = B\nno line\n"
				   "[default]\n# x\naws_access_key_id = C";
	struct credentials c;
	struct error error;

	assert_int_equal(read_keys(&c, good, 0600, &error), 0);
	assert_string_equal(c.id, "C");
	assert_string_equal(c.secret, "s/+=");
	assert_string_equal(c.token, "t==");
	assert_int_equal(read_keys(&c, good, 0604, &error), -EPERM);
	assert_int_equal(read_keys(&c, good, 0620, &error), -EPERM);
	assert_int_equal(read_keys(&c, "", 0600, &error), -ENOKEY);
	assert_int_equal(read_keys(&c, "aws_access_key_id = A\n", 0600, &error), -ENOKEY);
	assert_int_equal(read_keys(&c, "\naws_secret_access_key = top secret\n", 0600, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "line 2 is invalid"));
	assert_null(strstr(error.text, "secret"));
}

TEST(keys_of_the_environment)
{
	struct credentials c;
	char long_text[6000];

	unsetenv("AWS_SESSION_TOKEN");
	setenv("AWS_ACCESS_KEY_ID", "id", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
	assert_int_equal(credentials__read(&c, NULL, NULL), 0);
	assert_string_equal(c.id, "id");
	assert_string_equal(c.token, "");
	setenv("AWS_SESSION_TOKEN", "a\r\nx-header: b", 1);
	assert_int_equal(credentials__read(&c, NULL, NULL), -EINVAL);
	memset(long_text, 'a', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	setenv("AWS_SESSION_TOKEN", long_text, 1);
	assert_int_equal(credentials__read(&c, NULL, NULL), -EINVAL);
	setenv("AWS_ACCESS_KEY_ID", "", 1);
	assert_int_equal(credentials__read(&c, NULL, NULL), -ENOKEY);
}
