//! HTTP: connections, routes, authentication, rate limits, and the responses to refused callers.

pub(crate) mod admit;
pub(crate) mod app;
pub(crate) mod auth;
pub(crate) mod limits;
pub(crate) mod listener;
pub(crate) mod openapi;
pub(crate) mod origin;
pub(crate) mod routes;
