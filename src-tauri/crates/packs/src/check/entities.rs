//! Checks entities: within one kind, an id or name belongs to one entity only.

use std::collections::BTreeMap;

use crate::{
    fault::Faults,
    subject::{Subject, list, text},
};

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    let mut ids: Vec<(&str, &str)> = Vec::new();
    let mut names: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (index, entity) in list(subject.manifest.get("entities")).enumerate() {
        let at = format!("/entities/{index}");
        let (Some(kind), Some(id)) = (text(entity, "kind"), text(entity, "id")) else { continue };
        if ids.contains(&(kind, id)) {
            faults.at(
                format!("{at}/id"),
                format!("the {kind} `{id}` occurs twice"),
                "keep one of them",
            );
        }
        ids.push((kind, id));
        let own = text(entity, "name").map(|name| (format!("{at}/name"), name));
        let aliases = list(entity.get("aliases")).enumerate();
        let aliases =
            aliases.filter_map(|(i, alias)| Some((format!("{at}/aliases/{i}"), alias.as_str()?)));
        for (pointer, name) in own.into_iter().chain(aliases) {
            let plain = name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            if plain.is_empty() {
                faults.at(pointer, "an empty name matches nothing", "remove it");
                continue;
            }
            let owner = *names.entry((kind.to_owned(), plain)).or_insert(index);
            if owner != index {
                let problem = format!("`{name}` already means another {kind} (entry {owner})");
                faults.at(pointer, problem, "keep each name for one of them");
            }
        }
    }
}
