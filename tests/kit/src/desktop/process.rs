//! Child processes of a test. Each writes to its own log and ends with the test, also if the test
//! is killed.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    os::{fd::AsRawFd, unix::process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

use crate::webdriver::wait;

/// A running program. Dropping this value ends the program.
pub struct Child(std::process::Child);

impl Child {
    /// Starts a program whose output goes to `<logs>/<name>`.
    pub fn start(mut command: Command, name: &str, logs: &Path) -> Self {
        Self(spawn(&mut command, name, logs))
    }

    /// Starts a program with text on its standard input.
    pub fn start_with_input(mut command: Command, name: &str, logs: &Path, input: &str) -> Self {
        command.stdin(Stdio::piped());
        let mut child = spawn(&mut command, name, logs);
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes()).expect("the program reads its input");
        }
        Self(child)
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether the program still runs.
    pub fn running(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        signal(self.id(), libc::SIGTERM);
        for _ in 0..50 {
            if !self.running() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spawn(command: &mut Command, name: &str, logs: &Path) -> std::process::Child {
    let log = File::options().create(true).append(true).open(logs.join(name)).expect("a log file");
    command.stdout(log.try_clone().expect("a log file")).stderr(log);
    end_with_us(command);
    command
        .spawn()
        .unwrap_or_else(|error| panic!("{name} does not start ({error}); run `make setup-test`"))
}

fn end_with_us(command: &mut Command) {
    // SAFETY: prctl is async-signal-safe and affects only the new process.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

/// Starts Xvfb, which finds a free display number itself.
pub(super) fn start_display(logs: &Path) -> (Child, String) {
    let (read, write) = std::io::pipe().expect("a pipe");
    let inherited = write.as_raw_fd();
    let mut command = Command::new("Xvfb");
    command.arg("-displayfd").arg(inherited.to_string());
    command
        .args(["-screen", "0", "2560x1440x24", "-nolisten", "tcp", "-noreset"])
        .stdin(Stdio::null());
    // SAFETY: fcntl is async-signal-safe; the descriptor is open until after the spawn.
    unsafe {
        command.pre_exec(move || {
            if libc::fcntl(inherited, libc::F_SETFD, 0) < 0 {
                Err(std::io::Error::last_os_error())
            } else {
                Ok(())
            }
        });
    }
    let child = Child::start(command, "Xvfb", logs);
    drop(write);
    let mut number = String::new();
    BufReader::new(read).read_line(&mut number).expect("Xvfb tells its display");
    assert!(
        !number.trim().is_empty(),
        "Xvfb did not start: {}",
        fs::read_to_string(logs.join("Xvfb")).unwrap_or_default()
    );
    (child, format!(":{}", number.trim()))
}

/// Sends a signal to a process that this test started.
pub(super) fn signal(process: u32, signal: i32) {
    if let Ok(process) = libc::pid_t::try_from(process) {
        // SAFETY: kill has no memory effects; the id is that of a child of this test.
        unsafe { libc::kill(process, signal) };
    }
}

/// Whether a process exists and is not a zombie.
pub fn is_alive(process: u32) -> bool {
    stat(process).is_some_and(|(state, _)| state != 'Z')
}

/// Returns all living descendants of a process.
pub fn descendants(process: u32) -> Vec<u32> {
    let all: Vec<(u32, u32)> = fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|id| {
            stat(id).filter(|(state, _)| *state != 'Z').map(|(_, parent)| (id, parent))
        })
        .collect();
    let mut found = vec![process];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(all.iter().filter(|(_, p)| *p == parent).map(|(id, _)| *id));
        next += 1;
    }
    found.split_off(1)
}

/// Returns the state and parent of a process.
fn stat(process: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = text.get(text.rfind(')')? + 2..)?.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Returns the program of a process, as it was started.
pub fn program(process: u32) -> Option<String> {
    let line = fs::read(format!("/proc/{process}/cmdline")).ok()?;
    Some(String::from_utf8_lossy(line.split(|byte| *byte == 0).next()?).into_owned())
}

/// Waits until a process has ended.
pub(super) fn wait_gone(process: u32) {
    wait("the process to end", || (!is_alive(process)).then_some(()));
}
