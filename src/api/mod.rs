//! The server's half of the page's server functions: what each does when the page calls it. [`parlor_ui::api`] declares
//! them.
//!
//! This module only translates: the work is done in `app`, `runs`, `journal` and the pages. The public contract for
//! other clients is in `http`.

mod columns;
mod data;
mod endpoints;
mod files;
mod literature;
mod personal;
mod projects;
mod reports;
mod rpc;
mod schedules;
mod sharing;

use std::sync::Arc;

use leptos::prelude::provide_context;
use parlor_ui::api::{
    columns::ColumnFunctions, data::DataFunctions, endpoints::EndpointFunctions, files::FileFunctions,
    literature::LiteratureFunctions, personal::PersonalFunctions, projects::ProjectFunctions,
    reports::ReportFunctions, rpc::RpcFunctions, schedules::ScheduleFunctions, sharing::SharingFunctions,
};

/// All server functions.
struct Api;

/// Makes the functions available to a request.
pub fn provide() {
    let api = Arc::new(Api);
    provide_context::<Arc<dyn ColumnFunctions>>(api.clone());
    provide_context::<Arc<dyn DataFunctions>>(api.clone());
    provide_context::<Arc<dyn EndpointFunctions>>(api.clone());
    provide_context::<Arc<dyn FileFunctions>>(api.clone());
    provide_context::<Arc<dyn LiteratureFunctions>>(api.clone());
    provide_context::<Arc<dyn PersonalFunctions>>(api.clone());
    provide_context::<Arc<dyn ReportFunctions>>(api.clone());
    provide_context::<Arc<dyn RpcFunctions>>(api.clone());
    provide_context::<Arc<dyn ProjectFunctions>>(api.clone());
    provide_context::<Arc<dyn ScheduleFunctions>>(api.clone());
    provide_context::<Arc<dyn SharingFunctions>>(api);
}
