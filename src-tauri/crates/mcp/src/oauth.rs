//! Tokens for a server: finds the authorization server, stores tokens through the host (in the
//! keyring), and renews them in time. The library implements the protocol; this file decides which
//! addresses may be reached and where tokens are stored.

use contract::{Text, text};
use std::sync::Arc;

use contract::manifest::{KeyAlgorithm, OauthGrant, ServerOauth};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig,
    CredentialStore, JwtSigningAlgorithm, OAuthClientConfig, OAuthHttpClient,
    OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest, StoredCredentials,
};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Mutex;
use url::Url;

use crate::{
    Access, Address,
    http::{self, Clients},
};

/// The maximum number of bytes of an answer from an authorization server.
const LARGEST: usize = 1024 * 1024;

const OTHER_ISSUER: &str = "the server names another issuer of tokens than its pack, or than the one that was shown the key before; sign out to accept the new one";

/// Sends requests to authorization servers under the same rules as to the server itself.
struct Fetcher {
    private: bool,
    following: Clients,
    stopping: Clients,
}

impl OAuthHttpClient for Fetcher {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let clients = match request.redirect_policy {
                OAuthHttpRedirectPolicy::Follow => &self.following,
                _ => &self.stopping,
            };
            let wait = request.timeout;
            let mut asking = reqwest::Request::try_from(request.request)?;
            http::check(asking.url(), self.private).map_err(String::from)?;
            // A POST body contains codes, secrets or tokens, and so may a request with an
            // authorization header.
            if *asking.method() != reqwest::Method::GET
                || asking.headers().contains_key(reqwest::header::AUTHORIZATION)
            {
                http::check_key(asking.url()).map_err(String::from)?;
            }
            *asking.timeout_mut() = wait;
            let client = clients.of(asking.url()).await.map_err(String::from)?;
            let mut response = client.execute(asking).await?;
            let mut answer = ::http::Response::builder().status(response.status());
            for (name, value) in response.headers() {
                answer = answer.header(name, value);
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await? {
                if body.len() + chunk.len() > LARGEST {
                    return Err("the answer is too large".into());
                }
                body.extend_from_slice(&chunk);
            }
            Ok(answer.body(body)?)
        })
    }
}

/// The tokens that the host stores. They are read once; later reads return the last written tokens.
pub(crate) struct TokenStore {
    access: Arc<dyn Access>,
    known: Mutex<Option<Option<StoredCredentials>>>,
}

impl TokenStore {
    pub(crate) fn new(access: Arc<dyn Access>) -> Self {
        Self { access, known: Mutex::default() }
    }

    async fn store_credentials(
        &self,
        credentials: Option<StoredCredentials>,
    ) -> Result<(), AuthError> {
        let text = match &credentials {
            Some(credentials) => Some(SecretString::from(
                serde_json::to_string(credentials)
                    .map_err(|error| AuthError::CredentialStoreError(error.to_string()))?,
            )),
            None => None,
        };
        *self.known.lock().await = Some(credentials);
        self.access
            .keep_tokens(text)
            .await
            .map_err(|error| AuthError::CredentialStoreError(carried(&error.text())))
    }
}

#[async_trait::async_trait]
impl CredentialStore for TokenStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref() {
            return Ok(known.clone());
        }
        let text = self
            .access
            .tokens()
            .await
            .map_err(|error| AuthError::CredentialStoreError(carried(&error.text())))?;
        // Stored tokens that cannot be parsed count as missing, so the user signs in again.
        let found = text.and_then(|text| serde_json::from_str(text.expose_secret()).ok());
        *known = Some(found.clone());
        Ok(found)
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.store_credentials(Some(credentials)).await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.store_credentials(None).await
    }
}

/// Describes the kind of an error in the app's own words, because errors may contain the
/// authorization server's text.
pub(crate) fn error_kind(error: &AuthError) -> Text {
    let kind = match error {
        AuthError::MetadataError(ours) | AuthError::CredentialStoreError(ours) => {
            return serde_json::from_str(ours).unwrap_or_else(|_| ours.into());
        }
        AuthError::AuthorizationFailed(_) => "the request was declined",
        AuthError::HttpError(_) | AuthError::DiscoveryRequestFailed { .. } => {
            "the token endpoint cannot be reached"
        }
        AuthError::NoAuthorizationSupport => "it names no token endpoint",
        AuthError::TokenRefreshFailed(_)
        | AuthError::TokenRefreshRejected(_)
        | AuthError::TokenExpired => "the kept tokens cannot be renewed",
        AuthError::TokenExchangeFailed(_) | AuthError::ClientCredentialsError(_) => {
            "the server issued no token"
        }
        AuthError::RegistrationFailed(_) => "the server does not accept this app",
        _ => "the token endpoint gave an answer that this app does not understand",
    };
    kind.into()
}

/// Writes a text of this app as JSON, because the library's errors only contain strings.
/// `error_kind` parses the JSON again.
fn carried(text: &Text) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| text.to_string())
}

pub(crate) fn own_error(text: Text) -> AuthError {
    AuthError::MetadataError(carried(&text))
}

/// Creates the manager for the authorization server of one MCP server.
pub(crate) async fn manager(address: &Address) -> Result<AuthorizationManager, AuthError> {
    let refused = own_error;
    let (url, private) = (address.url().map_err(refused)?, address.may_reach_private());
    let fetcher = Fetcher {
        private,
        following: Clients::new(private, true).map_err(refused)?,
        stopping: Clients::new(private, false).map_err(refused)?,
    };
    let mut manager =
        AuthorizationManager::new_with_oauth_http_client(url, Arc::new(fetcher)).await?;
    manager.set_credential_store(TokenStore::new(Arc::clone(&address.access)));
    Ok(manager)
}

/// Creates a manager with tokens: the stored tokens of the user, or new tokens for the app itself.
/// If there are no tokens, the server says what it requires.
pub(crate) async fn authorized_manager(
    address: &Address,
    oauth: &ServerOauth,
) -> Result<AuthorizationManager, AuthError> {
    let mut manager = manager(address).await?;
    match oauth.grant {
        OauthGrant::AuthorizationCode => {
            if load_credentials(address).await?.is_none_or(|kept| kept.token_response.is_none()) {
                return Ok(manager);
            }
            let resolution = manager.resolve_metadata().await?;
            check_issuer(address, oauth, &resolution.metadata).await?;
            manager.set_metadata(resolution.metadata);
            if !manager.initialize_from_store().await? {
                return Ok(manager);
            }
            if let (Some(id), Some(secret)) = (&oauth.client_id, secret(address).await?) {
                // Renewing a token also needs the secret, but the redirect address does not matter.
                manager.configure_client(
                    OAuthClientConfig::new(id, "http://127.0.0.1/")
                        .with_client_secret(secret.expose_secret()),
                )?;
            }
        }
        OauthGrant::ClientCredentials => {
            let resolution = manager.resolve_metadata().await?;
            check_issuer(address, oauth, &resolution.metadata).await?;
            manager.set_metadata(resolution.metadata);
            let config = client_credentials(address, oauth).await?;
            manager.validate_client_credentials_metadata(&config)?;
            manager.configure_client_credentials(&config)?;
            manager = exchange(manager, config).await?;
        }
    }
    Ok(manager)
}

/// Returns the stored result of the last sign-in.
async fn load_credentials(address: &Address) -> Result<Option<StoredCredentials>, AuthError> {
    TokenStore::new(Arc::clone(&address.access)).load().await
}

/// Checks where the client's secret would be sent. The server names the issuer, so the server could
/// name any issuer. The secret is sent only to the issuer that the pack names, or else to the first
/// issuer that received the secret.
pub(crate) async fn check_issuer(
    address: &Address,
    oauth: &ServerOauth,
    metadata: &AuthorizationMetadata,
) -> Result<(), AuthError> {
    let has_secret = address.http.auth.as_ref().is_some_and(|auth| auth.env_var.is_some());
    let expected = match &oauth.issuer {
        Some(issuer) => Some(issuer.clone()),
        None if has_secret => load_credentials(address).await?.and_then(|kept| kept.issuer),
        None => None,
    };
    let plain = |issuer: &str| issuer.trim_end_matches('/').to_owned();
    match expected {
        Some(expected) if metadata.issuer.as_deref().map(plain) != Some(plain(&expected)) => {
            Err(own_error(OTHER_ISSUER.into()))
        }
        Some(_) | None => Ok(()),
    }
}

/// Gets a token for the app itself. The library's future is not Send, so it runs on a separate
/// thread.
async fn exchange(
    manager: AuthorizationManager,
    config: ClientCredentialsConfig,
) -> Result<AuthorizationManager, AuthError> {
    let runtime = tokio::runtime::Handle::current();
    let exchanged = move || {
        runtime
            .block_on(async { manager.exchange_client_credentials(&config).await.map(|_| manager) })
    };
    tokio::task::spawn_blocking(exchanged)
        .await
        .unwrap_or_else(|error| Err(AuthError::InternalError(error.to_string())))
}

/// Returns the secret that the manifest names for signing in. Returns None if the manifest names no
/// secret.
pub(crate) async fn secret(address: &Address) -> Result<Option<SecretString>, AuthError> {
    match address.http.auth.as_ref().and_then(|auth| auth.env_var.as_deref()) {
        Some(name) => address
            .access
            .credential(name)
            .await
            .map(Some)
            .map_err(|error| AuthError::CredentialStoreError(carried(&error.text()))),
        None => Ok(None),
    }
}

async fn client_credentials(
    address: &Address,
    oauth: &ServerOauth,
) -> Result<ClientCredentialsConfig, AuthError> {
    let missing = |what: &str| own_error(text!("the pack names no {what}", what));
    let client_id = oauth.client_id.clone().ok_or_else(|| missing("client_id"))?;
    let secret = secret(address).await?.ok_or_else(|| missing("variable for the secret"))?;
    let (scopes, resource) = (oauth.scopes.clone(), Some(resource(&address.http.url)));
    Ok(match oauth.signed_with {
        None => ClientCredentialsConfig::ClientSecret {
            client_id,
            client_secret: secret.expose_secret().to_owned(),
            scopes,
            resource,
        },
        Some(algorithm) => ClientCredentialsConfig::PrivateKeyJwt {
            client_id,
            signing_key: secret.expose_secret().as_bytes().to_vec(),
            signing_algorithm: match algorithm {
                KeyAlgorithm::RS256 => JwtSigningAlgorithm::RS256,
                KeyAlgorithm::RS384 => JwtSigningAlgorithm::RS384,
                KeyAlgorithm::RS512 => JwtSigningAlgorithm::RS512,
                KeyAlgorithm::ES256 => JwtSigningAlgorithm::ES256,
                KeyAlgorithm::ES384 => JwtSigningAlgorithm::ES384,
            },
            token_endpoint_audience: None,
            scopes,
            resource,
        },
    })
}

/// Returns the resource that tokens are requested for: the server's URL without its fragment.
fn resource(url: &str) -> String {
    Url::parse(url).map_or_else(
        |_| url.to_owned(),
        |mut url| {
            url.set_fragment(None);
            url.to_string()
        },
    )
}
