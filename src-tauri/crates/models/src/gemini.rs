//! Google's wire: contents with parts, calls that may have no ids, and thought signatures that are
//! sent back with their call.

mod events;
mod partial;
mod request;

use engine::ports::ModelRequest;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::wire::{Assemble, Assembler, Leaves, Part, Wire, join_url, simplify_tools};

pub(crate) struct Gemini {
    /// The model's name, including the collection: `models/...`.
    model: String,
    maker: String,
    reasoning: bool,
    headers: HeaderMap,
}

impl Gemini {
    pub(crate) fn new(model: &str, maker: String, reasoning: bool, headers: HeaderMap) -> Self {
        let model = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
        Self { model, maker, reasoning, headers }
    }

    /// Whether the model requires signatures. From the third generation on, the server refuses a
    /// call of this turn without its signature.
    fn wants_signatures(&self) -> bool {
        let name = self.model.rsplit('/').next().unwrap_or_default();
        let Some(version) = name.strip_prefix("gemini-") else { return false };
        let major: String = version.chars().take_while(char::is_ascii_digit).collect();
        major.parse::<u32>().map_or_else(|_| name.ends_with("-latest"), |major| major >= 3)
    }
}

impl Wire for Gemini {
    fn url(&self, base: &Url, whole: bool) -> Url {
        if whole {
            return join_url(base, &format!("{}:generateContent", self.model));
        }
        let mut url = join_url(base, &format!("{}:streamGenerateContent", self.model));
        url.set_query(Some("alt=sse"));
        url
    }
    fn list_url(&self, base: &Url) -> Url {
        let mut url = join_url(base, "models");
        url.set_query(Some("pageSize=500"));
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
            let tools = body.pointer_mut("/tools/0/functionDeclarations");
            simplify_tools(tools, "parametersJsonSchema");
        }
        if leaves.has(Part::System) {
            request::move_instructions(&mut body);
        }
        serde_json::to_vec(&body)
    }
    fn optional_words(&self) -> &'static [&'static str] {
        &[
            "thinking",
            "Thinking",
            "includeThoughts",
            "responseSchema",
            "response_schema",
            "responseMimeType",
            "response_mime_type",
            "JSON mode",
        ]
    }
    fn assembler(&self, _request: &ModelRequest) -> Box<dyn Assemble> {
        Box::new(Assembler::new(&self.maker, events::Reader))
    }
    fn parse_model_list(&self, list: &Value) -> Option<Vec<String>> {
        let answers = |model: &&Value| {
            let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
            methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
        };
        let names = list
            .get("models")?
            .as_array()?
            .iter()
            .filter(answers)
            .filter_map(|model| model.get("name")?.as_str());
        Some(names.map(|name| name.trim_start_matches("models/").to_owned()).collect())
    }
}
