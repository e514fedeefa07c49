//! The committed TypeScript and JSON Schema files equal the output that the types generate.
//! `UPDATE_GENERATED=1 cargo test -p contract --test generated` rewrites the files.
#![allow(clippy::expect_used, reason = "a test that cannot go on is to fail there")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use contract::{commands::SIGNATURES, manifest::PackManifest};
use serde_json::{Map, Value};
use ts_rs::{Config, TS};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(3)
        .expect("the crate lies three folders below the root")
        .to_owned()
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else {
                let name =
                    path.strip_prefix(folder).expect("below the folder").display().to_string();
                found.insert(name, fs::read_to_string(&path).expect("generated files are text"));
            }
        }
    }
    found
}

fn command_map() -> String {
    let mut names: Vec<&str> = SIGNATURES.iter().flat_map(|(_, p, r)| [*p, *r]).collect();
    names.sort_unstable();
    names.dedup();
    let imports: String =
        names.iter().map(|n| format!("import type {{ {n} }} from \"./{n}\";\n")).collect();
    let rows: String = SIGNATURES
        .iter()
        .map(|(c, p, r)| format!("  {c}: {{ params: {p}; response: {r} }};\n"))
        .collect();
    format!(
        "// Generated from the command list in `contract`. Do not edit.\n{imports}\nexport type CommandMap = {{\n{rows}}};\n"
    )
}

/// Returns the table of hidden characters for the window.
fn hidden_table() -> String {
    let rows: String = contract::hidden::HIDDEN
        .iter()
        .map(|(first, last)| format!("  [0x{first:04x}, 0x{last:04x}],\n"))
        .collect();
    format!(
        "// Generated from `hidden` of `contract`. Do not edit.\n\n/** The first and last code point of each stretch of hidden characters. */\nexport const HIDDEN: readonly (readonly [number, number])[] = [\n{rows}];\n"
    )
}

macro_rules! export_params {
    ($config:expr, $($ty:ty),+ $(,)?) => { $(<$ty as TS>::export_all($config).expect(stringify!($ty));)+ };
}

fn generate(folder: &Path) {
    let config = Config::new().with_out_dir(folder).with_large_int("number");
    export_params!(
        &config,
        contract::Push,
        contract::TurnEvent,
        contract::AgentError,
        contract::manifest::AgentProfile,
        contract::result::ResultContent,
        contract::definitions::Definitions,
        contract::definitions::DefinitionView,
        contract::metric_query::MetricQuery,
        contract::metric_query::DataResult
    );
    macro_rules! each {
        (
            chat { $($n:ident($p:ty) -> $r:ty, $l:ident, $h:literal;)+ }
            approval { $($an:ident($ap:ty) -> $ar:ty, $al:ident, $ah:literal;)+ }
        ) => {
            export_params!(&config, $($p, $r,)+ $($ap, $ar,)+);
        };
    }
    use contract::*;
    contract::with_commands!(each);
    fs::write(folder.join("commands.ts"), command_map()).expect("the command map is written");
    fs::write(folder.join("hidden.ts"), hidden_table()).expect("the table is written");
}

#[test]
fn the_generated_typescript_is_current() {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    generate(fresh.path());
    let kept = root().join("ui/src/platform/generated");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir_all(&kept).expect("the folder is made");
        for (name, text) in files(fresh.path()) {
            let path = kept.join(name);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
    }
    assert_eq!(
        files(fresh.path()),
        files(&kept),
        "run UPDATE_GENERATED=1 cargo test -p contract --test generated"
    );
}

/// Lists the words of an enumeration in `enum`, with their descriptions in a separate member. For
/// words with descriptions, the generator makes a `oneOf` of constants, for which validators give
/// poor messages.
fn list_words(schema: Value) -> Value {
    match schema {
        Value::Object(map) => match words_of(&map) {
            Some((words, descriptions)) => map
                .into_iter()
                .filter(|(name, _)| name != "oneOf")
                .chain([
                    ("type".to_owned(), Value::from("string")),
                    ("enum".to_owned(), Value::from(words)),
                    ("enumDescriptions".to_owned(), Value::from(descriptions)),
                ])
                .collect(),
            None => map.into_iter().map(|(name, value)| (name, list_words(value))).collect(),
        },
        Value::Array(list) => list.into_iter().map(list_words).collect(),
        other => other,
    }
}

/// Returns the words and their descriptions if a schema is an enumeration of described words.
fn words_of(schema: &Map<String, Value>) -> Option<(Vec<String>, Vec<String>)> {
    let text = |one: &Value, name: &str| one.get(name)?.as_str().map(str::to_owned);
    let one_of = schema.get("oneOf")?.as_array()?;
    one_of.iter().map(|one| Some((text(one, "const")?, text(one, "description")?))).collect()
}

fn schema_is_current(schema: schemars::Schema, file: &str) {
    let schema = schemars::Schema::try_from(list_words(schema.to_value())).expect("still a schema");
    let fresh = format!("{}\n", serde_json::to_string_pretty(&schema).expect("a schema is JSON"));
    let kept = root().join(file);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        fs::write(&kept, &fresh).expect("written");
    }
    let text = fs::read_to_string(&kept).unwrap_or_default();
    assert_eq!(fresh, text, "run UPDATE_GENERATED=1 cargo test -p contract --test generated");
}

#[test]
fn the_generated_pack_schema_is_current() {
    schema_is_current(schemars::schema_for!(PackManifest), "tools/pack.schema.json");
}

#[test]
fn the_generated_policy_schema_is_current() {
    schema_is_current(schemars::schema_for!(contract::PolicyFile), "docs/policy.schema.json");
}

/// The types of the run contract, for callers in any language.
#[derive(schemars::JsonSchema)]
#[allow(dead_code)]
struct RunContract {
    run_request: contract::RunRequest,
    run_response: contract::RunResponse,
    agent_error: contract::AgentError,
    run_event: contract::RunEvent,
}

#[test]
fn the_generated_run_schema_is_current() {
    schema_is_current(schemars::schema_for!(RunContract), "docs/run.schema.json");
}
