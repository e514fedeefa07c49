//! Passes the plain files of an export to the checker. An export of one session is checked by
//! inclusion proofs instead.

use contract::{Text, text};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Serialize};

use super::checker::{Checker, OpenCalls, Summary};
use super::figures::Figures;
use super::receipts::Receipts;
use super::tiles::TileCheck;
use super::unchecked::Unchecked;
use super::{Expected, Problems};
use crate::body::{self, Body, MAX_BODY, MAX_VALUE, Reveal};
use crate::note::{self, Note};
use crate::tree::Hash;
use crate::{canon, tree};

/// The maximum number of bytes of a line with a value: every character of the value may need an
/// escape, and its member's name is at most as long as a body.
const MAX_REVEAL: usize = 2 * (MAX_VALUE + MAX_BODY);
/// The maximum number of bytes of a line with a proof, which has at most 64 hashes.
const MAX_PROOF: usize = 8 << 10;
/// The maximum number of bytes of a small file.
const MAX_FILE: u64 = 256 << 20;

/// A line with a value. A line is parsed directly into this type, so that parsing takes no more
/// memory than the texts.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RevealLine {
    member: String,
    salt: String,
    seq: u64,
    value: String,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ProofLine {
    proof: Vec<String>,
    seq: u64,
}

/// Reads the lines of a file. Each line must end with a line feed.
struct Lines {
    file: BufReader<File>,
    /// The maximum number of bytes of a line.
    most: usize,
}

impl Lines {
    fn open(path: &Path, most: usize) -> std::io::Result<Self> {
        Ok(Self { file: BufReader::new(files::open(path)?), most })
    }

    fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let mut line = Vec::new();
        let read = self
            .file
            .by_ref()
            .take(self.most as u64 + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| error.to_string())?;
        if read == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(Some(line));
        }
        let is_long = line.len() > self.most;
        Err(if is_long { "a line is too long" } else { "the last line is cut" }.to_owned())
    }

    /// Reads the next line as a canonical JSON object of type `T`.
    fn object<T: for<'de> Deserialize<'de> + Serialize>(&mut self) -> Result<Option<T>, String> {
        let Some(line) = self.next()? else { return Ok(None) };
        let object: T = serde_json::from_slice(&line)
            .map_err(|error| files::fault::without_values(&error.to_string()))?;
        if canon::canonical(&object).map_err(|error| error.to_string())? != line {
            return Err("a line is not in canonical form".to_owned());
        }
        Ok(Some(object))
    }
}

/// Refuses a record number that other JSON parsers would round.
fn seq_of(number: u64) -> Result<u64, String> {
    if number <= canon::MAX_SAFE { Ok(number) } else { Err("no record has this number".to_owned()) }
}

/// The files that every export has.
const ALWAYS: [&str; 4] = ["key.vkey", "checkpoint.txt", "records.jsonl", "reveals.jsonl"];
const PROOFS: &str = "proofs.jsonl";

/// Verifies the folder.
pub(crate) fn verify_folder(
    folder: &Path,
    expected: Expected<'_>,
    problems: &mut Problems,
) -> Summary {
    match files(folder, expected, problems) {
        Ok(summary) => summary,
        Err(why) => {
            problems.add(None, format!("the export cannot be read: {why}"));
            Summary::default()
        }
    }
}

fn text(path: &Path) -> Result<String, String> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    files::read_text(path, MAX_FILE).map_err(|error| format!("{name}: {error}"))
}

/// Splits the file of checkpoints. Returns the checkpoints by size.
fn notes(text: &str) -> Result<BTreeMap<u64, String>, String> {
    let mut notes = BTreeMap::new();
    let mut pieces = text.strip_suffix('\n').unwrap_or_default().split("\n\n");
    while let Some(head) = pieces.next() {
        let signature = pieces.next().ok_or("checkpoint.txt is cut")?;
        let whole = format!("{head}\n\n{signature}\n");
        let size =
            note::parse(&whole).map_err(|error| format!("a note in checkpoint.txt: {error}"))?.size;
        if notes.last_key_value().is_some_and(|(last, _)| *last >= size) {
            return Err("the checkpoints are not in order".to_owned());
        }
        notes.insert(size, whole);
    }
    Ok(notes)
}

fn files(
    folder: &Path,
    expected: Expected<'_>,
    problems: &mut Problems,
) -> Result<Summary, String> {
    let key = text(&folder.join("key.vkey"))?;
    let notes = notes(&text(&folder.join("checkpoint.txt"))?)?;
    let origin = notes
        .values()
        .next_back()
        .and_then(|text| note::parse(text).ok())
        .map(|n| n.origin)
        .unwrap_or_default();
    let records = Lines::open(&folder.join("records.jsonl"), MAX_BODY)
        .map_err(|error| format!("records.jsonl: {error}"))?;
    let reveals = Lines::open(&folder.join("reveals.jsonl"), MAX_REVEAL)
        .map_err(|error| format!("reveals.jsonl: {error}"))?;
    let receipts = Receipts::read(folder, &origin, &key);
    let mut checked: BTreeSet<String> = ALWAYS.map(str::to_owned).into();
    checked.extend(receipts.names());
    if fs::exists(folder.join(PROOFS)).unwrap_or(false) {
        let proofs = Lines::open(&folder.join(PROOFS), MAX_PROOF)
            .map_err(|error| format!("proofs.jsonl: {error}"))?;
        let values = Values { reveals, figures: Figures::read(folder) };
        let (mut summary, figures) =
            check_partial(records, values, proofs, &notes, &key, problems)?;
        add_all(problems, receipts.faults_alone());
        let (faults, names) = figures.finish();
        add_all(problems, faults);
        checked.extend(names);
        checked.insert(PROOFS.to_owned());
        summary.unchecked = Unchecked::list(folder, &checked);
        return Ok(summary);
    }
    let mut forms = Forms { tiles: TileCheck::open(folder, notes.values().next_back()), receipts };
    let mut checker = Checker::new(problems, expected, notes);
    check_whole(records, reveals, &mut checker, &mut forms)?;
    let mut summary = checker.finish();
    let stated = summary.key.map(|key| format!("{}\n", note::vkey_of(&origin, &key)));
    if problems.is_empty() && stated.as_deref() != Some(key.as_str()) {
        problems.add(Some(1), "key.vkey is not the key that the records name");
    }
    // If the log itself is invalid, the other formats cannot be compared with it.
    if problems.is_empty() {
        let (faults, names) = forms.tiles.map(TileCheck::finish).unwrap_or_default();
        add_all(problems, faults);
        add_all(problems, forms.receipts.finish());
        checked.extend(names);
        summary.unchecked = Unchecked::list(folder, &checked);
    }
    Ok(summary)
}

/// The log in the formats of other programs, which must agree with the records.
struct Forms {
    tiles: Option<TileCheck>,
    receipts: Receipts,
}

fn add_all(problems: &mut Problems, faults: Vec<Text>) {
    faults.into_iter().for_each(|fault| problems.add(None, fault));
}

/// Reads the next reveal and its record's number.
fn reveal(lines: &mut Lines) -> Result<Option<(u64, Reveal)>, String> {
    let Some(line) = lines.object::<RevealLine>().map_err(|why| format!("reveals.jsonl: {why}"))?
    else {
        return Ok(None);
    };
    let salt =
        crate::hex::decode32(&line.salt).ok_or("reveals.jsonl: a salt is not hexadecimal")?;
    let seq = seq_of(line.seq).map_err(|why| format!("reveals.jsonl: {why}"))?;
    Ok(Some((seq, Reveal { member: line.member, salt, value: line.value })))
}

fn check_whole(
    mut records: Lines,
    mut reveals: Lines,
    checker: &mut Checker<'_>,
    forms: &mut Forms,
) -> Result<(), String> {
    let mut next = reveal(&mut reveals)?;
    loop {
        let line = match records.next() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(why) => {
                checker
                    .report_record(format!("record {} cannot be read: {why}", checker.size() + 1));
                return Ok(());
            }
        };
        let Some((_, leaf, _)) = checker.check_record(&line) else { return Ok(()) };
        if let Some(tiles) = &mut forms.tiles {
            tiles.add_record(&line);
        }
        forms.receipts.add_record(checker.size(), leaf, || checker.root());
        while let Some((_, value)) = next.take_if(|(of, _)| *of == checker.size()) {
            checker.check_reveal(&value);
            next = reveal(&mut reveals)?;
        }
        checker.check_size();
        if checker.has_stopped() {
            return Ok(());
        }
    }
    if let Some((of, _)) = next {
        checker.report_missing_records(format!(
            "reveals.jsonl is out of order, or speaks of record {of}, which does not exist"
        ));
    }
    Ok(())
}

/// Reads the only checkpoint, and its key, of an export of some records.
fn signed_note(
    notes: &BTreeMap<u64, String>,
    key: &str,
    problems: &mut Problems,
) -> Result<(Note, VerifyingKey), String> {
    let (Some(text), true) = (notes.values().next(), notes.len() == 1) else {
        return Err("there must be one checkpoint".to_owned());
    };
    let note = note::parse(text).map_err(|error| error.to_string())?;
    let key = key
        .strip_suffix('\n')
        .and_then(|key| note::parse_vkey(&note.origin, key))
        .ok_or("key.vkey is not a key for this log")?;
    if let Err(why) = note.check(&key) {
        problems.add(None, format!("the checkpoint does not hold: {why}"));
    }
    Ok((note, key))
}

/// The values of some records, and what the export makes of them.
struct Values {
    reveals: Lines,
    figures: Figures,
}

/// Checks that each of some records is in the signed tree. This does not show whether other records
/// were left out, or whether the key is stored in a keyring.
fn check_partial(
    mut records: Lines,
    values: Values,
    mut proofs: Lines,
    notes: &BTreeMap<u64, String>,
    key: &str,
    problems: &mut Problems,
) -> Result<(Summary, Figures), String> {
    let Values { mut reveals, mut figures } = values;
    let (note, key) = signed_note(notes, key, problems)?;
    let mut summary = Summary {
        part: true,
        checkpoints: 1,
        root: note.root,
        key: Some(key),
        ..Summary::default()
    };
    let mut next = reveal(&mut reveals)?;
    let (mut calls, mut last) = (OpenCalls::default(), 0);
    while let Some(line) = records.next()? {
        let (seq, path) = proof(&mut proofs)?;
        let mut body = match proven(&line, seq, last, &path, &note) {
            Ok(body) => body,
            Err(why) => return Ok((stop(problems, summary, seq, &why), figures)),
        };
        calls.note(&body);
        while let Some((_, value)) = next.take_if(|(of, _)| *of == seq) {
            check_value(&mut body, &value, problems);
            figures.add_value(seq, &value.member, &value.value);
            next = reveal(&mut reveals)?;
        }
        last = seq;
        summary.records += 1;
    }
    if next.is_some() || proofs.next()?.is_some() {
        problems.add(None, "there are values or proofs for records that are not in the export");
    }
    if summary.records == 0 {
        problems.add(None, "the export has no record");
    }
    summary.signed = summary.records;
    summary.unknown_outcomes = calls.unknown();
    Ok((summary, figures))
}

/// Reads the next proof and its record's number.
fn proof(proofs: &mut Lines) -> Result<(u64, Vec<Hash>), String> {
    let line = proofs
        .object::<ProofLine>()
        .map_err(|why| format!("proofs.jsonl: {why}"))?
        .ok_or("proofs.jsonl ends too early")?;
    let path: Option<Vec<Hash>> =
        line.proof.iter().map(|hash| crate::hex::decode32(hash)).collect();
    let seq = seq_of(line.seq).map_err(|why| format!("proofs.jsonl: {why}"))?;
    Ok((seq, path.ok_or("proofs.jsonl: a hash is not hexadecimal")?))
}

/// Returns the record of a line, which must follow the record `last` and be in the signed tree.
fn proven(line: &[u8], seq: u64, last: u64, path: &[Hash], note: &Note) -> Result<Body, String> {
    let body = body::parse(line).map_err(String::from)?;
    if body.seq != seq || seq <= last {
        return Err("it is out of order".to_owned());
    }
    tree::check_inclusion(seq - 1, note.size, &tree::leaf_hash(line), path, &note.root)
        .map_err(|error| error.to_string())?;
    Ok(body)
}

/// Checks a value that was revealed for a record. Removes the commitment, so that a second value
/// for it is a problem.
fn check_value(body: &mut Body, value: &Reveal, problems: &mut Problems) {
    let expected = body.commitments.remove(&value.member);
    if expected.is_none() || value.commitment().map(|hash| crate::hex::encode(&hash)) != expected {
        let seq = body.seq;
        problems.add(
            Some(seq),
            text!(
                "record {seq}: the value shown for \"{name}\" is not the one that was recorded",
                seq,
                name = value.member
            ),
        );
    }
}

fn stop(problems: &mut Problems, summary: Summary, seq: u64, why: &str) -> Summary {
    problems.add(Some(seq), format!("record {seq} is not proven to be in the log: {why}"));
    summary
}
