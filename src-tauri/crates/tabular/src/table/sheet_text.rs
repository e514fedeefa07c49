//! Writes the values of a workbook's cells as texts: days as in ISO 8601, numbers with a point before
//! decimals.

use calamine::{Data, DataRef, ExcelDateTime};

use super::cells::{unit::Unit, value::Tag};

/// Writes a value, and the unit that its format shows. Returns what is known about the cell.
pub(crate) fn push_value(text: &mut Vec<u8>, value: &DataRef<'_>, unit: Option<Unit>) -> Tag {
    match value {
        DataRef::Int(number) if unit.is_some() => push_whole(text, *number, unit),
        DataRef::Float(number) if unit.is_some() => push_unit(text, *number, unit),
        DataRef::String(value) => push_text(text, value),
        DataRef::SharedString(value) => push_text(text, value),
        DataRef::DateTimeIso(value) | DataRef::DurationIso(value) => push_iso(text, value),
        DataRef::DateTime(moment) => push_moment(text, *moment),
        DataRef::Int(number) => push_number(text, &number.to_string()),
        DataRef::Float(number) => push_float(text, *number),
        DataRef::Bool(value) => push_text(text, if *value { "true" } else { "false" }),
        DataRef::Error(error) => push_error(text, &error.to_string()),
        DataRef::Empty => Tag::Plain,
        #[allow(unreachable_patterns, reason = "kinds of cells that a later version may add")]
        _ => Tag::Plain,
    }
}

/// The same for values that a reader of other formats gives.
pub(crate) fn push_data(text: &mut Vec<u8>, value: &Data, unit: Option<Unit>) -> Tag {
    match value {
        Data::Int(number) if unit.is_some() => push_whole(text, *number, unit),
        Data::Float(number) if unit.is_some() => push_unit(text, *number, unit),
        Data::String(value) => push_text(text, value),
        Data::DateTimeIso(value) | Data::DurationIso(value) => push_iso(text, value),
        Data::DateTime(moment) => push_moment(text, *moment),
        Data::Int(number) => push_number(text, &number.to_string()),
        Data::Float(number) => push_float(text, *number),
        Data::Bool(value) => push_text(text, if *value { "true" } else { "false" }),
        Data::Error(error) => push_error(text, &error.to_string()),
        Data::Empty => Tag::Plain,
    }
}

/// Writes a number with its unit: 0.05 with the format of percent is 5%.
pub(crate) fn push_unit(text: &mut Vec<u8>, number: f64, unit: Option<Unit>) -> Tag {
    let shown = if unit == Some(Unit::Percent) { number * 100.0 } else { number };
    push_float(text, shown);
    push_sign(text, unit)
}

fn push_whole(text: &mut Vec<u8>, number: i64, unit: Option<Unit>) -> Tag {
    let hundreds = if unit == Some(Unit::Percent) { "00" } else { "" };
    push_number(text, &format!("{number}{hundreds}"));
    push_sign(text, unit)
}

fn push_sign(text: &mut Vec<u8>, unit: Option<Unit>) -> Tag {
    if let Some(unit) = unit {
        unit.push(text);
    }
    Tag::Number
}

fn push_text(text: &mut Vec<u8>, value: &str) -> Tag {
    // A zero byte cannot be stored as text by databases.
    text.extend(value.bytes().filter(|byte| *byte != 0));
    Tag::Plain
}

fn push_number(text: &mut Vec<u8>, number: &str) -> Tag {
    text.extend_from_slice(number.as_bytes());
    Tag::Number
}

fn push_error(text: &mut Vec<u8>, error: &str) -> Tag {
    text.extend_from_slice(error.as_bytes());
    Tag::Error
}

fn push_iso(text: &mut Vec<u8>, value: &str) -> Tag {
    text.extend_from_slice(value.as_bytes());
    Tag::Moment
}

/// Writes a number with 15 significant digits, which is what spreadsheets show: the stored number
/// 0.1 + 0.2 is 0.30000000000000004.
fn push_float(text: &mut Vec<u8>, number: f64) -> Tag {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return push_number(text, &format!("{number:.0}"));
    }
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    let is_plain = (1e-10..1e21).contains(&rounded.abs());
    let written = if is_plain { rounded.to_string() } else { format!("{rounded:e}") };
    push_number(text, &written)
}

fn push_moment(text: &mut Vec<u8>, moment: ExcelDateTime) -> Tag {
    let serial = moment.as_f64();
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    if moment.is_duration() || (0.0..1.0).contains(&serial) {
        // A time of day, or a length of time.
        let seconds = (serial * 86_400.0).round();
        let whole = format!("{:.0}", (seconds / 3600.0).trunc());
        let rest = seconds % 3600.0;
        let clock = format!("{whole:0>2}:{:02.0}:{:02.0}", (rest / 60.0).trunc(), rest % 60.0);
        return push_text(text, &clock);
    }
    let mut written = format!("{year:04}-{month:02}-{day:02}");
    if (hour, minute, second) != (0, 0, 0) {
        written.push_str(&format!("T{hour:02}:{minute:02}:{second:02}"));
    }
    text.extend_from_slice(written.as_bytes());
    Tag::Moment
}
