//! Anthropic's wire (protocol): messages of blocks, signed thinking, and tool calls whose arguments
//! arrive as pieces of JSON.

mod events;
mod request;

use engine::ports::ModelRequest;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::Value;

pub(crate) use request::default_max_tokens;

use crate::capabilities::ModelFacts;
use crate::wire::{Assemble, Assembler, Leaves, Part, Wire, join_url, listed_ids, simplify_tools};

pub(crate) struct Anthropic {
    model: String,
    maker: String,
    known: ModelFacts,
    reasoning: bool,
    headers: HeaderMap,
}

impl Anthropic {
    pub(crate) fn new(
        model: &str,
        maker: String,
        known: ModelFacts,
        reasoning: bool,
        headers: HeaderMap,
    ) -> Self {
        Self { model: model.to_owned(), maker, known, reasoning, headers }
    }
}

impl Wire for Anthropic {
    fn url(&self, base: &Url, _whole: bool) -> Url {
        join_url(base, "messages")
    }
    fn list_url(&self, base: &Url) -> Url {
        let mut url = join_url(base, "models");
        url.set_query(Some("limit=500"));
        url
    }
    fn headers(&self) -> &HeaderMap {
        &self.headers
    }
    fn write_body(
        &self,
        request: &ModelRequest,
        leaves: Leaves,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let mut body = request::build_body(self, request, leaves.has(Part::Optional));
        if leaves.has(Part::Details) {
            simplify_tools(body.get_mut("tools"), "input_schema");
        }
        serde_json::to_vec(&body)
    }
    fn optional_words(&self) -> &'static [&'static str] {
        &["thinking", "cache_control"]
    }
    fn assembler(&self, _request: &ModelRequest) -> Box<dyn Assemble> {
        Box::new(Assembler::new(&self.maker, events::Reader::default()))
    }
    fn parse_model_list(&self, list: &Value) -> Option<Vec<String>> {
        listed_ids(list)
    }
}
