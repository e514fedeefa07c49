//! Who may ask: the token in a file of ours, and short-lived tokens for demos (HS256 and nothing else).

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use axum::http::{HeaderMap, header};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use contract::AgentError;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::config::SimpleAuth;

const ISSUER: &str = "norce-agent-bff";
const AUDIENCE: &str = "norce-agent-widget";

/// The token that lies in a file which only its owner can read.
pub(crate) struct FileToken(String);

impl FileToken {
    /// Reads the token, or makes one.
    pub(crate) fn open(path: &Path) -> Result<Self, AgentError> {
        let failed = |what: &str, error: std::io::Error| {
            AgentError::internal("token_file", format!("{} cannot be {what}: {error}.", path.display())).hint("Make its folder writable, or remove the file.")
        };
        match fs::read_to_string(path) {
            Ok(text) => {
                let mode = fs::metadata(path).map_err(|e| failed("looked at", e))?.permissions().mode();
                if mode & 0o077 != 0 {
                    return Err(AgentError::invalid(format!("{} can be read by others.", path.display()))
                        .reason("token_file")
                        .hint(format!("Run `chmod 600 {}`, or remove it: a new one is made.", path.display())));
                }
                let token = text.trim().to_owned();
                if token.len() < 20 {
                    return Err(AgentError::invalid(format!("{} holds no usable token.", path.display()))
                        .reason("token_file")
                        .hint("Remove it: a new one is made."));
                }
                Ok(Self(token))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let mut bytes = [0u8; 32];
                getrandom::fill(&mut bytes).map_err(|_| AgentError::internal("no_randomness", "The system gives no randomness."))?;
                let token = BASE64.encode(bytes);
                let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|e| failed("made", e))?;
                file.write_all(token.as_bytes()).map_err(|e| failed("written", e))?;
                Ok(Self(token))
            }
            Err(error) => Err(failed("read", error)),
        }
    }

    pub(crate) fn is_shown_by(&self, headers: &HeaderMap) -> bool {
        bearer(headers).is_some_and(|shown| shown.as_bytes().ct_eq(self.0.as_bytes()).into())
    }
}

/// The one bearer token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let value = all.next()?.to_str().ok()?;
    if all.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer")).then(|| token.trim()).filter(|token| !token.is_empty())
}

/// Who a demo token was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visitor {
    pub(crate) sid: String,
    pub(crate) application: String,
}

impl SimpleAuth {
    fn mac(&self, signed: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()).ok()?;
        mac.update(signed.as_bytes());
        Some(mac)
    }

    /// A token for an application's visitor.
    pub(crate) fn issue(&self, visitor: &Visitor, now: i64) -> Option<String> {
        let part = |value: &Value| BASE64.encode(value.to_string());
        let claims = json!({
            "iss": ISSUER, "aud": AUDIENCE, "sid": visitor.sid, "applicationId": visitor.application,
            "iat": now, "exp": now + i64::try_from(self.ttl_s).ok()?, "scope": ["chat"],
        });
        let signed = format!("{}.{}", part(&json!({"alg": "HS256", "typ": "JWT"})), part(&claims));
        let signature = BASE64.encode(self.mac(&signed)?.finalize().into_bytes());
        Some(format!("{signed}.{signature}"))
    }

    /// Whose token a request shows, if it holds.
    pub(crate) fn visitor(&self, headers: &HeaderMap, now: i64) -> Option<Visitor> {
        let parts: Vec<&str> = bearer(headers)?.split('.').collect();
        let [head, claims, signature] = parts[..] else { return None };
        let read = |part: &str| serde_json::from_slice::<Value>(&BASE64.decode(part).ok()?).ok();
        if read(head)?["alg"] != "HS256" {
            return None;
        }
        let signed = format!("{head}.{claims}");
        self.mac(&signed)?.verify_slice(&BASE64.decode(signature).ok()?).ok()?;
        let claims = read(claims)?;
        let own = claims["iss"] == ISSUER && claims["aud"] == AUDIENCE && claims["exp"].as_i64()? >= now;
        let text = |name: &str| claims[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        own.then_some(Visitor { sid: text("sid")?, application: text("applicationId")? })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn section_7_a_token_holds_in_its_last_second_and_no_longer() {
        let auth = SimpleAuth { secret: "s".repeat(32), ttl_s: 600 };
        let visitor = Visitor { sid: "one".into(), application: "shop-web".into() };
        let token = auth.issue(&visitor, 1_000).unwrap();
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap())]);
        assert_eq!((auth.visitor(&headers, 1_600), auth.visitor(&headers, 1_601)), (Some(visitor), None));
    }
}
