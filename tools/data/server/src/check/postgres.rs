//! Reads a query for a database that is not DuckDB, and writes its text anew from the syntax tree.
//! The database gets only what was understood here: no comment, no unusual literal, no other table
//! than the source's.

use std::{collections::BTreeSet, ops::ControlFlow};

use sqlparser::{
    ast::{
        BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, LimitClause,
        ObjectName, ObjectNamePart, Query, Select, SetExpr, Statement, TableAlias, TableFactor,
        Value, VisitMut as _, VisitorMut,
    },
    dialect::PostgreSqlDialect,
    parser::Parser,
};

use super::{Constant, duckdb::LONGEST, is_postgres_function, refuse_length};
use crate::{DataError, error::Refusal};

/// The deepest nesting of a query.
const DEEPEST: usize = 60;

/// Types that casts may name, in lower case, without their length.
const TYPES: [&str; 34] = [
    "bigint",
    "bool",
    "boolean",
    "char",
    "character",
    "date",
    "dec",
    "decimal",
    "double",
    "double precision",
    "float",
    "float4",
    "float8",
    "int",
    "int2",
    "int4",
    "int8",
    "integer",
    "interval",
    "json",
    "jsonb",
    "numeric",
    "real",
    "smallint",
    "text",
    "time",
    "timestamp",
    "timestamptz",
    "timestamp with time zone",
    "timestamp without time zone",
    "uuid",
    "varchar",
    "character varying",
    "timetz",
];

/// Functions that return rows.
const ROW_FUNCTIONS: [&str; 2] = ["generate_series", "unnest"];

/// A source of a query: the name that the query uses, and the parts of the table's name.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name of the source.
    pub name: String,
    /// Schema and table.
    pub parts: Vec<String>,
}

/// Returns the text to send: one SELECT over the tables, with at most `most_rows` rows.
pub fn rewrite(text: &str, tables: &[Table], most_rows: u64) -> Result<String, DataError> {
    if text.len() > LONGEST {
        return Err(refuse(Refusal::Syntax(format!("it is longer than {LONGEST} bytes"))));
    }
    if text.contains('\0') {
        return Err(refuse(Refusal::Syntax("it contains a zero byte".to_owned())));
    }
    let mut statements = Parser::new(&PostgreSqlDialect {})
        .with_recursion_limit(DEEPEST)
        .try_with_sql(text)
        .and_then(|mut parser| parser.parse_statements())
        .map_err(|error| refuse(Refusal::Syntax(error.to_string())))?;
    let [Statement::Query(query)] = statements.as_mut_slice() else {
        let selects = statements.iter().filter(|one| matches!(one, Statement::Query(_))).count();
        let count = if statements.len() == 1 { selects } else { statements.len() };
        return Err(refuse(Refusal::NotOne(count)));
    };
    let mut names = Names::default();
    if let ControlFlow::Break(refusal) = query.visit(&mut names) {
        return Err(refuse(refusal));
    }
    let mut rewriter = Rewriter { tables, ctes: &names.ctes };
    if let ControlFlow::Break(refusal) = query.visit(&mut rewriter) {
        return Err(refuse(refusal));
    }
    limit(query, most_rows)?;
    Ok(query.to_string())
}

fn refuse(refusal: Refusal) -> DataError {
    DataError::Refused(refusal)
}

fn construct<T>(name: &str) -> ControlFlow<Refusal, T> {
    ControlFlow::Break(Refusal::Construct(name.to_owned()))
}

/// Collects the names of WITH.
#[derive(Default)]
struct Names {
    ctes: BTreeSet<String>,
}

impl VisitorMut for Names {
    type Break = Refusal;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Refusal> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.ctes.insert(cte.alias.name.value.to_lowercase());
        }
        ControlFlow::Continue(())
    }
}

struct Rewriter<'a> {
    tables: &'a [Table],
    ctes: &'a BTreeSet<String>,
}

impl VisitorMut for Rewriter<'_> {
    type Break = Refusal;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Refusal> {
        if query.with.as_ref().is_some_and(|with| with.recursive) {
            return construct("WITH RECURSIVE");
        }
        let is_plain = query.locks.is_empty()
            && query.for_clause.is_none()
            && query.settings.is_none()
            && query.format_clause.is_none()
            && query.pipe_operators.is_empty();
        if !is_plain {
            return construct("FOR UPDATE, FORMAT or SETTINGS");
        }
        check_body(&query.body)
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Refusal> {
        let is_plain = select.into.is_none()
            && select.top.is_none()
            && select.lateral_views.is_empty()
            && select.prewhere.is_none()
            && select.connect_by.is_empty()
            && select.cluster_by.is_empty()
            && select.distribute_by.is_empty()
            && select.sort_by.is_empty()
            && select.optimizer_hints.is_empty();
        if is_plain { ControlFlow::Continue(()) } else { construct("SELECT INTO") }
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Refusal> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                partitions,
                json_path,
                sample,
                ..
            } => {
                let is_plain = with_hints.is_empty()
                    && version.is_none()
                    && partitions.is_empty()
                    && json_path.is_none()
                    && sample.is_none();
                if !is_plain {
                    return construct("TABLESAMPLE");
                }
                if args.is_some() { check_row_function(name) } else { self.rename(name, alias) }
            }
            TableFactor::Function { name, .. } => check_row_function(name),
            TableFactor::Derived { sample: None, .. }
            | TableFactor::NestedJoin { .. }
            | TableFactor::UNNEST { .. } => ControlFlow::Continue(()),
            _ => construct("This kind of table"),
        }
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Refusal> {
        match expression {
            Expr::Function(function) => {
                if function.uses_odbc_syntax {
                    return construct("{fn ...}");
                }
                check_function(&function.name)?;
                let own = function.name.0.last().and_then(ObjectNamePart::as_ident);
                let name = own.map_or("", |own| own.value.as_str());
                match refuse_length(name, |at| constant(&function.args, at)) {
                    Some(why) => ControlFlow::Break(why),
                    None => ControlFlow::Continue(()),
                }
            }
            Expr::Cast { data_type, .. } => check_type(&data_type.to_string()),
            Expr::TypedString(typed) => check_type(&typed.data_type.to_string()),
            Expr::BinaryOp { op: BinaryOperator::PGCustomBinaryOperator(_), .. } => {
                construct("OPERATOR()")
            }
            Expr::Prefixed { .. }
            | Expr::Convert { .. }
            | Expr::MatchAgainst { .. }
            | Expr::Lambda(_)
            | Expr::Prior(_)
            | Expr::OuterJoin(_) => construct("This expression"),
            Expr::Identifier(name) => check_identifier(name),
            Expr::CompoundIdentifier(names) => names.iter().try_for_each(check_identifier),
            Expr::Value(value) => match &value.value {
                Value::Number(_, false)
                | Value::SingleQuotedString(_)
                | Value::Boolean(_)
                | Value::Null => ControlFlow::Continue(()),
                _ => construct("This kind of literal"),
            },
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Rewriter<'_> {
    /// Puts the name of the table in place of that of the source, which becomes its alias.
    fn rename(
        &self,
        name: &mut ObjectName,
        alias: &mut Option<TableAlias>,
    ) -> ControlFlow<Refusal> {
        let [ObjectNamePart::Identifier(written)] = name.0.as_slice() else {
            return self.unknown(name);
        };
        check_identifier(written)?;
        let key = written.value.to_lowercase();
        if self.ctes.contains(&key) {
            return ControlFlow::Continue(());
        }
        let found = self.tables.iter().find(|table| table.name.to_lowercase() == key);
        let Some(table) = found else { return self.unknown(name) };
        if alias.is_none() {
            *alias = Some(TableAlias {
                explicit: true,
                name: written.clone(),
                columns: Vec::new(),
                at: None,
            });
        }
        let parts = table.parts.iter().map(|part| Ident::with_quote('"', part));
        *name = ObjectName::from(parts.collect::<Vec<_>>());
        ControlFlow::Continue(())
    }

    fn unknown(&self, name: &ObjectName) -> ControlFlow<Refusal> {
        ControlFlow::Break(Refusal::Table {
            name: name.to_string(),
            known: self.tables.iter().map(|table| table.name.clone()).collect(),
        })
    }
}

fn check_body(body: &SetExpr) -> ControlFlow<Refusal> {
    match body {
        SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => ControlFlow::Continue(()),
        SetExpr::SetOperation { left, right, .. } => {
            check_body(left)?;
            check_body(right)
        }
        SetExpr::Table(_) => construct("TABLE"),
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
            construct("A change of data")
        }
    }
}

/// Identifiers are letters, digits and underscores, or stand in double quotes.
fn check_identifier(name: &Ident) -> ControlFlow<Refusal> {
    let is_plain = match name.quote_style {
        None => name.value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        Some('"') => true,
        Some(_) => false,
    };
    if is_plain { ControlFlow::Continue(()) } else { construct(&format!("The name {name}")) }
}

fn check_function(name: &ObjectName) -> ControlFlow<Refusal> {
    let parts: Vec<&Ident> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
    let own = match parts.as_slice() {
        [own] => Some(own),
        [schema, own] if schema.value.eq_ignore_ascii_case("pg_catalog") => Some(own),
        _ => None,
    };
    let is_known = own.is_some_and(|own| is_postgres_function(&own.value));
    if is_known && parts.len() == name.0.len() {
        ControlFlow::Continue(())
    } else {
        ControlFlow::Break(Refusal::Function(name.to_string()))
    }
}

/// Returns the constant in an argument of a function.
fn constant(arguments: &FunctionArguments, at: usize) -> Option<Constant> {
    let FunctionArguments::List(list) = arguments else { return None };
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value))) = list.args.get(at)? else {
        return None;
    };
    match &value.value {
        Value::Number(digits, false) => digits.parse().ok().map(Constant::Number),
        Value::SingleQuotedString(text) => Some(Constant::Text(text.clone())),
        _ => None,
    }
}

fn check_row_function(name: &ObjectName) -> ControlFlow<Refusal> {
    let text = name.to_string().to_lowercase();
    if ROW_FUNCTIONS.contains(&text.as_str()) {
        ControlFlow::Continue(())
    } else {
        ControlFlow::Break(Refusal::Function(text))
    }
}

/// Allows the built-in types of values, also as lists and with a length.
fn check_type(written: &str) -> ControlFlow<Refusal> {
    let mut plain = String::new();
    let mut depth = 0_u32;
    for sign in written.to_lowercase().chars() {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '[' | ']' => {}
            sign if depth == 0 => plain.push(sign),
            _ => {}
        }
    }
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if TYPES.contains(&plain.as_str()) {
        ControlFlow::Continue(())
    } else {
        construct(&format!("The type {written}"))
    }
}

/// Limits the rows, so that the library never holds a whole large table.
fn limit(query: &mut Query, most_rows: u64) -> Result<(), DataError> {
    let most = most_rows.saturating_add(1);
    let refuse_limit =
        || refuse(Refusal::Construct("A LIMIT that is no number, or FETCH".to_owned()));
    if query.fetch.is_some() {
        return Err(refuse_limit());
    }
    let number = |value: u64| Expr::value(Value::Number(value.to_string(), false));
    match &mut query.limit_clause {
        None => {
            query.limit_clause = Some(LimitClause::LimitOffset {
                limit: Some(number(most)),
                offset: None,
                limit_by: Vec::new(),
            });
        }
        Some(LimitClause::LimitOffset { limit, limit_by, .. }) if limit_by.is_empty() => {
            let wanted = match limit {
                None => most,
                Some(Expr::Value(value)) => match &value.value {
                    Value::Number(digits, _) => digits.parse().map_err(|_| refuse_limit())?,
                    _ => return Err(refuse_limit()),
                },
                Some(_) => return Err(refuse_limit()),
            };
            *limit = Some(number(wanted.min(most)));
        }
        Some(_) => return Err(refuse_limit()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Vec<Table> {
        vec![Table {
            name: "orders".to_owned(),
            parts: vec!["public".to_owned(), "v orders".to_owned()],
        }]
    }

    fn sent(text: &str) -> Result<String, DataError> {
        rewrite(text, &tables(), 100)
    }

    #[test]
    fn a_source_becomes_its_table_with_the_name_as_alias() {
        assert_eq!(
            sent("select Orders.day, sum(net) /* all */ from Orders -- the end\n group by 1")
                .unwrap(),
            "SELECT Orders.day, sum(net) FROM \"public\".\"v orders\" AS Orders GROUP BY 1 LIMIT 101"
        );
        assert_eq!(
            sent("WITH a AS (SELECT 1 AS x FROM orders o) SELECT x FROM a LIMIT 5").unwrap(),
            "WITH a AS (SELECT 1 AS x FROM \"public\".\"v orders\" o) SELECT x FROM a LIMIT 5"
        );
        assert!(sent("select lpad(a, 12, '0'), format('%-10s', a) from orders").is_ok());
        assert!(
            sent("select 'it''s' from orders limit 1000")
                .unwrap()
                .ends_with("'it''s' FROM \"public\".\"v orders\" AS orders LIMIT 101")
        );
    }

    #[test]
    fn texts_that_are_no_single_select_over_the_source_are_refused() {
        for text in [
            "",
            "select 1; select 2",
            "insert into orders values (1)",
            "with x as (delete from orders returning *) select * from x",
            "select * into t from orders",
            "select * from orders for update",
            "select * from pg_authid",
            "select * from public.orders",
            "select pg_read_file('/etc/passwd')",
            "select public.sum(1) from orders",
            "select current_setting('x')",
            "select current_user",
            "table orders",
            "select 1 limit (select 1)",
            "with recursive r as (select 1) select * from r",
            "select 'a'::regclass",
            "select $1",
            "select E'\\'' from orders",
            "select $x$ a $x$",
            "select * from orders tablesample system (1)",
            "copy orders to '/tmp/x'",
            "select lo_import('/etc/passwd')",
            "select * from dblink('x', 'select 1') as t(a int)",
            "select * from pg_ls_dir('/')",
            "select 1 operator(public.+) 2",
            "explain select 1",
            "do $$ begin end $$",
            "select lpad('x', 1000000000, 'y') from orders",
            "select lpad(a, length(a)) from orders",
            "select pg_catalog.rpad('x', 20000)",
            "select format('%1000000000s', 'x')",
            "select format('%*s', 1000000000, 'x')",
        ] {
            assert!(sent(text).is_err(), "{text}: {:?}", sent(text));
        }
    }
}
