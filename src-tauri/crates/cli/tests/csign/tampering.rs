//! Tests that randomly tamper with all data that a profile's log relies on: the log, the marks in
//! the state folder and the keyring, the `installation` file, whole folders, exports. The real
//! `csign` verifies the log; each attempt begins with the original files.
//!
//! Two cases are left out because no data is lost: the state folder's mark is removed, or replaced
//! with an older signed mark, while the keyring has its own mark. A person who can write to the
//! state folder and the keyring can change anything; see SECURITY.md.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use soak::{Plan, Random};

use crate::keyring::Keyring;
use crate::world::World;

/// A folder's files by their relative paths.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn take(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut next = vec![folder.to_owned()];
    while let Some(folder_) = next.pop() {
        for entry in fs::read_dir(&folder_).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
            if kind.is_dir() {
                next.push(path);
            } else if kind.is_file() {
                let bytes = fs::read(&path).expect("read");
                tree.insert(path.strip_prefix(folder).expect("inside").to_owned(), bytes);
            }
        }
    }
    tree
}

fn put(folder: &Path, tree: &Tree) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("made");
    for (name, bytes) in tree {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    }
}

/// A profile with its state folder at one moment, and the keyring's mark.
struct Moment {
    data: Tree,
    state: Tree,
    mark: String,
}

struct Profile {
    world: World,
    keyring: Keyring,
    early: Moment,
    /// The states that are attacked: after a kill, and after a clean end.
    now: Vec<Moment>,
    /// Another profile of the same user: its data folder, and an export of the first profile's log.
    other: Tree,
    export: Tree,
}

/// Attacks the profile. Returns a description, or None if the attack changes nothing.
type Attack = fn(&Profile, &Moment, &mut Random) -> Option<String>;

const ATTACKS: [Attack; 16] = [
    log_bytes,
    log_bytes,
    log_cut,
    no_log,
    early_log,
    early_log_and_mark,
    early_log_with_forged_mark,
    early_log_and_mark_and_installation,
    mark_bytes,
    forged_mark,
    change_installation,
    installation_and_early_log,
    others_log,
    others_folder,
    no_folder,
    damage_index,
];

const MARK: &str = "audit-mark";

fn installation(data: &Tree) -> String {
    String::from_utf8_lossy(&data[Path::new("installation")]).trim().to_owned()
}

impl Profile {
    fn new() -> Self {
        let world = World::new();
        let keyring = Keyring::start(&world);
        let run = |args: &[&str]| {
            assert!(
                keyring.csign(&world, args).output().expect("started").status.success(),
                "{args:?}"
            )
        };
        let moment = || {
            let data = take(&world.data());
            let mark = keyring.item(&world, &installation(&data), MARK).1;
            Moment { data, state: take(&world.path("state")), mark }
        };
        let other = world.path("other");
        let mut second = keyring.command(&world, crate::world::program());
        assert!(
            second
                .arg("--data-dir")
                .arg(&other)
                .args(["ask", "hello"])
                .output()
                .expect("started")
                .status
                .success()
        );
        run(&["ask", "hello"]);
        let early = moment();
        run(&["ask", "What do you remember about account 17?"]);
        let export = world.path("export");
        run(&["audit", "export", export.to_str().expect("a name")]);
        let killed = keyring
            .csign(&world, &["ask", "what can you do?"])
            .env("COUNTERSIGN_TEST_CRASH_AT", "AfterModelCall")
            .output()
            .expect("started");
        assert!(!killed.status.success(), "it is killed");
        let after_a_kill = moment();
        run(&["ask", "hello"]);
        let now = vec![after_a_kill, moment()];
        let (export, other) = (take(&export), take(&other));
        Self { early, now, other, export, keyring, world }
    }

    /// Restores the files and the keyring's mark, which only one attack changes.
    fn begin(&self, moment: &Moment) {
        let (attributes, _) = self.keyring.item(&self.world, &installation(&moment.data), MARK);
        self.keyring.replace(&self.world, &attributes, &moment.mark);
        self.restore(moment);
        let (code, said) = self.verify(&["--json"]);
        assert!(
            code == Some(0) && said.replace(' ', "").contains(r#""compared_with":"keyring""#),
            "sound before anyone touches it: {said}"
        );
    }

    fn restore(&self, moment: &Moment) {
        put(&self.world.data(), &moment.data);
        put(&self.world.path("state"), &moment.state);
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.world.data().join(name), bytes).expect("written");
    }

    fn verify(&self, args: &[&str]) -> (Option<i32>, String) {
        let out = self
            .keyring
            .csign(&self.world, &[&["audit", "verify"], args].concat())
            .output()
            .expect("started");
        (
            out.status.code(),
            String::from_utf8_lossy(&out.stdout).into_owned()
                + &String::from_utf8_lossy(&out.stderr),
        )
    }

    /// Puts only the earlier log into the folder.
    fn put_early_log(&self) {
        for name in ["audit.db", "audit.db-wal", "audit.db-shm"] {
            let _ = fs::remove_file(self.world.data().join(name));
        }
        self.write("audit.db", &self.early.data[Path::new("audit.db")]);
    }

    /// Returns the profile's mark: its path in the state folder, and its bytes.
    fn mark<'a>(&self, moment: &'a Moment) -> (PathBuf, &'a Vec<u8>) {
        let id = installation(&moment.data);
        let name = PathBuf::from(format!("countersign/{id}.mark.json"));
        let bytes = &moment.state[&name];
        (self.world.path("state").join(name), bytes)
    }
}

/// Returns the bytes with one bit or byte changed, or with a range of zeros.
fn damage(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut new = bytes.to_vec();
    let at = random.index(new.len());
    match random.below(3) {
        0 => new[at] ^= 1 << random.below(8),
        1 => new[at] = random.byte(),
        _ => {
            let to = new.len().min(at + 1 + random.index(40));
            new[at..to].fill(0);
        }
    }
    (new != bytes).then_some(new)
}

/// Changes bytes of the log. In a log that was closed cleanly, every byte matters; other logs are
/// attacked in the tests of `audit`, which know the meaning of the bytes.
fn log_bytes(profile: &Profile, moment: &Moment, random: &mut Random) -> Option<String> {
    if moment.data.contains_key(Path::new("audit.db-wal")) {
        return None;
    }
    profile.write("audit.db", &damage(&moment.data[Path::new("audit.db")], random)?);
    Some("damage in audit.db".to_owned())
}

fn log_cut(profile: &Profile, moment: &Moment, random: &mut Random) -> Option<String> {
    let bytes = &moment.data[Path::new("audit.db")];
    let to = random.index(bytes.len());
    let _ = fs::remove_file(profile.world.data().join("audit.db-wal"));
    profile.write("audit.db", &bytes[..to]);
    Some(format!("audit.db cut to {to} bytes"))
}

fn no_log(profile: &Profile, _: &Moment, _: &mut Random) -> Option<String> {
    profile.put_early_log();
    fs::remove_file(profile.world.data().join("audit.db")).expect("removed");
    Some("no log".to_owned())
}

fn early_log(profile: &Profile, _: &Moment, _: &mut Random) -> Option<String> {
    profile.put_early_log();
    Some("an early log".to_owned())
}

fn early_log_and_mark(profile: &Profile, moment: &Moment, _: &mut Random) -> Option<String> {
    profile.put_early_log();
    let (path, _) = profile.mark(moment);
    fs::write(path, profile.mark(&profile.early).1).expect("written");
    Some("an early log with its mark".to_owned())
}

fn early_log_and_mark_and_installation(
    profile: &Profile,
    moment: &Moment,
    random: &mut Random,
) -> Option<String> {
    early_log_and_mark(profile, moment, random);
    fs::remove_file(profile.world.data().join("installation")).expect("removed");
    Some("an early log with its mark, and no installation".to_owned())
}

/// Forges the mark of the early log with a higher counter, without knowing the key.
fn early_log_with_forged_mark(
    profile: &Profile,
    moment: &Moment,
    random: &mut Random,
) -> Option<String> {
    profile.put_early_log();
    let (path, _) = profile.mark(moment);
    let mut mark: serde_json::Value =
        serde_json::from_slice(profile.mark(&profile.early).1).expect("JSON");
    mark["counter"] =
        (mark["counter"].as_u64().expect("a number") + 1 + random.below(2_000)).into();
    let unsigned = random.chance(50);
    if unsigned {
        mark.as_object_mut().expect("an object").remove("signature");
    }
    fs::write(path, mark.to_string()).expect("written");
    Some(format!("an early log with a forged mark (unsigned: {unsigned})"))
}

fn mark_bytes(profile: &Profile, moment: &Moment, random: &mut Random) -> Option<String> {
    let (path, bytes) = profile.mark(moment);
    fs::write(path, damage(bytes, random)?).expect("written");
    Some("damage in the mark".to_owned())
}

fn forged_mark(profile: &Profile, moment: &Moment, random: &mut Random) -> Option<String> {
    let (path, bytes) = profile.mark(moment);
    let mut mark: serde_json::Value = serde_json::from_slice(bytes).expect("JSON");
    let name = *random.pick(&["size", "counter"]);
    mark[name] = (mark[name].as_u64().expect("a number") + 1 + random.below(50)).into();
    fs::write(path, mark.to_string()).expect("written");
    Some(format!("another {name} in the mark"))
}

fn change_installation(profile: &Profile, moment: &Moment, random: &mut Random) -> Option<String> {
    let path = profile.world.data().join("installation");
    let id = String::from_utf8_lossy(&moment.data[Path::new("installation")]).into_owned();
    match random.below(4) {
        0 => fs::remove_file(path).expect("removed"),
        1 => fs::write(path, "").expect("written"),
        2 => fs::write(path, &profile.other[Path::new("installation")]).expect("written"),
        _ => {
            let at = random.index(id.trim().len());
            let mut bytes = id.into_bytes();
            bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
            fs::write(path, bytes).expect("written");
        }
    }
    Some("another installation, or none".to_owned())
}

fn installation_and_early_log(
    profile: &Profile,
    moment: &Moment,
    random: &mut Random,
) -> Option<String> {
    profile.put_early_log();
    change_installation(profile, moment, random)
}

fn others_log(profile: &Profile, _: &Moment, random: &mut Random) -> Option<String> {
    profile.put_early_log();
    profile.write("audit.db", &profile.other[Path::new("audit.db")]);
    let with_id = random.chance(50);
    if with_id {
        profile.write("installation", &profile.other[Path::new("installation")]);
    }
    Some(format!("another profile's log (with its installation: {with_id})"))
}

fn others_folder(profile: &Profile, _: &Moment, _: &mut Random) -> Option<String> {
    put(&profile.world.data(), &profile.other);
    Some("another profile's folder".to_owned())
}

fn no_folder(profile: &Profile, _: &Moment, _: &mut Random) -> Option<String> {
    fs::remove_dir_all(profile.world.data()).expect("removed");
    Some("no data folder".to_owned())
}

/// Damages the entry in the state folder that says that this profile has a log.
fn damage_index(profile: &Profile, moment: &Moment, random: &mut Random) -> Option<String> {
    let of_this = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes).contains(&format!("{}\"", profile.world.data().display()))
    };
    let (name, bytes) = moment
        .state
        .iter()
        .find(|(name, bytes)| name.starts_with("countersign/logs") && of_this(bytes))?;
    let to = random.index(bytes.len());
    fs::write(profile.world.path("state").join(name), &bytes[..to]).expect("written");
    Some(format!("the index cut to {to} bytes"))
}

#[test]
fn every_tampering_with_a_profile_is_reported() {
    let plan = Plan::new("tamperings with profiles", 1_500);
    let profile = Profile::new();
    let mut count = Count::default();
    for (part, moment) in profile.now.iter().enumerate() {
        profile.begin(moment);
        one_moment(&plan, &profile, part as u64, moment, &mut count);
    }
    eprintln!("tamperings with profiles: {count:?}");
}

#[derive(Debug, Default)]
struct Count {
    found: u64,
    in_exports: u64,
    in_the_keyring: u64,
}

fn one_moment(plan: &Plan, profile: &Profile, part: u64, moment: &Moment, count: &mut Count) {
    let until = plan.cases() * (part + 1) / profile.now.len() as u64;
    for case in 0.. {
        if count.found >= until {
            break;
        }
        let number = part << 32 | case;
        let (mut random, name) = (plan.random(number), plan.case(number));
        profile.restore(moment);
        match random.below(20) {
            0..=1 => {
                change_export(profile, &mut random, &name);
                count.in_exports += 1;
            }
            2 => {
                change_keyring(profile, moment, &mut random, &name);
                count.in_the_keyring += 1;
            }
            _ => {
                let Some(what) = random.pick(&ATTACKS)(profile, moment, &mut random) else {
                    continue;
                };
                let (code, said) = profile.verify(&[]);
                assert_eq!(code, Some(5), "{name}: {what}: {said}");
                // Other commands refuse this log, too.
                if random.chance(10) {
                    let out = profile
                        .keyring
                        .csign(&profile.world, &["ask", "hello"])
                        .output()
                        .expect("started");
                    assert_eq!(
                        out.status.code(),
                        Some(5),
                        "{name}: {what}: {}",
                        String::from_utf8_lossy(&out.stderr)
                    );
                }
            }
        }
        count.found += 1;
    }
}

fn change_export(profile: &Profile, random: &mut Random, case: &str) {
    let folder = profile.world.path("export");
    put(&folder, &profile.export);
    let files: Vec<&PathBuf> =
        profile.export.keys().filter(|name| name.to_string_lossy() != "README").collect();
    let name = *random.pick(&files);
    let new = loop {
        if let Some(new) = damage(&profile.export[name], random) {
            break new;
        }
    };
    fs::write(folder.join(name), new).expect("written");
    let (code, said) = profile.verify(&[folder.to_str().expect("a name")]);
    assert_eq!(code, Some(5), "{case}: damage in {}: {said}", name.display());
}

fn change_keyring(profile: &Profile, moment: &Moment, random: &mut Random, case: &str) {
    let (attributes, mark) =
        profile.keyring.item(&profile.world, &installation(&moment.data), MARK);
    let changed = {
        let mut fields: serde_json::Value = serde_json::from_str(&mark).expect("JSON");
        let name = *random.pick(&["size", "counter"]);
        fields[name] = (fields[name].as_u64().expect("a number") + 1 + random.below(50)).into();
        fields.to_string()
    };
    profile.keyring.replace(&profile.world, &attributes, &changed);
    let (code, said) = profile.verify(&[]);
    profile.keyring.replace(&profile.world, &attributes, &mark);
    assert_eq!(code, Some(5), "{case}: the keyring's mark is {changed}: {said}");
    let (code, said) = profile.verify(&[]);
    assert_eq!(
        code,
        Some(5),
        "{case}: the alarm stays when the keyring's mark is put back: {said}"
    );
    profile.restore(moment);
    assert_eq!(profile.verify(&[]).0, Some(0), "{case}: put back");
}
