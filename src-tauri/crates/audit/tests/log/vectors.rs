//! Tests with public vectors: proofs of RFC 6962 trees, and RFC 8785 texts.

use std::path::{Path, PathBuf};

use audit::tree::{Hash, check_consistency, check_inclusion};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data").join(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Parses a hash. Returns None if it does not have 32 bytes, as in some invalid cases.
fn hash(value: &Value) -> Option<Hash> {
    STANDARD.decode(value.as_str().unwrap_or_default()).unwrap().try_into().ok()
}

/// Parses a root. Some cases have short words instead, which are only compared with each other.
fn root(value: &Value) -> Option<Hash> {
    let mut bytes = STANDARD.decode(value.as_str().unwrap_or_default()).unwrap();
    bytes.resize(bytes.len().max(32), 0);
    bytes.try_into().ok()
}

fn proof(case: &Value) -> Option<Vec<Hash>> {
    case["proof"].as_array().map_or(Some(Vec::new()), |steps| steps.iter().map(hash).collect())
}

#[test]
fn inclusion_proofs_are_accepted_or_rejected_as_the_test_vectors_say() {
    let files = files(&data("merkle-vectors/testdata/inclusion"));
    assert!(files.len() > 90);
    for file in files {
        let case: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let number = |name: &str| case[name].as_u64();
        let good = (|| {
            let (leaf, root) = (hash(&case["leafHash"])?, hash(&case["root"])?);
            check_inclusion(number("leafIdx")?, number("treeSize")?, &leaf, &proof(&case)?, &root)
                .ok()
        })();
        assert_eq!(
            good.is_none(),
            case["wantErr"].as_bool().unwrap(),
            "{}: {}",
            file.display(),
            case["desc"]
        );
    }
}

#[test]
fn consistency_proofs_are_accepted_or_rejected_as_the_test_vectors_say() {
    let files = files(&data("merkle-vectors/testdata/consistency"));
    assert!(files.len() > 90);
    for file in files {
        let case: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let number = |name: &str| case[name].as_u64();
        let good = (|| {
            let (root1, root2) = (root(&case["root1"])?, root(&case["root2"])?);
            check_consistency(number("size1")?, number("size2")?, &proof(&case)?, &root1, &root2)
                .ok()
        })();
        assert_eq!(
            good.is_none(),
            case["wantErr"].as_bool().unwrap(),
            "{}: {}",
            file.display(),
            case["desc"]
        );
    }
}

#[test]
fn canonical_json_equals_the_test_vectors() {
    let cases: Vec<Value> =
        serde_json::from_slice(&std::fs::read(data("jcs-vectors/vectors.json")).unwrap()).unwrap();
    for case in cases {
        let value: Value = serde_json::from_str(case["input"].as_str().unwrap()).unwrap();
        let text = String::from_utf8(audit::canonical(&value).unwrap()).unwrap();
        assert_eq!(text, case["output"].as_str().unwrap(), "{}", case["name"]);
        let again: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(audit::canonical(&again).unwrap(), text.as_bytes(), "{} again", case["name"]);
    }
}

proptest::proptest! {
    #[test]
    fn canonical_json_parses_back_to_the_same_value_and_bytes(text in ".{0,40}", numbers in proptest::collection::vec(-9_007_199_254_740_991i64..=9_007_199_254_740_991, 0..5)) {
        let value = serde_json::json!({ text.clone(): numbers, "z": [text] });
        let bytes = audit::canonical(&value).unwrap();
        let again: Value = serde_json::from_slice(&bytes).unwrap();
        proptest::prop_assert_eq!(&again, &value);
        proptest::prop_assert_eq!(audit::canonical(&again).unwrap(), bytes);
    }
}
