//! The origin of the rows of a source, if not files of a person: a sample, or data that a pack kept
//! itself. Pure: it reads and stores nothing.

use chrono::{DateTime, Utc};
use contract::{Text, text};
use serde::{Deserialize, Serialize};

/// The origin of the rows of a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub(super) enum Origin {
    /// Fictional rows that ship with the app.
    Sample {
        /// The name of the sample.
        set: String,
        /// The file of the sample.
        file: String,
        /// The moment up to which the rows are.
        made_at: DateTime<Utc>,
    },
    /// Rows that a pack kept itself in an older version.
    Pack {
        /// The service that kept them.
        service: String,
        /// The file that they were written into.
        file: String,
        /// The result of the comparison with the data of the pack.
        #[serde(default)]
        notes: Vec<Text>,
    },
}

impl Origin {
    /// Whether two origins are the same, at any time.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sample { set, file, .. }, Self::Sample { set: own, file: name, .. }) => {
                set == own && file == name
            }
            (Self::Pack { service, file, .. }, Self::Pack { service: own, file: name, .. }) => {
                service == own && file == name
            }
            (Self::Sample { .. }, Self::Pack { .. }) | (Self::Pack { .. }, Self::Sample { .. }) => {
                false
            }
        }
    }

    fn notes(&self) -> Vec<Text> {
        match self {
            Self::Sample { made_at, .. } => {
                vec![text!("Fictional sample data, up to {day}.", day = made_at.date_naive())]
            }
            Self::Pack { notes, .. } => notes.clone(),
        }
    }
}

/// Whether rows of this origin are fictional.
pub(super) fn is_sample(origin: Option<&Origin>) -> bool {
    matches!(origin, Some(Origin::Sample { .. }))
}

/// Returns notes for people about the origin of rows.
pub(super) fn origin_notes(origin: Option<&Origin>) -> Vec<Text> {
    origin.map(Origin::notes).unwrap_or_default()
}

/// Returns the note about figures of a sample.
pub(super) fn sample_note() -> Text {
    "Fictional sample data.".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_known_again_at_another_time() {
        let sample = |file: &str, day: &str| Origin::Sample {
            set: "shop".to_owned(),
            file: file.to_owned(),
            made_at: day.parse().unwrap(),
        };
        let one = sample("a.csv", "2026-11-29T10:00:00Z");
        assert!(one.is_like(&sample("a.csv", "2026-11-30T10:00:00Z")));
        assert!(!one.is_like(&sample("b.csv", "2026-11-29T10:00:00Z")));
        assert_eq!(one.notes()[0].as_str(), "Fictional sample data, up to 2026-11-29.");
        let (service, file) = ("shop".to_owned(), "a.csv".to_owned());
        assert!(!one.is_like(&Origin::Pack { service, file, notes: Vec::new() }));
    }
}
