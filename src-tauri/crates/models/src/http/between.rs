//! Explains failures on the way to a server from the transport's errors: names, connections,
//! certificates, proxies. The sentences use this app's words, not the library's. Answers of a
//! server are handled elsewhere.

use contract::{ConnectionProblem as Problem, text};
use engine::ports::{ModelError, ModelErrorKind};
use trust::{CertificateFault, certificate_fault, is_proxy_problem, tls_problem};

use super::failure::{Failure, bad_address, cut_off, model_error};

/// The failure for a server that could not be reached, or whose connection broke.
pub(super) fn transport_failure(host: &str, error: &reqwest::Error) -> Failure {
    if error.is_builder() || error.is_redirect() {
        return Failure::permanent(bad_address()).with_problem(Problem::Address);
    }
    if let Some(fault) = certificate_fault(error) {
        return certificate_failure(host, &fault);
    }
    if let Some(text) = tls_problem(error) {
        return Failure::permanent(model_error(
            ModelErrorKind::Unavailable,
            text!("No encrypted connection to {host}: {text}.", host, text),
            "Check the address in Settings (http or https?) and that the package ca-certificates is installed.",
        ))
        .with_problem(Problem::Tls);
    }
    if error.is_dns() {
        return Failure::permanent(model_error(
            ModelErrorKind::Unavailable,
            text!("The name {host} cannot be resolved.", host),
            "Check the address in Settings and the network connection.",
        ))
        .with_problem(Problem::Dns);
    }
    if is_proxy_problem(error) {
        return Failure::transient(model_error(
            ModelErrorKind::Unavailable,
            "The proxy could not be reached or refused the connection.",
            "Check HTTPS_PROXY and NO_PROXY, or the proxy itself.",
        ))
        .with_problem(Problem::Proxy);
    }
    if error.is_timeout() {
        return Failure::transient(model_error(
            if error.is_connect() { ModelErrorKind::Unavailable } else { ModelErrorKind::Broken },
            text!("{host} did not answer in time.", host),
            "Check the network connection, or whether a proxy is needed (HTTPS_PROXY).",
        ))
        .with_problem(Problem::Timeout);
    }
    if error.is_connect() {
        return Failure::transient(model_error(
            ModelErrorKind::Unavailable,
            text!("No connection to {host}.", host),
            "Check that the server runs, the address in Settings, and the network connection.",
        ))
        .with_problem(Problem::NoConnection);
    }
    Failure::transient(cut_off(host))
}

fn certificate_failure(host: &str, fault: &CertificateFault) -> Failure {
    let (problem, issuer) = match fault {
        CertificateFault::Issuer(issuer) => (Problem::TlsIssuer, Some(issuer.clone())),
        _ => (Problem::Tls, None),
    };
    Failure { issuer, ..Failure::permanent(certificate_error(host, fault)).with_problem(problem) }
}

/// The error for a certificate that was refused.
fn certificate_error(host: &str, fault: &CertificateFault) -> ModelError {
    use CertificateFault as F;
    let (message, hint) = match fault {
        F::Issuer(issuer) => (
            text!(
                "The certificate of {host} was issued by {issuer}, which this machine does not trust.",
                host,
                issuer
            ),
            "On a company network this is often a proxy that inspects traffic: install its root certificate on the system, or name it in SSL_CERT_FILE.",
        ),
        F::Expired => (
            text!("The certificate of {host} has expired.", host),
            "Check this machine's clock; otherwise the server must renew it.",
        ),
        F::NotYetValid => (
            text!("The certificate of {host} is not valid yet.", host),
            "Check this machine's clock.",
        ),
        F::OtherName => (
            text!("The certificate belongs to another server than {host}.", host),
            "Check the address in Settings.",
        ),
        F::Authority => (
            text!(
                "The certificate of {host} is that of an authority (CA:TRUE) and not of a server.",
                host
            ),
            "Make one for the server, signed by that authority.",
        ),
        F::Other => (
            text!("The certificate of {host} cannot be verified.", host),
            "Check the address in Settings and the system's certificates.",
        ),
    };
    model_error(ModelErrorKind::Unavailable, message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the error messages for a missing proxy and for a proxy that refuses the client.
    #[tokio::test]
    async fn connection_errors_name_the_proxy_that_caused_them() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let refusing = listener.local_addr().unwrap();
        let served = tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut request = [0_u8; 1024];
                drop(socket.read(&mut request).await);
                drop(socket.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n").await);
            }
        });
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        for proxy in [refusing, gone] {
            let client = reqwest::Client::builder()
                .proxy(reqwest::Proxy::all(format!("http://{proxy}")).unwrap())
                .build()
                .unwrap();
            let error = client.get("https://models.example/v1/models").send().await.unwrap_err();
            let failure = transport_failure("models.example", &error);
            assert_eq!(failure.problem, Problem::Proxy, "{error:?}");
            assert!(failure.error.hint.unwrap().contains("HTTPS_PROXY"));
        }
        served.abort();
    }
}
