//! Questions about sources of data: which messages ask them, the calls that answer them, and the
//! answers. The crate `questions` reads them. This room must not know where sources come from, and no
//! tool but by the member of a manifest that names it.

use std::{
    collections::BTreeSet,
    fmt::Debug,
    sync::{Arc, LazyLock},
};

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
mod splitting;
mod telling;

pub(crate) use asking::{Asking, DataTools, PartEnd, PartStep, Previous};
pub(crate) use explained::explain_readings;
pub(crate) use hearing::{Ear, Heard, moment};
pub(crate) use part::Part;
pub(crate) use telling::Teller;

static READER: LazyLock<Reader> = LazyLock::new(|| match Reader::new() {
    Ok(reader) => reader,
    // The lexicon is part of the program, and tests read it.
    Err(error) => panic!("the lexicon cannot be read: {error}"),
});

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
}

impl KnownSources {
    /// Makes the index of the names in a catalog and in values.
    pub fn new(catalog: Catalog, values: Values) -> Self {
        let names = Self::reader().names(&catalog, &values);
        Self { catalog, values, names, limited: BTreeSet::new() }
    }

    /// Sets the sources of which models on other computers do not get all data.
    #[must_use]
    pub fn with_limited(self, limited: BTreeSet<SourceName>) -> Self {
        Self { limited, ..self }
    }

    /// Returns the reader of questions, which all share.
    pub fn reader() -> &'static Reader {
        &READER
    }
}

/// Gives the sources to the offline model.
pub trait SourceDirectory: Send + Sync + Debug {
    /// Returns the sources that a question may be about. None: there are none.
    fn known(&self) -> BoxFuture<'_, Option<Arc<KnownSources>>>;
}
