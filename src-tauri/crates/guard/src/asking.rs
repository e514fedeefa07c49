//! The program's part of the help with files: a filter that stops the calls that name files, and
//! the connection that carries the filter's listener to the app. The parent prepares everything;
//! the child only makes system calls. Must not know which files are meant.

use std::{
    io, mem,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    ptr,
};

/// The calls that open, create, remove or rename a file by name. `answering` carries these calls
/// out.
#[cfg(target_arch = "x86_64")]
const CALLS: &[libc::c_long] = &[
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_creat,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rmdir,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
];
#[cfg(not(target_arch = "x86_64"))]
const CALLS: &[libc::c_long] = &[
    libc::SYS_openat,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
];

/// The offset of the call number in the data that a filter reads.
const NUMBER: u32 = 0;

/// The program's end of the connection, together with the filter.
pub struct Asking {
    filter: Vec<libc::sock_filter>,
    line: UnixStream,
}

impl Asking {
    pub(crate) fn new(line: UnixStream) -> Self {
        Self { filter: make_filter(), line }
    }

    /// Installs the filter and sends its listener to the app. Runs in the child, so it allocates
    /// nothing and only makes system calls. If the kernel does not support such filters, the
    /// program continues without help.
    pub fn enforce(&self) -> io::Result<()> {
        let program = libc::sock_fprog {
            len: u16::try_from(self.filter.len()).unwrap_or_default(),
            filter: self.filter.as_ptr().cast_mut(),
        };
        let listens = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        // Without the second flag, a signal could repeat a call that the app has already carried
        // out. Kernels before 5.19 do not know this flag.
        let Some(listener) =
            install(&program, listens | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
                .or_else(|| install(&program, listens))
        else {
            return Ok(());
        };
        let sent = send_descriptor(&self.line, listener);
        // SAFETY: the descriptor was created in this function.
        unsafe { libc::close(listener) };
        // If the listener does not reach the app, an error is returned, because each of the calls
        // would fail.
        sent
    }
}

/// Installs a filter. Returns its listener, or None if the kernel refuses.
fn install(program: &libc::sock_fprog, flags: libc::c_ulong) -> Option<i32> {
    let (yes, no): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: the calls change this process only; the filter is live, and its length is correct.
    let listener = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, yes, no, no, no);
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            ptr::from_ref(program),
        )
    };
    i32::try_from(listener).ok().filter(|listener| *listener >= 0)
}

fn make_filter() -> Vec<libc::sock_filter> {
    let instruction = |code: u32, jt: usize, k: u32| libc::sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt: u8::try_from(jt).unwrap_or_default(),
        jf: 0,
        k,
    };
    let jump = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let back = libc::BPF_RET | libc::BPF_K;
    let mut filter = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, NUMBER)];
    for (at, call) in CALLS.iter().enumerate() {
        let number = u32::try_from(*call).unwrap_or(u32::MAX);
        filter.push(instruction(jump, CALLS.len() - at, number));
    }
    filter.push(instruction(back, 0, libc::SECCOMP_RET_ALLOW));
    filter.push(instruction(back, 0, libc::SECCOMP_RET_USER_NOTIF));
    filter
}

/// Space for a control message with one descriptor.
#[repr(align(8))]
struct Control([u8; 32]);

/// Makes a message of one byte with space for a descriptor. Both parts must outlive the message.
fn make_message(part: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    // SAFETY: the structure is plain data, for which zeros are valid.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = ptr::from_mut(part);
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    // SAFETY: the call only computes a size.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(4) } as _;
    message
}

fn send_descriptor(line: &UnixStream, descriptor: i32) -> io::Result<()> {
    let (mut byte, mut control) = (0_u8, Control([0; 32]));
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let message = make_message(&mut part, &mut control);
    // SAFETY: the message and its parts are live, and there is space for one descriptor.
    let sent = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(header).cast::<i32>().write_unaligned(descriptor);
        libc::sendmsg(line.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL)
    };
    if sent == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Waits for the listener of a program. Returns None if the program ends first or needs no
/// listener.
pub(crate) fn receive_descriptor(line: &UnixStream) -> Option<OwnedFd> {
    let (mut byte, mut control) = (0_u8, Control([0; 32]));
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut message = make_message(&mut part, &mut control);
    // SAFETY: the message and its parts are live. Nobody else owns a received descriptor.
    unsafe {
        let read = libc::recvmsg(line.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC);
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if read != 1 || header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return None;
        }
        Some(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<i32>().read_unaligned()))
    }
}
