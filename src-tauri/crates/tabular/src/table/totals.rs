//! Compares the sums of rows with the lines of totals that a file has.

use contract::sources::{FileTotal, TotalCheck};

use super::{
    column::{DayMemory, Reading, Sum, Value, decimal_text, rescale},
    plan::Plan,
    records::Record,
    scan::Findings,
    words,
};

/// The comparison with all lines of totals.
pub(crate) struct Compared {
    /// The line that agrees best.
    pub(crate) best: Option<FileTotal>,
    /// The first line that does not say that it is a total, and differs from the sums.
    pub(crate) doubtful_line: Option<u64>,
}

/// Compares the lines of totals with the sums of the columns that add up. A line that differs and does
/// not say that it is a total is one only if a person says so.
pub(crate) fn compare(
    plan: &Plan,
    findings: &Findings,
    adds_up: &[bool],
    are_unnamed_totals: bool,
) -> Compared {
    let mut compared = Compared { best: None, doubtful_line: None };
    let named = findings.named.iter().map(|(_, kept)| (kept, true));
    for (kept, is_named) in findings.totals.iter().map(|kept| (kept, false)).chain(named) {
        let record = kept.record();
        let checks = check(plan, findings, adds_up, &record);
        // A total with a day can be that of its day. Whether it is a sum was tested apart.
        if checks.is_empty() || (is_named && !checks.iter().all(|check| check.agrees)) {
            continue;
        }
        let agreeing = |checks: &[TotalCheck]| checks.iter().filter(|check| check.agrees).count();
        let says =
            record.cells().any(|cell| words::begins_with_total(super::cells::value::text(cell)));
        if !says && agreeing(&checks) < checks.len() && !are_unnamed_totals {
            compared.doubtful_line.get_or_insert(record.line);
            continue;
        }
        let is_better = compared.best.as_ref().is_none_or(|best| {
            let rank = |checks: &[TotalCheck]| (agreeing(checks) == checks.len(), agreeing(checks));
            rank(&checks) >= rank(&best.columns)
        });
        if is_better {
            compared.best = Some(FileTotal { line: record.line, columns: checks });
        }
    }
    compared
}

fn check(
    plan: &Plan,
    findings: &Findings,
    adds_up: &[bool],
    record: &Record<'_>,
) -> Vec<TotalCheck> {
    let mut memory = DayMemory::new();
    let mut checks = Vec::new();
    for (at, column) in plan.columns.iter().enumerate() {
        if !adds_up[at] || !matches!(column.reading, Reading::Number { .. }) {
            continue;
        }
        let read = column.read(record.cell(at), record.tag(at), &mut memory);
        let Ok(Value::Number(stated)) = read else { continue };
        let sums = &findings.columns[at].numbers.sums;
        let filled: Vec<&Sum> =
            sums.iter().map(|(_, sum)| sum).filter(|sum| sum.value != 0).collect();
        let sum = match filled.as_slice() {
            [] => Sum::default(),
            [only] => **only,
            // Amounts of several currencies have no sum.
            _ => continue,
        };
        let scale = findings.columns[at].numbers.scale;
        checks.push(TotalCheck {
            column: column.name.clone(),
            stated: decimal_text(stated.mantissa, stated.scale),
            computed: sum.to_text(scale),
            agrees: agrees(stated.mantissa, stated.scale, &sum, findings.stored),
        });
    }
    checks
}

/// The most units in the last place by which the rounding of rows can change their sum.
const MAX_ROUNDING: u64 = 100;

/// Whether a number is a sum, up to the rounding of the number, and up to that of the rows if they
/// have decimals: a platform adds amounts before it rounds them.
fn agrees(stated: i128, scale: u8, sum: &Sum, rows: u64) -> bool {
    let to = scale.max(sum.scale);
    let (Some(stated), Some(computed)) = (rescale(stated, scale, to), sum.at_scale(to)) else {
        return false;
    };
    let unit = |of: u8| 10_i128.checked_pow(u32::from(to - of)).unwrap_or(i128::MAX);
    let of_total = if to == scale { 0 } else { unit(scale) };
    let of_rows = if sum.scale == 0 { 0 } else { unit(sum.scale) };
    // The rounding of rows adds up by the root of their number.
    let rounding = 2 * i128::from(rows.isqrt().min(MAX_ROUNDING));
    let most = of_total.saturating_add(of_rows.saturating_mul(rounding));
    (stated - computed).abs().saturating_mul(2) <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_agrees_up_to_its_own_rounding() {
        let sum = |value, scale| Sum { value, scale, is_over: false };
        assert!(agrees(210, 0, &sum(21_000, 2), 2));
        assert!(agrees(210, 0, &sum(20_950, 2), 2));
        assert!(agrees(2_104, 1, &sum(21_044, 2), 2));
        assert!(agrees(21_001, 2, &sum(21_000, 2), 2));
        assert!(!agrees(210, 0, &sum(20_900, 2), 2));
        assert!(!agrees(21_100, 2, &sum(21_000, 2), 2));
        assert!(!agrees(211, 0, &sum(210, 0), 500));
    }
}
