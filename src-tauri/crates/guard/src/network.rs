//! Gives a program a network of its own, in which only one port of the app can be reached. In new
//! user and network namespaces, the child brings the loopback device up, listens on the port, and
//! passes the listening socket to the app, which accepts the connections from outside. This needs
//! no privileges where the system allows such namespaces. The parent prepares everything; the child
//! only makes system calls. The module must not know where the app forwards the connections.

use std::{
    io,
    mem::{self, MaybeUninit},
    net::TcpListener,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd},
        unix::net::UnixStream,
    },
    ptr,
    sync::OnceLock,
};

use crate::{cover::write, in_child};

/// The number of connections that may wait to be accepted.
const WAITING: libc::c_int = 16;
/// Space for one control message with one file descriptor. Aligned as control messages need it.
#[repr(align(8))]
struct Control([u8; 64]);

/// A separate network that is ready to be created in a child.
#[derive(Debug)]
pub(crate) struct OwnNetwork {
    port: u16,
    to_app: OwnedFd,
    user_map: String,
    group_map: String,
}

impl OwnNetwork {
    /// Prepares a network with one port of the app. Returns the app's end of the connection on
    /// which the listening socket arrives.
    pub(crate) fn with_port(port: u16) -> io::Result<(Self, UnixStream)> {
        let (app, child) = UnixStream::pair()?;
        app.set_nonblocking(true)?;
        // SAFETY: both calls take no arguments, change nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        let network = Self {
            port,
            to_app: OwnedFd::from(child),
            user_map: format!("{user} {user} 1\n"),
            group_map: format!("{group} {group} 1\n"),
        };
        Ok((network, app))
    }

    /// Makes the network. Runs in the child, so it allocates nothing and only makes system calls.
    pub(crate) fn enforce(&self) -> io::Result<()> {
        // SAFETY: the calls change this process only; all structures are live.
        unsafe {
            check(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET))?;
            write(c"/proc/self/setgroups", "deny\n")?;
            write(c"/proc/self/uid_map", &self.user_map)?;
            write(c"/proc/self/gid_map", &self.group_map)?;
            raise_loopback()?;
            let listener = listen_on(self.port)?;
            let sent = send_descriptor(self.to_app.as_raw_fd(), listener);
            libc::close(listener);
            sent
        }
    }
}

/// Whether this system lets an unprivileged process make a network of its own. This is tried once,
/// in a child that ends at once.
pub fn own_networks_work() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| match OwnNetwork::with_port(1_024) {
        Ok((network, _app)) => matches!(in_child(move || network.enforce().is_ok()), Ok(true)),
        Err(_) => false,
    })
}

/// Returns the listening socket that a started child has sent.
pub(crate) fn receive_listener(from: &UnixStream) -> io::Result<TcpListener> {
    let mut byte = 0_u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut control = Control([0; 64]);
    // SAFETY: the structures are live for the calls, and the lengths are theirs. The descriptor is
    // new, and nobody else owns it.
    unsafe {
        let mut message: libc::msghdr = MaybeUninit::zeroed().assume_init();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len();
        let read = libc::recvmsg(from.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC);
        if read < 0 {
            return Err(io::Error::last_os_error());
        }
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null()
            || (*header).cmsg_level != libc::SOL_SOCKET
            || (*header).cmsg_type != libc::SCM_RIGHTS
        {
            return Err(io::Error::other("the program sent no socket"));
        }
        let descriptor = ptr::read_unaligned(libc::CMSG_DATA(header).cast::<RawFd>());
        Ok(TcpListener::from_raw_fd(descriptor))
    }
}

/// Brings the loopback device up.
unsafe fn raise_loopback() -> io::Result<()> {
    // SAFETY: the structure is plain data, for which zeros are valid, and it is live.
    unsafe {
        let socket = check(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
        let mut request: libc::ifreq = MaybeUninit::zeroed().assume_init();
        for (place, letter) in request.ifr_name.iter_mut().zip(*b"lo") {
            *place = letter.cast_signed() as libc::c_char;
        }
        let up = libc::IFF_UP | libc::IFF_RUNNING;
        request.ifr_ifru.ifru_flags = up as libc::c_short;
        let raised = check(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request));
        libc::close(socket);
        raised.map(drop)
    }
}

/// Listens on a port of the loopback device.
unsafe fn listen_on(port: u16) -> io::Result<RawFd> {
    // SAFETY: the structures are plain data, for which zeros are valid, and they are live.
    unsafe {
        let socket = check(libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0))?;
        let mut place: libc::sockaddr_in = MaybeUninit::zeroed().assume_init();
        place.sin_family = libc::AF_INET as libc::sa_family_t;
        place.sin_port = port.to_be();
        place.sin_addr.s_addr = u32::to_be(libc::INADDR_LOOPBACK);
        let size = mem::size_of_val(&place) as libc::socklen_t;
        check(libc::bind(socket, (&raw const place).cast(), size))?;
        check(libc::listen(socket, WAITING))?;
        Ok(socket)
    }
}

/// Sends one descriptor to the app.
unsafe fn send_descriptor(to: RawFd, descriptor: RawFd) -> io::Result<()> {
    let byte = 0_u8;
    let mut part = libc::iovec { iov_base: (&raw const byte).cast_mut().cast(), iov_len: 1 };
    let mut control = Control([0; 64]);
    // SAFETY: the structures are live for the calls, and the space is large enough for the header.
    unsafe {
        let size = mem::size_of::<RawFd>() as u32;
        let mut message: libc::msghdr = MaybeUninit::zeroed().assume_init();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size) as usize;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size) as usize;
        ptr::write_unaligned(libc::CMSG_DATA(header).cast::<RawFd>(), descriptor);
        if libc::sendmsg(to, &raw const message, libc::MSG_NOSIGNAL) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
