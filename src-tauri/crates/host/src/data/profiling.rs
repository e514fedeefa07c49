//! Profiles columns of a source for a person: figures about their values. The process that has the
//! rows computes them. No tool of a model leads here.

use contract::{
    AgentError, Reason, SourceName, SourceProfileParams,
    sources::{AskLimits, AskProfile, AskedSource, SourceProfile},
    text,
};
use tokio_util::sync::CancellationToken;

use super::{Sources, asking::LIMIT};

impl Sources {
    /// Returns figures about the values of columns.
    pub(crate) async fn profile(
        &self,
        params: SourceProfileParams,
    ) -> Result<SourceProfile, AgentError> {
        let inner = self.opened()?;
        let described = inner.read_described(&params.name)?;
        described.check_own_rows()?;
        let is_known = |name: &&String| described.columns().iter().any(|one| one.name == **name);
        if let Some(unknown) = params.columns.iter().find(|name| !is_known(name)) {
            return Err(no_column(&params.name, unknown));
        }
        let asked = inner.asked(&described).await?;
        // The values do not depend on definitions, so that a profile is kept when these change.
        let source = AskedSource {
            definitions: None,
            approved: Vec::new(),
            covered: None,
            exports: Vec::new(),
            ..asked
        };
        let millis = u64::try_from(LIMIT.as_millis()).unwrap_or(u64::MAX);
        let limits = AskLimits { millis, ..AskLimits::default() };
        let ask = AskProfile { source, columns: params.columns, limits };
        inner.send(&[described], "data.profile", &ask, CancellationToken::new()).await
    }
}

fn no_column(source: &SourceName, column: &str) -> AgentError {
    AgentError::invalid(text!("{source} has no column {column}.", source, column))
        .reason(Reason::NoColumn)
        .hint(text!("See its columns with: csign data describe {source}", source))
}
