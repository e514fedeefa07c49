//! Texts about a search without results: in both languages for people, and in English for models.

/// The instruction for the model if no product was found.
pub(super) const NOTHING_FOUND: &str =
    "Nothing was found. Say so, invent nothing, and offer one of the refinements.";

pub(super) fn look_for(words: &str, sv: bool) -> String {
    if sv { format!("Sök efter ”{words}”") } else { format!("Search for “{words}”") }
}

pub(super) fn look_for_exactly(words: &str, sv: bool) -> String {
    if sv {
        format!("Sök efter precis ”{words}”")
    } else {
        format!("Search for exactly “{words}”")
    }
}

pub(super) fn without(named: &str, sv: bool) -> String {
    if sv { format!("Sök utan: {named}") } else { format!("Search without: {named}") }
}

/// Returns a filter's name for the user. A filter that only this shop has keeps its own name.
pub(super) fn filter(name: &str, sv: bool) -> &str {
    let (en, swedish) = match name {
        "category" => ("category", "kategori"),
        "brand" => ("brand", "märke"),
        "color" => ("colour", "färg"),
        "size" => ("size", "storlek"),
        "minPrice" => ("lowest price", "lägsta pris"),
        "maxPrice" => ("highest price", "högsta pris"),
        "inStock" => ("in stock", "i lager"),
        other => (other, other),
    };
    if sv { swedish } else { en }
}

/// Returns the suggestion to describe the product, and the question that follows it.
pub(super) fn clarify(sv: bool) -> (&'static str, &'static str) {
    match sv {
        true => ("Hjälp mig att beskriva det", "Vilken sorts produkt letar du efter?"),
        false => ("Help me describe it", "What kind of product are you looking for?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_api_18_texts_for_people_are_in_both_languages_and_keep_the_words() {
        for said in [look_for, look_for_exactly, without] {
            let (en, sv) = (said("blue tents", false), said("blue tents", true));
            assert_ne!(en, sv);
            assert!(en.contains("blue tents") && sv.contains("blue tents"), "{en}, {sv}");
        }
        let (en, sv) = (clarify(false), clarify(true));
        assert!(en.0 != sv.0 && en.1 != sv.1 && en.0 != en.1 && sv.0 != sv.1, "{en:?}, {sv:?}");
    }
}
