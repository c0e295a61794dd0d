//! The memories of projects and their tools over HTTP, and repeated or simultaneous changes of a project.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::{
    projects::{begin_in, garden, saved},
    support::{Parlor, last_model_call, read_json, string_field},
};

async fn start() -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Seen."));
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
    (folder, upstream, parlor)
}

/// Calls a server function. Returns the status and the response.
async fn call(parlor: &Parlor, function: &str, arguments: Value) -> (u16, Value) {
    let response = parlor
        .post(&format!("/rpc/{function}"), &arguments)
        .send()
        .await
        .unwrap();
    (response.status().as_u16(), read_json(response).await)
}

/// Returns the names of the tools of the last model call.
fn tools(upstream: &Upstream) -> Vec<String> {
    let call = last_model_call(upstream);
    let tools = call["tools"].as_array().cloned().unwrap_or_default();
    tools
        .iter()
        .map(|tool| string_field(&tool["function"], "name"))
        .collect()
}

async fn memories(parlor: &Parlor, project: &str) -> Vec<Value> {
    let (status, list) = parlor
        .get_json(&format!("/rpc/project_memories?id={project}"))
        .await;
    assert_eq!(status, 200, "{list}");
    list.as_array().unwrap().clone()
}

#[tokio::test]
async fn what_a_project_remembers_stays_in_it() {
    let (_folder, upstream, parlor) = start().await;
    let project = saved(&parlor, &garden()).await;
    let text = json!({ "text": "Bed 3 gets roses." }).to_string();
    upstream.add_script(
        When::user_contains("decide"),
        Script::new().tool_call("call1", "remember_in_project", &text),
    );
    upstream.add_script(When::tool_gave("is remembered for"), Script::new().text("Noted."));
    begin_in(&parlor, &project, "We decide: roses in bed 3").await;
    let told = last_model_call(&upstream).to_string();
    assert!(told.contains("remembered for the project “The garden”"), "{told}");
    let [memory] = &memories(&parlor, &project).await[..] else {
        panic!("one memory")
    };
    assert_eq!(memory["text"], "Bed 3 gets roses.");
    let (_, personal) = parlor.get_json("/rpc/personal").await;
    assert_eq!(personal["memories"], json!([]), "not one about the person");

    // Another conversation of the project is given it, others are not, nor the tool.
    upstream.add_script(
        When::user_contains("recollect"),
        Script::new().tool_call("call2", "recall", "{}"),
    );
    begin_in(&parlor, &project, "Please recollect").await;
    let given = last_model_call(&upstream).to_string();
    assert!(
        given.contains("Bed 3 gets roses.") && given.contains("this project"),
        "{given}"
    );
    let ask = json!({ "message": "Please recollect", "model": "test/any" });
    parlor.chat(&ask).await.read_to_end().await;
    let given = last_model_call(&upstream).to_string();
    assert!(given.contains("Nothing is remembered yet"), "{given}");
    assert!(!tools(&upstream).contains(&"remember_in_project".to_owned()));

    let edited = json!({ "memory_id": memory["id"], "text": " Bed 3 gets tulips. " });
    assert_eq!(call(&parlor, "edit_memory", edited).await.0, 200);
    assert_eq!(memories(&parlor, &project).await[0]["text"], "Bed 3 gets tulips.");
    let empty = json!({ "memory_id": memory["id"], "text": " " });
    assert_eq!(call(&parlor, "edit_memory", empty).await.0, 400);
    let forget = json!({ "memory_id": memory["id"] });
    assert_eq!(call(&parlor, "forget_memory", forget).await.0, 200);
    assert_eq!(memories(&parlor, &project).await, Vec::<Value>::new());
    let restore = json!({ "id": project, "memory": memory });
    assert_eq!(call(&parlor, "restore_project_memory", restore).await.0, 200);
    assert_eq!(memories(&parlor, &project).await.len(), 1);
    parlor.stop().await;
}

#[tokio::test]
async fn a_project_switches_tools_off() {
    let (_folder, upstream, parlor) = start().await;
    let (status, offered) = parlor.get_json("/rpc/project_tools").await;
    assert_eq!(status, 200, "{offered}");
    let calculate = json!({ "name": "calculate", "label": "Calculating" });
    assert!(offered.as_array().unwrap().contains(&calculate), "{offered}");
    let mut project = garden();
    project["disabled_tools"] = json!(["calculate", "gone__tool"]);
    let project = saved(&parlor, &project).await;
    begin_in(&parlor, &project, "Hello").await;
    let names = tools(&upstream);
    assert!(
        !names.contains(&"calculate".into()) && names.contains(&"current_time".into()),
        "{names:?}"
    );
    // A message asks for it.
    let ask = json!({ "message": "Hello", "project_id": project, "force_tools": ["calculate"] });
    parlor.chat(&ask).await.read_to_end().await;
    assert!(tools(&upstream).contains(&"calculate".into()));
    parlor
        .chat(&json!({ "message": "Hello", "model": "test/any" }))
        .await
        .read_to_end()
        .await;
    assert!(tools(&upstream).contains(&"calculate".into()));
    parlor.stop().await;
}

#[tokio::test]
async fn an_upload_that_is_repeated_makes_one_file() {
    let (_folder, _upstream, parlor) = start().await;
    let project = saved(&parlor, &garden()).await;
    let id = Uuid::now_v7();
    for _ in 0..2 {
        let url = format!("{}/api/projects/{project}/files?name=plan.md&id={id}", parlor.url);
        let response = parlor.client.post(url).body("Roses.").send().await.unwrap();
        assert_eq!(response.status(), 201);
        let file = read_json(response).await;
        assert_eq!(
            (file["id"].as_str(), file["name"].as_str()),
            (Some(&*id.to_string()), Some("plan.md"))
        );
    }
    let (_, list) = parlor.get_json(&format!("/api/projects/{project}/files")).await;
    assert_eq!(list["files"].as_array().unwrap().len(), 1, "{list}");
    parlor.stop().await;
}

#[tokio::test]
async fn the_second_of_two_edits_is_told() {
    let (_folder, _upstream, parlor) = start().await;
    let project = saved(&parlor, &garden()).await;
    let (_, known) = parlor.get_json(&format!("/api/projects/{project}")).await;
    let known = known["project"].clone();
    let edit = async |name: &str| {
        let mut edited = known.clone();
        edited["name"] = name.into();
        let arguments = json!({ "id": project, "project": edited, "is_new": false, "replaces": known });
        call(&parlor, "save_project", arguments).await
    };
    assert_eq!(edit("Orchard").await.0, 200);
    let (status, problem) = edit("Meadow").await;
    assert_eq!(
        (status, &problem["code"]),
        (409, &json!("note_changed")),
        "{problem}"
    );
    let (_, kept) = parlor.get_json(&format!("/api/projects/{project}")).await;
    assert_eq!(kept["project"]["name"], "Orchard");
    parlor.stop().await;
}
