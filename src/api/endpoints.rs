//! The functions of the model servers that administrators add.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_protocol::{
    ApiError, EndpointId, EndpointList, EndpointTest, EndpointTestResult, EndpointUpdate, EndpointView,
    NewEndpoint,
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
}
