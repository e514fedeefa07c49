//! Groups the errors of a file by their cause, so that a person reads one line per cause.

use contract::{ImportError, ImportProblem, RejectedCause};

/// Line numbers that are kept of each cause.
const LINES: usize = 5;

/// Counts rejected lines by their cause while a file is read. It does not keep the errors, so a
/// file may have any number of them.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    causes: Vec<RejectedCause>,
    lines: u64,
    last_line: u64,
}

impl Causes {
    /// Adds an error. The errors of a line come one after another.
    pub fn add(&mut self, line: u64, column: &str, problem: &ImportProblem) {
        if self.lines == 0 || line != self.last_line {
            self.lines += 1;
            self.last_line = line;
        }
        let kind = std::mem::discriminant(problem);
        let known = self
            .causes
            .iter_mut()
            .find(|cause| cause.column == column && std::mem::discriminant(&cause.example) == kind);
        match known {
            Some(cause) => {
                cause.count += 1;
                if cause.lines.len() < LINES {
                    cause.lines.push(line);
                }
            }
            None => self.causes.push(RejectedCause {
                column: column.to_owned(),
                example: problem.clone(),
                count: 1,
                lines: vec![line],
            }),
        }
    }

    /// Returns the number of lines with an error.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns the causes, the most frequent first.
    pub fn into_list(mut self) -> Vec<RejectedCause> {
        self.causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
        self.causes
    }
}

/// The errors with one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The column, or an empty text if the cause concerns whole lines.
    pub column: String,
    /// The first error with this cause.
    pub example: ImportProblem,
    /// The lines of the errors, in their order.
    pub lines: Vec<u64>,
}

/// Groups errors by column and kind of problem, the most frequent first.
pub fn group_by_cause(errors: &[ImportError]) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for error in errors {
        let kind = std::mem::discriminant(&error.problem);
        let known = causes.iter_mut().find(|cause| {
            cause.column == error.column && std::mem::discriminant(&cause.example) == kind
        });
        match known {
            Some(cause) => cause.lines.push(error.line),
            None => causes.push(Cause {
                column: error.column.clone(),
                example: error.problem.clone(),
                lines: vec![error.line],
            }),
        }
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.lines.len()));
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_once_and_causes_keep_their_first_lines() {
        let mut causes = Causes::default();
        causes.add(2, "spend", &ImportProblem::AmountEmpty);
        for line in 3..10 {
            causes.add(line, "spend", &ImportProblem::AmountEmpty);
            causes.add(line, "day", &ImportProblem::Empty);
        }
        assert_eq!(causes.lines(), 8);
        let list = causes.into_list();
        let told: Vec<_> =
            list.iter().map(|c| (c.column.as_str(), c.count, c.lines.len())).collect();
        assert_eq!(told, [("spend", 8, 5), ("day", 7, 5)]);
    }

    #[test]
    fn errors_of_one_cause_are_one_group_and_the_most_frequent_is_first() {
        let error = |line: u64, column: &str, problem: ImportProblem| ImportError {
            file: "a.csv".to_owned(),
            line,
            column: column.to_owned(),
            problem,
        };
        let day = |text: &str| ImportProblem::NotADay { text: text.to_owned() };
        let causes = group_by_cause(&[
            error(2, "spend", ImportProblem::AmountEmpty),
            error(3, "day", day("soon")),
            error(4, "day", day("later")),
        ]);
        assert_eq!(causes.len(), 2);
        assert_eq!(
            causes[0],
            Cause { column: "day".to_owned(), example: day("soon"), lines: vec![3, 4] }
        );
    }
}
