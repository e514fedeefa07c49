//! What may not reach a model is taken out of a text here, and put back into what the model answers. Pure: it knows no
//! session, store or provider. Only this crate can make an [`Outbound`], and the models' port takes nothing else.
#![forbid(unsafe_code)]

mod exact;
mod json;
mod kind;
mod numbers;
mod outbound;
mod patterns;
mod redactor;
mod replaced;
mod restoring;

pub use contract::{RedactionKind as Kind, RedactionLevel as Level};
pub use exact::{Exact, MARK};
pub use kind::Placeholder;
pub use numbers::Numbers;
pub use outbound::{Outbound, OutboundValue};
pub use redactor::{Redacted, Redactor};
pub use replaced::Replaced;
pub use restoring::Restoring;
