//! Chooses the model that compares memories: the built-in model, a model of the provider, or a
//! model in a folder. A folder is read again when its files change. Must not know what vectors are
//! used for.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use async_trait::async_trait;
use contract::MemoryModelSource;
use embedding::{CharacterNgrams, FolderModel};
use engine::ports::{ChosenEmbedder, Embedder, Embedders, EmbeddingFailed, Profile as _};
use tokio::sync::Mutex;

use super::HostModels;
use crate::profile::LiveProfile;

/// The embedding models of a profile.
pub(crate) struct HostEmbedders {
    profile: Arc<LiveProfile>,
    models: Arc<HostModels>,
    built_in: Arc<CharacterNgrams>,
    folder: Mutex<Option<ReadFolder>>,
}

/// The last folder that was read, even if it is not a model.
struct ReadFolder {
    stamp: FolderStamp,
    read: Result<Arc<FolderModel>, EmbeddingFailed>,
}

/// A folder with the sizes and times of its files.
#[derive(Clone, PartialEq)]
struct FolderStamp {
    folder: PathBuf,
    files: Vec<Option<(u64, Option<SystemTime>)>>,
}

impl FolderStamp {
    fn take(folder: &Path) -> Self {
        let file = |name: &str| {
            let known = std::fs::metadata(folder.join(name)).ok()?;
            Some((known.len(), known.modified().ok()))
        };
        let files = ["model.safetensors", "tokenizer.json"].map(file).into();
        Self { folder: folder.to_owned(), files }
    }
}

impl HostEmbedders {
    pub(crate) fn new(profile: Arc<LiveProfile>, models: Arc<HostModels>) -> Self {
        Self { profile, models, built_in: Arc::default(), folder: Mutex::default() }
    }

    /// Returns the model in a folder.
    async fn folder_model(&self, folder: &str) -> Result<Arc<dyn Embedder>, EmbeddingFailed> {
        if folder.trim().is_empty() {
            return Err(EmbeddingFailed("no folder is chosen for the memory model".into()));
        }
        let path = PathBuf::from(folder.trim());
        let mut last = self.folder.lock().await;
        let stamp = FolderStamp::take(&path);
        let known = last.as_ref().filter(|known| known.stamp == stamp);
        let read = match known {
            Some(known) => known.read.clone(),
            None => {
                let read = tokio::task::spawn_blocking(move || FolderModel::read(&path)).await;
                let read = match read {
                    Ok(Ok(model)) => Ok(Arc::new(model)),
                    Ok(Err(problem)) => Err(EmbeddingFailed(problem.to_string())),
                    Err(error) => Err(EmbeddingFailed(error.to_string())),
                };
                *last = Some(ReadFolder { stamp, read: read.clone() });
                read
            }
        };
        read.map(|model| model as _)
    }
}

#[async_trait]
impl Embedders for HostEmbedders {
    async fn current(&self) -> Result<ChosenEmbedder, EmbeddingFailed> {
        let settings = self.profile.settings();
        let choice = &settings.memory.model;
        match choice.source {
            MemoryModelSource::BuiltIn => {
                Ok(ChosenEmbedder::Inside(Arc::clone(&self.built_in) as _))
            }
            MemoryModelSource::Folder => {
                self.folder_model(&choice.folder).await.map(ChosenEmbedder::Inside)
            }
            MemoryModelSource::Provider => {
                let name = choice.name.trim();
                if name.is_empty() {
                    return Err(EmbeddingFailed(
                        "no embedding model of the provider is named".into(),
                    ));
                }
                let server = self.models.embedding_server(&settings, name);
                let server = server.ok_or_else(|| {
                    EmbeddingFailed("the offline model has no provider for embeddings".into())
                })?;
                Ok(ChosenEmbedder::Server(Arc::new(server)))
            }
        }
    }
}
