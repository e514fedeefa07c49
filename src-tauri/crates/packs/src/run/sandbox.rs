//! Restricts a program of a pack through the kernel. It may use only system programs, its pack and
//! its own folders (Landlock). Sockets, other processes, file modes and ways around Landlock are
//! denied (seccomp; the guard has the filters). The parent prepares everything; the child only
//! makes system calls.

use std::{io, path::Path, sync::OnceLock};

use guard::{CallFilter, Permits};
use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// Folders that programs need to run. They hold no data of users and no state of other programs.
const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store"];
/// Settings that libraries read to find other libraries, names and certificates.
const READ_ONLY: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/timezone",
    "/run/systemd/resolve",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
];
const READ_WRITE: &[&str] = &["/dev/null", "/dev/full"];

/// The newest Landlock rights that are requested. An older kernel applies those it knows.
const RIGHTS: ABI = ABI::V9;

/// The restrictions that are applied to a child between fork and exec.
pub(crate) struct Sandbox {
    files: Option<RulesetCreated>,
    calls: Option<CallFilter>,
}

/// The folders of one run.
pub(crate) struct Folders<'a> {
    /// The program may read and execute files here.
    pub(crate) pack: &'a Path,
    /// The program may do everything here.
    pub(crate) own: &'a [&'a Path],
}

impl Sandbox {
    /// Prepares the restrictions that this kernel supports. If the kernel supports one but refuses
    /// it, that is an error: no program runs with weaker isolation than is reported.
    pub(crate) fn new(folders: &Folders<'_>, permits: Permits) -> Result<Self, String> {
        let files = (landlock_abi() > 0)
            .then(|| ruleset(folders))
            .transpose()
            .map_err(|error| format!("Landlock cannot be applied ({error})"))?;
        let calls = CallFilter::new(permits).map_err(|error| error.to_string())?;
        Ok(Self { files, calls })
    }

    /// Applies the restrictions. For the child: allocates nothing and makes system calls only.
    pub(crate) fn enforce(&mut self) -> io::Result<()> {
        if let Some(files) = self.files.take() {
            let status =
                files.restrict_self().map_err(|_| io::Error::from_raw_os_error(libc::EPERM))?;
            if status.ruleset == RulesetStatus::NotEnforced {
                return Err(io::Error::from_raw_os_error(libc::EPERM));
            }
        }
        self.calls.as_ref().map_or(Ok(()), CallFilter::enforce)
    }
}

fn ruleset(folders: &Folders<'_>) -> Result<RulesetCreated, RulesetError> {
    let (read, all) = (AccessFs::from_read(RIGHTS), AccessFs::from_all(RIGHTS));
    let plain = read & !AccessFs::Execute;
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(RIGHTS))?
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, read))?
        .add_rules(path_beneath_rules(READ_ONLY, plain))?
        .add_rules(path_beneath_rules(READ_WRITE, plain | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules([folders.pack], read))?
        .add_rules(path_beneath_rules(folders.own, all))
}

/// Returns Landlock's version in this kernel, or 0 without Landlock.
pub(crate) fn landlock_abi() -> u32 {
    static ABI: OnceLock<u32> = OnceLock::new();
    *ABI.get_or_init(|| {
        // SAFETY: asks for the version only: no pointer, no size, the flag of the kernel's
        // interface.
        let version = unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                std::ptr::null::<libc::c_void>(),
                0_usize,
                1_u32,
            )
        };
        u32::try_from(version).unwrap_or(0)
    })
}
