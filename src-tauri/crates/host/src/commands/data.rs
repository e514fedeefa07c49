//! Stores values that a person enters for a pack, and chooses between its data sets. Imports are in
//! `packs`.

use contract::{
    AgentError, DataEntryParams, DataEntryResponse, DataUseParams, PackDatasets, RecordType,
};
use engine::ports::RecordDraft;
use serde_json::json;

use crate::host::Host;

impl Host {
    /// Stores the values of a record that a person entered.
    pub(crate) async fn enter_data(
        &self,
        params: DataEntryParams,
    ) -> Result<DataEntryResponse, AgentError> {
        self.check_alarm()?;
        let entered = json!({ "id": params.id, "values": params.values }).to_string();
        let response = self.packs.imports.set_entry(params).await?;
        let draft = RecordDraft::new(RecordType::DataImported)
            .field("rows_stored", u64::from(response.problems.is_empty()))
            .field("errors", u64::try_from(response.problems.len()).unwrap_or(u64::MAX));
        self.record(draft.commit("entered", entered)).await?;
        Ok(response)
    }

    /// Makes a data set of a pack active.
    pub(crate) async fn choose_dataset(
        &self,
        params: DataUseParams,
    ) -> Result<PackDatasets, AgentError> {
        self.check_alarm()?;
        let before = self.packs.imports.datasets_of(&params.pack).await?.active;
        if before != params.dataset {
            self.packs.imports.use_dataset(&params.pack, params.dataset).await?;
            let draft = RecordDraft::new(RecordType::SettingChanged).field("setting", "dataset");
            self.record(
                draft
                    .commit("before", json!(before).to_string())
                    .commit("after", json!(params.dataset).to_string()),
            )
            .await?;
        }
        self.packs.imports.datasets_of(&params.pack).await
    }
}
