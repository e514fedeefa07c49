//! What the kernel keeps a program of a pack from: files beyond the system's programs, its pack and its own folders
//! (Landlock), and sockets, other processes and ways around the first (seccomp). Everything is prepared in the parent; the
//! child only makes the two system calls.

use std::{collections::BTreeMap, io, path::Path, sync::OnceLock};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition, SeccompFilter, SeccompRule, TargetArch};

/// What programs are made of. Nothing of a user, nothing of another program's state.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store"];
/// Settings that libraries read to find others, names and certificates.
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

/// Landlock's newest rights that are asked for; an older kernel gives what it has.
const RIGHTS: ABI = ABI::V6;

/// What is put on a child between fork and exec.
pub(crate) struct Sandbox {
    files: Option<RulesetCreated>,
    calls: Option<BpfProgram>,
}

/// The folders of one run.
pub(crate) struct Folders<'a> {
    /// Read and run.
    pub(crate) pack: &'a Path,
    /// Everything.
    pub(crate) own: &'a [&'a Path],
}

impl Sandbox {
    /// Prepares what this kernel can do. What it can do and refuses is an error: no program runs with less than was told.
    pub(crate) fn new(folders: &Folders<'_>, network: bool) -> Result<Self, String> {
        let files = (landlock_abi() > 0).then(|| ruleset(folders)).transpose().map_err(|error| format!("Landlock cannot be applied ({error})"))?;
        let filter = || filter(network).ok_or("the filter on system calls cannot be built");
        let calls = seccomp_works().then(filter).transpose()?;
        Ok(Self { files, calls })
    }

    /// For the child: no allocation, only system calls.
    pub(crate) fn enforce(&mut self) -> io::Result<()> {
        if let Some(files) = self.files.take() {
            let status = files.restrict_self().map_err(|_| io::Error::from_raw_os_error(libc::EPERM))?;
            if status.ruleset == RulesetStatus::NotEnforced {
                return Err(io::Error::from_raw_os_error(libc::EPERM));
            }
        }
        if let Some(calls) = &self.calls {
            seccompiler::apply_filter(calls).map_err(|_| io::Error::from_raw_os_error(libc::EPERM))?;
        }
        Ok(())
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

/// Landlock's version in this kernel; 0 = none.
pub(crate) fn landlock_abi() -> u32 {
    static ABI: OnceLock<u32> = OnceLock::new();
    *ABI.get_or_init(|| {
        // SAFETY: asks for the version only: no pointer, no size, the flag of the kernel's interface.
        let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, 1_u32) };
        u32::try_from(version).unwrap_or(0)
    })
}

/// Whether this kernel filters system calls for processes without rights.
pub(crate) fn seccomp_works() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let mut action: u32 = libc::SECCOMP_RET_ERRNO;
        // SAFETY: asks whether an action is known; the pointer is to a live u32, as the interface wants it.
        let known = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0_u32, std::ptr::from_mut(&mut action)) };
        known == 0 && TargetArch::try_from(std::env::consts::ARCH).is_ok()
    })
}

/// Reaching into other processes, other namespaces and the kernel; leaving the process group, which is how a run is ended;
/// io_uring, which would open sockets unseen.
const DENIED: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kcmp,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_setsid,
    libc::SYS_setpgid,
];

/// The second way of making each system call on x86_64.
const X32: i64 = 0x4000_0000;

fn filter(network: bool) -> Option<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, sockets(network)?);
    if cfg!(target_arch = "x86_64") {
        let twice: Vec<(i64, Vec<SeccompRule>)> = rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
        rules.extend(twice);
    }
    let denied = SeccompAction::Errno(u32::try_from(libc::EPERM).ok()?);
    let arch = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, arch).ok()?;
    BpfProgram::try_from(filter).inspect_err(|error| tracing::warn!(?error, "the filter on system calls cannot be built")).ok()
}

/// Which sockets are denied: all, or all but those of the internet. A pair within the program itself is no way out.
fn sockets(network: bool) -> Option<Vec<SeccompRule>> {
    if !network {
        return Some(Vec::new());
    }
    let not = |family: i32| SeccompCondition::new(0, Length::Dword, Op::Ne, u64::try_from(family).ok()?).ok();
    let other = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].into_iter().map(not).collect::<Option<Vec<_>>>()?;
    Some(vec![SeccompRule::new(other).ok()?])
}
