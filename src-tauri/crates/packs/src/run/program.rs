//! Runs a program of a pack. The program gets its arguments as a list or as JSON on its input,
//! never through a shell. It gets a new working folder, an environment without the user's
//! variables, and limits on its resources and output. The engine enforces the time limit.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
};

use contract::{
    AgentError, Reason, json_text,
    manifest::{Answer, ProgramCall, Stdin},
    text,
};
use engine::ports::{ToolFailure, ToolRequest};
use guard::Limits;
#[cfg(target_os = "linux")]
use guard::{Folders, Permits, Sandbox, Sockets};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::Command,
};
use tokio_util::sync::CancellationToken;

use super::{
    failure::{bad_value, config, not_started, possibly_executed_failure},
    process::{Group, Killer},
    template::{Piece, Template, plain, value_of},
};

const DEFAULT_MEMORY_MB: u64 = 1_024;
const DEFAULT_OUTPUT: u64 = 1024 * 1024;
/// The most bytes of the error output that are kept.
const MAX_STDERR: usize = 8 * 1024;
const FILE_BYTES: u64 = 256 * 1024 * 1024;
const FILES: u64 = 256;
/// The sysexits code for a temporary failure.
const TEMPORARY: i32 = 75;

/// The location of a program, and its inputs besides the arguments.
#[derive(Clone, Debug)]
pub struct ProgramSetup {
    /// The result of `mcp::resolve_program`: a program in the packor a program of the app.
    pub program: PathBuf,
    pub pack_folder: PathBuf,
    /// The pack's own permanent folder, if its manifest requests a folder.
    pub data: Option<PathBuf>,
    /// Variables that the manifest names, with their values.
    pub env: BTreeMap<String, String>,
    /// The credential, with the name of the variable that contains it.
    pub secret: Option<(String, SecretString)>,
}

/// Runs a single attempt of a call.
pub async fn run_program(
    call: &ProgramCall,
    request: &ToolRequest,
    setup: ProgramSetup,
    cancel: &CancellationToken,
) -> Result<Value, ToolFailure> {
    let none = Map::new();
    let arguments = request.arguments.as_object().unwrap_or(&none);
    let args = argv(&call.args, arguments).map_err(not_started)?;
    let work = tempfile::Builder::new().prefix("countersign-").tempdir().map_err(|e| {
        not_started(
            AgentError::internal(
                "tool_config_error",
                text!(
                    "No folder could be made for {tool}: {error}.",
                    tool = request.spec.title,
                    error = e
                ),
            )
            .hint("Free some disk space, then try again."),
        )
    })?;
    let mut command = Command::new(&setup.program);
    command.args(&args).current_dir(work.path()).env_clear().envs(environment(
        &setup,
        work.path(),
        request,
    ));
    command
        .stdin(if call.stdin == Stdin::Json { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let memory_mb = if call.memory_mb == 0 { DEFAULT_MEMORY_MB } else { call.memory_mb };
    let limits = Limits {
        memory_bytes: memory_mb.saturating_mul(1024 * 1024),
        file_bytes: FILE_BYTES,
        files: FILES,
    };
    let confine = confinement(call, &setup, work.path()).map_err(|why| {
        let hint = "Update or restart the system: programs of packs do not run with less protection than `csign doctor` tells.";
        not_started(config(text!("{tool} was not started: {why}.", tool = request.spec.title, why), hint))
    })?;
    let started = Group::start(command, limits, work, confine).await;
    let mut group = started.map_err(|e| {
        not_started(config(
            text!("{tool} could not be started: {error}.", tool = request.spec.title, error = e),
            "Check that the program exists, may be executed, and that its interpreter lies in /usr.",
        ))
    })?;
    let pipes =
        group.child().map(|child| (child.stdin.take(), child.stdout.take(), child.stderr.take()));
    let (stdin, stdout, stderr) = pipes.unwrap_or_default();
    if let Some(mut stdin) = stdin {
        let text = request.arguments.to_string();
        // A program may ignore its input, so write errors are ignored.
        tokio::spawn(async move { drop(stdin.write_all(text.as_bytes()).await) });
    }
    let limit = usize::try_from(if call.max_output_bytes == 0 {
        DEFAULT_OUTPUT
    } else {
        call.max_output_bytes
    })
    .unwrap_or(usize::MAX);
    let killer = group.killer();
    let working =
        async { tokio::join!(read_all(stdout, limit, killer), read_tail(stderr), group.wait()) };
    let title = &request.spec.title;
    tokio::select! {
        (out, err, status) = working => {
            let status = status.map_err(|e| possibly_executed_failure(AgentError::internal("program_failed", text!("{tool} could not be followed: {error}.", tool = title, error = e))))?;
            let Some(out) = out else {
                let error = AgentError::internal("output_too_large", text!("{tool} printed more than {limit} bytes.", tool = title, limit));
                return Err(possibly_executed_failure(error.hint("Ask for less at a time.")));
            };
            if status.success() { read_output(call.output, &out, title) } else { Err(exit_failure(status, &err, title)) }
        }
        () = cancel.cancelled() => Err(possibly_executed_failure(AgentError::internal("cancelled", text!("{tool} was stopped.", tool = title)))),
    }
}

#[cfg(target_os = "linux")]
fn confinement(
    call: &ProgramCall,
    setup: &ProgramSetup,
    work: &Path,
) -> Result<impl FnMut() -> std::io::Result<()> + Send + Sync + use<>, String> {
    let mut own = vec![work];
    own.extend(setup.data.as_deref());
    // A program outside the pack's folder belongs to the app or a test. In that case, only the
    // program's file is made readable.
    let pack = if setup.program.starts_with(&setup.pack_folder) {
        setup.pack_folder.as_path()
    } else {
        setup.program.as_path()
    };
    let sockets = if call.network { Sockets::Internet } else { Sockets::Pairs };
    let open_files = setup.data.is_some();
    let permits = Permits { sockets, sessions: false, open_files, by_path: false };
    let folders = Folders { run: &[pack], read: &[], own: &own };
    let mut sandbox = Sandbox::new(&folders, permits)?;
    Ok(move || sandbox.enforce())
}

#[cfg(not(target_os = "linux"))]
fn confinement(
    _: &ProgramCall,
    _: &ProgramSetup,
    _: &Path,
) -> Result<impl FnMut() -> std::io::Result<()> + Send + Sync + use<>, String> {
    Ok(|| Ok(()))
}

fn environment(
    setup: &ProgramSetup,
    work: &Path,
    request: &ToolRequest,
) -> BTreeMap<String, String> {
    let work = work.display().to_string();
    let fixed = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("HOME", work.clone()),
        ("TMPDIR", work),
    ];
    let mut env: BTreeMap<String, String> =
        fixed.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    // A program cannot reach the session bus, so the variables with the bus address are removed.
    env.extend(setup.env.clone().into_iter().filter(|(name, _)| !name.starts_with("DBUS_")));
    if let Some(data) = &setup.data {
        env.insert("COUNTERSIGN_PACK_DATA".into(), data.display().to_string());
    }
    if let Some(key) = &request.idempotency_key {
        env.insert("COUNTERSIGN_IDEMPOTENCY_KEY".into(), key.clone());
    }
    if let Some((name, secret)) = &setup.secret {
        env.insert(name.clone(), secret.expose_secret().to_owned());
    }
    env
}

/// Returns the arguments of the program, one for each template. A template with an absent argument
/// is left out.
fn argv(templates: &[String], arguments: &Map<String, Value>) -> Result<Vec<String>, AgentError> {
    let mut args: Vec<String> = Vec::new();
    let mut options_ended = false;
    for source in templates {
        let template = Template::parse(source).map_err(|problem| {
            config(
                text!("An argument of this tool cannot be read: {problem}.", problem),
                "Correct `args` in pack.json.",
            )
        })?;
        options_ended |= source == "--";
        // A text that begins with an argument's value could be read as an option.
        let leads = matches!(template.0.first(), Some(Piece::Argument(_))) && !options_ended;
        let first = template.names().next().unwrap_or_default().to_owned();
        let values = match template.single_argument().and_then(|name| value_of(arguments, name)) {
            Some(Value::Array(list)) => list.iter().map(plain).collect(),
            _ => template
                .fill::<AgentError>(arguments, |_, value| Ok(plain(value)))?
                .into_iter()
                .collect::<Vec<_>>(),
        };
        for value in &values {
            if value.contains('\0') {
                return Err(bad_value(&first, "it holds a zero character"));
            }
            if leads && value.starts_with('-') && value.parse::<f64>().is_err() {
                return Err(bad_value(
                    &first,
                    "it begins with `-` and would be read as an option of the program",
                ));
            }
        }
        args.extend(values);
    }
    Ok(args)
}

/// Reads a pipe to its end. If the output exceeds the limit, the program is killed.
async fn read_all(
    pipe: Option<impl AsyncRead + Unpin>,
    limit: usize,
    killer: Killer,
) -> Option<Vec<u8>> {
    let mut kept = Vec::new();
    let mut pipe = pipe?;
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    (&mut pipe).take(most).read_to_end(&mut kept).await.ok()?;
    if kept.len() > limit {
        killer.kill();
        return None;
    }
    Some(kept)
}

async fn read_tail(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let mut tail: Vec<u8> = Vec::new();
    let mut buffer = [0_u8; 4096];
    let Some(mut pipe) = pipe else { return String::new() };
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        tail.extend_from_slice(&buffer[..read]);
        if tail.len() > 2 * MAX_STDERR {
            tail.drain(..tail.len() - MAX_STDERR);
        }
    }
    let from = tail.len().saturating_sub(MAX_STDERR);
    String::from_utf8_lossy(&tail[from..]).trim().to_owned()
}

fn read_output(answer: Answer, out: &[u8], title: &str) -> Result<Value, ToolFailure> {
    match answer {
        Answer::Text => Ok(json!({"text": String::from_utf8_lossy(out).trim_end()})),
        Answer::Json if out.iter().all(u8::is_ascii_whitespace) => Ok(json!({})),
        Answer::Json => json_text::value_or_text(out).map_err(|e| {
            let said: String = String::from_utf8_lossy(out).chars().take(500).collect();
            possibly_executed_failure(
                AgentError::internal(
                    Reason::InvalidResponse,
                    text!(
                        "{tool} printed something that is not JSON: {error}.",
                        tool = title,
                        error = e
                    ),
                )
                .with("answer", said),
            )
        }),
    }
}

fn exit_failure(status: std::process::ExitStatus, complaints: &str, title: &str) -> ToolFailure {
    use std::os::unix::process::ExitStatusExt as _;
    let last: String = complaints.lines().last().unwrap_or_default().chars().take(300).collect();
    let tool = title;
    let sentence = match (status.code(), status.signal(), last.as_str()) {
        (Some(code), _, "") => text!("{tool} ended with code {code}.", tool, code),
        (Some(code), _, last) => text!("{tool} ended with code {code}: {last}", tool, code, last),
        (None, Some(signal), "") => text!("{tool} was ended by signal {signal}.", tool, signal),
        (None, Some(signal), last) => {
            text!("{tool} was ended by signal {signal}: {last}", tool, signal, last)
        }
        (None, None, "") => text!("{tool} ended in an unknown way.", tool),
        (None, None, last) => text!("{tool} ended in an unknown way: {last}", tool, last),
    };
    let error = AgentError::internal("program_failed", sentence)
        .with("exit_code", json!(status.code()))
        .with("answer", complaints)
        .retryable(status.code() == Some(TEMPORARY));
    possibly_executed_failure(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(templates: &[&str], arguments: Value) -> Result<Vec<String>, AgentError> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        argv(&templates.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>(), &arguments)
    }

    #[test]
    fn program_arguments_are_passed_as_an_array_and_never_become_options() {
        let some = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            args(&["--limit={n}", "{q}", "x"], json!({"n": 3, "q": "a b; rm -rf $HOME"})).unwrap(),
            some(&["--limit=3", "a b; rm -rf $HOME", "x"])
        );
        assert_eq!(
            args(&["--limit={n}", "{list}"], json!({"list": ["a", 2]})).unwrap(),
            some(&["a", "2"]),
            "absent ones are left out"
        );
        assert_eq!(
            args(&["{n}"], json!({"n": -5})).unwrap(),
            some(&["-5"]),
            "a number is no option"
        );
        assert_eq!(args(&["--", "{q}"], json!({"q": "-x"})).unwrap(), some(&["--", "-x"]));
        for (template, value) in
            [("{q}", "--output=/etc/x"), ("{q}", "-x"), ("{q}.txt", "-rf"), ("--q={q}", "a\0b")]
        {
            assert_eq!(
                args(&[template], json!({"q": value})).unwrap_err().reason_text(),
                Some("unusable_value"),
                "{template} {value}"
            );
        }
        assert!(args(&["{list}"], json!({"list": ["ok", "-x"]})).is_err());
    }
}
