//! Checks a product before a change is proposed or a card is shown. A product with variants is
//! never added to the cart as such; the customer must choose a variant. If the customer asks about
//! sizes or colours, the cards list the available sizes and colours.

use std::sync::Arc;

use contract::{
    AgentError, Approval, ApprovalDecideParams, Decision, ErrorCode, Reason, ToolOutcome,
};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    call::Call,
    chat::{
        answer::Answer,
        expecting::Change,
        relay::EventRelay,
        sse::SseSink,
        state::State,
        turn::{PREFLIGHT_TOOLS, Turn},
    },
    fault::Fault,
    json::text,
    shop::{
        Variant, cards,
        choices::{self, Offer},
        names_a_dimension, tools,
    },
    texts::Text,
};

/// How many products of an answer are looked up for their variants.
const ENRICHED: usize = 3;
/// Words with which a customer asks about the differences between variants, or shows the intention
/// to buy.
const ASKS: &str = "size sizes colour colours color colors variant variants fit fits buy storlek storlekar färg färger varianter passar köpa köp";
/// The reason why a proposal for a product with variants is withdrawn.
const CHOOSE: &str = "The customer has to choose a variant first.";

/// The JSON-RPC error code that a server returns if its tool does not accept the arguments.
const INVALID_PARAMS: i64 = -32_602;

/// The shop could not be reached, so it is unknown whether it has the product.
struct Unanswered;

impl Turn<'_> {
    /// Handles a change that the model proposed. If the product has variants, asks for the variant
    /// first.
    pub(crate) async fn handle_proposal(
        &self,
        approval: Approval,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let arguments: Value = serde_json::from_str(&approval.arguments).unwrap_or_default();
        let (part, quantity) = (
            text(&arguments["partNo"]).unwrap_or_default(),
            arguments["quantity"].as_u64().unwrap_or(1),
        );
        state.open.apply_change(Change::Proposed);
        if is_blank_change(&arguments) {
            self.withdraw_proposal(&approval, "It named no product.", answer).await;
            Text::ConfirmFailed.localize(self.locale).clone_into(&mut answer.text);
            return Ok(());
        }
        if !PREFLIGHT_TOOLS.contains(&self.tool_model_name(&approval).as_str()) {
            self.show_pending_action(&approval, None, answer);
            return Ok(());
        }
        let seen = answer
            .calls
            .iter()
            .rev()
            .filter_map(|call| call.result_of(tools::GET))
            .find(|product| has_part_number(product, &part))
            .cloned();
        let product = match seen {
            Some(product) => Ok(Some(product)),
            // The product was not looked up in this turn, so the part number may belong to a
            // product with variants.
            None => self.product_with_variants(&part, answer).await,
        };
        let Ok(product) = product else {
            self.withdraw_proposal(
                &approval,
                "The shop could not be asked about that product.",
                answer,
            )
            .await;
            Text::ShopFailed.localize(self.locale).clone_into(&mut answer.text);
            return Ok(());
        };
        match product.map_or(Offer::Plain, |product| {
            choices::offer_variants(&product, &part, quantity, self.locale)
        }) {
            Offer::Plain => self.show_pending_action(&approval, None, answer),
            Offer::One(variant) => {
                self.withdraw_proposal(&approval, CHOOSE, answer).await;
                self.offer_part(&variant, quantity, answer).await?;
            }
            Offer::Several(kept) => {
                self.withdraw_proposal(&approval, CHOOSE, answer).await;
                Text::ChooseVariant.localize(self.locale).clone_into(&mut answer.text);
                answer.choices = choices::parse_shown(&kept);
                state.open.apply_change(Change::ChoicesOffered(kept));
            }
            Offer::Nothing => {
                self.withdraw_proposal(&approval, "That product cannot be bought.", answer).await;
                Text::NotBuyable.localize(self.locale).clone_into(&mut answer.text);
            }
        }
        Ok(())
    }

    /// Asks for the variant of a product that the model tried to add by its product id alone.
    /// Returns whether the question is the answer.
    pub(crate) async fn ask_for_variant(
        &self,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<bool, Fault> {
        let by_id = |call: &Call| {
            let by_id =
                call.tool == tools::ADD && !call.asked && text(&call.args["partNo"]).is_none();
            // The tool does not accept a product id, so the id is among the dropped arguments.
            let id = || {
                text(&call.args["productId"]).or_else(|| text(&call.ignored.as_ref()?["productId"]))
            };
            by_id.then(|| Some((id()?, call.args["quantity"].as_u64().unwrap_or(1)))).flatten()
        };
        let Some((id, quantity)) = answer.calls.iter().rev().find_map(by_id) else {
            return Ok(false);
        };
        let seen = answer
            .calls
            .iter()
            .rev()
            .filter_map(|call| call.result_of(tools::GET))
            .find(|product| has_part_number(product, &id))
            .cloned();
        let product = match seen {
            Some(product) => Some(product),
            None => self.look_up_product(json!({"productId": id}), answer).await.ok().flatten(),
        };
        match product.map_or(Offer::Plain, |product| {
            choices::offer_variants(&product, &id, quantity, self.locale)
        }) {
            // The shop offers no other part number, so the model's answer is kept.
            Offer::Plain => return Ok(false),
            Offer::One(part) => self.offer_part(&part, quantity, answer).await?,
            Offer::Several(kept) => {
                Text::ChooseVariant.localize(self.locale).clone_into(&mut answer.text);
                answer.choices = choices::parse_shown(&kept);
                state.open.apply_change(Change::ChoicesOffered(kept));
            }
            Offer::Nothing => Text::NotBuyable.localize(self.locale).clone_into(&mut answer.text),
        }
        Ok(true)
    }

    /// Returns the product with variants that a part number, or a product id used as one, belongs
    /// to.
    async fn product_with_variants(
        &self,
        part: &str,
        answer: &Answer,
    ) -> Result<Option<Value>, Unanswered> {
        let mut found = self.look_up_product(json!({"partNo": part}), answer).await?;
        if found.is_none() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            found = self.look_up_product(json!({"productId": part}), answer).await?;
        }
        Ok(found.filter(|product| {
            !Variant::read_all(product).is_empty() && has_part_number(product, part)
        }))
    }

    /// Looks up a product in the shop as part of the answer's turn, but stores no items in the
    /// conversation. Returns None if the shop does not have the product.
    async fn look_up_product(
        &self,
        arguments: Value,
        answer: &Answer,
    ) -> Result<Option<Value>, Unanswered> {
        let engine = self.app.host.engine();
        let Some(get) = engine
            .caller_turns
            .specs(&self.app.caller)
            .iter()
            .find(|spec| spec.model_name == tools::GET)
            .cloned()
        else {
            return Ok(None);
        };
        let error = match engine
            .caller_turns
            .call_for_host(
                &self.session,
                get.id,
                arguments,
                self.turn_options(),
                answer.turn.as_ref(),
            )
            .await
        {
            Ok(response) if response.outcome == ToolOutcome::Ok => return Ok(Some(response.data)),
            Ok(response) => response.error,
            Err(error) => Some(error),
        };
        if error.is_some_and(|error| is_not_found(&error)) { Ok(None) } else { Err(Unanswered) }
    }

    /// Returns details of the first products found, if the message or a dropped search word
    /// mentions sizes, colours or buying.
    pub(crate) async fn product_details(&self, answer: &Answer) -> Vec<Value> {
        let calls = &answer.calls;
        let looked_at = calls.iter().any(|call| call.tool == tools::GET && call.asked);
        let Some(found) = calls
            .iter()
            .rev()
            .find_map(|call| call.result_of(tools::SEARCH))
            .filter(|_| !looked_at)
        else {
            return Vec::new();
        };
        let dropped = found["querySimplification"]["droppedTokens"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let message = self.ask.request.message.to_lowercase();
        let asks = message
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| ASKS.split(' ').any(|known| known == word));
        if !asks && !dropped.into_iter().any(names_a_dimension) {
            return Vec::new();
        }
        let shown = cards::collect_turn_cards(calls, &[]);
        let ids = shown.iter().take(ENRICHED).map(|card| card.product_id.clone());
        join_all(ids.map(|id| self.look_up_product(json!({"productId": id}), answer)))
            .await
            .into_iter()
            .flatten()
            .flatten()
            .collect()
    }

    /// Withdraws a proposal and gives the model the reason. Returns false if the proposal is still
    /// pending.
    pub(crate) async fn withdraw_proposal(
        &self,
        approval: &Approval,
        why: &str,
        answer: &mut Answer,
    ) -> bool {
        if let Some(call) = answer.calls.iter_mut().find(|call| call.id == approval.call) {
            (call.proposed, call.outcome) = (false, Some(ToolOutcome::Denied));
        }
        let reason = Some(why.to_owned());
        let params = ApprovalDecideParams {
            id: approval.id.clone(),
            hash: approval.hash.clone(),
            decision: Decision::Reject { reason },
        };
        let (rejected, _) =
            self.app.host.engine().caller_turns.decide(approval, params, self.turn_options()).await;
        if let Err(error) = &rejected {
            tracing::warn!(target: "gateway", requestId = %self.ask.request_id, %error, "a proposal could not be withdrawn");
        }
        rejected.is_ok()
    }

    /// Proposes to add a chosen part without asking a model.
    pub(crate) async fn propose_part(
        &self,
        part: &str,
        quantity: u64,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let chosen = format!("{quantity} × {part}");
        let kept = self
            .app
            .host
            .engine()
            .caller_turns
            .store_exchange(&self.session, &self.ask.request.message, &chosen, &self.turn_options())
            .await;
        kept.map_err(|error| Fault::from_error(&error, self.locale))?;
        self.offer_part(part, quantity, answer).await
    }

    /// Proposes to add a chosen part for a message that is already stored.
    async fn offer_part(
        &self,
        part: &str,
        quantity: u64,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let fault = |error: AgentError| Fault::from_error(&error, self.locale);
        let engine = self.app.host.engine();
        let specs = engine.caller_turns.specs(&self.app.caller);
        let Some(add) = specs.iter().find(|spec| spec.model_name == tools::ADD) else {
            return Err(Fault::internal(self.locale));
        };
        let arguments = json!({"partNo": part, "quantity": quantity});
        let (called, events) = engine
            .caller_turns
            .call(&self.session, add.id.clone(), arguments, self.turn_options())
            .await;
        let mut relay = EventRelay::new(SseSink::default(), self.locale, false, Arc::clone(&specs));
        for event in events {
            relay.handle_event(event);
        }
        answer.calls.extend(std::mem::take(&mut relay.calls));
        match (relay.approval, called) {
            (Some(approval), _) => self.show_pending_action(&approval, None, answer),
            (None, Err(error)) => return Err(fault(error)),
            (None, Ok(_)) => Text::ConfirmFailed.localize(self.locale).clone_into(&mut answer.text),
        }
        Ok(())
    }
}

/// Whether the error proves that the product cannot be found: the tool reports an error, does not
/// accept the request, is switched off, or is denied by a rule.
fn is_not_found(error: &AgentError) -> bool {
    matches!(error.code, ErrorCode::InvalidInput | ErrorCode::AgentDisabled)
        || matches!(error.known_reason(), Some(Reason::McpToolError | Reason::SideEffectDisallowed))
        || error.details.get("code").and_then(Value::as_i64) == Some(INVALID_PARAMS)
}

/// Whether a change names no product: the name is blank, or is a word that programs write for a
/// missing value.
fn is_blank_change(arguments: &Value) -> bool {
    let name = [&arguments["partNo"], &arguments["productId"]].into_iter().find_map(text);
    name.is_none_or(|name| ["null", "undefined"].iter().any(|word| name.eq_ignore_ascii_case(word)))
}

/// Whether this product or one of its variants has this part number, or this product id in place of
/// a part number.
fn has_part_number(product: &Value, part: &str) -> bool {
    Variant::read(product).is_named(part)
        || Variant::read_all(product).iter().any(|variant| variant.is_named(part))
}
