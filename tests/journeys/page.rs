//! The page of a window as a person uses it: buttons by their names, fields by their labels, texts.

use kit::webdriver::{Element, Session, key, wait};
use serde_json::{Value, json};

/// The page of a window.
pub struct Page<'s> {
    pub session: &'s Session,
}

/// A script that finds a visible element by its selector and a part of its accessible name.
const BY_NAME: &str = r#"
const [selector, name, exact] = arguments;
const plain = (text) => (text ?? "").replace(/\s+/g, " ").trim();
const own = (e) => plain(e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent);
const shown = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
const fits = (e) => exact ? own(e) === name : own(e).includes(name);
return [...document.querySelectorAll(selector)].find((e) => shown(e) && fits(e)) ?? null;"#;

impl<'s> Page<'s> {
    /// Returns the visible button whose name contains this text.
    #[track_caller]
    pub fn button(&self, name: &str) -> Element<'s> {
        self.named("button, [role=button]", name, false)
    }

    /// Returns the visible element with this selector and name.
    #[track_caller]
    pub fn named(&self, selector: &str, name: &str, exact: bool) -> Element<'s> {
        wait(&format!("{selector} called \"{name}\" on a page that says:\n{}", self.text()), || {
            self.find(selector, name, exact)
        })
    }

    /// Finds an element as `named` does, without waiting.
    pub fn find(&self, selector: &str, name: &str, exact: bool) -> Option<Element<'s>> {
        self.session.find(BY_NAME, json!([selector, name, exact])).ok().flatten()
    }

    /// Whether there is a visible button with this name now.
    pub fn has_button(&self, name: &str) -> bool {
        self.find("button, [role=button]", name, false).is_some()
    }

    /// Opens the cart unless it is open. A wide window opens the cart itself, possibly at this
    /// moment.
    #[track_caller]
    pub fn open_cart(&self) {
        wait("the cart", || {
            if self.has_button("Hide the cart") {
                return Some(());
            }
            let _ = self.find("button", "Show the cart", false)?.click();
            None
        });
    }

    /// Clicks a button. Tries again while the button moves or is covered.
    #[track_caller]
    pub fn click(&self, name: &str) {
        wait(&format!("a click on \"{name}\""), || {
            let button = self.button(name);
            match button.click() {
                // The driver may never answer a click that closes its window. The button is gone
                // then, and the test checks the effect of the click later.
                Err(error) if error.is_silence() => (!self.has_button(name)).then_some(()),
                // Another element may cover the button. A person would scroll then.
                Err(_) => button.to_the_middle().and_then(|()| button.click()).ok(),
                Ok(()) => Some(()),
            }
        });
    }

    /// Clicks a button that is enabled only after a moment, such as Approve.
    #[track_caller]
    pub fn click_armed(&self, name: &str) {
        wait(&format!("{name} to be armed"), || {
            self.button(name).enabled().ok().filter(|enabled| *enabled)
        });
        self.click(name);
    }

    /// Returns all text of the page.
    pub fn text(&self) -> String {
        self.script("return document.body?.innerText ?? '';")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Waits until the page contains a text.
    #[track_caller]
    pub fn says(&self, text: &str) {
        wait(&format!("\"{text}\""), || self.text().contains(text).then_some(()));
    }

    /// Runs a script without arguments. Returns null if it fails.
    pub fn script(&self, script: &str) -> Value {
        self.session.run(script, json!([])).unwrap_or_default()
    }

    /// Opens a view by its button in the rail.
    #[track_caller]
    pub fn go(&self, view: &str) {
        wait(&format!("the way to {view}"), || {
            self.named("nav button, nav a", view, false).click().ok()
        });
    }

    /// Types a message and sends it.
    #[track_caller]
    pub fn send(&self, text: &str) {
        let field = self.named("textarea", "Message", true);
        field.click().expect("the message field can be clicked");
        field.send(text).expect("the message field takes text");
        self.session.press(&[&[key::ENTER]]).expect("Enter");
    }

    /// Returns the first choice of the newest answer.
    #[track_caller]
    pub fn first_choice(&self) -> Element<'s> {
        self.at_rest("[role=group][aria-label=\"Suggested answers\"] button")
    }

    /// Returns the first visible element of a selector, once it no longer moves. A click goes to a
    /// position, and the page still scrolls at the end of an answer.
    #[track_caller]
    pub fn at_rest(&self, selector: &str) -> Element<'s> {
        let script = "const found = document.querySelector(arguments[0]); const at = found?.getBoundingClientRect().top; const now = performance.now(); \
                      if (!window.seen || at !== window.seen.at) window.seen = { at, since: now }; \
                      return at !== undefined && now - window.seen.since >= 400 ? found : null;";
        wait(&format!("{selector} at rest on a page that says:\n{}", self.text()), || {
            self.session.find(script, json!([selector])).ok().flatten()
        })
    }

    /// Chooses an option of a list by the list's label. A list of an open dialog comes first.
    #[track_caller]
    pub fn choose(&self, label: &str, value: &str) {
        let script = "const field = [...document.querySelectorAll('dialog[open] label'), ...document.querySelectorAll('label')] \
                      .find((l) => l.innerText.trim() === arguments[0])?.control; \
                      if (!field) return false; field.value = arguments[1]; field.dispatchEvent(new Event('change', { bubbles: true })); return true;";
        wait(&format!("the list {label}"), || {
            (self.session.run(script, json!([label, value])).ok()? == json!(true)).then_some(())
        });
    }

    /// Replaces the text of the field with this label. A field of an open dialog comes first.
    #[track_caller]
    pub fn fill(&self, label: &str, text: &str) {
        let script = "return [...document.querySelectorAll('dialog[open] label'), ...document.querySelectorAll('label')] \
                      .find((l) => l.innerText.trim() === arguments[0])?.control ?? null;";
        let field = wait(&format!("the field {label}"), || {
            self.session.find(script, json!([label])).ok().flatten()
        });
        field.clear().expect("emptied");
        field.send(text).expect("typed");
    }

    /// Returns the number of complete answers.
    pub fn answers(&self) -> u64 {
        self.script(
            "return document.querySelectorAll('[role=log] article:not([aria-busy])').length;",
        )
        .as_u64()
        .unwrap_or(0)
    }

    /// Waits until no turn runs and there are more than `before` complete answers. Returns the
    /// newest answer's text.
    #[track_caller]
    pub fn answer_after(&self, before: u64) -> String {
        wait("the answer to be complete", || {
            (self.answers() > before && !self.runs()).then_some(())
        });
        let script =
            "return [...document.querySelectorAll('[role=log] article')].at(-1)?.innerText ?? '';";
        self.script(script).as_str().unwrap_or_default().to_owned()
    }

    /// Whether a turn runs and can be stopped. A turn that is being stopped also has a button, with
    /// a longer name.
    pub fn runs(&self) -> bool {
        self.find("button", "Stop", true).is_some()
    }

    /// Waits until no turn runs.
    #[track_caller]
    pub fn idle(&self) {
        wait("the turn to end", || (!self.runs()).then_some(()));
    }

    /// Returns the name of the element with the focus; empty if there is none.
    pub fn focus(&self) -> String {
        let script = "const e = document.activeElement; if (e === document.body) return ''; return (e?.getAttribute('aria-label') ?? e?.textContent ?? '').replace(/\\s+/g, ' ').trim();";
        self.script(script).as_str().unwrap_or_default().to_owned()
    }
}
