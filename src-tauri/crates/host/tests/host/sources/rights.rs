//! The rights that the host gives to each of its data processes: a program in the place of the data
//! program tries files, folders and the network, and tells what it could do.

use std::{
    fs,
    io::ErrorKind,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use contract::sources::ImportDecisions;
use guard::{NetworkRestriction, network_restriction};
use host::Options;

use super::{CLIENT_ONE, CLIENT_TWO, World, answers};

/// The program. It makes an empty file in each folder where it may, and ends.
const PROGRAM: &str = r#"#!/bin/bash
kind=$1 could=""
reads() { if { : < "$2"; } 2> /dev/null; then could="$could reads:$1"; fi; }
writes() { if { : > "$2/by-$kind"; } 2> /dev/null; then could="$could writes:$1"; fi; }
connects() { if (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; then could="$could connects"; fi; }
TRIES
writes own .
echo "$could" > told
error='{"contract_version":"1.0","code":"invalid_input","message":"%s","retryable":false}'
printf '{"event":"failure","error":'"$error"'}\n' "$could"
exit 1
"#;

/// A source, and files of all kinds around it.
struct Places {
    read: Vec<(&'static str, PathBuf)>,
    write: Vec<(&'static str, PathBuf)>,
}

impl Places {
    fn of(world: &World, program_dir: &Path) -> Self {
        let (profile, ads) = (world.folder.path().join("profile"), world.data("sources/ads"));
        let part = fs::read_dir(ads.join("parts")).unwrap().next().unwrap().unwrap().path();
        let host = PathBuf::from(format!("/proc/{}/environ", std::process::id()));
        let read = vec![
            ("secret", world.folder.path().join("secret")),
            ("log", profile.join("audit.db")),
            ("part", part),
            ("source", ads.join("source.json")),
            ("staged", world.data("staging").join("another/rows")),
            ("spilled", world.data("scratch").join("another/rows")),
            ("host", host),
        ];
        let write = vec![
            ("outside", world.folder.path().to_owned()),
            ("profile", profile),
            ("parts", ads.join("parts")),
            ("staging", world.data("staging")),
            ("scratch", world.data("scratch")),
            ("programs", program_dir.to_owned()),
        ];
        Self { read, write }
    }

    /// Writes the program that tries all places, and the port of a listener.
    fn write_program(&self, folder: &Path, port: u16) {
        let read =
            self.read.iter().map(|(name, path)| format!("reads {name} '{}'", path.display()));
        let write =
            self.write.iter().map(|(name, path)| format!("writes {name} '{}'", path.display()));
        let tries: Vec<String> = read.chain(write).chain([format!("connects {port}")]).collect();
        let path = folder.join("csign-data");
        fs::write(&path, PROGRAM.replace("TRIES", &tries.join("\n"))).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Makes the files that do not exist yet.
    fn fill(&self) {
        for (_, path) in self.read.iter().filter(|(_, path)| !path.exists()) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "private").unwrap();
        }
    }
}

/// Returns what the program in a folder told.
async fn told_in(folder: &Path) -> String {
    let latest = Instant::now() + Duration::from_secs(60);
    loop {
        let told = fs::read_to_string(folder.join("told")).unwrap_or_default();
        if told.ends_with('\n') {
            return told.trim().to_owned();
        }
        assert!(Instant::now() < latest, "{} ran no program", folder.display());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_data_process_reaches_only_what_its_work_needs() {
    if guard::landlock_abi() == 0 || !guard::filters_work() {
        // `csign doctor` says so, and the tests of `guard` cover such systems.
        return;
    }
    let world = World::new().await;
    world.import(&world.write("ads.csv", CLIENT_ONE)).await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let programs = tempfile::tempdir().unwrap();
    let places = Places::of(&world, programs.path());
    places.write_program(programs.path(), listener.local_addr().unwrap().port());
    let program_dir = programs.path();
    let world = world
        .open_again(|options| Options { program_dir: program_dir.to_owned(), ..options })
        .await;
    places.fill();

    let file = world.write("more.csv", CLIENT_TWO);
    let view = world.run(world.params(&file, ImportDecisions::default())).await;
    let importer = view.failure.unwrap().message;
    assert_eq!(importer.trim(), "writes:own", "the importer");

    world.query("SELECT count(*) FROM ads").await.unwrap_err();
    let queries = told_in(&world.data("scratch/queries")).await;
    assert_eq!(queries, "reads:part reads:source reads:staged writes:own", "the query process");

    let address = "postgresql://reader@127.0.0.1/shop?sslmode=disable&table=public.orders";
    let params = world.params(Path::new(address), answers(&[("password", "secret")]));
    assert!(world.run(params).await.failure.is_some());
    let database = told_in(&world.data("scratch/database-orders")).await;
    if network_restriction() == NetworkRestriction::Missing {
        // The app says this to the person who connects a database.
        assert_eq!(database.replace("connects ", ""), "writes:own", "the process of a database");
    } else {
        assert_eq!(database, "writes:own", "the process of a database");
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
    world.host.stop().await;
}
