//! `data.verify`: hashes the files of the parts, asks a recorded question again, and compares.

use std::{collections::BTreeSet, io::Read as _, path::Path};

use contract::{
    metric_query::{DataColumn, DataResult},
    sources::{
        AskLimits, AskMeasure, AskQuery, AskVerify, AskedPlace, AskedSource, Exclusion, PartRef,
        Verified, VerifiedPart,
    },
};
use sha2::{Digest as _, Sha256};

use super::{Asker, ask::check_file_name};
use crate::{DataError, stop::Stop};

impl Asker {
    /// Asks a recorded question again.
    pub fn verify(&self, ask: &AskVerify, stop: &Stop) -> Result<Verified, DataError> {
        let parts = check_parts(&ask.sources, stop)?;
        let rows = ask.first.saturating_add(ask.result.rows.len() as u64).max(1);
        let limits = AskLimits { rows, ..ask.limits };
        let result = match (&ask.query, &ask.sql) {
            (Some(query), None) => {
                let ask = AskMeasure {
                    query: query.clone(),
                    sources: ask.sources.clone(),
                    limits,
                    cursor: None,
                };
                self.measure_again(&ask, stop)?
            }
            (None, Some(sql)) => {
                let ask = AskQuery {
                    sql: sql.clone(),
                    sources: ask.sources.clone(),
                    limits,
                    cursor: None,
                };
                self.query_again(&ask, stop)?
            }
            _ => {
                return Err(DataError::Arguments(
                    "either `query` or `sql` is the recorded question".to_owned(),
                ));
            }
        };
        let differs_at = first_difference(ask, &result);
        let equal = parts.iter().all(|part| part.intact)
            && differs_at.is_none()
            && are_same(&ask.result.columns, &result.columns)
            && ask.result.totals == result.totals
            && ask.result.row_count == result.row_count;
        Ok(Verified { parts, equal, differs_at, result })
    }
}

/// Whether columns are the same. Older records do not say which values became columns, which values
/// are good, and which column is the change of another one. Which values add up changes no figure, and
/// older ones say it of last values of several times.
fn are_same(recorded: &[DataColumn], now: &[DataColumn]) -> bool {
    let is_same = |(one, other): (&DataColumn, &DataColumn)| {
        let pivot = one.pivot.as_ref().or(other.pivot.as_ref()).cloned();
        let (better, compared) = (one.better.or(other.better), one.compared.or(other.compared));
        DataColumn { pivot, adds_up: other.adds_up, better, compared, ..one.clone() } == *other
    };
    recorded.len() == now.len() && recorded.iter().zip(now).all(is_same)
}

fn first_difference(ask: &AskVerify, now: &DataResult) -> Option<u64> {
    let recorded = &ask.result.rows;
    let now = now.rows.iter().skip(usize::try_from(ask.first).unwrap_or(usize::MAX));
    let same = recorded.iter().zip(now).take_while(|(one, other)| one == other).count();
    (same < recorded.len()).then_some(ask.first + same as u64 + 1)
}

fn check_parts(sources: &[AskedSource], stop: &Stop) -> Result<Vec<VerifiedPart>, DataError> {
    let mut checked = Vec::new();
    for source in sources {
        let AskedPlace::Parts { folder, parts } = &source.place else {
            return Err(DataError::Arguments(format!(
                "the source {} is a database, which keeps no former state",
                source.name
            )));
        };
        let mut seen = BTreeSet::new();
        for (file, hash) in parts.iter().flat_map(files_of) {
            if seen.insert(file) {
                check_file_name(file)?;
                let found = hash_file(&Path::new(folder).join(file), stop)?;
                let intact = found.is_some_and(|found| found == hash);
                checked.push(VerifiedPart { file: file.to_owned(), intact });
            }
        }
    }
    Ok(checked)
}

/// Returns the files that the rows of a part need, with their hashes: its own, and those with keys
/// that exclude rows of it. Each file has the name of its hash.
fn files_of(part: &PartRef) -> impl Iterator<Item = (&str, &str)> {
    let keys = part.without.iter().filter_map(|exclusion| match exclusion {
        Exclusion::Keys { of, .. } => Some((of.as_str(), of.split('.').next().unwrap_or_default())),
        Exclusion::Scope { .. } => None,
    });
    std::iter::once((part.file.as_str(), part.hash.as_str())).chain(keys)
}

/// Returns the SHA-256 of a file, or None if there is no such file.
fn hash_file(path: &Path, stop: &Stop) -> Result<Option<String>, DataError> {
    let failed = |cause| DataError::File { what: path.display().to_string(), cause };
    let mut file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        stop.check()?;
        match file.read(&mut buffer).map_err(failed)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Ok(Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}
