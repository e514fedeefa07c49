//! Attacks on exported folders. The second verifier checks a sample of these attacks and must reach
//! the same verdict.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use audit::{Mark, verify};
use soak::{Plan, Random};

use crate::export::both;
use crate::kit::{World, closed, export_log, export_session};

/// The files of an export that are verified.
const FILES: [&str; 5] =
    ["records.jsonl", "checkpoint.txt", "key.vkey", "reveals.jsonl", "proofs.jsonl"];

/// An exported folder.
struct Export {
    files: BTreeMap<&'static str, Vec<u8>>,
    /// The copy of the newest checkpoint. None for an export of one session, which is not compared
    /// with the copy.
    mark: Option<Mark>,
}

impl Export {
    fn take(folder: &Path, mark: Option<Mark>) -> Self {
        let files = FILES
            .iter()
            .filter_map(|name| Some((*name, fs::read(folder.join(name)).ok()?)))
            .collect();
        Self { files, mark }
    }

    fn restore(&self, folder: &Path) {
        for name in FILES {
            let _ = fs::remove_file(folder.join(name));
        }
        for (name, bytes) in &self.files {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
}

fn exports() -> Vec<Export> {
    let world = World::new();
    closed(&world, 25);
    let early = world.folder.path().join("early");
    export_log(&world, &early).unwrap();
    closed(&world, 60);
    let (whole, part) = (world.folder.path().join("whole"), world.folder.path().join("part"));
    export_log(&world, &whole).unwrap();
    export_session(&world, &part, "desktop:s1").unwrap();
    let exports = vec![Export::take(&whole, Some(world.mark())), Export::take(&part, None)];
    for (export, folder) in exports.iter().zip([&whole, &part]) {
        let report = verify(folder, export.mark.as_ref());
        assert!(report.ok, "{:?}", report.problems);
    }
    // An early export is valid in itself, but the mark shows that more records were signed since.
    assert!(verify(&early, None).ok && !verify(&early, Some(&world.mark())).ok);
    exports
}

/// Changes one file. Returns None if the change has no effect on the content.
fn change(name: &str, bytes: &mut Vec<u8>, random: &mut Random) -> Option<String> {
    let before = bytes.clone();
    let at = random.index(bytes.len());
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let line = random.index(lines.len());
    let what = match random.below(8) {
        0..=2 => {
            bytes[at] ^= 1 << random.below(8);
            "a bit"
        }
        3 => {
            bytes[at] = random.byte();
            "a byte"
        }
        4 => {
            bytes.truncate(at);
            "cut"
        }
        5 => {
            // A missing value counts as erased, which is no problem. In any other file of lines, no
            // line may be missing.
            if name == "reveals.jsonl" {
                return None;
            }
            lines.remove(line);
            *bytes = lines.concat();
            "a line out"
        }
        6 => {
            let other = random.index(lines.len());
            lines.swap(line, other);
            *bytes = lines.concat();
            "lines swapped"
        }
        _ => {
            let copy = lines[line].clone();
            lines.insert(random.index(lines.len() + 1), copy);
            *bytes = lines.concat();
            "a line twice"
        }
    };
    // A cut between two values removes some of them, as if they had been erased.
    let is_less = name == "reveals.jsonl"
        && before.starts_with(bytes)
        && (bytes.is_empty() || bytes.ends_with(b"\n"));
    (*bytes != before && !is_less).then(|| format!("{what} at byte {at} or line {line} of {name}"))
}

/// Without older checkpoints, the newest one still covers every record.
fn only_older_notes_are_missing(before: &[u8], after: &[u8]) -> bool {
    let notes = |bytes: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(bytes).split_inclusive("\n\n").map(str::to_owned).collect()
    };
    let (before, after) = (notes(before), notes(after));
    after.last() == before.last() && after.iter().all(|note| before.contains(note))
}

pub(super) fn run(plan: &Plan) {
    let (exports, folder) = (exports(), tempfile::tempdir().unwrap());
    let (mut found, mut compared) = (0, 0);
    for case in 0.. {
        if found >= plan.cases() {
            break;
        }
        let mut random = plan.random(case);
        let export = random.pick(&exports);
        let names: Vec<&&'static str> = export.files.keys().collect();
        let name = **random.pick(&names);
        let mut bytes = export.files[name].clone();
        let Some(what) = change(name, &mut bytes, &mut random) else { continue };
        if name == "checkpoint.txt" && only_older_notes_are_missing(&export.files[name], &bytes) {
            continue;
        }
        export.restore(folder.path());
        fs::write(folder.path().join(name), &bytes).unwrap();
        let report = verify(folder.path(), export.mark.as_ref());
        assert!(
            !report.ok && !report.problems.is_empty(),
            "{}: {what} goes unreported",
            plan.case(case)
        );
        found += 1;
        if random.chance(4) {
            compared += 1;
            both(folder.path());
        }
    }
    eprintln!(
        "tamperings with exports: {found} found, {compared} of them judged by the second verifier, too"
    );
}
