//! OpenAI's newer wire: conversations of items, and encrypted reasoning that is sent back. The
//! server stores no data.

mod events;
mod request;

use engine::ports::ModelRequest;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::capabilities::ModelFacts;
use crate::wire::{Assemble, Assembler, Leaves, Part, Wire, join_url, listed_ids, simplify_tools};

pub(crate) struct Responses {
    model: String,
    maker: String,
    known: ModelFacts,
    reasoning: bool,
    headers: HeaderMap,
}

impl Responses {
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

impl Wire for Responses {
    fn url(&self, base: &Url, _whole: bool) -> Url {
        join_url(base, "responses")
    }
    fn list_url(&self, base: &Url) -> Url {
        join_url(base, "models")
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
            simplify_tools(body.get_mut("tools"), "parameters");
        }
        serde_json::to_vec(&body)
    }
    fn optional_words(&self) -> &'static [&'static str] {
        &["ncrypted", "reasoning", "summar", "text.format", "json_schema"]
    }
    fn assembler(&self, _request: &ModelRequest) -> Box<dyn Assemble> {
        Box::new(Assembler::new(&self.maker, events::Reader::default()))
    }
    fn parse_model_list(&self, list: &Value) -> Option<Vec<String>> {
        listed_ids(list)
    }
}
