//! Tests of guards in front of real programs.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    os::{fd::AsRawFd, unix::process::ExitStatusExt},
    process::{Child, Command, Stdio},
    thread,
};

use super::{CallFilter, Guard, Permits, Sockets, in_child, is_guarded};

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn start(mut command: Command) -> (Child, Guard) {
    let guard = Guard::attach(&mut command).unwrap();
    let child = command.spawn().unwrap();
    (child, guard)
}

#[test]
fn the_end_of_input_and_output_passes_through_the_guard() {
    let (mut child, guard) = start(shell("exec cat"));
    child.stdin.take().unwrap().write_all(b"through").unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), child.wait().unwrap().code()), ("through", Some(0)));
    guard.signal(15);
}

#[test]
fn the_guard_exits_with_the_programs_exit_status_or_signal() {
    for (script, code, signal) in [
        ("exit 0", Some(0), None),
        ("exit 7", Some(7), None),
        ("kill -SEGV $$", None, Some(11)),
        ("kill -TERM $$", None, Some(15)),
    ] {
        let (mut child, _guard) = start(shell(script));
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (code, signal), "{script}");
    }
}

#[test]
fn signals_are_sent_to_the_programs_process_group() {
    let (mut child, guard) = start(shell("sleep 1000 & echo $$; wait; sleep 1000"));
    let program = guard.program_id().unwrap();
    assert_ne!(program, child.id());
    let mut line = [0; 32];
    let read = child.stdout.as_mut().unwrap().read(&mut line).unwrap();
    assert_eq!(std::str::from_utf8(&line[..read]).unwrap().trim().parse(), Ok(program));
    guard.signal(15);
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}

#[test]
fn dropping_the_guard_kills_the_program() {
    let (mut child, guard) = start(shell("trap '' TERM HUP; while :; do sleep 1000; done"));
    drop(guard);
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

#[test]
fn a_program_that_cannot_start_is_an_error() {
    let mut command = Command::new("/nonexistent/program");
    let _guard = Guard::attach(&mut command).unwrap();
    assert_eq!(command.spawn().unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn the_program_inherits_only_its_pipes_and_no_blocked_signals() {
    // This file is left open by mistake, and the program must not get it. Descriptor 3 in the
    // output is the folder that `ls` reads.
    let mistake = File::open("/dev/null").unwrap();
    // SAFETY: the descriptor belongs to this test.
    assert_eq!(unsafe { libc::fcntl(mistake.as_raw_fd(), libc::F_SETFD, 0) }, 0);
    let (mut child, _guard) =
        start(shell("echo $(ls /proc/self/fd) $(grep SigBlk /proc/self/status)"));
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text.trim(), "0 1 2 3 SigBlk: 0000000000000000");
    child.wait().unwrap();
}

#[test]
fn guards_do_not_keep_each_others_pipes_open() {
    let guarded: Vec<(Child, Guard)> = (0..4).map(|_| start(shell("sleep 1000"))).collect();
    // The first guard existed when the other guards were forked. Those guards must not keep its
    // connection or its pipes open.
    for (mut child, guard) in guarded {
        drop(guard);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }
}

#[test]
fn a_guarded_command_can_be_spawned_by_another_thread() {
    let mut command = shell("exit 5");
    let guard = Guard::attach(&mut command).unwrap();
    let mut child = thread::spawn(move || command.spawn().unwrap()).join().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    drop(guard);
}

#[test]
fn dropping_the_guard_kills_all_descendants_of_the_program() {
    let script = r#"for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'trap "" TERM HUP; setsid sleep 1000 & echo up; exec sleep 1000' & done; wait"#;
    let (mut child, guard) = start(shell(script));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.by_ref().take(8).map(Result::unwrap).collect::<String>(), "up".repeat(8));
    drop(guard);
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    assert!(lines.next().is_none(), "all of them held the output, and all are gone");
}

/// Reads the next line as a process id.
fn read_pid(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> i32 {
    lines.next().unwrap().unwrap().trim().parse().unwrap()
}

#[test]
fn every_process_started_by_a_guarded_program_counts_as_guarded() {
    // Three processes are checked: the program, a child in another session whose parent has ended,
    // and a child that killed the guard before any output.
    let (mut child, _guard) =
        start(shell("echo $$; (setsid sh -c 'echo $$; exec sleep 1000' &); wait; exec sleep 1000"));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for who in ["the program", "a daemon"] {
        assert!(is_guarded(read_pid(&mut lines)).unwrap(), "{who}");
    }
    let script = "(setsid sh -c 'kill -9 $0; while grep -qs \"^State:.[^Z]\" /proc/$0/status; do :; done; echo $$; exec sleep 1000' $PPID &); wait; sleep 1000";
    let (mut child, guard) = start(shell(script));
    let id = read_pid(&mut BufReader::new(child.stdout.take().unwrap()).lines());
    child.wait().unwrap();
    assert!(is_guarded(id).unwrap(), "a daemon whose guard was killed");
    // SAFETY: the id was read just now and belongs to the only process that is left of this test.
    unsafe { libc::kill(id, libc::SIGKILL) };
    drop(guard);
    let free = Command::new("/bin/sleep").arg("1000").spawn().unwrap();
    assert!(
        !is_guarded(i32::try_from(free.id()).unwrap()).unwrap(),
        "a child of this process without a guard"
    );
    let mut free = free;
    free.kill().unwrap();
    free.wait().unwrap();
}

#[test]
fn a_program_cannot_change_limits_of_another_process() {
    let permits =
        Permits { sockets: Sockets::All, sessions: true, open_files: true, by_path: true };
    let filter = CallFilter::new(permits).unwrap().expect("this kernel filters system calls");
    let reads_limit = |process: i32| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the structure is live, and no new limit is set.
        unsafe { libc::prlimit(process, libc::RLIMIT_CORE, std::ptr::null(), &raw mut limit) == 0 }
    };
    let app = i32::try_from(std::process::id()).unwrap();
    assert!(reads_limit(app));
    let denied = move || filter.enforce().is_ok() && !reads_limit(app) && reads_limit(0);
    assert!(in_child(denied).unwrap());
}
