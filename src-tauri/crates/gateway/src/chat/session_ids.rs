//! The engine's ids of callers' sessions, and the rules for which tokens open a session. The module
//! knows no stored state.

use contract::SessionId;
use uuid::{Uuid, Variant, Version};

/// Whether nobody can guess a session's name, because it is a random UUID (version 4) in the usual
/// form, with 122 random bits. A caller with such a name received it from its own session.
pub(crate) fn is_unguessable(session: &str) -> bool {
    Uuid::try_parse(session).is_ok_and(|id| {
        id.get_version() == Some(Version::Random)
            && id.get_variant() == Variant::RFC4122
            && id.hyphenated().to_string().eq_ignore_ascii_case(session)
    })
}

/// Returns the engine's id of a caller's session. Visitors with demo tokens choose session names
/// themselves, so for a name that can be guessed the visitor's id becomes part of the engine's id.
/// The same name then means different sessions for different visitors. A name that cannot be
/// guessed always means the same session, because the shop's widget sends a new token with each
/// message.
pub(crate) fn engine_session_id(
    application: &str,
    session: &str,
    visitor: Option<&str>,
) -> SessionId {
    match visitor.filter(|_| !is_unguessable(session)) {
        Some(sid) => SessionId::of(application, &format!("{sid}/{session}")),
        None => SessionId::of(application, session),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use axum::http::{HeaderMap, header};
    use proptest::prelude::*;

    use super::*;
    use crate::{config::SimpleAuth, http::auth::Visitor};

    const RANDOM: &str = "9b2f6c1e-3d47-4a58-8f0b-6c1d2e3f4a5b";

    /// Whether a token with this visitor id is valid.
    fn holds(sid: &str) -> bool {
        let auth = SimpleAuth { secret: "s".repeat(32), ttl_s: 600, cookie_crosses_sites: false };
        let token = auth
            .issue_token(&Visitor { sid: sid.into(), application: "shop-web".into() }, 1_000)
            .unwrap();
        let headers = HeaderMap::from_iter([(
            header::AUTHORIZATION,
            format!("Bearer {token}").parse().unwrap(),
        )]);
        auth.verify_visitor(&headers, 1_000).is_some()
    }

    /// Generates visitor ids, some of them with a character that no token may contain.
    fn sid() -> impl Strategy<Value = String> {
        prop_oneof![9 => "[ab_-]{1,3}", 1 => "[a/:_-]{1,3}"]
    }

    proptest! {
        // The alphabet is small, so that names often begin with the same letters.
        #[test]
        fn visitors_with_the_same_guessable_session_id_have_different_sessions(
            one in ("[a:/%]{1,3}", sid(), "[a/:]{1,3}"),
            other in ("[a:/%]{1,3}", sid(), "[a/:]{1,3}"),
        ) {
            prop_assume!(one != other && holds(&one.1) && holds(&other.1));
            let id = |(application, sid, session): &(String, String, String)| engine_session_id(application, session, Some(sid));
            prop_assert_ne!(id(&one), id(&other));
            // A visitor cannot reach the session of a random id by another name either.
            prop_assert_ne!(id(&one), engine_session_id(&one.0, RANDOM, Some(&one.1)));
            prop_assert_eq!(id(&one).application(), one.0);
        }
    }

    #[test]
    fn a_random_session_id_opens_its_session_with_any_token_of_its_application() {
        let of = |application: &str, sid: &str| engine_session_id(application, RANDOM, Some(sid));
        assert_eq!(of("shop-web", "anna"), of("shop-web", "bert"));
        assert_ne!(of("shop-web", "anna"), of("other", "anna"));
    }

    #[test]
    fn only_a_random_version_4_uuid_counts_as_unguessable() {
        let upper = RANDOM.to_uppercase();
        assert!([RANDOM, &upper].iter().all(|id| is_unguessable(id)));
        for guessable in [
            "",
            "s",
            "1001",
            "shared-name",
            // These UUIDs are made from the time or from a name.
            "9b2f6c1e-3d47-1a58-8f0b-6c1d2e3f4a5b",
            "9b2f6c1e-3d47-5a58-8f0b-6c1d2e3f4a5b",
            "9b2f6c1e-3d47-7a58-8f0b-6c1d2e3f4a5b",
            // The first two have another UUID variant, and the third is the nil UUID.
            "9b2f6c1e-3d47-4a58-0f0b-6c1d2e3f4a5b",
            "9b2f6c1e-3d47-4a58-cf0b-6c1d2e3f4a5b",
            "00000000-0000-0000-0000-000000000000",
            // These are other notations of a UUID.
            "9b2f6c1e3d474a588f0b6c1d2e3f4a5b",
            "{9b2f6c1e-3d47-4a58-8f0b-6c1d2e3f4a5b}",
            "urn:uuid:9b2f6c1e-3d47-4a58-8f0b-6c1d2e3f4a5b",
            " 9b2f6c1e-3d47-4a58-8f0b-6c1d2e3f4a5b",
            "9b2f6c1e-3d47-4a58-8f0b-6c1d2e3f4a5b/1",
            "anna/9b2f6c1e-3d47-4a58-8f0b-6c1d2e3f4a5b",
        ] {
            assert!(!is_unguessable(guessable), "{guessable}");
        }
    }
}
