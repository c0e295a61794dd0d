//! MCP over HTTP: from the model's call to the shown result.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect},
    routing::post,
};
use futures::{StreamExt, stream};
use parlor_base::settings::{McpServer, mcp::McpTransport};
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::{
    mcp_server::{McpTestServer, handle_request, serve, server_config},
    support::{Parlor, last_system_prompt, model_calls, string_field},
};

/// Starts a Parlor with these tools, whose model calls one of them on request: `call greet`.
async fn parlor_with_mcp(server: McpServer) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Done."));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| settings.mcp = vec![server]).await;
    (folder, upstream, parlor)
}

fn message(text: &str) -> Value {
    json!({ "message": text, "model": "test/any" })
}

fn script_call(upstream: &Upstream, tool: &str) {
    let script = Script::new().tool_call("c1", format!("web_{tool}"), r#"{"text":"for me\nplease"}"#);
    upstream.add_script_times(1, When::user_contains("call"), script);
}

fn events_of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[tokio::test]
async fn http_tool_is_called_and_reports_progress() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    script_call(&upstream, "count");
    let mut run = parlor.chat(&message("call it")).await;
    let start = run.next_of_type("tool_start").await;
    assert_eq!(
        (&start["tool"], &start["label"], &start["detail"]),
        (
            &json!("web_count"),
            &json!("Calling The count tool"),
            &json!("for me")
        )
    );
    let progress = run.next_of_type("tool_progress").await;
    assert_eq!(
        (&progress["message"], &progress["progress"]),
        (&json!("step 1"), &json!(0.5))
    );
    tools.continue_call();
    let complete = run.next_of_type("tool_complete").await;
    assert_eq!(
        (&complete["label"], &complete["status"], &complete["output"]),
        (
            &json!("Called The count tool"),
            &json!("complete"),
            &json!("One, two.")
        )
    );
    run.next_of_type("complete").await;
    let last = model_calls(&upstream).pop().unwrap();
    let told = last["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&told["role"], &told["content"]),
        (&json!("tool"), &json!("One, two."))
    );
    let [(authorization, call)] = &tools.requests("tools/call")[..] else {
        panic!("one call")
    };
    assert_eq!(
        (authorization.as_str(), &call["params"]["arguments"]),
        ("Bearer hush", &json!({ "text": "for me\nplease" }))
    );
    parlor.stop().await;
}

#[tokio::test]
async fn stopping_a_run_cancels_its_call() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    script_call(&upstream, "wait");
    let mut run = parlor.chat(&message("call it")).await;
    let start = run.next_of_type("tool_start").await;
    tools.wait_for_request("tools/call").await;
    let stop = format!("/api/runs/{}/stop", string_field(&start, "message_id"));
    assert_eq!(parlor.post(&stop, &json!({})).send().await.unwrap().status(), 200);
    run.next_of_type("cancelled").await;
    tools.wait_for_request("notifications/cancelled").await;
    let (_, told) = tools.requests("notifications/cancelled").remove(0);
    assert_eq!(
        told["params"]["requestId"],
        tools.requests("tools/call")[0].1["id"]
    );
}

#[tokio::test]
async fn reconnects_after_a_lost_session() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    tools.lose_session();
    script_call(&upstream, "greet");
    let events = parlor.chat(&message("call it")).await.read_to_end().await;
    assert_eq!(
        events_of_type(&events, "tool_complete")[0]["output"],
        "Hello over there."
    );
}

#[tokio::test]
async fn oversized_answer_fails_only_its_call() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    script_call(&upstream, "big");
    let events = parlor.chat(&message("call it")).await.read_to_end().await;
    assert_eq!(
        events_of_type(&events, "tool_complete")[0]["status"],
        "failed",
        "{events:?}"
    );
    script_call(&upstream, "greet");
    let events = parlor.chat(&message("call it")).await.read_to_end().await;
    assert_eq!(
        events_of_type(&events, "tool_complete")[0]["output"],
        "Hello over there."
    );
}

#[tokio::test]
async fn page_names_servers_with_old_transport() {
    let stream = || async {
        let begin = "event: endpoint\ndata: /messages?session=1\n\n";
        let events = stream::iter([Ok::<_, Infallible>(begin)]).chain(stream::pending());
        (
            [(header::CONTENT_TYPE, "text/event-stream")],
            Body::from_stream(events),
        )
    };
    // The last failure is its proxy's and says nothing about the server.
    for (refusal, is_named) in [
        (StatusCode::METHOD_NOT_ALLOWED, true),
        (StatusCode::NOT_FOUND, true),
        (StatusCode::BAD_REQUEST, true),
        (StatusCode::BAD_GATEWAY, false),
    ] {
        let routes = Router::new().route("/sse", axum::routing::get(stream).post(refusal));
        let server = server_config(format!("{}/sse", serve(routes).await));
        let (_folder, _upstream, parlor) = parlor_with_mcp(server).await;
        // A run waits until the list is known.
        parlor.turn(None, "Hi").await;
        let list = parlor.get_json("/api/models").await.1;
        let problem = &list["problems"][0];
        assert_eq!(problem["code"], "mcp_unavailable", "{list}");
        let message = problem["message"].as_str().unwrap();
        assert!(message.contains("“web”"), "{message}");
        let names = message.contains("older HTTP+SSE transport of MCP (2024-11-05)");
        assert_eq!(names, is_named, "{refusal}: {message}");
        parlor.stop().await;
    }
}

#[tokio::test]
async fn transient_gateway_error_keeps_the_transport() {
    let (tools, failed) = (McpTestServer::default(), Arc::new(AtomicUsize::new(0)));
    let behind = tools.clone();
    // The version request fails first, and then the list, so that the session starts again.
    let proxy = move |headers: HeaderMap, body: Bytes| async move {
        let message: Value = serde_json::from_slice(&body).unwrap();
        let fails = ["server/discover", "tools/list"].get(failed.load(Ordering::SeqCst));
        if fails.is_some_and(|method| message["method"] == *method) {
            failed.fetch_add(1, Ordering::SeqCst);
            return StatusCode::BAD_GATEWAY.into_response();
        }
        handle_request(State(behind), headers, body).await
    };
    let server = server_config(format!(
        "{}/mcp",
        serve(Router::new().route("/mcp", post(proxy))).await
    ));
    let (_folder, _upstream, parlor) = parlor_with_mcp(server).await;
    tools.wait_for_request("tools/list").await;
    assert_eq!(tools.requests("server/discover").len(), 1, "it is asked again");
    parlor.stop().await;
}

#[tokio::test]
async fn prompt_contains_server_instructions() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    parlor.turn(None, "Hi").await;
    let prompt = last_system_prompt(&upstream);
    assert!(prompt.contains("# Servers of tools"), "{prompt}");
    assert!(prompt.contains("web:\n\n```text\nGreet first.\n```"), "{prompt}");
    parlor.stop().await;
}

#[tokio::test]
async fn declared_task_only_tool_is_not_offered() {
    for tools in [McpTestServer::default(), McpTestServer::streaming_lists()] {
        let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
        parlor.turn(None, "Hi").await;
        let offered = model_calls(&upstream)[0]["tools"].to_string();
        assert!(offered.contains("web_greet"), "{offered}");
        assert!(!offered.contains("web_declared"), "{offered}");
        assert_eq!(tools.requests("tools/list").len(), 1);
        parlor.stop().await;
    }
}

#[tokio::test]
async fn uncallable_tool_is_withdrawn() {
    let tools = McpTestServer::default();
    let (_folder, upstream, parlor) = parlor_with_mcp(tools.serve().await).await;
    script_call(&upstream, "task");
    let events = parlor.chat(&message("call it")).await.read_to_end().await;
    assert_eq!(events_of_type(&events, "tool_complete")[0]["status"], "failed");
    parlor.turn(None, "Hi").await;
    let calls = model_calls(&upstream);
    let offers = |call: &Value| call["tools"].to_string().contains("web_task");
    assert_eq!((offers(&calls[0]), offers(calls.last().unwrap())), (true, false));
    parlor.stop().await;
}

#[tokio::test]
async fn redirect_does_not_leak_credentials() {
    let (elsewhere, tools) = (McpTestServer::default(), McpTestServer::default());
    let McpTransport::Url { url, .. } = elsewhere.serve().await.transport else {
        panic!("it is on the web")
    };
    let routes = Router::new().route("/mcp", post(move || async move { Redirect::temporary(&url) }));
    let redirecting = server_config(format!("{}/mcp", serve(routes).await));
    let redirecting = McpServer {
        name: "other".into(),
        ..redirecting
    };
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let here = tools.serve().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.mcp = vec![redirecting, here];
    })
    .await;
    // A run begins when all servers have listed their tools or have failed.
    upstream.add_script(When::any(), Script::new().text("Done."));
    parlor.turn(None, "Hi").await;
    assert_eq!(tools.requests("tools/list").len(), 1);
    parlor.stop().await;
    assert!(!elsewhere.was_asked());
}

#[tokio::test]
async fn redirect_within_the_origin_is_followed() {
    for redirect in [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT] {
        let tools = McpTestServer::default();
        let to_slash = move || async move { (redirect, [(header::LOCATION, "/mcp/")]) };
        let routes = Router::new()
            .route("/mcp", post(to_slash).delete(to_slash))
            .route("/mcp/", post(handle_request).delete(StatusCode::OK))
            .with_state(tools.clone());
        let server = server_config(format!("{}/mcp", serve(routes).await));
        let (_folder, upstream, parlor) = parlor_with_mcp(server).await;
        script_call(&upstream, "greet");
        let events = parlor.chat(&message("call it")).await.read_to_end().await;
        assert_eq!(
            events_of_type(&events, "tool_complete")[0]["output"],
            "Hello over there."
        );
        assert_eq!(tools.requests("tools/call")[0].0, "Bearer hush");
        parlor.stop().await;
    }
}

/// Another path of the origin, but as a GET.
#[tokio::test]
async fn other_redirects_are_named() {
    let tools = McpTestServer::default();
    let elsewhere = move || async move { (StatusCode::FOUND, [(header::LOCATION, "/mcp/")]) };
    let routes = Router::new()
        .route("/mcp", post(elsewhere))
        .route("/mcp/", post(handle_request).get(StatusCode::OK))
        .with_state(tools.clone());
    let server = server_config(format!("{}/mcp", serve(routes).await));
    let (_folder, _upstream, parlor) = parlor_with_mcp(server).await;
    parlor.turn(None, "Hi").await;
    let list = parlor.get_json("/api/models").await.1;
    let message = list["problems"][0]["message"].as_str().unwrap();
    assert!(message.contains("it redirects to /mcp/"), "{message}");
    assert!(!tools.was_asked());
    parlor.stop().await;
}
