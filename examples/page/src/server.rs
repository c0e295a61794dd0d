//! The server's half of the page: what the assistant is told there, and its tool.

use std::sync::Arc;

use async_trait::async_trait;
use parlor_pages::{
    BuiltContext, OpenPage, Page, PageDefinition, Scope, fence_text,
    payload_config::{PayloadConfig, proposal},
};
use parlor_protocol::UserId;
use parlor_storage::StorageError;
use parlor_tools::{AnyTool, OpenItems, Tool, ToolContext, ToolError, ToolKind, ToolResult, any_tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{INFO, InventoryFields, ItemProposal};

const ITEM_PROPOSAL: PayloadConfig = proposal::<ItemProposal>();

static DEFINITION: PageDefinition = PageDefinition {
    info: &INFO,
    identity: "You help a person to keep the inventory of their house.",
    brief_identity: "You keep an inventory.",
    scope: Scope {
        tools: &[FindItem::NAME],
        payloads: &[&ITEM_PROPOSAL],
        ..Scope::EMPTY
    },
    tabs: &[],
};

/// The page.
pub struct Inventory;

#[async_trait]
impl Page for Inventory {
    type Fields = InventoryFields;

    fn definition(&self) -> &'static PageDefinition {
        &DEFINITION
    }

    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        vec![any_tool(FindItem)]
    }

    async fn describe(
        &self,
        _: UserId,
        open: &OpenPage<InventoryFields>,
    ) -> Result<BuiltContext, StorageError> {
        let item = open.fields.draft.clone().unwrap_or_default().item;
        let text = fence_text(&format!("name: {}\nplace: {}", item.name, item.place));
        Ok(BuiltContext {
            text: format!("The open item, as it stands on the screen:\n{text}"),
            ..BuiltContext::default()
        })
    }
}

/// The things that are there, with their places.
const ITEMS: [(&str, &str); 2] = [("Lamp", "Attic, shelf 2"), ("Ladder", "Cellar")];

struct FindItem;

#[derive(Deserialize, JsonSchema)]
struct FindItemInput {
    /// A part of its name. Leave it out for the open item.
    #[serde(default)]
    name: String,
}

impl Tool for FindItem {
    type Input = FindItemInput;

    const KIND: ToolKind = ToolKind::plain("find_item");
    const DESCRIPTION: &'static str = "Finds things of the house by their names, and says where they are.";
    const LABEL: &'static str = "Looking into the inventory";
    const DONE: &'static str = "Looked into the inventory";
    const IS_IDEMPOTENT: bool = true;

    fn complete(&self, input: &mut FindItemInput, open: OpenItems<'_>) -> Result<(), String> {
        if input.name.is_empty() {
            let open: InventoryFields = open.on_page().unwrap_or_default();
            input.name = open.draft.unwrap_or_default().item.name;
        }
        Ok(())
    }

    fn detail(&self, input: &FindItemInput) -> Option<String> {
        Some(input.name.clone())
    }

    async fn run(&self, input: FindItemInput, _: ToolContext) -> Result<ToolResult, ToolError> {
        let words = input.name.to_lowercase();
        let found = ITEMS
            .iter()
            .filter(|(name, _)| name.to_lowercase().contains(&words));
        let lines: Vec<String> = found.map(|(name, place)| format!("{name}: {place}")).collect();
        match lines.is_empty() {
            true => Err(ToolError::new("There is no such thing.")),
            false => Ok(lines.join("\n").into()),
        }
    }
}
