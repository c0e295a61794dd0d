//! The functions of the page *Data*.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_protocol::{
    ApiError,
    data::{DataCatalogue, TableDetails},
};
use parlor_ui::api::data::DataFunctions;

#[async_trait]
impl DataFunctions for Api {
    async fn data_catalogue(&self) -> Result<DataCatalogue, ApiError> {
        let caller = app::current_caller()?;
        caller.require_page(parlor_protocol::data::PAGE.path).await?;
        let data = caller.app.pages.get::<parlor_pages::data::Data>()?;
        let catalogue = data.catalogue(caller.user_id).await;
        caller.set_error_status(catalogue.map_err(ApiError::from))
    }

    async fn data_table(&self, database: String, table: String) -> Result<TableDetails, ApiError> {
        let caller = app::current_caller()?;
        caller.require_page(parlor_protocol::data::PAGE.path).await?;
        let data = caller.app.pages.get::<parlor_pages::data::Data>()?;
        caller.set_error_status(data.table(&database, &table).await)
    }
}
