//! Keys of models, packs and servers: their entries in the keyring, where each may be sent, and all
//! values that no model may see. Must not know packs beyond their manifests, nor who asks.

mod cache;
mod credentials;
mod destination;
mod entries;
mod known_secrets;
mod names;
mod own_keys;

pub(crate) use cache::CacheStamp;
pub(crate) use credentials::Credentials;
pub(crate) use destination::{
    Declared, Destination, check_may_carry_key, credential_of_tool, credentials_of_server,
    destination_at, entered_variables, is_shared, needed_credential,
};
pub(crate) use entries::Entries;
pub(crate) use known_secrets::{
    KnownSecrets, environment_variables, is_credential_name, note_tokens, read_secrets,
    secret_parts,
};
pub(crate) use names::{API_KEY, entry_name, is_app_key, tokens_entry};
pub(crate) use own_keys::OwnKeys;
