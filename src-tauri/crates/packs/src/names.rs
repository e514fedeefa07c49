//! Converts tool ids to names for models. Providers accept letters, digits, `_` and `-`, at most 64
//! characters. Manifests may also use dots and capitals.

use sha2::{Digest, Sha256};

/// The length of the longest name that every provider accepts.
const MAX: usize = 64;

/// Returns a tool's name for models: `product.search` becomes `product_search`, `cart.addItem`
/// becomes `cart_add_item`.
pub fn model_name(id: &str) -> String {
    let mut name = String::with_capacity(id.len() + 4);
    let mut after_small = false;
    for c in id.chars() {
        if c.is_ascii_uppercase() && after_small {
            name.push('_');
        }
        after_small = c.is_ascii_lowercase() || c.is_ascii_digit();
        name.push(if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            c.to_ascii_lowercase()
        } else {
            '_'
        });
    }
    shorten(name, id)
}

/// Returns a name for models that differs from the names of all other ids.
pub fn distinct_model_name(id: &str) -> String {
    with_hash_suffix(&model_name(id), id)
}

/// Returns the name prefixed with its pack, for a name that several packs have.
pub(crate) fn qualified_model_name(pack: &str, id: &str) -> String {
    shorten(format!("{}_{}", model_name(pack), model_name(id)), &format!("{pack}.{id}"))
}

/// Shortens a long name and appends part of a hash of the whole name, so that two long names stay
/// different.
fn shorten(name: String, whole: &str) -> String {
    if name.len() <= MAX { name } else { with_hash_suffix(&name, whole) }
}

/// Appends part of a hash of `whole` to a name.
pub(crate) fn with_hash_suffix(name: &str, whole: &str) -> String {
    let digest = hex(&Sha256::digest(whole.as_bytes()));
    format!("{}_{}", &name[..name.len().min(MAX - 9)], &digest[..8])
}

/// Writes bytes as lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_capitals_in_tool_ids_become_underscores_in_model_names() {
        for (id, name) in [
            ("product.search", "product_search"),
            ("cart.addItem", "cart_add_item"),
            ("cart.setItemQuantity", "cart_set_item_quantity"),
            ("list_orders", "list_orders"),
            ("HTTPGet", "httpget"),
            ("å.b", "__b"),
        ] {
            assert_eq!(model_name(id), name);
        }
    }

    #[test]
    fn long_tool_names_are_shortened_and_stay_unique() {
        let (a, b) = (
            model_name(&format!("{}a", "x".repeat(80))),
            model_name(&format!("{}b", "x".repeat(80))),
        );
        assert!(a.len() <= MAX && b.len() <= MAX);
        assert_ne!(a, b);
    }
}
