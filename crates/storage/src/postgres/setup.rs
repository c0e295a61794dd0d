//! What nodes tell each other of the setup, in the table `node_values`: tokens for the first account, and host names.

use async_trait::async_trait;
use sqlx::Row;

use super::nodes::{NOW, Nodes};
use crate::{StorageError, TokenHash, nodes::SetupStorage, sql::SqlStorage};

/// The kinds of the table `node_values`.
const HOST: &str = "host";
const SETUP_TOKEN: &str = "setup_token";

impl Nodes {
    async fn add_value(&self, kind: &str, value: &str) -> Result<(), StorageError> {
        self.execute(format!(
            "INSERT INTO node_values (kind, value) VALUES ('{kind}', '{value}') ON CONFLICT DO NOTHING"
        ))
        .await?;
        Ok(())
    }

    /// Deletes the tokens for the setup: all, or those of nodes that are gone.
    async fn delete_setup_tokens(&self, only_left: bool) -> Result<(), StorageError> {
        let condition = match only_left {
            true => "NOT EXISTS (SELECT 1 FROM nodes n WHERE v.value LIKE '% ' || n.id)",
            false => "TRUE",
        };
        self.execute(format!(
            "DELETE FROM node_values v WHERE kind = '{SETUP_TOKEN}' AND {condition}"
        ))
        .await?;
        Ok(())
    }
}

#[async_trait]
impl SetupStorage for SqlStorage {
    async fn add_host(&self, name: &str) -> Result<(), StorageError> {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "-._:[]".contains(character);
        match &self.nodes {
            // Any other one is no name of a host, and must not get into a statement.
            Some(nodes) if name.chars().all(is_plain) => nodes.add_value(HOST, name).await,
            Some(_) => {
                tracing::warn!(name, "other nodes are not told of this host name");
                Ok(())
            }
            None => Ok(()),
        }
    }

    async fn hosts(&self) -> Result<Vec<String>, StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(Vec::new());
        };
        let rows = nodes
            .rows(format!(
                "SELECT value FROM node_values WHERE kind = '{HOST}' ORDER BY value"
            ))
            .await?;
        rows.iter().map(|row| Ok(row.try_get("value")?)).collect()
    }

    async fn add_setup_token(&self, token: TokenHash) -> Result<(), StorageError> {
        match &self.nodes {
            Some(nodes) => {
                let value = format!("{} {}", hexadecimal(token), nodes.owner());
                nodes.add_value(SETUP_TOKEN, &value).await?;
                nodes.delete_setup_tokens(true).await
            }
            None => Ok(()),
        }
    }

    async fn delete_setup_tokens(&self) -> Result<(), StorageError> {
        match &self.nodes {
            Some(nodes) => nodes.delete_setup_tokens(false).await,
            None => Ok(()),
        }
    }

    async fn is_setup_token(&self, token: TokenHash) -> Result<bool, StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(false);
        };
        let select = format!(
            "SELECT 1 FROM nodes n JOIN node_values v ON v.kind = '{SETUP_TOKEN}' AND v.value = '{} ' || n.id \
             WHERE n.expires_at >= {NOW}",
            hexadecimal(token)
        );
        Ok(!nodes.rows(select).await?.is_empty())
    }
}

fn hexadecimal(TokenHash(bytes): TokenHash) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
