//! The description of the API that the gateway serves. It is written by hand beside this file and
//! held to the server by tests.

/// The OpenAPI document.
pub const DOCUMENT: &str = include_str!("../../openapi.json");
