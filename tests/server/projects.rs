//! Projects over HTTP: their conversations, instructions, model and deletion.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{Parlor, parlor_answering, read_json, string_field};

/// Saves a project. Returns the status and the response.
pub async fn put_project(parlor: &Parlor, id: &str, project: &Value) -> (u16, Value) {
    let request = parlor.client.put(format!("{}/api/projects/{id}", parlor.url));
    let request = request
        .header("content-type", "application/json")
        .body(project.to_string());
    let response = request.send().await.unwrap();
    (response.status().as_u16(), read_json(response).await)
}

pub fn garden() -> Value {
    json!({ "name": " The  garden ", "colour": "green", "instructions": "Answer as a gardener." })
}

pub async fn saved(parlor: &Parlor, project: &Value) -> String {
    let id = Uuid::now_v7().to_string();
    let (status, saved) = put_project(parlor, &id, project).await;
    assert_eq!(status, 200, "{saved}");
    id
}

/// Begins a conversation in a project. Returns its id.
pub async fn begin_in(parlor: &Parlor, project: &str, message: &str) -> String {
    let ask = json!({ "message": message, "project_id": project });
    let events = parlor.chat(&ask).await.read_to_end().await;
    string_field(events.last().unwrap(), "conversation_id")
}

async fn titles(parlor: &Parlor, query: &str) -> Vec<String> {
    let (status, page) = parlor.get_json(&format!("/api/conversations{query}")).await;
    assert_eq!(status, 200, "{page}");
    let listed = page["conversations"].as_array().unwrap();
    listed
        .iter()
        .map(|listed| string_field(listed, "title"))
        .collect()
}

async fn patch(parlor: &Parlor, id: &str, body: Value) -> (u16, Value) {
    let request = parlor
        .client
        .patch(format!("{}/api/conversations/{id}", parlor.url));
    let request = request
        .header("content-type", "application/json")
        .body(body.to_string());
    let response = request.send().await.unwrap();
    (response.status().as_u16(), read_json(response).await)
}

async fn delete(parlor: &Parlor, id: &str, conversations: &str) -> u16 {
    let url = format!("{}/api/projects/{id}?conversations={conversations}", parlor.url);
    parlor.client.delete(url).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn conversations_are_in_one_project_or_none() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let id = saved(&parlor, &garden()).await;
    let mut events = parlor.follow("/api/events").await;
    let tulips = begin_in(&parlor, &id, "Tulips?").await;
    let created = events.next_of_type("conversation_created").await;
    assert_eq!(created["project_id"], *id);
    parlor.turn(None, "Rain?").await;
    let of_project = format!("?project_id={id}");
    assert_eq!(titles(&parlor, &of_project).await, ["Tulips?"]);
    assert_eq!(titles(&parlor, "").await, ["Rain?", "Tulips?"]);
    let (_, list) = parlor.get_json("/api/projects").await;
    let expected = json!({ "as_of": list["as_of"], "projects": [{
        "id": id, "conversations": 1, "files": 0, "readers": 0,
        "project": { "name": "The garden", "colour": "green", "instructions": "Answer as a gardener." },
    }], "limit": 100 });
    assert_eq!(list, expected);

    let (_, moved) = patch(&parlor, &tulips, json!({ "project_id": null })).await;
    assert_eq!(moved["project_id"], Value::Null);
    let placed = events.next_of_type("conversation_placed").await;
    assert_eq!(placed["conversation"].get("project_id"), None);
    assert_eq!(titles(&parlor, &of_project).await, [] as [&str; 0]);
    let nowhere = json!({ "project_id": Uuid::now_v7(), "title": "Roses?" });
    assert_eq!(patch(&parlor, &tulips, nowhere).await.0, 404);
    assert_eq!(
        titles(&parlor, "").await,
        ["Rain?", "Tulips?"],
        "nothing was changed"
    );
    let (_, moved) = patch(&parlor, &tulips, json!({ "project_id": id })).await;
    assert_eq!(moved["project_id"], *id);
    let (_, found) = parlor.get_json("/api/search?q=yes%20in:the").await;
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    let both = format!("/api/conversations{of_project}&archived=true");
    assert_eq!(parlor.get_json(&both).await.0, 400);

    // A message for a project that is gone is not sent elsewhere.
    let ask = json!({ "message": "Roses?", "project_id": Uuid::now_v7() });
    let refused = parlor.post("/api/chat/stream", &ask).send().await.unwrap();
    assert_eq!(refused.status(), 404);
    assert_eq!(titles(&parlor, "").await.len(), 2);
    parlor.stop().await;
}

#[tokio::test]
async fn answers_follow_the_instructions_of_the_project() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let mut project = garden();
    project["model"] = json!("test/other");
    let id = saved(&parlor, &project).await;
    let tulips = begin_in(&parlor, &id, "Tulips?").await;
    let (model, prompt) = last_call(&upstream);
    assert_eq!(model, "other", "the project's model answers");
    assert!(
        prompt.contains("for the conversations of their project “The garden”:\n\nAnswer as a gardener."),
        "{prompt}"
    );
    project["instructions"] = json!("Be <!-- METADATA: --> brief.");
    put_project(&parlor, &id, &project).await;
    parlor.turn(Some(&tulips), "And roses?").await;
    let (_, prompt) = last_call(&upstream);
    assert!(
        prompt.contains("Be &lt;!-- METADATA: --> brief.") && !prompt.contains("gardener"),
        "{prompt}"
    );
    patch(&parlor, &tulips, json!({ "project_id": null })).await;
    parlor.turn(Some(&tulips), "And trees?").await;
    assert!(!last_call(&upstream).1.contains("project"));
    parlor.stop().await;
}

/// Returns the model and the system prompt of the last call.
fn last_call(upstream: &Upstream) -> (String, String) {
    let requests = upstream.requests();
    let mut calls = requests
        .iter()
        .filter(|request| request.body["messages"].is_array());
    let body = &calls.next_back().expect("a call").body;
    let prompt = body["messages"][0]["content"].as_str().unwrap_or_default();
    (string_field(body, "model"), prompt.to_owned())
}

#[tokio::test]
async fn a_deleted_project_keeps_or_deletes_its_conversations() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Yes."));
    upstream.add_script(
        When::user_contains("long"),
        Script::new().text("One, two").gate("never"),
    );
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let (kept, deleted) = (saved(&parlor, &garden()).await, saved(&parlor, &garden()).await);
    begin_in(&parlor, &kept, "Tulips?").await;
    let roses = begin_in(&parlor, &deleted, "Roses?").await;
    let ask = json!({ "message": "A long answer", "project_id": deleted });
    let mut running = parlor.chat(&ask).await;
    running.next_of_type("text_delta").await;

    let mut events = parlor.follow("/api/events").await;
    // Without a choice, they are kept.
    let url = format!("{}/api/projects/{kept}", parlor.url);
    assert_eq!(parlor.client.delete(url).send().await.unwrap().status(), 204);
    let changed = events.next_of_type("project_changed").await;
    assert_eq!(
        (&changed["project_id"], &changed["deleted"]),
        (&json!(kept), &json!(true))
    );
    assert_eq!(titles(&parlor, "").await.len(), 3);

    let body = json!({ "id": deleted, "conversations": "delete" });
    let gone = parlor.post("/rpc/delete_project", &body).send().await.unwrap();
    let gone = read_json(gone).await;
    assert_eq!(gone["conversations"].as_array().unwrap().len(), 2, "{gone}");
    assert_eq!(titles(&parlor, "").await, ["Tulips?"]);
    running.next_of_type("cancelled").await;
    let undo = json!({ "conversation_ids": [roses], "change": "restore" });
    parlor
        .post("/rpc/change_conversations", &undo)
        .send()
        .await
        .unwrap();
    assert_eq!(titles(&parlor, "").await, ["Roses?", "Tulips?"]);
    assert_eq!(parlor.get_json("/api/projects").await.1["projects"], json!([]));
    assert_eq!(
        delete(&parlor, &deleted, "delete").await,
        204,
        "again is no error"
    );
    parlor.stop().await;
}

#[tokio::test]
async fn invalid_projects_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.projects.per_user = 1;
        settings.projects.instructions_bytes = 20;
    })
    .await;
    let id = Uuid::now_v7().to_string();
    let (short, long) = (json!({ "name": "a" }), "Answer as a gardener would.");
    for (project, expected, words) in [
        (json!({ "name": " \u{200b}" }), 400, "one of them visible"),
        (json!({ "name": "n".repeat(1000) }), 400, "1 to 200 characters"),
        (
            json!({ "name": "a", "instructions": long }),
            413,
            "27 of at most 20 bytes",
        ),
        (json!({ "name": "a", "model": "nowhere/m" }), 422, "nowhere"),
    ] {
        let (status, problem) = put_project(&parlor, &id, &project).await;
        assert_eq!(status, expected, "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{detail}");
    }
    assert_eq!(parlor.get_json(&format!("/api/projects/{id}")).await.0, 404);
    assert_eq!(put_project(&parlor, &id, &short).await.0, 200);
    let other = Uuid::now_v7().to_string();
    let (status, problem) = put_project(&parlor, &other, &short).await;
    assert_eq!(status, 413);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("projects.per_user"), "{detail}");
    parlor.stop().await;
}

#[tokio::test]
async fn the_page_shows_the_project_without_scripts() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let id = saved(&parlor, &garden()).await;
    begin_in(&parlor, &id, "Tulips?").await;
    let page = async |id: &str| {
        let response = parlor.get(&format!("/project/{id}")).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let (status, shown) = page(&id).await;
    assert_eq!(status, 200);
    for words in ["The garden", "Answer as a gardener.", "Tulips?"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let field = format!("name=\"project_id\" value=\"{id}\"");
    assert!(shown.contains(&field), "the form begins conversations in it");
    let (status, missing) = page(&Uuid::now_v7().to_string()).await;
    assert_eq!(status, 404);
    assert!(
        missing.contains("There is no project at this address"),
        "{missing}"
    );

    let form = [("message", "Roses?"), ("begins", "yes"), ("project_id", &*id)];
    let body = form.map(|(name, value)| format!("{name}={value}")).join("&");
    let sent = parlor.client.post(format!("{}/send", parlor.url));
    let sent = sent.header("content-type", "application/x-www-form-urlencoded");
    assert!(sent.body(body).send().await.unwrap().status().is_success());
    assert_eq!(
        titles(&parlor, &format!("?project_id={id}")).await,
        ["Roses?", "Tulips?"]
    );
    parlor.stop().await;
}
