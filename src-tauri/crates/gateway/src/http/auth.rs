//! Authenticates callers with the token in the gateway's file or with short-lived demo tokens
//! (HS256 only).

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
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value, json};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::config::{LONGEST_S, SimpleAuth};

const ISSUER: &str = "norce-agent-bff";
const AUDIENCE: &str = "norce-agent-widget";
/// The accepted difference between the clocks of two gateways, in seconds.
const CLOCKS_S: i64 = 5;
/// The name of the cookie that identifies a visitor for the token route.
const COOKIE: &str = "csign_visitor";

/// The token from a file that only its owner can read.
pub(crate) struct FileToken(String);

impl FileToken {
    /// Reads the token file, or creates it with a new token.
    pub(crate) fn open(path: &Path) -> Result<Self, AgentError> {
        let failed = |what: &str, error: std::io::Error| {
            AgentError::internal(
                "token_file",
                format!("{} cannot be {what}: {error}.", path.display()),
            )
            .hint("Make its folder writable, or remove the file.")
        };
        match files::read_text(path, files::NAME) {
            Ok(text) => {
                let mode =
                    fs::metadata(path).map_err(|e| failed("looked at", e))?.permissions().mode();
                if mode & 0o077 != 0 {
                    return Err(AgentError::invalid(format!(
                        "{} can be read by others.",
                        path.display()
                    ))
                    .reason("token_file")
                    .hint(format!(
                        "Run `chmod 600 {}`, or remove it: a new one is made.",
                        path.display()
                    )));
                }
                let token = text.trim().to_owned();
                if token.len() < 20 {
                    return Err(AgentError::invalid(format!(
                        "{} holds no usable token.",
                        path.display()
                    ))
                    .reason("token_file")
                    .hint("Remove it: a new one is made."));
                }
                Ok(Self(token))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let mut bytes = [0u8; 32];
                getrandom::fill(&mut bytes).map_err(|_| {
                    AgentError::internal("no_randomness", "The system provides no random numbers.")
                })?;
                let token = BASE64.encode(bytes);
                let mut file = OpenOptions::new()
                    .write(true)
                    // Another process may create the file at the same moment, and that process's
                    // token must not be overwritten.
                    .create_new(true)
                    .mode(0o600)
                    .open(path)
                    .map_err(|e| failed("made", e))?;
                file.write_all(token.as_bytes()).map_err(|e| failed("written", e))?;
                Ok(Self(token))
            }
            Err(error) => Err(failed("read", error)),
        }
    }

    pub(crate) fn is_sent_in(&self, headers: &HeaderMap) -> bool {
        // The tokens are compared in constant time, because the duration of a comparison that stops
        // early shows how much of a guess was correct.
        bearer_token(headers).is_some_and(|shown| shown.as_bytes().ct_eq(self.0.as_bytes()).into())
    }
}

/// Returns the bearer token of a request if there is exactly one.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let value = all.next()?.to_str().ok()?;
    // A request with two tokens is refused, because a proxy before this server may have read the
    // other token.
    if all.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer")).then(|| token.trim()).filter(|token| !token.is_empty())
}

/// The visitor that a demo token belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visitor {
    pub(crate) sid: String,
    pub(crate) application: String,
}

impl SimpleAuth {
    fn compute_mac(&self, signed: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()).ok()?;
        mac.update(signed.as_bytes());
        Some(mac)
    }

    /// Makes a token for a visitor of an application.
    pub(crate) fn issue_token(&self, visitor: &Visitor, now: i64) -> Option<String> {
        let part = |value: &Value| BASE64.encode(value.to_string());
        let claims = json!({
            "iss": ISSUER, "aud": AUDIENCE, "sid": visitor.sid, "applicationId": visitor.application,
            "iat": now, "exp": now + i64::try_from(self.ttl_s).ok()?, "scope": ["chat"],
        });
        let signed = format!("{}.{}", part(&json!({"alg": "HS256", "typ": "JWT"})), part(&claims));
        let signature = BASE64.encode(self.compute_mac(&signed)?.finalize().into_bytes());
        Some(format!("{signed}.{signature}"))
    }

    /// Returns the visitor of a request's token if the token is valid.
    pub(crate) fn verify_visitor(&self, headers: &HeaderMap, now: i64) -> Option<Visitor> {
        let parts: Vec<&str> = bearer_token(headers)?.split('.').collect();
        let [head, claims, signature] = parts[..] else { return None };
        let read = |part: &str| {
            serde_json::from_slice::<Object>(&BASE64.decode(part).ok()?).ok().map(|object| object.0)
        };
        let head_read = read(head)?;
        // A token that requires an extension is refused, because no extension is supported.
        if *head_read.get("alg")? != "HS256" || head_read.contains_key("crit") {
            return None;
        }
        let signed = format!("{head}.{claims}");
        self.compute_mac(&signed)?.verify_slice(&BASE64.decode(signature).ok()?).ok()?;
        let claims = read(claims)?;
        let own = *claims.get("iss")? == ISSUER
            && *claims.get("aud")? == AUDIENCE
            && is_valid_now(&claims, now)?
            && may_chat(&claims);
        let text = |name: &str| {
            claims.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
        };
        own.then_some(Visitor {
            sid: text("sid").filter(|sid| is_sid(sid))?,
            application: text("applicationId")?,
        })
    }

    /// Returns the visitor of a request to the token route, identified by a valid token or by the
    /// cookie.
    pub(crate) fn known_visitor(
        &self,
        headers: &HeaderMap,
        application: &str,
        now: i64,
    ) -> Option<Visitor> {
        let by_token =
            self.verify_visitor(headers, now).filter(|visitor| visitor.application == application);
        by_token.or_else(|| {
            Some(Visitor {
                sid: self.cookie_sid(headers, now)?,
                application: application.to_owned(),
            })
        })
    }

    /// Makes the cookie with the visitor's id and its expiry time, both signed. The cookie has no
    /// `Path`, so that browsers use the folder of the request, which also works behind a proxy's
    /// prefix.
    pub(crate) fn make_cookie(
        &self,
        visitor: &Visitor,
        headers: &HeaderMap,
        lasts_s: u64,
        now: i64,
    ) -> Option<String> {
        let signed = format!("{}.{}", visitor.sid, now.checked_add_unsigned(lasts_s)?);
        let signature =
            BASE64.encode(self.compute_mac(&format!("{COOKIE} {signed}"))?.finalize().into_bytes());
        let is_https = headers
            .get(header::ORIGIN)
            .is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
        let same_site = if self.cookie_crosses_sites { "None" } else { "Lax" };
        // Browsers ignore a cookie for cross-site requests unless it is secure.
        let secure = if is_https || self.cookie_crosses_sites { "; Secure" } else { "" };
        Some(format!(
            "{COOKIE}={signed}.{signature}; Max-Age={lasts_s}; HttpOnly; SameSite={same_site}{secure}"
        ))
    }

    fn cookie_sid(&self, headers: &HeaderMap, now: i64) -> Option<String> {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut named = lines
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == COOKIE);
        // Another site below the same domain can set a cookie with this name, too. If there are
        // two, neither is trusted.
        let ((_, value), None) = (named.next()?, named.next()) else { return None };
        let (signed, signature) = value.rsplit_once('.')?;
        self.compute_mac(&format!("{COOKIE} {signed}"))?
            .verify_slice(&BASE64.decode(signature).ok()?)
            .ok()?;
        let (sid, until) = signed.split_once('.')?;
        (is_sid(sid) && until.parse::<i64>().ok()? >= now).then(|| sid.to_owned())
    }
}

/// Whether a visitor's id is short and has only safe characters. The id is part of session ids,
/// where a slash marks the end of the visitor's id.
fn is_sid(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Whether a token allows chatting: it has no scope, or its scope contains `chat`.
fn may_chat(claims: &Map<String, Value>) -> bool {
    match claims.get("scope") {
        None => true,
        Some(Value::Array(scopes)) => scopes.iter().any(|scope| scope == "chat"),
        Some(Value::String(scopes)) => scopes.split_whitespace().any(|scope| scope == "chat"),
        Some(_) => false,
    }
}

/// Whether a token is valid now: its start time has passed, it has not expired, and its lifetime is
/// within the limit.
fn is_valid_now(claims: &Map<String, Value>, now: i64) -> Option<bool> {
    let seconds = |name: &str| claims.get(name)?.as_i64();
    let (from, until) = (seconds("iat")?, seconds("exp")?);
    let begun = match claims.get("nbf") {
        None => true,
        Some(begins) => begins.as_i64()? <= now.saturating_add(CLOCKS_S),
    };
    let lasts = until.checked_sub(from)?;
    Some(
        begun
            && from <= now.saturating_add(CLOCKS_S)
            && until >= now
            && (1..=i64::try_from(LONGEST_S).ok()?).contains(&lasts),
    )
}

/// A JSON object without duplicate names. If a name occurs twice, some parsers use the first value
/// and others the last.
struct Object(Map<String, Value>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> de::Visitor<'de> for Members {
            type Value = Object;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object that names nothing twice")
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut given: A) -> Result<Object, A::Error> {
                let mut members = Map::new();
                while let Some((name, value)) = given.next_entry::<String, Value>()? {
                    if members.insert(name, value).is_some() {
                        return Err(de::Error::custom("a member is there twice"));
                    }
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn chat_api_7_a_token_is_valid_up_to_and_including_its_expiry_second() {
        let auth = SimpleAuth { secret: "s".repeat(32), ttl_s: 600, cookie_crosses_sites: false };
        let visitor = Visitor { sid: "one".into(), application: "shop-web".into() };
        let token = auth.issue_token(&visitor, 1_000).unwrap();
        let headers = HeaderMap::from_iter([(
            header::AUTHORIZATION,
            format!("Bearer {token}").parse().unwrap(),
        )]);
        assert_eq!(
            (auth.verify_visitor(&headers, 1_600), auth.verify_visitor(&headers, 1_601)),
            (Some(visitor), None)
        );
    }

    fn shown(token: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap())])
    }

    /// Makes headers with a token that has exactly these claims.
    fn with_claims(auth: &SimpleAuth, claims: &str) -> HeaderMap {
        let signed = format!("{}.{}", BASE64.encode(r#"{"alg":"HS256"}"#), BASE64.encode(claims));
        shown(&format!(
            "{signed}.{}",
            BASE64.encode(auth.compute_mac(&signed).unwrap().finalize().into_bytes())
        ))
    }

    #[test]
    fn chat_api_7_a_token_from_the_future_too_long_or_with_duplicate_claims_is_invalid() {
        let auth = SimpleAuth { secret: "s".repeat(32), ttl_s: 600, cookie_crosses_sites: false };
        let own = r#""iss":"norce-agent-bff","aud":"norce-agent-widget","sid":"one","applicationId":"shop-web""#;
        let holds = |times: &str| {
            auth.verify_visitor(&with_claims(&auth, &format!("{{{own},{times}}}")), 1_000).is_some()
        };
        for times in [
            r#""iat":1000,"exp":1900"#,
            r#""iat":1004,"exp":1900"#,
            r#""iat":100,"exp":1000"#,
            r#""iat":1000,"nbf":1000,"exp":1900"#,
            r#""iat":1000,"nbf":1004,"exp":1900"#,
        ] {
            assert!(holds(times), "{times}");
        }
        for times in [
            r#""exp":1900"#,
            r#""iat":1000"#,
            r#""iat":1000,"exp":1901"#,
            r#""iat":-9223372036854775808,"exp":9223372036854775807"#,
            r#""iat":1006,"exp":1900"#,
            r#""iat":1000,"nbf":1006,"exp":1900"#,
            r#""iat":1000,"nbf":"1000","exp":1900"#,
            r#""iat":1000,"nbf":null,"exp":1900"#,
            r#""iat":"1000","exp":1900"#,
            r#""iat":1900,"exp":1900"#,
            r#""iat":1000,"exp":999,"exp":1900"#,
            r#""iat":1000,"exp":1900,"sid":"two""#,
            r#""iat":1000,"exp":1900,"applicationId":"shop-web""#,
        ] {
            assert!(!holds(times), "{times}");
        }
    }

    #[test]
    fn a_returning_visitor_is_recognised_by_a_valid_token_or_cookie() {
        let auth = SimpleAuth { secret: "s".repeat(32), ttl_s: 600, cookie_crosses_sites: false };
        let visitor = Visitor { sid: "one".into(), application: "shop-web".into() };
        let token = auth.issue_token(&visitor, 1_000).unwrap();
        assert_eq!(auth.known_visitor(&shown(&token), "shop-web", 1_100), Some(visitor.clone()));
        assert_eq!(
            (
                auth.known_visitor(&shown(&token), "other", 1_100),
                auth.known_visitor(&shown(&token), "shop-web", 9_000)
            ),
            (None, None)
        );
        let cookie = auth.make_cookie(&visitor, &HeaderMap::new(), 60, 1_000).unwrap();
        let brings = |text: &str| HeaderMap::from_iter([(header::COOKIE, text.parse().unwrap())]);
        let pair = cookie.split(';').next().unwrap();
        assert_eq!(
            auth.known_visitor(&brings(&format!("a=b; {pair}; c=d")), "shop-web", 1_060),
            Some(visitor)
        );
        assert_eq!(
            auth.known_visitor(&brings(pair), "shop-web", 1_061),
            None,
            "its time is over, also for a client that keeps it"
        );
        for forged in [
            pair.replace("one", "two"),
            pair.replace("1060", "9060"),
            "csign_visitor=one".to_owned(),
            "csign_visitor=one.".to_owned(),
            "csign_visitor=one.1060".to_owned(),
            "csign_visitor=one.1060.".to_owned(),
            format!("{pair}; {pair}"),
        ] {
            assert_eq!(auth.known_visitor(&brings(&forged), "shop-web", 1_050), None, "{forged}");
        }
    }
}
