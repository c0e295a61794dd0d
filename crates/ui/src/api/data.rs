//! The server functions of the page *Data*.

use leptos::prelude::*;
use server_fn::codec::GetUrl;

use parlor_protocol::{
    ApiError,
    data::{DataCatalogue, TableDetails},
};

server_functions! {
    trait DataFunctions;

    /// Returns the catalogues of all databases.
    GetUrl "data_catalogue" as LoadCatalogue
    fn data_catalogue() -> DataCatalogue;

    /// Returns a table with its columns and first rows.
    GetUrl "data_table" as LoadTable
    fn data_table(database: String, table: String) -> TableDetails;
}
