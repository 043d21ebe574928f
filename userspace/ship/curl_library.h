/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of libcurl, which is loaded only when a trace is sent.
 *
 * Linked as usual it would load 20 further libraries, and double the time that every other command
 * of gotrace takes to start. Either build of libcurl is used, that with GnuTLS or with OpenSSL.
 * Used by http.c.
 */
#ifndef SHIP_CURL_LIBRARY_H
#define SHIP_CURL_LIBRARY_H

#define CURL_DISABLE_TYPECHECK /* its macros would call the functions by their names */
#include <curl/curl.h>

#include "lib/error.h"

#define CURL_FUNCTIONS(X)                                                                          \
	X(curl_global_init)                                                                        \
	X(curl_version_info)                                                                       \
	X(curl_easy_init)                                                                          \
	X(curl_easy_setopt)                                                                        \
	X(curl_easy_getinfo)                                                                       \
	X(curl_easy_reset)                                                                         \
	X(curl_easy_cleanup)                                                                       \
	X(curl_easy_strerror)                                                                      \
	X(curl_multi_init)                                                                         \
	X(curl_multi_setopt)                                                                       \
	X(curl_multi_add_handle)                                                                   \
	X(curl_multi_remove_handle)                                                                \
	X(curl_multi_perform)                                                                      \
	X(curl_multi_poll)                                                                         \
	X(curl_multi_info_read)                                                                    \
	X(curl_multi_cleanup)                                                                      \
	X(curl_slist_append)                                                                       \
	X(curl_slist_free_all)

/* libcurl.curl_easy_init() is curl_easy_init(), and so on. */
struct curl_library {
#define MEMBER(name) __typeof__(&(name)) name;
	CURL_FUNCTIONS(MEMBER)
#undef MEMBER
};
extern struct curl_library libcurl;

/* Loads it. 0, or a negative errno and the reason: it is missing, or too old to sign requests. */
int curl_library__load(struct error *error);

#endif
