//! The programs of these measurements: the model, the shop, and the two servers that are compared.
//! Each is a process of its own, so that its processor time and memory can be measured.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::load::{Kind, turn};
use super::shop::{CLIENT, SCOPE, SECRET, token_url};
use super::wire::Line;
use crate::Outcome;
use crate::turn::program;

/// A running program that listens on an address.
pub(super) struct Program {
    child: Child,
    /// The address, which ends the program's first line of output.
    pub(super) url: String,
    pub(super) started: Instant,
}

impl Program {
    /// Starts the program and waits for the line with its address.
    pub(super) fn start(command: &mut Command) -> Outcome<Self> {
        let started = Instant::now();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let url = line
            .split_whitespace()
            .last()
            .filter(|word| word.starts_with("http://"))
            .map(str::to_owned);
        match url {
            Some(url) => Ok(Self { child, url, started }),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                Err(format!("{command:?} does not say where it listens: {line}").into())
            }
        }
    }

    /// Returns host and port of the address.
    pub(super) fn address(&self) -> &str {
        let rest = self.url.trim_start_matches("http://");
        rest.split('/').next().unwrap_or(rest)
    }

    /// Returns the processor time of all the program's threads so far.
    pub(super) fn cpu(&self) -> Outcome<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in brackets may contain any character.
        let fields: Vec<&str> =
            stat.rsplit_once(')').ok_or("no stat")?.1.split_whitespace().collect();
        let ticks = |at: usize| {
            fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or_default()
        };
        // A tick of `/proc` is a hundredth of a second on every Linux.
        Ok(Duration::from_millis((ticks(11) + ticks(12)) * 10))
    }

    /// Returns the program's resident memory in KiB: the current amount and the peak.
    pub(super) fn memory(&self) -> Outcome<(u64, u64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let of = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
                .unwrap_or_default()
        };
        Ok((of("VmRSS:"), of("VmHWM:")))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The servers that both sides call.
pub(super) struct Servers {
    pub(super) model: Program,
    pub(super) shop: Program,
    folder: tempfile::TempDir,
}

impl Servers {
    pub(super) fn start() -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let model = Program::start(Command::new(std::env::current_exe()?).arg("gateway-model"))?;
        let mut shop = Command::new(program("countersign-shop")?);
        shop.args(["--http", "127.0.0.1:0", "--data-dir"]).arg(folder.path());
        let shop = Program::start(shop.envs([
            ("SHOP_CLIENT_ID", CLIENT),
            ("SHOP_CLIENT_SECRET", SECRET),
            ("SHOP_SCOPE", SCOPE),
        ]))?;
        Ok(Self { model, shop, folder })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// The two servers that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Bare,
    Ours,
}

impl Who {
    pub(super) const BOTH: [Self; 2] = [Self::Bare, Self::Ours];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare loop",
            Self::Ours => "csign serve",
        }
    }

    /// Starts the side with the same servers.
    pub(super) fn start(self, servers: &Servers) -> Outcome<Program> {
        match self {
            Self::Bare => Program::start(Command::new(std::env::current_exe()?).args([
                "gateway-bare",
                &servers.model.url,
                &servers.shop.url,
            ])),
            Self::Ours => Program::start(&mut ours(servers)?),
        }
    }
}

fn ours(servers: &Servers) -> Outcome<Command> {
    let own = |name: &str| -> Outcome<PathBuf> {
        let path = servers.folder().join(name);
        fs::create_dir_all(&path)?;
        Ok(path)
    };
    let log = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(servers.folder().join("serve.log"))?;
    let mut command = Command::new(program("csign")?);
    command
        .arg("--data-dir")
        .arg(own("data")?)
        .args(["serve", "--listen", "127.0.0.1:0", "--no-token"])
        .stderr(log);
    // The program gets no keyring, proxy, collector or other model from the caller's environment.
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", own("home")?)
        .env("XDG_STATE_HOME", own("state")?)
        .env("XDG_RUNTIME_DIR", own("run")?);
    command.envs([
        ("OPENAI_BASE_URL", servers.model.url.as_str()),
        ("OPENAI_API_KEY", "sk-bench-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
    ]);
    command
        .env("NORCE_MCP_BASE_URL", &servers.shop.url)
        .env("NORCE_OAUTH_TOKEN_URL", token_url(&servers.shop.url));
    command.envs([
        ("NORCE_OAUTH_CLIENT_ID", CLIENT),
        ("NORCE_OAUTH_CLIENT_SECRET", SECRET),
        ("NORCE_OAUTH_SCOPE", SCOPE),
    ]);
    Ok(command)
}

/// Measures the time from the start of the process to the end of its first answer.
pub(super) async fn start_to_first_turn(
    who: Who,
    servers: &Servers,
    kind: Kind,
    session: &str,
) -> Outcome<(Program, Duration)> {
    let program = who.start(servers)?;
    let mut line = Line::connect(program.address()).await?;
    turn(&mut line, program.address(), kind, session).await?;
    let took = program.started.elapsed();
    Ok((program, took))
}
