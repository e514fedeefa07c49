//! A user at a desktop with Countersign open, who asks, reads and clicks. One journey runs at a
//! time, each with its own desktop, data folder and session bus. A failed journey leaves
//! screenshots and logs in `target/journeys`.

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    process::Output,
    sync::{Mutex, MutexGuard, PoisonError},
};

use kit::{
    desktop::{App, Desktop},
    webdriver::wait,
};
use serde_json::{Value, json};

pub use crate::page::Page;

/// A Wednesday in the middle of a month, for journeys whose answers depend on the day. Journeys
/// that wait for approvals use the computer's clock, as the page does.
pub const NOW: &str = "2026-11-18T09:30:00Z";

/// Journeys run one at a time, because two desktops at once would be too slow.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A running journey.
pub struct Journey {
    name: &'static str,
    app: RefCell<Option<App>>,
    pub desktop: Desktop,
    variables: Vec<(String, String)>,
    _turn: MutexGuard<'static, ()>,
}

impl Journey {
    /// Starts a desktop with Countersign open, after the first-run page.
    pub fn start(name: &'static str) -> Self {
        Self::with(name, "", &[])
    }

    /// Starts a journey as `start` does, with lines for the settings file and further variables.
    pub fn with(name: &'static str, settings: &str, variables: &[(&str, &str)]) -> Self {
        let journey = Self::prepare(name, variables);
        journey.settings(settings);
        journey.open();
        journey
    }

    /// Creates a desktop on which Countersign has never been started.
    pub fn prepare(name: &'static str, variables: &[(&str, &str)]) -> Self {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = vec![("COUNTERSIGN_LOG".to_owned(), "info,rmcp=warn".to_owned())];
        all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Self {
            name,
            app: RefCell::new(None),
            desktop: Desktop::start(),
            variables: all,
            _turn: turn,
        }
    }

    /// Writes the settings file, in which the first-run page is already answered.
    pub fn settings(&self, lines: &str) {
        let file = self.desktop.data_dir().join("countersign.toml");
        fs::write(file, format!("welcomed = true\nlanguage = \"en\"\ntheme = \"light\"\ntime_zone = \"UTC\"\n{lines}")).expect("settings");
    }

    /// Starts the app.
    pub fn open(&self) {
        let folder = self.desktop.data_dir();
        let arguments = ["--data-dir", folder.to_str().expect("a plain path")];
        let variables: Vec<(&str, &str)> =
            self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let app = App::start(
            &self.desktop,
            Path::new(env!("CARGO_BIN_EXE_countersign")),
            &arguments,
            &variables,
        );
        app.window("main");
        *self.app.borrow_mut() = Some(app);
        wait("the app to answer", || self.call("app_status", json!({})).ok());
    }

    /// Ends the app as logging out does.
    pub fn quit(&self) {
        self.app.borrow_mut().take().expect("the app runs").quit();
    }

    /// Kills the app. Returns the processes that it had started.
    pub fn kill(&self) -> Vec<u32> {
        self.app.borrow_mut().take().expect("the app runs").kill()
    }

    /// Runs code with the running app.
    pub fn with_app<T>(&self, act: impl FnOnce(&App) -> T) -> T {
        act(self.app.borrow().as_ref().expect("the app runs"))
    }

    /// Runs code in the window with this label.
    #[track_caller]
    pub fn within<T>(&self, label: &str, act: impl FnOnce(&Page<'_>) -> T) -> T {
        let app = self.app.borrow();
        let session = app.as_ref().expect("the app runs").window(label);
        act(&Page { session })
    }

    /// Runs code in the chat window.
    #[track_caller]
    pub fn chat<T>(&self, act: impl FnOnce(&Page<'_>) -> T) -> T {
        self.within("main", act)
    }

    /// Runs code in the approval window.
    #[track_caller]
    pub fn approval<T>(&self, act: impl FnOnce(&Page<'_>) -> T) -> T {
        self.within("approval", act)
    }

    /// Confirms a change of settings that the approval window shows.
    #[track_caller]
    pub fn confirm(&self, shown: &str) {
        self.confirm_all(&[shown]);
    }

    /// Confirms several changes that the approval window shows in one sheet.
    #[track_caller]
    pub fn confirm_all(&self, parts: &[&str]) {
        let [shown, ..] = parts else { return };
        self.approval(|page| {
            parts.iter().for_each(|part| page.says(part));
            // Each focus of the window disables the button for a moment, and a click by the driver
            // may focus the window. So a script clicks the button, which has no effect unless the
            // button is enabled.
            wait("the change to be confirmed", || {
                if !page.text().contains(*shown) {
                    return Some(());
                }
                page.script(
                    "[...document.querySelectorAll('[role=alertdialog] button')].at(-1)?.click();",
                );
                None
            });
        });
    }

    /// Calls a command as the chat window's page does.
    pub fn call(&self, command: &str, params: Value) -> Result<Value, Value> {
        self.chat(|_| ());
        self.with_app(|app| app.invoke(command, &json!({ "params": params })))
    }

    /// Sends a message in the chat window and waits for the complete answer. Returns its text.
    #[track_caller]
    pub fn ask(&self, text: &str) -> String {
        self.chat(|page| {
            let before = page.answers();
            page.send(text);
            page.answer_after(before)
        })
    }

    /// Returns the undecided actions, oldest first.
    pub fn pending(&self) -> Vec<Value> {
        let answer =
            self.call("approvals_list", json!({ "include_decided": false })).unwrap_or_default();
        let mut approvals = answer["approvals"].as_array().cloned().unwrap_or_default();
        approvals.retain(|approval| approval["status"] == "pending");
        approvals.sort_by_key(|approval| approval["created_at"].as_str().map(str::to_owned));
        approvals
    }

    /// Returns an action as it is stored now.
    pub fn stored_approval(&self, id: &Value) -> Value {
        let answer =
            self.call("approvals_list", json!({ "include_decided": true })).unwrap_or_default();
        answer["approvals"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|a| a["id"] == *id)
            .cloned()
            .unwrap_or_default()
    }

    /// Returns all items of the newest session.
    pub fn items(&self) -> Vec<Value> {
        let sessions = self.call("sessions_list", json!({})).expect("sessions");
        let session = &sessions["sessions"][0]["id"];
        self.call("session_open", json!({ "session": session })).expect("the session")["items"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    /// Returns the results of a tool in the newest session, oldest first.
    pub fn results(&self, tool: &str) -> Vec<Value> {
        let results = self.items().into_iter().map(|item| item["body"].clone());
        results
            .filter(|body| {
                body["kind"] == "tool_result"
                    && body["tool"].as_str().is_some_and(|id| id.ends_with(tool))
            })
            .collect()
    }

    /// Runs `csign` in this desktop with the app's data folder.
    pub fn csign(&self, args: &[&str]) -> Output {
        self.csign_in(&self.desktop.data_dir(), args)
    }

    /// Runs `csign` with another data folder.
    pub fn csign_in(&self, folder: &Path, args: &[&str]) -> Output {
        let program = kit::programs::program("csign");
        let mut command = self.desktop.command(&program);
        command.envs(self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        command.arg("--data-dir").arg(folder).args(args);
        command
            .output()
            .unwrap_or_else(|error| panic!("{} does not run ({error})", program.display()))
    }

    /// Asserts that the log verifies, according to `csign` without the app.
    #[track_caller]
    pub fn assert_log_verifies(&self) {
        let output = self.csign(&["--json", "audit", "verify"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "the log verifies: {said}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Asserts that no file of the profile contains a secret. Keys and tokens belong in the
    /// keyring.
    #[track_caller]
    pub fn assert_in_no_file(&self, secret: &str) {
        let mut folders = vec![self.desktop.data_dir()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    // The test itself installed the programs of packs, which may contain the
                    // secret.
                    if !path.ends_with("tools") {
                        folders.push(path);
                    }
                } else if let Ok(bytes) = fs::read(&path) {
                    assert!(
                        !bytes.windows(secret.len()).any(|piece| piece == secret.as_bytes()),
                        "{} holds a secret",
                        path.display()
                    );
                }
            }
        }
    }

    /// Saves a screenshot of a look for a person who looks at all of them, if the variable
    /// `JOURNEY_PICTURES` names a folder. Each picture takes about a second.
    pub fn look(&self, file: impl AsRef<Path>) {
        if let Some(folder) = wanted_pictures() {
            self.picture(folder.join(file));
        }
    }

    /// Saves a screenshot of the selected window.
    pub fn picture(&self, file: impl AsRef<Path>) {
        let file = pictures().join(file);
        self.with_app(|app| app.picture(&file))
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
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
                        let _ = fs::write(
                            folder.join(format!("{label}.txt")),
                            text.map_or_else(
                                |e| e.to_string(),
                                |v| v.as_str().unwrap_or_default().to_owned(),
                            ),
                        );
                    }
                }
            }
            let log = self.desktop.log("app");
            let _ = fs::write(folder.join("app.log"), &log);
            eprintln!("--- {}: pictures in {}\n{log}", self.name, folder.display());
        }
        // The app ends before its desktop.
        if let Ok(mut app) = self.app.try_borrow_mut() {
            drop(app.take());
        }
    }
}

/// Returns the folder for pictures of all looks; None if nobody wants them.
pub fn wanted_pictures() -> Option<PathBuf> {
    let folder = std::env::var_os("JOURNEY_PICTURES").filter(|folder| !folder.is_empty())?;
    Some(std::path::absolute(folder).expect("a folder"))
}

/// Returns the folder of the screenshots.
pub fn pictures() -> PathBuf {
    target().join("screenshots")
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_countersign"))
        .ancestors()
        .nth(2)
        .expect("the target folder")
        .to_owned()
}
