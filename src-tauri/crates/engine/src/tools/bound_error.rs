//! Prepares an error for storage and display: removes secrets and limits the length.

use std::borrow::Cow;

use contract::AgentError;

use crate::{tools::oversize, turn::context::TurnContext};

/// Removes secrets from an error, which may quote the request, and shortens it.
pub(crate) fn sanitize_error(context: &TurnContext, error: &mut AgentError) {
    let exact = context.services.secrets.matcher();
    if let Cow::Owned(scrubbed) = exact.redact_secrets(&error.message) {
        error.message = scrubbed;
        // The values of a text may contain part of the secret.
        error.remove_texts();
    }
    for value in error.details.values_mut() {
        exact.scrub_value(value);
    }
    oversize::shorten(error);
}
