//! The OpenAPI description of the gateway's API. It is written by hand, and tests compare it with
//! the server.

/// The OpenAPI document.
pub const DOCUMENT: &str = include_str!("../../openapi.json");
