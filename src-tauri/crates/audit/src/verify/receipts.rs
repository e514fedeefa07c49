//! Checks the receipts of an export: each must prove its record under the export's key. In an
//! export of the whole log, a receipt must also agree with the records: its record must have its
//! number, and its tree must be a state of the log.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use contract::{Text, text};
use coset::cbor::Value;
use coset::{CborSerializable as _, CoseSign1, Label, TaggedCborSerializable as _};
use ed25519_dalek::VerifyingKey;

use crate::proof_file::ProofFile;
use crate::tree::{self, Hash};
use crate::{body, cose, note};

/// The maximum number of problems that are listed.
const MAX_FAULTS: usize = 10;
/// The maximum number of bytes of a receipt. A record has at most 1 MiB.
const MAX_FILE: u64 = 4 << 20;
/// The header parameters of a statement that contain its receipts and their proofs.
const RECEIPTS: i64 = 394;
const PROOFS: i64 = 396;

/// The parts of the log that a file makes claims about.
struct Claim {
    name: String,
    seq: u64,
    leaf: Hash,
    tree: Option<Tree>,
}

/// A tree of the log in which a receipt proves its record.
struct Tree {
    size: u64,
    root: Hash,
}

/// A file whose record was proven, or which contains the record itself.
struct Proven {
    record: Vec<u8>,
    tree: Option<Tree>,
}

/// The receipts of a folder, compared while the records of the log are read.
#[derive(Default)]
pub(super) struct Receipts {
    faults: Vec<Text>,
    /// The files that were read.
    names: Vec<String>,
    claims: Vec<Claim>,
    /// The leaves and roots that the claims are compared with. A value is None until its record was
    /// read.
    leaves: BTreeMap<u64, Option<Hash>>,
    roots: BTreeMap<u64, Option<Hash>>,
}

impl Receipts {
    /// Checks each file of the folder alone, if the folder has receipts. `key` is the content of
    /// `key.vkey`.
    pub(super) fn read(folder: &Path, origin: &str, key: &str) -> Self {
        let mut receipts = Self::default();
        let folder = folder.join("receipts");
        if !folder.is_dir() {
            return receipts;
        }
        let key = key.strip_suffix('\n').and_then(|key| note::parse_vkey(origin, key));
        let (Some(key), Ok(names)) = (key, names(&folder)) else {
            receipts.faults.push("the receipts cannot be read".into());
            return receipts;
        };
        for (number, ending) in names {
            let name = format!("receipts/{number}.{ending}");
            receipts.names.push(name.clone());
            let Ok(seq) = number.parse() else {
                receipts.faults.push(fault(&name, "no record has this number"));
                continue;
            };
            match check_file(&folder, seq, &ending, origin, &key) {
                Ok(proven) => receipts.add_claim(name, seq, proven),
                Err(why) => receipts.faults.push(fault(&name, &why)),
            }
        }
        receipts
    }

    /// Returns the files that were read.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.names.clone().into_iter()
    }

    fn add_claim(&mut self, name: String, seq: u64, proven: Proven) {
        self.leaves.insert(seq, None);
        if let Some(tree) = &proven.tree {
            self.roots.insert(tree.size, None);
        }
        let leaf = tree::leaf_hash(&proven.record);
        self.claims.push(Claim { name, seq, leaf, tree: proven.tree });
    }

    /// Adds the next valid record of the whole log. `root` computes the root up to this record.
    pub(super) fn add_record(&mut self, seq: u64, leaf: Hash, root: impl FnOnce() -> Hash) {
        if let Some(known) = self.leaves.get_mut(&seq) {
            *known = Some(leaf);
        }
        if let Some(known) = self.roots.get_mut(&seq) {
            *known = Some(root());
        }
    }

    /// Ends the comparison with the whole log. Returns the problems.
    pub(super) fn finish(mut self) -> Vec<Text> {
        let faults: Vec<Text> = self
            .claims
            .iter()
            .filter_map(|claim| Some(fault(&claim.name, self.contradiction(claim)?)))
            .collect();
        self.faults.extend(faults);
        self.faults_alone()
    }

    /// Returns the problems of the files checked alone.
    pub(super) fn faults_alone(mut self) -> Vec<Text> {
        self.faults.truncate(MAX_FAULTS);
        self.faults
    }

    fn contradiction(&self, claim: &Claim) -> Option<&'static str> {
        match self.leaves.get(&claim.seq).copied().flatten() {
            None => return Some("the export has no such record"),
            Some(leaf) if leaf != claim.leaf => return Some("records.jsonl has another record"),
            Some(_) => {}
        }
        let tree = claim.tree.as_ref()?;
        match self.roots.get(&tree.size).copied().flatten() {
            None => Some("its checkpoint covers more records than the export has"),
            Some(root) if root != tree.root => Some("its checkpoint is one of other records"),
            Some(_) => None,
        }
    }
}

fn fault(name: &str, why: &str) -> Text {
    text!("verification of {name} failed: {why}", name, why)
}

/// Returns the files of receipts in order: the record's number as it is written, and the end of the
/// file name. The number may be larger than any record's number.
fn names(folder: &Path) -> std::io::Result<Vec<(String, String)>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some((number, ending)) = name.to_str().and_then(|name| name.split_once('.')) else {
            continue;
        };
        let is_receipt = matches!(ending, "json" | "tlog-proof" | "cose");
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit())
            && number.bytes().next().is_some_and(|first| first != b'0');
        if is_receipt && is_number {
            names.push((number.to_owned(), ending.to_owned()));
        }
    }
    names.sort_unstable_by(|a, b| (a.0.len(), a).cmp(&(b.0.len(), b)));
    Ok(names)
}

fn check_file(
    folder: &Path,
    seq: u64,
    ending: &str,
    origin: &str,
    key: &VerifyingKey,
) -> Result<Proven, String> {
    let record = read(folder, seq, "json")?;
    let proven = match ending {
        "tlog-proof" => check_proof(&read(folder, seq, ending)?, seq, origin, key)?,
        "cose" => check_statement(&read(folder, seq, ending)?, seq, origin, key)?,
        _ => {
            // This is the record's own file, which is proven by the other files.
            let parsed = body::parse(&record).map_err(String::from)?;
            if parsed.seq != seq {
                return Err("it holds another record".to_owned());
            }
            if !folder.join(format!("{seq}.tlog-proof")).is_file() {
                return Err("its proof is missing".to_owned());
            }
            return Ok(Proven { record, tree: None });
        }
    };
    if proven.record == record { Ok(proven) } else { Err("it proves another record".to_owned()) }
}

fn check_proof(bytes: &[u8], seq: u64, origin: &str, key: &VerifyingKey) -> Result<Proven, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let proof = ProofFile::parse(text).ok_or("it is not written as a tlog-proof")?;
    let note = proof.check(key)?.note;
    if note.origin != origin || proof.index != seq - 1 {
        return Err("it names another log or record".to_owned());
    }
    let tree = Some(Tree { size: note.size, root: note.root });
    Ok(Proven { record: proof.record, tree })
}

fn check_statement(
    bytes: &[u8],
    seq: u64,
    origin: &str,
    key: &VerifyingKey,
) -> Result<Proven, String> {
    let record = cose::check(bytes, origin, seq - 1, key).map_err(|error| error.to_string())?;
    let tree = tree_of_statement(bytes, seq - 1, &tree::leaf_hash(&record))
        .ok_or_else(|| cose::StatementFault::Malformed.to_string())?;
    Ok(Proven { record, tree: Some(tree) })
}

/// Reads the tree from a statement that `cose::check` accepted.
fn tree_of_statement(bytes: &[u8], index: u64, leaf: &Hash) -> Option<Tree> {
    let statement = CoseSign1::from_tagged_slice(bytes).ok()?;
    let receipts = header(&statement, RECEIPTS)?.as_array()?;
    let receipt = CoseSign1::from_tagged_slice(receipts.first()?.as_bytes()?).ok()?;
    let (_, proofs) = header(&receipt, PROOFS)?.as_map()?.first()?;
    let proof = Value::from_slice(proofs.as_array()?.first()?.as_bytes()?).ok()?;
    let [size, _, path] = proof.as_array()?.as_slice() else { return None };
    let size = u64::try_from(size.as_integer()?).ok()?;
    let path = path
        .as_array()?
        .iter()
        .map(|hash| Hash::try_from(hash.as_bytes()?.as_slice()).ok())
        .collect::<Option<Vec<_>>>()?;
    let root = tree::root_of_proof(index, size, leaf, &path).ok()?;
    Some(Tree { size, root })
}

fn header(message: &CoseSign1, label: i64) -> Option<&Value> {
    let mut parameters = message.unprotected.rest.iter();
    parameters.find(|(name, _)| *name == Label::Int(label)).map(|(_, value)| value)
}

fn read(folder: &Path, seq: u64, ending: &str) -> Result<Vec<u8>, String> {
    let name = format!("{seq}.{ending}");
    let path = folder.join(&name);
    files::read(&path, MAX_FILE).map_err(|error| format!("{name}: {error}"))
}
