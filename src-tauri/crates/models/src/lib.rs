//! Providers behind the engine's `Model` port. This crate knows no turns, no meaning of tools and
//! no storage.
#![forbid(unsafe_code)]

mod anthropic;
mod capabilities;
mod chat;
pub mod echo;
mod embeddings;
mod fallback;
mod gemini;
mod http;
pub mod local;
mod provider;
mod responses;
mod wire;

pub use capabilities::capabilities;
pub use fallback::WithFallback;
pub use http::{
    ConnectionCheck, Diagnosis, HttpClient, http_client, is_loopback_address, is_nearby_address,
    origin_of,
};
pub use provider::{
    Api, Config, Provider, ProviderDeps, ServerKey, note_refused_tools, tools_refused,
};
