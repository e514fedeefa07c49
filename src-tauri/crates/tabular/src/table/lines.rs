//! Lines with a common property, such as the cause of a rejection.

/// The maximum number of lines that are kept.
const LINES: usize = 20;

/// Lines with a common property.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    pub(crate) lines: Vec<u64>,
    pub(crate) count: u64,
    pub(crate) sample: String,
    /// The number of cells in the first line.
    pub(crate) cells: usize,
}

impl Lines {
    pub(crate) fn add(&mut self, line: u64, sample: impl FnOnce() -> String) {
        if self.count == 0 {
            self.sample = sample();
        }
        self.count += 1;
        if self.lines.len() < LINES {
            self.lines.push(line);
        }
    }
}
