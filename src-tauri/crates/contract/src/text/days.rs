//! Days as the value of a placeholder. They are sent as days, because each language writes them in its
//! own way.

use std::fmt;

use chrono::{Datelike, NaiveDate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Param, ToParam};

/// Days from a first to a last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Days {
    /// The days in English.
    pub text: String,
    /// The first day.
    pub from: NaiveDate,
    /// The last day.
    pub to: NaiveDate,
    /// The form in which they are written.
    pub form: DaysForm,
}

/// The form in which days are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DaysForm {
    /// Days with their year: `1–31 Oct 2026`.
    Full,
    /// Days of a year that is already said: `1–31 Oct`.
    WithoutYear,
    /// The month of the first day: `Oct 2026`.
    Month,
}

impl Days {
    /// Creates days in a form.
    pub fn new(from: NaiveDate, to: NaiveDate, form: DaysForm) -> Self {
        Self { text: in_english(from, to, form), from, to, form }
    }
}

fn in_english(from: NaiveDate, to: NaiveDate, form: DaysForm) -> String {
    let is_same_year = from.year() == to.year();
    let end = match form {
        DaysForm::Month => return from.format("%b %Y").to_string(),
        DaysForm::WithoutYear if is_same_year => to.format("%-d %b"),
        DaysForm::Full | DaysForm::WithoutYear => to.format("%-d %b %Y"),
    };
    if from == to {
        end.to_string()
    } else if !is_same_year {
        format!("{} – {end}", from.format("%-d %b %Y"))
    } else if from.month() != to.month() {
        format!("{} – {end}", from.format("%-d %b"))
    } else {
        format!("{}–{end}", from.format("%-d"))
    }
}

impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl ToParam for Days {
    fn to_param(&self) -> Param {
        Param::Days(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{GivenName, Text, text};

    #[test]
    fn days_are_written_without_what_is_already_said() {
        for (from, to, form, written) in [
            ("2026-10-01", "2026-10-31", DaysForm::Full, "1–31 Oct 2026"),
            ("2026-10-01", "2026-10-31", DaysForm::WithoutYear, "1–31 Oct"),
            ("2026-10-01", "2026-10-31", DaysForm::Month, "Oct 2026"),
            ("2026-09-28", "2026-10-04", DaysForm::Full, "28 Sep – 4 Oct 2026"),
            ("2025-12-29", "2026-01-04", DaysForm::WithoutYear, "29 Dec 2025 – 4 Jan 2026"),
            ("2026-11-30", "2026-11-30", DaysForm::Full, "30 Nov 2026"),
        ] {
            let day = |text: &str| text.parse().unwrap();
            assert_eq!(Days::new(day(from), day(to), form).text, written);
        }
    }

    #[test]
    fn days_and_names_are_sent_as_they_are_beside_the_english_sentence() {
        let day: NaiveDate = "2026-11-30".parse().unwrap();
        let name = GivenName {
            names: [("sv".to_owned(), "Kostnad".to_owned())].into(),
            ..GivenName::of("Spend")
        };
        let text = text!("{name} on {days}", name, days = Days::new(day, day, DaysForm::Full));
        assert_eq!(text, "Spend on 30 Nov 2026");
        let sent = serde_json::to_value(&text).unwrap();
        assert_eq!(sent["params"]["name"], json!({"text": "Spend", "names": {"sv": "Kostnad"}}));
        let days = json!({"text": "30 Nov 2026", "from": "2026-11-30", "to": "2026-11-30", "form": "full"});
        assert_eq!(sent["params"]["days"], days);
        assert_eq!(serde_json::from_value::<Text>(sent).unwrap(), text);
        // A name is never looked up.
        assert_eq!(text.translated(&|_| Some("other")), "other");
        let held = text!("{name}", name = GivenName::of("No."));
        assert_eq!(held.translated(&|key| (key == "No.").then_some("Nej.")), "No.");
    }
}
