//! The fields that a caller reads from tables. This crate knows no field by its name: callers say which fields
//! there are, and which layouts of other programs they know.

use std::collections::BTreeMap;

use crate::layout::Layout;

/// The fields of a caller, and the layouts in which it finds them.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The names of all fields.
    pub fields: Vec<String>,
    /// The fields that a row cannot do without. Of each list one field must be there; messages name
    /// the first.
    pub required: Vec<Vec<String>>,
    /// The field whose cells are days. A line with a day is never a line of totals.
    pub day: String,
    /// The field whose cells are amounts, from which the format of numbers is learnt.
    pub amount: String,
    /// Fields whose value the heading of another field may state in brackets, as in
    /// `Amount spent (SEK)`: the field, and the one with the heading.
    pub constants: BTreeMap<String, String>,
    /// The fields that name what a row is about. In a line of totals they are empty, or say so.
    pub totals: Vec<String>,
    /// The layouts that are recognised without questions.
    pub layouts: Vec<Layout>,
}

impl Schema {
    /// Returns the name of a field, if there is such a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        let name = name.trim();
        self.fields.iter().find(|field| *field == name).map(String::as_str)
    }

    /// Whether a row cannot do without this field.
    pub fn is_required(&self, field: &str) -> bool {
        self.required.iter().any(|fields| fields.first().is_some_and(|first| first == field))
    }
}
