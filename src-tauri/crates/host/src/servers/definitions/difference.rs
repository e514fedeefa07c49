//! The difference between two definitions of a tool, line by line, for a person. Must not know
//! which definition is accepted.

use contract::{Change, DiffLine};
use mcp::Definition;

/// The maximum number of lines of a definition that is compared line by line.
const MAX_LINES: usize = 3_000;

/// Compares two definitions line by line.
pub(super) fn diff_definitions(before: Option<&Definition>, after: &Definition) -> Vec<DiffLine> {
    let lines = |definition: &Definition| -> Vec<String> {
        serde_json::to_string_pretty(definition)
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    };
    let (old, new) = (before.map(lines).unwrap_or_default(), lines(after));
    let line = |change: Change, text: &String| DiffLine { change, text: text.clone() };
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        return old
            .iter()
            .map(|text| line(Change::Removed, text))
            .chain(new.iter().map(|text| line(Change::Added, text)))
            .collect();
    }
    // `common[i][j]` is the length of the longest common subsequence of the old lines from `i` on
    // and the new lines from `j` on.
    let mut common = vec![vec![0_u16; new.len() + 1]; old.len() + 1];
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            common[i][j] = if a == b {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(line(Change::Same, &old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(line(Change::Removed, &old[i]));
            i += 1;
        } else {
            lines.push(line(Change::Added, &new[j]));
            j += 1;
        }
    }
    lines
}
