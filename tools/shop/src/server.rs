//! The shop as an MCP server: tools with the descriptions in the pack's manifest, and pictures as
//! resources. The same handler serves stdio and HTTP.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListResourceTemplatesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
        ResourceTemplate, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
    },
    service::RequestContext,
};
use serde_json::{Map, Value};

use crate::{Shop, ShopError};

/// The URI scheme of pictures: `shop-image://<id>`.
pub const IMAGE_SCHEME: &str = "shop-image://";

/// The pack's manifest, which contains the only descriptions of the tools.
const MANIFEST: &str = include_str!("../pack.json");

/// The MCP handler of one client.
#[derive(Clone)]
pub struct ShopServer {
    shop: Arc<Shop>,
}

impl ShopServer {
    /// Creates a server for a shop.
    pub fn new(shop: Arc<Shop>) -> Self {
        Self { shop }
    }
}

impl ServerHandler for ShopServer {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(
            ServerCapabilities::builder().enable_tools().enable_resources().build(),
        );
        info.server_info = Implementation::new("shop", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            tools().map_err(|problem| ErrorData::internal_error(problem, None))?,
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = match self.shop.call(&request.name, &arguments) {
            Ok(value) => CallToolResult::success(vec![ContentBlock::text(value.to_string())]),
            Err((error, locale)) => {
                if let ShopError::Database(cause) = &error {
                    tracing::error!(%cause, "the shop's database failed");
                }
                CallToolResult::error(vec![ContentBlock::text(error.sentence(locale))])
            }
        };
        Ok(result.into())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![ResourceTemplate::new(
            format!("{IMAGE_SCHEME}{{id}}"),
            "picture",
        )]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let missing =
            || ErrorData::resource_not_found(format!("There is no picture {}.", request.uri), None);
        let id = request.uri.strip_prefix(IMAGE_SCHEME).ok_or_else(missing)?;
        let image = self
            .shop
            .image(id)
            .map_err(|error| ErrorData::internal_error(error.sentence(crate::Locale::En), None))?
            .ok_or_else(missing)?;
        Ok(ReadResourceResult::new(vec![
            ResourceContents::text(image, &request.uri).with_mime_type("image/svg+xml"),
        ])
        .into())
    }
}

/// Returns the manifest's tools in MCP's format.
fn tools() -> Result<Vec<Tool>, String> {
    let manifest: Value = serde_json::from_str(MANIFEST).map_err(|error| error.to_string())?;
    let entries = manifest
        .pointer("/tools/tools")
        .and_then(Value::as_array)
        .ok_or("the manifest has no tools")?;
    entries
        .iter()
        .map(|entry| {
            tool(&manifest, entry).ok_or_else(|| "a tool of the manifest is not whole".to_owned())
        })
        .collect()
}

fn tool(manifest: &Value, entry: &Value) -> Option<Tool> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
    let schema = |name: &str| -> Option<Map<String, Value>> {
        manifest.pointer(entry.get(name)?.as_str()?.strip_prefix('#')?)?.as_object().cloned()
    };
    let read_only = entry.get("side_effect_level")?.as_str()? == "read_only";
    let mut annotations = ToolAnnotations::new().read_only(read_only).open_world(false);
    if !read_only {
        annotations = annotations.destructive(false);
    }
    let mut tool = Tool::new(text("id")?, text("usage_guidelines")?, schema("input_schema_ref")?)
        .with_annotations(annotations);
    tool.title = text("title");
    Some(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_lists_the_six_tools_of_the_manifest() {
        let tools = tools().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(
            names,
            [
                "product.search",
                "product.get",
                "cart.get",
                "cart.addItem",
                "cart.setItemQuantity",
                "cart.removeItem"
            ]
        );
        assert!(tools.iter().all(|tool| tool.input_schema.contains_key("properties")));
    }
}
