//! Server functions of the model servers that administrators add, under `/rpc`.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, EndpointId, EndpointList, EndpointTest, EndpointTestResult, EndpointUpdate, EndpointView,
    NewEndpoint,
};

server_functions! {
    trait EndpointFunctions;

    /// Returns all model servers, without their keys.
    GetUrl "endpoints" as LoadEndpoints
    fn endpoints() -> EndpointList;

    /// Adds a model server. Its models are offered at once.
    Json "add_endpoint"
    fn add_endpoint(endpoint: NewEndpoint) -> EndpointView;

    /// Changes a model server that was added.
    Json "change_endpoint"
    fn change_endpoint(id: EndpointId, update: EndpointUpdate) -> EndpointView;

    /// Removes a model server with its key.
    Json "remove_endpoint"
    fn remove_endpoint(id: EndpointId) -> ();

    /// Tests a model server without adding it.
    Json "test_endpoint"
    fn test_endpoint(test: EndpointTest) -> EndpointTestResult;
}
