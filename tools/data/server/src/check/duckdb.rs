//! Reads the syntax tree that DuckDB's own parser makes of a text. Every node has to be of a known
//! kind, every table a source or a name of WITH, every function on the list.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Constant, is_duckdb_function, is_duckdb_table_function, refuse_length};
use crate::{DataError, error::Refusal, link::Link, sql::literal, stop::Stop};

/// The longest text of a query in bytes.
pub const LONGEST: usize = 64 << 10;

/// Nodes without a class: statements, tables and modifiers.
const NODES: [&str; 17] = [
    "SELECT_NODE",
    "SET_OPERATION_NODE",
    "CTE_NODE",
    "BASE_TABLE",
    "JOIN",
    "SUBQUERY",
    "TABLE_FUNCTION",
    "EXPRESSION_LIST",
    "PIVOT",
    "EMPTY",
    "ORDER_MODIFIER",
    "LIMIT_MODIFIER",
    "LIMIT_PERCENT_MODIFIER",
    "DISTINCT_MODIFIER",
    "ORDER_DEFAULT",
    "ASCENDING",
    "DESCENDING",
];

/// Classes of expressions.
const CLASSES: [&str; 15] = [
    "BETWEEN",
    "CASE",
    "CAST",
    "COLLATE",
    "COLUMN_REF",
    "COMPARISON",
    "CONJUNCTION",
    "CONSTANT",
    "DEFAULT",
    "FUNCTION",
    "LAMBDA",
    "OPERATOR",
    "STAR",
    "SUBQUERY",
    "WINDOW",
];

/// Checks that a text is one SELECT over the named sources.
pub fn check(link: &mut Link, text: &str, sources: &[&str], stop: &Stop) -> Result<(), DataError> {
    if text.len() > LONGEST {
        return Err(refuse(Refusal::Syntax(format!("it is longer than {LONGEST} bytes"))));
    }
    if text.contains('\0') {
        return Err(refuse(Refusal::Syntax("it contains a zero byte".to_owned())));
    }
    let tree = parse(link, text, stop)?;
    let statements = tree["statements"].as_array().map_or(&[][..], Vec::as_slice);
    let [statement] = statements else {
        return Err(refuse(Refusal::NotOne(statements.len())));
    };
    let known: BTreeSet<String> = sources.iter().map(|name| name.to_lowercase()).collect();
    let mut walk = Walk { sources: &known, names: BTreeSet::new(), shown: sources };
    walk.collect_names(statement)?;
    walk.visit(statement)
}

/// Returns the syntax tree.
fn parse(link: &mut Link, text: &str, stop: &Stop) -> Result<Value, DataError> {
    let row = link.row(&format!("SELECT json_serialize_sql({})", literal(text)), stop)?;
    let written = row.into_iter().flatten().next().unwrap_or_default();
    // Reading stops at 128 levels, so that no text can exhaust the stack.
    let tree: Value = serde_json::from_str(&written)
        .map_err(|_| refuse(Refusal::Syntax("it is nested too deeply".to_owned())))?;
    if tree["error"] == Value::Bool(true) {
        let message = tree["error_message"].as_str().unwrap_or_default();
        return Err(refuse(match tree["error_type"].as_str() {
            Some("not implemented") => Refusal::NotOne(0),
            _ => Refusal::Syntax(message.trim_end_matches(['.', '!']).to_owned()),
        }));
    }
    Ok(tree)
}

/// Returns the value of a node that is a constant.
fn constant(node: &Value) -> Option<Constant> {
    if node["class"] != "CONSTANT" {
        return None;
    }
    match &node["value"]["value"] {
        Value::Number(number) => number.as_u64().map(Constant::Number),
        Value::String(text) => Some(Constant::Text(text.clone())),
        _ => None,
    }
}

fn refuse(refusal: Refusal) -> DataError {
    DataError::Refused(refusal)
}

struct Walk<'a> {
    sources: &'a BTreeSet<String>,
    /// The names of WITH.
    names: BTreeSet<String>,
    shown: &'a [&'a str],
}

impl Walk<'_> {
    /// Collects the names of WITH. A name could also be that of a file, which DuckDB would open
    /// where the name is not in scope, so only plain words are allowed.
    fn collect_names(&mut self, node: &Value) -> Result<(), DataError> {
        match node {
            Value::Array(list) => list.iter().try_for_each(|one| self.collect_names(one)),
            Value::Object(members) => {
                let entries = node.pointer("/cte_map/map").and_then(Value::as_array);
                for entry in entries.into_iter().flatten() {
                    let name = entry["key"].as_str().unwrap_or_default();
                    let is_plain = !name.is_empty()
                        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                    if !is_plain {
                        return Err(refuse(Refusal::Construct(format!("The name {name} of WITH"))));
                    }
                    self.names.insert(name.to_lowercase());
                }
                members.values().try_for_each(|one| self.collect_names(one))
            }
            _ => Ok(()),
        }
    }

    fn visit(&self, node: &Value) -> Result<(), DataError> {
        match node {
            Value::Array(list) => list.iter().try_for_each(|one| self.visit(one)),
            Value::Object(members) => {
                self.check_node(node)?;
                members.values().try_for_each(|one| self.visit(one))
            }
            _ => Ok(()),
        }
    }

    fn check_node(&self, node: &Value) -> Result<(), DataError> {
        if !node["sample"].is_null() {
            return Err(refuse(Refusal::Construct("TABLESAMPLE".to_owned())));
        }
        let kind = node["type"].as_str();
        match node["class"].as_str() {
            Some("FUNCTION" | "WINDOW") => return self.check_function(node),
            Some(class) if CLASSES.contains(&class) => return Ok(()),
            Some("PARAMETER") => {
                return Err(refuse(Refusal::Construct("A parameter".to_owned())));
            }
            Some(class) => return Err(refuse(Refusal::Construct(class.to_owned()))),
            None => {}
        }
        match kind {
            Some("BASE_TABLE") => self.check_table(node),
            Some("TABLE_FUNCTION") => {
                let name = node.pointer("/function/function_name").and_then(Value::as_str);
                let name = name.unwrap_or_default();
                if is_duckdb_table_function(name) {
                    Ok(())
                } else {
                    Err(refuse(Refusal::Function(name.to_owned())))
                }
            }
            Some("RECURSIVE_CTE_NODE") => {
                Err(refuse(Refusal::Construct("WITH RECURSIVE".to_owned())))
            }
            Some("SHOW_REF") => {
                Err(refuse(Refusal::Construct("SHOW, DESCRIBE or SUMMARIZE".to_owned())))
            }
            // The types of casts.
            Some(kind) if kind.ends_with("_TYPE_INFO") => Ok(()),
            Some(kind) if NODES.contains(&kind) => Ok(()),
            Some(kind) => Err(refuse(Refusal::Construct(kind.to_owned()))),
            // Members of nodes, such as the type of a constant.
            None => Ok(()),
        }
    }

    fn check_function(&self, node: &Value) -> Result<(), DataError> {
        let name = node["function_name"].as_str().unwrap_or_default();
        let is_plain = ["schema", "catalog"].iter().all(|member| {
            ["", "main", "system"].contains(&node[member].as_str().unwrap_or_default())
        });
        // A window without a name is a ranking such as `row_number`, whose node has its type.
        let is_known = is_duckdb_function(name)
            || (name.is_empty() && node["class"] == "WINDOW")
            || is_duckdb_table_function(name);
        if !is_plain || !is_known {
            return Err(refuse(Refusal::Function(name.to_owned())));
        }
        refuse_length(name, |at| constant(&node["children"][at]))
            .map_or(Ok(()), |why| Err(refuse(why)))
    }

    fn check_table(&self, node: &Value) -> Result<(), DataError> {
        let text = |member: &str| node[member].as_str().unwrap_or_default();
        let name = text("table_name");
        let shown = ["catalog_name", "schema_name", "table_name"]
            .iter()
            .map(|member| text(member))
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(".");
        let is_bare = text("catalog_name").is_empty() && text("schema_name").is_empty();
        let key = name.to_lowercase();
        if !node["at_clause"].is_null() {
            return Err(refuse(Refusal::Construct("AT".to_owned())));
        }
        if is_bare && (self.sources.contains(&key) || self.names.contains(&key)) {
            return Ok(());
        }
        let known = self.shown.iter().map(|name| (*name).to_owned()).collect();
        Err(refuse(Refusal::Table { name: shown, known }))
    }
}
