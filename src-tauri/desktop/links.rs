//! Links in answers: only web and mail addresses, shown in full, opened by the desktop's own
//! program, and never in a webview.

use std::process::{Command, Stdio};

use contract::mail::sanitize_mail_link;
use tauri::{AppHandle, Url};
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons};

use super::language;

/// The most characters of an address that a person can still read and check.
const LONGEST: usize = 2000;

/// Asks the user, and opens the link if the user agrees. Calls `told` with whether the user agreed,
/// or with None if the link is not allowed.
pub(crate) fn ask_and_open(
    app: &AppHandle,
    url: Url,
    told: impl FnOnce(Option<bool>) + Send + 'static,
) {
    let Some(url) = allowed_target(&url) else {
        tracing::warn!(
            scheme = url.scheme(),
            "a page asked to open an address that is not allowed"
        );
        return told(None);
    };
    let language = language::current(app);
    app.dialog()
        .message(language.open_link_body(url.as_str()))
        .title(language.open_link_title())
        .buttons(MessageDialogButtons::OkCancelCustom(language.open(), language.cancel_label()))
        .show(move |agreed| {
            if agreed {
                open_in_browser(&url);
            }
            told(Some(agreed));
        });
}

/// Returns the address to open: a mail link without attachments and hidden recipients. None if it
/// may not be opened.
fn allowed_target(url: &Url) -> Option<Url> {
    let web = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.password().is_none()
        && url.username().is_empty();
    let short = url.as_str().len() <= LONGEST;
    if web {
        short.then(|| url.clone())
    } else {
        sanitize_mail_link(url.as_str()).filter(|_| short).and_then(|link| Url::parse(&link).ok())
    }
}

fn open_in_browser(url: &Url) {
    let started = Command::new("xdg-open")
        .arg(url.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        // A thread waits for the process, so that no zombie remains.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => {
            tracing::warn!(%error, "xdg-open could not be started; is xdg-utils installed?")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_and_mail_links_are_allowed() {
        for link in
            ["https://example.org/a?b=c#d", "http://example.org", "mailto:someone@example.org"]
        {
            assert_eq!(
                allowed_target(&Url::parse(link).unwrap())
                    .as_ref()
                    .map(Url::as_str)
                    .map(|url| url.trim_end_matches('/')),
                Some(link),
                "{link}"
            );
        }
    }

    #[test]
    fn a_mail_link_loses_attachments_and_hidden_recipients() {
        let asked =
            Url::parse("mailto:ada@example.org?subject=Hi&attach=/etc/passwd&bcc=eve@example.org")
                .unwrap();
        assert_eq!(allowed_target(&asked).unwrap().as_str(), "mailto:ada@example.org?subject=Hi");
    }

    #[test]
    fn links_of_other_kinds_are_refused() {
        let long = format!("https://example.org/{}", "a".repeat(3000));
        let links = [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "smb://host/x",
            "tauri://localhost",
            "data:text/html,x",
            "https://user:secret@example.org",
            "https://bank.example@evil.example",
            &long,
        ];
        for link in links {
            assert_eq!(allowed_target(&Url::parse(link).unwrap()), None, "{link}");
        }
    }
}
