//! Computes the allowed length of an answer, from the requested length, the budgets and the model's
//! own limit.

use crate::ports::model::{ModelRequest, longest_answer};

impl ModelRequest {
    /// Adapts the request to the model's own limit. The requested length becomes at most that
    /// limit, and the budgets' limit is removed unless it is lower.
    pub fn apply_own_limit(&mut self, own: Option<u32>) {
        let longest = longest_answer(self.max_output_tokens, own);
        self.max_output_tokens = self.max_output_tokens.map(|_| longest);
        self.left_output_tokens = self.left_output_tokens.filter(|left| *left < longest);
    }

    /// Returns the lower of the two limits, if there is any.
    pub fn answer_limit(&self) -> Option<u32> {
        self.max_output_tokens.into_iter().chain(self.left_output_tokens).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_limit_is_sent_only_if_it_is_below_the_models_default() {
        let told = |wanted, left, own| {
            let mut request = ModelRequest {
                max_output_tokens: wanted,
                left_output_tokens: left,
                ..ModelRequest::default()
            };
            request.apply_own_limit(own);
            request.answer_limit()
        };
        let table = [
            ((None, None, None), None),
            ((None, None, Some(16_000)), None),
            ((None, Some(100_000), Some(16_000)), None),
            ((None, Some(100_000), None), None),
            ((None, Some(3_000), None), Some(3_000)),
            ((None, Some(3_000), Some(16_000)), Some(3_000)),
            ((Some(32_000), None, Some(16_000)), Some(16_000)),
            ((Some(32_000), None, None), Some(32_000)),
            ((Some(500), Some(3_000), Some(16_000)), Some(500)),
            ((Some(5_000), Some(3_000), None), Some(3_000)),
        ];
        for ((wanted, left, own), bound) in table {
            assert_eq!(told(wanted, left, own), bound, "{wanted:?} {left:?} {own:?}");
        }
    }
}
