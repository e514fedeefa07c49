//! A hostile server: it changes modes and times of files, creates namespaces, connects to sockets
//! of the session, and writes to terminals. The server runs as root and as an unprivileged user if
//! the tests run as root.

use std::{
    collections::BTreeMap,
    ffi::CString,
    fs,
    io::Write as _,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
        linux::net::SocketAddrExt as _,
        unix::{
            fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
            net::{SocketAddr, UnixListener, UnixStream},
            process::CommandExt as _,
        },
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use mcp::{FileChanges, Hidden, Reach};
use serde_json::{Value, json};

use crate::{call, server, servers};

/// Returns the errors of calls that change a file by its path, of calls on the open file, and of
/// calls for namespaces.
pub(crate) fn system_calls(path: &str) -> Value {
    let path = CString::new(path).unwrap();
    let (name, here) = (c"user.x", libc::AT_FDCWD);
    // SAFETY: all pointers are to live strings that end with a zero, or null where the call allows
    // that.
    unsafe {
        let open = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let pointed_at = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        let through_proc = CString::new(format!("/proc/self/fd/{pointed_at}")).unwrap();
        let (me, mine) = (libc::geteuid(), libc::getegid());
        let mut clone3 = [0_u64; 11];
        clone3[0] = libc::CLONE_NEWUSER.unsigned_abs().into();
        let error = |result: libc::c_long| {
            if result < 0 { std::io::Error::last_os_error().raw_os_error().unwrap() } else { 0 }
        };
        json!({
            "path": {
                "chmod": error(libc::chmod(path.as_ptr(), 0o644).into()),
                "through proc": error(libc::chmod(through_proc.as_ptr(), 0o644).into()),
                "fchmodat2": error(libc::syscall(libc::SYS_fchmodat2, pointed_at, c"".as_ptr(), 0o644, libc::AT_EMPTY_PATH)),
                "chown": error(libc::chown(path.as_ptr(), me, mine).into()),
                "lchown": error(libc::lchown(path.as_ptr(), me, mine).into()),
                "utimes": error(libc::utimes(path.as_ptr(), std::ptr::null()).into()),
                "utimensat": error(libc::utimensat(here, path.as_ptr(), std::ptr::null(), 0).into()),
                "setxattr": error(libc::setxattr(path.as_ptr(), name.as_ptr(), name.as_ptr().cast(), 1, 0).into()),
                "removexattr": error(libc::removexattr(path.as_ptr(), name.as_ptr()).into()),
            },
            "open": {
                "fchmod": error(libc::fchmod(open, 0o644).into()),
                "futimens": error(libc::futimens(open, std::ptr::null()).into()),
            },
            "namespaces": {
                "unshare": error(libc::unshare(libc::CLONE_NEWUSER).into()),
                "clone": error(libc::syscall(libc::SYS_clone, libc::CLONE_NEWUSER | libc::SIGCHLD, 0, 0, 0, 0)),
                "mount": error(libc::mount(std::ptr::null(), c"/".as_ptr(), std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE, std::ptr::null()).into()),
                "umount2": error(libc::umount2(c"/proc".as_ptr(), libc::MNT_DETACH).into()),
                "setns": error(libc::setns(open, 0).into()),
                "ptrace": error(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0)),
                "keyctl": error(libc::syscall(libc::SYS_keyctl, 0, 0, 0, 0, 0)),
                "io_uring_setup": error(libc::syscall(libc::SYS_io_uring_setup, 1, 0)),
            },
            "clone3": error(libc::syscall(libc::SYS_clone3, clone3.as_ptr(), size_of_val(&clone3))),
        })
    }
}

/// Returns whether a terminal can be written to, whether the process has a terminal, and whether it
/// can create one.
pub(crate) fn terminals(path: &str) -> Value {
    let write = |path: &str| {
        let opened = fs::OpenOptions::new().write(true).custom_flags(libc::O_NOCTTY).open(path);
        opened.and_then(|mut terminal| terminal.write_all(b"approve? y")).is_ok()
    };
    json!({"other": write(path), "own": write("/dev/tty"), "new": open_terminal().is_some()})
}

/// Opens a new terminal. Returns both ends.
fn open_terminal() -> Option<[OwnedFd; 2]> {
    let (mut main, mut terminal) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: both numbers are live, and the call allows null for the rest. Nobody else owns the
    // opened descriptors.
    unsafe {
        let made = libc::openpty(
            &raw mut main,
            &raw mut terminal,
            null,
            std::ptr::null(),
            std::ptr::null(),
        );
        (made == 0).then(|| [OwnedFd::from_raw_fd(main), OwnedFd::from_raw_fd(terminal)])
    }
}

/// Whether a socket accepts a connection. `socket` is a path, or an abstract name after `@`.
pub(crate) fn knock(socket: &str) -> bool {
    let address = match socket.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(socket),
    };
    UnixStream::connect_addr(&address.unwrap()).is_ok()
}

/// Runs a test of this file once more as an unprivileged user, if this process runs as root.
fn also_without_rights(test: &str) {
    // SAFETY: the call takes no arguments, changes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    again
        .args(["--exact", &format!("attacks::{test}"), "--test-threads=1"])
        .uid(65534)
        .gid(65534)
        .current_dir("/")
        .stdin(Stdio::null());
    let ended = again.env("TMPDIR", "/tmp").env("HOME", "/nonexistent").output().unwrap();
    assert!(
        ended.status.success(),
        "as nobody:\n{}{}",
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr)
    );
}

async fn run_attack(key: &Path, changes: FileChanges, hidden: Hidden) -> Value {
    let mut config = server("odd", "odd", &[("LOOK", key.to_str().unwrap())]);
    let Reach::Program(program) = &mut config.reach else { unreachable!() };
    program.changes = changes;
    program.cwd = hidden.but.first().cloned().unwrap_or_else(|| PathBuf::from("/"));
    program.hidden = Arc::new(hidden);
    let servers = servers(vec![config]);
    let said = call(&servers, "system_calls", json!({})).await.unwrap();
    servers.shut_down().await;
    said
}

#[tokio::test]
async fn a_server_cannot_change_mode_owner_times_or_attributes_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("id_ed25519");
    fs::write(&key, "PRIVATE").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let said = run_attack(&key, FileChanges::Times, Hidden::default()).await;
    let errors = |part: &str| -> BTreeMap<String, i32> {
        serde_json::from_value(said[part].clone()).unwrap()
    };
    for (call, error) in errors("path").into_iter().chain(errors("namespaces")) {
        assert_eq!(error, libc::EPERM, "{call}: {said}");
    }
    // The times of open files may be changed, because `touch` sets them on a file that it has
    // created.
    assert_eq!(said["open"], json!({"fchmod": libc::EPERM, "futimens": 0}));
    assert_eq!(said["clone3"], libc::ENOSYS, "unknown, so that the C library falls back");
    assert_eq!(fs::metadata(&key).unwrap().mode() & 0o777, 0o600);
    // A server with its own folder may change the mode of open files. Landlock decides which files
    // the server can open.
    let said = run_attack(&key, FileChanges::OpenFiles, Hidden::default()).await;
    assert_eq!(said["open"], json!({"fchmod": 0, "futimens": 0}));
    let by_path: BTreeMap<String, i32> = serde_json::from_value(said["path"].clone()).unwrap();
    assert!(by_path.values().all(|error| *error == libc::EPERM), "{said}");
    also_without_rights("a_server_cannot_change_mode_owner_times_or_attributes_of_files");
}

#[tokio::test]
async fn an_added_server_may_change_modes_and_times_except_of_the_apps_files() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let (app, own) = (root.join("app"), root.join("app/packs/odd"));
    fs::create_dir_all(&own).unwrap();
    let file = |path: PathBuf| {
        fs::write(&path, "text").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    };
    let hidden = Hidden { folders: vec![app.clone()], but: vec![own.clone()], ..Hidden::default() };
    for free in [file(own.join("tool")), file(root.join("note"))] {
        let said = run_attack(&free, FileChanges::ByPath, hidden.clone()).await;
        for call in ["chmod", "through proc", "fchmodat2", "utimes", "utimensat"] {
            assert_eq!(said["path"][call], 0, "{call}: {said}");
        }
        for call in ["chown", "lchown", "setxattr", "removexattr"] {
            assert_eq!(said["path"][call], libc::EPERM, "{call}: {said}");
        }
        assert_eq!(fs::metadata(&free).unwrap().mode() & 0o777, 0o644);
    }
    if mcp::freezing_works() {
        let records = file(app.join("audit.db"));
        // The files are also protected against relative paths from the server's own folder, in
        // which the server was started.
        for kept in [records, app, "../../audit.db".into(), "..".into()] {
            let mode = fs::metadata(own.join(&kept)).unwrap().mode();
            let said = run_attack(&kept, FileChanges::ByPath, hidden.clone()).await;
            let errors: BTreeMap<String, i32> =
                serde_json::from_value(said["path"].clone()).unwrap();
            let refused = |error: &i32| [libc::EPERM, libc::EROFS].contains(error);
            assert!(errors.values().all(refused), "{said}");
            assert_eq!(said["path"]["chmod"], libc::EROFS, "{said}");
            // The server can open the folder, but not the file.
            assert_ne!(said["open"]["fchmod"], 0, "{said}");
            assert_eq!(fs::metadata(own.join(&kept)).unwrap().mode(), mode);
        }
    }
    also_without_rights("an_added_server_may_change_modes_and_times_except_of_the_apps_files");
}

/// The home folder contains a read-only folder with the hidden data folder, which contains the
/// server's own folder. The server's command names folders around and between these.
#[tokio::test]
async fn the_innermost_listed_folder_decides_whether_modes_can_be_changed() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().canonicalize().unwrap();
    let place = |path: &str| home.join(path);
    let (local, share, app) = (place(".local"), place(".local/share"), place(".local/share/app"));
    let own = app.join("packs/odd");
    fs::create_dir_all(&own).unwrap();
    let file = |folder: &Path| {
        fs::write(folder.join("file"), "text").unwrap();
        folder.join("file")
    };
    let [at_home, at_local, at_share, at_app, at_own] =
        [&home, &local, &share, &app, &own].map(|folder| file(folder));
    for (named, free, kept) in [
        (&home, vec![&at_own, &at_home], vec![&at_local, &at_share, &at_app]),
        (&share, vec![&at_own, &at_home, &at_share], vec![&at_local, &at_app]),
    ] {
        let hidden = Hidden {
            folders: vec![app.clone()],
            but: vec![own.clone(), named.clone()],
            read_only: vec![local.clone()],
            ..Hidden::default()
        };
        for path in free {
            let said = run_attack(path, FileChanges::ByPath, hidden.clone()).await;
            assert_eq!(said["path"]["chmod"], 0, "{}: {said}", path.display());
        }
        for path in kept.into_iter().filter(|_| mcp::freezing_works()) {
            let said = run_attack(path, FileChanges::ByPath, hidden.clone()).await;
            assert_eq!(said["path"]["chmod"], libc::EROFS, "{}: {said}", path.display());
        }
    }
    also_without_rights("the_innermost_listed_folder_decides_whether_modes_can_be_changed");
}

#[tokio::test]
async fn a_server_cannot_write_to_another_programs_terminal() {
    let ends = open_terminal().unwrap();
    let path = fs::read_link(format!("/proc/self/fd/{}", ends[1].as_raw_fd())).unwrap();
    assert!(path.starts_with("/dev/pts"), "{path:?}");
    for changes in [FileChanges::Times, FileChanges::ByPath] {
        let mut config = server("odd", "odd", &[("LOOK", path.to_str().unwrap())]);
        let Reach::Program(program) = &mut config.reach else { unreachable!() };
        program.changes = changes;
        let servers = servers(vec![config]);
        let said = call(&servers, "terminals", json!({})).await.unwrap();
        servers.shut_down().await;
        assert_eq!((&said["other"], &said["own"]), (&json!(false), &json!(false)), "{said}");
        // Programs such as `script` create terminals.
        assert!(said["new"] == true || !mcp::covers_work(), "{said}");
    }
    also_without_rights("a_server_cannot_write_to_another_programs_terminal");
}

#[tokio::test]
async fn a_server_cannot_connect_to_a_covered_socket() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let (runtime, alone) = (root.join("run"), root.join("bus-1x"));
    fs::create_dir_all(runtime.join("keyring")).unwrap();
    let (bus, control) = (runtime.join("bus"), runtime.join("keyring/control"));
    let unnamed = format!("countersign-test-{}", std::process::id());
    let beside = root.join("database");
    let _listening: Vec<UnixListener> =
        [&bus, &control, &alone, &beside].map(|path| UnixListener::bind(path).unwrap()).into();
    let _abstract =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&unnamed).unwrap()).unwrap();
    let folders =
        [&bus, &alone].map(|path| format!("/proc/{}/root{}", std::process::id(), path.display()));
    let doors: Vec<String> = [&bus, &control, &alone]
        .map(|path| path.display().to_string())
        .into_iter()
        .chain([format!("@{unnamed}")])
        .chain(folders)
        .collect();
    assert!(doors.iter().all(|door| knock(door)), "all are open here");

    let mut config = server(
        "odd",
        "odd",
        &[(
            "LOOK",
            &doors
                .iter()
                .chain([&beside.display().to_string()])
                .cloned()
                .collect::<Vec<_>>()
                .join(":"),
        )],
    );
    let hidden = Hidden {
        folders: vec![runtime.clone()],
        covered: vec![runtime, alone.clone(), root.join("not-there")],
        ..Hidden::default()
    };
    let Reach::Program(program) = &mut config.reach else { unreachable!() };
    program.hidden = Arc::new(hidden.clone());
    let servers = servers(vec![config]);
    let reached: Vec<String> =
        serde_json::from_value(call(&servers, "knock", json!({})).await.unwrap()).unwrap();
    servers.shut_down().await;
    // `reaches` returns the same result as the attempts of the server.
    let told =
        |path: &PathBuf| mcp::reaches(&hidden, SocketAddr::from_pathname(path).unwrap()).unwrap();
    assert_eq!(told(&alone), reached.contains(&alone.display().to_string()));
    assert!(told(&beside), "everything else stays as it is");
    if mcp::covers_work() {
        assert_eq!(reached, [beside.display().to_string()]);
    }
    also_without_rights("a_server_cannot_connect_to_a_covered_socket");
}
