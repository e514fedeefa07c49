//! Creates all text for models: the parts of the prompt, the history, and the redaction of outgoing
//! text.

pub(crate) mod abilities;
pub(crate) mod egress;
mod egress_tables;
pub(crate) mod entities;
pub(crate) mod guidance;
pub(crate) mod history;
pub(crate) mod memories;
pub(crate) mod offered_form;
pub(crate) mod offered_schema;
pub(crate) mod prompt;
pub(crate) mod results;
mod strict_schema;
pub(crate) mod toolkit;
