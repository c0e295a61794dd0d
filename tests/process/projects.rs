//! A crash while a project is deleted with its conversations: it is whole, or gone.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::{Server, client::post_turn, failpoints::PROJECT_POINT};

async fn get(server: &Server, path: &str) -> Value {
    let response = reqwest::get(format!("{}{path}", server.url)).await.unwrap();
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

/// Returns the number of conversations in the project, or `None` if it is gone, and that of all conversations.
async fn found(server: &Server) -> (Option<Value>, usize) {
    let projects = get(server, "/api/projects").await;
    let list = get(server, "/api/conversations").await;
    let project = projects["projects"].as_array().unwrap().first();
    let conversations = list["conversations"].as_array().unwrap().len();
    (
        project.map(|project| project["conversations"].clone()),
        conversations,
    )
}

#[tokio::test]
async fn a_killed_deletion_leaves_a_project_whole_or_gone() {
    parlor_web::http_client::install_tls();
    for (is_in_the_middle, expected) in [(true, (Some(json!(2)), 2)), (false, (None, 0))] {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Yes."));
        let server = Server::start(folder.path(), &upstream).await;
        let client = reqwest::Client::new();
        let path = format!("/api/projects/{}", Uuid::now_v7());
        let request = client.put(format!("{}{path}", server.url));
        let request = request.header("content-type", "application/json");
        let saved = request.body(r#"{"name": "Garden"}"#).send().await.unwrap();
        assert_eq!(saved.status(), 200);
        let id = path.rsplit('/').next().unwrap();
        for message in ["Tulips?", "Roses?"] {
            let ask = json!({ "message": message, "project_id": id });
            let turn = post_turn(&server.url, &ask).await.unwrap();
            assert!(turn.text().await.unwrap().contains("complete"));
        }
        server.kill().await;

        let server = match is_in_the_middle {
            true => {
                let server = Server::start_with_failpoint(folder.path(), &upstream, PROJECT_POINT).await;
                let url = format!("{}{path}?conversations=delete", server.url);
                client.delete(url).send().await.expect_err("it crashes");
                server.expect_crash().await;
                Server::start(folder.path(), &upstream).await
            }
            false => {
                let server = Server::start(folder.path(), &upstream).await;
                let url = format!("{}{path}?conversations=delete", server.url);
                assert_eq!(client.delete(url).send().await.unwrap().status(), 204);
                server.kill().await;
                Server::start(folder.path(), &upstream).await
            }
        };
        assert_eq!(
            found(&server).await,
            expected,
            "in the middle: {is_in_the_middle}"
        );
        server.kill().await;
    }
}
