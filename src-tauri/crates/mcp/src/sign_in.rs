//! The sign-in of the user to a server with a browser. The app listens on this computer only, for
//! one answer, for a few minutes, and accepts only the answer to its own request (the library
//! checks state, issuer and code challenge).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use contract::{AgentError, ErrorCode, Text, manifest::ServerOauth, text};
use rmcp::transport::auth::{
    AuthError, AuthorizationRequest, AuthorizationSession, CredentialStore as _,
    WWWAuthenticateParams,
};
use secrecy::ExposeSecret as _;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Address, Reach,
    oauth::{self, TokenStore},
    server::Server,
};

/// The maximum time that the user may take in the browser.
const PATIENCE: Duration = Duration::from_secs(300);
/// The maximum time that the browser may take to send its request.
const REQUEST: Duration = Duration::from_secs(10);
const LONGEST_REQUEST: u64 = 16 * 1024;
const PATH: &str = "/signed-in";
const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Countersign</title><p>You can close this page and go back to Countersign.";

/// A running sign-in.
#[derive(Clone, Debug)]
pub struct SignIn {
    /// The address at which the user signs in.
    pub url: String,
}

/// Begins a sign-in. A background task waits for the answer.
pub(crate) async fn begin(
    server: &Arc<Server>,
    stop: CancellationToken,
) -> Result<SignIn, AgentError> {
    let Reach::Http(address) = &server.config.reach else {
        return Err(no_sign_in(&server.config.name));
    };
    let Some(oauth) = &address.http.oauth else { return Err(no_sign_in(&server.config.name)) };
    let failed = |what: Text| {
        AgentError::new(
            ErrorCode::ToolHttpError,
            text!(
                "The sign-in to {server} cannot begin: {what}.",
                server = server.config.name,
                what
            ),
        )
        .reason("sign_in")
        .retryable(true)
        .hint("Check the connection and the server's address, then try again.")
    };
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(|error| failed(error.to_string().into()))?;
    let port = listener.local_addr().map_err(|error| failed(error.to_string().into()))?.port();
    let session = new_session(
        address,
        oauth,
        &format!("http://127.0.0.1:{port}{PATH}"),
        server.sign_in_challenge(),
    )
    .await
    .map_err(|error| failed(oauth::error_kind(&error)))?;
    let url = session.get_authorization_url().to_owned();
    let server = Arc::clone(server);
    tokio::spawn(async move {
        let answered = tokio::select! {
            answered = timeout(PATIENCE, answer(&listener, port, &session, &server)) => answered,
            () = stop.cancelled() => return,
        };
        if answered.is_err() {
            server.finish_sign_in(Err("nobody signed in within five minutes".into()));
        }
    });
    Ok(SignIn { url })
}

fn no_sign_in(server: &str) -> AgentError {
    AgentError::invalid(text!("{server} needs no sign-in.", server))
}

/// Creates the request to the authorization server: the client, the scopes and the redirect
/// address.
pub(crate) async fn new_session(
    address: &Address,
    oauth: &ServerOauth,
    back: &str,
    challenge: Option<String>,
) -> Result<AuthorizationSession, AuthError> {
    let mut manager = oauth::manager(address).await?;
    let resolution = manager.resolve_metadata_from_challenge(challenge.as_deref()).await?;
    oauth::check_issuer(address, oauth, &resolution.metadata).await?;
    manager.set_metadata(resolution.metadata);
    let scopes = choose_scopes(address, oauth, challenge.as_deref()).await?;
    let mut request = AuthorizationRequest::new(back)
        .with_client_name("Countersign")
        .with_scopes(scopes)
        .with_initial_scope_selection();
    if let Some(challenge) = challenge {
        request = request.with_challenge(challenge);
    }
    if let Some(id) = &oauth.client_id {
        request = request.with_preregistered_client(id);
        if let Some(secret) = oauth::secret(address).await? {
            request = request.with_client_secret(secret.expose_secret());
        }
    }
    if let Some(url) = &oauth.client_metadata_url {
        request = request.with_client_metadata_url(url);
    }
    AuthorizationSession::new(manager, request).await.map_err(|(_, error)| error)
}

/// Returns the scopes to request: the pack's scopes, or those that the server requires. If the
/// server requires more scopes than before, the earlier scopes are included.
async fn choose_scopes(
    address: &Address,
    oauth: &ServerOauth,
    challenge: Option<&str>,
) -> Result<Vec<String>, AuthError> {
    let mut scopes = oauth.scopes.clone();
    let given = TokenStore::new(Arc::clone(&address.access))
        .load()
        .await?
        .map(|kept| kept.granted_scopes)
        .unwrap_or_default();
    let url = address.url().map_err(oauth::own_error)?;
    let wanted = challenge.and_then(|words| WWWAuthenticateParams::parse(words, &url).scope);
    if let Some(wanted) = wanted.filter(|_| !given.is_empty()) {
        scopes.extend(given);
        scopes.extend(wanted.split_whitespace().map(str::to_owned));
    }
    let mut seen = BTreeSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    Ok(scopes)
}

/// Waits for the browser's redirect. Other requests are answered with 404.
async fn answer(
    listener: &TcpListener,
    port: u16,
    session: &AuthorizationSession,
    server: &Arc<Server>,
) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { continue };
        let Some(target) = timeout(REQUEST, read_target(&mut stream)).await.ok().flatten() else {
            continue;
        };
        if target.split('?').next() != Some(PATH) {
            respond(&mut stream, "404 Not Found", "").await;
            continue;
        }
        let done = session.handle_callback_url(&format!("http://127.0.0.1:{port}{target}")).await;
        // The result is recorded before the browser gets its answer, because the user may continue
        // as soon as the page appears.
        server.finish_sign_in(done.map(|_| ()).map_err(|error| oauth::error_kind(&error)));
        return respond(&mut stream, "200 OK", PAGE).await;
    }
}

/// Returns the target of a GET request, or None for other requests.
async fn read_target(stream: &mut TcpStream) -> Option<String> {
    use tokio::io::AsyncReadExt as _;
    let mut reader = BufReader::new(stream.take(LONGEST_REQUEST));
    let mut first = String::new();
    reader.read_line(&mut first).await.ok()?;
    let mut line = String::new();
    while reader.read_line(&mut line).await.ok()? > 0 && !line.trim().is_empty() {
        line.clear();
    }
    let mut parts = first.split(' ');
    (parts.next() == Some("GET")).then(|| parts.next().map(str::to_owned)).flatten()
}

async fn respond(stream: &mut TcpStream, status: &str, page: &str) {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n",
        page.len()
    );
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(page.as_bytes()).await;
    let _ = stream.shutdown().await;
}
