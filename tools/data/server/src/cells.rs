//! Turns Arrow values into cells of a result, exactly: no number goes through a float that has more
//! digits than a float keeps.

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, LargeStringArray, StringArray, StringViewArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use chrono::{DateTime, NaiveDate, NaiveDateTime, SubsecRound as _, Timelike as _};
use contract::metric_query::DataType as Kind;
use serde_json::{Number, Value};

use crate::DataError;

/// The most significant digits that a reader of JSON keeps in a number.
const EXACT_DIGITS: usize = 15;
/// The digits of a double that are the same on any number of threads.
const FLOAT_DIGITS: usize = 12;

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type of its cells.
    pub kind: Kind,
    /// The decimal places of decimals.
    pub scale: u8,
    read: Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Text,
    LargeText,
    TextView,
    Whole(Width),
    Decimal(i8),
    /// A decimal as digits, as PostgreSQL sends it.
    Digits,
    Single,
    Double,
    Day,
    Moment(TimeUnit),
    Flag,
    Empty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

/// Returns the columns of a schema. Fails for types that a result cannot have.
pub fn columns(schema: &Schema) -> Result<Vec<Column>, DataError> {
    schema.fields().iter().map(|field| column(field)).collect()
}

fn column(field: &Field) -> Result<Column, DataError> {
    let (kind, scale, read) = match field.data_type() {
        DataType::Utf8 if is_numeric_text(field) => (Kind::Decimal, 0, Read::Digits),
        DataType::Utf8 => (Kind::Text, 0, Read::Text),
        DataType::LargeUtf8 => (Kind::Text, 0, Read::LargeText),
        DataType::Utf8View => (Kind::Text, 0, Read::TextView),
        DataType::Int8 => (Kind::Whole, 0, Read::Whole(Width::I8)),
        DataType::Int16 => (Kind::Whole, 0, Read::Whole(Width::I16)),
        DataType::Int32 => (Kind::Whole, 0, Read::Whole(Width::I32)),
        DataType::Int64 => (Kind::Whole, 0, Read::Whole(Width::I64)),
        DataType::UInt8 => (Kind::Whole, 0, Read::Whole(Width::U8)),
        DataType::UInt16 => (Kind::Whole, 0, Read::Whole(Width::U16)),
        DataType::UInt32 => (Kind::Whole, 0, Read::Whole(Width::U32)),
        DataType::UInt64 => (Kind::Whole, 0, Read::Whole(Width::U64)),
        DataType::Decimal128(_, 0) => (Kind::Whole, 0, Read::Decimal(0)),
        DataType::Decimal128(_, scale) => {
            (Kind::Decimal, u8::try_from(*scale).unwrap_or(0), Read::Decimal(*scale))
        }
        DataType::Float32 => (Kind::Float, 0, Read::Single),
        DataType::Float64 => (Kind::Float, 0, Read::Double),
        DataType::Date32 => (Kind::Day, 0, Read::Day),
        DataType::Timestamp(unit, _) => (Kind::Moment, 0, Read::Moment(*unit)),
        DataType::Boolean => (Kind::Flag, 0, Read::Flag),
        DataType::Null => (Kind::Text, 0, Read::Empty),
        other => {
            return Err(DataError::Kind { column: field.name().clone(), kind: other.to_string() });
        }
    };
    Ok(Column { name: field.name().clone(), kind, scale, read })
}

/// Whether a text column has numbers of PostgreSQL, which the driver sends as their digits.
fn is_numeric_text(field: &Field) -> bool {
    field.metadata().get("ADBC:postgresql:typname").is_some_and(|name| name == "numeric")
}

/// Returns a cell.
pub fn cell(array: &ArrayRef, column: &Column, row: usize) -> Result<Value, DataError> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    let missing =
        || DataError::Kind { column: column.name.clone(), kind: array.data_type().to_string() };
    macro_rules! value {
        ($kind:ty) => {
            array.as_any().downcast_ref::<$kind>().ok_or_else(missing)?.value(row)
        };
    }
    Ok(match column.read {
        Read::Empty => Value::Null,
        Read::Text => Value::from(value!(StringArray)),
        Read::LargeText => Value::from(value!(LargeStringArray)),
        Read::TextView => Value::from(value!(StringViewArray)),
        Read::Whole(width) => whole(match width {
            Width::I8 => i128::from(value!(Int8Array)),
            Width::I16 => i128::from(value!(Int16Array)),
            Width::I32 => i128::from(value!(Int32Array)),
            Width::I64 => i128::from(value!(Int64Array)),
            Width::U8 => i128::from(value!(UInt8Array)),
            Width::U16 => i128::from(value!(UInt16Array)),
            Width::U32 => i128::from(value!(UInt32Array)),
            Width::U64 => i128::from(value!(UInt64Array)),
        }),
        Read::Decimal(scale) => digits_to_cell(&decimal(value!(Decimal128Array), scale)),
        Read::Digits => digits_to_cell(value!(StringArray)),
        Read::Single => float(f64::from(value!(Float32Array))),
        Read::Double => float(value!(Float64Array)),
        Read::Day => day(value!(Date32Array)),
        Read::Moment(unit) => moment(match unit {
            TimeUnit::Second => DateTime::from_timestamp(value!(TimestampSecondArray), 0),
            TimeUnit::Millisecond => {
                DateTime::from_timestamp_millis(value!(TimestampMillisecondArray))
            }
            TimeUnit::Microsecond => {
                DateTime::from_timestamp_micros(value!(TimestampMicrosecondArray))
            }
            TimeUnit::Nanosecond => {
                Some(DateTime::from_timestamp_nanos(value!(TimestampNanosecondArray)))
            }
        }),
        Read::Flag => Value::from(value!(BooleanArray)),
    })
}

fn whole(value: i128) -> Value {
    digits_to_cell(&value.to_string())
}

/// Returns a decimal number as digits.
pub fn decimal(value: i128, scale: i8) -> String {
    let Ok(scale @ 1..) = usize::try_from(scale) else {
        return format!("{value}{}", "0".repeat(usize::from(scale.unsigned_abs())));
    };
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, places) = digits.split_at(digits.len() - scale);
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{whole}.{places}")
}

/// A number of JSON if its reader keeps all digits, else the digits as text. Zeros at the end of
/// decimal places are left out, so that all databases give the same text.
pub fn digits_to_cell(digits: &str) -> Value {
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    let significant = digits.trim_start_matches(['-', '0', '.']);
    let count = significant.bytes().filter(u8::is_ascii_digit).count();
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte));
    if count > EXACT_DIGITS || !is_plain {
        return Value::from(digits);
    }
    if digits.contains('.') {
        // At most 15 digits, so the shortest text of the nearest double has the same value.
        digits
            .parse()
            .ok()
            .and_then(Number::from_f64)
            .map_or_else(|| Value::from(digits), Value::Number)
    } else {
        digits.parse::<i64>().map_or_else(|_| Value::from(digits), Value::from)
    }
}

/// Rounds a double to the digits that do not depend on the order of additions.
fn float(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    let rounded: f64 = format!("{value:.*e}", FLOAT_DIGITS - 1).parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        return digits_to_cell(&format!("{rounded:.0}"));
    }
    Number::from_f64(rounded).map_or(Value::Null, Value::Number)
}

fn day(days: i32) -> Value {
    NaiveDate::from_epoch_days(days).map_or(Value::Null, |day| Value::from(day.to_string()))
}

fn moment(moment: Option<DateTime<chrono::Utc>>) -> Value {
    moment.map_or(Value::Null, |moment| Value::from(write_moment(moment.naive_utc())))
}

/// Writes a moment without a zone.
pub fn write_moment(moment: NaiveDateTime) -> String {
    let moment = moment.trunc_subsecs(6);
    let format =
        if moment.nanosecond() == 0 { "%Y-%m-%dT%H:%M:%S" } else { "%Y-%m-%dT%H:%M:%S%.6f" };
    moment.format(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_with_all_their_places() {
        assert_eq!(decimal(123_450, 2), "1234.50");
        assert_eq!(decimal(-5, 2), "-0.05");
        assert_eq!(decimal(0, 2), "0.00");
        assert_eq!(decimal(7, 0), "7");
        assert_eq!(decimal(i128::MIN + 1, 3).len(), 41);
    }

    #[test]
    fn numbers_with_more_than_15_digits_are_texts() {
        assert_eq!(digits_to_cell("123456789012345"), Value::from(123_456_789_012_345_i64));
        assert_eq!(digits_to_cell("1234567890123456"), Value::from("1234567890123456"));
        assert_eq!(digits_to_cell("0.10"), Value::from(0.1));
        assert_eq!(digits_to_cell("-9999999999999.99"), Value::from(-9_999_999_999_999.99));
        assert_eq!(digits_to_cell("99999999999999.99"), Value::from("99999999999999.99"));
        assert_eq!(digits_to_cell("NaN"), Value::from("NaN"));
        assert_eq!(digits_to_cell("-12.00"), Value::from(-12));
        assert_eq!(
            digits_to_cell("12345678901234567890.10"),
            Value::from("12345678901234567890.1")
        );
    }

    #[test]
    fn doubles_keep_twelve_digits() {
        assert_eq!(float(0.1 + 0.2), Value::from(0.3));
        assert_eq!(float(246_401_491_730.000_03), Value::from(246_401_491_730_i64));
        assert_eq!(float(f64::NAN), Value::Null);
    }
}
