//! Calls the adapters of packs: finds the adapter of a call, and makes a read with the further
//! request that its adapter may ask for. Must not know a pack by name.

use std::{future::Future, sync::Arc};

use contract::{
    PackId,
    pack_code::{PackAdapter, PackCall},
};
use serde_json::Value;

/// The adapter for packs without their own. It changes neither calls nor results.
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

/// Makes a read. `send` sends the recorded arguments; `further` records one more request and sends
/// it.
pub(crate) async fn read<E, F, G>(
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
    let follow_up = adapter.follow_up(call, &sent, &answer);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_pack_of_an_adapter_is_adapted() {
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
            is_chat_api: true,
            locale: "",
            asked: &asked,
        };
        assert_eq!(other.arguments(&call, asked.clone()), asked);
        assert!(
            other.known(&call, &asked).is_none()
                && other.follow_up(&call, &asked, &asked).is_none()
        );
        assert_eq!(other.result(&call, other.answer(&call, asked.clone()), false), asked);
    }
}
