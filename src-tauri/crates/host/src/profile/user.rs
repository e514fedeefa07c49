//! The user that runs this process. The system is asked, because environment variables can contain
//! anything.

/// Returns the id of the user that this process runs as.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: geteuid takes no arguments, changes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Returns the name of the user that runs this process, according to the system.
pub(crate) fn user_name() -> Option<String> {
    let mut buffer = vec![0_u8; 16 << 10];
    let mut found = std::ptr::null_mut();
    // SAFETY: `passwd` is a struct of integers and pointers, for which zero bytes are valid.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    // SAFETY: all pointers are valid for the call, and the length is that of the buffer.
    let failed = unsafe {
        libc::getpwuid_r(
            effective_user(),
            &raw mut entry,
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            &raw mut found,
        )
    };
    if failed != 0 || found.is_null() || entry.pw_name.is_null() {
        return None;
    }
    // SAFETY: on success, the name is in the buffer and ends with a zero byte.
    let name = unsafe { std::ffi::CStr::from_ptr(entry.pw_name) };
    Some(name.to_string_lossy().into_owned()).filter(|name| !name.is_empty())
}
