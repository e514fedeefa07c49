//! Collects faults. Every check adds to the same list and continues, so that an author sees all
//! faults at once.

use contract::{PackFault, Text};

/// The faults of one pack.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<PackFault>);

impl Faults {
    /// Adds a fault in `pack.json` at a JSON pointer.
    pub(crate) fn at(
        &mut self,
        pointer: impl Into<String>,
        problem: impl Into<Text>,
        fix: impl Into<Text>,
    ) {
        self.in_file(crate::MANIFEST, pointer, problem, fix);
    }

    /// Adds a fault in any file. `field` is a JSON pointer or a line number.
    pub(crate) fn in_file(
        &mut self,
        file: &str,
        field: impl Into<String>,
        problem: impl Into<Text>,
        fix: impl Into<Text>,
    ) {
        let fault = PackFault {
            file: file.to_owned(),
            field: field.into(),
            problem: problem.into(),
            fix: fix.into(),
        };
        if !self.0.contains(&fault) {
            self.0.push(fault);
        }
    }

    /// Whether there are no faults.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all faults in the order in which they were found.
    pub(crate) fn into_vec(self) -> Vec<PackFault> {
        self.0
    }
}

/// Appends a member's name to a JSON pointer.
pub(crate) fn join(pointer: &str, member: &str) -> String {
    format!("{pointer}/{}", member.replace('~', "~0").replace('/', "~1"))
}
