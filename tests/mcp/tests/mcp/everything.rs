//! The reference server "everything", which uses all features.

use std::path::Path;

use parlor_base::settings::McpServer;
use parlor_protocol::{Fraction, ToolProgress};
use parlor_tools::ToolProvider;

use crate::{FILE_LIMITS, TestServers, call_with_progress, server_config};

fn everything_server() -> McpServer {
    let program = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(program);
    assert!(
        program.exists(),
        "server-everything is missing, for this test: `make test` installs it, or says how"
    );
    server_config("node", &[program.to_str().expect("a path in Unicode"), "stdio"])
}

#[tokio::test]
async fn offers_the_servers_tools() {
    let running = TestServers::start(everything_server());
    let sum = running.tool("get-sum").await;
    let spec = sum.spec();
    assert_eq!(spec.description, "Returns the sum of two numbers");
    assert_eq!(spec.input_schema["properties"]["a"]["type"], "number");
    let plan = sum
        .plan(r#"{"a":1,"b":2}"#, parlor_tools::OpenItems::default())
        .unwrap();
    assert_eq!((plan.label.as_str(), plan.detail), ("Calling Get Sum Tool", None));
    assert!(!plan.needs_approval && plan.is_idempotent, "it only reads");
    assert!(
        sum.plan("[1, 2]", parlor_tools::OpenItems::default())
            .unwrap_err()
            .contains("not a JSON object")
    );
    let echo = running
        .tool("echo")
        .await
        .plan(r#"{"message":"one\ntwo"}"#, parlor_tools::OpenItems::default())
        .unwrap();
    assert_eq!(echo.detail.as_deref(), Some("one"));
    let offered = running.0.tools();
    assert!(
        offered
            .iter()
            .all(|tool| tool.spec().name != "x_simulate-research-query"),
        "it can be called as a task alone"
    );
    let toggle = running
        .tool("toggle-simulated-logging")
        .await
        .plan("", parlor_tools::OpenItems::default())
        .unwrap();
    assert!(toggle.needs_approval, "it changes something");
    running.0.shut_down().await;
}

#[tokio::test]
async fn returns_every_content_type_and_errors() {
    let running = TestServers::start(everything_server());
    assert_eq!(
        running.call_text("echo", r#"{"message":"hello"}"#).await,
        "Echo: hello"
    );
    assert_eq!(
        running.call_text("get-sum", r#"{"a":2,"b":40}"#).await,
        "The sum of 2 and 40 is 42."
    );

    let image = running.call_tool("get-tiny-image", "").await.unwrap();
    let [attached] = &image.attachments[..] else {
        panic!("one image: {image:?}")
    };
    assert_eq!(
        (
            attached.media_type.as_str(),
            attached.name.as_str(),
            &attached.data[1..4]
        ),
        ("image/png", "get-tiny-image-1", &b"PNG"[..])
    );
    let said = format!(
        "Here's the image you requested:\n[image/png, {} bytes]\nThe image above is the MCP logo.",
        attached.data.len()
    );
    assert_eq!(image.text, said);
    let (kept, _) = attached.clone().into_attachment(&FILE_LIMITS).unwrap();
    assert_eq!(
        (&*kept.name, &*kept.media_type),
        ("get-tiny-image-1.png", "image/png")
    );

    let annotated = r#"{"messageType":"success","includeImage":true}"#;
    let annotated = running
        .call_tool("get-annotated-message", annotated)
        .await
        .unwrap();
    assert!(
        annotated
            .text
            .starts_with("Operation completed successfully\n[image/png")
    );
    assert_eq!(annotated.attachments.len(), 1);

    let weather = running
        .call_text("get-structured-content", r#"{"location":"Chicago"}"#)
        .await;
    assert!(weather.contains(r#""temperature":36"#), "{weather}");
    let links = running.call_text("get-resource-links", r#"{"count":2}"#).await;
    assert!(links.contains("Text Resource 2: demo://"), "{links}");
    let reference = r#"{"resourceType":"Text","resourceId":1}"#;
    let reference = running.call_text("get-resource-reference", reference).await;
    assert!(reference.contains("[demo://"), "{reference}");

    let error = running
        .call_tool("get-sum", r#"{"a":"two"}"#)
        .await
        .unwrap_err()
        .0;
    assert!(error.contains("Invalid arguments for tool get-sum"), "{error}");
    running.0.shut_down().await;
    assert!(running.0.tools().is_empty(), "the server is stopped");
}

#[tokio::test]
async fn long_call_reports_progress() {
    let running = TestServers::start(everything_server());
    let long = running.tool("trigger-long-running-operation").await;
    let (result, heard) = call_with_progress(long, r#"{"duration":1,"steps":4}"#).await;
    let done = "Long running operation completed. Duration: 1 seconds, Steps: 4.";
    assert_eq!(result.unwrap().text, done);
    assert!(!heard.is_empty());
    let steps: Vec<_> = (1..=4)
        .map(|step| ToolProgress {
            stage: "running".into(),
            message: format!("{step} of 4"),
            progress: Some(Fraction::from_ratio(step, 4)),
            data: None,
        })
        .collect();
    let mut rest = steps.iter();
    // Messages that come too fast may be dropped, but the order is kept.
    assert!(
        heard.iter().all(|said| rest.any(|step| step == said)),
        "{heard:?}"
    );
    running.0.shut_down().await;
}

#[tokio::test]
async fn disabled_tools_are_not_offered() {
    let all = TestServers::start(everything_server());
    all.tool("echo").await;
    let fewer = TestServers::start(McpServer {
        disabled_tools: vec!["get-env".into()],
        ..everything_server()
    });
    fewer.tool("echo").await;
    assert_eq!(fewer.0.tools().len(), all.0.tools().len() - 1);
    assert!(fewer.0.tools().iter().all(|tool| tool.spec().name != "x_get-env"));
}
