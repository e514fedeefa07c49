//! Functions whose result can be much longer than their arguments. A query says how long: a library
//! does not stop in the middle of making a text, and its memory limit does not count it.

use crate::error::Refusal;

/// The greatest length that a query may ask for, in characters.
pub const LONGEST_RESULT: u64 = 10_000;

/// The part of a call that limits the length of its result, besides the lengths of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    /// The number in an argument, by its place.
    Argument(usize),
    /// The widths in a text with a format, the first argument.
    Format,
}

/// The functions, in small letters. A test tries all that queries may call.
const LONG: [(&str, Length); 5] = [
    ("format", Length::Format),
    ("lpad", Length::Argument(1)),
    ("printf", Length::Format),
    ("repeat", Length::Argument(1)),
    ("rpad", Length::Argument(1)),
];

/// A constant in an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    /// A whole number.
    Number(u64),
    /// A text.
    Text(String),
}

/// Returns why a function may not be called so, if its result could be very long. `constant` returns
/// the constant in an argument, by its place.
pub fn refuse_length(name: &str, constant: impl Fn(usize) -> Option<Constant>) -> Option<Refusal> {
    let (_, length) = LONG.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let is_short = match length {
        Length::Argument(at) => {
            matches!(constant(*at), Some(Constant::Number(number)) if number <= LONGEST_RESULT)
        }
        Length::Format => {
            matches!(constant(0), Some(Constant::Text(format)) if has_short_widths(&format))
        }
    };
    (!is_short).then(|| Refusal::Length(name.to_owned()))
}

/// Whether a text with a format says all its widths itself, and they are short. The widths stand behind
/// `%` or in braces.
fn has_short_widths(format: &str) -> bool {
    let mut signs = format.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '%' | '{' if signs.next_if_eq(&sign).is_some() => {}
            '%' => {
                let is_part = |sign: &char| sign.is_ascii_digit() || "-+ #.$'".contains(*sign);
                let mut width = String::new();
                while let Some(part) = signs.next_if(is_part) {
                    width.push(part);
                }
                if signs.peek() == Some(&'*') || !are_short(&width) {
                    return false;
                }
            }
            '{' => {
                let field: String = signs.by_ref().take_while(|sign| *sign != '}').collect();
                if field.contains('{') || !are_short(&field) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// Whether no number in a text is long.
fn are_short(text: &str) -> bool {
    let numbers = text.split(|sign: char| !sign.is_ascii_digit()).filter(|part| !part.is_empty());
    numbers.into_iter().all(|part| part.parse().is_ok_and(|number: u64| number <= LONGEST_RESULT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_short_numbers_of_the_format_itself() {
        for format in
            ["{:>12} of 2026000", "{{1000000000}}", "%-20s|%5.2f|%1$s", "100%% {}", "{:*>8}"]
        {
            assert!(has_short_widths(format), "{format}");
        }
        for format in ["{:>1000000000}", "%1000000000d", "%*d", "%-*s", "%.*f", "{:{}}", "{0:{1}}"]
        {
            assert!(!has_short_widths(format), "{format}");
        }
    }

    #[test]
    fn a_length_is_a_short_number_in_the_text_of_the_query() {
        let call = |name: &str, number: Option<u64>| {
            refuse_length(name, |at| number.filter(|_| at == 1).map(Constant::Number)).is_none()
        };
        assert!(call("LPAD", Some(2)) && call("rpad", Some(LONGEST_RESULT)) && call("lower", None));
        assert!(!call("lpad", Some(LONGEST_RESULT + 1)) && !call("Rpad", None));
    }
}
