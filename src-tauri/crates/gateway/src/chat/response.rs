//! The response to a message: the body of the JSON route and the data of the stream's `final`
//! event.

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use crate::{
    fault::Fault,
    shop::{Cart, cards::Card, choices::Shown},
};

/// The response. A missing member is omitted and never null.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChatResponse {
    pub(crate) turn_id: String,
    pub(crate) session_id: String,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) cards: Vec<Card>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) refinements: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) choices: Option<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) comparison: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cart: Option<Cart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pending_action: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) confirmation: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) debug: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Value>,
}

/// A turn's response with its HTTP status.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) status: StatusCode,
    pub(crate) response: ChatResponse,
    pub(crate) fault: Option<Fault>,
}
