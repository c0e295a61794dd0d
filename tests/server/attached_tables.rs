//! The page *Data* lists the tables of attached files, and is linked once there is one.

use serde_json::json;
use upstream::{Script, When};

use crate::{data::start_with, support::string_field};

#[tokio::test]
async fn page_lists_attached_files_of_shown_conversations() {
    let (_folder, upstream, parlor) = start_with(&[], |_| {}).await;
    upstream.add_script(When::any(), Script::new().text("Seen."));
    let listed = async || parlor.get_json("/rpc/listed_pages").await.1;
    let files = async || parlor.get_json("/rpc/data_catalogue").await.1["files"].clone();
    let send = async |name: &str, data: &[u8]| {
        let (status, file) = parlor.upload(name, None, data.to_vec()).await;
        assert_eq!(status, 201, "{file}");
        let turn = json!({
            "message": "Look", "files": [file["id"]], "conversation_id": file["conversation_id"], "model": "test/any",
        });
        parlor.chat(&turn).await.read_to_end().await;
        file
    };
    // A text and an object are no tables.
    send("notes.txt", b"Aarhus").await;
    send("town.json", b"{ \"city\": \"Aarhus\" }").await;
    assert_eq!((listed().await, files().await), (json!([]), json!([])));
    let lines = send("lines.jsonl", b"{\"a\": 1}\n{\"a\": 2}\n").await;
    assert_eq!(listed().await, json!(["data"]));
    let towns = send("Towns.csv", b"city,people\nAarhus,3\nOdense,4\n").await;
    let found = files().await;
    let names: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["file"]["name"])
        .collect();
    assert_eq!(names, ["Towns.csv", "lines.jsonl"], "newest first: {found}");
    assert_eq!(
        (
            &found[0]["conversation_id"],
            &found[0]["title"],
            &found[0]["tables"]
        ),
        (
            &towns["conversation_id"],
            &json!("Look"),
            &json!([{ "name": "", "about": "2 rows", "columns": ["city", "people"] }])
        )
    );
    let page = parlor.get("/data").send().await.unwrap().text().await.unwrap();
    let link = format!("href=\"/c/{}\"", string_field(&towns, "conversation_id"));
    assert!(page.contains("Towns.csv") && page.contains(&link), "{page}");
    for file in [&towns, &lines] {
        let delete = json!({ "conversation_id": file["conversation_id"] });
        let deleted = parlor
            .post("/rpc/delete_conversation", &delete)
            .send()
            .await
            .unwrap();
        assert_eq!(deleted.status(), 200);
    }
    assert_eq!((listed().await, files().await), (json!([]), json!([])));
}
