//! Sends one body to an address of the user's settings, which is no tool: a service that confirms
//! checkpoints of the log.

use std::time::Duration;

use contract::{AgentError, text};
use reqwest::{Client, header, redirect};

/// The longest time of a request.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The most bytes of an answer.
const MAX_ANSWER: usize = 256 * 1024;

/// The answer of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// The HTTP status.
    pub status: u16,
    /// The whole body.
    pub body: Vec<u8>,
}

/// The error for certificates of the system that cannot be read.
pub(super) fn no_certificates(why: String) -> AgentError {
    AgentError::internal("tls", text!("No encrypted connection can be made: {why}.", why))
        .hint("Correct the variable SSL_CERT_FILE, or remove it.")
}

/// Sends a body and returns the answer, whatever its status. Follows no redirects.
pub async fn post(url: &str, content_type: &str, body: Vec<u8>) -> Result<Posted, AgentError> {
    ::files::check_certificates().map_err(no_certificates)?;
    let client = Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
        .timeout(TIMEOUT)
        .user_agent(concat!("Countersign/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|_| {
            AgentError::internal("tls", "No encrypted connection can be made on this machine.")
                .hint("Install the package ca-certificates.")
        })?;
    let unreachable = |error: reqwest::Error| {
        let error = error.without_url().to_string();
        AgentError::internal("unreachable", text!("{url} cannot be reached ({error}).", url, error))
            .hint("Check the address in the settings and the network.")
    };
    let request = client.post(url).header(header::CONTENT_TYPE, content_type).body(body);
    let mut response = request.send().await.map_err(unreachable)?;
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER {
            return Err(AgentError::internal(
                "too_large",
                text!("The answer of {url} is too long.", url),
            ));
        }
    }
    Ok(Posted { status, body })
}
