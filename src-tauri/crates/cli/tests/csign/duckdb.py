#!/usr/bin/python3
"""Stands for DuckDB's own program, which Debian does not have: runs the SQL of standard input with DuckDB's own library, in the
working folder. Knows nothing of Countersign. The variable DUCKDB_LIBRARY names the library."""

import ctypes
import os
import sys

library = ctypes.CDLL(os.environ["DUCKDB_LIBRARY"])
library.duckdb_result_error.restype = ctypes.c_char_p
database, connection, result = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_uint64 * 16)()
if library.duckdb_open(None, ctypes.byref(database)) or library.duckdb_connect(database, ctypes.byref(connection)):
    sys.exit("DuckDB cannot be opened.")
if library.duckdb_query(connection, sys.stdin.read().encode(), ctypes.byref(result)):
    sys.exit(library.duckdb_result_error(ctypes.byref(result)).decode())
