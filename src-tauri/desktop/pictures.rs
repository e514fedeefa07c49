//! The `shopimg:` scheme: pictures of products, which the host fetches from the shop. Only PNG,
//! JPEG, GIF, WebP and SVG of limited size are shown, and never in a form that a page could
//! execute.

use tauri::{
    AppHandle, Manager,
    http::{HeaderValue, Request, Response, StatusCode, header},
};

use super::{backend::Backend, guard};

/// The most bytes of a picture.
const LARGEST: usize = 2 * 1024 * 1024;

/// Answers one request of a page.
pub(crate) async fn answer_request(
    app: AppHandle,
    label: String,
    request: Request<Vec<u8>>,
) -> Response<Vec<u8>> {
    if label != guard::MAIN {
        return refusal_response(StatusCode::FORBIDDEN);
    }
    let Some(path) = decode_path(request.uri().path()) else {
        return refusal_response(StatusCode::BAD_REQUEST);
    };
    let host = match app.state::<Backend>().host().await {
        Ok(host) => host,
        Err(_) => return refusal_response(StatusCode::SERVICE_UNAVAILABLE),
    };
    match host.read_image(&path).await {
        Ok(bytes) => picture_response(bytes),
        Err(error) => {
            tracing::debug!(path, %error, "no picture");
            refusal_response(StatusCode::NOT_FOUND)
        }
    }
}

fn picture_response(bytes: Vec<u8>) -> Response<Vec<u8>> {
    let Some(kind) = detect_content_type(&bytes).filter(|_| bytes.len() <= LARGEST) else {
        return refusal_response(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    };
    let mut response = Response::new(bytes);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600"));
    response
}

fn refusal_response(status: StatusCode) -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = status;
    response
}

/// Detects the picture's type by its first bytes. The shop's content type is not used.
fn detect_content_type(bytes: &[u8]) -> Option<&'static str> {
    let starts: [(&[u8], &str); 4] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
    ];
    if let Some((_, kind)) = starts.into_iter().find(|(start, _)| bytes.starts_with(start)) {
        return Some(kind);
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    let start = bytes.get(..bytes.len().min(256))?;
    let text = std::str::from_utf8(start).ok()?.trim_start_matches('\u{feff}').trim_start();
    (text.starts_with("<svg") || (text.starts_with("<?xml") && text.contains("<svg")))
        .then_some("image/svg+xml")
}

/// Returns the percent-decoded path without its leading slash.
fn decode_path(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.trim_start_matches('/').bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    let plain = !path.is_empty()
        && !path.chars().any(char::is_control)
        && !path.split('/').any(|part| part == "..");
    plain.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pictures_of_known_types_are_sent() {
        assert_eq!(detect_content_type(b"\x89PNG\r\n\x1a\nrest"), Some("image/png"));
        assert_eq!(detect_content_type(b"\xff\xd8\xff\xe0rest"), Some("image/jpeg"));
        assert_eq!(detect_content_type(b"GIF89arest"), Some("image/gif"));
        assert_eq!(detect_content_type(b"RIFF\x10\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(detect_content_type(b"RIFF\x10\0\0\0WAVEfmt "), None);
        assert_eq!(detect_content_type(b"<svg xmlns='x'/>"), Some("image/svg+xml"));
        assert_eq!(detect_content_type(b"<?xml version='1.0'?>\n<svg/>"), Some("image/svg+xml"));
        assert_eq!(detect_content_type(b"<html><svg/></html>"), None);
        assert_eq!(detect_content_type(b""), None);
        assert_eq!(picture_response(vec![0; 10]).status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let mut large = b"<svg>".to_vec();
        large.resize(LARGEST + 1, b' ');
        assert_eq!(picture_response(large).status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }

    #[test]
    fn paths_are_decoded_and_invalid_paths_are_refused() {
        assert_eq!(decode_path("/products%2F17%20a.svg"), Some("products/17 a.svg".to_owned()));
        for path in ["/", "/%", "/%zz", "/a/../b", "/%2e%2e/b", "/a%00b"] {
            assert_eq!(decode_path(path), None, "{path}");
        }
    }
}
