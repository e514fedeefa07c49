//! The app under test, started by WebKitWebDriver inside a [`Desktop`].

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{Child, Desktop, process};
use crate::webdriver::{PATIENCE, Refused, Session, wait};

/// A running app with its driver.
pub struct App {
    /// The driver, which is dropped after the session.
    driver: Child,
    session: Option<Session>,
    process: u32,
    binary: PathBuf,
}

impl App {
    /// Starts the app and waits for its first window. `variables` are added to those of the
    /// desktop.
    pub fn start(
        desktop: &Desktop,
        binary: &Path,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let port = free_port();
        let mut command = desktop.command("WebKitWebDriver");
        command
            .arg(format!("--port={port}"))
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .envs(variables.iter().copied());
        let driver = Child::start(command, "app", &desktop.folder().join("logs"));
        wait("the driver", || TcpStream::connect(("127.0.0.1", port)).ok());
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let session = Session::start(port, binary, &args).unwrap_or_else(|error| {
            panic!("the app does not start: {error}\n{}", desktop.log("app"))
        });
        let name = binary.to_string_lossy().into_owned();
        let process = wait("the app's process", || {
            process::descendants(driver.id())
                .into_iter()
                .find(|id| process::program(*id).as_deref() == Some(name.as_str()))
        });
        Self { driver, session: Some(session), process, binary: binary.to_owned() }
    }

    /// Returns the session with the driver.
    pub fn session(&self) -> &Session {
        self.session.as_ref().expect("the app runs")
    }

    /// Returns the app's process id.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Returns the app's program.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Selects the window with this label, once it exists.
    #[track_caller]
    pub fn window(&self, label: &str) -> &Session {
        wait(&format!("the window {label}"), || self.select(label).then_some(()));
        self.session()
    }

    /// Selects the window with this label. Returns whether there is one.
    pub fn select(&self, label: &str) -> bool {
        let session = self.session();
        let script = "return window.__TAURI_INTERNALS__?.metadata?.currentWindow?.label ?? null;";
        let handles = session.windows().unwrap_or_default();
        handles.iter().any(|handle| {
            session.select(handle).is_ok()
                && session.run(script, json!([])).is_ok_and(|own| own == label)
        })
    }

    /// Calls a command of the app from the selected page, as the page itself would.
    pub fn invoke(&self, command: &str, arguments: &Value) -> Result<Value, Value> {
        let script = "const [command, args, done] = arguments; \
            window.__TAURI_INTERNALS__.invoke(command, args).then((ok) => done({ ok: ok ?? null }), (error) => done({ error: error ?? null }));";
        let answer = self
            .session()
            .run_async(script, json!([command, arguments]))
            .map_err(|Refused(text)| Value::from(text))?;
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["ok"].clone()),
        }
    }

    /// Ends the app as logging out does, and waits until it has ended.
    pub fn quit(mut self) {
        process::signal(self.process, libc::SIGTERM);
        process::wait_gone(self.process);
        self.end();
    }

    /// Kills the app. Returns the processes that it had started.
    pub fn kill(mut self) -> Vec<u32> {
        let below = process::descendants(self.process);
        process::signal(self.process, libc::SIGKILL);
        process::wait_gone(self.process);
        self.end();
        below
    }

    /// Saves a picture of the selected window.
    pub fn picture(&self, file: &Path) -> Result<(), Refused> {
        // The picture shows the last frame, so the page must draw another one first.
        let drawn = "const done = arguments[arguments.length - 1]; setTimeout(done, 400); \
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));";
        self.session().run_async(drawn, json!([]))?;
        let png = self.session().screenshot()?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| Refused(error.to_string()))?;
        }
        fs::write(file, png).map_err(|error| Refused(error.to_string()))
    }

    fn end(&mut self) {
        if let Some(session) = self.session.take() {
            session.close();
        }
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.end();
        // The driver ends the app with the session. If the app hangs, it is killed here.
        let end = std::time::Instant::now() + PATIENCE / 6;
        while process::is_alive(self.process) {
            if std::time::Instant::now() > end {
                process::signal(self.process, libc::SIGKILL);
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = self.driver.running();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}
