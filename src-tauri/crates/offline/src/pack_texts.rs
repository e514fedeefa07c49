//! The texts of a pack as its templates read them. Knows no template.

use std::sync::{Arc, OnceLock};

use contract::manifest::PackTexts;
use minijinja::{Value as Jinja, value::Serde};

/// The texts of a pack for its templates. The value of the template language is made at the first
/// use, because most packs answer no question of a run.
#[derive(Debug, Default)]
pub(super) struct Texts {
    texts: Arc<PackTexts>,
    value: OnceLock<Jinja>,
}

impl Texts {
    pub(super) fn new(texts: &Arc<PackTexts>) -> Self {
        Self { texts: Arc::clone(texts), value: OnceLock::new() }
    }

    pub(super) fn value(&self) -> Jinja {
        self.value.get_or_init(|| Jinja::from(Serde(&*self.texts))).clone()
    }
}
