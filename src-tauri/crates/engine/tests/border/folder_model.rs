//! Tests static embedding models from a folder: a real model, and invalid folders.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use embedding::{FolderModel, FolderProblem};
use engine::ports::Embedder;
use safetensors::{Dtype, tensor::TensorView};

/// Returns the folder of a small published model, whose files are renamed as required.
pub fn small_model_folder() -> tempfile::TempDir {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| repository.join("target"), PathBuf::from);
    let packages = fs::read_dir(target.join("embedding-python/lib"))
        .expect("the model is not installed; run `make setup-test`");
    let package = packages
        .filter_map(Result::ok)
        .map(|python| python.path().join("site-packages/wordllama"))
        .find(|package| package.is_dir())
        .expect("the model is not installed; run `make setup-test`");
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("weights/l2_supercat_256.safetensors", "model.safetensors"),
        ("tokenizers/l2_supercat_tokenizer_config.json", "tokenizer.json"),
    ] {
        fs::copy(package.join(from), folder.path().join(to)).unwrap();
    }
    folder
}

pub fn small_model() -> FolderModel {
    FolderModel::read(small_model_folder().path()).unwrap()
}

fn problem(folder: &Path) -> FolderProblem {
    match FolderModel::read(folder) {
        Ok(_) => panic!("the folder is no model"),
        Err(problem) => problem,
    }
}

#[tokio::test]
async fn a_published_embedding_model_ranks_texts_by_meaning() {
    let model = small_model();
    let known = model.model();
    assert_eq!(known.dimension, 256);
    assert!(known.id.as_str().starts_with("folder-"), "{known:?}");
    assert!((0.05..0.9).contains(&known.threshold), "{known:?}");
    let asked = model.embed_question("Which doctor works at the hospital?").await.unwrap();
    let similarity = async |text: &str| -> f32 {
        let stored = model.embed_memory(text).await.unwrap();
        asked.iter().zip(&stored).map(|(a, b)| a * b).sum()
    };
    assert!((asked.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-4);
    let near = similarity("The physician has a job in a clinic").await;
    let far = similarity("The glacier has lost its volume").await;
    assert!(near > far && near >= known.threshold, "{near} {far} {known:?}");
    let nothing = model.embed_memory("").await.unwrap();
    assert!(nothing.iter().all(|value| *value == 0.0));
    let long = "many words ".repeat(100_000);
    assert_eq!(model.embed_memory(&long).await.unwrap().len(), 256);
    let again = small_model().model();
    assert_eq!(again, known, "the same files are the same model");
}

/// Writes weights of the given type for the vocabulary of a small tokenizer.
fn write_model(folder: &Path, name: &str, kind: Dtype, shape: Vec<usize>, bytes: &[u8]) {
    let tokenizer = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
        "decoder": null,
        "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "one": 1, "two": 2}},
    });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let view = TensorView::new(kind, shape, bytes).unwrap();
    let file = safetensors::serialize(HashMap::from([(name.to_owned(), view)]), None).unwrap();
    fs::write(folder.join("model.safetensors"), file).unwrap();
}

#[tokio::test]
async fn model_weights_of_every_number_format_give_the_same_vectors() {
    let folder = tempfile::tempdir().unwrap();
    // The vectors are 0 0 for "?", 3 4 for "one", and -4 3 for "two".
    let values = [0.0_f32, 0.0, 3.0, 4.0, -4.0, 3.0];
    let halves: [u16; 6] = [0, 0, 0x4200, 0x4400, 0xc400, 0x4200];
    let f32s: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let f16s: Vec<u8> = halves.iter().flat_map(|value| value.to_le_bytes()).collect();
    let bf16s: Vec<u8> = values
        .iter()
        .flat_map(|value| (value.to_bits() >> 16).to_le_bytes()[..2].to_vec())
        .collect();
    let i8s: Vec<u8> = values.iter().map(|value| (*value as i8).cast_unsigned()).collect();
    for (kind, bytes) in
        [(Dtype::F32, f32s), (Dtype::F16, f16s), (Dtype::BF16, bf16s), (Dtype::I8, i8s)]
    {
        write_model(folder.path(), "embeddings", kind, vec![3, 2], &bytes);
        let model = FolderModel::read(folder.path()).unwrap();
        let one = model.embed_memory("one").await.unwrap();
        assert!((one[0] - 0.6).abs() < 1e-6 && (one[1] - 0.8).abs() < 1e-6, "{kind:?} {one:?}");
        // The sum of both vectors is -1 7.
        let both = model.embed_question("one two").await.unwrap();
        assert!((both[0] + 0.141_421).abs() < 1e-5, "{kind:?} {both:?}");
    }
}

#[test]
fn a_folder_without_a_usable_model_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let said = problem(path).to_string();
    assert!(said.contains("tokenizer.json cannot be read"), "{said}");
    let ones = [0_u8; 24];
    let good = || write_model(path, "embeddings", Dtype::F32, vec![3, 2], &ones);
    good();
    fs::remove_file(path.join("model.safetensors")).unwrap();
    let said = problem(path).to_string();
    assert!(said.contains("model.safetensors cannot be read"), "{said}");
    fs::create_dir(path.join("model.safetensors")).unwrap();
    assert!(matches!(problem(path), FolderProblem::Unreadable { .. }));
    fs::remove_dir(path.join("model.safetensors")).unwrap();

    // Truncated files and many changed bytes are refused or read, and never crash the program.
    good();
    let whole = fs::read(path.join("model.safetensors")).unwrap();
    for length in 0..whole.len() {
        fs::write(path.join("model.safetensors"), &whole[..length]).unwrap();
        assert!(matches!(problem(path), FolderProblem::DamagedWeights(_)), "cut at {length}");
    }
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 0xff;
        fs::write(path.join("model.safetensors"), changed).unwrap();
        let _ = FolderModel::read(path);
    }
    // A header that announces more bytes than any file can have.
    fs::write(path.join("model.safetensors"), u64::MAX.to_le_bytes()).unwrap();
    assert!(matches!(problem(path), FolderProblem::DamagedWeights(_)));

    let refused = |name: &str, kind, shape: Vec<usize>, bytes: &[u8]| {
        write_model(path, name, kind, shape, bytes);
        problem(path)
    };
    assert_eq!(
        refused("embeddings", Dtype::F32, vec![2, 3], &ones),
        FolderProblem::TooFewRows { tokens: 3, rows: 2 }
    );
    assert_eq!(refused("weight", Dtype::F32, vec![6], &ones), FolderProblem::NoMatrix(0));
    assert_eq!(
        refused("weight", Dtype::F32, vec![3, 0], &[]),
        FolderProblem::WrongShape { rows: 3, dimension: 0 }
    );
    assert_eq!(
        refused("embeddings", Dtype::I32, vec![3, 2], &ones),
        FolderProblem::UnknownNumbers("I32".into())
    );
    let strange: Vec<u8> = [f32::NAN; 6].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(refused("embeddings", Dtype::F32, vec![3, 2], &strange), FolderProblem::NotFinite);
    good();
    fs::write(path.join("tokenizer.json"), "{\"model\": 7}").unwrap();
    assert!(matches!(problem(path), FolderProblem::DamagedTokenizer(_)));

    // A sparse file has a large size but needs no disk space.
    good();
    let huge = fs::File::create(path.join("model.safetensors")).unwrap();
    huge.set_len((1 << 30) + 1).unwrap();
    assert!(matches!(problem(path), FolderProblem::TooLarge { .. }));
}
