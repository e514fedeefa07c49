//! The main loop of a guard: waits for the end of the program or of the app, kills the remaining
//! processes, and ends with the program's status. Runs in a forked process that has unmapped most
//! of its memory, so no code here may allocate, lock, panic or use anything but the stack and
//! system calls.

use super::system::{self, Line, ReapOutcome};

/// After this many rounds in which no process ended, the guard gives up on processes that cannot be
/// killed.
const ROUNDS: u32 = 500;
const ROUND_MILLIS: i32 = 20;

/// The buffer sizes in bytes for the name of a process in `/proc`, and for `stat` up to the parent
/// id.
const NAME: usize = 16;
const STAT: usize = 256;

/// Runs until the program and everything that it started have ended.
pub(super) fn run(guard: i32, program: i32) -> ! {
    let mut ended = None;
    while ended.is_none() {
        system::wait_for_news(None);
        match system::read_line() {
            Line::Signal(signal) => system::kill(-program, i32::from(signal)),
            Line::Quiet => {}
            // The id belongs to the program until the program is reaped.
            Line::Cut => break,
        };
        reap(program, &mut ended);
    }
    if ended.is_none() {
        system::kill(-program, libc::SIGKILL);
    }
    end_all(guard, program, &mut ended);
    system::end_as(ended.unwrap_or(libc::SIGKILL))
}

/// Reaps all children that have ended. Returns whether any child is left, and whether any child was
/// reaped.
fn reap(program: i32, ended: &mut Option<i32>) -> (bool, bool) {
    let mut any = false;
    loop {
        match system::reap() {
            ReapOutcome::One { id, status } => {
                any = true;
                if id == program {
                    *ended = Some(status);
                }
            }
            ReapOutcome::NoneYet => return (true, any),
            ReapOutcome::NoneLeft => return (false, any),
        }
    }
}

/// Kills the children until there are none. The children of a killed child become children of the
/// guard.
fn end_all(guard: i32, program: i32, ended: &mut Option<i32>) {
    let mut quiet = 0;
    while quiet < ROUNDS {
        kill_children(guard);
        let (left, any) = reap(program, ended);
        if !left {
            return;
        }
        if any {
            quiet = 0;
        } else {
            quiet += 1;
            system::wait_for_news(Some(ROUND_MILLIS));
        }
    }
}

fn kill_children(guard: i32) {
    system::for_each_process(|name| {
        let (mut path, mut stat) = ([0; NAME + 6], [0; STAT]);
        if let Some(id) = number(name)
            && stat_path(name, &mut path)
            && parent(system::read_file(&path, &mut stat)) == Some(guard)
        {
            system::kill(id, libc::SIGKILL);
        }
    });
}

/// Writes `NAME/stat` and a zero byte.
fn stat_path(name: &[u8], path: &mut [u8]) -> bool {
    let parts = name.iter().chain(b"/stat\0");
    let mut length = 0;
    for (place, byte) in path.iter_mut().zip(parts) {
        *place = *byte;
        length += 1;
    }
    length == name.len() + 6
}

/// Reads the parent's id from the text of `/proc/PID/stat`. The program's name precedes the id and
/// may contain any characters.
fn parent(stat: &[u8]) -> Option<i32> {
    let after_name = stat.get(stat.iter().rposition(|byte| *byte == b')')?..)?;
    number(after_name.split(|byte| *byte == b' ').nth(2)?)
}

fn number(text: &[u8]) -> Option<i32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_id_is_parsed_for_any_process_name() {
        assert_eq!(parent(b"7 (a) b) (c) S 12 7 7 0 -1"), Some(12));
        assert_eq!(parent(b"7 (cut off"), None);
        assert_eq!(parent(b""), None);
    }

    #[test]
    fn a_stat_path_that_exceeds_the_buffer_is_refused() {
        let mut path = [0; 11];
        assert!(stat_path(b"12345", &mut path));
        assert_eq!(&path, b"12345/stat\0");
        assert!(!stat_path(b"123456", &mut path));
    }
}
