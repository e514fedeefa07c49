//! A real Redis for tests, on a free port of this computer and in a separate folder. Tests can kill
//! and restart Redis.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use serde_json::Value;

pub(crate) struct Redis {
    folder: tempfile::TempDir,
    port: u16,
    tls: bool,
    child: Child,
}

impl Redis {
    /// Starts a Redis that stores every change before it answers.
    pub(crate) async fn start() -> Self {
        Self::start_with(false).await
    }

    /// Starts a Redis behind TLS, with a certificate for `localhost` from an authority in
    /// `root.pem`.
    pub(crate) async fn start_tls() -> Self {
        Self::start_with(true).await
    }

    async fn start_with(tls: bool) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/tls");
        for (name, label) in [
            ("root", "CERTIFICATE"),
            ("localhost", "CERTIFICATE"),
            ("localhost-key", "PRIVATE KEY"),
        ] {
            let der = std::fs::read(certificates.join(format!("{name}.der"))).unwrap();
            let text = format!(
                "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
                base64::engine::general_purpose::STANDARD.encode(der)
            );
            std::fs::write(folder.path().join(format!("{name}.pem")), text).unwrap();
        }
        let child = run(folder.path(), port, tls);
        let redis = Self { folder, port, tls, child };
        redis.answers().await;
        redis
    }

    pub(crate) fn url(&self) -> String {
        if self.tls {
            format!("rediss://localhost:{}", self.port)
        } else {
            format!("redis://127.0.0.1:{}", self.port)
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Kills Redis, as in a crash.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts Redis again at the same address, with its data.
    pub(crate) async fn back(&mut self) {
        self.child = run(self.folder.path(), self.port, self.tls);
        self.answers().await;
    }

    /// Starts Redis again without its data.
    pub(crate) async fn back_empty(&mut self) {
        std::fs::remove_dir_all(self.folder.path().join("appendonlydir")).unwrap();
        self.back().await;
    }

    async fn answers(&self) {
        while self.try_ask(&["PING"]).is_none_or(|answer| answer.trim() != "PONG") {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    fn try_ask(&self, args: &[&str]) -> Option<String> {
        let mut command = Command::new("redis-cli");
        command.args(["-p", &self.port.to_string()]);
        if self.tls {
            command.args(["-h", "localhost", "--tls", "--cacert"]).arg(self.path("root.pem"));
        }
        command.args(args).stderr(Stdio::null());
        let output = command.output().expect("redis-cli of Debian's redis-tools");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) fn ask(&self, args: &[&str]) -> String {
        self.try_ask(args).unwrap_or_else(|| panic!("Redis answers {args:?}")).trim().to_owned()
    }

    pub(crate) fn json(&self, key: &str) -> Value {
        let text = self.ask(&["GET", key]);
        serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{key} is JSON, but {error}: {text}"))
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self
            .ask(&["KEYS", "*"])
            .lines()
            .map(str::to_owned)
            .filter(|key| !key.is_empty())
            .collect();
        keys.sort();
        keys
    }

    /// Returns the whole content of Redis.
    pub(crate) fn contents(&self) -> String {
        self.keys().iter().map(|key| format!("{key} {}\n", self.ask(&["GET", key]))).collect()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(folder: &Path, port: u16, tls: bool) -> Child {
    let mut command = Command::new("redis-server");
    let port = port.to_string();
    if tls {
        command.args(["--port", "0", "--tls-port", &port, "--tls-auth-clients", "no"]);
        for (option, name) in [
            ("--tls-ca-cert-file", "root.pem"),
            ("--tls-cert-file", "localhost.pem"),
            ("--tls-key-file", "localhost-key.pem"),
        ] {
            command.arg(option).arg(folder.join(name));
        }
    } else {
        command.args(["--port", &port]);
    }
    command.args([
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "yes",
        "--appendfsync",
        "always",
    ]);
    command
        .arg("--dir")
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("redis-server of Debian")
}
