//! Groups the errors of a file by their cause, so that a person reads one line per cause.

use contract::{ImportError, ImportProblem};

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
