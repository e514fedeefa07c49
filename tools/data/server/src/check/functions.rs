//! The functions that queries may call. They read their arguments and nothing else: no files, no
//! settings, no random numbers, no clock beyond the present day.

const DUCKDB: &str = include_str!("duckdb_functions.txt");
const POSTGRES: &str = include_str!("postgres_functions.txt");

/// Functions of DuckDB that return rows.
const DUCKDB_TABLE: [&str; 3] = ["generate_series", "range", "unnest"];

/// Whether DuckDB's queries may call a function.
pub fn is_duckdb_function(name: &str) -> bool {
    is_listed(DUCKDB, name)
}

/// Whether DuckDB's queries may read from a function.
pub fn is_duckdb_table_function(name: &str) -> bool {
    DUCKDB_TABLE.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether PostgreSQL's queries may call a function.
pub fn is_postgres_function(name: &str) -> bool {
    is_listed(POSTGRES, name)
}

fn is_listed(list: &str, name: &str) -> bool {
    let words = list.lines().filter(|line| !line.starts_with("# ")).flat_map(str::split_whitespace);
    !name.is_empty() && words.into_iter().any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_reach_outside_of_their_arguments_are_not_listed() {
        for name in [
            "read_csv",
            "getenv",
            "current_setting",
            "query",
            "glob",
            "nextval",
            "write_log",
            "sleep_ms",
            "",
        ] {
            assert!(!is_duckdb_function(name) && !is_duckdb_table_function(name), "{name}");
        }
        for name in [
            "pg_read_file",
            "set_config",
            "dblink",
            "lo_export",
            "pg_sleep",
            "query_to_xml",
            "nextval",
            "",
        ] {
            assert!(!is_postgres_function(name), "{name}");
        }
        for name in ["SUM", "count_star", "date_trunc", "||", "coalesce"] {
            assert!(is_duckdb_function(name), "{name}");
        }
        assert!(is_postgres_function("date_trunc") && is_postgres_function("Percentile_Cont"));
    }
}
