//! Laws about the packs that ship: which crates they may depend on, and which files may name them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::Value;

use crate::{dependencies, holders, only, rooms, root, sources, without_tests};

/// The crates that the offline model may depend on.
const OF_THE_OFFLINE_MODEL: [&str; 6] =
    ["analytics", "contract", "engine", "language", "messages", "questions"];

#[test]
fn the_offline_model_knows_packs_only_by_their_manifests() {
    let rooms = rooms();
    let known: Vec<&String> =
        rooms["offline"].iter().filter(|name| rooms.contains_key(*name)).collect();
    let strangers: Vec<&&String> =
        known.iter().filter(|name| !OF_THE_OFFLINE_MODEL.contains(&name.as_str())).collect();
    assert!(
        strangers.is_empty(),
        "the offline model knows no pack beyond its manifest; it depends on {strangers:?}"
    );
    let shipped: Vec<String> = fs::read_dir(root().join("tools"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|folder| manifest_id(&folder))
        .collect();
    assert!(shipped.len() > 1, "the packs that ship were not found: {shipped:?}");
    for file in sources(&root().join("src-tauri/crates/offline/src"), &["rs"]) {
        if file.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let text = without_tests(&fs::read_to_string(&file).unwrap());
        // Only whole names between quotation marks count, because phrases of people may contain the
        // same word.
        for id in &shipped {
            assert!(
                !text.contains(&format!("\"{id}\"")),
                "the offline model names no pack; {} names {id}",
                file.display()
            );
        }
    }
}

/// Returns the id of the pack in a folder.
fn manifest_id(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("pack.json")).ok()?;
    text.lines().find_map(|line| {
        Some(line.trim().strip_prefix("\"id\": \"")?.split('"').next()?.to_owned())
    })
}

#[test]
fn packs_that_ship_as_crates_depend_only_on_contract() {
    let rooms = rooms();
    for pack in ["campaign-portfolio-pacing", "shop", "shop/adapter"] {
        let deps = dependencies(&root().join("tools").join(pack).join("Cargo.toml"));
        let known: Vec<&String> =
            deps.iter().filter(|name| rooms.contains_key(*name) && *name != "contract").collect();
        assert!(known.is_empty(), "packs depend on contract only; {pack} depends on {known:?}");
    }
    // The data engine computes figures, and opens files that others wrote.
    let engine = dependencies(&root().join("tools/data/server/Cargo.toml"));
    let known: Vec<&String> = engine
        .iter()
        .filter(|name| rooms.contains_key(*name))
        .filter(|name| !["analytics", "contract", "files", "tabular"].contains(&name.as_str()))
        .collect();
    assert!(
        known.is_empty(),
        "the data engine knows no host and no store; it depends on {known:?}"
    );
}

#[test]
fn only_the_gateways_shop_module_names_a_bundled_pack_or_its_tools() {
    let crates = ["shop", "shop-adapter", "campaign-portfolio-pacing"];
    only(
        &["gateway"],
        &holders(&rooms(), |name| crates.contains(&name)),
        "only gateway depends on a shipped pack",
    );
    // A folder of the gateway has the same name as the crate `shop`, but the gateway does not
    // depend on that crate.
    let mut names: Vec<String> =
        crates[1..].iter().map(|name| format!("{}::", name.replace('-', "_"))).collect();
    for pack in ["shop", "campaign-portfolio-pacing"] {
        let manifest =
            fs::read_to_string(root().join("tools").join(pack).join("pack.json")).unwrap();
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        names.extend([format!("\"{pack}\""), format!("\"{pack}/"), format!("\"{pack}:")]);
        for tool in manifest["tools"]["tools"].as_array().unwrap() {
            let id = tool["id"].as_str().unwrap();
            names.extend([format!("\"{id}\""), format!("\"{}\"", model_name(id))]);
        }
    }
    assert!(names.iter().any(|name| name == "\"cart_add_item\""), "the tools were read: {names:?}");
    let rooms = root().join("src-tauri/crates");
    for file in sources(&rooms, &["rs"]) {
        let path = file.strip_prefix(&rooms).unwrap().to_string_lossy().into_owned();
        let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
        if is_test || path.starts_with("gateway/src/shop/") {
            continue;
        }
        let text = without_tests(&fs::read_to_string(&file).unwrap());
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let is_named = names.iter().any(|name| line.contains(name.as_str()));
            assert!(!is_named, "packs own what is theirs; {path} names a shipped pack: {line}");
        }
    }
}

/// Returns the name that a model sees for a tool.
fn model_name(id: &str) -> String {
    let mut name = String::new();
    for letter in id.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(if letter == '.' { '_' } else { letter.to_ascii_lowercase() });
    }
    name
}

#[test]
fn no_manifest_excludes_requests_by_words_of_another_pack() {
    let packs: BTreeMap<String, PhraseWords> = fs::read_dir(root().join("tools"))
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.unwrap().path().join("pack.json")).ok())
        .map(|text| serde_json::from_str::<Value>(&text).unwrap())
        .map(|manifest| (manifest["id"].as_str().unwrap().to_owned(), PhraseWords::of(&manifest)))
        .collect();
    for word in ["cart", "stock"] {
        assert!(packs["shop"].own.contains(word), "{word} is found: {:?}", packs["shop"].own);
    }
    for (pack, words) in &packs {
        for (other, others) in packs.iter().filter(|(other, _)| *other != pack) {
            let mut foreign = words.excluding.intersection(&others.own).collect::<Vec<_>>();
            foreign.retain(|word| !words.used.contains(*word));
            assert!(
                foreign.is_empty(),
                "packs do not know one another, and the offline model compares them itself; `not` of \
                 {pack} holds words of {other}: {foreign:?}"
            );
        }
    }
}

/// The words in the phrases of a manifest.
struct PhraseWords {
    /// The words that only this pack asks for: each is a whole phrase, or a word that the manifest
    /// lists for its field.
    own: BTreeSet<String>,
    /// The words of all phrases that select the pack. Other packs may use them, too.
    used: BTreeSet<String>,
    /// The words of the phrases that exclude an intent.
    excluding: BTreeSet<String>,
}

impl PhraseWords {
    fn of(manifest: &Value) -> Self {
        let offline = &manifest["offline"];
        let listed: BTreeSet<String> =
            ["vocabulary", "ignored"].iter().flat_map(|list| texts_in(&offline[list])).collect();
        let tools = list_of(&manifest["tools"]["tools"]);
        let intents: Vec<&Value> =
            tools.flat_map(|tool| list_of(&tool["offline"]["intents"])).collect();
        let phrases = |member: &str| -> Vec<String> {
            intents.iter().flat_map(|intent| texts_in(&intent[member])).collect()
        };
        let mut words = Self {
            own: BTreeSet::new(),
            used: list_of(&offline["cannot"])
                .flat_map(|refusal| texts_in(&refusal["triggers"]))
                .flat_map(|text| parts(&text))
                .flatten()
                .collect(),
            excluding: phrases("not").iter().flat_map(|text| parts(text)).flatten().collect(),
        };
        for phrase in phrases("triggers") {
            let parts = parts(&phrase);
            let is_whole = parts.len() == 1;
            for word in parts.into_iter().flatten() {
                if !phrase.starts_with('~') && (is_whole || listed.contains(&word)) {
                    words.own.insert(word.clone());
                }
                words.used.insert(word);
            }
        }
        words
    }
}

/// Returns the elements of a list, or none.
fn list_of(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns all texts in a value.
fn texts_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.to_lowercase()],
        Value::Array(list) => list.iter().flat_map(texts_in).collect(),
        Value::Object(members) => members.values().flat_map(texts_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Returns the words of a phrase, each with its alternatives. Words of one or two letters, such as
/// the "in" of "in stock", are left out.
fn parts(phrase: &str) -> Vec<Vec<String>> {
    phrase
        .trim_start_matches(['~', '^'])
        .split_whitespace()
        .map(|part| part.split('|').filter(|word| word.chars().count() > 2).map(str::to_owned))
        .map(Iterator::collect)
        .filter(|words: &Vec<String>| !words.is_empty())
        .collect()
}
