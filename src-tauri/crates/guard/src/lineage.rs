//! Finds out from `/proc` whether a process runs, or once ran, below a guard. A guard keeps all
//! descendants of its program below itself, and no program can regain the right to gain privileges.
//! The module must not know who asks.

use std::{fs, io};

/// The name of a guard's process. Only the process itself can change its name.
pub(super) const NAME: &std::ffi::CStr = c"csign-guard";

/// More ancestors than any process has in practice.
const GENERATIONS: usize = 1_000;
/// How often the ancestors are read if some of them end in the meantime.
const MAX_READS: usize = 20;

/// The state of a process at one moment, as read from `/proc/PID/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub id: i32,
    name: String,
    parent: i32,
    pub group: i32,
    /// The device number of the controlling terminal, or 0 if there is none.
    pub terminal: i32,
    /// The foreground process group of the controlling terminal.
    pub foreground: i32,
    /// The start time, in clock ticks since the machine started. The id and the start time together
    /// identify a process for good.
    pub started: u64,
}

impl Process {
    /// Reads the process that currently has this id.
    pub fn of(id: i32) -> io::Result<Self> {
        let text = fs::read(format!("/proc/{id}/stat"))?;
        parse(id, &String::from_utf8_lossy(&text)).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "/proc has another form than expected")
        })
    }
}

/// Parses the text of `stat`. The process name is in brackets and may itself contain brackets.
fn parse(id: i32, stat: &str) -> Option<Process> {
    let (name, rest) = (stat.split_once('(')?.1.rsplit_once(')')?.0, stat.rsplit_once(')')?.1);
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<i32>().ok();
    Some(Process {
        id,
        name: name.to_owned(),
        parent: number(1)?,
        group: number(2)?,
        terminal: number(4)?,
        foreground: number(5)?,
        started: fields.get(19)?.parse().ok()?,
    })
}

/// Whether a process runs below a guard of any Countersign instance, or may gain fewer privileges
/// than this process. The second condition also finds processes whose guard was killed. Fails if
/// the process ended, or if its ancestors cannot be read.
pub fn is_guarded(id: i32) -> io::Result<bool> {
    let above = read_stable(|| ancestors_of(id, Process::of))?;
    let below_guard = above.iter().any(|process| process.name.as_bytes() == NAME.to_bytes());
    Ok(below_guard || (may_not_gain_privileges(id)? && !may_not_gain_privileges_here()?))
}

/// Reads the ancestors until two readings agree. When an ancestor ends between two reads, its
/// children get another parent and the ancestor's id may be used again, so a single reading proves
/// nothing.
fn read_stable(mut look: impl FnMut() -> io::Result<Vec<Process>>) -> io::Result<Vec<Process>> {
    let mut last = look();
    for _ in 0..MAX_READS {
        let next = look();
        match (&last, &next) {
            (Ok(one), Ok(other)) if one.iter().map(identity).eq(other.iter().map(identity)) => {
                return next;
            }
            _ => last = next,
        }
    }
    last.and_then(|_| {
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "its ancestors change all the time"))
    })
}

/// The values that stay the same while a process has the same parent.
fn identity(process: &Process) -> (i32, u64, i32, &str) {
    (process.id, process.started, process.parent, &process.name)
}

/// Returns a process and its ancestors, up to the first process of the machine or container.
fn ancestors_of(id: i32, of: impl Fn(i32) -> io::Result<Process>) -> io::Result<Vec<Process>> {
    let mut line: Vec<Process> = Vec::new();
    let mut next = id;
    while next != 0 {
        let process = of(next)?;
        // A parent cannot be younger than its child, so the id now belongs to another process.
        if line.last().is_some_and(|child| child.started < process.started)
            || line.len() == GENERATIONS
        {
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "its ancestors cannot be followed",
            ));
        }
        next = process.parent;
        line.push(process);
    }
    Ok(line)
}

fn may_not_gain_privileges(id: i32) -> io::Result<bool> {
    no_new_privileges(&fs::read_to_string(format!("/proc/{id}/status"))?)
}

fn may_not_gain_privileges_here() -> io::Result<bool> {
    no_new_privileges(&fs::read_to_string("/proc/self/status")?)
}

fn no_new_privileges(status: &str) -> io::Result<bool> {
    let value = status.lines().find_map(|line| line.strip_prefix("NoNewPrivs:"));
    value.map(|value| value.trim() != "0").ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, "/proc has another form than expected")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(id: i32, parent: i32, started: u64) -> Process {
        Process { id, name: "sh".into(), parent, group: id, terminal: 0, foreground: -1, started }
    }

    #[test]
    fn a_process_stat_line_is_parsed_for_any_process_name() {
        let stat = "7 (a) b) (c) S 12 5 4 34817 6 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987 1000";
        let parsed = parse(7, stat).unwrap();
        assert_eq!(
            (parsed.name.as_str(), parsed.parent, parsed.group, parsed.terminal),
            ("a) b) (c", 12, 5, 34817)
        );
        assert_eq!((parsed.foreground, parsed.started), (6, 987));
        assert_eq!(parse(7, "7 (cut off"), None);
    }

    #[test]
    fn a_parent_id_reused_by_a_younger_process_is_not_accepted_as_an_ancestor() {
        let of = |id| Ok(if id == 9 { process(9, 4, 50) } else { process(id, 0, 60) });
        assert!(ancestors_of(9, of).is_err(), "the parent's id was given away");
        let of = |id| Ok(if id == 9 { process(9, 4, 50) } else { process(id, 0, 40) });
        assert_eq!(ancestors_of(9, of).unwrap().len(), 2);
    }

    #[test]
    fn an_ancestry_that_changes_between_two_reads_is_read_again() {
        let mut reads = [
            vec![process(9, 4, 50), process(4, 0, 1)],
            vec![process(9, 3, 50), process(3, 0, 2)],
            vec![process(9, 3, 50), process(3, 0, 2)],
        ]
        .into_iter();
        let line = read_stable(|| Ok(reads.next().unwrap())).unwrap();
        assert_eq!(line[1].id, 3);
        let mut turn = 0;
        let restless = read_stable(|| {
            turn += 1;
            Ok(vec![process(9, turn, 50)])
        });
        assert!(restless.is_err(), "it is never taken for settled");
    }

    #[test]
    fn the_test_process_itself_is_not_guarded() {
        assert!(!is_guarded(i32::try_from(std::process::id()).unwrap()).unwrap());
    }
}
