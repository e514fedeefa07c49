//! Tests programs as tools: their input, what they can access on this machine, and how they end.
#![cfg(target_os = "linux")]

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use contract::{Isolation, ToolTarget};
use engine::ports::ToolFailure;
use packs::run::{ProgramSetup, isolation, run_program};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::running::{request, spec_in, target};

pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    pub(crate) fn setup(&self) -> ProgramSetup {
        let root = self.folder.path().canonicalize().unwrap();
        ProgramSetup {
            program: root.join("program"),
            pack_folder: root,
            data: None,
            env: [("GIVEN".to_owned(), "yes".to_owned())].into(),
            secret: None,
        }
    }

    pub(crate) async fn run(&self, call: Value, arguments: Value) -> Result<Value, ToolFailure> {
        self.run_at(self.setup(), call, arguments).await
    }

    /// Runs the program with a permanent folder.
    pub(crate) async fn run_with_data(
        &self,
        data: &Path,
        call: Value,
    ) -> Result<Value, ToolFailure> {
        self.run_at(
            ProgramSetup { data: Some(data.to_owned()), ..self.setup() },
            call,
            json!({"id": "x"}),
        )
        .await
    }

    async fn run_at(
        &self,
        setup: ProgramSetup,
        mut call: Value,
        arguments: Value,
    ) -> Result<Value, ToolFailure> {
        call["command"] = json!("./program");
        let spec = spec_in(self.folder.path(), json!({"kind": "other", "program": call}));
        let ToolTarget::Program { call } = target(&spec) else { panic!("a program") };
        run_program(call, &request(&spec, arguments), setup, &CancellationToken::new()).await
    }
}

fn text(result: Result<Value, ToolFailure>) -> String {
    result.unwrap()["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn program_arguments_are_passed_as_an_array_or_json_and_never_through_a_shell() {
    let bench = Bench::new("#!/bin/sh\nprintf '%s|' \"$@\"\n");
    let said = text(
        bench
            .run(
                json!({"args": ["--n={n}", "{id}", "{q}"], "output": "text"}),
                json!({"id": "$(id) `id` ; ls", "n": 3}),
            )
            .await,
    );
    assert_eq!(said, "--n=3|$(id) `id` ; ls|");
    let bench = Bench::new("#!/bin/sh\ncat\n");
    assert_eq!(
        bench.run(json!({"stdin": "json"}), json!({"id": "å\n\"", "n": 3})).await.unwrap(),
        json!({"id": "å\n\"", "n": 3})
    );
}

#[tokio::test]
async fn a_program_runs_with_a_minimal_environment_in_an_empty_folder() {
    let bench = Bench::new(
        "#!/bin/sh\nenv | cut -d= -f1 | sort | tr '\\n' ' '; pwd; ls -A | wc -l; touch here\n",
    );
    let said = text(bench.run(json!({"output": "text"}), json!({"id": "x"})).await);
    let mut lines = said.lines();
    let (names, folder) = lines.next().unwrap().rsplit_once(' ').unwrap();
    for name in names.split(' ') {
        assert!(
            ["GIVEN", "HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "_"]
                .contains(&name),
            "{names}"
        );
    }
    assert_eq!(lines.next().map(str::trim), Some("0"));
    assert!(!Path::new(folder).exists(), "it is gone afterwards");
}

#[tokio::test]
async fn a_failed_program_is_reported_with_exit_code_and_last_output() {
    let bench = Bench::new("#!/bin/sh\necho first >&2; echo 'no such customer' >&2; exit 3\n");
    let failure = bench.run(json!({}), json!({"id": "x"})).await.unwrap_err();
    assert_eq!(failure.error.reason_text(), Some("program_failed"));
    assert!(
        failure.error.message.contains("code 3: no such customer") && failure.may_have_happened,
        "{}",
        failure.error
    );
    let bench = Bench::new("#!/bin/sh\nexit 75\n");
    assert!(bench.run(json!({}), json!({"id": "x"})).await.unwrap_err().error.retryable);
    let bench = Bench::new("#!/bin/sh\necho no json\n");
    assert_eq!(
        bench.run(json!({}), json!({"id": "x"})).await.unwrap_err().error.reason_text(),
        Some("invalid_response")
    );
    let bench = Bench::new("#!/nowhere/interpreter\n");
    let failure = bench.run(json!({}), json!({"id": "x"})).await.unwrap_err();
    assert!(
        failure.error.reason_text() == Some("tool_config_error") && !failure.may_have_happened,
        "{}",
        failure.error
    );
}

#[tokio::test]
async fn output_and_memory_of_a_program_are_limited() {
    let bench = Bench::new(
        "#!/bin/sh\nwhile :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done\n",
    );
    let failure = bench
        .run(json!({"output": "text", "max_output_bytes": 10_000}), json!({"id": "x"}))
        .await
        .unwrap_err();
    assert_eq!(failure.error.reason_text(), Some("output_too_large"));
    let bench = Bench::new("#!/bin/sh\nulimit -v; ulimit -c\n");
    assert_eq!(
        text(bench.run(json!({"output": "text", "memory_mb": 64}), json!({"id": "x"})).await),
        "65536\n0"
    );
}

#[tokio::test]
async fn stopping_a_run_ends_all_processes_it_started() {
    let bench = Bench::new(
        "#!/bin/sh\n(sleep 600 & echo $! > \"$COUNTERSIGN_PACK_DATA/pid\"; wait) &\nwait\n",
    );
    let data = tempfile::tempdir().unwrap();
    let spec = spec_in(
        bench.folder.path(),
        json!({"kind": "other", "program": {"command": "./program", "data_dir": true}}),
    );
    let ToolTarget::Program { call } = target(&spec) else { panic!("a program") };
    let setup = ProgramSetup { data: Some(data.path().to_owned()), ..bench.setup() };
    let cancel = CancellationToken::new();
    let file = data.path().join("pid");
    let asked = request(&spec, json!({"id": "x"}));
    let running = run_program(call, &asked, setup, &cancel);
    let stop = async {
        while fs::read_to_string(&file).unwrap_or_default().trim().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(running, stop);
    assert_eq!(ended.unwrap_err().error.reason_text(), Some("cancelled"));
    let pid = fs::read_to_string(&file).unwrap().trim().to_owned();
    let alive =
        || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    for _ in 0..2_000 {
        if !alive() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the grandchild {pid} still runs");
}

/// A test in the role of the app: it runs a program that starts others, prints their ids, and waits
/// to be killed.
#[test]
fn role_app() {
    if std::env::var_os("ROLE").is_none() {
        return;
    }
    let script = "#!/bin/sh\nsleep 600 &\necho $! >> \"$COUNTERSIGN_PACK_DATA/ids\"\n(sh -c 'sleep 600; sleep 600' & echo $! >> \"$COUNTERSIGN_PACK_DATA/ids\")\necho $$ >> \"$COUNTERSIGN_PACK_DATA/ids\"\nwait\n";
    let bench = Bench::new(script);
    let data = tempfile::tempdir().unwrap();
    let setup = ProgramSetup { data: Some(data.path().to_owned()), ..bench.setup() };
    let file = data.path().join("ids");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let spec = spec_in(
            bench.folder.path(),
            json!({"kind": "other", "program": {"command": "./program", "data_dir": true}}),
        );
        let ToolTarget::Program { call } = target(&spec) else { panic!("a program") };
        let (asked, cancel) = (request(&spec, json!({"id": "x"})), CancellationToken::new());
        let tell = async {
            loop {
                let ids = fs::read_to_string(&file).unwrap_or_default();
                if ids.lines().count() == 3 {
                    println!("\nprocesses {}", ids.lines().collect::<Vec<_>>().join(" "));
                    std::io::Write::flush(&mut std::io::stdout()).unwrap();
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            ended = run_program(call, &asked, setup, &cancel) => panic!("it ended: {ended:?}"),
            () = tell => {}
        }
    });
}

#[test]
fn killing_the_app_ends_all_processes_of_a_program() {
    use std::io::BufRead as _;
    let mut app = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "program::role_app", "--nocapture"])
        .env("ROLE", "app")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(app.stdout.take().unwrap()).lines();
    let told = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("processes ").map(str::to_owned))
        .expect("the app tells its processes");
    app.kill().unwrap();
    app.wait().unwrap();
    for pid in told.split(' ') {
        let alive = || {
            fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
        };
        for _ in 0..2_000 {
            if !alive() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!alive(), "{pid} of {told} still runs");
    }
}

/// The isolation depends on the kernel. If this kernel supports Landlock, all restrictions must be
/// effective.
#[tokio::test]
async fn a_program_can_read_its_pack_but_not_the_users_files() {
    if isolation().landlock_abi == 0 {
        return;
    }
    let secrets = tempfile::tempdir().unwrap();
    fs::write(secrets.path().join("countersign.db"), "secret").unwrap();
    let script = format!(
        "#!/bin/sh\nfor f in {0}/countersign.db /etc/shadow /root/.profile /proc/1/environ /proc/$$/environ /tmp; do\n  if [ -d $f ]; then ls $f >/dev/null 2>&1 && echo \"sees $f\"; else cat $f >/dev/null 2>&1 && echo \"sees $f\"; fi\ndone\ncat \"$0\" >/dev/null && echo pack\necho x > \"$(dirname \"$0\")/new\" 2>/dev/null && echo 'writes pack'\necho x > {0}/new 2>/dev/null && echo 'writes there'\necho x > mine && cat mine\n",
        secrets.path().display()
    );
    let said = text(Bench::new(&script).run(json!({"output": "text"}), json!({"id": "x"})).await);
    assert_eq!(said.lines().collect::<Vec<_>>(), ["pack", "x"]);
}

/// From here on, this thread and its children may query Landlock's version but not create a
/// ruleset.
fn refuse_rulesets() {
    let sized = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0).unwrap();
    let rules = BTreeMap::from([(
        libc::SYS_landlock_create_ruleset,
        vec![SeccompRule::new(vec![sized]).unwrap()],
    )]);
    let (refuse, arch) = (
        SeccompAction::Errno(u32::try_from(libc::EPERM).unwrap()),
        TargetArch::try_from(std::env::consts::ARCH).unwrap(),
    );
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).unwrap();
    seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

#[test]
fn a_program_is_not_run_if_the_reported_isolation_cannot_be_applied() {
    if isolation().level != Isolation::Full {
        return;
    }
    let ran = std::thread::spawn(|| {
        refuse_rulesets();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(
            Bench::new("#!/bin/sh\necho ran\n").run(json!({"output": "text"}), json!({"id": "x"})),
        )
    });
    let failure = ran.join().unwrap().unwrap_err();
    assert_eq!(
        (failure.error.reason_text(), failure.may_have_happened),
        (Some("tool_config_error"), false),
        "{}",
        failure.error
    );
    assert!(failure.error.message.contains("Landlock"), "{}", failure.error);
}

#[tokio::test]
async fn a_program_can_open_only_declared_sockets_and_none_of_the_desktop() {
    if isolation().level != Isolation::Full {
        return;
    }
    let script = "#!/usr/bin/python3\nimport socket, os, json\nseen = []\nfor name, family in [('unix', socket.AF_UNIX), ('inet', socket.AF_INET), ('inet6', socket.AF_INET6)]:\n    try:\n        socket.socket(family, socket.SOCK_STREAM).close()\n        seen.append(name)\n    except PermissionError:\n        pass\ntry:\n    socket.socketpair()\n    seen.append('pair')\nexcept PermissionError:\n    pass\ntry:\n    os.setsid()\n    seen.append('leaves')\nexcept PermissionError:\n    pass\nprint(json.dumps({'seen': seen}))\n";
    let bench = Bench::new(script);
    assert_eq!(bench.run(json!({}), json!({"id": "x"})).await.unwrap()["seen"], json!(["pair"]));
    assert_eq!(
        bench.run(json!({"network": true}), json!({"id": "x"})).await.unwrap()["seen"],
        json!(["inet", "inet6", "pair"])
    );
}

#[test]
fn the_isolation_level_is_described_in_a_sentence() {
    let found = isolation();
    assert_eq!(found.level == Isolation::Full, found.landlock_abi > 0 && found.seccomp);
    assert!(found.message.ends_with('.'));
}
