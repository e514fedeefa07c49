//! Executes tools that need no server: one HTTP request, or one program. The engine has checked the
//! call. Turns, approvals and keyrings are handled elsewhere.

mod address;
mod failure;
pub mod http;
mod post;
#[cfg(unix)]
mod process;
#[cfg(unix)]
pub mod program;
mod request;
mod template;

pub use address::{Lookup, SystemLookup};
pub use contract::address::{is_private, may_reach};
pub use http::{HttpRunner, Permit};
pub use post::{ExportingClient, Posted, exporting_client, post};
#[cfg(unix)]
pub use program::{ProgramSetup, run_program};
pub(crate) use template::Template;

use contract::{Isolation, IsolationView, text};

/// Returns how far programs of packs are isolated on this machine.
pub fn isolation() -> IsolationView {
    #[cfg(target_os = "linux")]
    let (abi, seccomp) = (guard::landlock_abi(), guard::filters_work());
    #[cfg(not(target_os = "linux"))]
    let (abi, seccomp) = (0, false);
    let (level, message) = match (abi > 0, seccomp) {
        (true, true) => (
            Isolation::Full,
            text!("Programs of packs see only the system's programs, their pack and a folder of their own (Landlock {abi}), and open no sockets beyond what their pack declares.", abi),
        ),
        (true, false) => (
            Isolation::Partial,
            text!("Programs of packs do not see your files (Landlock {abi}), but this kernel cannot keep them from the network and from other programs' sockets.", abi),
        ),
        (false, true) => (
            Isolation::Partial,
            "Programs of packs can read your files: this kernel has no Landlock. They open no sockets beyond what their pack declares.".into(),
        ),
        (false, false) => (
            Isolation::Limits,
            "Programs of packs run as you, with a bare environment and limits only: this kernel has neither Landlock nor seccomp.".into(),
        ),
    };
    IsolationView { level, landlock_abi: abi, seccomp, message }
}
