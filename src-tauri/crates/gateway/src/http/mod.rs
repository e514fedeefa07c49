//! HTTP: connections, routes, who may ask and how often, and what a refused caller is told.

pub(crate) mod admit;
pub(crate) mod auth;
pub(crate) mod error;
pub(crate) mod limits;
pub(crate) mod listener;
pub(crate) mod metrics;
pub(crate) mod net;
pub(crate) mod openapi;
pub(crate) mod origin;
pub(crate) mod request;
pub(crate) mod routes;
