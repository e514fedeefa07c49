# DuckDB's side of the table about imports: one process makes a table of a file, another answers from it.
# Amounts are sums of doubles, as its reader takes them, rounded to cents.
import json
import sys

import duckdb

QUESTION = """
SELECT "Campaign", printf('%.2f', sum("Cost")), sum("Clicks")::BIGINT FROM ads GROUP BY "Campaign" ORDER BY "Campaign"
"""

match sys.argv[1:]:
    case ["version"]:
        print(duckdb.__version__)
    case ["import", database, file]:
        with duckdb.connect(database) as connection:
            connection.execute("CREATE TABLE ads AS SELECT * FROM read_csv(?)", [file])
    case ["ask", database]:
        with duckdb.connect(database, read_only=True) as connection:
            print(json.dumps(connection.execute(QUESTION).fetchall()))
