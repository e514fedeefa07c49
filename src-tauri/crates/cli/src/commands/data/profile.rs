//! `csign data profile`: figures about the values of each column. The host computes them; this module
//! asks until all columns are there, and prints.

use contract::{
    AgentError, SourceName, SourceProfileParams,
    sources::{ColumnKind, ColumnProfile, ProfileBasis, SourceProfile, TextLengths},
};

use super::{
    figures::{Digits, count_of, show_whole},
    glance,
    paragraph::Paragraph,
    table::{TextTable, shorten},
};
use crate::args::DataProfile;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::Out;

/// The longest bar of a range, in columns of the terminal.
const BAR: u128 = 24;
/// The most columns of the terminal for a text in the table.
const TEXT: usize = 16;
/// The most frequent values that a line names.
const NAMED: usize = 3;
const WITH_JSON: &str = "--json gives everything.";

pub(super) async fn profile(link: &Link, out: Out, args: DataProfile) -> Result<Exit, Failure> {
    let is_chosen = !args.column.is_empty();
    let found = all(link, args.name.into(), args.column).await?;
    if out.json {
        out.print_json(&found);
        return Ok(Exit::Done);
    }
    Paragraph::new(basis_of(&found)).print_line(out);
    out.print_line("");
    let (table, is_cut) = table_of(&found.columns);
    let missing = table.print(out, 0).describe();
    let cut = is_cut.then(|| "Texts are shortened.".to_owned());
    let said: Vec<String> = missing.into_iter().chain(cut).collect();
    if !said.is_empty() {
        Paragraph::new(format!("{} {WITH_JSON}", said.join(" "))).print_line(out);
    }
    if is_chosen {
        found.columns.iter().for_each(|column| print_values(out, column));
    }
    for column in &found.columns {
        for note in &column.notes {
            Paragraph::new(format!("{}: {note}", column.name)).after("note: ").print_note(out);
        }
    }
    for note in &found.notes {
        Paragraph::new(note.as_str()).after("note: ").print_note(out);
    }
    Ok(Exit::Done)
}

/// Asks for the columns that were left as long as there are some.
async fn all(
    link: &Link,
    name: SourceName,
    columns: Vec<String>,
) -> Result<SourceProfile, AgentError> {
    let ask = async |columns: Vec<String>| {
        let name = name.clone();
        link.commands.source_profile(SourceProfileParams { name, columns }).await
    };
    let mut found = ask(columns).await?;
    while !found.left.is_empty() {
        let left = std::mem::take(&mut found.left);
        let next = ask(left).await?;
        if next.columns.is_empty() {
            found.left = next.left;
            break;
        }
        found.columns.extend(next.columns);
        found.left = next.left;
    }
    Ok(found)
}

/// Says which rows count.
fn basis_of(profile: &SourceProfile) -> String {
    let rows = count_of(profile.rows, "row");
    match (profile.basis, profile.estimated_rows) {
        (ProfileBasis::AllRows, _) => format!("Computed from all {rows}."),
        (ProfileBasis::Sample, Some(all)) => {
            format!("Computed from a sample of {rows} of about {}.", show_whole(all))
        }
        (ProfileBasis::Sample, None) => format!("Computed from a sample of {rows}."),
        (ProfileBasis::FirstRows, _) => {
            format!("Computed from the first {rows} that the database returned. There are more.")
        }
    }
}

/// Returns the table of all columns, and whether a text in it is cut.
fn table_of(columns: &[ColumnProfile]) -> (TextTable, bool) {
    let headings = [
        ("Column", false),
        ("Empty", true),
        ("Different", true),
        ("Least", false),
        ("Greatest", false),
        ("Mean", true),
        ("Most frequent", false),
    ];
    // Digits and days are never cut, and texts could be very long.
    let mut table = TextTable::new(headings).keep_whole(&[0, 3, 4]);
    let mut is_cut = false;
    let mut short = |kind, value: Option<&str>| {
        let shown = show_value(kind, value);
        if kind != ColumnKind::Text {
            return shown;
        }
        let short = shorten(&shown, TEXT);
        is_cut |= short != shown;
        short
    };
    for column in columns {
        let about = if column.is_distinct_estimated { "about " } else { "" };
        table.add_row([
            column.name.clone(),
            show_whole(column.empty),
            format!("{about}{}", show_whole(column.distinct)),
            short(column.kind, column.least.as_deref()),
            short(column.kind, column.greatest.as_deref()),
            show_value(column.kind, column.mean.as_deref()),
            frequent_of(column),
        ]);
    }
    (table, is_cut)
}

fn frequent_of(column: &ColumnProfile) -> String {
    let named = column.frequent.iter().take(NAMED);
    let texts = named.map(|one| {
        format!("{} ({})", show_value(column.kind, Some(&one.value)), show_whole(one.rows))
    });
    texts.collect::<Vec<_>>().join(" | ")
}

/// Shows a value with groups of digits, if it is a number.
fn show_value(kind: ColumnKind, value: Option<&str>) -> String {
    let Some(value) = value else { return "–".to_owned() };
    let is_number = matches!(kind, ColumnKind::Whole | ColumnKind::Decimal);
    match Digits::read(value).filter(|_| is_number && !value.contains(['e', 'E'])) {
        Some(number) => number.grouped(),
        None => value.to_owned(),
    }
}

/// Prints the frequent values and the ranges of a column that was named.
fn print_values(out: Out, column: &ColumnProfile) {
    out.print_line("");
    let kind = glance::json_word(&Some(column.kind)).unwrap_or_default();
    Paragraph::new(format!("{} ({kind})", column.name)).print_line(out);
    if let Some(lengths) = &column.lengths {
        out.print_line(lengths_line(lengths));
    }
    if !column.frequent.is_empty() {
        let mut table = TextTable::new([("Value", false), ("Rows", true)]);
        for one in &column.frequent {
            table.add_row([show_value(column.kind, Some(&one.value)), show_whole(one.rows)]);
        }
        table.print(out, 2).print(out, WITH_JSON);
    }
    if column.ranges.len() > 1 {
        let most = column.ranges.iter().map(|range| range.rows).max().unwrap_or(0);
        let headings = [("From", false), ("To", false), ("Rows", true), ("Bars", false)];
        let mut table = TextTable::new(headings).keep_whole(&[0, 1]);
        for range in &column.ranges {
            table.add_row([
                show_value(column.kind, Some(&range.from)),
                show_value(column.kind, Some(&range.to)),
                show_whole(range.rows),
                bar(range.rows, most),
            ]);
        }
        table.print(out, 2).print(out, WITH_JSON);
    }
}

fn lengths_line(lengths: &TextLengths) -> String {
    format!(
        "  {} to {} characters, {} on average",
        show_whole(lengths.shortest),
        show_whole(lengths.longest),
        lengths.mean
    )
}

/// Returns a bar. A range with rows has one, however few they are.
fn bar(rows: u64, most: u64) -> String {
    let length = (u128::from(rows) * BAR).div_ceil(u128::from(most.max(1)));
    "█".repeat(usize::try_from(length).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_relative_to_the_longest_and_few_rows_are_seen() {
        assert_eq!(bar(10, 10).chars().count(), 24);
        assert_eq!(bar(1, 1_000_000).chars().count(), 1);
        assert_eq!((bar(0, 5), bar(0, 0)), (String::new(), String::new()));
        assert_eq!(bar(u64::MAX, u64::MAX).chars().count(), 24);
    }

    #[test]
    fn numbers_have_groups_and_other_values_stay() {
        let shown = |kind, value| show_value(kind, Some(value));
        assert_eq!(shown(ColumnKind::Decimal, "-1234567.50"), "-1,234,567.50");
        assert_eq!(shown(ColumnKind::Decimal, "1e308"), "1e308");
        assert_eq!(shown(ColumnKind::Text, "0012345"), "0012345");
        assert_eq!(show_value(ColumnKind::Flag, None), "–");
    }

    #[test]
    fn the_rows_behind_a_profile_are_said() {
        let of = |basis, estimated_rows| {
            basis_of(&SourceProfile {
                rows: 1_000_000,
                basis,
                estimated_rows,
                ..Default::default()
            })
        };
        assert_eq!(of(ProfileBasis::AllRows, None), "Computed from all 1,000,000 rows.");
        assert_eq!(
            of(ProfileBasis::Sample, Some(30_000_000)),
            "Computed from a sample of 1,000,000 rows of about 30,000,000."
        );
        assert!(of(ProfileBasis::FirstRows, None).contains("There are more."));
    }
}
