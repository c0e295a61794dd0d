//! The page *Data*: its identity by the settings, its tools, and the data that it starts with.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::time::timeout;

use super::{Data, DataError, tools};
use crate::{BuiltContext, ContextError, OpenPage, Page, PageDefinition, Scope, actions::Opening};
use parlor_protocol::{
    ApiError, ErrorCode, RawJson, UserId,
    data::{self, DataFields, DataLocation, DataPageData},
};
use parlor_python::JupyterNotebook;
use parlor_storage::StorageError;
use parlor_tools::{AnyTool, Tool};

/// The longest wait of a page load for a database. The page asks for what is missing itself afterwards.
const LOAD_TIMEOUT: Duration = Duration::from_secs(3);

const IDENTITY: &str = "You are a data analyst.";
const METHOD: &str = "You answer a person’s questions from the databases of this server, on the page Data of Parlor. Look up what \
     there is (subject_overview, table_docs, view_column_values) before you query, query with sql_query, and answer from what \
     came back: with the numbers, their units and the period. When they speak of “this”, they mean what is open on the page. \
     Say so if the data can’t answer it.";
const WITHOUT_DATABASE: &str = "No database is configured on this server. Whoever runs it can add one under [[databases]] in its settings. \
     Tables of files (CSV, JSON lines, workbooks) can be queried in the conversation that they are attached to: ask for the file if \
     none is attached here.";

const OPEN_TABLE: Opening = Opening {
    data: r#"{"page": "data", "database": "its database", "table": "a table"}"#,
    address: "/data/DATABASE/TABLE",
};

/// Returns the definition of the page with the identity of the settings. It lives as long as the process.
pub(super) fn definition(
    settings: &parlor_base::settings::DataSettings,
    has_databases: bool,
) -> &'static PageDefinition {
    let identity = match settings.identity.trim() {
        "" => IDENTITY,
        identity => identity,
    };
    let method = if has_databases { METHOD } else { WITHOUT_DATABASE };
    let scope = if has_databases {
        Scope {
            tools: &tools::NAMES,
            payloads: &[],
            openings: &[OPEN_TABLE],
        }
    } else {
        Scope {
            tools: &[JupyterNotebook::NAME],
            ..Scope::EMPTY
        }
    };
    // One for each server of the process.
    Box::leak(Box::new(PageDefinition {
        info: &data::PAGE,
        identity: leak(format!("{identity} {method}")),
        brief_identity: leak(identity.to_owned()),
        scope,
        tabs: &[],
    }))
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl From<DataError> for ApiError {
    fn from(error: DataError) -> Self {
        let code = match error {
            DataError::Query(_) => ErrorCode::Unavailable,
            _ => ErrorCode::NotFound,
        };
        Self::new(code, error.to_string())
    }
}

#[async_trait]
impl Page for Data {
    type Fields = DataFields;

    fn definition(&self) -> &'static PageDefinition {
        self.0.definition
    }

    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        // The registry has them already.
        if self.0.settings.offer_everywhere && !self.0.databases.all().is_empty() {
            return Vec::new();
        }
        tools::page_tools(self)
    }

    fn required_tools(&self) -> &'static [&'static str] {
        // Python alone shows nothing of the databases. Without a database there is nothing to show.
        match self.0.databases.all().is_empty() {
            true => &[],
            false => &tools::DATABASE_NAMES,
        }
    }

    async fn is_useful_to(&self, user_id: UserId) -> Result<bool, StorageError> {
        Ok(!self.0.databases.all().is_empty() || self.0.files.has_attached_tables(user_id).await?)
    }

    async fn check(&self, _user_id: UserId, open: &OpenPage<DataFields>) -> Result<(), ContextError> {
        // Only the name of the database can be checked without asking another host.
        match (&open.fields.table, &open.fields.database) {
            (Some(_), database) => self
                .database(database.as_deref())
                .map(drop)
                .map_err(|error| ContextError::NotFound(error.to_string())),
            (None, _) => Ok(()),
        }
    }

    async fn describe(
        &self,
        _user_id: UserId,
        open: &OpenPage<DataFields>,
    ) -> Result<BuiltContext, StorageError> {
        Ok(self.describe_page(&open.fields).await)
    }

    fn url(&self, asked: &OpenPage<DataFields>, _here: Option<&OpenPage<DataFields>>) -> Option<String> {
        let fields = &asked.fields;
        let Some(table) = &fields.table else {
            let query = fields.catalogue_query.clone().unwrap_or_default();
            return Some(DataLocation { query, table: None }.to_url());
        };
        let database = self.database(fields.database.as_deref()).ok()?;
        Some(DataLocation::of_table(database.name(), table).to_url())
    }

    async fn load(&self, user_id: UserId, url: &str) -> Result<RawJson, ApiError> {
        let location = DataLocation::parse(url)
            .ok_or_else(|| ApiError::new(ErrorCode::NotFound, "There is no such place on the page Data."))?;
        let table = async {
            let (database, table) = location.table?;
            let table = timeout(LOAD_TIMEOUT, self.table(&database, &table)).await.ok()?;
            Some(table.map_err(ApiError::from))
        };
        let catalogue = timeout(LOAD_TIMEOUT, self.catalogue(user_id));
        let (catalogue, table) = futures::join!(catalogue, table);
        let Ok(catalogue) = catalogue else {
            return Ok(RawJson::parse_or_quote("null"));
        };
        let catalogue = catalogue?;
        let json = serde_json::to_string(&DataPageData { catalogue, table }).map_err(ApiError::unreadable)?;
        Ok(RawJson::parse_or_quote(&json))
    }
}
