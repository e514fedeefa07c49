//! Moves keys that an earlier version left in the file of an added server to the keyring.

use contract::{AgentError, StartNotice, text};

use crate::{
    host::{Host, start_notice},
    servers::{
        added::{
            KeyValues, separate_stored_keys,
            storage::{self, StoredServer},
        },
        server_key,
    },
};

impl Host {
    /// Moves the keys in the files of added servers to the keyring, and adds one notice about this.
    /// A server whose keys cannot be moved stays unchanged.
    pub(crate) async fn move_server_keys(&self) {
        let (mut moved, mut kept) = (Vec::new(), Vec::new());
        for stored in storage::read_all(&self.profile.paths().own_servers()) {
            let Some((without, values)) = separate_stored_keys(&stored) else { continue };
            match self.move_keys_of(&without, values, self.is_file_accepted(&stored)).await {
                Ok(()) => moved.push(stored.name),
                Err(error) => {
                    tracing::warn!(%error.message, "keys in the file of a server could not be moved");
                    kept.push(stored.name);
                }
            }
        }
        let mut notices = self.process.notices.lock();
        notices.extend(tell(&moved, &kept));
    }

    async fn move_keys_of(
        &self,
        stored: &StoredServer,
        values: KeyValues,
        is_accepted: bool,
    ) -> Result<(), AgentError> {
        self.record_server(stored, "keys_moved").await?;
        let loaded = self.pack_of(stored);
        for (name, value) in values {
            self.keep_key(&loaded, &name, value.into(), false).await?;
        }
        self.save_server(stored, is_accepted)?;
        let key = server_key(&stored.pack_id(), &stored.name);
        self.servers.connections.remove(&key).await;
        self.reload_added();
        if stored.enabled {
            self.servers.connections.put(self.config_of(stored, &loaded)?).await;
        }
        Ok(())
    }
}

fn tell(moved: &[String], kept: &[String]) -> Vec<StartNotice> {
    let mut notices = Vec::new();
    if !moved.is_empty() {
        notices.push(start_notice(
            "server_keys_moved",
            &text!(
                "Keys in the files of these added servers were moved to the keyring: {servers}. Copies of the files may still hold them.",
                servers = moved.join(", ")
            ),
        ));
    }
    if !kept.is_empty() {
        notices.push(start_notice(
            "server_keys_in_files",
            &text!(
                "The files of these added servers hold keys, because the keyring cannot be used: {servers}.",
                servers = kept.join(", ")
            ),
        ));
    }
    notices
}
