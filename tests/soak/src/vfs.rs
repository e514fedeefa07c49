//! The VFS that records: it hands every call on to SQLite's own one and tells the watched folder's `Disk` of what changes a file.
//! It becomes the default of the process, because the code under test opens its files as it always does. Files elsewhere only pass through.
//! Syncs of watched files are recorded and not made: their effect is simulated.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use rusqlite::ffi;

use crate::disk::Disk;

/// Where SQLite's own file lies behind ours, aligned for whatever it holds.
const INNER: usize = size_of::<Recorded>().next_multiple_of(16);
const NAME: &CStr = c"recording";

#[repr(C)]
struct Recorded {
    base: ffi::sqlite3_file,
    /// Null for files outside the watched folders.
    told: *mut Told,
}

/// Whom to tell of a file's changes.
struct Told {
    disk: Arc<Disk>,
    file: usize,
    /// The next sync makes the folder's names durable, too, as SQLite's VFS does for a journal or write-ahead log that it may make.
    names: bool,
}

fn watched() -> &'static Mutex<Vec<Weak<Disk>>> {
    static WATCHED: OnceLock<Mutex<Vec<Weak<Disk>>>> = OnceLock::new();
    WATCHED.get_or_init(Mutex::default)
}

/// Begins to tell the disk of its files.
pub(crate) fn watch(disk: &Arc<Disk>) {
    register();
    let mut all = watched().lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|disk| disk.strong_count() > 0);
    all.push(Arc::downgrade(disk));
}

/// The disk of a path directly in a watched folder, and the file's name there.
fn find(path: *const c_char) -> Option<(Arc<Disk>, String)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: SQLite gives names that end with a zero byte and live as long as the call.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    let path = Path::new(OsStr::from_bytes(bytes));
    let all = watched().lock().unwrap_or_else(PoisonError::into_inner);
    let disk = all.iter().filter_map(Weak::upgrade).find(|disk| path.parent() == Some(disk.folder()))?;
    Some((disk, path.file_name()?.to_string_lossy().into_owned()))
}

fn register() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        // SAFETY: SQLite's default VFS lives as long as the process; ours is leaked, so it does too. Every pointer in it stays valid,
        // and registering is guarded by SQLite's own lock.
        unsafe {
            assert_eq!(ffi::sqlite3_initialize(), ffi::SQLITE_OK, "SQLite starts");
            let inner = ffi::sqlite3_vfs_find(std::ptr::null());
            assert!(!inner.is_null(), "SQLite has a VFS");
            let mut vfs = *inner;
            vfs.pNext = std::ptr::null_mut();
            vfs.zName = NAME.as_ptr();
            vfs.szOsFile = c_int::try_from(INNER).expect("small") + (*inner).szOsFile;
            // What ours does not need of itself is SQLite's own function, which finds its data through `pAppData`.
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
// SAFETY: the pointed-to VFS is never changed after SQLite's start, and its functions may be called from any thread.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

fn own() -> &'static OnceLock<Inner> {
    static OWN: OnceLock<Inner> = OnceLock::new();
    &OWN
}

fn inner_vfs() -> *mut ffi::sqlite3_vfs {
    own().get().map_or(std::ptr::null_mut(), |inner| inner.0)
}

/// SQLite's own file behind ours.
fn inner(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    file.wrapping_byte_add(INNER)
}

/// Calls a method of SQLite's own file.
macro_rules! pass {
    ($file:expr, $method:ident $(, $arg:expr)*) => {{
        let file = inner($file);
        // SAFETY: `open` filled the file behind ours with SQLite's own methods, which have all of those of version 2; the arguments are
        // those that SQLite gave for this very call.
        unsafe { ((*(*file).pMethods).$method.expect("a method of version 2"))(file $(, $arg)*) }
    }};
}

/// Whom to tell of this file.
fn told<'a>(file: *mut ffi::sqlite3_file) -> Option<&'a mut Told> {
    // SAFETY: every file that has our methods was made by `open`, and SQLite uses a file from one thread at a time.
    unsafe { (*file.cast::<Recorded>()).told.as_mut() }
}

unsafe extern "C" fn open(_: *mut ffi::sqlite3_vfs, path: ffi::sqlite3_filename, file: *mut ffi::sqlite3_file, flags: c_int, out: *mut c_int) -> c_int {
    let found = find(path);
    let exists = found.as_ref().is_some_and(|(disk, name)| disk.folder().join(name).exists());
    let behind = inner(file);
    // SAFETY: SQLite gives room for `szOsFile` bytes at `file`, which is ours and its own VFS's; the rest is passed on as it came.
    unsafe {
        let recorded = file.cast::<Recorded>();
        (*recorded).base.pMethods = std::ptr::null();
        (*recorded).told = std::ptr::null_mut();
        (*behind).pMethods = std::ptr::null();
        let vfs = inner_vfs();
        let code = ((*vfs).xOpen.expect("a VFS has it"))(vfs, path, behind, flags, out);
        if code != ffi::SQLITE_OK {
            return code;
        }
        if let Some((disk, name)) = found {
            let file = disk.opened(&name, exists);
            let journal = flags & (ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL) != 0;
            let names = journal && flags & ffi::SQLITE_OPEN_CREATE != 0;
            (*recorded).told = Box::into_raw(Box::new(Told { disk, file, names }));
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
    // SAFETY: `open` made it with `Box::into_raw`; a file is closed once.
    unsafe {
        let told = &mut (*file.cast::<Recorded>()).told;
        if !told.is_null() {
            drop(Box::from_raw(std::mem::replace(told, std::ptr::null_mut())));
        }
    }
    code
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, to: *mut c_void, amount: c_int, at: ffi::sqlite3_int64) -> c_int {
    pass!(file, xRead, to, amount, at)
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, from: *const c_void, amount: c_int, at: ffi::sqlite3_int64) -> c_int {
    let code = pass!(file, xWrite, from, amount, at);
    if code == ffi::SQLITE_OK
        && let Some(told) = told(file)
        && let (Ok(amount), Ok(at)) = (usize::try_from(amount), usize::try_from(at))
    {
        // SAFETY: SQLite gave `amount` bytes at `from` for this call.
        let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), amount) };
        told.disk.written(told.file, at, bytes);
    }
    code
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    let code = pass!(file, xTruncate, size);
    if code == ffi::SQLITE_OK
        && let (Some(told), Ok(size)) = (told(file), usize::try_from(size))
    {
        told.disk.resized(told.file, size);
    }
    code
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    let Some(told) = told(file) else { return pass!(file, xSync, flags) };
    told.disk.synced(told.file, std::mem::take(&mut told.names));
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut ffi::sqlite3_int64) -> c_int {
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

unsafe extern "C" fn file_control(file: *mut ffi::sqlite3_file, what: c_int, with: *mut c_void) -> c_int {
    pass!(file, xFileControl, what, with)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    pass!(file, xSectorSize)
}

/// Of a watched disk only what ordinary disks promise too: a write leaves the bytes beside it alone.
unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    let has = pass!(file, xDeviceCharacteristics);
    if told(file).is_some() { has & ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE } else { has }
}

unsafe extern "C" fn shm_map(file: *mut ffi::sqlite3_file, page: c_int, size: c_int, extend: c_int, out: *mut *mut c_void) -> c_int {
    pass!(file, xShmMap, page, size, extend, out)
}

unsafe extern "C" fn shm_lock(file: *mut ffi::sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    pass!(file, xShmLock, offset, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    pass!(file, xShmBarrier);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    pass!(file, xShmUnmap, delete)
}

/// Version 2: with shared memory for write-ahead logs, without memory-mapped reading, which nothing here uses.
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
