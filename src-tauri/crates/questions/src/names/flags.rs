//! Columns that say whether their name holds, such as "returned" with the values yes and no. It must not
//! know which words mean yes.

use std::collections::{BTreeMap, HashMap};

use analytics::SourceModel;
use contract::{definitions::DimensionKind, sources::ColumnKind};

use crate::lexicon::Lexicon;

/// The value of a column that has no texts.
pub(crate) const HOLDS: &str = "true";
/// The most values of such a column.
const MOST: usize = 2;

/// Returns the value that means yes, for each such dimension.
pub(super) fn flags_of(
    source: &SourceModel,
    values: &BTreeMap<String, Vec<String>>,
    lexicon: &Lexicon,
) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for (name, dimension) in &source.definitions.dimensions {
        let DimensionKind::Column(column) = &dimension.kind else { continue };
        let is_own = |own: &&analytics::TableColumn| own.name == *column;
        let is_flag =
            source.columns.iter().find(is_own).is_some_and(|c| c.kind == ColumnKind::Flag);
        let yes = match values.get(name) {
            _ if is_flag => Some(HOLDS.to_owned()),
            Some(values) => yes_of(values, lexicon),
            None => None,
        };
        found.extend(yes.map(|yes| (name.clone(), yes)));
    }
    found
}

/// Returns the value that means yes if all others mean no.
fn yes_of(values: &[String], lexicon: &Lexicon) -> Option<String> {
    let is_yes = |value: &&String| lexicon.yes.contains(&language::fold(value));
    let is_no = |value: &String| lexicon.no.contains(&language::fold(value));
    let yes = values.iter().find(is_yes)?;
    let is_flag = values.len() <= MOST && values.iter().all(|value| value == yes || is_no(value));
    is_flag.then(|| yes.clone())
}
