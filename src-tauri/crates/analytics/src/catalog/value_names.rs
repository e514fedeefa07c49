//! Names of values for people: "slightly behind" for the value `slightly_behind`.

use contract::GivenName;

use super::SourceModel;

impl SourceModel {
    /// Returns the name of a value of a dimension that names its values for people: the first one of each
    /// language. None if the dimension names none.
    pub fn value_name(&self, dimension: &str, value: &str) -> Option<GivenName> {
        let named = &self.definitions.dimensions.get(dimension)?.values;
        if named.is_empty() {
            return None;
        }
        let names = named.get(value).into_iter().flatten();
        let first =
            names.filter_map(|(language, all)| Some((language.clone(), all.first()?.clone())));
        let names: contract::manifest::Localised<String> = first.collect();
        let text = names.get("en").cloned().unwrap_or_else(|| value.replace('_', " "));
        Some(GivenName { text, names })
    }
}
