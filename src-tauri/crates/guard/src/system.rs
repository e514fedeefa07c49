//! The system calls of a guard, and the fork that creates the guard: all unsafe code of the guard.
//! The decisions are in `watch`. After the fork, no code here may allocate, lock, panic or use
//! anything but the stack and system calls.

use std::{
    io, mem,
    os::{
        fd::{AsRawFd, OwnedFd, RawFd},
        unix::process::CommandExt,
    },
    process::Command,
    ptr,
};

use super::{lineage, memory::Stretches};

/// The guard's only open files: the connection to the app, the notifications about children, and
/// `/proc`.
const LINE: RawFd = 0;
const NEWS: RawFd = 1;
const PROC: RawFd = 2;

/// More bytes of stack than a guard's own calls use.
const STACK: usize = 24 * 1024;

/// The function that a guard runs after the fork, with the process ids of guard and program. The
/// restrictions of this file apply to the function.
pub(super) type Life = fn(i32, i32) -> !;

/// A message from the app.
pub(super) enum Line {
    Signal(u8),
    Quiet,
    Cut,
}

/// The result of waiting for a child.
pub(super) enum ReapOutcome {
    One { id: i32, status: i32 },
    NoneYet,
    NoneLeft,
}

/// Returns the addresses that a guard started by this thread needs: its stack, the thread's own
/// variables, its code and the C library's.
pub(super) fn needed_addresses(life: Life) -> [usize; 8] {
    let stack = 0_u8;
    // SAFETY: the call returns the address of this thread's error number and has no precondition.
    let error = unsafe { libc::__errno_location() };
    // SAFETY: the call has no precondition; with the C libraries of Linux it returns the address of
    // the thread's own data.
    let thread = unsafe { libc::pthread_self() };
    // Older C libraries consist of two files, so addresses in both are needed: `read` and `waitpid`
    // are in libpthread, `poll` and `syscall` in libc.
    let [read, wait, poll, call] = [
        libc::read as *const (),
        libc::waitpid as *const (),
        libc::poll as *const (),
        libc::syscall as *const (),
    ];
    [
        &raw const stack as usize,
        error as usize,
        thread as usize,
        life as usize,
        read as usize,
        wait as usize,
        poll as usize,
        call as usize,
    ]
}

/// Makes the new process fork a guard before it becomes the program.
pub(super) fn before_exec(command: &mut Command, line: OwnedFd, unneeded: Stretches, life: Life) {
    // SAFETY: between fork and exec, and in the guard until its end, only system calls are made; no
    // code allocates or takes a lock.
    unsafe { command.pre_exec(move || fork_guard(line.as_raw_fd(), &unneeded, life)) };
}

/// Forks. Returns only in the process that becomes the program; the other one becomes the guard.
fn fork_guard(line: RawFd, unneeded: &Stretches, life: Life) -> io::Result<()> {
    // SAFETY: the calls change this process only; the sets are initialised before use; the process
    // has one thread, so the copy that clone makes is complete. clone is called directly because
    // libc's fork runs handlers and takes locks.
    unsafe {
        // Starts a new session, so that signals of the terminal no longer reach this process. The
        // call fails for a group leader, which these signals do not reach anyway.
        libc::setsid();
        check_result(libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong))?;
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let (mut all, mut child, mut before): (libc::sigset_t, libc::sigset_t, libc::sigset_t) =
            (mem::zeroed(), mem::zeroed(), mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::sigemptyset(&raw mut child);
        libc::sigaddset(&raw mut child, libc::SIGCHLD);
        check_result(libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before))?;
        let news = check_result(libc::signalfd(
            -1,
            &raw const child,
            libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
        ))?;
        let proc = check_result(libc::open(
            c"/proc".as_ptr(),
            libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC,
        ))?;
        let guard = libc::getpid();
        // The guard gets its name before the program exists, so that the program never runs below a
        // guard without this name. The program inherits the name, but exec replaces it.
        libc::prctl(libc::PR_SET_NAME, lineage::NAME.as_ptr());
        let none: libc::c_long = 0;
        let program = libc::syscall(
            libc::SYS_clone,
            libc::c_long::from(libc::SIGCHLD),
            none,
            none,
            none,
            none,
        );
        match i32::try_from(program) {
            Ok(0) => {
                check_result(libc::sigprocmask(
                    libc::SIG_SETMASK,
                    &raw const before,
                    ptr::null_mut(),
                ))?;
                become_program(line, guard)
            }
            Ok(program) if program > 0 => {
                // This is a copy on the stack, because the original is in memory that the guard
                // unmaps.
                let life = ptr::read_volatile(&raw const life);
                become_guard(line, news, proc, unneeded);
                life(guard, program)
            }
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn become_program(line: RawFd, guard: i32) -> io::Result<()> {
    // SAFETY: the calls change this process only; the written bytes are a live array.
    unsafe {
        check_result(libc::setpgid(0, 0))?;
        // If the guard is killed, at least the program is killed with it. This works because the
        // guard has one thread.
        check_result(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong))?;
        if libc::getppid() != guard {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        // The program and its children cannot undo this setting, so they can be recognised even
        // after they have killed their guard.
        let (yes, no): (libc::c_ulong, libc::c_ulong) = (1, 0);
        check_result(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, yes, no, no, no))?;
        // Libraries of the app may have left files open. Kernels before 5.11 do not know this call.
        libc::syscall(
            libc::SYS_close_range,
            3 as libc::c_ulong,
            libc::c_ulong::from(u32::MAX),
            libc::c_ulong::from(libc::CLOSE_RANGE_CLOEXEC),
        );
        let id = libc::getpid().to_ne_bytes();
        if libc::write(line, id.as_ptr().cast(), id.len()) != id.len().cast_signed() {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Closes all files and unmaps all memory that the guard does not need. `unneeded` must not be used
/// afterwards.
fn become_guard(line: RawFd, news: RawFd, proc: RawFd, unneeded: &Stretches) {
    // SAFETY: the calls change this process only. Unmapped memory is not used again, because the
    // caller only runs `life`, which never returns and only needs the stack and the mappings of
    // `needed_addresses`. The list itself, which is on the heap, is copied first.
    unsafe {
        libc::dup2(line, LINE);
        libc::dup2(news, NEWS);
        libc::dup2(proc, PROC);
        close_from(3);
        libc::chdir(c"/".as_ptr());
        // Prevents core files and other processes from reading the rest of the app's memory.
        libc::prctl(libc::PR_SET_DUMPABLE, 0 as libc::c_ulong);
        let unneeded = ptr::read_volatile(unneeded);
        // If this is another thread than the one that called `needed_addresses`, the list could
        // contain the current stack. Then nothing is unmapped.
        let stack = &raw const unneeded as usize;
        if !unneeded.contains(stack) && !unneeded.contains(stack - STACK) {
            for (start, end) in unneeded.0 {
                if end > start {
                    libc::munmap(start as *mut libc::c_void, end - start);
                }
            }
        }
    }
}

fn close_from(first: RawFd) {
    // SAFETY: the calls only close files of this process, which does not use them.
    unsafe {
        if libc::syscall(
            libc::SYS_close_range,
            first as libc::c_ulong,
            libc::c_ulong::from(u32::MAX),
            0 as libc::c_ulong,
        ) == 0
        {
            return;
        }
        // Kernels before 5.9 do not know the call.
        let mut limit: libc::rlimit = mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        for file in first..i32::try_from(limit.rlim_cur.min(1 << 20)).unwrap_or(1 << 20) {
            libc::close(file);
        }
    }
}

fn check_result(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Waits for a message or a notification about a child, for at most `millis`.
pub(super) fn wait_for_news(millis: Option<i32>) {
    let mut waiting = [
        libc::pollfd { fd: NEWS, events: libc::POLLIN, revents: 0 },
        libc::pollfd { fd: LINE, events: libc::POLLIN, revents: 0 },
    ];
    // A closed connection is always readable and would end every timed wait at once.
    let count = if millis.is_some() { 1 } else { 2 };
    // SAFETY: both buffers are live arrays of the lengths given.
    unsafe {
        libc::poll(waiting.as_mut_ptr(), count, millis.unwrap_or(-1));
        let mut news: [libc::signalfd_siginfo; 4] = mem::zeroed();
        libc::read(NEWS, news.as_mut_ptr().cast(), size_of_val(&news));
    }
}

/// Reads the app's next message without waiting.
pub(super) fn read_line() -> Line {
    let mut signal = 0_u8;
    // SAFETY: the buffer is one live byte.
    let read = unsafe { libc::recv(LINE, (&raw mut signal).cast(), 1, libc::MSG_DONTWAIT) };
    match read {
        1 => Line::Signal(signal),
        0 => Line::Cut,
        _ if [libc::EAGAIN, libc::EINTR].contains(&last_errno()) => Line::Quiet,
        _ => Line::Cut,
    }
}

fn last_errno() -> i32 {
    // SAFETY: the address is that of this thread's error number, which is valid as long as the
    // thread.
    unsafe { *libc::__errno_location() }
}

/// Sends a signal to a process or, if the id is negative, to a process group.
pub(super) fn kill(id: i32, signal: i32) {
    // SAFETY: the call has no precondition.
    unsafe { libc::kill(id, signal) };
}

/// Reaps one child that has ended, if there is one.
pub(super) fn reap() -> ReapOutcome {
    let mut status = 0;
    // SAFETY: the status is a live integer.
    match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
        0 => ReapOutcome::NoneYet,
        id if id > 0 => ReapOutcome::One { id, status },
        _ => ReapOutcome::NoneLeft,
    }
}

/// Calls `each` with the name of every entry of `/proc`.
pub(super) fn for_each_process(mut each: impl FnMut(&[u8])) {
    const RECORD: usize = 19;
    let mut entries = [0_u8; 4096];
    // SAFETY: the descriptor is the guard's own.
    unsafe { libc::lseek(PROC, 0, libc::SEEK_SET) };
    loop {
        // SAFETY: the descriptor is the guard's own; the buffer is a live array of the length
        // given.
        let read = unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                libc::c_long::from(PROC),
                entries.as_mut_ptr(),
                entries.len(),
            )
        };
        let mut rest =
            usize::try_from(read).ok().and_then(|read| entries.get(..read)).unwrap_or_default();
        if rest.is_empty() {
            return;
        }
        // A directory record: inode and offset (8 bytes each), record length (2), type (1), name
        // and a zero byte.
        while let Some([low, high]) = rest.get(16..18) {
            let length = usize::from(u16::from_ne_bytes([*low, *high]));
            if let Some(name) =
                rest.get(RECORD..length).and_then(|name| name.split(|byte| *byte == 0).next())
            {
                each(name);
            }
            rest = rest.get(length.max(RECORD)..).unwrap_or_default();
        }
    }
}

/// Reads the beginning of a file below `/proc`. The path ends with a zero byte. Returns an empty
/// slice if the file cannot be read.
pub(super) fn read_file<'a>(path: &[u8], buffer: &'a mut [u8]) -> &'a [u8] {
    if !path.contains(&0) {
        return &[];
    }
    // SAFETY: the path ends within its slice, the length is that of the buffer, and the file is
    // closed where it was opened.
    let read = unsafe {
        let file = libc::openat(PROC, path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return &[];
        }
        let read = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
        libc::close(file);
        read
    };
    usize::try_from(read).ok().and_then(|read| buffer.get(..read)).unwrap_or_default()
}

/// Ends this process with the same status or signal as the program.
pub(super) fn end_as(status: i32) -> ! {
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        // SAFETY: the calls change this process only; the set and the action are initialised before
        // use.
        unsafe {
            let default: libc::sigaction = mem::zeroed();
            libc::sigaction(signal, &raw const default, ptr::null_mut());
            let mut only: libc::sigset_t = mem::zeroed();
            libc::sigemptyset(&raw mut only);
            libc::sigaddset(&raw mut only, signal);
            libc::sigprocmask(libc::SIG_UNBLOCK, &raw const only, ptr::null_mut());
            libc::kill(libc::getpid(), signal);
        }
    }
    let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 1 };
    // SAFETY: the call ends the process without running any of the app's code.
    unsafe { libc::_exit(code) }
}
