//! The service behind the tools of the pack `data`, for models and programs. It is a part of the
//! app, because definitions and data versions are the app's own; the figures come from the data
//! processes. A model on another computer gets what the setting of each source allows; results that
//! must stay on this computer are marked, so that no such model gets them later.

use std::collections::BTreeMap;

use contract::{
    AgentError, Effect, ErrorCode, ModelAccess, SourceDescription, SourceName, SourceParams,
    ToolSpec,
    definitions::{DefinitionState, DefinitionView},
    metric_query::{Compare, CompareTo, DataResult, MeasureParams},
    result::ChartKind,
    text,
};
use engine::ports::{DATA_PACK, ToolRequest};
use offline::KnownSources;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Inner, Sources,
    asking::{Page, first_row},
    leaving::nothing_leaves,
    telling::{
        Entry, MOST, Search, describe_chart, list_entries, place_of, rows_that_fit, shorten,
        tell_result, written,
    },
};

/// The name of the service and of its pack in manifests.
pub(crate) const NAME: &str = DATA_PACK;

/// The most rows of an answer.
const ROWS: u64 = 500;

/// The values of dimensions, by the names of these.
type DimensionValues = BTreeMap<String, Vec<String>>;

impl Sources {
    /// Answers a call of one of the tools.
    pub(crate) async fn call(
        &self,
        request: &ToolRequest,
        cancel: CancellationToken,
    ) -> Result<Value, AgentError> {
        // Visitors of the chat API have no access to sources, even if the pack `data` is served.
        if request.caller.is_remote() {
            return Err(super::not_for_visitors());
        }
        let inner = self.opened()?;
        let tool = request.spec.plain_id();
        check_tool(&request.spec, tool.as_str())?;
        let arguments = &request.arguments;
        let asking = Asking { inner, is_remote: !request.content.model_is_local, cancel };
        match tool.as_str() {
            "data.sources" => tell_sources(inner, place_of(arguments["cursor"].as_str())),
            "data.describe" => self.tell_described(arguments, asking.is_remote).await,
            "data.measure" => Ok(asking.measure(measure_argument(arguments)?).await?.0),
            "data.explain_change" => {
                let mut params = measure_argument(arguments)?;
                // A change is one against the period before, if nothing else is said.
                params.query.compare.get_or_insert_with(|| Compare {
                    to: Some(CompareTo::Previous),
                    ..Compare::default()
                });
                Ok(asking.measure(params).await?.0)
            }
            "data.chart" => asking.chart(arguments).await,
            "data.query" => {
                let cursor = arguments["cursor"].as_str().map(str::to_owned);
                asking.query(text_argument(arguments, "sql")?, cursor).await
            }
            _ => Err(unknown_tool(tool.as_str())),
        }
    }
}

impl Sources {
    /// Describes the source that is named. Without a name, the words are looked for in all sources;
    /// without words, these are listed.
    async fn tell_described(
        &self,
        arguments: &Value,
        is_remote: bool,
    ) -> Result<Value, AgentError> {
        let place = place_of(arguments["cursor"].as_str());
        let search = Search::read(arguments["search"].as_str());
        let name = arguments["source"].as_str().filter(|name| !name.is_empty());
        match (name, search) {
            (Some(name), Some(search)) => {
                let name = SourceName::new(name);
                let described = self.opened()?.read_description(&name)?;
                let values = values_in(self.known().await.as_deref(), &name);
                Ok(tell_description(&described, is_remote, Some((&search, &values)), place))
            }
            (Some(name), None) => {
                let name = SourceName::new(name);
                let described = self.describe(&SourceParams { name }).await?;
                Ok(tell_description(&described, is_remote, None, place))
            }
            (None, Some(search)) => self.tell_found(&search, is_remote, place).await,
            (None, None) => tell_sources(self.opened()?, place),
        }
    }

    /// Tells what fits the words in each source. Sources in which nothing fits are left out.
    async fn tell_found(
        &self,
        search: &Search,
        is_remote: bool,
        place: usize,
    ) -> Result<Value, AgentError> {
        let inner = self.opened()?;
        let known = self.known().await;
        let (mut entries, mut is_local) = (Vec::new(), false);
        for name in inner.storage.names() {
            let described = match inner.read_description(&name) {
                Ok(described) => described,
                Err(error) => {
                    let told = json!({ "name": name, "notes": [error.text()] });
                    entries.push(Entry::new("sources", told));
                    continue;
                }
            };
            let values = values_in(known.as_deref(), &name);
            let told = tell_description(&described, is_remote, Some((search, &values)), 0);
            if let Some(found) = found_in(&name, &told) {
                is_local |= told["local_only"] == true;
                entries.push(Entry::new("sources", found));
            }
        }
        let mut told = Map::from_iter([("sources".to_owned(), json!([]))]);
        if entries.is_empty() {
            let why = text!("Nothing fits the words in any source. Without them, all are listed.");
            told.insert("notes".to_owned(), json!([why]));
        }
        Ok(marked(list_entries(told, entries, place), is_local))
    }
}

/// Returns the known values of the dimensions of a source.
fn values_in(known: Option<&KnownSources>, name: &SourceName) -> DimensionValues {
    known.and_then(|known| known.values.get(name).cloned()).unwrap_or_default()
}

/// Returns what a description has of the words that were looked for, or none.
fn found_in(name: &SourceName, described: &Value) -> Option<Value> {
    const LISTS: [&str; 4] = ["measures", "dimensions", "others", "values"];
    let is_empty = |part: &Value| match part {
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    let lists = LISTS.into_iter().filter(|list| !is_empty(&described[*list]));
    let parts: Map<String, Value> =
        lists.map(|list| (list.to_owned(), described[list].clone())).collect();
    if parts.is_empty() {
        return None;
    }
    let mut found = json!({ "name": name, "days": described["days"] });
    let members = found.as_object_mut()?;
    members.extend(parts);
    let notes = described.get("notes").map(|notes| ("notes".to_owned(), notes.clone()));
    members.extend(notes);
    Some(found)
}

/// A question of a model or program.
struct Asking<'a> {
    inner: &'a Inner,
    /// Whether the model that reads the answer runs on another computer.
    is_remote: bool,
    cancel: CancellationToken,
}

impl Asking<'_> {
    /// Computes figures. Also returns them as they are without the form of an answer.
    async fn measure(&self, mut params: MeasureParams) -> Result<(Value, DataResult), AgentError> {
        self.inner.settle_moment(&mut params);
        let why = self.inner.why_result_stays(&params.query, &self.cancel).await?;
        self.answer(&Question::Figures(Box::new(params)), why).await
    }

    /// Computes figures by a SELECT that the model wrote.
    async fn query(&self, sql: String, cursor: Option<String>) -> Result<Value, AgentError> {
        let why = self.inner.why_select_stays(&sql)?;
        Ok(self.answer(&Question::Select { sql, cursor }, why).await?.0)
    }

    async fn chart(&self, arguments: &Value) -> Result<Value, AgentError> {
        let (mut told, figures) = self.measure(measure_argument(arguments)?).await?;
        let kind: Option<ChartKind> = serde_json::from_value(arguments["kind"].clone()).ok();
        let chart = describe_chart(&figures, kind);
        let is_local = told["local_only"] == true;
        // The mark belongs to the whole answer.
        if let Some(members) = told.as_object_mut() {
            members.remove("local_only");
        }
        Ok(marked(json!({ "chart": chart, "result": told }), is_local))
    }

    /// Answers a question with so many rows that the answer has the size that a model gets. `why` says
    /// why it must stay on this computer, if it must: a model elsewhere then gets this error.
    async fn answer(
        &self,
        question: &Question,
        why: Option<AgentError>,
    ) -> Result<(Value, DataResult), AgentError> {
        let is_local = why.is_some();
        if let Some(why) = why.filter(|_| self.is_remote) {
            return Err(why);
        }
        let first = first_row(question.cursor());
        let bytes = u64::try_from(MOST).unwrap_or(u64::MAX);
        let mut result = self.ask(question, Page { rows: ROWS, bytes }).await?;
        let mut told = tell_result(&result, first);
        let fits = rows_that_fit(&told).max(1);
        if fits < result.rows.len() {
            let rows = u64::try_from(fits).unwrap_or(1);
            result = self.ask(question, Page { rows, bytes }).await?;
            told = tell_result(&result, first);
        }
        if shorten(&mut told) { Ok((marked(told, is_local), result)) } else { Err(too_wide()) }
    }

    async fn ask(&self, question: &Question, page: Page) -> Result<DataResult, AgentError> {
        let cancel = self.cancel.clone();
        match question {
            Question::Figures(params) => {
                Ok(self.inner.measure(*params.clone(), page, cancel).await?.1)
            }
            Question::Select { sql, cursor } => {
                let mut result = self.inner.query(sql, cursor.clone(), page, cancel).await?;
                result.definition_state = DefinitionState::WrittenByModel;
                Ok(result)
            }
        }
    }
}

/// A question with its place in the result.
enum Question {
    Figures(Box<MeasureParams>),
    Select { sql: String, cursor: Option<String> },
}

impl Question {
    fn cursor(&self) -> Option<&str> {
        match self {
            Self::Figures(params) => params.cursor.as_deref(),
            Self::Select { cursor, .. } => cursor.as_deref(),
        }
    }
}

/// Returns an answer with the mark that it must stay on this computer. The engine never gives a
/// marked result to a model on another computer, also not later.
fn marked(mut told: Value, is_local: bool) -> Value {
    if is_local {
        told["local_only"] = Value::Bool(true);
    }
    told
}

/// Lists the sources by name. How many rows a source has is told only if models may get figures of it.
fn tell_sources(inner: &Inner, from: usize) -> Result<Value, AgentError> {
    let mut entries = Vec::new();
    for name in inner.storage.names() {
        let described = match inner.read_described(&name) {
            Ok(described) => described,
            Err(error) => {
                let told = json!({ "name": name, "notes": [error.text()] });
                entries.push(Entry::new("sources", told));
                continue;
            }
        };
        let state =
            described.state().filter(|_| described.source.models_get != ModelAccess::Nothing);
        let told = json!({
            "name": name,
            "rows": state.map(|state| state.rows),
            "days": state.and_then(|state| state.days),
        });
        entries.push(Entry::new("sources", told));
    }
    let none = Map::from_iter([("sources".to_owned(), json!([]))]);
    Ok(list_entries(none, entries, from))
}

/// Describes a source: what its names mean, some values, and how fresh its rows are. Of a source that
/// gives models nothing, a model elsewhere gets the names alone. With words to look for, only what fits
/// them is told.
fn tell_description(
    described: &SourceDescription,
    is_remote: bool,
    wanted: Option<(&Search, &DimensionValues)>,
    from: usize,
) -> Value {
    let access = described.models_get;
    let names_only = is_remote && access == ModelAccess::Nothing;
    let mut told = json!({
        "source": described.source.name,
        "measures": [],
        "dimensions": [],
    });
    if names_only {
        let why = nothing_leaves(&described.source.name);
        told["notes"] = json!([why.message]);
    } else {
        told["rows"] = json!(described.source.rows);
        told["days"] = json!(described.source.days);
        told["time"] = json!(described.definitions.time);
        told["freshness"] = freshness(described);
    }
    let mut entries: Vec<Entry> =
        described.states.iter().map(|view| definition(described, view, names_only)).collect();
    if !names_only && wanted.is_none() {
        let columns = described.source.columns.iter().map(|column| {
            let told = json!({"name": column.name, "type": column.kind, "use": column.usage, "unit": column.unit});
            Entry::new("columns", told)
        });
        entries.extend(columns);
    }
    let has_values = !is_remote || access == ModelAccess::All;
    if let Some((search, values)) = wanted {
        let none = DimensionValues::new();
        entries = search.find(&mut told, entries, if has_values { values } else { &none });
    } else {
        told["samples"] = json!({});
        let samples = described.samples.iter().filter(|_| has_values);
        entries.extend(samples.map(|(name, values)| Entry::named("samples", name, json!(values))));
    }
    let members = told.as_object().cloned().unwrap_or_default();
    marked(list_entries(members, entries, from), !is_remote && access != ModelAccess::All)
}

fn definition(described: &SourceDescription, view: &DefinitionView, names_only: bool) -> Entry {
    let list = if described.definitions.measures.contains_key(&view.name) {
        "measures"
    } else if described.definitions.dimensions.contains_key(&view.name) {
        "dimensions"
    } else {
        // Joins, and rates of currencies.
        "others"
    };
    let told = if names_only {
        json!({ "name": view.name })
    } else {
        json!({ "name": view.name, "written": written(&view.written), "approved": view.is_approved })
    };
    Entry::new(list, told)
}

/// Returns how fresh the rows of a source are: the time of the newest import, and its file's last day.
/// The rows of a database are those of each moment.
fn freshness(described: &SourceDescription) -> Value {
    match described.source.imports.first() {
        Some(newest) => json!({
            "imported_at": newest.at,
            "last_day": described.source.days.map(|days| days.last),
            "settles_after": described
                .definitions
                .measures
                .iter()
                .filter_map(|(name, measure)| Some((name, format!("{} days", measure.settles_after?))))
                .collect::<std::collections::BTreeMap<_, _>>(),
        }),
        None => Value::Null,
    }
}

fn text_argument(arguments: &Value, name: &str) -> Result<String, AgentError> {
    let text = arguments[name].as_str().unwrap_or_default();
    if text.is_empty() {
        return Err(AgentError::invalid(text!("The argument {name} is missing.", name))
            .reason("argument_missing"));
    }
    Ok(text.to_owned())
}

fn measure_argument(arguments: &Value) -> Result<MeasureParams, AgentError> {
    // The arguments may also be the query itself, without a member `query`.
    let query = arguments.get("query").unwrap_or(arguments);
    let query = contract::metric_query::read_metric_query(query)
        .map_err(|problem| AgentError::invalid(problem.text()).reason("bad_query"))?;
    let cursor = arguments["cursor"].as_str().map(str::to_owned);
    Ok(MeasureParams { query, cursor })
}

/// Fails unless the tool belongs to the service's own pack and only reads.
fn check_tool(spec: &ToolSpec, tool: &str) -> Result<(), AgentError> {
    if spec.pack.as_str() == NAME && spec.effect == Effect::ReadOnly {
        Ok(())
    } else {
        Err(unknown_tool(tool))
    }
}

fn too_wide() -> AgentError {
    AgentError::invalid("The result has too many columns for an answer.")
        .reason("result_too_wide")
        .hint("Name the columns that are needed.")
}

fn unknown_tool(tool: &str) -> AgentError {
    let message = text!("There is no tool {tool}.", tool = tool.to_owned());
    AgentError::new(ErrorCode::ToolNotFound, message).reason("tool_not_implemented")
}
