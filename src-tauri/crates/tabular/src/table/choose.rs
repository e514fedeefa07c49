//! Chooses the sheets of a workbook that are read. Hidden sheets are read only if a person names
//! them, and of several tables a person chooses.

use contract::{
    sources::{ImportDecisions, ImportQuestion, QuestionChoice, SheetFound},
    text,
};

use super::{
    fault::TableError,
    header::{self, HEAD, Header},
    records::{Kept, Records as _},
    sheet::{Sheet, SheetRecords},
};

/// The answer that reads all sheets with the same headings.
const ALL: &str = "*";

/// Chooses sheets. Returns a question if a person must choose.
pub(crate) fn choose(
    sheets: &[Sheet],
    found: &mut [SheetFound],
    decisions: &ImportDecisions,
) -> Result<Option<ImportQuestion>, TableError> {
    let answer = decisions.answers.get("sheets").map(String::as_str);
    let named: Vec<&str> = match (decisions.sheets.as_slice(), answer) {
        ([], Some(ALL)) => vec![ALL],
        ([], Some(name)) => vec![name],
        (names, _) => names.iter().map(String::as_str).collect(),
    };
    let headers: Vec<Option<Header>> = sheets.iter().map(find_table).collect();
    let visible = |found: &[SheetFound]| -> Vec<usize> {
        (0..found.len()).filter(|at| headers[*at].is_some() && !found[*at].is_hidden).collect()
    };
    if named == [ALL] {
        let tables = visible(found);
        let first =
            tables.first().and_then(|at| headers[*at].as_ref()).map(|header| &header.headings);
        for at in &tables {
            found[*at].is_read = headers[*at].as_ref().map(|header| &header.headings) == first;
        }
        return Ok(None);
    }
    if !named.is_empty() {
        for name in named {
            let at = found.iter().position(|sheet| sheet.name == name);
            let at = at.ok_or_else(|| TableError::NoSheet {
                name: name.to_owned(),
                sheets: found.iter().map(|sheet| sheet.name.clone()).collect(),
            })?;
            found[at].is_read = true;
        }
        return Ok(None);
    }
    let tables = visible(found);
    match tables.as_slice() {
        [] => choose_hidden(found, &headers),
        [only] => {
            found[*only].is_read = true;
            Ok(None)
        }
        several => {
            let same = several.iter().all(|at| {
                headers[*at].as_ref().map(|header| &header.headings)
                    == headers[several[0]].as_ref().map(|header| &header.headings)
            });
            found[several[0]].is_read = true;
            Ok(Some(question(found, several, same)))
        }
    }
}

fn choose_hidden(
    found: &mut [SheetFound],
    headers: &[Option<Header>],
) -> Result<Option<ImportQuestion>, TableError> {
    let hidden: Vec<usize> = (0..found.len()).filter(|at| headers[*at].is_some()).collect();
    let Some(first) = hidden.first() else { return Err(TableError::NoTable) };
    found[*first].is_read = true;
    Ok(Some(question(found, &hidden, false)))
}

fn question(found: &[SheetFound], tables: &[usize], same: bool) -> ImportQuestion {
    let names: Vec<&str> = tables.iter().map(|at| found[*at].name.as_str()).collect();
    let joined = names.join(", ");
    let mut choices: Vec<QuestionChoice> = names
        .iter()
        .map(|name| QuestionChoice {
            value: (*name).to_owned(),
            label: text!("Only the sheet {name}", name = (*name).to_owned()),
        })
        .collect();
    if same {
        let label = text!("All of them: their headings are equal");
        choices.insert(0, QuestionChoice { value: ALL.to_owned(), label });
    }
    ImportQuestion {
        id: "sheets".to_owned(),
        text: if tables.iter().all(|at| found[*at].is_hidden) {
            text!("Only hidden sheets have a table: {names}. Which one is read?", names = joined)
        } else {
            text!("Several sheets have a table: {names}. Which ones are read?", names = joined)
        },
        choices,
        option: format!("--sheet \"{}\"", names.first().copied().unwrap_or_default()),
    }
}

/// Returns the headings of a sheet, if it has a table: two columns and a row below the headings.
fn find_table(sheet: &Sheet) -> Option<Header> {
    let mut records = SheetRecords::of(sheet);
    let mut head = Vec::new();
    while head.len() < HEAD
        && let Ok(Some(record)) = records.next()
    {
        head.push(Kept::new(&record));
    }
    let header = header::find(&head, None).ok()?;
    let filled = header.headings.iter().filter(|heading| !heading.is_empty()).count();
    (filled > 1 && head.len() > header.records).then_some(header)
}
