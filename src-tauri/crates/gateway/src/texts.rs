//! All sentences that the gateway itself writes.

use messages::Language;

use crate::shop::tools;

/// The area of the gateway's sentences in the catalogue.
const AREA: &str = "gateway";

messages::keys! {
    /// A sentence of the gateway.
    pub(crate) enum Text in "gateway" {
        Start => "start",
        Thinking => "thinking",
        Searching => "searching",
        Refining => "refining",
        Details => "details",
        Cart => "cart",
        Comparing => "comparing",
        Finalizing => "finalizing",
        Replaced => "replaced",
        Found => "found",
        NoneFound => "none_found",
        FoundThese => "found_these",
        NothingFound => "nothing_found",
        NothingLeft => "nothing_left",
        SearchedWithout => "searched_without",
        ToolRuns => "tool_runs",
        SearchFailed => "search_failed",
        DetailsFailed => "details_failed",
        CartFailed => "cart_failed",
        ToolFailed => "tool_failed",
        LeftOut => "left_out",
        SearchName => "search_name",
        DetailsName => "details_name",
        CartName => "cart_name",
        AddName => "add_name",
        SetName => "set_name",
        RemoveName => "remove_name",
        Done => "done",
        AlreadyDone => "already_done",
        BeingDone => "being_done",
        Cancelled => "cancelled",
        Remind => "remind",
        ConfirmFailed => "confirm_failed",
        ConfirmRefused => "confirm_refused",
        ConfirmRefusedSeveral => "confirm_refused_several",
        ConfirmUnknown => "confirm_unknown",
        NotOpen => "not_open",
        ChangedSince => "changed_since",
        OneAtATime => "one_at_a_time",
        Yes => "yes",
        No => "no",
        Generic => "generic",
        ChooseVariant => "choose_variant",
        Options => "options",
        NotBuyable => "not_buyable",
        InStock => "in_stock",
        OutOfStock => "out_of_stock",
        LowestPrice => "lowest_price",
        Comparison => "comparison",
        Feature => "feature",
        ModelSlow => "model_slow",
        ModelBusy => "model_busy",
        ModelFailed => "model_failed",
        TurnSlow => "turn_slow",
        ShopFailed => "shop_failed",
        Stopping => "stopping",
        Failed => "failed",
        NotUnderstood => "not_understood",
        SwitchedOff => "switched_off",
        NotSetUp => "not_set_up",
        SessionsAway => "sessions_away",
        TooMany => "too_many",
        TooLong => "too_long",
        Blank => "blank",
        NotAllowed => "not_allowed",
        Automated => "automated",
        AddQuestion => "add_question",
        SetQuestion => "set_question",
        RemoveQuestion => "remove_question",
        CategoryComparison => "category_comparison",
        FeaturePrice => "feature_price",
        FeatureBrand => "feature_brand",
        FeatureMaterial => "feature_material",
        FeatureColor => "feature_color",
        FeatureSize => "feature_size",
        FeatureWeight => "feature_weight",
        FeatureDimensions => "feature_dimensions",
        FeatureCategory => "feature_category",
        FeatureManufacturer => "feature_manufacturer",
        FeatureModel => "feature_model",
        FeatureWarranty => "feature_warranty",
        FeatureAvailability => "feature_availability",
    }
}

impl Text {
    /// Returns the sentence in the language of a locale, or in English if there is no translation.
    pub(crate) fn localize(self, locale: &str) -> &'static str {
        self.text(language_of(locale))
    }

    /// Returns the sentence with its placeholders filled in.
    pub(crate) fn localize_with(self, locale: &str, values: &[(&str, &str)]) -> String {
        self.fill(language_of(locale), values)
    }
}

/// Returns the language of a locale if the gateway's sentences are translated to it. Returns
/// English otherwise, so that an answer does not mix languages.
pub(crate) fn language_of(locale: &str) -> Language {
    Language::with_area(AREA, locale)
}

/// Returns the language of a culture such as `sv-SE`.
pub(crate) fn locale_for_culture(culture: Option<&str>) -> &'static str {
    language_of(culture.unwrap_or_default()).tag()
}

/// Returns a tool's name for the caller's screen.
pub(crate) fn tool_name(tool: &str, locale: &str) -> &'static str {
    let text = match tool {
        tools::SEARCH => Text::SearchName,
        tools::GET => Text::DetailsName,
        tools::CART => Text::CartName,
        tools::ADD => Text::AddName,
        tools::SET_QUANTITY => Text::SetName,
        tools::REMOVE => Text::RemoveName,
        _ => Text::ToolRuns,
    };
    text.localize(locale)
}

/// Returns the status text for the start of a tool.
pub(crate) fn tool_start_text(tool: &str, locale: &str) -> &'static str {
    let text = match tool {
        tools::SEARCH => Text::Searching,
        tools::GET => Text::Details,
        tool if tools::is_of_cart(tool) => Text::Cart,
        _ => Text::ToolRuns,
    };
    text.localize(locale)
}

/// Returns the status text for a failed tool. The text never contains the shop's own words.
pub(crate) fn tool_failure_text(tool: &str, locale: &str) -> &'static str {
    let text = match tool {
        tools::SEARCH => Text::SearchFailed,
        tools::GET => Text::DetailsFailed,
        tool if tools::is_of_cart(tool) => Text::CartFailed,
        _ => Text::ToolFailed,
    };
    text.localize(locale)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const TOOLS: [&str; 7] = [
        "product_search",
        "product_get",
        "cart_get",
        "cart_add_item",
        "cart_set_item_quantity",
        "cart_remove_item",
        "another",
    ];

    #[test]
    fn chat_api_18_every_text_exists_and_differs_in_english_and_swedish() {
        for text in Text::ALL {
            let (en, sv) = (text.localize("en"), text.localize("sv"));
            assert!(!en.trim().is_empty() && !sv.trim().is_empty(), "{text:?}");
            assert_ne!(en, sv, "{text:?}");
            assert_eq!(text.localize("fi"), en, "{text:?}");
        }
        for locale in ["en", "sv"] {
            let said: BTreeSet<&str> = Text::ALL.iter().map(|text| text.localize(locale)).collect();
            assert_eq!(said.len(), Text::ALL.len(), "no sentence stands for two: {locale}");
        }
    }

    #[test]
    fn chat_api_18_every_tool_has_a_name_and_texts_for_start_and_failure() {
        for locale in ["en", "sv"] {
            let names: BTreeSet<&str> = TOOLS.iter().map(|tool| tool_name(tool, locale)).collect();
            assert_eq!(
                names.len(),
                TOOLS.len(),
                "each has its own, and the others have one: {names:?}"
            );
        }
        for tool in TOOLS {
            for said in [tool_name, tool_start_text, tool_failure_text] {
                assert_ne!(said(tool, "en"), said(tool, "sv"), "{tool}");
            }
            assert_ne!(tool_start_text(tool, "en"), tool_failure_text(tool, "en"), "{tool}");
        }
        let kinds: BTreeSet<&str> = TOOLS.iter().map(|tool| tool_start_text(tool, "en")).collect();
        assert_eq!(kinds.len(), 4, "search, details, cart, and what is not known: {kinds:?}");
    }

    #[test]
    fn chat_api_18_the_language_follows_the_first_part_of_the_culture_code() {
        for (culture, locale) in [
            (Some("sv"), "sv"),
            (Some("sv-SE"), "sv"),
            (Some("SV-se"), "sv"),
            (Some("sv_FI"), "sv"),
            (Some("en-GB"), "en"),
            (Some("fi-FI"), "en"),
            (Some("svx-SE"), "en"),
            (Some("en-sv"), "en"),
            (Some("xx"), "en"),
            (Some(""), "en"),
            (None, "en"),
        ] {
            assert_eq!(locale_for_culture(culture), locale, "{culture:?}");
        }
    }
}
