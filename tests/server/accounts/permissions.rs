//! The models and tools that each role may use.

use parlor_base::settings::{AccessRule, Settings};
use parlor_protocol::Role;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use super::{Browser, with_passwords};
use crate::{
    data::make_database,
    support::{Parlor, last_model_call, last_system_prompt, raw_model_calls, read_json},
};

/// Starts a server with the models `any` and `dear`. Only administrators may use `dear` and the tool `calculate`.
async fn start(change: impl FnOnce(&mut Settings)) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    for model in ["any", "dear"] {
        upstream.add_script(When::model(model), Script::new().text("Yes."));
    }
    let parlor = restart(&folder, &upstream, change).await;
    (folder, upstream, parlor)
}

async fn restart(
    folder: &tempfile::TempDir,
    upstream: &Upstream,
    change: impl FnOnce(&mut Settings),
) -> Parlor {
    Parlor::start_built_in(folder.path(), upstream, |settings| {
        with_passwords(settings);
        settings.models.default = Some("test/dear".into());
        settings.accounts.access = vec![AccessRule {
            models: vec!["test/DEAR*".into()],
            tools: vec!["calculate".into()],
            roles: vec![Role::Administrator],
        }];
        change(settings);
    })
    .await
}

fn model_ids(list: &Value) -> Vec<&str> {
    let models = list["models"].as_array().unwrap().iter();
    models.map(|model| model["id"].as_str().unwrap()).collect()
}

fn tool_names(call: &Value) -> Vec<&str> {
    let tools = call["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn members_see_and_use_only_what_they_may() {
    let (_folder, upstream, mut parlor) = start(|_| {}).await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let ben = ann.invite(&parlor, "ben").await;
    let (administrator, member) = (ann.signed_in_client(), ben.signed_in_client());
    let turn = |model: &str| json!({ "message": "Hello", "model": model });

    parlor.client = administrator;
    let (_, list) = parlor.get_json("/api/models").await;
    assert!(
        model_ids(&list).contains(&"test/dear") && list["default"] == "test/dear",
        "{list}"
    );
    let events = parlor.chat(&turn("test/dear")).await.read_to_end().await;
    assert_eq!(events.last().unwrap()["type"], "complete");
    assert!(tool_names(&last_model_call(&upstream)).contains(&"calculate"));

    parlor.client = member;
    for path in ["/api/models", "/rpc/models"] {
        let (_, list) = parlor.get_json(path).await;
        let ids = model_ids(&list);
        assert!(ids.contains(&"test/any") && !ids.contains(&"test/dear"), "{list}");
        assert_ne!(list["default"], "test/dear", "{list}");
    }
    assert!(!ben.page("/").await.contains("dear"));
    let calls = raw_model_calls(&upstream).len();
    for (path, body) in [
        ("/api/chat/stream", turn("test/dear")),
        ("/api/chat/batch", turn("dear")),
    ] {
        let refused = parlor.post(path, &body).send().await.unwrap();
        assert_eq!(refused.status(), 403, "{path}");
        let problem = read_json(refused).await;
        let detail = problem["detail"].as_str().unwrap();
        assert_eq!(problem["code"], "model_not_allowed");
        assert!(
            detail.contains("what you wrote is kept") && detail.contains("test/any"),
            "{detail}"
        );
    }
    let wanted = json!({ "message": "Hello", "model": "test/any", "force_tools": ["calculate"] });
    let refused = parlor.post("/api/chat/stream", &wanted).send().await.unwrap();
    assert_eq!(refused.status(), 422, "no such tool for them");
    assert!(!refused.text().await.unwrap().contains("calculate,"));
    assert_eq!(raw_model_calls(&upstream).len(), calls, "nothing was sent");
    // Without a name, a model that they may use answers.
    let events = parlor
        .chat(&json!({ "message": "Hello" }))
        .await
        .read_to_end()
        .await;
    assert_eq!(events.last().unwrap()["type"], "complete");
    let call = last_model_call(&upstream);
    assert!(
        call["model"] != "dear" && !tool_names(&call).contains(&"calculate"),
        "{call}"
    );
}

#[tokio::test]
async fn conversation_tells_that_its_model_is_closed() {
    let (folder, upstream, mut parlor) = start(|settings| settings.accounts.access.clear()).await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let mut ben = ann.invite(&parlor, "ben").await;
    parlor.client = ben.signed_in_client();
    upstream.add_script(
        When::user_contains("cut"),
        Script::new().text("Half of").finish("length"),
    );
    let turn = json!({ "message": "cut", "model": "test/dear" });
    let events = parlor.chat(&turn).await.read_to_end().await;
    let conversation = events[0]["conversation_id"].as_str().unwrap().to_owned();
    let before = parlor.transcript(&conversation).await;
    parlor.stop().await;

    let mut parlor = restart(&folder, &upstream, |_| {}).await;
    ben.url.clone_from(&parlor.url);
    parlor.client = ben.signed_in_client();
    assert_eq!(parlor.transcript(&conversation).await, before, "it can be read");
    let intent = |fields: Value| {
        let mut intent = json!({
            "intent_id": uuid::Uuid::now_v7(), "conversation_id": conversation, "message_id": events[0]["message_id"],
        });
        intent
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        json!({ "intent": intent })
    };
    let message = json!({ "message": "Go on", "conversation_id": conversation });
    for (path, body) in [
        ("/api/chat/stream", message.clone()),
        ("/rpc/regenerate", intent(json!({}))),
        ("/rpc/continue_run", intent(json!({}))),
        (
            "/rpc/choose_model",
            json!({ "conversation_id": conversation, "model": "test/dear" }),
        ),
    ] {
        let refused = parlor.post(path, &body).send().await.unwrap();
        assert_eq!(refused.status(), 403, "{path}");
        let text = refused.text().await.unwrap();
        assert!(
            text.contains("model_not_allowed") && text.contains("test/any"),
            "{text}"
        );
    }
    // The form of a page without scripts keeps the text, and offers the others.
    let fields = [
        ("message", "Go on"),
        ("conversation_id", &conversation),
        ("model", ""),
    ];
    let page = ben.submit("/send", &fields).await;
    assert_eq!(page.status(), 403);
    let page = page.text().await.unwrap();
    assert!(
        page.contains("Go on")
            && page.contains("<option>test/any</option>")
            && !page.contains("<option>test/dear"),
        "{page}"
    );
    assert_eq!(
        parlor.transcript(&conversation).await,
        before,
        "nothing was changed"
    );
    let mut other = message;
    other["model"] = "test/any".into();
    let events = parlor.chat(&other).await.read_to_end().await;
    assert_eq!(
        events.last().unwrap()["type"],
        "complete",
        "another model goes on"
    );
}

#[tokio::test]
async fn queued_messages_follow_the_same_rules() {
    let (_folder, upstream, mut parlor) = start(|_| {}).await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let mut ben = ann.invite(&parlor, "ben").await;
    let user = ann.user_id("ben").await;
    ann.submit(
        "/settings/users/role",
        &[("user", &user), ("role", "administrator")],
    )
    .await;
    upstream.add_script(When::user_contains("slow"), Script::new().text("One").gate("end"));
    parlor.client = ben.signed_in_client();
    let mut stream = parlor
        .chat(&json!({ "message": "slow", "model": "test/dear" }))
        .await;
    let first = stream.next().await.unwrap();
    let conversation = first["conversation_id"].as_str().unwrap().to_owned();
    let fields = [
        ("message", "Waits"),
        ("conversation_id", &conversation),
        ("model", ""),
    ];
    assert_eq!(ben.submit("/send", &fields).await.status(), 303);
    // The role ends while the message waits.
    ann.submit("/settings/users/role", &[("user", &user), ("role", "member")])
        .await;
    let calls = raw_model_calls(&upstream).len();
    upstream.open_gate("end");
    stream.read_to_end().await;
    let mut event = first;
    while event["type"] != "error" {
        event = parlor.next_event(&event).await;
    }
    assert_eq!(event["error"]["code"], "model_not_allowed", "{event}");
    assert_eq!(raw_model_calls(&upstream).len(), calls);
}

#[tokio::test]
async fn data_page_requires_permission_for_its_tools() {
    let databases = tempfile::tempdir().unwrap();
    let database = make_database(databases.path(), "town").await;
    let tools = [
        "sql_query",
        "subject_overview",
        "table_docs",
        "view_column_values",
    ];
    let (_folder, upstream, mut parlor) = start(|settings| {
        settings.databases = vec![database];
        settings.accounts.access.push(AccessRule {
            models: Vec::new(),
            tools: tools.map(String::from).into(),
            roles: vec![Role::Administrator],
        });
    })
    .await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let ben = ann.invite(&parlor, "ben").await;
    let message = json!({ "message": "Hello", "model": "test/any", "context": { "current_page": "data" } });
    for (client, status) in [(ann.signed_in_client(), 200), (ben.signed_in_client(), 403)] {
        parlor.client = client;
        for path in [
            "/rpc/data_catalogue",
            "/rpc/data_table?database=town&table=jobs",
            "/rpc/open_page?address=%2Fdata",
        ] {
            let response = parlor.get(path).send().await.unwrap();
            assert_eq!(response.status(), status, "{path}");
        }
        parlor.chat(&message).await.read_to_end().await;
        let is_described = last_system_prompt(&upstream).contains("town");
        assert_eq!(is_described, status == 200, "{status}");
    }
}
