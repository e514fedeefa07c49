//! The differences between the databases, and the only functions that write identifiers and
//! literals into SQL. It does not know queries.

use chrono::{NaiveDate, NaiveDateTime};

use crate::Problem;
use contract::text;

/// The decimal places of a ratio.
pub(crate) const RATIO_SCALE: u8 = 9;

/// The SQL of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// DuckDB.
    DuckDb,
    /// PostgreSQL.
    Postgres,
    /// The SQL that engines for many machines share, such as Spark, Snowflake and Trino. Names stand
    /// in double quotes. Constructs that these engines read in different ways are refused.
    Standard,
}

/// An expression with an exact decimal value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    /// The SQL.
    pub sql: String,
    /// The decimal places.
    pub scale: u8,
}

impl Exact {
    /// Returns the SQL with more decimal places. DuckDB drops decimal places if values of different
    /// scales become one, as in `coalesce`.
    pub fn at_scale(self, scale: u8, dialect: Dialect) -> String {
        match dialect {
            Dialect::DuckDb | Dialect::Standard if self.scale != scale => {
                format!("CAST({} AS {})", self.sql, dialect.decimal(scale))
            }
            Dialect::DuckDb | Dialect::Postgres | Dialect::Standard => self.sql,
        }
    }
}

/// An expression with a whole number: an exact value times a power of ten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scaled {
    /// The SQL.
    sql: String,
    /// The power.
    scale: u8,
}

impl Scaled {
    /// Returns the number with more decimal places.
    fn at_scale(self, scale: u8) -> String {
        match scale.saturating_sub(self.scale) {
            0 => self.sql,
            more => format!("({} * {})", self.sql, 10_u128.pow(u32::from(more))),
        }
    }

    /// Subtracts a number.
    pub fn minus(self, other: Self) -> Self {
        let scale = self.scale.max(other.scale);
        Self { sql: format!("({} - {})", self.at_scale(scale), other.at_scale(scale)), scale }
    }

    /// Makes zero the empty value, so that nothing is divided by it.
    pub fn or_empty(self) -> Self {
        Self { sql: format!("NULLIF({}, 0)", self.sql), ..self }
    }
}

impl Dialect {
    /// Writes the name of a table or column.
    pub fn identifier(self, name: &str) -> Result<String, Problem> {
        if name.is_empty() || name.contains('\0') {
            return Err(Problem::new(text!("A name is empty or contains the character zero.")));
        }
        Ok(format!("\"{}\"", name.replace('"', "\"\"")))
    }

    /// Writes a text.
    pub fn literal(self, value: &str) -> Result<String, Problem> {
        if value.contains('\0') {
            return Err(Problem::new(text!("A text contains the character zero.")));
        }
        Ok(format!("'{}'", value.replace('\'', "''")))
    }

    /// Writes a number that has digits, a sign and a point only.
    pub(crate) fn number(self, digits: &str) -> Result<String, Problem> {
        let body = digits.strip_prefix('-').unwrap_or(digits);
        let (whole, part) = body.split_once('.').unwrap_or((body, "0"));
        let is_digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_digits(whole) && is_digits(part) && whole.len() + part.len() <= 36 {
            return Ok(digits.to_owned());
        }
        Err(Problem::new(text!("{digits} is no number that can be compared exactly.", digits)))
    }

    /// Writes a day.
    pub(crate) fn day(self, day: NaiveDate) -> String {
        format!("DATE '{}'", day.format("%Y-%m-%d"))
    }

    /// Writes a moment.
    pub(crate) fn moment(self, moment: NaiveDateTime) -> String {
        format!("TIMESTAMP '{}'", moment.format("%Y-%m-%d %H:%M:%S%.f"))
    }

    /// Returns the type of exact decimals.
    pub(crate) fn decimal(self, scale: u8) -> String {
        match self {
            // Elsewhere, the type without its size has no decimal places.
            Self::DuckDb | Self::Standard => format!("DECIMAL(38, {scale})"),
            Self::Postgres => "NUMERIC".to_owned(),
        }
    }

    /// Returns the collation that orders texts by their bytes.
    pub(crate) fn binary(self) -> &'static str {
        match self {
            // These engines order texts by their bytes if nothing else is said.
            Self::DuckDb | Self::Standard => "",
            Self::Postgres => " COLLATE \"C\"",
        }
    }

    /// Writes a division, rounded half away from zero. Both sides become whole numbers first,
    /// because DuckDB divides decimals as floats and PostgreSQL rounds a quotient twice.
    pub(crate) fn divide(self, above: &Exact, below: &Exact) -> Exact {
        let power = i32::from(RATIO_SCALE) + i32::from(below.scale) - i32::from(above.scale);
        let above_power = i32::from(above.scale) + power.max(0);
        let below_power = i32::from(below.scale) + (-power).max(0);
        let (n, d) = (&above.sql, format!("NULLIF({}, 0)", below.sql));
        let whole_above = self.whole(&above.sql, above.scale, above_power);
        let whole_below = self.whole(&d, below.scale, below_power);
        let sql = match self {
            Self::DuckDb => format!(
                "CAST(sign({n}) * sign({d}) * ((2 * {whole_above} + {whole_below}) // (2 * {whole_below})) AS DECIMAL(29, 0)) * CAST(0.000000001 AS DECIMAL(9, 9))"
            ),
            Self::Postgres => format!(
                "sign({n}) * sign({d}) * div(2 * {whole_above} + {whole_below}, 2 * {whole_below}) * 0.000000001"
            ),
            // The rest is taken off first, so that every engine divides without rounding. `sign`
            // would be a float.
            Self::Standard => {
                let twice = format!("(2 * {whole_below})");
                let sum = format!("(2 * {whole_above} + {whole_below})");
                let whole =
                    format!("CAST(({sum} - mod({sum}, {twice})) / {twice} AS DECIMAL(28, 0))");
                let size = format!("{whole} * CAST(0.000000001 AS DECIMAL(9, 9))");
                format!("CASE WHEN ({n} < 0) <> ({d} < 0) THEN -({size}) ELSE {size} END")
            }
        };
        Exact { sql: format!("({sql})"), scale: RATIO_SCALE }
    }

    /// Writes the absolute value times a power of ten, as a whole number.
    fn whole(self, sql: &str, scale: u8, power: i32) -> String {
        match self {
            Self::DuckDb => {
                let own = 10_u128.pow(u32::from(scale));
                let rest = power - i32::from(scale);
                let whole = if scale == 0 {
                    format!("CAST(abs({sql}) AS HUGEINT)")
                } else {
                    format!("CAST(abs({sql}) * {own} AS HUGEINT)")
                };
                if rest > 0 {
                    format!("({whole} * {})", 10_u128.pow(rest.unsigned_abs()))
                } else {
                    whole
                }
            }
            Self::Postgres => {
                format!("(abs({sql}) * {})", 10_u128.pow(power.unsigned_abs()))
            }
            Self::Standard => {
                let own = 10_u128.pow(u32::from(scale));
                let rest = 10_u128.pow((power - i32::from(scale)).max(0).unsigned_abs());
                format!("(CAST(abs({sql}) * {own} AS DECIMAL(38, 0)) * {rest})")
            }
        }
    }

    /// Writes an exact value as a whole number.
    pub(crate) fn scaled(self, value: &Exact) -> Scaled {
        let Exact { sql, scale } = value;
        let whole = match scale {
            0 => sql.clone(),
            places => format!("{sql} * {}", 10_u128.pow(u32::from(*places))),
        };
        let sql = match self {
            Self::DuckDb => format!("CAST({whole} AS HUGEINT)"),
            Self::Postgres => format!("({whole})"),
            Self::Standard => format!("CAST({whole} AS DECIMAL(38, 0))"),
        };
        Scaled { sql, scale: *scale }
    }

    /// Writes the product of whole numbers.
    pub(crate) fn product(self, factors: Vec<Scaled>) -> Scaled {
        let scale = factors.iter().map(|factor| factor.scale).sum();
        let factors: Vec<String> = factors.into_iter().map(|factor| factor.sql).collect();
        Scaled { sql: format!("({})", factors.join(" * ")), scale }
    }

    /// Writes a division of whole numbers, rounded half away from zero to some decimal places.
    pub(crate) fn quotient(self, above: Scaled, below: Scaled, places: u8) -> Scaled {
        let power = i32::from(places) + i32::from(below.scale) - i32::from(above.scale);
        let times = |sql: String, power: i32| match power {
            ..=0 => sql,
            power => format!("({sql} * {})", 10_u128.pow(power.unsigned_abs())),
        };
        let (n, d) = (times(above.sql, power), times(below.sql, -power));
        let sum = format!("(2 * abs({n}) + abs({d}))");
        let twice = format!("(2 * abs({d}))");
        let sql = match self {
            Self::DuckDb => format!("(sign({n}) * sign({d}) * ({sum} // {twice}))"),
            Self::Postgres => format!("(sign({n}) * sign({d}) * div({sum}, {twice}))"),
            // The rest is taken off first, so that every engine divides without rounding.
            Self::Standard => {
                let size =
                    format!("CAST(({sum} - mod({sum}, {twice})) / {twice} AS DECIMAL(38, 0))");
                format!("(CASE WHEN ({n} < 0) <> ({d} < 0) THEN -({size}) ELSE {size} END)")
            }
        };
        Scaled { sql, scale: places }
    }

    /// Writes a whole number with the decimal places of a ratio as the ratio.
    pub(crate) fn ratio_of(self, whole: Scaled) -> Exact {
        let sql = match self {
            Self::Postgres => format!("({} * 0.000000001)", whole.sql),
            Self::DuckDb | Self::Standard => format!(
                "(CAST({} AS DECIMAL(29, 0)) * CAST(0.000000001 AS DECIMAL(9, 9)))",
                whole.sql
            ),
        };
        Exact { sql, scale: RATIO_SCALE }
    }

    /// Writes a list of the values of a group in ascending order, of which one can be taken.
    pub(crate) fn sorted_list(self, value: &str, filter: &str) -> Result<String, Problem> {
        match self {
            Self::DuckDb | Self::Postgres => {
                Ok(format!("(array_agg({value} ORDER BY {value}) FILTER (WHERE {filter}))"))
            }
            // Some engines count the places of a list from 0, others from 1.
            Self::Standard => Err(Problem::new(text!(
                "This database cannot compute medians and percentiles exactly."
            ))),
        }
    }

    /// Writes the division of two positive whole numbers without the rest.
    pub(crate) fn whole_division(self, above: &str, below: u32) -> String {
        match self {
            Self::DuckDb => format!("({above}) // {below}"),
            Self::Postgres => format!("({above}) / {below}"),
            Self::Standard => format!("(({above}) - mod({above}, {below})) / {below}"),
        }
    }

    /// Writes the days from a first to a last one, each in a row of its own.
    pub(crate) fn days_between(self, first: &str, last: &str) -> String {
        let series = format!(
            "generate_series(CAST({first} AS TIMESTAMP), CAST({last} AS TIMESTAMP), INTERVAL '1 days')"
        );
        match self {
            Self::DuckDb => format!("unnest({series})"),
            // An engine without this function says so.
            Self::Postgres | Self::Standard => series,
        }
    }

    /// Writes a query that lists times from a first to a last one.
    pub(crate) fn series(
        self,
        first: NaiveDateTime,
        last: NaiveDateTime,
        step: &str,
    ) -> Result<String, Problem> {
        let (first, last) = (self.moment(first), self.moment(last));
        let series = format!("generate_series({first}, {last}, INTERVAL '{step}')");
        match self {
            Self::DuckDb => Ok(format!("unnest({series})")),
            Self::Postgres => Ok(series),
            Self::Standard => {
                Err(Problem::new(text!("This database cannot add the times without rows.")))
            }
        }
    }
}
