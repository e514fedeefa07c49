//! Bundles the services of this layer.

use std::sync::Arc;

use crate::tools::{analyses::Analyses, schema::Validators};

/// The services with which tool calls are checked and made.
pub(crate) struct ToolServices {
    pub(crate) validators: Validators,
    pub(crate) analyses: Arc<Analyses>,
}
