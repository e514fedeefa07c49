//! Selects the fields of mail links that may be passed to a mail program.

use url::Url;

/// The fields that a mail link may fill in besides the recipients. All other fields, such as
/// attachments and hidden recipients, are removed.
const KEPT: [&str; 3] = ["subject", "body", "cc"];

/// Returns a mail link with its recipients, subject, body and copy recipients only. Returns none if
/// the link is not a mail link, or if the recipients contain control characters.
pub fn sanitize_mail_link(link: &str) -> Option<String> {
    let mut link = Url::parse(link).ok()?;
    if link.scheme() != "mailto" || !link.cannot_be_a_base() || has_control_characters(link.path())
    {
        return None;
    }
    let kept = |pair: &&str| {
        pair.split_once('=').is_some_and(|(name, value)| {
            KEPT.iter().any(|kept| kept.eq_ignore_ascii_case(name)) && is_allowed_field(name, value)
        })
    };
    // Some programs search for the last question mark, so a second question mark would begin
    // another query.
    let query: Vec<String> = link
        .query()
        .unwrap_or_default()
        .split('&')
        .filter(kept)
        .map(|pair| pair.replace('?', "%3F"))
        .collect();
    link.set_fragment(None);
    link.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
    Some(link.into())
}

/// Whether a field's value is allowed. Only a body may have several lines: in other fields, a
/// second line would be another header.
fn is_allowed_field(name: &str, value: &str) -> bool {
    name.eq_ignore_ascii_case("body") || !has_control_characters(value)
}

fn has_control_characters(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains(char::is_control)
        || (0..=0x1f).chain([0x7f]).any(|control| text.contains(&format!("%{control:02x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_link_keeps_recipients_subject_body_and_copies_only() {
        for (link, plain) in [
            ("mailto:ada@example.com", Some("mailto:ada@example.com")),
            (
                "MAILTO:ada@example.com?Subject=Hi&body=a%0D%0Ab&CC=b@example.com",
                Some("mailto:ada@example.com?Subject=Hi&body=a%0D%0Ab&CC=b@example.com"),
            ),
            (
                "mailto:ada@example.com?attach=/home/ada/.ssh/id_ed25519",
                Some("mailto:ada@example.com"),
            ),
            (
                "mailto:ada@example.com?subject=Hi&ATTACH=/etc/passwd&attachment=x&bcc=eve@example.com",
                Some("mailto:ada@example.com?subject=Hi"),
            ),
            (
                "mailto:ada@example.com?%61ttach=/etc/passwd&from=boss@example.com&in-reply-to=x&to=eve@example.com",
                Some("mailto:ada@example.com"),
            ),
            (
                "mailto:ada@example.com?subject=Hi%0ABcc:%20eve@example.com",
                Some("mailto:ada@example.com"),
            ),
            (
                "mailto:ada@example.com?cc=b@example.com%0D%0AX:%20y&body=ok",
                Some("mailto:ada@example.com?body=ok"),
            ),
            ("mailto:?body=a?attach=/etc/passwd", Some("mailto:?body=a%3Fattach=/etc/passwd")),
            ("mailto:ada@example.com#?attach=/etc/passwd", Some("mailto:ada@example.com")),
            ("mailto:ada@example.com%0D%0ABcc:eve@example.com", None),
            ("mailto://example.com/?attach=x", None),
            ("https://example.com/?attach=x", None),
        ] {
            assert_eq!(sanitize_mail_link(link).as_deref(), plain, "{link}");
        }
    }
}
