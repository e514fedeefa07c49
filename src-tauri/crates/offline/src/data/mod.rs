//! Questions about sources of data: which messages ask them, the calls that answer them, and the
//! answers. The crate `questions` reads them. This room must not know where sources come from, and no
//! tool but by the member of a manifest that names it.

use std::{collections::BTreeSet, fmt::Debug, sync::Arc};

use analytics::Catalog;
use contract::SourceName;
use futures::future::BoxFuture;
use questions::{Names, Reader, Values};

mod answer;
mod asking;
mod explained;
mod figures;
mod fits;
mod hearing;
mod part;
mod readings;
mod splitting;
mod states;
mod telling;

pub(crate) use asking::{Asking, DataTools, PartEnd, PartStep, Previous};
pub(crate) use explained::explain_readings;
pub(crate) use hearing::{Ear, Heard, moment};
pub(crate) use part::Part;
pub(crate) use telling::Teller;

use readings::Readings;

/// The sources that a question may be about.
#[derive(Debug)]
pub struct KnownSources {
    /// The sources with their definitions.
    pub catalog: Catalog,
    /// The values of their dimensions.
    pub values: Values,
    /// The index of all names.
    pub names: Names,
    /// The sources of which models on other computers do not get all data.
    pub limited: BTreeSet<SourceName>,
    reader: &'static Reader,
    /// The last messages that were read.
    readings: Readings,
}

impl KnownSources {
    /// Makes the index of the names in a catalog and in values. None: the words of questions cannot be
    /// read, which tests exclude.
    pub fn new(catalog: Catalog, values: Values) -> Option<Self> {
        let reader = Reader::shared()
            .inspect_err(|error| tracing::error!(%error, "the lexicon cannot be read"))
            .ok()?;
        let names = reader.names(&catalog, &values);
        let (limited, readings) = (BTreeSet::new(), Readings::default());
        Some(Self { catalog, values, names, limited, reader, readings })
    }

    /// Sets the sources of which models on other computers do not get all data.
    #[must_use]
    pub fn with_limited(self, limited: BTreeSet<SourceName>) -> Self {
        Self { limited, ..self }
    }

    /// Returns the reader of questions, which all share.
    pub fn reader(&self) -> &'static Reader {
        self.reader
    }
}

/// Gives the sources to the offline model.
pub trait SourceDirectory: Send + Sync + Debug {
    /// Returns the sources that a question may be about. None: there are none.
    fn known(&self) -> BoxFuture<'_, Option<Arc<KnownSources>>>;
}
