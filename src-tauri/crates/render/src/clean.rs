//! The last check before the window, with allow-lists for elements, attributes, classes and link
//! schemes. The HTML writer should produce nothing else, but this file does not rely on the writer.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use contract::mail::sanitize_mail_link;

use crate::{highlight, mathml};

const TAGS: [&str; 25] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];
const ATTRIBUTES: [(&str, &[&str]); 11] = [
    ("a", &["href", "title"]),
    ("code", &["class"]),
    ("div", &["class", "tabindex"]),
    ("li", &["class"]),
    ("ol", &["start", "class"]),
    ("p", &["class"]),
    ("pre", &["class", "data-lang", "tabindex"]),
    ("span", &["class"]),
    ("td", &["class"]),
    ("th", &["class"]),
    ("ul", &["class"]),
];
/// Classes of the HTML writer. The classes of highlighted code are in [`highlight`].
const CLASSES: [&str; 9] = [
    "md-code",
    "md-formula",
    "md-table",
    "md-url",
    "md-task",
    "md-continued",
    "md-left",
    "md-center",
    "md-right",
];
/// Schemes that a link may have.
pub(crate) const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder
        .tags(TAGS.into_iter().chain(mathml::TAGS).collect())
        .tag_attributes(
            ATTRIBUTES
                .into_iter()
                .chain(mathml::ATTRIBUTES)
                .map(|(tag, names)| (tag, names.iter().copied().collect()))
                .collect::<HashMap<_, _>>(),
        )
        .clean_content_tags(HashSet::from([
            "script", "style", "title", "textarea", "noscript", "template", "iframe",
        ]))
        .url_schemes(HashSet::from(SCHEMES))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer"))
        .attribute_filter(|tag, name, value| {
            if mathml::TAGS.contains(&tag) {
                mathml::is_fine(name, value).then_some(Cow::Borrowed(value))
            } else {
                attribute(name, value)
            }
        });
    builder
});

/// Removes all HTML that may not be shown.
pub(crate) fn clean(html: &str) -> String {
    CLEANER.clean(html).to_string()
}

fn attribute<'v>(name: &str, value: &'v str) -> Option<Cow<'v, str>> {
    let fine = match name {
        "class" => value
            .split(' ')
            .all(|class| CLASSES.contains(&class) || highlight::CLASSES.contains(&class)),
        "tabindex" => value == "0",
        "href" => !is_mail(value) || sanitize_mail_link(value).as_deref() == Some(value),
        "start" => value.len() <= 9 && value.bytes().all(|b| b.is_ascii_digit()),
        "data-lang" => is_language(value),
        _ => true,
    };
    fine.then_some(Cow::Borrowed(value))
}

/// Whether a link opens a mail program.
pub(crate) fn is_mail(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("mailto"))
}

/// Whether the language of a code fence may be used in an attribute.
pub(crate) fn is_language(text: &str) -> bool {
    (1..=20).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'#' | b'-' | b'.' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_html_elements_and_attributes_are_kept() {
        assert_eq!(
            clean("<p onclick=x style='color:red' class='md-code evil'>a<img src=x onerror=y></p>"),
            "<p>a</p>"
        );
        assert_eq!(
            clean("<a href='javascript:x'>a</a><a href='/rel'>b</a>"),
            "<a rel=\"noopener noreferrer\">a</a><a rel=\"noopener noreferrer\">b</a>"
        );
        assert_eq!(
            clean("<a href='mailto:a@b.example?attach=/etc/passwd'>a</a>"),
            "<a rel=\"noopener noreferrer\">a</a>"
        );
        assert_eq!(
            clean("<span class=\"hl-keyword\">fn</span><script>x</script>"),
            "<span class=\"hl-keyword\">fn</span>"
        );
    }

    #[test]
    fn only_allowed_mathml_elements_and_attributes_are_kept() {
        assert_eq!(
            clean(
                "<math display='block' onclick=x><mo stretchy='true' style='color:red' href='javascript:x'>(</mo><mspace width='1e9em' height='2em'></mspace><maction><mi>x</mi></maction></math>"
            ),
            "<math display=\"block\"><mo stretchy=\"true\">(</mo><mspace height=\"2em\"></mspace><mi>x</mi></math>"
        );
        assert_eq!(
            clean(
                "<math><mtext><img src=x onerror=y><style>x</style></mtext><annotation-xml encoding='text/html'><b>x</b></annotation-xml></math>"
            ),
            "<math><mtext></mtext></math>"
        );
    }
}
