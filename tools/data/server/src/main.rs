//! The program `csign-data`. The host starts it as an importer, as a query process or as a database
//! process, each with the least rights.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args = match csign_data::args::parse() {
        Ok(args) => args,
        Err(code) => return ExitCode::from(code),
    };
    keep_private();
    limit_memory(args.memory_bytes());
    ExitCode::from(csign_data::args::run(args))
}

/// Lets only this user read the files of the program, and writes no memory to a file if the program
/// ends badly.
fn keep_private() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: umask takes a number and cannot fail. The structure is live, and a limit can always be
    // lowered.
    unsafe {
        libc::umask(0o077);
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
    }
}

/// Limits the memory of the process. The library's own limit does not count all texts: a query such
/// as `SELECT repeat('x', 2000000000)` takes gigabytes in spite of it.
fn limit_memory(most: u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is live. A limit can always be lowered, and a lower one stays.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_DATA, &raw mut limit) == 0 && limit.rlim_cur > most {
            limit.rlim_cur = most;
            limit.rlim_max = limit.rlim_max.min(most);
            libc::setrlimit(libc::RLIMIT_DATA, &raw const limit);
        }
    }
}
