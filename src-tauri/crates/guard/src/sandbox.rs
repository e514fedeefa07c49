//! Restricts a program to the folders that it is given (Landlock) and to harmless system calls
//! (seccomp). The program may use only system programs, what it may read and its own folders.
//! Sockets, other processes, file modes and ways around Landlock are denied. The parent prepares
//! the restrictions, so that the child only makes system calls. The module must not know what the
//! program is for.

use std::{
    io,
    os::fd::{AsRawFd as _, OwnedFd, RawFd},
    path::Path,
    sync::OnceLock,
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, NetPort, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::{CallFilter, Permits};

/// Folders that programs need to run. These folders contain no user data and no state of other
/// programs.
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

/// The newest Landlock rights that are requested. An older kernel applies the rights that it
/// supports.
const RIGHTS: ABI = ABI::V9;

/// The first version of Landlock with rules on ports.
const PORTS_SINCE: u32 = 4;

/// The restrictions that are applied to a child between fork and exec.
pub struct Sandbox {
    files: Option<RulesetCreated>,
    calls: Option<CallFilter>,
    /// The rules on files, to which the child adds its own place in `/proc`.
    with_itself: Option<OwnedFd>,
}

/// The rule of Landlock for a place and all below, as the kernel reads it.
#[repr(C, packed)]
struct PlaceRule {
    allowed: u64,
    place: RawFd,
}

/// The kernel's number of rules for places.
const PLACE_RULE: libc::c_int = 1;
/// The kernel's rights to read a file and to list a folder.
const READ_FILE_AND_FOLDER: u64 = (1 << 2) | (1 << 3);

/// Allows the calling process to read its own place in `/proc`. Runs in the child.
fn allow_itself(rules: RawFd) -> io::Result<()> {
    // SAFETY: the path ends with a zero, the rule is live, and the descriptor is closed where it was
    // opened.
    unsafe {
        let place = libc::open(c"/proc/self".as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        if place < 0 {
            return Err(io::Error::last_os_error());
        }
        let rule = PlaceRule { allowed: READ_FILE_AND_FOLDER, place };
        let added =
            libc::syscall(libc::SYS_landlock_add_rule, rules, PLACE_RULE, &raw const rule, 0_u32);
        let error = io::Error::last_os_error();
        libc::close(place);
        if added < 0 { Err(error) } else { Ok(()) }
    }
}

/// The folders of one program, besides those of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Folders<'a> {
    /// The folders and files that the program may read and execute.
    pub run: &'a [&'a Path],
    /// The folders and files that the program may only read.
    pub read: &'a [&'a Path],
    /// The folders in which the program may do everything.
    pub own: &'a [&'a Path],
}

impl Sandbox {
    /// Prepares the restrictions that this kernel supports. Fails if the kernel refuses a
    /// restriction that it supports, so that no program runs with weaker isolation than reported.
    pub fn new(folders: &Folders<'_>, permits: Permits) -> Result<Self, String> {
        Self::with_port(folders, permits, None)
    }

    /// Prepares the same restrictions, and allows connections to this port only, where Landlock has
    /// rules on ports.
    pub fn with_port(
        folders: &Folders<'_>,
        permits: Permits,
        port: Option<u16>,
    ) -> Result<Self, String> {
        let port = port.filter(|_| ports_work());
        let files = (landlock_abi() > 0)
            .then(|| ruleset(folders, port))
            .transpose()
            .map_err(|error| format!("Landlock cannot be applied ({error})"))?;
        let calls = CallFilter::new(permits).map_err(|error| error.to_string())?;
        Ok(Self { files, calls, with_itself: None })
    }

    /// Also lets the program read what the kernel tells about the program itself in `/proc/self`,
    /// such as its limits. The place is found in the child, because it has another one.
    pub fn with_itself(mut self) -> Result<Self, String> {
        let rules = self.files.as_ref().map(RulesetCreated::try_clone).transpose();
        let rules = rules.map_err(|error| format!("Landlock cannot be applied ({error})"))?;
        self.with_itself = rules.and_then(Into::into);
        Ok(self)
    }

    /// Applies the restrictions in the child. The function makes only system calls and does not
    /// allocate.
    pub fn enforce(&mut self) -> io::Result<()> {
        if let Some(rules) = self.with_itself.take() {
            allow_itself(rules.as_raw_fd())?;
        }
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

fn ruleset(folders: &Folders<'_>, port: Option<u16>) -> Result<RulesetCreated, RulesetError> {
    let (read, all) = (AccessFs::from_read(RIGHTS), AccessFs::from_all(RIGHTS));
    let plain = read & !AccessFs::Execute;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(RIGHTS))?;
    if port.is_some() {
        rules = rules.handle_access(AccessNet::from_all(RIGHTS))?;
    }
    let created = rules.create()?;
    let created = match port {
        Some(port) => created.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?,
        None => created,
    };
    created
        .add_rules(path_beneath_rules(SYSTEM, read))?
        .add_rules(path_beneath_rules(READ_ONLY, plain))?
        .add_rules(path_beneath_rules(READ_WRITE, plain | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules(folders.run, read))?
        .add_rules(path_beneath_rules(folders.read, plain))?
        .add_rules(path_beneath_rules(folders.own, all))
}

/// Whether Landlock of this kernel can restrict the ports that a program connects to.
pub fn ports_work() -> bool {
    landlock_abi() >= PORTS_SINCE
}

/// Returns Landlock's version in this kernel, or 0 without Landlock.
pub fn landlock_abi() -> u32 {
    static ABI: OnceLock<u32> = OnceLock::new();
    *ABI.get_or_init(|| {
        // SAFETY: the call only requests the version. It takes a null pointer, a size of zero, and
        // the documented flag.
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
