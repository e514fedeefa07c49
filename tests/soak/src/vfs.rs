//! The recording VFS: passes every call to SQLite's own VFS, and reports changes of files in a
//! watched folder to its `Disk`. It becomes the default VFS of the process, because the code under
//! test opens its files as usual. Calls for files elsewhere are only passed on. Syncs of watched
//! files are recorded but not executed, because their effect is simulated.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use rusqlite::ffi;

use crate::disk::Disk;

/// The offset of SQLite's own file object behind this one, aligned for any content.
const INNER: usize = size_of::<Recorded>().next_multiple_of(16);
const NAME: &CStr = c"recording";

#[repr(C)]
struct Recorded {
    base: ffi::sqlite3_file,
    /// Null for files outside the watched folders.
    observed: *mut ObservedFile,
}

/// The disk to which a file's changes are reported.
struct ObservedFile {
    disk: Arc<Disk>,
    file: usize,
    /// Whether the next sync also makes the folder's names durable, as SQLite's VFS does for a
    /// journal or write-ahead log that it may create.
    names: bool,
}

fn disks() -> &'static Mutex<Vec<Weak<Disk>>> {
    static DISKS: OnceLock<Mutex<Vec<Weak<Disk>>>> = OnceLock::new();
    DISKS.get_or_init(Mutex::default)
}

/// Begins to report files to the disk.
pub(crate) fn watch(disk: &Arc<Disk>) {
    register();
    let mut all = disks().lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|disk| disk.strong_count() > 0);
    all.push(Arc::downgrade(disk));
}

/// Returns the disk of a path directly in a watched folder, and the file's name there.
fn find(path: *const c_char) -> Option<(Arc<Disk>, String)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: SQLite's names end with a zero byte and live as long as the call.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    let path = Path::new(OsStr::from_bytes(bytes));
    let all = disks().lock().unwrap_or_else(PoisonError::into_inner);
    let disk =
        all.iter().filter_map(Weak::upgrade).find(|disk| path.parent() == Some(disk.folder()))?;
    Some((disk, path.file_name()?.to_string_lossy().into_owned()))
}

fn register() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        // SAFETY: SQLite's default VFS lives as long as the process; the recording one is leaked,
        // so it does too. Every pointer in it stays valid, and registering is guarded by SQLite's
        // own lock.
        unsafe {
            assert_eq!(ffi::sqlite3_initialize(), ffi::SQLITE_OK, "SQLite starts");
            let inner = ffi::sqlite3_vfs_find(std::ptr::null());
            assert!(!inner.is_null(), "SQLite has a VFS");
            let mut vfs = *inner;
            vfs.pNext = std::ptr::null_mut();
            vfs.zName = NAME.as_ptr();
            vfs.szOsFile = c_int::try_from(INNER).expect("small") + (*inner).szOsFile;
            // All other functions of the VFS are SQLite's own. They find their data through
            // `pAppData`.
            vfs.xOpen = Some(open);
            vfs.xDelete = Some(delete);
            vfs.iVersion = vfs.iVersion.min(2);
            let vfs = Box::leak(Box::new(vfs));
            let _ = own().set(Inner(inner));
            assert_eq!(ffi::sqlite3_vfs_register(vfs, 1), ffi::SQLITE_OK, "the VFS is registered");
        }
    });
}

struct Inner(*mut ffi::sqlite3_vfs);
// SAFETY: the VFS is never changed after SQLite's start, and its functions may be called from any
// thread.
unsafe impl Send for Inner {}
// SAFETY: the same reasons apply.
unsafe impl Sync for Inner {}

fn own() -> &'static OnceLock<Inner> {
    static OWN: OnceLock<Inner> = OnceLock::new();
    &OWN
}

fn inner_vfs() -> *mut ffi::sqlite3_vfs {
    own().get().map_or(std::ptr::null_mut(), |inner| inner.0)
}

/// Returns SQLite's own file behind this one.
fn inner(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    file.wrapping_byte_add(INNER)
}

/// Calls a method of SQLite's own file.
macro_rules! pass {
    ($file:expr, $method:ident $(, $arg:expr)*) => {{
        let file = inner($file);
        // SAFETY: `open` filled the file behind this one with SQLite's own methods, which include
        // all of version 2; the arguments are those of this call.
        unsafe { ((*(*file).pMethods).$method.expect("a method of version 2"))(file $(, $arg)*) }
    }};
}

/// Returns the disk of this file, if it is watched.
fn observed<'a>(file: *mut ffi::sqlite3_file) -> Option<&'a mut ObservedFile> {
    // SAFETY: every file with these methods was made by `open`, and SQLite uses a file from one
    // thread at a time.
    unsafe { (*file.cast::<Recorded>()).observed.as_mut() }
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    path: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let found = find(path);
    let exists = found.as_ref().is_some_and(|(disk, name)| disk.folder().join(name).exists());
    let behind = inner(file);
    // SAFETY: SQLite provides `szOsFile` bytes at `file`, enough for this file and that of its own
    // VFS; the other arguments are passed on unchanged.
    unsafe {
        let recorded = file.cast::<Recorded>();
        (*recorded).base.pMethods = std::ptr::null();
        (*recorded).observed = std::ptr::null_mut();
        (*behind).pMethods = std::ptr::null();
        let vfs = inner_vfs();
        let code = ((*vfs).xOpen.expect("a VFS has it"))(vfs, path, behind, flags, out);
        if code != ffi::SQLITE_OK {
            return code;
        }
        if let Some((disk, name)) = found {
            let file = disk.opened(&name, exists);
            let journal = flags
                & (ffi::SQLITE_OPEN_MAIN_JOURNAL
                    | ffi::SQLITE_OPEN_SUPER_JOURNAL
                    | ffi::SQLITE_OPEN_WAL)
                != 0;
            let names = journal && flags & ffi::SQLITE_OPEN_CREATE != 0;
            (*recorded).observed = Box::into_raw(Box::new(ObservedFile { disk, file, names }));
        }
        (*recorded).base.pMethods = &raw const METHODS;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, path: *const c_char, sync: c_int) -> c_int {
    let found = find(path);
    let vfs = inner_vfs();
    let really = if found.is_some() { 0 } else { sync };
    // SAFETY: SQLite's own VFS with the arguments of this call.
    let code = unsafe { ((*vfs).xDelete.expect("a VFS has it"))(vfs, path, really) };
    if code == ffi::SQLITE_OK
        && let Some((disk, name)) = found
    {
        disk.deleted(&name, sync != 0);
    }
    code
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let code = pass!(file, xClose);
    // SAFETY: `open` created it with `Box::into_raw`; a file is closed once.
    unsafe {
        let observed = &mut (*file.cast::<Recorded>()).observed;
        if !observed.is_null() {
            drop(Box::from_raw(std::mem::replace(observed, std::ptr::null_mut())));
        }
    }
    code
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    to: *mut c_void,
    amount: c_int,
    at: ffi::sqlite3_int64,
) -> c_int {
    pass!(file, xRead, to, amount, at)
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    amount: c_int,
    at: ffi::sqlite3_int64,
) -> c_int {
    let code = pass!(file, xWrite, from, amount, at);
    if code == ffi::SQLITE_OK
        && let Some(observed) = observed(file)
        && let (Ok(amount), Ok(at)) = (usize::try_from(amount), usize::try_from(at))
    {
        // SAFETY: SQLite provides `amount` bytes at `from` for this call.
        let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), amount) };
        observed.disk.written(observed.file, at, bytes);
    }
    code
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    let code = pass!(file, xTruncate, size);
    if code == ffi::SQLITE_OK
        && let (Some(observed), Ok(size)) = (observed(file), usize::try_from(size))
    {
        observed.disk.resized(observed.file, size);
    }
    code
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    let Some(observed) = observed(file) else { return pass!(file, xSync, flags) };
    observed.disk.synced(observed.file, std::mem::take(&mut observed.names));
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(
    file: *mut ffi::sqlite3_file,
    size: *mut ffi::sqlite3_int64,
) -> c_int {
    pass!(file, xFileSize, size)
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    pass!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    pass!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, held: *mut c_int) -> c_int {
    pass!(file, xCheckReservedLock, held)
}

unsafe extern "C" fn file_control(
    file: *mut ffi::sqlite3_file,
    what: c_int,
    with: *mut c_void,
) -> c_int {
    pass!(file, xFileControl, what, with)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    pass!(file, xSectorSize)
}

/// Reports only properties that ordinary disks have, too: a write does not change the bytes beside
/// it.
unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    let has = pass!(file, xDeviceCharacteristics);
    if observed(file).is_some() { has & ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE } else { has }
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    pass!(file, xShmMap, page, size, extend, out)
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    pass!(file, xShmLock, offset, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    pass!(file, xShmBarrier);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    pass!(file, xShmUnmap, delete)
}

/// Version 2 of the methods: with shared memory for write-ahead logs, without memory-mapped
/// reading, which is not used here.
static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};
