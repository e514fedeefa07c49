//! All sentences of the gateway itself, in English and Swedish.

use crate::shop::tools;

/// A sentence of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    Start,
    Thinking,
    Searching,
    Refining,
    Details,
    Cart,
    Comparing,
    Finalizing,
    Replaced,
    Found,
    NoneFound,
    FoundThese,
    NothingFound,
    NothingLeft,
    SearchedWithout,
    ToolRuns,
    SearchFailed,
    DetailsFailed,
    CartFailed,
    ToolFailed,
    LeftOut,
    SearchName,
    DetailsName,
    CartName,
    AddName,
    SetName,
    RemoveName,
    Done,
    AlreadyDone,
    BeingDone,
    Cancelled,
    Remind,
    ConfirmFailed,
    ConfirmRefused,
    ConfirmRefusedSeveral,
    ConfirmUnknown,
    NotOpen,
    ChangedSince,
    OneAtATime,
    Yes,
    No,
    Generic,
    ChooseVariant,
    Options,
    NotBuyable,
    InStock,
    OutOfStock,
    LowestPrice,
    Comparison,
    Feature,
    ModelSlow,
    ModelBusy,
    ModelFailed,
    TurnSlow,
    ShopFailed,
    Stopping,
    Failed,
    NotUnderstood,
    SwitchedOff,
    NotSetUp,
    SessionsAway,
    TooMany,
    TooLong,
    Blank,
    NotAllowed,
    Automated,
}

impl Text {
    /// Returns the sentence in Swedish for `sv`, and in English otherwise.
    pub(crate) fn localize(self, locale: &str) -> &'static str {
        let (en, sv) = self.translations();
        if locale == "sv" { sv } else { en }
    }

    #[expect(clippy::too_many_lines, reason = "a table with one entry per text")]
    const fn translations(self) -> (&'static str, &'static str) {
        match self {
            Self::Automated => (
                "An automated assistant is answering you.",
                "Du får svar av en automatisk assistent.",
            ),
            Self::Start => ("I am looking at your message …", "Jag tittar på ditt meddelande …"),
            Self::Thinking => ("Thinking …", "Tänker …"),
            Self::Searching => ("Searching the shop …", "Söker i butiken …"),
            Self::Refining => ("Going through what I found …", "Går igenom det jag hittade …"),
            Self::Details => ("Looking at the details …", "Tittar på detaljerna …"),
            Self::Cart => ("Looking at your cart …", "Tittar i varukorgen …"),
            Self::Comparing => ("Comparing …", "Jämför …"),
            Self::Finalizing => ("Putting the answer together …", "Sätter ihop svaret …"),
            Self::Replaced => ("The answer has changed.", "Svaret har ändrats."),
            Self::Found => ("Found something.", "Hittade något."),
            Self::NoneFound => ("Nothing found.", "Hittade inget."),
            Self::FoundThese => ("This is what I found.", "Det här hittade jag."),
            Self::NothingFound => (
                "Nothing was found for exactly those words.",
                "Inget hittades för precis de orden.",
            ),
            Self::NothingLeft => (
                "Nothing was found without that either. Try other words.",
                "Utan det hittades inget heller. Prova andra ord.",
            ),
            Self::SearchedWithout => (
                "Nothing was found without those words either. What kind of product are you looking for?",
                "Utan de orden hittades inget heller. Vilken sorts produkt letar du efter?",
            ),
            Self::ToolRuns => ("One moment …", "Ett ögonblick …"),
            Self::SearchFailed => ("The search did not work.", "Sökningen fungerade inte."),
            Self::DetailsFailed => {
                ("The details could not be fetched.", "Detaljerna gick inte att hämta.")
            }
            Self::CartFailed => ("The cart could not be reached.", "Varukorgen gick inte att nå."),
            Self::LeftOut => ("That step was left out.", "Det steget hoppades över."),
            Self::ToolFailed => ("That step did not work.", "Det steget fungerade inte."),
            Self::SearchName => ("Product search", "Produktsökning"),
            Self::DetailsName => ("Product details", "Produktdetaljer"),
            Self::CartName => ("Cart", "Varukorg"),
            Self::AddName => ("Add to cart", "Lägg i varukorgen"),
            Self::SetName => ("Change quantity", "Ändra antal"),
            Self::RemoveName => ("Remove from cart", "Ta bort ur varukorgen"),
            Self::Done => ("Done. Your cart is up to date.", "Klart. Varukorgen är uppdaterad."),
            Self::AlreadyDone => ("That has been done already.", "Det är redan gjort."),
            Self::BeingDone => (
                "That is being done right now. Please look at the cart in a moment.",
                "Det görs just nu. Titta gärna i varukorgen om en liten stund.",
            ),
            Self::Cancelled => ("All right, nothing was changed.", "Okej, inget ändrades."),
            Self::Remind => {
                ("First I need your answer to this:", "Först behöver jag ditt svar på det här:")
            }
            Self::ConfirmFailed => (
                "Sorry, the cart could not be changed. Please ask for it again.",
                "Tyvärr gick varukorgen inte att ändra. Be gärna om det igen.",
            ),
            Self::ConfirmRefused => (
                "Sorry, the shop did not accept that change.",
                "Tyvärr tog butiken inte emot ändringen.",
            ),
            Self::ConfirmRefusedSeveral => (
                "Sorry, the shop did not accept that change. Perhaps fewer are left; try a smaller number.",
                "Tyvärr tog butiken inte emot ändringen. Det kanske finns färre kvar; prova ett mindre antal.",
            ),
            Self::ConfirmUnknown => (
                "Sorry, the shop did not answer in time. The change may or may not have happened; please look at the cart.",
                "Tyvärr svarade butiken inte i tid. Ändringen kan ha gjorts eller inte; titta gärna i varukorgen.",
            ),
            Self::NotOpen => (
                "That question is not open any more. Please ask for it again if you still want it.",
                "Den frågan gäller inte längre. Be gärna om det igen om du fortfarande vill ha det.",
            ),
            Self::ChangedSince => (
                "Something has changed since then. Please look at it again:",
                "Något har ändrats sedan dess. Titta gärna på det igen:",
            ),
            Self::OneAtATime => (
                "One change is made at a time. Ask again for",
                "En ändring görs i taget. Be igen om",
            ),
            Self::Yes => ("Yes", "Ja"),
            Self::No => ("No", "Nej"),
            Self::Generic => ("Change the cart", "Ändra varukorgen"),
            Self::ChooseVariant => ("Which one would you like?", "Vilken vill du ha?"),
            Self::Options => ("You can choose:", "Du kan välja:"),
            Self::NotBuyable => (
                "That product cannot be bought at the moment.",
                "Den produkten går inte att köpa just nu.",
            ),
            Self::InStock => ("in stock", "i lager"),
            Self::OutOfStock => ("out of stock", "slut i lager"),
            Self::LowestPrice => ("lowest price", "lägst pris"),
            Self::Comparison => ("Comparison", "Jämförelse"),
            Self::Feature => ("Feature", "Egenskap"),
            Self::ModelSlow => (
                "The assistant took too long to answer. Please try again.",
                "Assistenten tog för lång tid på sig. Försök igen.",
            ),
            Self::ModelBusy => (
                "The assistant is busy. Please try again in a moment.",
                "Assistenten är upptagen. Försök igen om en stund.",
            ),
            Self::ModelFailed => (
                "The assistant cannot answer at the moment. Please try again later.",
                "Assistenten kan inte svara just nu. Försök igen senare.",
            ),
            Self::TurnSlow => {
                ("That took too long. Please try again.", "Det tog för lång tid. Försök igen.")
            }
            Self::ShopFailed => (
                "The shop did not answer. Please try again later.",
                "Butiken svarade inte. Försök igen senare.",
            ),
            Self::Stopping => (
                "The service is being restarted. Please try again in a moment.",
                "Tjänsten startas om. Försök igen om en stund.",
            ),
            Self::Failed => {
                ("Something went wrong. Please try again.", "Något gick fel. Försök igen.")
            }
            Self::NotUnderstood => {
                ("The request could not be understood.", "Begäran gick inte att förstå.")
            }
            Self::SessionsAway => (
                "The conversation cannot be reached at the moment. Please send your message again shortly.",
                "Konversationen går inte att nå just nu. Skicka gärna meddelandet igen om en liten stund.",
            ),
            Self::TooMany => (
                "Too many requests. Wait a moment, then try again.",
                "För många frågor på en gång. Vänta en stund och försök igen.",
            ),
            Self::TooLong => (
                "The message is too long. Please shorten it.",
                "Meddelandet är för långt. Korta gärna av det.",
            ),
            Self::Blank => (
                "The message is empty. Please write something.",
                "Meddelandet är tomt. Skriv gärna något.",
            ),
            Self::NotAllowed => (
                "This application may not use the assistant.",
                "Den här applikationen får inte använda assistenten.",
            ),
            Self::SwitchedOff => {
                ("The assistant is switched off at the moment.", "Assistenten är avstängd just nu.")
            }
            Self::NotSetUp => (
                "The assistant cannot answer at the moment, because its setup has a fault.",
                "Assistenten kan inte svara just nu, eftersom det är ett fel i dess inställningar.",
            ),
        }
    }
}

/// Returns `sv` for Swedish cultures and `en` otherwise.
pub(crate) fn locale_for_culture(culture: Option<&str>) -> &'static str {
    language::Language::from_tag(culture.unwrap_or_default()).tag()
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

/// Returns the status text for a failed tool. It never contains the shop's own text.
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

    macro_rules! every {
        ($($name:ident)*) => {
            const EVERY: &[Text] = &[$(Text::$name),*];
            /// A sentence that is missing in the list does not compile here.
            const fn is_listed(text: Text) -> bool {
                match text {
                    $(Text::$name)|* => true,
                }
            }
        };
    }
    every! {
        Start Thinking Searching Refining Details Cart Comparing Finalizing Replaced Found NoneFound FoundThese NothingFound NothingLeft SearchedWithout ToolRuns SearchFailed DetailsFailed CartFailed ToolFailed LeftOut
        SearchName DetailsName CartName AddName SetName RemoveName Done AlreadyDone BeingDone Cancelled Remind ConfirmFailed ConfirmRefused ConfirmRefusedSeveral ConfirmUnknown NotOpen ChangedSince OneAtATime Yes No
        Generic ChooseVariant Options NotBuyable InStock OutOfStock LowestPrice Comparison Feature ModelSlow ModelBusy ModelFailed TurnSlow ShopFailed Stopping Failed
        NotUnderstood SwitchedOff NotSetUp SessionsAway TooMany TooLong Blank NotAllowed Automated
    }
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
    fn section_18_every_sentence_is_there_in_both_languages_and_differs() {
        for text in EVERY {
            let (en, sv) = (text.localize("en"), text.localize("sv"));
            assert!(is_listed(*text) && !en.trim().is_empty() && !sv.trim().is_empty(), "{text:?}");
            assert_ne!(en, sv, "{text:?}");
            assert_eq!(text.localize("fi"), en, "{text:?}");
        }
        for locale in ["en", "sv"] {
            let said: BTreeSet<&str> = EVERY.iter().map(|text| text.localize(locale)).collect();
            assert_eq!(said.len(), EVERY.len(), "no sentence stands for two: {locale}");
        }
    }

    #[test]
    fn section_18_every_tool_has_a_name_and_says_when_it_starts_and_fails() {
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
    fn section_18_the_language_is_the_first_part_of_the_culture_and_else_english() {
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
