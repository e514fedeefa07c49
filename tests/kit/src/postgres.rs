//! A real PostgreSQL of Debian, started by a test in a folder of its own. It must not know what is
//! asked of it.

use std::{
    fs,
    io::Write as _,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use base64::Engine as _;

/// The password of the roles of [`Postgres::with_orders`].
pub const PASSWORD: &str = "a'b\\c %20";

/// A running server. It is stopped when it is dropped.
pub struct Postgres {
    folder: tempfile::TempDir,
    port: u16,
    child: Child,
}

/// A lock on a table, for which all questions about the table wait. It ends when it is dropped.
pub struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        // The end of its input ends the client, its connection and so the lock.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// PostgreSQL does not run as root, so tests of root run it as another user.
fn as_other_user(command: &mut Command) -> &mut Command {
    let (user, group) = other_user();
    if is_root() { command.uid(user).gid(group) } else { command }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

fn other_user() -> (u32, u32) {
    let text = fs::read_to_string("/etc/passwd").unwrap();
    let line = ["postgres:", "nobody:"]
        .iter()
        .find_map(|user| text.lines().find(|line| line.starts_with(user)))
        .expect("a user of the system");
    let fields: Vec<&str> = line.split(':').collect();
    (fields[2].parse().unwrap(), fields[3].parse().unwrap())
}

/// Returns the folder with the programs of Debian's newest PostgreSQL.
fn programs() -> PathBuf {
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .expect("postgresql of Debian")
        .map(|entry| entry.unwrap().path().join("bin"))
        .filter(|folder| folder.join("initdb").exists())
        .collect();
    found.sort();
    found.pop().expect("postgresql of Debian")
}

impl Postgres {
    /// Starts an empty server with a superuser `admin`, and waits until it answers.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let own = folder.path().join("own");
        fs::create_dir(&own).unwrap();
        if is_root() {
            let (user, group) = other_user();
            std::os::unix::fs::chown(&own, Some(user), Some(group)).unwrap();
        }
        let password = folder.path().join("password");
        fs::write(&password, "admin").unwrap();
        fs::set_permissions(&password, fs::Permissions::from_mode(0o644)).unwrap();
        let mut command = Command::new(programs().join("initdb"));
        command.arg("-D").arg(own.join("data")).args(["-U", "admin", "-A", "scram-sha-256"]);
        command.args(["-E", "UTF8", "--no-sync", "--locale=C.UTF-8"]);
        command.arg("--pwfile").arg(password).current_dir(&own).stdout(Stdio::null());
        assert!(as_other_user(&mut command).status().unwrap().success(), "initdb");
        write_certificates(&own);
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = run(&own, port);
        let server = Self { folder, port, child };
        server.wait();
        server
    }

    /// Starts a server with a table of 3000 orders, and roles that may read it, change it, and read
    /// files.
    pub fn with_orders() -> Self {
        let server = Self::start();
        server.sql(
            "CREATE TABLE orders (id bigint PRIMARY KEY, day date, placed timestamp, country text, net numeric(12,2), weight double precision, paid boolean, note uuid);
             INSERT INTO orders SELECT i, DATE '2026-11-01' + (i % 30)::int, TIMESTAMP '2026-11-01 09:00:00' + i * interval '1 minute', (ARRAY['se','de','fr'])[1 + i % 3], (i % 100) + 0.25, i / 3.0, i % 2 = 0, NULL FROM generate_series(1, 3000) i;
             ANALYZE orders;",
        );
        let password = PASSWORD.replace('\'', "''");
        for role in ["reader", "writer", "filer"] {
            server.sql(&format!("CREATE ROLE {role} LOGIN PASSWORD '{password}'"));
        }
        server.sql("GRANT SELECT ON orders TO reader, filer; GRANT pg_read_server_files TO filer; GRANT ALL ON orders TO writer; GRANT ALL ON SCHEMA public TO writer");
        server
    }

    fn wait(&self) {
        let latest = Instant::now() + Duration::from_secs(60);
        while self.try_sql("SELECT 1").is_none() {
            assert!(Instant::now() < latest, "PostgreSQL answers");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Returns the port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the file with the certificate of the authority.
    pub fn root_certificate(&self) -> PathBuf {
        self.folder.path().join("own/root.pem")
    }

    /// Runs SQL as the superuser.
    pub fn sql(&self, text: &str) -> String {
        self.try_sql(text).unwrap_or_else(|| panic!("{text}"))
    }

    fn try_sql(&self, text: &str) -> Option<String> {
        let output = self.psql().args(["-c", text]).output().expect("psql of Debian");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn psql(&self) -> Command {
        let port = self.port.to_string();
        let mut command = Command::new("psql");
        command
            .args(["-h", "127.0.0.1", "-p", &port, "-U", "admin", "-d", "postgres"])
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"])
            .env("PGPASSWORD", "admin")
            .stderr(Stdio::null());
        command
    }

    /// Locks a table, so that questions about it wait until the returned value is dropped.
    pub fn hold(&self, table: &str) -> Held {
        let mut command = self.psql();
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut held = Held(command.spawn().expect("psql of Debian"));
        let input = held.0.stdin.as_mut().expect("its input");
        writeln!(input, "BEGIN; LOCK TABLE {table};").expect("psql reads");
        let locks = format!(
            "SELECT count(*) FROM pg_locks WHERE relation = '{table}'::regclass AND mode = 'AccessExclusiveLock' AND granted"
        );
        let latest = Instant::now() + Duration::from_secs(60);
        while self.sql(&locks) != "1" {
            assert!(Instant::now() < latest, "{table} is locked");
            std::thread::sleep(Duration::from_millis(20));
        }
        held
    }

    /// Returns what the server logged, which includes all statements.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("own/log")).unwrap()
    }

    /// Stops the server at once, as a crash does.
    pub fn stop(&mut self) {
        // PostgreSQL ends the processes of its connections when it gets this signal.
        let stopped =
            Command::new("kill").args(["-QUIT", &self.child.id().to_string()]).status().unwrap();
        assert!(stopped.success(), "the server is told to stop");
        self.child.wait().unwrap();
    }

    /// Starts a stopped server again.
    pub fn start_again(&mut self) {
        let own = self.folder.path().join("own");
        // A server that was killed leaves it behind.
        let _ = fs::remove_file(own.join("data/postmaster.pid"));
        self.child = run(&own, self.port);
        self.wait();
    }
}

fn run(own: &Path, port: u16) -> Child {
    let log = fs::File::options().create(true).append(true).open(own.join("log")).unwrap();
    let mut command = Command::new(programs().join("postgres"));
    command.arg("-D").arg(own.join("data")).args(["-p", &port.to_string(), "-h", "127.0.0.1"]);
    command.arg("-k").arg(own);
    for setting in [
        "fsync=off",
        "log_statement=all",
        "log_connections=on",
        "max_connections=20",
        "ssl=on",
        "ssl_cert_file=../localhost.pem",
        "ssl_key_file=../localhost-key.pem",
    ] {
        command.args(["-c", setting]);
    }
    command.current_dir(own).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    as_other_user(&mut command).spawn().unwrap()
}

/// Writes a certificate for `localhost`, its key, and the authority that signed it.
fn write_certificates(folder: &Path) {
    let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tls");
    for (name, label) in
        [("root", "CERTIFICATE"), ("localhost", "CERTIFICATE"), ("localhost-key", "PRIVATE KEY")]
    {
        let der = fs::read(certificates.join(format!("{name}.der"))).unwrap();
        let text = base64::engine::general_purpose::STANDARD.encode(der);
        let path = folder.join(format!("{name}.pem"));
        fs::write(&path, format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n"))
            .unwrap();
        let mode = if name == "localhost-key" { 0o600 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        if is_root() {
            let (user, group) = other_user();
            std::os::unix::fs::chown(&path, Some(user), Some(group)).unwrap();
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
