//! Tests packs as authors write them: each kind of fault is reported at its location, valid packs
//! resolve to the golden file, and the shipped packs have no faults.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may stop")]

mod adding;
mod attacks;
mod calls;
mod faults;
mod http;
mod program;
mod results;
mod running;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use packs::LoadedPack;
use serde_json::{Value, json};

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packs")
}

fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools")
}

fn ledger() -> Value {
    serde_json::from_str(include_str!("ledger/pack.json")).unwrap()
}

/// A resolved tool that tests use as a template for other tools.
static LEDGER_TOOL: std::sync::LazyLock<contract::ToolSpec> = std::sync::LazyLock::new(|| {
    packs::check_folder(&here().join("ledger")).pack.unwrap().tools.remove(0)
});

/// Writes a manifest into a folder, with the ledger's files.
fn write_pack(folder: &Path, manifest: &Value) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("pack.json"), manifest.to_string()).unwrap();
    for file in ["book.jinja", "server"] {
        fs::copy(here().join("ledger").join(file), folder.join(file)).unwrap();
    }
}

fn by_id<'a>(loaded: &'a [LoadedPack], id: &str) -> &'a LoadedPack {
    loaded.iter().find(|l| l.view.id.as_str() == id).unwrap()
}

#[test]
fn the_bundled_packs_have_no_problems() {
    let loaded = packs::load(&[tools()]);
    let faults: Vec<_> = loaded.iter().flat_map(|l| &l.view.faults).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let warnings = loaded.iter().flat_map(|l| &l.view.warnings);
    let unknown: Vec<_> = warnings.filter(|warning| warning.file.ends_with(".md")).collect();
    assert!(unknown.is_empty(), "members of no schema: {unknown:#?}");
    let ids: Vec<&str> = loaded.iter().map(|l| l.view.id.as_str()).collect();
    assert_eq!(ids, ["campaign-portfolio-pacing", "data", "memory", "shop", "web-api-example"]);
    for pack in &loaded {
        let tools = &pack.pack.as_ref().unwrap().tools;
        assert_eq!(&pack.view.tools, tools);
        for tool in tools {
            assert!(
                tool.model_name.len() <= 64
                    && tool
                        .model_name
                        .bytes()
                        .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
            );
            assert!(
                jsonschema::options().offline().build(&tool.input_schema).is_ok(),
                "{}",
                tool.id
            );
            for hidden in &tool.caller_owned {
                assert_eq!(
                    tool.input_schema["properties"].get(&hidden.name),
                    None,
                    "{} of {}",
                    hidden.name,
                    tool.id
                );
                assert!(tool.full_input_schema["properties"].get(&hidden.name).is_some());
            }
        }
    }
}

#[test]
fn a_specialist_can_have_tools_of_another_pack() {
    let loaded = packs::load(&[tools()]);
    let all = loaded.iter().filter_map(|one| one.pack.as_ref());
    let specs: Vec<contract::ToolSpec> = all.flat_map(|pack| pack.tools.clone()).collect();
    let tools_of = |id: &str| -> Vec<String> {
        let manifest = &by_id(&loaded, id).pack.as_ref().unwrap().manifest;
        packs::agent(manifest, &specs).tools.iter().map(|id| id.as_str().to_owned()).collect()
    };
    assert!(tools_of("campaign-portfolio-pacing").contains(&"data.measure".to_owned()));
    assert!(tools_of("data").iter().all(|id| id.starts_with("data.")), "its own tools alone");
    let packs = loaded.iter().filter_map(|one| one.pack.as_ref());
    let agents: Vec<_> = packs.map(|pack| packs::agent(&pack.manifest, &specs)).collect();
    let of_tool = engine::ports::agent_of(&agents, &specs, &"data.measure".into());
    assert_eq!(of_tool, Some("data".into()), "the specialist of its own pack answers for a tool");

    let folder = tempfile::tempdir().unwrap();
    let mut lent = ledger();
    lent["agent"]["tools"] = json!(["other:notes.find", "ledger:nothing"]);
    write_pack(&folder.path().join("ledger"), &lent);
    let faults = packs::load(&[folder.path().into()]).remove(0).view.faults;
    let fields: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
    assert_eq!(fields, ["/agent/tools/1"], "a tool of the pack itself must be there");
    lent["agent"]["tools"] = json!(["other:notes.find"]);
    write_pack(&folder.path().join("ledger"), &lent);
    let one = packs::load(&[folder.path().into()]).remove(0);
    assert!(one.pack.is_some(), "{:?}", one.view.faults);
    let warnings = &one.view.warnings;
    assert!(warnings.iter().any(|one| one.field == "/agent/tools/0"), "{warnings:?}");
}

#[test]
fn instructions_of_a_specialist_with_lent_tools_name_only_members_that_there_are() {
    let text = tools().join("campaign-portfolio-pacing/execution_instructions.md");
    let text = fs::read_to_string(text).unwrap();
    let figures = here().join("../../../analytics/src/definitions/propose/pacing.json");
    let known =
        [tools().join("data/pack.json"), figures].map(|file| fs::read_to_string(file).unwrap());
    let names: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let name = format!("\"{name}\"");
        assert!(known.iter().any(|text| text.contains(&name)), "{name} is in no result");
    }
}

/// `UPDATE_GENERATED=1` rewrites the golden file.
#[test]
fn resolved_tools_match_the_golden_file() {
    let loaded = packs::check_folder(&here().join("ledger"));
    assert_eq!(loaded.view.faults, []);
    let fresh = format!("{}\n", serde_json::to_string_pretty(&loaded.pack.unwrap().tools).unwrap());
    let golden = here().join("ledger.golden.json");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        fs::write(&golden, &fresh).unwrap();
    }
    assert_eq!(
        fresh,
        fs::read_to_string(&golden).unwrap_or_default(),
        "run UPDATE_GENERATED=1 cargo test -p packs"
    );
}

#[test]
fn the_definition_hash_changes_only_with_the_meaning_of_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let hash = |manifest: &Value| {
        write_pack(folder.path(), manifest);
        let loaded = packs::check_folder(folder.path());
        loaded.pack.unwrap_or_else(|| panic!("{:#?}", loaded.view.faults)).tools[1]
            .definition_hash
            .clone()
    };
    let before = hash(&ledger());
    let changed = |pointer: &str, value: Value| {
        let mut manifest = ledger();
        *manifest.pointer_mut(pointer).unwrap() = value;
        hash(&manifest)
    };
    assert_ne!(
        before,
        changed("/schemas/Account/pattern", json!("^[a-z]+$")),
        "the meaning of a parameter"
    );
    assert_ne!(
        before,
        changed("/tools/tools/1/usage_guidelines", json!("Books nothing.")),
        "what the model is told"
    );
    assert_ne!(before, changed("/servers/0/args", json!(["--elsewhere"])), "the program behind it");
    assert_eq!(before, changed("/title", json!("Another title")));
    assert_eq!(before, changed("/tools/tools/0/title", json!("Another tool")));
}

/// The shipped packs are loaded first, so no user pack can replace a shipped pack.
#[test]
fn a_user_pack_cannot_replace_a_bundled_pack() {
    let (user, bundled) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_pack(&bundled.path().join("ledger"), &ledger());
    write_pack(&user.path().join("ledger"), &ledger());
    let loaded =
        packs::load(&[bundled.path().into(), user.path().into(), user.path().join("nowhere")]);
    assert_eq!(loaded.len(), 2);
    assert!(loaded[0].pack.is_some() && loaded[0].view.faults.is_empty());
    assert!(loaded[1].pack.is_none() && loaded[1].view.tools.is_empty());
    let fault = &loaded[1].view.faults[0];
    assert_eq!(fault.field, "/id");
    let place = bundled.path().join("ledger").display().to_string();
    assert!(fault.problem.contains(&place), "{}", fault.problem);

    // Even a shipped pack that is faulty or unreadable keeps its name.
    fs::write(bundled.path().join("ledger/pack.json"), "{").unwrap();
    let loaded = packs::load(&[bundled.path().into(), user.path().into()]);
    assert!(loaded.iter().all(|one| one.pack.is_none()));
}

#[test]
fn a_pack_whose_id_differs_from_its_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_pack(&folder.path().join("mine"), &ledger());
    let mut added = ledger();
    added["id"] = json!("own-notes");
    write_pack(&folder.path().join("own-notes"), &added);
    let loaded = packs::load(&[folder.path().into()]);
    assert!(loaded.iter().all(|one| one.pack.is_none()));
    let problems: Vec<String> =
        loaded.iter().map(|one| one.view.faults[0].problem.to_string()).collect();
    assert!(problems[0].contains("`ledger`") && problems[0].contains("`mine`"), "{problems:?}");
    assert!(problems[1].contains("a server that a person added"), "{problems:?}");
    // The check of the folder warns the author, but the pack has no fault there and can be tried.
    let checked = packs::check_folder(&folder.path().join("mine"));
    assert!(checked.pack.is_some());
    assert_eq!(checked.view.warnings[0].field, "/id");
}

/// A manifest created by the host passes the same checks, and names its program by its path.
#[test]
fn a_manifest_created_by_the_host_is_checked_like_any_other() {
    let manifest = |command: &str, more: Value| {
        let mut server = json!({"name": "notes", "command": command, "offer_all": true});
        server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"manifest_version": 1, "id": "own-notes", "version": "1.0.0", "title": "notes",
            "description": "A server.", "servers": [server], "schemas": {}, "tools": {"tools": []}})
    };
    let nowhere = Path::new("/nowhere/servers/notes");
    let sound = packs::check_manifest(&manifest("/usr/bin/python3", json!({})), nowhere);
    assert!(sound.pack.is_some(), "{:?}", sound.view.faults);
    assert!(sound.view.manifest_hash.is_some());
    for (command, more) in [
        ("./start", json!({})),
        ("python3", json!({})),
        ("/usr/bin/python3", json!({"env": ["not a name"]})),
        ("/usr/bin/python3", json!({"surprise": true})),
    ] {
        let loaded = packs::check_manifest(&manifest(command, more), nowhere);
        assert!(loaded.pack.is_none(), "{command}");
    }
    let folder = tempfile::tempdir().unwrap();
    write_pack(&folder.path().join("own"), &manifest("/usr/bin/python3", json!({})));
    assert!(packs::check_folder(&folder.path().join("own")).pack.is_none(), "not in a file");
}

#[test]
fn tools_of_the_same_id_in_two_packs_get_qualified_ids() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = ledger();
    other["id"] = json!("other");
    write_pack(&folder.path().join("ledger"), &ledger());
    write_pack(&folder.path().join("other"), &other);
    let loaded = packs::load(&[folder.path().into()]);
    let names = |id: &str| {
        let tools = &by_id(&loaded, id).view.tools;
        tools.iter().map(|t| (t.id.0.clone(), t.model_name.clone())).collect::<Vec<_>>()
    };
    assert_eq!(
        names("other")[1],
        ("other:ledger.bookEntry".to_owned(), "other_ledger_book_entry".to_owned())
    );
    assert_eq!(
        names("ledger")[0],
        ("ledger:ledger.read".to_owned(), "ledger_ledger_read".to_owned())
    );
    let read = &by_id(&loaded, "other").view.tools[1].preview.as_ref().unwrap().reads[0].tool;
    assert_eq!(read.as_str(), "other:ledger.read");
}

#[test]
fn instructions_that_name_a_member_of_no_schema_give_a_warning_with_its_line() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("ledger");
    let mut pack = ledger();
    pack["schemas"]["Kept"] = json!({"type": "object", "properties": {"total": {"type": "object", "required": ["paid"]}}});
    write_pack(&folder, &pack);
    let text = "# Ledger\nSay `total.paid`, never `x + y` or `Total`.\n```\n`code`\n```\n- `total.owed: true` last.\n";
    fs::write(folder.join("execution_instructions.md"), text).unwrap();
    let loaded = packs::check_folder(&folder);
    assert!(loaded.pack.is_some(), "it is used all the same: {:?}", loaded.view.faults);
    let [warning] = loaded.view.warnings.as_slice() else {
        panic!("one warning: {:?}", loaded.view.warnings)
    };
    let place = (warning.file.as_str(), warning.field.as_str());
    assert_eq!(place, ("execution_instructions.md", "6"));
    assert!(warning.problem.contains("`total.owed: true`"), "{warning:?}");
}

#[test]
fn a_preview_that_reads_with_an_open_world_tool_gives_a_warning() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("ledger");
    let mut pack = ledger();
    write_pack(&folder, &pack);
    assert_eq!(packs::check_folder(&folder).view.warnings, []);
    pack["tools"]["tools"][0]["open_world"] = json!(true);
    write_pack(&folder, &pack);
    let loaded = packs::check_folder(&folder);
    assert!(loaded.pack.is_some(), "it is used all the same: {:?}", loaded.view.faults);
    let [warning] = loaded.view.warnings.as_slice() else {
        panic!("one warning: {:?}", loaded.view.warnings)
    };
    assert_eq!(warning.field, "/tools/tools/1/preview/reads/0/tool");
    assert!(warning.problem.contains("before anybody has approved"), "{warning:?}");
}

/// The third pack's tool names equal the first pack's names after they got their pack as a prefix.
#[test]
fn a_qualified_tool_name_never_equals_another_tools_name() {
    let folder = tempfile::tempdir().unwrap();
    for (id, ids) in [
        ("ledger", ["read", "book"]),
        ("other", ["read", "book"]),
        ("third", ["ledger.read", "other_book"]),
    ] {
        let mut pack = ledger();
        pack["id"] = json!(id);
        for (at, tool) in ids.into_iter().enumerate() {
            pack["tools"]["tools"][at]["id"] = json!(tool);
        }
        pack["tools"]["tools"][1]["preview"]["reads"][0]["tool"] = json!(ids[0]);
        write_pack(&folder.path().join(id), &pack);
    }
    let loaded = packs::load(&[folder.path().into()]);
    assert!(
        loaded.iter().all(|pack| pack.view.faults.is_empty()),
        "{:?}",
        loaded.iter().map(|pack| &pack.view.faults).collect::<Vec<_>>()
    );
    let tools = || loaded.iter().flat_map(|pack| &pack.view.tools);
    let (ids, names): (BTreeSet<_>, BTreeSet<_>) =
        tools().map(|tool| (tool.id.as_str(), tool.model_name.as_str())).unzip();
    assert_eq!((ids.len(), names.len()), (6, 6), "{ids:?} {names:?}");
    for pack in loaded.iter().filter_map(|loaded| loaded.pack.as_ref()) {
        let entries: BTreeSet<_> = pack
            .tools
            .iter()
            .filter_map(|tool| Some(pack.manifest.entry_of(tool)?.id.as_str()))
            .collect();
        assert_eq!(entries.len(), 2, "each is found in its own manifest");
    }
}
