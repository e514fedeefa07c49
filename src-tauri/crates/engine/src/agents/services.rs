//! Bundles the services that a model's calls need.

use std::sync::Arc;

use crate::{approvals::services::ApprovalServices, tools::services::ToolServices};

/// The services with which the calls of a model are made.
pub(crate) struct CallServices {
    pub(crate) tools: Arc<ToolServices>,
    pub(crate) approvals: Arc<ApprovalServices>,
}
