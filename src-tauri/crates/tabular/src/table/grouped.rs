//! The labels and the day that grouped rows leave out, because they are those of the row above. If the
//! row above cannot be read, they are not known. Must not know how cells are read.

use std::hash::{Hash as _, Hasher};

use super::{column::Value, plan::Plan, records::Record};

/// A label that rows leave out where it is the same.
struct Label {
    column: usize,
    /// The text of the rows above. None if it is not known.
    last: Option<Vec<u8>>,
    /// Whether the last row leaves it out.
    is_repeated: bool,
}

/// The labels and the day of the rows above.
pub(crate) struct Groups {
    labels: Vec<Label>,
    /// The column with days, if rows leave days out.
    pub(crate) time: Option<usize>,
    /// The day of the rows above. None if it is not known.
    pub(crate) day: Option<Value>,
    /// Whether rows leave something out.
    pub(crate) is_on: bool,
    /// Whether the last row leaves out a label.
    repeats: bool,
}

impl Groups {
    pub(crate) fn new(plan: &Plan) -> Self {
        let labels = plan.grouped.iter().map(|column| Label {
            column: *column,
            last: Some(Vec::new()),
            is_repeated: false,
        });
        let time = plan.time.filter(|_| plan.repeats_days);
        Self {
            labels: labels.collect(),
            time,
            day: Some(Value::Empty),
            is_on: time.is_some() || !plan.grouped.is_empty(),
            repeats: false,
        }
    }

    /// Begins a sheet, whose first row repeats nothing.
    pub(crate) fn begin(&mut self) {
        self.labels.iter_mut().for_each(|label| label.last = Some(Vec::new()));
        self.day = Some(Value::Empty);
    }

    /// Forgets everything, because a record cannot be read that can begin a group.
    pub(crate) fn forget(&mut self) {
        self.labels.iter_mut().for_each(|label| label.last = None);
        self.day = None;
    }

    /// Takes the labels of a record. Below a label that it states, it leaves none out. Returns the
    /// column of a label that it leaves out and that is not known.
    pub(crate) fn see_labels(&mut self, record: &Record<'_>) -> Option<usize> {
        let (mut states_one, mut unknown) = (false, None);
        self.repeats = false;
        for label in &mut self.labels {
            let cell = record.cell(label.column);
            if states_one || !cell.is_empty() {
                states_one = true;
                label.last = Some(cell.to_vec());
            }
            match &label.last {
                Some(last) => label.is_repeated = cell.is_empty() && !last.is_empty(),
                None => {
                    label.is_repeated = false;
                    unknown = unknown.or(Some(label.column));
                }
            }
            self.repeats |= label.is_repeated;
        }
        unknown
    }

    /// Returns the columns of the labels that the last row leaves out.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = usize> {
        self.labels.iter().filter(|label| label.is_repeated).map(|label| label.column)
    }

    /// Returns the text of a label that the last row leaves out.
    #[inline]
    pub(crate) fn text(&self, column: usize) -> Option<&[u8]> {
        if !self.repeats {
            return None;
        }
        let mut labels = self.labels.iter();
        labels.find(|label| label.is_repeated && label.column == column)?.last.as_deref()
    }

    /// Adds what the last row leaves out to the hash of its cells.
    pub(crate) fn hash(&self, hasher: &mut impl Hasher) {
        for label in self.labels.iter().filter(|label| label.is_repeated) {
            label.last.hash(hasher);
        }
        if let (Some(_), Some(Value::Moment(_, day))) = (self.time, self.day) {
            day.hash(hasher);
        }
    }
}
