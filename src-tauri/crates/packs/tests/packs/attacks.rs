//! Tests a hostile program of a pack. It makes every system call that could reach beyond its
//! folders, by path, by descriptor, and through the processor's other ways to call the kernel.
//! Ordinary programs must still work.
#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
};

use packs::run::isolation;
use serde_json::{Value, json};

use crate::program::Bench;

/// Helpers for scripts: raw system calls, each with its error (0 on success).
const RAW: &str = r#"#!/usr/bin/python3
import ctypes, json, os, signal, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def raw(number, *args):
    ctypes.set_errno(0)
    given = [a if isinstance(a, (bytes, ctypes.Array, type(None))) else ctypes.c_long(a) for a in args]
    return ctypes.get_errno() if libc.syscall(ctypes.c_long(number), *given) < 0 else 0
CWD = -100
"#;

const EPERM: i64 = 1;
const ENOSYS: i64 = 38;
const SIGSYS: i64 = 31;

/// Returns the error numbers of the calls in a Python dictionary. The calls use the file that
/// `PLACE` names.
async fn call_errors(bench: &Bench, call: Value) -> Value {
    bench.run(call, json!({"id": "x"})).await.unwrap()
}

/// A private key of the user. Its time, mode and attributes must not change.
struct UserKey {
    folder: tempfile::TempDir,
}

impl UserKey {
    fn new() -> Self {
        let key = Self { folder: tempfile::tempdir_in("/var/tmp").unwrap() };
        fs::write(key.path(), "PRIVATE").unwrap();
        fs::set_permissions(key.path(), fs::Permissions::from_mode(0o600)).unwrap();
        key
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("id_ed25519")
    }

    fn facts(&self) -> (u32, u32, u32, i64, i64, i64) {
        facts(&self.path())
    }
}

fn facts(path: &Path) -> (u32, u32, u32, i64, i64, i64) {
    let meta = fs::metadata(path).unwrap();
    (meta.mode(), meta.uid(), meta.gid(), meta.mtime(), meta.mtime_nsec(), meta.atime_nsec())
}

#[cfg(target_arch = "x86_64")]
const CHANGES: &str = r#"
def changes(path):
    me, mine = os.getuid(), os.getgid()
    args = (ctypes.c_uint64 * 4)(ctypes.addressof(ctypes.create_string_buffer(b"y")), 1, 0, 0)
    return {
        "chmod": raw(90, path, 0o777), "fchmodat": raw(268, CWD, path, 0o777, 0), "fchmodat2": raw(452, CWD, path, 0o777, 0),
        "chown": raw(92, path, me, mine), "lchown": raw(94, path, me, mine), "fchownat": raw(260, CWD, path, me, mine, 0),
        "utime": raw(132, path, None), "utimes": raw(235, path, None), "futimesat": raw(261, CWD, path, None),
        "utimensat": raw(280, CWD, path, None, 0),
        "setxattr": raw(188, path, b"user.x", b"y", 1, 0), "lsetxattr": raw(189, path, b"user.x", b"y", 1, 0),
        "removexattr": raw(197, path, b"user.x"), "lremovexattr": raw(198, path, b"user.x"),
        "setxattrat": raw(463, CWD, path, 0, b"user.x", args, 16), "removexattrat": raw(466, CWD, path, 0, b"user.x"),
        "file_setattr": raw(469, CWD, path, args, 24, 0),
    }
def open_changes(file):
    return {
        "fchmod": raw(91, file, 0o777), "fchown": raw(93, file, os.getuid(), os.getgid()), "futimens": raw(280, file, None, None, 0),
        "fsetxattr": raw(190, file, b"user.x", b"y", 1, 0), "fremovexattr": raw(199, file, b"user.x"),
        "setflags": raw(16, file, 0x40086602, (ctypes.c_long * 1)(0)), "fssetxattr": raw(16, file, 0x401C5820, (ctypes.c_long * 4)()),
        "empty path": raw(452, file, b"", 0o777, 0x1000), "through proc": raw(90, b"/proc/self/fd/%d" % file, 0o777),
    }
"#;

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn a_program_cannot_change_mode_owner_times_or_attributes_of_files() {
    if !isolation().seccomp {
        return;
    }
    let key = UserKey::new();
    let before = key.facts();
    // The times of open files may be changed, because `touch` sets the times of files that it
    // creates.
    let script = format!(
        "{RAW}{CHANGES}\nkey = b'{}'\nfree = lambda calls: {{name: error for name, error in calls.items() if name != 'futimens'}}\nprint(json.dumps({{'key': changes(key), 'handle': free(open_changes(os.open(key, os.O_PATH))), 'pack': free(open_changes(os.open(sys.argv[0], os.O_RDONLY))), 'own': changes(b'own') if open('own', 'w') else None}}))\n",
        key.path().display()
    );
    let bench = Bench::new(&script);
    let pack = facts(&bench.setup().program);
    let said = call_errors(&bench, json!({})).await;
    for (place, calls) in said.as_object().unwrap() {
        for (call, error) in calls.as_object().unwrap() {
            assert_eq!(error.as_i64(), Some(EPERM), "{call} of {place}: {said}");
        }
    }
    assert_eq!(key.facts(), before, "the user's key is as it was");
    assert_eq!(facts(&bench.setup().program).0, pack.0, "and so is the pack");
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn a_program_with_a_data_folder_can_change_only_files_it_has_open() {
    if !isolation().seccomp {
        return;
    }
    let key = UserKey::new();
    let before = key.facts();
    let script = format!(
        "{RAW}{CHANGES}\nos.chdir(os.environ['COUNTERSIGN_PACK_DATA'])\nopen('own', 'w').write('mine')\nown = os.open('own', os.O_RDWR)\nos.fchmod(own, 0o640)\nos.utime(own, (1, 1))\nkey = b'{}'\nhandle = open_changes(os.open(key, os.O_PATH))\nprint(json.dumps({{'key': changes(key), 'own': changes(b'own'), 'handle': {{name: handle[name] for name in ('empty path', 'through proc')}}, 'weak': handle['fchmod'], 'mode': os.stat('own').st_mode & 0o777, 'time': os.stat('own').st_mtime}}))\n",
        key.path().display()
    );
    let data = tempfile::tempdir().unwrap();
    let said =
        Bench::new(&script).run_with_data(data.path(), json!({"data_dir": true})).await.unwrap();
    for place in ["key", "own", "handle"] {
        for (call, error) in said[place].as_object().unwrap() {
            assert_eq!(error.as_i64(), Some(EPERM), "{call} of {place}: {said}");
        }
    }
    assert_ne!(said["weak"], 0, "a file that is only pointed at is not open");
    assert_eq!(
        (said["mode"].as_u64(), said["time"].as_f64()),
        (Some(0o640), Some(1.0)),
        "its own file, which it has open, is its own"
    );
    assert_eq!(key.facts(), before);
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn a_program_cannot_create_namespaces_or_bypass_the_system_call_filter() {
    if !isolation().seccomp {
        return;
    }
    let script = format!(
        "{RAW}{}",
        r#"
NEW = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
X32 = 0x40000000
denied = {"clone %x" % flag: raw(56, flag | 17, 0, 0, 0, 0) for flag in NEW}
names = {"unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "move_mount": 429, "mount_setattr": 442, "open_tree": 428, "open_tree_attr": 467,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pivot_root": 155, "chroot": 161, "ptrace": 101, "process_vm_readv": 310,
    "process_vm_writev": 311, "pidfd_open": 434, "pidfd_getfd": 438, "kcmp": 312, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
    "open_by_handle_at": 304, "quotactl": 179, "quotactl_fd": 443, "setsid": 112, "setpgid": 109}
denied.update({name: raw(number, 0, 0, 0, 0, 0) for name, number in names.items()})
unknown = {"clone3": raw(435, (ctypes.c_uint64 * 11)(), 88)}
unknown.update({"x32 %d" % number: raw(number | X32, 0, 0, 0, 0, 0) for number in (41, 90, 101, 272, 521, 539)})

import mmap
def by_interrupt():
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
child = os.fork()
if child == 0:
    by_interrupt()
    os._exit(0)
status = os.waitpid(child, 0)[1]

worked = []
thread = threading.Thread(target=lambda: worked.append("thread"))
thread.start()
thread.join()
worked.append(subprocess.run(["/bin/echo", "child"], capture_output=True, text=True).stdout.strip())
print(json.dumps({"denied": denied, "unknown": unknown, "interrupt": status & 0x7f, "worked": worked}))
"#
    );
    let said = call_errors(&Bench::new(&script), json!({})).await;
    for (calls, error) in [("denied", EPERM), ("unknown", ENOSYS)] {
        for (call, found) in said[calls].as_object().unwrap() {
            assert_eq!(found.as_i64(), Some(error), "{call}: {said}");
        }
    }
    assert_eq!(
        said["interrupt"].as_i64(),
        Some(SIGSYS),
        "a call of 32 bits ends the program: {said}"
    );
    assert_eq!(said["worked"], json!(["thread", "child"]), "threads and children are made as ever");
}
