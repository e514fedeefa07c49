//! Bundles the services of this layer that running calls use.

use std::sync::Arc;

use crate::approvals::{grants::Grants, router::Router, transitions::Transitions};

/// The services with which actions are proposed, decided and ended.
pub(crate) struct ApprovalServices {
    pub(crate) router: Router,
    pub(crate) transitions: Transitions,
    pub(crate) grants: Arc<Grants>,
}
