//! Checks the manifest against `tools/pack.schema.json`. Every deviation is reported as a readable
//! fault. No address is fetched: the schema is compiled in, and external references are refused.

use std::sync::LazyLock;

use contract::text;
use jsonschema::{
    ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use crate::fault::{Faults, join};

static VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(crate::SCHEMA).ok()?;
    jsonschema::options().offline().build(&schema).ok()
});

/// Adds a fault for each deviation of the manifest from the schema.
pub(crate) fn check(manifest: &Value, faults: &mut Faults) {
    let Some(validator) = VALIDATOR.as_ref() else {
        faults.at(
            "",
            "the manifest could not be checked: the app's own pack schema does not load",
            "reinstall the app",
        );
        return;
    };
    for error in validator.iter_errors(manifest) {
        report(&error, faults);
    }
}

fn report(error: &ValidationError<'_>, faults: &mut Faults) {
    let pointer = error.instance_path().as_str().to_owned();
    match error.kind() {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            match (allowed_words(context), telling_branch(context, &pointer)) {
                (Some(words), _) => faults.at(
                    pointer,
                    text!("it must be one of {words}", words),
                    "use one of these values",
                ),
                (None, Some(branch)) => branch.iter().for_each(|e| report(e, faults)),
                (None, None) => faults.at(
                    pointer,
                    sentence(error),
                    "give it one of the shapes that tools/README.md lists",
                ),
            }
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            faults.at(
                join(&pointer, name),
                text!("`{name}` is missing", name),
                text!("add `{name}`", name),
            );
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                faults.at(
                    join(&pointer, name),
                    text!("`{name}` is not a member of the format here", name),
                    "remove it or correct its spelling",
                );
            }
        }
        Kind::Type { kind } => faults.at(
            pointer,
            text!("it must be {kind}", kind = types(kind)),
            "change the value's type",
        ),
        Kind::Enum { options } => faults.at(
            pointer,
            text!("it must be one of {words}", words = list(options)),
            "use one of these values",
        ),
        Kind::Constant { expected_value } => faults.at(
            pointer,
            text!("it must be {kind}", kind = expected_value.to_string()),
            "use this value",
        ),
        Kind::Pattern { pattern } => {
            faults.at(
                pointer,
                format!("{} does not have the form {pattern}", quote_value(error)),
                "use the form described in tools/README.md",
            );
        }
        Kind::Minimum { limit } => faults.at(
            pointer,
            format!("{} is below {limit}", quote_value(error)),
            format!("use at least {limit}"),
        ),
        Kind::Maximum { limit } => faults.at(
            pointer,
            format!("{} is above {limit}", quote_value(error)),
            format!("use at most {limit}"),
        ),
        Kind::MinLength { limit } => faults.at(
            pointer,
            "the text is too short",
            format!("give it at least {limit} character(s)"),
        ),
        Kind::MinItems { limit } => {
            faults.at(pointer, "the list is too short", format!("give it at least {limit} entry"))
        }
        Kind::MaxLength { limit } => {
            faults.at(pointer, "the text is too long", format!("use at most {limit} characters"))
        }
        // The pack schema uses no other keywords. For keywords added later, the library's message
        // is sufficient.
        _ => faults.at(pointer, sentence(error), "see tools/README.md"),
    }
}

/// Of several alternative schemas, returns the errors of the alternative that the author most
/// likely meant. Excludes the `null` of an optional member, and alternatives with another tag or
/// for another type of value. Of the rest, chooses the alternative with the fewest errors.
fn telling_branch<'a, 'e>(
    context: &'a [Vec<ValidationError<'e>>],
    pointer: &str,
) -> Option<&'a [ValidationError<'e>]> {
    let meant = context.iter().filter(|errors| !errors.is_empty() && !is_null_branch(errors));
    meant
        .min_by_key(|errors| {
            let has_other_tag = errors.iter().any(|e| matches!(e.kind(), Kind::Constant { .. }));
            (has_other_tag, is_of_other_type(errors, pointer), errors.len())
        })
        .map(Vec::as_slice)
}

/// Whether an alternative describes another type of value than the type of the value at the
/// pointer.
fn is_of_other_type(errors: &[ValidationError<'_>], pointer: &str) -> bool {
    match errors {
        [only] => {
            matches!(only.kind(), Kind::Type { .. }) && only.instance_path().as_str() == pointer
        }
        _ => false,
    }
}

/// Returns the allowed words of an enumeration whose schema describes each member separately.
fn allowed_words(context: &[Vec<ValidationError<'_>>]) -> Option<String> {
    let word = |errors: &Vec<ValidationError<'_>>| match errors.as_slice() {
        [only]
            if only.instance_path().as_str()
                == context.first()?.first()?.instance_path().as_str() =>
        {
            match only.kind() {
                Kind::Constant { expected_value } => {
                    expected_value.as_str().map(|word| format!("`{word}`"))
                }
                _ => None,
            }
        }
        _ => None,
    };
    let found: Option<Vec<String>> =
        context.iter().filter(|errors| !is_null_branch(errors)).map(word).collect();
    found.filter(|words| words.len() > 1).map(|words| words.join(", "))
}

fn is_null_branch(errors: &[ValidationError<'_>]) -> bool {
    matches!(errors, [only] if matches!(only.kind(), Kind::Type { kind: TypeKind::Single(t) } if t.to_string() == "null"))
}

fn types(kind: &TypeKind) -> String {
    let names = match kind {
        TypeKind::Single(one) => vec![one.to_string()],
        TypeKind::Multiple(many) => {
            many.iter().map(|t| t.to_string()).filter(|t| t != "null").collect()
        }
    };
    names.iter().map(|n| type_name(n)).collect::<Vec<_>>().join(" or ")
}

fn type_name(kind: &str) -> &str {
    match kind {
        "string" => "text in quotes",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

fn list(options: &Value) -> String {
    let items = options.as_array().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .map(|v| v.as_str().map_or_else(|| v.to_string(), |s| format!("`{s}`")))
        .collect::<Vec<_>>()
        .join(", ")
}

fn quote_value(error: &ValidationError<'_>) -> String {
    let text: String = error.instance().to_string().chars().take(80).collect();
    format!("`{text}`")
}

fn sentence(error: &ValidationError<'_>) -> String {
    // A value may be a key, so messages do not quote values.
    error.masked_with("it").to_string().chars().take(300).collect()
}
