//! The guide "Write a pack in ten minutes" followed to the letter: its files are written, its commands run in one shell, and
//! what it says they print is what they print. Only the demo server's port is another one, so that tests do not meet.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::Path;

use crate::world::{World, packs, program};

/// A fenced block: what stands behind the fence, and the text.
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

#[test]
fn the_guide_works_as_it_is_written() {
    let readme = std::fs::read_to_string(packs().join("README.md")).expect("the guide is there");
    let guide = readme.split("## Write a pack in ten minutes").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the guide has its heading");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port().to_string();
    let mut script = "set -eu\ntrap 'kill \"${SERVER:-}\" 2>/dev/null' EXIT\n".to_owned();
    let mut expected: Vec<(usize, String)> = Vec::new();
    let mut step = 0;
    for (info, text) in blocks(&guide.replace("8787", &free)) {
        match info.split_once(" file=") {
            Some((_, file)) => write!(script, "cat > {file} <<'END_OF_FILE'\n{text}END_OF_FILE\n").expect("written"),
            None if info == "sh" => {
                step += 1;
                write!(script, "echo '=== {step}'\n{text}").expect("written");
                if text.contains("demo_server.py") {
                    // A person takes longer to read on than a server to start.
                    writeln!(script, "SERVER=$!\nuntil python3 -c 'import urllib.request as u; u.urlopen(\"http://127.0.0.1:{free}/rooms\")' 2>/dev/null; do sleep 0.05; done")
                        .expect("written");
                }
            }
            None => expected.extend(text.lines().map(|line| (step, line.to_owned()))),
        }
    }
    assert!(step >= 5 && expected.len() >= 4, "the guide has its steps");

    let world = World::new();
    let bin = Path::new(program()).parent().expect("a folder").display().to_string();
    let mut shell = world.bare("sh");
    shell.env("PATH", format!("{bin}:/usr/bin:/bin")).env_remove("XDG_DATA_HOME").env_remove("COUNTERSIGN_DATA_DIR");
    let ran = shell.current_dir(packs().join("..")).args(["-c", &script]).output().expect("a shell");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{script}\n--- {out}\n--- {err}");
    for (step, line) in expected {
        let said = out.split(&format!("=== {step}\n")).nth(1).and_then(|rest| rest.split("\n=== ").next()).unwrap_or_default();
        assert!(said.contains(&line), "step {step} prints {line:?}:\n{said}\n{err}");
    }
}
