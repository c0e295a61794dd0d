//! The server functions of the page *Data*.

use leptos::prelude::*;
use server_fn::codec::GetUrl;

use super::codec::PageProtocol;
use crate::protocol::{
    ApiError,
    data::{DataCatalogue, TableDetails},
};

/// Returns the catalogues of all databases.
#[server(name = LoadCatalogue, prefix = "/rpc", endpoint = "data_catalogue", protocol = PageProtocol<GetUrl>)]
pub async fn data_catalogue() -> Result<DataCatalogue, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.require_page(crate::protocol::data::PAGE.path).await?;
    let data = caller.app.pages.get::<crate::data::Data>()?;
    Ok(data.catalogue().await)
}

/// Returns a table with its columns and first rows.
#[server(name = LoadTable, prefix = "/rpc", endpoint = "data_table", protocol = PageProtocol<GetUrl>)]
pub async fn data_table(database: String, table: String) -> Result<TableDetails, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.require_page(crate::protocol::data::PAGE.path).await?;
    let data = caller.app.pages.get::<crate::data::Data>()?;
    caller.set_error_status(data.table(&database, &table).await)
}
