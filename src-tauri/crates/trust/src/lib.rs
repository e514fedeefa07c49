//! Decides which servers are trusted: those whose certificates the system trusts (its own store,
//! `SSL_CERT_FILE`, `SSL_CERT_DIR`). The store is read when the first encrypted connection is made,
//! so that a server on this computer does not need a store. The error for a certificate file that
//! cannot be read names the file. A refusal names the issuer of the certificate. A certificate that
//! the system's verifier refuses is never accepted. The error of a request also shows which proxy
//! or handshake problem prevents the connection. Knows neither models nor MCP; both use these
//! rules.

#![forbid(unsafe_code)]

use std::error::Error as StdError;
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, SignatureScheme,
};
use rustls_platform_verifier::Verifier;

/// The maximum number of characters of an issuer's name.
const MAX_NAME: usize = 80;

/// The certificate chain ends at an authority that the system does not trust.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the certificate was issued by {issuer}, which is not trusted")]
pub struct UntrustedIssuer {
    pub issuer: String,
}

/// The system's certificates cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoCertificates(pub String);

/// Returns the TLS configuration of all outgoing connections.
pub fn client_config() -> Result<ClientConfig, Error> {
    let provider = CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    let trust = Arc::new(SystemTrust { provider: Arc::clone(&provider), system: OnceLock::new() });
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(trust)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

#[derive(Debug)]
struct SystemTrust {
    provider: Arc<CryptoProvider>,
    system: OnceLock<Verifier>,
}

impl SystemTrust {
    /// Returns the system's verifier. Only a success is stored, because a failure may be temporary.
    fn system(&self) -> Result<&Verifier, Error> {
        if let Some(system) = self.system.get() {
            return Ok(system);
        }
        files::check_certificates()
            .map_err(|why| Error::Other(OtherError(Arc::new(NoCertificates(why)))))?;
        let system = Verifier::new(Arc::clone(&self.provider))?;
        Ok(self.system.get_or_init(|| system))
    }
}

impl ServerCertVerifier for SystemTrust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.system()?.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        verified.map_err(|error| match error {
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                // The last certificate of the chain says most: it is a company's root and not a
                // short-lived proxy certificate.
                let top = intermediates.last().unwrap_or(end_entity);
                let issuer = read_issuer(top)
                    .or_else(|| read_issuer(end_entity))
                    .unwrap_or_else(|| "an unknown authority".to_owned());
                Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(
                    UntrustedIssuer { issuer },
                ))))
            }
            other => other,
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            cert,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            cert,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Iterates over an error and its causes. `io::Error` does not return the error it wraps as
/// `source`.
fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| {
        match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn StdError + 'static)),
            None => error.source(),
        }
    })
}

/// Why a certificate was refused, by what the user can do about the refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateFault {
    /// This machine does not trust the issuer, which is named here.
    Issuer(String),
    Expired,
    NotYetValid,
    /// The certificate belongs to a server with another name.
    OtherName,
    /// The certificate belongs to an authority itself, as many tools create by default.
    Authority,
    Other,
}

/// Returns why a certificate was refused, if it was.
pub fn certificate_fault(error: &(dyn StdError + 'static)) -> Option<CertificateFault> {
    causes(error).find_map(|cause| match cause.downcast_ref::<Error>() {
        Some(Error::InvalidCertificate(why)) => Some(fault_of(why)),
        _ => None,
    })
}

fn fault_of(why: &CertificateError) -> CertificateFault {
    use CertificateError as C;
    match why {
        C::Expired | C::ExpiredContext { .. } => CertificateFault::Expired,
        C::NotValidYet | C::NotValidYetContext { .. } => CertificateFault::NotYetValid,
        C::NotValidForName | C::NotValidForNameContext { .. } => CertificateFault::OtherName,
        C::Other(other) => match other.0.downcast_ref::<UntrustedIssuer>() {
            Some(untrusted) => CertificateFault::Issuer(untrusted.issuer.clone()),
            // The library's type of this error is not public here, but the type's name is part of
            // the text.
            None if other.0.to_string().contains("CaUsedAsEndEntity") => {
                CertificateFault::Authority
            }
            None => CertificateFault::Other,
        },
        _ => CertificateFault::Other,
    }
}

/// Returns what failed in a TLS handshake, unless the certificate failed. The text is a part of a
/// sentence.
pub fn tls_problem(error: &(dyn StdError + 'static)) -> Option<String> {
    causes(error).find_map(|cause| cause.downcast_ref::<Error>()).map(|problem| {
        let why = match problem {
            Error::Other(other) if other.0.is::<NoCertificates>() => return other.0.to_string(),
            Error::InvalidMessage(_) => "the server does not speak TLS there",
            Error::General(_) => "the system has no certificates to check it with",
            Error::AlertReceived(_) => "the server refused it",
            Error::PeerIncompatible(_) => "the server only speaks versions that are no longer safe",
            _ => "the handshake failed",
        };
        why.to_owned()
    })
}

/// Whether the proxy could not be reached or refused the connection.
pub fn is_proxy_problem(error: &(dyn StdError + 'static)) -> bool {
    causes(error).skip(1).any(|cause| {
        let text = cause.to_string().to_ascii_lowercase();
        ["proxy", "tunnel", "socks"].iter().any(|word| text.contains(word))
    })
}

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANISATION: &[u8] = &[0x55, 0x04, 0x0a];

/// Returns the issuer's common name, followed by the organisation if the two names differ.
fn read_issuer(certificate: &[u8]) -> Option<String> {
    let (_, certificate, _) = read_der_element(certificate)?;
    let (_, mut rest, _) = read_der_element(certificate)?;
    // The version (optional), the serial number and the signature algorithm precede the issuer.
    let (tag, _, after) = read_der_element(rest)?;
    if tag == VERSION {
        rest = after;
    }
    let (_, _, rest) = read_der_element(rest)?;
    let (_, _, rest) = read_der_element(rest)?;
    let (tag, mut names, _) = read_der_element(rest)?;
    if tag != SEQUENCE {
        return None;
    }
    let (mut common, mut organisation) = (None, None);
    while let Some((_, set, after)) = read_der_element(names) {
        names = after;
        let (_, pair, _) = read_der_element(set)?;
        let (_, kind, value) = read_der_element(pair)?;
        let (_, text, _) = read_der_element(value)?;
        match kind {
            COMMON_NAME => common = sanitize_name(text),
            ORGANISATION => organisation = sanitize_name(text),
            _ => {}
        }
    }
    match (common, organisation) {
        (Some(common), Some(organisation)) if common != organisation => {
            Some(format!("\u{201c}{common}\u{201d} ({organisation})"))
        }
        (Some(name), _) | (None, Some(name)) => Some(format!("\u{201c}{name}\u{201d}")),
        (None, None) => None,
    }
}

/// Reads one DER element. Returns the element's tag and content, and the bytes after the element.
fn read_der_element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if first & 0x80 == 0 {
        (usize::from(*first), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        if bytes.len() > 4 {
            return None;
        }
        (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    let (content, after) = rest.split_at_checked(length)?;
    Some((*tag, content, after))
}

/// Returns a name that is safe to show: short, with visible characters only, because the name comes
/// from an untrusted certificate.
fn sanitize_name(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let seen: String = text
        .chars()
        .filter(|c| {
            c.is_alphanumeric()
                || matches!(c, ' ' | '.' | ',' | '-' | '_' | '&' | '\'' | '(' | ')' | '/')
        })
        .take(MAX_NAME)
        .collect();
    let seen = seen.trim();
    (!seen.is_empty()).then(|| seen.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAF: &[u8] = include_bytes!("../../../../tests/data/tls/localhost.der");

    #[test]
    fn a_root_certificate_used_as_a_server_certificate_is_recognised() {
        let root =
            CertificateDer::from(include_bytes!("../../../../tests/data/tls/root.der").as_slice());
        let mut roots = rustls::RootCertStore::empty();
        roots.add(root.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier =
            rustls::client::WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
                .build()
                .unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let refused = verifier.verify_server_cert(&root, &[], &name, &[], UnixTime::now());
        let Err(Error::InvalidCertificate(why)) = refused else { panic!("{refused:?}") };
        assert_eq!(fault_of(&why), CertificateFault::Authority, "{why:?}");
    }

    #[test]
    fn the_issuer_is_read_from_a_certificate() {
        assert_eq!(
            read_issuer(LEAF).as_deref(),
            Some("\u{201c}Example Inspection Root\u{201d} (Example Corp)")
        );
    }

    #[test]
    fn bytes_that_are_no_certificate_have_no_issuer() {
        for end in 0..LEAF.len() {
            drop(read_issuer(LEAF.get(..end).unwrap()));
        }
        assert_eq!(read_issuer(b""), None);
        assert_eq!(read_issuer(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }

    #[test]
    fn issuer_names_are_stripped_of_special_characters_and_shortened() {
        assert_eq!(sanitize_name("Acme\u{202e}\n\"<b>".as_bytes()).as_deref(), Some("Acmeb"));
        assert_eq!(sanitize_name(&[0xff]), None);
        assert_eq!(sanitize_name("x".repeat(500).as_bytes()).unwrap().len(), MAX_NAME);
    }
}
