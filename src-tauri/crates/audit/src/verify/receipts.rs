//! Checks the receipts of an export: each must prove its record under the export's key.

use std::fs;
use std::path::Path;

use contract::{Text, text};
use ed25519_dalek::VerifyingKey;

use crate::proof_file::ProofFile;
use crate::{body, cose, note};

/// The most faults that are listed.
const MAX_FAULTS: usize = 10;
/// The most bytes of a receipt. A record has at most 1 MiB.
const MAX_FILE: u64 = 4 << 20;

/// Checks all receipts of the folder, if it has some. `key` is the content of `key.vkey`.
pub(super) fn check(folder: &Path, origin: &str, key: &str) -> Vec<Text> {
    let folder = folder.join("receipts");
    if !folder.is_dir() {
        return Vec::new();
    }
    let key = key.strip_suffix('\n').and_then(|key| note::parse_vkey(origin, key));
    let (Some(key), Ok(names)) = (key, names(&folder)) else {
        return vec!["the receipts cannot be read".into()];
    };
    let fault = |(seq, ending): &(u64, String)| {
        let name = format!("receipts/{seq}.{ending}");
        let why = check_file(&folder, *seq, ending, origin, &key).err()?;
        Some(text!("the file {name} does not hold: {why}", name, why))
    };
    names.iter().filter_map(fault).take(MAX_FAULTS).collect()
}

/// Returns the files of receipts in order: the number of the record, and what the name ends with.
fn names(folder: &Path) -> std::io::Result<Vec<(u64, String)>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some((number, ending)) = name.to_str().and_then(|name| name.split_once('.')) else {
            continue;
        };
        let is_receipt = matches!(ending, "json" | "tlog-proof" | "cose");
        if let (Ok(seq), true) = (number.parse::<u64>(), is_receipt)
            && seq > 0
            && seq.to_string() == number
        {
            names.push((seq, ending.to_owned()));
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn check_file(
    folder: &Path,
    seq: u64,
    ending: &str,
    origin: &str,
    key: &VerifyingKey,
) -> Result<(), String> {
    let record = read(folder, seq, "json")?;
    let proven = match ending {
        "tlog-proof" => {
            let text =
                String::from_utf8(read(folder, seq, ending)?).map_err(|error| error.to_string())?;
            let proof = ProofFile::parse(&text).ok_or("it is not written as a tlog-proof")?;
            let checkpoint = proof.check(key)?;
            if checkpoint.note.origin != origin || proof.index != seq - 1 {
                return Err("it speaks of another log or record".to_owned());
            }
            proof.record
        }
        "cose" => cose::check(&read(folder, seq, ending)?, origin, seq - 1, key)
            .map_err(|error| error.to_string())?,
        _ => {
            // The record's own file. It is proven by the others.
            let parsed = body::parse(&record).map_err(String::from)?;
            if parsed.seq != seq {
                return Err("it holds another record".to_owned());
            }
            if !folder.join(format!("{seq}.tlog-proof")).is_file() {
                return Err("its proof is missing".to_owned());
            }
            return Ok(());
        }
    };
    if proven == record { Ok(()) } else { Err("it proves another record".to_owned()) }
}

fn read(folder: &Path, seq: u64, ending: &str) -> Result<Vec<u8>, String> {
    let name = format!("{seq}.{ending}");
    let path = folder.join(&name);
    let length = fs::metadata(&path).map_err(|error| format!("{name}: {error}"))?.len();
    if length > MAX_FILE {
        return Err(format!("{name} is too long"));
    }
    fs::read(&path).map_err(|error| format!("{name}: {error}"))
}
