//! Runs the guide "Write a pack in ten minutes" as a shell script: writes its files, runs its
//! commands, and checks that they print the lines that the guide shows. This module knows the
//! guide's form (fenced blocks) and none of its content.

use std::{fmt::Write as _, net::TcpListener, path::Path, process::Command};

/// The port that the guide names for its demo server.
const PORT: &str = "8787";

/// The guide, ready to run.
pub struct Guide {
    script: String,
    /// The lines that the commands of each step must print, each with the number of its step.
    expected: Vec<(usize, String)>,
    /// The port used instead of the guide's own, so that tests do not collide.
    pub port: u16,
}

impl Guide {
    /// Reads the guide from a file.
    #[track_caller]
    pub fn read(readme: &Path) -> Self {
        let readme = std::fs::read_to_string(readme).expect("the guide is there");
        let guide = readme
            .split("## Write a pack in ten minutes")
            .nth(1)
            .and_then(|rest| rest.split("\n## ").next())
            .expect("the guide has its heading");
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        let mut script = "set -eu\ntrap 'kill \"${SERVER:-}\" 2>/dev/null' EXIT\n".to_owned();
        let (mut expected, mut step) = (Vec::new(), 0);
        for (info, text) in blocks(&guide.replace(PORT, &port.to_string())) {
            match info.split_once(" file=") {
                Some((_, file)) => {
                    write!(script, "cat > {file} <<'END_OF_FILE'\n{text}END_OF_FILE\n")
                        .expect("written")
                }
                None if info == "sh" => {
                    step += 1;
                    write!(script, "echo '=== {step}'\n{text}").expect("written");
                    if text.contains("demo_server.py") {
                        // The script waits for the server. A person needs no such line, because a
                        // server starts faster than a person continues.
                        writeln!(script, "SERVER=$!\nuntil python3 -c 'import urllib.request as u; u.urlopen(\"http://127.0.0.1:{port}/rooms\")' 2>/dev/null; do sleep 0.05; done")
                            .expect("written");
                    }
                }
                None => expected.extend(text.lines().map(|line| (step, line.to_owned()))),
            }
        }
        assert!(step >= 5 && expected.len() >= 4, "the guide has its steps");
        Self { script, expected, port }
    }

    /// Runs the guide in a shell that finds `csign`. Asserts that every promised line is printed
    /// and that the demo server has ended.
    #[track_caller]
    pub fn follow(&self, mut shell: Command, repository: &Path) {
        let ran =
            shell.current_dir(repository).args(["-c", &self.script]).output().expect("a shell");
        let (out, err) =
            (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{}\n--- {out}\n--- {err}", self.script);
        for (step, line) in &self.expected {
            let said = out
                .split(&format!("=== {step}\n"))
                .nth(1)
                .and_then(|rest| rest.split("\n=== ").next())
                .unwrap_or_default();
            assert!(said.contains(line), "step {step} prints {line:?}:\n{said}\n{err}");
        }
    }
}

/// Returns the fenced blocks: the text after the fence, and the content.
fn blocks(guide: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in guide.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.to_owned(), String::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}
