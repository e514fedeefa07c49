//! A user at a desktop with Countersign open: asking, reading, clicking. One journey at a time, each with a desktop, a
//! data folder and a session bus of its own. A journey that fails leaves pictures and logs in `target/journeys`.

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    process::Output,
    sync::{Mutex, MutexGuard, PoisonError},
};

use kit::{
    desktop::{App, Desktop},
    webdriver::{Element, Session, key, wait},
};
use serde_json::{Value, json};

/// A Wednesday in the middle of a month, for journeys whose answers depend on the day. Those that wait for approvals run
/// by the machine's clock, which is also the page's.
pub const NOW: &str = "2026-11-18T09:30:00Z";

/// Two machines' worth of windows at once would only slow each other down.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The running journey.
pub struct Journey {
    name: &'static str,
    app: RefCell<Option<App>>,
    pub desktop: Desktop,
    variables: Vec<(String, String)>,
    _turn: MutexGuard<'static, ()>,
}

impl Journey {
    /// A desktop with Countersign open, past the first-run page.
    pub fn start(name: &'static str) -> Self {
        Self::with(name, "", &[])
    }

    /// The same with lines for the settings file and further variables.
    pub fn with(name: &'static str, settings: &str, variables: &[(&str, &str)]) -> Self {
        let journey = Self::prepare(name, variables);
        journey.settings(settings);
        journey.open();
        journey
    }

    /// A desktop where Countersign has never been started.
    pub fn prepare(name: &'static str, variables: &[(&str, &str)]) -> Self {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = vec![("COUNTERSIGN_LOG".to_owned(), "info,rmcp=warn".to_owned())];
        all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Self { name, app: RefCell::new(None), desktop: Desktop::start(), variables: all, _turn: turn }
    }

    /// Writes the settings file; the first-run page counts as answered.
    pub fn settings(&self, lines: &str) {
        let file = self.desktop.data_dir().join("countersign.toml");
        fs::write(file, format!("welcomed = true\nlanguage = \"en\"\ntheme = \"light\"\ntime_zone = \"UTC\"\n{lines}")).expect("settings");
    }

    /// Starts the app.
    pub fn open(&self) {
        let folder = self.desktop.data_dir();
        let arguments = ["--data-dir", folder.to_str().expect("a plain path")];
        let variables: Vec<(&str, &str)> = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let app = App::start(&self.desktop, Path::new(env!("CARGO_BIN_EXE_countersign")), &arguments, &variables);
        app.window("main");
        *self.app.borrow_mut() = Some(app);
        wait("the app to answer", || self.call("app_status", json!({})).ok());
    }

    /// Ends the app as logging out does.
    pub fn quit(&self) {
        self.app.borrow_mut().take().expect("the app runs").quit();
    }

    /// Kills the app; the processes that were below it come back.
    pub fn kill(&self) -> Vec<u32> {
        self.app.borrow_mut().take().expect("the app runs").kill()
    }

    /// Does something with the running app.
    pub fn with_app<T>(&self, act: impl FnOnce(&App) -> T) -> T {
        act(self.app.borrow().as_ref().expect("the app runs"))
    }

    /// Does something in the window with this label.
    #[track_caller]
    pub fn within<T>(&self, label: &str, act: impl FnOnce(&Page<'_>) -> T) -> T {
        let app = self.app.borrow();
        let session = app.as_ref().expect("the app runs").window(label);
        act(&Page { session })
    }

    /// Does something in the chat window.
    #[track_caller]
    pub fn chat<T>(&self, act: impl FnOnce(&Page<'_>) -> T) -> T {
        self.within("main", act)
    }

    /// Does something in the approval window.
    #[track_caller]
    pub fn approval<T>(&self, act: impl FnOnce(&Page<'_>) -> T) -> T {
        self.within("approval", act)
    }

    /// Says yes in the approval window to a change of settings that it shows.
    #[track_caller]
    pub fn confirm(&self, shown: &str) {
        self.approval(|page| {
            page.says(shown);
            // Each focus of the window arms the button anew, and a click of the driver may bring the focus. The page clicks itself: nothing
            // happens unless the button is armed.
            wait("the change to be confirmed", || {
                if !page.text().contains(shown) {
                    return Some(());
                }
                page.script("[...document.querySelectorAll('[role=alertdialog] button')].at(-1)?.click();");
                None
            });
        });
    }

    /// Calls a command as the chat window's page does.
    pub fn call(&self, command: &str, params: Value) -> Result<Value, Value> {
        self.chat(|_| ());
        self.with_app(|app| app.invoke(command, &json!({ "params": params })))
    }

    /// Asks in the chat window and waits until the answer is complete; its text comes back.
    #[track_caller]
    pub fn ask(&self, text: &str) -> String {
        self.chat(|page| {
            let before = page.answers();
            page.send(text);
            page.answer_after(before)
        })
    }

    /// Undecided actions, oldest first.
    pub fn pending(&self) -> Vec<Value> {
        let answer = self.call("approvals_list", json!({ "include_decided": false })).unwrap_or_default();
        let mut approvals = answer["approvals"].as_array().cloned().unwrap_or_default();
        approvals.retain(|approval| approval["status"] == "pending");
        approvals.sort_by_key(|approval| approval["created_at"].as_str().map(str::to_owned));
        approvals
    }

    /// An action as it is stored now.
    pub fn stored_approval(&self, id: &Value) -> Value {
        let answer = self.call("approvals_list", json!({ "include_decided": true })).unwrap_or_default();
        answer["approvals"].as_array().into_iter().flatten().find(|a| a["id"] == *id).cloned().unwrap_or_default()
    }

    /// All items of the newest session.
    pub fn items(&self) -> Vec<Value> {
        let sessions = self.call("sessions_list", json!({})).expect("sessions");
        let session = &sessions["sessions"][0]["id"];
        self.call("session_open", json!({ "session": session })).expect("the session")["items"].as_array().cloned().unwrap_or_default()
    }

    /// Results of a tool in the newest session, oldest first.
    pub fn results(&self, tool: &str) -> Vec<Value> {
        let results = self.items().into_iter().map(|item| item["body"].clone());
        results.filter(|body| body["kind"] == "tool_result" && body["tool"].as_str().is_some_and(|id| id.ends_with(tool))).collect()
    }

    /// Runs `csign` inside this desktop with the data folder of the app.
    pub fn csign(&self, args: &[&str]) -> Output {
        self.csign_in(&self.desktop.data_dir(), args)
    }

    /// Runs `csign` with another data folder.
    pub fn csign_in(&self, folder: &Path, args: &[&str]) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_countersign")).with_file_name("csign");
        let mut command = self.desktop.command(&program);
        command.envs(self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        command.arg("--data-dir").arg(folder).args(args);
        command.output().unwrap_or_else(|error| panic!("{} does not run ({error}); build the package cli", program.display()))
    }

    /// The log verifies, as `csign` sees it without the app.
    #[track_caller]
    pub fn assert_log_verifies(&self) {
        let output = self.csign(&["--json", "audit", "verify"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "the log verifies: {said}\n{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Keys and tokens lie in the keyring, and in no file of the profile.
    #[track_caller]
    pub fn assert_in_no_file(&self, secret: &str) {
        let mut folders = vec![self.desktop.data_dir()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    // Programs of packs that the test put there may hold what they are to send.
                    if !path.ends_with("tools") {
                        folders.push(path);
                    }
                } else if let Ok(bytes) = fs::read(&path) {
                    assert!(!bytes.windows(secret.len()).any(|piece| piece == secret.as_bytes()), "{} holds a secret", path.display());
                }
            }
        }
    }

    /// Stores a picture of the selected window.
    pub fn picture(&self, file: impl AsRef<Path>) {
        let file = pictures().join(file);
        self.with_app(|app| app.picture(&file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

impl Drop for Journey {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let folder = target().join("journeys").join(self.name);
            let _ = fs::create_dir_all(&folder);
            if let Ok(app) = self.app.try_borrow()
                && let Some(app) = app.as_ref()
            {
                for label in ["main", "approval"] {
                    if app.select(label) {
                        let _ = app.picture(&folder.join(format!("{label}.png")));
                        let text = app.session().run("return document.body.innerText;", json!([]));
                        let _ =
                            fs::write(folder.join(format!("{label}.txt")), text.map_or_else(|e| e.to_string(), |v| v.as_str().unwrap_or_default().to_owned()));
                    }
                }
            }
            let log = self.desktop.log("app");
            let _ = fs::write(folder.join("app.log"), &log);
            eprintln!("--- {}: pictures in {}\n{log}", self.name, folder.display());
        }
        // The app ends before the desktop it runs in.
        if let Ok(mut app) = self.app.try_borrow_mut() {
            drop(app.take());
        }
    }
}

/// Where pictures of the app go.
pub fn pictures() -> PathBuf {
    target().join("screenshots")
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_countersign")).ancestors().nth(2).expect("the target folder").to_owned()
}

/// The page of a window.
pub struct Page<'s> {
    pub session: &'s Session,
}

/// Finds a visible element by selector and by a part of what assistive technology calls it.
const BY_NAME: &str = r#"
const [selector, name, exact] = arguments;
const plain = (text) => (text ?? "").replace(/\s+/g, " ").trim();
const own = (e) => plain(e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent);
const shown = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
const fits = (e) => exact ? own(e) === name : own(e).includes(name);
return [...document.querySelectorAll(selector)].find((e) => shown(e) && fits(e)) ?? null;"#;

impl<'s> Page<'s> {
    /// A visible button, by a part of its name.
    #[track_caller]
    pub fn button(&self, name: &str) -> Element<'s> {
        self.named("button, [role=button]", name, false)
    }

    /// A visible element, by selector and name.
    #[track_caller]
    pub fn named(&self, selector: &str, name: &str, exact: bool) -> Element<'s> {
        wait(&format!("{selector} called \"{name}\" on a page that says:\n{}", self.text()), || self.find(selector, name, exact))
    }

    /// The same without waiting.
    pub fn find(&self, selector: &str, name: &str, exact: bool) -> Option<Element<'s>> {
        self.session.find(BY_NAME, json!([selector, name, exact])).ok().flatten()
    }

    /// Whether a visible button with this name exists now.
    pub fn has_button(&self, name: &str) -> bool {
        self.find("button, [role=button]", name, false).is_some()
    }

    /// Opens the cart unless it is open. A wide window opens it by itself, perhaps just now.
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

    /// Clicks a button; tried again while it moves or is covered.
    #[track_caller]
    pub fn click(&self, name: &str) {
        wait(&format!("a click on \"{name}\""), || {
            let button = self.button(name);
            match button.click() {
                // The driver may never answer for a click that closed its window: the button is gone then, and what the click was to
                // do is asserted behind it.
                Err(error) if error.is_silence() => (!self.has_button(name)).then_some(()),
                // Something that floats may lie above it, as it may for a person, who then scrolls.
                Err(_) => button.to_the_middle().and_then(|()| button.click()).ok(),
                Ok(()) => Some(()),
            }
        });
    }

    /// All text of the page.
    pub fn text(&self) -> String {
        self.script("return document.body?.innerText ?? '';").as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page says something.
    #[track_caller]
    pub fn says(&self, text: &str) {
        wait(&format!("\"{text}\""), || self.text().contains(text).then_some(()));
    }

    /// Runs a script without arguments; null when it fails.
    pub fn script(&self, script: &str) -> Value {
        self.session.run(script, json!([])).unwrap_or_default()
    }

    /// Goes to a view by its entry in the rail.
    #[track_caller]
    pub fn go(&self, view: &str) {
        wait(&format!("the way to {view}"), || self.named("nav button, nav a", view, false).click().ok());
    }

    /// Types a message and sends it.
    #[track_caller]
    pub fn send(&self, text: &str) {
        let field = self.named("textarea", "Message", true);
        field.click().expect("the message field can be clicked");
        field.send(text).expect("the message field takes text");
        self.session.press(&[&[key::ENTER]]).expect("Enter");
    }

    /// The first of the answers that the newest answer suggests.
    #[track_caller]
    pub fn first_choice(&self) -> Element<'s> {
        self.at_rest("[role=group][aria-label=\"Suggested answers\"] button")
    }

    /// The first visible element of a selector, once it has rested at its place for a moment. A click goes to a place, and the end of
    /// an answer still scrolls.
    #[track_caller]
    pub fn at_rest(&self, selector: &str) -> Element<'s> {
        let script = "const found = document.querySelector(arguments[0]); const at = found?.getBoundingClientRect().top; const now = performance.now(); \
                      if (!window.seen || at !== window.seen.at) window.seen = { at, since: now }; \
                      return at !== undefined && now - window.seen.since >= 400 ? found : null;";
        wait(&format!("{selector} at rest on a page that says:\n{}", self.text()), || self.session.find(script, json!([selector])).ok().flatten())
    }

    /// Chooses in a list by its label.
    #[track_caller]
    pub fn choose(&self, label: &str, value: &str) {
        let script = "const field = [...document.querySelectorAll('label')].find((l) => l.innerText.trim() === arguments[0])?.control; \
                      if (!field) return false; field.value = arguments[1]; field.dispatchEvent(new Event('change', { bubbles: true })); return true;";
        wait(&format!("the list {label}"), || (self.session.run(script, json!([label, value])).ok()? == json!(true)).then_some(()));
    }

    /// Types into the field with this label, in place of what is there.
    #[track_caller]
    pub fn fill(&self, label: &str, text: &str) {
        let script = "return [...document.querySelectorAll('label')].find((l) => l.innerText.trim() === arguments[0])?.control ?? null;";
        let field = wait(&format!("the field {label}"), || self.session.find(script, json!([label])).ok().flatten());
        field.clear().expect("emptied");
        field.send(text).expect("typed");
    }

    /// How many complete answers are shown.
    pub fn answers(&self) -> u64 {
        self.script("return document.querySelectorAll('[role=log] article:not([aria-busy])').length;").as_u64().unwrap_or(0)
    }

    /// Waits for a complete answer beyond the first `before`, with nothing running; the newest answer's text comes back.
    #[track_caller]
    pub fn answer_after(&self, before: u64) -> String {
        wait("the answer to be complete", || (self.answers() > before && !self.runs()).then_some(()));
        let script = "return [...document.querySelectorAll('[role=log] article')].at(-1)?.innerText ?? '';";
        self.script(script).as_str().unwrap_or_default().to_owned()
    }

    /// Whether a turn runs, and can be stopped. What was stopped has a button, too, by a longer name.
    pub fn runs(&self) -> bool {
        self.find("button", "Stop", true).is_some()
    }

    /// Waits until no turn runs.
    #[track_caller]
    pub fn idle(&self) {
        wait("the turn to end", || (!self.runs()).then_some(()));
    }

    /// The name of the element with the focus; empty when nothing has it.
    pub fn focus(&self) -> String {
        let script = "const e = document.activeElement; if (e === document.body) return ''; return (e?.getAttribute('aria-label') ?? e?.textContent ?? '').replace(/\\s+/g, ' ').trim();";
        self.script(script).as_str().unwrap_or_default().to_owned()
    }
}
