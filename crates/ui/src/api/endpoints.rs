//! Server functions of the model servers that are added in the page, under `/rpc`: by administrators for all, by users as keys of
//! their own.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, EndpointId, EndpointList, EndpointTest, EndpointTestResult, EndpointUpdate, EndpointView,
    LocalServer, NewEndpoint, NewOwnKey, OwnKeyList, OwnKeyTest, OwnKeyUpdate,
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

    /// Searches for model servers on this machine.
    GetUrl "local_servers" as FindLocalServers
    fn local_servers() -> Vec<LocalServer>;

    /// Allows keys of users' own, or forbids them.
    Json "allow_own_keys"
    fn allow_own_keys(is_allowed: bool) -> ();

    /// Returns the services that keys may be brought for, and the user's keys.
    GetUrl "own_keys" as LoadOwnKeys
    fn own_keys() -> OwnKeyList;

    /// Adds a key of the user's own.
    Json "add_own_key"
    fn add_own_key(new: NewOwnKey) -> EndpointView;

    /// Changes one of the user's keys.
    Json "change_own_key"
    fn change_own_key(id: EndpointId, update: OwnKeyUpdate) -> EndpointView;

    /// Removes one of the user's keys.
    Json "remove_own_key"
    fn remove_own_key(id: EndpointId) -> ();

    /// Tests a key without adding it.
    Json "test_own_key"
    fn test_own_key(test: OwnKeyTest) -> EndpointTestResult;
}
