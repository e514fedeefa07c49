//! The capabilities of models, as data: one row for each family, found by the longest matching
//! prefix of the model's name. An unknown model gets defaults that are safe with any server.

use contract::ModelCapabilities;

/// How thinking is requested from a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// The model cannot think, or always thinks.
    None,
    /// Thinking with a budget of tokens.
    Budget,
    /// Thinking as much as the model chooses.
    Adaptive,
}

/// The known facts about a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelFacts {
    pub(crate) capabilities: ModelCapabilities,
    pub(crate) thinking: Thinking,
}

const NO: bool = false;
const YES: bool = true;

/// A row of the table: prefix of the name; tools, parallel tools, schema for the answer; thinking;
/// context and answer in thousands of tokens.
type Row = (&'static str, bool, bool, bool, Option<Thinking>, u32, u32);

const TABLE: &[Row] = &[
    // OpenAI's models. The reasoning models reason without a request for it.
    ("gpt-3.5", YES, YES, NO, None, 16, 4),
    ("gpt-4", YES, YES, NO, None, 8, 4),
    ("gpt-4-turbo", YES, YES, NO, None, 128, 4),
    ("gpt-4o", YES, YES, YES, None, 128, 16),
    ("gpt-4.1", YES, YES, YES, None, 1_000, 32),
    ("gpt-5", YES, YES, YES, Some(Thinking::None), 400, 128),
    ("gpt-5-chat", YES, YES, YES, None, 128, 16),
    ("o1-mini", NO, NO, NO, Some(Thinking::None), 128, 64),
    ("o1-preview", NO, NO, NO, Some(Thinking::None), 128, 32),
    ("o1", YES, NO, YES, Some(Thinking::None), 200, 100),
    ("o3", YES, NO, YES, Some(Thinking::None), 200, 100),
    ("o4", YES, NO, YES, Some(Thinking::None), 200, 100),
    ("gpt-oss", YES, NO, NO, Some(Thinking::None), 128, 32),
    // Anthropic's models.
    ("claude-", YES, YES, YES, Some(Thinking::Adaptive), 200, 64),
    ("claude-2", NO, NO, NO, None, 100, 4),
    ("claude-3-", YES, YES, NO, None, 200, 4),
    ("claude-3-5", YES, YES, NO, None, 200, 8),
    ("claude-3-7", YES, YES, NO, Some(Thinking::Budget), 200, 64),
    ("claude-opus-4", YES, YES, NO, Some(Thinking::Budget), 200, 32),
    ("claude-sonnet-4", YES, YES, NO, Some(Thinking::Budget), 200, 64),
    ("claude-opus-4-5", YES, YES, YES, Some(Thinking::Budget), 200, 64),
    ("claude-opus-4-6", YES, YES, YES, Some(Thinking::Adaptive), 200, 64),
    ("claude-opus-4-7", YES, YES, YES, Some(Thinking::Adaptive), 200, 64),
    ("claude-opus-4-8", YES, YES, YES, Some(Thinking::Adaptive), 200, 64),
    ("claude-sonnet-4-5", YES, YES, YES, Some(Thinking::Budget), 200, 64),
    ("claude-sonnet-4-6", YES, YES, YES, Some(Thinking::Adaptive), 200, 64),
    ("claude-haiku-4-5", YES, YES, YES, Some(Thinking::Budget), 200, 64),
    // Google's models.
    ("gemini-", YES, YES, YES, Some(Thinking::Adaptive), 1_000, 64),
    ("gemini-1.5", YES, YES, NO, None, 1_000, 8),
    ("gemini-2.0", YES, YES, NO, None, 1_000, 8),
    ("gemma", NO, NO, NO, None, 8, 8),
    // Models that are common on local servers and gateways.
    ("deepseek-chat", YES, YES, NO, None, 128, 8),
    ("deepseek-reasoner", YES, NO, NO, Some(Thinking::None), 128, 32),
    ("deepseek-r1", NO, NO, NO, Some(Thinking::None), 64, 8),
    ("grok-", YES, YES, YES, Some(Thinking::None), 128, 16),
    ("kimi-", YES, YES, NO, None, 128, 16),
    ("llama3.1", YES, NO, NO, None, 128, 8),
    ("llama-3", YES, NO, NO, None, 128, 8),
    ("mistral-", YES, YES, NO, None, 128, 8),
    ("magistral", YES, YES, NO, Some(Thinking::None), 40, 8),
    ("qwen", YES, NO, NO, None, 32, 8),
    ("qwen3", YES, NO, NO, Some(Thinking::None), 32, 8),
    ("phi", NO, NO, NO, None, 4, 2),
    ("tinyllama", NO, NO, NO, None, 2, 2),
];

/// Returns what a model of this name can do.
pub fn capabilities(model: &str) -> ModelCapabilities {
    lookup_model(model).capabilities
}

pub(crate) fn lookup_model(model: &str) -> ModelFacts {
    let name = model.to_ascii_lowercase();
    // Gateways write the maker before the model's name: `maker/model`.
    let name = name.rsplit('/').next().unwrap_or(&name);
    let row = TABLE.iter().filter(|row| name.starts_with(row.0)).max_by_key(|row| row.0.len());
    let Some(&(_, tools, parallel_tools, structured_output, thinking, context, output)) = row
    else {
        return ModelFacts { capabilities: ModelCapabilities::default(), thinking: Thinking::None };
    };
    ModelFacts {
        capabilities: ModelCapabilities {
            tools,
            parallel_tools,
            streaming: true,
            structured_output,
            reasoning: thinking.is_some(),
            context_tokens: context * 1_000,
            max_output_tokens: Some(output * 1_000),
        },
        thinking: thinking.unwrap_or(Thinking::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_gets_the_capabilities_of_the_longest_matching_name_prefix() {
        assert!(
            capabilities("gpt-5-mini-2025-08-07").reasoning
                && !capabilities("gpt-5-chat-latest").reasoning
        );
        assert_eq!(
            lookup_model("claude-3-5-haiku-latest").capabilities.max_output_tokens,
            Some(8_000)
        );
        assert_eq!(lookup_model("claude-sonnet-4-5-20250929").thinking, Thinking::Budget);
        assert_eq!(lookup_model("anthropic/claude-opus-5").thinking, Thinking::Adaptive);
        assert!(
            !capabilities("o1-mini").tools
                && capabilities("models/gemini-3-pro-preview").parallel_tools
        );
    }

    #[test]
    fn an_unknown_model_gets_conservative_capabilities() {
        let unknown = capabilities("my-own-finetune:7b");
        assert_eq!(unknown, ModelCapabilities::default());
        assert!(unknown.tools && !unknown.structured_output && unknown.context_tokens <= 8_192);
    }

    #[test]
    fn each_model_family_is_listed_once() {
        let mut names: Vec<_> = TABLE.iter().map(|row| row.0).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
    }
}
