//! The program `countersign-shop`: the shop's server. The pack's manifest names it, and people start
//! it to try the gateway with a shop behind an address.

use std::process::ExitCode;

fn main() -> ExitCode {
    keep_private();
    ExitCode::from(shop::run_program())
}

/// Lets only this user read the files of the shop, and prevents a memory dump, which would contain
/// a client's secret.
fn keep_private() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: umask takes a number and cannot fail. The structure is live, and a limit can always be
    // lowered.
    unsafe {
        libc::umask(0o077);
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
    }
}
