//! Prepares an error for storing and showing: removes secrets and cuts it to a maximum length.

use contract::AgentError;

use crate::{tools::oversize, turn::context::TurnContext};

/// Removes secrets from an error, which may quote the request, and shortens it.
pub(crate) fn bound_error(context: &TurnContext, error: &mut AgentError) {
    let exact = context.engine.exact();
    error.message = exact.scrub(&error.message).into_owned();
    for value in error.details.values_mut() {
        exact.scrub_value(value);
    }
    oversize::shorten(error);
}
