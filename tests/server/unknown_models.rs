//! Unknown models: a request with one is rejected, and nothing is stored. A model that the endpoint may still
//! have is requested from it.

use parlor_base::settings::Settings;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{Parlor, TEST_TIMEOUT, event_types, model_calls, parlor_answering, read_json};

/// Starts a server whose endpoint `test` is set to list all of its models.
async fn parlor_listing_all(models: &[&str]) -> (TempDir, Upstream, Parlor) {
    let models: Vec<Value> = models.iter().map(|id| json!({ "id": id })).collect();
    parlor_listing(200, json!({ "data": models })).await
}

/// Starts a server whose endpoint answers a request for its models with this response.
async fn parlor_listing(status: u16, body: Value) -> (TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    // Before the server starts, since it requests the list at once.
    upstream.list_models(status, body);
    upstream.add_script(When::any(), Script::new().text("Yes."));
    let parlor = Parlor::start_with(folder.path(), &upstream, set_lists_all).await;
    (folder, upstream, parlor)
}

fn set_lists_all(settings: &mut Settings) {
    settings.endpoints[0].lists_all_models = true;
}

/// Starts a server with a second endpoint, `other`.
async fn parlor_with_two_endpoints(models: &[&str], others: &[&str]) -> (TempDir, [Upstream; 2], Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstreams = [Upstream::start().await, Upstream::start().await];
    for (upstream, models) in upstreams.iter().zip([models, others]) {
        let models: Vec<Value> = models.iter().map(|id| json!({ "id": id })).collect();
        upstream.list_models(200, json!({ "data": models }));
        upstream.add_script(When::any(), Script::new().text("Yes."));
    }
    let url = upstreams[1].url();
    let parlor = Parlor::start_with(folder.path(), &upstreams[0], |settings| {
        set_lists_all(settings);
        let mut other = settings.endpoints[0].clone();
        (other.name, other.base_url) = ("other".into(), url);
        settings.endpoints.push(other);
    })
    .await;
    (folder, upstreams, parlor)
}

#[tokio::test]
async fn accepts_bare_model_ids_everywhere() {
    let (_folder, [_test, other], parlor) =
        parlor_with_two_endpoints(&["small"], &["mock-1", "meta-llama/Llama-3"]).await;
    for (name, whole) in [
        ("mock-1", "other/mock-1"),
        ("meta-llama/Llama-3", "other/meta-llama/Llama-3"),
        ("small", "test/small"),
    ] {
        let ask = json!({ "message": "Hi", "model": name });
        let batch = read_json(parlor.post("/api/chat/batch", &ask).send().await.unwrap()).await;
        assert_eq!(batch["status"], "complete", "{batch}");
        let events = parlor.chat(&ask).await.read_to_end().await;
        let started = events.iter().find(|event| event["type"] == "run_started");
        assert_eq!(started.expect("it starts")["model"], whole);
        assert_eq!(events.last().unwrap()["type"], "complete");
        let conversation = batch["conversation_id"].as_str().unwrap();
        let path = format!("/api/conversations/{conversation}");
        assert_eq!(parlor.get_json(&path).await.1["model"], whole);
        let again = json!({ "intent": {
            "intent_id": Uuid::now_v7(), "conversation_id": conversation, "message_id": batch["message_id"], "model": name,
        } });
        let response = parlor.post("/rpc/regenerate", &again).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let choice = json!({ "conversation_id": conversation, "model": "mock-1" });
        let response = parlor.post("/rpc/choose_model", &choice).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(parlor.get_json(&path).await.1["model"], "other/mock-1");
    }
    assert_eq!(model_calls(&other)[0]["model"], "mock-1");
}

#[tokio::test]
async fn ambiguous_model_id_is_rejected() {
    let (_folder, _upstreams, parlor) = parlor_with_two_endpoints(&["both"], &["both", "more"]).await;
    let ask = json!({ "message": "Hi", "model": "both" });
    let words = assert_rejected(&parlor, "/api/chat/stream", &ask).await;
    assert_eq!(
        words,
        "Several endpoints have a model “both”. Nothing was changed. Choose one of these: test/both, other/both."
    );
    for none in ["nosuch", "test/nosuch", "test/more"] {
        let ask = json!({ "message": "Hi", "model": none });
        assert_rejected(&parlor, "/api/chat/batch", &ask).await;
    }
}

#[tokio::test]
async fn unknown_model_cannot_be_chosen() {
    let (_folder, _upstreams, parlor) = parlor_with_two_endpoints(&["one"], &["two"]).await;
    let turn = parlor
        .chat(&json!({ "message": "Hi", "model": "one" }))
        .await
        .read_to_end()
        .await;
    let choice = json!({ "conversation_id": turn[0]["conversation_id"], "model": "nosuch" });
    let response = parlor.post("/rpc/choose_model", &choice).send().await.unwrap();
    assert_eq!(response.status(), 422);
    assert_eq!(read_json(response).await["code"], "unknown_model");
}

#[tokio::test]
async fn default_model_accepts_bare_ids() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.list_models(200, json!({ "data": [{ "id": "small" }, { "id": "large" }] }));
    upstream.add_script(When::any(), Script::new().text("Yes."));
    for (default, whole, problems) in [
        ("small", "test/small", 0),
        ("nosuch", "nosuch", 1),
        ("test/nosuch", "test/nosuch", 1),
    ] {
        let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
            set_lists_all(settings);
            settings.models.default = Some(default.into());
        })
        .await;
        let list = parlor.get_json("/api/models").await.1;
        assert_eq!(list["default"], whole);
        assert_eq!(list["problems"].as_array().unwrap().len(), problems, "{list}");
        // The page names the default model.
        let named = read_json(
            parlor
                .post("/api/chat/batch", &json!({ "message": "Hi", "model": default }))
                .send()
                .await
                .unwrap(),
        )
        .await;
        let listed = list["models"]
            .as_array()
            .unwrap()
            .iter()
            .any(|model| model["id"] == whole);
        match default {
            "nosuch" => assert_eq!(
                (&named["code"], listed),
                (&json!("unknown_model"), false),
                "{named}"
            ),
            _ => assert_eq!((&named["status"], listed), (&json!("complete"), true), "{named}"),
        }
        let events = parlor.chat(&json!({ "message": "Hi" })).await.read_to_end().await;
        let last = events.last().unwrap();
        match default {
            "small" => assert_eq!(last["type"], "complete"),
            "nosuch" => assert_eq!(last["error"]["code"], "model_unknown", "{last}"),
            // Its endpoint decides.
            _ => {}
        }
        parlor.stop().await;
    }
}

/// Asserts that a request is rejected and that nothing is stored. Returns the error text.
async fn assert_rejected(parlor: &Parlor, path: &str, body: &Value) -> String {
    let response = parlor.post(path, body).send().await.unwrap();
    let status = response.status();
    let problem = read_json(response).await;
    assert_eq!(
        (status.as_u16(), &problem["code"]),
        (422, &json!("unknown_model")),
        "{path} {problem}"
    );
    let list = parlor.get_json("/api/conversations").await.1;
    assert_eq!(list["conversations"], json!([]), "{path}");
    // The field of the contract's problems, and that of server functions.
    let words = problem["detail"].as_str().or(problem["message"].as_str());
    words.expect("words").to_owned()
}

#[tokio::test]
async fn rejects_unknown_model_everywhere() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let models = parlor.get_json("/api/models").await.1;
    let first = models["models"][0]["id"].as_str().expect("a model").to_owned();
    let ask = json!({ "message": "Hi", "model": "nowhere/any" });
    for path in ["/api/chat/stream", "/api/chat/batch"] {
        let words = assert_rejected(&parlor, path, &ask).await;
        assert!(words.contains("“nowhere/any”"), "{words}");
        let named = format!("Choose one of these: {first},");
        assert!(words.contains(&named), "{words}");
    }
    let intent = json!({ "intent": {
        "intent_id": Uuid::now_v7(), "conversation_id": Uuid::now_v7(), "user_message_id": Uuid::now_v7(),
        "text": "Hi", "model": "nowhere/any",
    } });
    assert_rejected(&parlor, "/rpc/send_message", &intent).await;
    assert_eq!(model_calls(&upstream).len(), 0);
}

#[tokio::test]
async fn regenerate_rejects_unknown_model() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let turn = parlor.turn(None, "Hi").await;
    let again = json!({ "intent": {
        "intent_id": Uuid::now_v7(), "conversation_id": turn[0]["conversation_id"], "message_id": turn[0]["message_id"],
        "model": "nowhere/any",
    } });
    let response = parlor.post("/rpc/regenerate", &again).send().await.unwrap();
    assert_eq!(response.status(), 422);
    assert_eq!(read_json(response).await["code"], "unknown_model");
    assert_eq!(model_calls(&upstream).len(), 1);
}

#[tokio::test]
async fn unlisted_model_is_tried_unless_list_is_complete() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    upstream.list_models(200, json!({ "data": [{ "id": "listed" }] }));
    parlor.get_json("/api/models").await;
    let alias = json!({ "message": "Hi", "model": "test/alias" });
    let events = parlor.chat(&alias).await.read_to_end().await;
    assert_eq!(event_types(&events).last(), Some(&"complete"));

    let (_folder, upstream, parlor) = parlor_listing_all(&["listed"]).await;
    let words = assert_rejected(&parlor, "/api/chat/stream", &alias).await;
    assert_eq!(
        words,
        "The endpoint “test” has no model “test/alias”. Nothing was changed. Choose one of these: test/listed. If “test” takes \
         names that it does not list, set lists_all_models = false for it."
    );
    let listed = json!({ "message": "Hi", "model": "test/listed" });
    let events = parlor.chat(&listed).await.read_to_end().await;
    assert_eq!(event_types(&events).last(), Some(&"complete"));
    assert_eq!(model_calls(&upstream).len(), 1);
}

#[tokio::test]
async fn unlistable_endpoint_is_tried() {
    let (_folder, _upstream, parlor) = parlor_listing(500, json!({})).await;
    let any = json!({ "message": "Hi", "model": "test/any" });
    let events = parlor.chat(&any).await.read_to_end().await;
    assert_eq!(event_types(&events).last(), Some(&"complete"));
}

#[tokio::test]
async fn repeated_request_ignores_removed_model() {
    let (folder, upstream, parlor) = parlor_listing_all(&["any"]).await;
    let key = Uuid::now_v7().to_string();
    let ask = json!({ "message": "Hi", "model": "test/any" });
    let send = async |parlor: &Parlor| {
        let request = parlor.post("/api/chat/batch", &ask);
        read_json(request.header("idempotency-key", &key).send().await.unwrap()).await
    };
    let first = send(&parlor).await;
    assert_eq!(first["status"], "complete", "{first}");
    parlor.stop().await;
    upstream.list_models(200, json!({ "data": [{ "id": "other" }] }));
    let parlor = Parlor::start_with(folder.path(), &upstream, set_lists_all).await;
    assert_eq!(send(&parlor).await, first);
    let words = parlor.post("/api/chat/batch", &ask).send().await.unwrap();
    assert_eq!(words.status(), 422, "as a new one it is refused");
}

#[tokio::test]
async fn finds_newly_added_models() {
    let (_folder, upstream, parlor) = parlor_listing_all(&["old"]).await;
    assert_rejected(
        &parlor,
        "/api/chat/batch",
        &json!({ "message": "Hi", "model": "test/new" }),
    )
    .await;
    upstream.list_models(200, json!({ "data": [{ "id": "old" }, { "id": "new" }] }));
    // A rejected client asks again after a moment.
    let answered = async {
        loop {
            let ask = parlor.post(
                "/api/chat/batch",
                &json!({ "message": "Hi", "model": "test/new" }),
            );
            match ask.send().await.unwrap().status().as_u16() {
                200 => break,
                status => assert_eq!(status, 422),
            }
        }
    };
    timeout(TEST_TIMEOUT, answered).await.expect("a response");
}

#[tokio::test]
async fn plain_form_offers_another_model() {
    let (_folder, _upstream, parlor) = parlor_listing_all(&["old"]).await;
    let form = [("message", "Hi"), ("begins", "yes"), ("model", "nowhere/any")];
    let form = form.map(|(name, value)| format!("{name}={value}")).join("&");
    let sent = reqwest::Client::new()
        .post(format!("{}/send", parlor.url))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form);
    let page = sent.send().await.unwrap();
    assert_eq!(page.status(), 422);
    let page = page.text().await.unwrap();
    assert!(
        page.contains("<select name=\"model\"><option>test/old</option>"),
        "{page}"
    );
}
