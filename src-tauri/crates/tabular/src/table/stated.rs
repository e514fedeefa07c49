//! The currency that a person or a title states for amounts that do not show one. Must not know
//! columns.

use contract::sources::ImportDecisions;

use super::{cells::currency::Currency, titles::Titles};

/// The statements about the currency of amounts that do not show one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stated {
    /// The currency that a person or a title states.
    pub(crate) outside: Option<Currency>,
    /// The currency that a person gave to a sign that several share.
    pub(crate) shared: Option<Currency>,
}

impl Stated {
    /// Returns what is stated. A person counts more than a title.
    pub(crate) fn find(titles: &Titles, decisions: &ImportDecisions) -> Self {
        let answer = |id: &str| decisions.answers.get(id).map(String::as_str);
        let outside = match answer("currency").or(decisions.currency.as_deref()) {
            Some(code) => Currency::from_name(code),
            None => titles.currency(),
        };
        Self { outside, shared: answer("shared_sign").and_then(Currency::from_name) }
    }

    /// Returns the stated currency that a shared sign stands for, if there is one.
    pub(crate) fn of_sign(self, found: Currency) -> Option<Currency> {
        [self.shared, self.outside].into_iter().flatten().find(|known| found.can_stand_for(*known))
    }

    /// Returns the currency that a sign or code means.
    pub(crate) fn meant(self, found: Currency) -> Currency {
        self.of_sign(found).unwrap_or(found).usual()
    }
}
