//! A static embedding model from a folder that the user chose: the vector of a text is the mean of
//! the vectors of its tokens. Reads only `model.safetensors` and `tokenizer.json`.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use engine::{
    calibrate_threshold, calibration_texts,
    ports::{Embedder, EmbeddingFailed, EmbeddingModel, EmbeddingModelId},
};
use sha2::{Digest as _, Sha256};
use tokenizers::Tokenizer;

use crate::{problem::FolderProblem, weights::Weights};

const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
/// The maximum size of the weights file. The weights stay in memory.
const MOST_WEIGHTS: u64 = 1 << 30;
const MOST_TOKENIZER: u64 = 64 << 20;
/// The maximum number of characters of a text that are used.
const MOST_CHARS: usize = 8_000;
const DESCRIPTION: &str = "Compares meanings by a model in a folder on this computer. The order of the words does not count.";

/// A static model from a folder.
pub struct FolderModel {
    weights: Weights,
    tokenizer: Tokenizer,
    model: EmbeddingModel,
}

impl FolderModel {
    /// Reads the model. Blocks the thread for long, because the weights may have hundreds of
    /// megabytes.
    pub fn read(folder: &Path) -> Result<Self, FolderProblem> {
        let rules = read_file(folder.join(TOKENIZER), MOST_TOKENIZER)?;
        let bytes = read_file(folder.join(WEIGHTS), MOST_WEIGHTS)?;
        let mut digest = Sha256::new();
        digest.update(&rules);
        digest.update(&bytes);
        let digest = digest.finalize();
        let weights = Weights::read(bytes)?;
        let mut tokenizer = Tokenizer::from_bytes(&rules)
            .map_err(|error| FolderProblem::DamagedTokenizer(error.to_string()))?;
        // Texts are embedded whole and one at a time, so padding and truncation are off.
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|error| FolderProblem::DamagedTokenizer(error.to_string()))?;
        let tokens =
            tokenizer.get_vocab(true).into_values().max().map_or(0, |last| last as usize + 1);
        if tokens > weights.rows {
            return Err(FolderProblem::TooFewRows { tokens, rows: weights.rows });
        }
        let hex: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        let model = EmbeddingModel {
            id: EmbeddingModelId(format!("folder-{hex}")),
            dimension: u32::try_from(weights.dimension).unwrap_or(u32::MAX),
            threshold: 0.0,
            description: DESCRIPTION.into(),
        };
        let mut read = Self { weights, tokenizer, model };
        let vectors: Vec<Vec<f32>> = calibration_texts()
            .iter()
            .map(|text| read.vector(text))
            .collect::<Result<_, _>>()
            .map_err(|error| FolderProblem::DamagedTokenizer(error.0))?;
        if !vectors.iter().flatten().all(|value| value.is_finite()) {
            return Err(FolderProblem::NotFinite);
        }
        read.model.threshold = calibrate_threshold(&vectors);
        Ok(read)
    }

    /// Returns the mean of the vectors of a text's tokens, with the length 1. All values are 0 if
    /// the text has no tokens.
    fn vector(&self, text: &str) -> Result<Vec<f32>, EmbeddingFailed> {
        let end = text.char_indices().nth(MOST_CHARS).map_or(text.len(), |(at, _)| at);
        let tokens = self
            .tokenizer
            .encode_fast(&text[..end], false)
            .map_err(|error| EmbeddingFailed(error.to_string()))?;
        let mut sum = vec![0.0_f32; self.weights.dimension];
        for token in tokens.get_ids() {
            self.weights.add_row(*token as usize, &mut sum);
        }
        let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            sum.iter_mut().for_each(|value| *value /= length);
        }
        Ok(sum)
    }
}

#[async_trait]
impl Embedder for FolderModel {
    fn model(&self) -> EmbeddingModel {
        self.model.clone()
    }

    async fn embed_memory(&self, text: &str) -> Result<Vec<f32>, EmbeddingFailed> {
        self.vector(text)
    }

    async fn embed_question(&self, text: &str) -> Result<Vec<f32>, EmbeddingFailed> {
        self.vector(text)
    }
}

fn read_file(file: PathBuf, most: u64) -> Result<Vec<u8>, FolderProblem> {
    let unreadable = |error: std::io::Error| FolderProblem::Unreadable {
        file: file.clone(),
        why: error.to_string(),
    };
    let size = files::open(&file).and_then(|file| file.metadata()).map_err(unreadable)?.len();
    if size > most {
        return Err(FolderProblem::TooLarge { file, size, most });
    }
    files::read(&file, most).map_err(unreadable)
}
