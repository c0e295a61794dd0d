//! The functions of the model servers that are added in the page.

use async_trait::async_trait;

use super::Api;
use crate::app::{self, endpoints::own};
use parlor_protocol::{
    ApiError, EndpointId, EndpointList, EndpointTest, EndpointTestResult, EndpointUpdate, EndpointView,
    LocalServer, NewEndpoint, NewOwnKey, OwnKeyList, OwnKeyTest, OwnKeyUpdate,
};
use parlor_ui::api::endpoints::EndpointFunctions;

#[async_trait]
impl EndpointFunctions for Api {
    async fn endpoints(&self) -> Result<EndpointList, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::endpoints::list(&caller).await)
    }

    async fn add_endpoint(&self, endpoint: NewEndpoint) -> Result<EndpointView, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::endpoints::add(&caller, endpoint).await)
    }

    async fn change_endpoint(
        &self,
        id: EndpointId,
        update: EndpointUpdate,
    ) -> Result<EndpointView, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::endpoints::change(&caller, id, update).await)
    }

    async fn remove_endpoint(&self, id: EndpointId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::endpoints::remove(&caller, id).await)
    }

    async fn test_endpoint(&self, test: EndpointTest) -> Result<EndpointTestResult, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::endpoints::test(&caller, test).await)
    }

    async fn local_servers(&self) -> Result<Vec<LocalServer>, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::endpoints::find_local(&caller).await)
    }

    async fn allow_own_keys(&self, is_allowed: bool) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(own::allow(&caller, is_allowed).await)
    }

    async fn own_keys(&self) -> Result<OwnKeyList, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(own::list(&caller).await)
    }

    async fn add_own_key(&self, new: NewOwnKey) -> Result<EndpointView, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(own::add(&caller, new).await)
    }

    async fn change_own_key(&self, id: EndpointId, update: OwnKeyUpdate) -> Result<EndpointView, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(own::change(&caller, id, update).await)
    }

    async fn remove_own_key(&self, id: EndpointId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(own::remove(&caller, id).await)
    }

    async fn test_own_key(&self, test: OwnKeyTest) -> Result<EndpointTestResult, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(own::test(&caller, test).await)
    }
}
