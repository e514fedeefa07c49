//! HTTP: connections, routes, who may ask and how often, and what a refused caller is told.

pub(crate) mod admit;
pub(crate) mod app;
pub(crate) mod auth;
pub(crate) mod limits;
pub(crate) mod listener;
pub(crate) mod openapi;
pub(crate) mod origin;
pub(crate) mod routes;
