//! Remembers how a person mapped files, by the names of their columns. It is a JSON file in the data
//! folder of a pack. Must not know what the fields mean.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use contract::data::{DateOrder, ImportOptions};

/// The file's name in the data folder.
const FILE: &str = "layouts.json";
/// The most bytes of the file.
const MAX_BYTES: u64 = 16 << 20;

/// The mappings of earlier files.
#[derive(Clone, Debug)]
pub struct Memory {
    path: PathBuf,
}

/// The decisions about a file: those of a person now, and those about an earlier file with the
/// same columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// The decisions together. The order of dates is only there if a person said it now.
    pub options: ImportOptions,
    /// The order of dates in the earlier file. It counts only if the dates leave it open.
    pub earlier_order: Option<DateOrder>,
    /// Whether an earlier file had the same columns.
    pub is_remembered: bool,
}

impl Memory {
    /// The memory in this folder. The file is made when something is remembered.
    pub fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join(FILE) }
    }

    /// Adds the decisions about an earlier file with the same columns, where `options` say nothing.
    pub fn merge_earlier_decisions(
        &self,
        column_names: &str,
        options: &ImportOptions,
    ) -> Decisions {
        let Some(earlier) = self.read().remove(column_names) else {
            return Decisions { options: options.clone(), ..Decisions::default() };
        };
        let mut merged = earlier.clone();
        for (field, heading) in &options.columns {
            merged.constants.remove(field);
            merged.columns.insert(field.clone(), heading.clone());
        }
        merged.constants.extend(options.constants.clone());
        merged.date_order = options.date_order;
        merged.skip_rejected = options.skip_rejected;
        Decisions { options: merged, earlier_order: earlier.date_order, is_remembered: true }
    }

    /// Remembers the decisions about a file, if there are any.
    pub fn remember(&self, column_names: &str, decisions: &Decisions) -> io::Result<()> {
        let mut options = decisions.options.clone();
        options.date_order = options.date_order.or(decisions.earlier_order);
        options.skip_rejected = false;
        if options == ImportOptions::default() {
            return Ok(());
        }
        let mut all = self.read();
        all.insert(column_names.to_owned(), options);
        self.write(&all)
    }

    /// Forgets the decisions about files with these columns.
    pub fn forget(&self, column_names: &str) -> io::Result<()> {
        let mut all = self.read();
        match all.remove(column_names) {
            Some(_) => self.write(&all),
            None => Ok(()),
        }
    }

    /// A file that is missing or damaged counts as empty: a person can map a file again.
    fn read(&self) -> BTreeMap<String, ImportOptions> {
        let text = files::read_text(&self.path, MAX_BYTES).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn write(&self, all: &BTreeMap<String, ImportOptions>) -> io::Result<()> {
        let fresh = self.path.with_extension("json.part");
        files::write(&fresh, &serde_json::to_vec_pretty(all)?)?;
        fs::rename(fresh, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(columns: &[(&str, &str)], constants: &[(&str, &str)]) -> ImportOptions {
        let owned = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
        };
        ImportOptions {
            columns: owned(columns),
            constants: owned(constants),
            ..ImportOptions::default()
        }
    }

    #[test]
    fn decisions_are_recalled_for_the_same_columns_until_they_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::in_folder(folder.path());
        let said = ImportOptions {
            date_order: Some(DateOrder::DayFirst),
            skip_rejected: true,
            ..options(&[("day", "When")], &[("account", "Shop")])
        };
        let decisions = memory.merge_earlier_decisions("when | what", &said);
        assert!(!decisions.is_remembered);
        memory.remember("when | what", &decisions).unwrap();
        let recalled = memory.merge_earlier_decisions("when | what", &ImportOptions::default());
        assert!(recalled.is_remembered);
        assert_eq!(recalled.options, options(&[("day", "When")], &[("account", "Shop")]));
        assert_eq!(recalled.earlier_order, Some(DateOrder::DayFirst));
        assert!(!memory.merge_earlier_decisions("when", &ImportOptions::default()).is_remembered);
        memory.forget("when | what").unwrap();
        assert!(
            !memory.merge_earlier_decisions("when | what", &ImportOptions::default()).is_remembered
        );
    }

    #[test]
    fn decisions_of_now_come_before_earlier_ones() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::in_folder(folder.path());
        let earlier = options(&[("day", "When")], &[("account", "Shop"), ("currency", "EUR")]);
        memory.remember("a", &memory.merge_earlier_decisions("a", &earlier)).unwrap();
        let now = options(&[("account", "Client")], &[("currency", "SEK")]);
        let both = memory.merge_earlier_decisions("a", &now).options;
        assert_eq!(
            both,
            options(&[("account", "Client"), ("day", "When")], &[("currency", "SEK")])
        );
    }

    #[test]
    fn a_damaged_file_counts_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "{").unwrap();
        let memory = Memory::in_folder(folder.path());
        assert!(!memory.merge_earlier_decisions("a", &ImportOptions::default()).is_remembered);
        memory
            .remember("a", &memory.merge_earlier_decisions("a", &options(&[("day", "When")], &[])))
            .unwrap();
        assert!(memory.merge_earlier_decisions("a", &ImportOptions::default()).is_remembered);
    }
}
