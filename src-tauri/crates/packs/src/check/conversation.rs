//! Checks the conversation settings of a pack's agent against their bounds.

use contract::{Conversation, text};

use crate::{fault::Faults, subject::Subject};

const AT: &str = "/agent/conversation";

pub(super) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    // The schema reports a wrong shape.
    let Some(Ok(policy)) = subject
        .manifest
        .pointer(AT)
        .map(|value| serde_json::from_value::<Conversation>(value.clone()))
    else {
        return;
    };
    for (field, rule) in policy.faults() {
        faults.at(
            format!("{AT}/{}", field.replace('.', "/")),
            text!("{field} {rule}", field, rule),
            "change the value, or leave it out for the default",
        );
    }
}
