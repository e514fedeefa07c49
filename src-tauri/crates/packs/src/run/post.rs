//! Sends request bodies to addresses that come from the user's settings instead of a tool: a
//! service that confirms checkpoints of the log, and a collector of traces. Follows no redirects.

use std::time::Duration;

use contract::{AgentError, text};
use reqwest::{Client, header, redirect};

/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The most bytes of a response.
const MAX_ANSWER: usize = 256 * 1024;

/// The response of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// The HTTP status.
    pub status: u16,
    /// The complete body.
    pub body: Vec<u8>,
}

/// The error if the system's certificates cannot be read.
pub(super) fn no_certificates(why: String) -> AgentError {
    AgentError::internal("tls", text!("No encrypted connection can be made: {why}.", why))
        .hint("Correct the variable SSL_CERT_FILE, or remove it.")
}

/// A blocking client for exporting traces and metrics.
pub type ExportingClient = reqwest::blocking::Client;

/// Returns the client for a collector of traces and metrics. Data and keys in headers are sent only
/// to the address that the operator entered.
pub fn exporting_client(timeout: Duration) -> Result<ExportingClient, AgentError> {
    ::files::check_certificates().map_err(no_certificates)?;
    let make = move || {
        ExportingClient::builder()
            .redirect(redirect::Policy::none())
            .referer(false)
            .timeout(timeout)
            .build()
    };
    // The library cannot create a blocking client within an asynchronous task, so another thread
    // creates it.
    let made = std::thread::spawn(make).join();
    made.ok().and_then(Result::ok).ok_or_else(no_encryption)
}

fn no_encryption() -> AgentError {
    AgentError::internal("tls", "No encrypted connection can be made on this machine.")
        .hint("Install the package ca-certificates.")
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
        .map_err(|_| no_encryption())?;
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
    };

    use super::*;

    #[test]
    fn an_export_follows_no_redirect() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        other.set_nonblocking(true).unwrap();
        let moved = other.local_addr().unwrap();
        let collector = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/traces", collector.local_addr().unwrap());
        let served = std::thread::spawn(move || {
            let (mut stream, _) = collector.accept().unwrap();
            let mut request = [0_u8; 1024];
            let _ = stream.read(&mut request).unwrap();
            let head = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{moved}/\r\ncontent-length: 0\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).unwrap();
        });
        let client = exporting_client(TIMEOUT).unwrap();
        let answer = client.post(url).header("x-api-key", "secret").body("spans").send().unwrap();
        served.join().unwrap();
        assert_eq!(answer.status().as_u16(), 307);
        assert!(other.accept().is_err(), "nobody else was contacted");
    }
}
