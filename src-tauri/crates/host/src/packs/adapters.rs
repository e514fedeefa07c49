//! The adapters of packs: which adapter applies to a call, a read with a further request that its
//! adapter wants, and the member names that a manifest defines. The module must not know a pack by
//! name.

use std::{future::Future, sync::Arc};

use contract::{
    PackId,
    manifest::MemberAliases,
    pack_code::{PackAdapter, PackCall},
};
use serde_json::{Map, Value};

/// The adapter for packs that have none of their own. It changes neither calls nor results.
struct Unadapted;

impl PackAdapter for Unadapted {
    fn pack(&self) -> &'static str {
        ""
    }
}

/// Returns the adapter of a pack.
pub(crate) fn adapter_of<'a>(
    adapters: &'a [Arc<dyn PackAdapter>],
    pack: &PackId,
) -> &'a dyn PackAdapter {
    adapters
        .iter()
        .find(|adapter| adapter.pack() == pack.as_str())
        .map_or(&Unadapted, |adapter| adapter.as_ref())
}

/// Makes a read. `send` sends the arguments that were recorded before; `further` records one more
/// request and sends it.
pub(crate) async fn read_with_follow_up<E, F, G>(
    adapter: &dyn PackAdapter,
    call: &PackCall<'_>,
    sent: Value,
    send: impl Fn(Value) -> F,
    further: impl Fn(Value) -> G,
) -> Result<Value, E>
where
    F: Future<Output = Result<Value, E>>,
    G: Future<Output = Result<Value, E>>,
{
    let mut answer = adapter.answer(call, send(sent.clone()).await?);
    let follow_up = adapter.follow_up_arguments(call, &sent, &answer);
    let is_second = follow_up.is_some();
    // If the second request fails, the first answer is used.
    if let Some(arguments) = follow_up
        && let Ok(second) = further(arguments).await
    {
        let second = adapter.answer(call, second);
        if second.is_object() {
            answer = second;
        }
    }
    Ok(adapter.result(call, answer, is_second))
}

/// Renames the arguments to the names that the called server expects.
pub(crate) fn rename_arguments(aliases: &MemberAliases, arguments: Value) -> Value {
    let Value::Object(all) = arguments else { return arguments };
    let sent = |name: String| aliases.arguments.get(&name).cloned().unwrap_or(name);
    Value::Object(all.into_iter().map(|(name, value)| (sent(name), value)).collect())
}

/// Renames the members of an answer to the names in the output schema. If a member already has such
/// a name, this member is kept and the renamed member is dropped.
pub(crate) fn rename_result(aliases: &MemberAliases, answer: Value) -> Value {
    match answer {
        Value::Array(items) => items.into_iter().map(|item| rename_result(aliases, item)).collect(),
        Value::Object(all) => {
            let (mut named, mut others) = (Map::new(), Vec::new());
            for (name, value) in all {
                let value = rename_result(aliases, value);
                match aliases.result.get(&name) {
                    Some(own) => others.push((own, value)),
                    None => drop(named.insert(name, value)),
                }
            }
            for (own, value) in others {
                named.entry(own).or_insert(value);
            }
            Value::Object(named)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => answer,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_renamed_by_the_manifests_aliases_at_every_depth() {
        let names = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
        };
        let aliases = MemberAliases {
            arguments: names(&[("partNo", "sku"), ("quantity", "count")]),
            result: names(&[("sku", "partNo"), ("code", "partNo"), ("hits", "items")]),
        };
        assert_eq!(
            rename_arguments(&aliases, json!({"partNo": "A-1", "note": {"partNo": "stays"}})),
            json!({"sku": "A-1", "note": {"partNo": "stays"}})
        );
        assert_eq!(
            rename_result(
                &aliases,
                json!({"hits": [{"sku": "A-1"}, {"sku": "B", "partNo": "A-2"}, {"code": 7}], "total": 3})
            ),
            json!({"items": [{"partNo": "A-1"}, {"partNo": "A-2"}, {"partNo": 7}], "total": 3})
        );
    }

    #[test]
    fn an_adapter_is_applied_only_to_its_own_pack() {
        let shipped = shipped_packs::all();
        let asked = json!([{"sku": "A-1", "title": " Tent "}]);
        for adapter in &shipped.adapters {
            assert_eq!(
                adapter_of(&shipped.adapters, &adapter.pack().into()).pack(),
                adapter.pack()
            );
        }
        let other = adapter_of(&shipped.adapters, &"other".into());
        let call = PackCall {
            tool: "search",
            is_read: true,
            is_remote: true,
            caller: &contract::CallerKind::ChatApi,
            locale: "",
            asked: &asked,
        };
        assert_eq!(other.arguments(&call, asked.clone()), asked);
        assert!(
            other.known(&call, &asked).is_none()
                && other.follow_up_arguments(&call, &asked, &asked).is_none()
        );
        assert_eq!(other.result(&call, other.answer(&call, asked.clone()), false), asked);
    }
}
