//! The list of all files of a user, and their deletion wherever they are used.

use serde_json::{Value, json};

use super::{id, png, start, stored::wait_for_names};
use crate::{
    projects::{garden, saved},
    support::{Parlor, last_model_call, string_field},
};

/// Returns a page of the files.
async fn list(parlor: &Parlor, query: &str) -> Value {
    let (status, list) = parlor.get_json(&format!("/api/files?{query}")).await;
    assert_eq!(status, 200, "{list}");
    list
}

fn names(list: &Value) -> Vec<String> {
    let files = list["files"].as_array().unwrap().iter();
    files
        .map(|listed| string_field(&listed["file"], "name"))
        .collect()
}

#[tokio::test]
async fn all_files_are_listed_with_their_places() {
    let (_folder, _upstream, parlor) = start(|_, _| {}).await;
    let (file, _) = parlor.send_file("map.png", png(4, 3), "Look").await;
    parlor.upload("draft.txt", None, "Not sent").await;
    let project = saved(&parlor, &garden()).await;
    let url = format!("{}/api/projects/{project}/files?name=plan.md", parlor.url);
    let added = parlor.client.post(url).body("Roses").send().await.unwrap();
    assert_eq!(added.status(), 201);

    let all = list(&parlor, "order=oldest").await;
    assert_eq!(names(&all), ["map.png", "draft.txt", "plan.md"]);
    let places = all["files"].as_array().unwrap().iter();
    let places: Vec<_> = places.map(|listed| listed["uses"][0].clone()).collect();
    assert_eq!(places[0]["conversation_id"], file["conversation_id"]);
    assert_eq!(
        (&places[0]["title"], &places[0]["state"]),
        (&json!("Look"), &json!("shown"))
    );
    assert_eq!(places[1]["state"], "unsent");
    assert_eq!(places[2]["project_id"], *project);
    let bytes = all["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|listed| &listed["file"]["bytes"]);
    let sum: u64 = bytes.map(|bytes| bytes.as_u64().unwrap()).sum();
    assert_eq!(all["used_bytes"].as_u64(), Some(sum));
    assert!(all["limit_bytes"].as_u64() > Some(sum));

    assert_eq!(names(&list(&parlor, "q=PLAN").await), ["plan.md"]);
    let first = list(&parlor, "order=smallest&limit=2").await;
    assert_eq!(
        (names(&first), &first["total"]),
        (vec!["plan.md".into(), "draft.txt".into()], &json!(3))
    );
    let next = string_field(&first, "next");
    let last = list(&parlor, &format!("order=smallest&limit=2&cursor={next}")).await;
    assert_eq!((names(&last), last.get("next")), (vec!["map.png".into()], None));
    for wrong in ["cursor=x", "limit=0", "order=name"] {
        assert_eq!(
            parlor.get_json(&format!("/api/files?{wrong}")).await.0,
            400,
            "{wrong}"
        );
    }
}

#[tokio::test]
async fn a_deleted_file_leaves_its_name() {
    let (folder, upstream, parlor) = start(|_, _| {}).await;
    let (status, notes) = parlor.upload("notes.md", None, "The secret is 42.").await;
    assert_eq!(status, 201);
    let conversation = string_field(&notes, "conversation_id");
    let turn = json!({
        "message": "Read", "files": [notes["id"]], "conversation_id": conversation, "model": "test/any",
    });
    parlor.chat(&turn).await.read_to_end().await;
    let url = format!("{}/api/files/{}", parlor.url, id(&notes));
    // Without `everywhere`, a file of a message stays.
    assert_eq!(parlor.client.delete(&url).send().await.unwrap().status(), 204);
    assert_eq!(names(&list(&parlor, "").await), ["notes.md"]);

    let mut events = parlor.follow("/api/events").await;
    let deleted = parlor
        .client
        .delete(format!("{url}?everywhere=true"))
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.status(), 204);
    let event = events.next_of_type("files_deleted").await;
    assert_eq!(event["file_ids"], json!([notes["id"]]));
    assert_eq!(list(&parlor, "").await["used_bytes"], 0);
    assert_eq!(parlor.client.get(&url).send().await.unwrap().status(), 404);
    wait_for_names(folder.path(), 0).await;
    let (_, messages) = parlor
        .get_json(&format!("/api/conversations/{conversation}/messages"))
        .await;
    let left = &messages["messages"][0]["files"][0];
    assert_eq!(
        (&left["name"], &left["problem"]),
        (&json!("notes.md"), &json!("deleted"))
    );

    // The conversation goes on, and the model is told.
    let ask = json!({ "message": "And now?", "conversation_id": conversation, "model": "test/any" });
    let events = parlor.chat(&ask).await.read_to_end().await;
    assert_eq!(events.last().unwrap()["type"], "complete");
    let call = last_model_call(&upstream).to_string();
    assert!(
        call.contains("notes.md is not shown to you: it was deleted"),
        "{call}"
    );
    assert!(!call.contains("secret"), "{call}");
    // Once more is no error.
    let again = parlor
        .client
        .delete(format!("{url}?everywhere=true"))
        .send()
        .await
        .unwrap();
    assert_eq!(again.status(), 204);
}
