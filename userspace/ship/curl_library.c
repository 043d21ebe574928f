// SPDX-License-Identifier: GPL-2.0
/*
 * Loads libcurl: see curl_library.h.
 */
#include "ship/curl_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

/* 7.87.0 signs requests for S3 whose body is not in memory; 7.85.0 has CURLOPT_PROTOCOLS_STR. */
#define VERSION_OLDEST 0x075700

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

struct curl_library libcurl;

static int load_functions(void *handle, struct error *error)
{
	static const struct {
		const char *name;
		size_t offset;
	} function[] = {
#define ROW(name) { #name, offsetof(struct curl_library, name) },
		CURL_FUNCTIONS(ROW)
#undef ROW
	};

	for (size_t i = 0; i < sizeof(function) / sizeof(function[0]); i++) {
		void *address = dlsym(handle, function[i].name);

		if (!address)
			return error__set(error, -ELIBACC, "libcurl is too old: %s() is missing",
					  function[i].name);
		memcpy((char *)&libcurl + function[i].offset, &address, sizeof(address));
	}
	return 0;
}

static int start(struct error *error)
{
	const curl_version_info_data *version = libcurl.curl_version_info(CURLVERSION_NOW);

	if (version->version_num < VERSION_OLDEST)
		return error__set(error, -ELIBACC,
				  "libcurl %s is too old: 7.87.0 or newer is required",
				  version->version);
	if (libcurl.curl_global_init(CURL_GLOBAL_DEFAULT))
		return error__set(error, -ELIBACC, "libcurl failed to start");
	return 0;
}

int curl_library__load(struct error *error)
{
	static const char *const name[] = { "libcurl-gnutls.so.4", "libcurl.so.4" };
	void *handle = NULL;
	int err;

	for (size_t i = 0; !handle && i < sizeof(name) / sizeof(name[0]); i++)
		handle = dlopen(name[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return error__set(error, -ELIBACC,
				  "libcurl is missing: install the package libcurl3-gnutls or "
				  "libcurl4");
	err = load_functions(handle, error);
	return err ?: start(error);
}
