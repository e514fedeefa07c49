//! The system calls that a guarded program is denied, as seccomp filters. The lists are data; the
//! caller chooses which lists apply. The parent prepares everything, and the child only makes the
//! calls that install the filters. The module must not know what the program is for.

use std::{collections::BTreeMap, io, sync::OnceLock};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

/// The rules of a filter by system call. A call without conditions is denied for all arguments.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The permissions of one program in addition to those of every guarded program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permits {
    pub sockets: Sockets,
    /// Whether the program may leave its process group and session, and open processes by
    /// descriptor.
    pub sessions: bool,
    /// Whether the program may change the mode, owner and attributes of files that it has open.
    /// (File times may always be changed.) Landlock decides which files the program can open.
    pub open_files: bool,
    /// Whether the program may also change the mode and times of files by path. Landlock does not
    /// cover these calls, and a filter cannot see which file a path names, so these calls reach
    /// every file of the user that no mount protects. The owner and attributes can never be changed
    /// by path.
    pub by_path: bool,
}

/// The sockets that a program may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sockets {
    All,
    /// Internet sockets, and socket pairs within the program.
    Internet,
    /// Only socket pairs within the program.
    Pairs,
}

/// Filters that are ready to be installed in a child.
pub struct CallFilter(Vec<BpfProgram>);

/// Calls that reach into other processes, other namespaces or the kernel, and io_uring, whose
/// operations a filter cannot see.
const ALWAYS: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
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
    libc::SYS_mount_setattr,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
];

/// Calls that leave the process group, which is used to end a run, or that refer to a process in
/// other ways.
const SESSIONS: &[libc::c_long] =
    &[libc::SYS_setsid, libc::SYS_setpgid, libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal];

/// Calls that change the mode of a file by its path. `utimensat`, which changes times, is added
/// with a condition.
const MODE_BY_PATH: &[libc::c_long] = &[libc::SYS_fchmodat, libc::SYS_fchmodat2];

/// The older calls for mode and times, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const MODE_BY_PATH_OLD: &[libc::c_long] =
    &[libc::SYS_chmod, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
const MODE_BY_PATH_OLD: &[libc::c_long] = &[];

/// Calls that change owner or attributes of a file by its path.
const OWNER_BY_PATH: &[libc::c_long] = &[
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// The older calls for the owner.
#[cfg(target_arch = "x86_64")]
const OWNER_BY_PATH_OLD: &[libc::c_long] = &[libc::SYS_chown, libc::SYS_lchown];
#[cfg(not(target_arch = "x86_64"))]
const OWNER_BY_PATH_OLD: &[libc::c_long] = &[];

/// Calls that change mode, owner and attributes of an open file. Opening the file for reading is
/// enough for these calls.
const BY_DESCRIPTOR: &[libc::c_long] =
    &[libc::SYS_fchmod, libc::SYS_fchown, libc::SYS_fsetxattr, libc::SYS_fremovexattr];

/// `FS_IOC_SETFLAGS` and `FS_IOC_FSSETXATTR`, which also change attributes of an open file.
const BY_IOCTL: [u64; 2] = [0x4008_6602, 0x401c_5820];

/// Calls that the bindings of the C library do not name yet. The call numbers are the same on all
/// architectures.
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const OPEN_TREE_ATTR: libc::c_long = 467;
const FILE_SETATTR: libc::c_long = 469;

/// Flags for new namespaces. `CLONE_NEWTIME` is missing, because `clone` reads that bit as part of
/// a signal.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

impl CallFilter {
    /// Prepares the filters. Returns None if this kernel cannot filter system calls, and an error
    /// if the filters cannot be built.
    pub fn new(permits: Permits) -> io::Result<Option<Self>> {
        if !filters_work() {
            return Ok(None);
        }
        let built = build_filters(permits).map_err(|error| {
            io::Error::other(format!("the filter on system calls cannot be built ({error})"))
        })?;
        Ok(Some(Self(built)))
    }

    /// Installs the filters. Runs in the child, so it allocates nothing and only makes system
    /// calls.
    pub fn enforce(&self) -> io::Result<()> {
        self.0.iter().try_for_each(|filter| {
            seccompiler::apply_filter(filter).map_err(|_| io::Error::from_raw_os_error(libc::EPERM))
        })
    }
}

/// Whether this kernel filters system calls for unprivileged processes.
pub fn filters_work() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let mut action: u32 = libc::SECCOMP_RET_ERRNO;
        // SAFETY: the call asks whether an action is known; the pointer is to a live u32, as the
        // interface requires.
        let known = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_GET_ACTION_AVAIL,
                0_u32,
                std::ptr::from_mut(&mut action),
            )
        };
        known == 0 && TargetArch::try_from(std::env::consts::ARCH).is_ok()
    })
}

fn build_filters(permits: Permits) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    // A filter cannot read the flags of clone3, because they are in memory. If clone3 fails as
    // unknown, C libraries use clone.
    let unknown = Rules::from([(libc::SYS_clone3, Vec::new())]);
    let mut filters =
        vec![filter(denied_calls(permits)?, libc::EPERM)?, filter(unknown, libc::ENOSYS)?];
    filters.extend(second_abi());
    Ok(filters)
}

/// Builds a filter: calls that match the rules fail with the error, all others pass. A call through
/// the 32-bit ABI ends the program.
fn filter(rules: Rules, error: libc::c_int) -> Result<BpfProgram, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(error.unsigned_abs()),
        arch,
    )?
    .try_into()
}

fn denied_calls(permits: Permits) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    let mut deny =
        |calls: &[libc::c_long]| rules.extend(calls.iter().map(|call| (*call, Vec::new())));
    deny(ALWAYS);
    deny(OWNER_BY_PATH);
    deny(OWNER_BY_PATH_OLD);
    if !permits.by_path {
        deny(MODE_BY_PATH);
        deny(MODE_BY_PATH_OLD);
    }
    if !permits.sessions {
        deny(SESSIONS);
    }
    if !permits.open_files {
        deny(BY_DESCRIPTOR);
        let set = |request| condition(1, Length::Dword, Op::Eq, request);
        rules.insert(libc::SYS_ioctl, BY_IOCTL.into_iter().map(set).collect::<Result<_, _>>()?);
    }
    if !permits.by_path {
        // Without a path, the call sets the times of an open file, as `touch` does with a new file.
        rules.insert(libc::SYS_utimensat, vec![condition(1, Length::Qword, Op::Ne, 0)?]);
    }
    // Setting the app's limits is denied, because a program could make the app crash and write its
    // memory to a file.
    rules.insert(libc::SYS_prlimit64, vec![condition(0, Length::Dword, Op::Ne, 0)?]);
    let flag = |flag: libc::c_int| {
        condition(
            0,
            Length::Dword,
            Op::MaskedEq(u64::from(flag.unsigned_abs())),
            u64::from(flag.unsigned_abs()),
        )
    };
    rules.insert(libc::SYS_clone, NAMESPACES.into_iter().map(flag).collect::<Result<_, _>>()?);
    match permits.sockets {
        Sockets::All => return Ok(rules),
        Sockets::Internet => rules.insert(libc::SYS_socket, vec![non_internet_rule()?]),
        Sockets::Pairs => rules.insert(libc::SYS_socket, Vec::new()),
    };
    rules.insert(libc::SYS_socketpair, message_pair_rules()?);
    Ok(rules)
}

fn condition(
    argument: u8,
    length: Length,
    operator: Op,
    value: u64,
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, length, operator, value)?])
}

/// Matches socket pairs for datagrams, because such a socket can also send to any other socket of
/// this computer by its path. (The kernel treats raw socket pairs as datagram pairs.)
fn message_pair_rules() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    const KIND: u64 = 0xf;
    [libc::SOCK_DGRAM, libc::SOCK_RAW]
        .into_iter()
        .map(|kind| condition(1, Length::Dword, Op::MaskedEq(KIND), u64::from(kind.unsigned_abs())))
        .collect()
}

fn non_internet_rule() -> Result<SeccompRule, seccompiler::BackendError> {
    let not = |family: libc::c_int| {
        SeccompCondition::new(0, Length::Dword, Op::Ne, u64::from(family.unsigned_abs()))
    };
    SeccompRule::new(
        [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]
            .into_iter()
            .map(not)
            .collect::<Result<_, _>>()?,
    )
}

/// Builds a filter that denies the second ABI of x86_64 (x32), in which each system call has
/// another number.
fn second_abi() -> Option<BpfProgram> {
    const FIRST: u32 = 0x4000_0000;
    let instruction = |code: u32, jt, k| sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt,
        jf: 0,
        k,
    };
    let (load, jump, back) = (
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K,
        libc::BPF_RET | libc::BPF_K,
    );
    cfg!(target_arch = "x86_64").then(|| {
        vec![
            instruction(load, 0, 0),
            instruction(jump, 1, FIRST),
            instruction(back, 0, libc::SECCOMP_RET_ALLOW),
            instruction(back, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
        ]
    })
}
