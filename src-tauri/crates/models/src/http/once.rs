//! A request with one whole JSON answer, which is sent and retried by the rules of model calls. The
//! module does not know the meaning of the answer.

use std::time::Duration;

use engine::ports::ModelError;
use reqwest::{
    Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderValue},
};
use serde_json::Value;

use super::{
    between,
    call::{self, Shared},
    failure::{self, Failure},
    retry,
};

/// The maximum number of bytes of an answer. 64 vectors of 4,096 values have about 6 million
/// characters.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Sends the body and returns the bytes of the answer.
pub(crate) async fn post(shared: &Shared, url: Url, body: &Value) -> Result<Vec<u8>, ModelError> {
    let url = shared.checked_url(url)?;
    let body = serde_json::to_vec(body).map_err(|_| failure::request_not_serializable())?;
    let mut attempt = 0;
    loop {
        let failed = match send(shared, &url, &body).await {
            Ok(answer) => return Ok(answer),
            Err(failed) => failed,
        };
        if !failed.retry || attempt >= shared.max_retries {
            return Err(failed.error);
        }
        let wait = match failed.error.retry_after_ms.map(Duration::from_millis) {
            Some(wish) if wish > retry::LONGEST => {
                return Err(failure::wait_too_long(failed, wish).error);
            }
            Some(wish) => wish,
            None => retry::back_off(attempt, shared.random.random_fraction()),
        };
        attempt += 1;
        tracing::info!(attempt, wait_ms = wait.as_millis(), kind = ?failed.error.kind, "a request is tried again");
        tokio::time::sleep(wait).await;
    }
}

async fn send(shared: &Shared, url: &Url, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut headers = shared.wire.headers().clone();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let sent = shared.http.post(url.clone()).headers(headers).body(body.to_vec()).send();
    let stalled = || Failure::permanent(failure::stalled(&shared.host, shared.idle));
    let response = tokio::time::timeout(shared.idle, sent)
        .await
        .map_err(|_| stalled())?
        .map_err(|error| between::transport_failure(&shared.host, &error))?;
    if !response.status().is_success() {
        return Err(call::read_refusal(shared, response).await);
    }
    tokio::time::timeout(shared.idle, call::read_beginning(response, MOST_BYTES))
        .await
        .map_err(|_| stalled())
}
