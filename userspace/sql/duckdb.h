/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of DuckDB's C API that gotrace uses, declared here because the library is optional: it
 * is loaded at run time by sql/engine.c, and nothing of it is needed to build.
 *
 * Names, arguments and numbers are those of duckdb.h, from DuckDB 1.2 on, where these functions
 * belong to the stable API or have been kept for compatibility. Handles are opaque pointers.
 */
#ifndef SQL_DUCKDB_H
#define SQL_DUCKDB_H

#include <stdbool.h>
#include <stdint.h>

typedef void *duckdb_handle; /* of a database, connection, type, chunk, vector, ... */

/* Passed by value, too; the members are the library's. */
struct duckdb_result {
	uint64_t deprecated[3];
	void *deprecated_pointers[2];
	void *internal;
};

/* A text in a vector. Up to 12 bytes are in it; otherwise `prefix` has its first four. */
struct duckdb_text {
	union {
		struct {
			uint32_t length;
			char prefix[4];
			const char *data;
		};
		struct {
			uint32_t same_length;
			char inlined[12];
		};
	};
};
_Static_assert(sizeof(struct duckdb_text) == 16, "the layout of the library");
#define DUCKDB_INLINED 12

struct duckdb_hugeint {
	uint64_t lower;
	int64_t upper;
};

#define DUCKDB_ROWS 2048 /* of a full chunk */

enum duckdb_type {
	DUCKDB_BOOLEAN = 1,
	DUCKDB_TINYINT,
	DUCKDB_SMALLINT,
	DUCKDB_INTEGER,
	DUCKDB_BIGINT,
	DUCKDB_UTINYINT,
	DUCKDB_USMALLINT,
	DUCKDB_UINTEGER,
	DUCKDB_UBIGINT,
	DUCKDB_FLOAT,
	DUCKDB_DOUBLE,
	DUCKDB_TIMESTAMP,
	DUCKDB_DATE,
	DUCKDB_HUGEINT = 16,
	DUCKDB_VARCHAR,
	DUCKDB_DECIMAL = 19,
	DUCKDB_SQLNULL = 36,
};

#define DUCKDB_STATEMENT_SELECT 1

/* X(result, name, arguments); a result of int is 0 on success, unless it is a number */
/* clang-format off */
#define DUCKDB_FUNCTIONS(X) \
	X(const char *, library_version, void) \
	X(int, create_config, duckdb_handle *config) \
	X(int, set_config, duckdb_handle config, const char *name, const char *value) \
	X(void, destroy_config, duckdb_handle *config) \
	X(int, open_ext, const char *path, duckdb_handle *db, duckdb_handle config, char **error) \
	X(void, close, duckdb_handle *db) \
	X(int, connect, duckdb_handle db, duckdb_handle *connection) \
	X(void, disconnect, duckdb_handle *connection) \
	X(void, interrupt, duckdb_handle connection) \
	X(void, free, void *data) \
	X(int, query, duckdb_handle connection, const char *text, struct duckdb_result *ret) \
	X(int, prepare, duckdb_handle connection, const char *text, duckdb_handle *statement) \
	X(const char *, prepare_error, duckdb_handle statement) \
	X(int, prepared_statement_type, duckdb_handle statement) \
	X(int, execute_prepared_streaming, duckdb_handle statement, struct duckdb_result *ret) \
	X(void, destroy_prepare, duckdb_handle *statement) \
	X(const char *, result_error, struct duckdb_result *result) \
	X(void, destroy_result, struct duckdb_result *result) \
	X(uint64_t, column_count, struct duckdb_result *result) \
	X(const char *, column_name, struct duckdb_result *result, uint64_t column) \
	X(int, column_type, struct duckdb_result *result, uint64_t column) \
	X(duckdb_handle, column_logical_type, struct duckdb_result *result, uint64_t column) \
	X(duckdb_handle, fetch_chunk, struct duckdb_result result) \
	X(void, destroy_data_chunk, duckdb_handle *chunk) \
	X(uint64_t, data_chunk_get_size, duckdb_handle chunk) \
	X(void, data_chunk_set_size, duckdb_handle chunk, uint64_t rows) \
	X(duckdb_handle, data_chunk_get_vector, duckdb_handle chunk, uint64_t column) \
	X(void *, vector_get_data, duckdb_handle vector) \
	X(uint64_t *, vector_get_validity, duckdb_handle vector) \
	X(void, vector_ensure_validity_writable, duckdb_handle vector) \
	X(duckdb_handle, create_logical_type, int type) \
	X(duckdb_handle, create_enum_type, const char **names, uint64_t n) \
	X(void, destroy_logical_type, duckdb_handle *type) \
	X(uint8_t, decimal_scale, duckdb_handle type) \
	X(int, decimal_internal_type, duckdb_handle type) \
	X(duckdb_handle, create_table_function, void) \
	X(void, destroy_table_function, duckdb_handle *function) \
	X(void, table_function_set_name, duckdb_handle function, const char *name) \
	X(void, table_function_set_extra_info, duckdb_handle function, void *data, void (*destroy)(void *)) \
	X(void, table_function_set_bind, duckdb_handle function, void (*bind)(duckdb_handle info)) \
	X(void, table_function_set_init, duckdb_handle function, void (*init)(duckdb_handle info)) \
	X(void, table_function_set_local_init, duckdb_handle function, void (*init)(duckdb_handle info)) \
	X(void, table_function_set_function, duckdb_handle function, \
	  void (*read)(duckdb_handle info, duckdb_handle chunk)) \
	X(void, table_function_supports_projection_pushdown, duckdb_handle function, bool yes) \
	X(void, table_function_add_named_parameter, duckdb_handle function, const char *name, duckdb_handle type) \
	X(duckdb_handle, bind_get_named_parameter, duckdb_handle info, const char *name) \
	X(int64_t, get_int64, duckdb_handle value) \
	X(void, destroy_value, duckdb_handle *value) \
	X(int, register_table_function, duckdb_handle connection, duckdb_handle function) \
	X(void *, bind_get_extra_info, duckdb_handle info) \
	X(void, bind_set_bind_data, duckdb_handle info, void *data, void (*destroy)(void *)) \
	X(void, bind_set_error, duckdb_handle info, const char *text) \
	X(void, bind_add_result_column, duckdb_handle info, const char *name, duckdb_handle type) \
	X(void *, init_get_bind_data, duckdb_handle info) \
	X(void, init_set_init_data, duckdb_handle info, void *data, void (*destroy)(void *)) \
	X(uint64_t, init_get_column_count, duckdb_handle info) \
	X(uint64_t, init_get_column_index, duckdb_handle info, uint64_t column) \
	X(void, init_set_max_threads, duckdb_handle info, uint64_t threads) \
	X(void, init_set_error, duckdb_handle info, const char *text) \
	X(void *, function_get_local_init_data, duckdb_handle info) \
	X(void, function_set_error, duckdb_handle info, const char *text)
/* clang-format on */

/* The functions without their prefix: duckdb->query() is duckdb_query(). */
struct duckdb {
#define MEMBER(result, name, ...) result (*name)(__VA_ARGS__);
	DUCKDB_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Set by engine__open(). */
extern struct duckdb duckdb;

#endif
