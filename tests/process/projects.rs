//! A crash while a project is deleted with its conversations: it is whole, or gone. Also while its messages are being indexed.

use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::{
    Server, TEST_TIMEOUT,
    client::{execute_sql, post_turn, query_sql},
    failpoints::PROJECT_POINT,
};

/// The number of kills; `make fuzz` has more.
const DEFAULT_ROUNDS: u32 = 4;

/// The longest time from the request to the kill.
const MAX_DELAY: Duration = Duration::from_millis(250);

/// Makes the index empty, as the update from a version without search leaves it.
const FORGET_INDEX: &str = "DELETE FROM search_documents; DELETE FROM search_pending; \
    INSERT INTO search_pending SELECT 'message', id, 0 FROM messages; \
    INSERT INTO search_pending SELECT 'title', id, 0 FROM conversations";

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

/// Asks a question in a new conversation, in a project if there is one, and waits for the answer.
async fn ask(server: &Server, question: &str, project: Option<&str>) {
    let ask = json!({ "message": question, "project_id": project });
    let turn = post_turn(&server.url, &ask).await.unwrap();
    assert!(turn.text().await.unwrap().contains("complete"));
}

/// Makes a project with conversations, and returns its path in the API.
async fn make_project(server: &Server, questions: &[&str]) -> String {
    let path = format!("/api/projects/{}", Uuid::now_v7());
    let request = Client::new().put(format!("{}{path}", server.url));
    let request = request.header("content-type", "application/json");
    let saved = request.body(r#"{"name": "Garden"}"#).send().await.unwrap();
    assert_eq!(saved.status(), 200);
    for question in questions {
        ask(server, question, path.rsplit('/').next()).await;
    }
    path
}

/// Waits until all is indexed, and returns the titles and questions that are found for a word.
async fn search(server: &Server, word: &str) -> Vec<String> {
    let found = async {
        loop {
            let found = get(server, &format!("/api/search?limit=100&q={word}")).await;
            if found["indexed_percent"].is_null() {
                return found;
            }
        }
    };
    let found = timeout(TEST_TIMEOUT, found).await.expect("the index is complete");
    let hits = found["hits"].as_array().expect("hits").iter();
    let mut hits: Vec<String> = hits.map(Value::to_string).collect();
    hits.sort_unstable();
    hits
}

#[tokio::test]
async fn a_killed_deletion_leaves_a_project_whole_or_gone() {
    parlor_web::http_client::install_tls();
    for (is_in_the_middle, expected) in [(true, (Some(json!(2)), 2)), (false, (None, 0))] {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Yes."));
        let server = Server::start(folder.path(), &upstream).await;
        let client = Client::new();
        let path = make_project(&server, &["Tulips?", "Roses?"]).await;
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

async fn kill_while_deleting_and_indexing(seed: u64, rounds: u32) {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Yes."));
    let mut random = fastrand::Rng::with_seed(seed);
    let mut server = Server::start(folder.path(), &upstream).await;
    for number in 0..20 {
        ask(&server, &format!("Apples {number}?"), None).await;
    }
    let apples = search(&server, "apples").await;
    assert_eq!(apples.len(), 2 * 20);
    let mut gone = 0;
    for round in 0..rounds {
        let path = make_project(&server, &["Tulips?", "Roses?"]).await;
        server.kill().await;
        execute_sql(folder.path(), FORGET_INDEX.into()).await;

        server = Server::start(folder.path(), &upstream).await;
        let request = Client::new().delete(format!("{}{path}?conversations=delete", server.url));
        let deletion = tokio::spawn(request.send());
        sleep(random_delay(&mut random)).await;
        server.kill().await;
        let was_told = deletion
            .await
            .unwrap()
            .is_ok_and(|response| response.status() == 204);

        server = Server::start(folder.path(), &upstream).await;
        let (project, conversations) = found(&server).await;
        let expected = match project {
            Some(count) if !was_told => {
                assert_eq!(count, 2, "round {round}: a part is gone");
                2
            }
            Some(_) => panic!("round {round}: it is back after the response"),
            None => 0,
        };
        assert_eq!(conversations, 20 + expected, "round {round}");
        // The title and the question of one conversation.
        assert_eq!(search(&server, "tulips").await.len(), expected, "round {round}");
        if expected == 0 {
            gone += 1;
        } else {
            let deleted = Client::new().delete(format!("{}{path}?conversations=delete", server.url));
            assert_eq!(deleted.send().await.unwrap().status(), 204);
        }
    }
    println!("{gone} of {rounds} projects were deleted before the kill");
    assert_eq!(search(&server, "apples").await, apples);
    server.kill().await;
    let integrity: String = query_sql(folder.path(), "PRAGMA integrity_check").await;
    assert_eq!(integrity, "ok");
}

fn random_delay(random: &mut fastrand::Rng) -> Duration {
    MAX_DELAY.mul_f64(random.f64())
}

/// Randomised tests, in the module that `make fuzz` looks for.
mod properties {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn kills_leave_projects_whole_or_gone() {
        for seed in fuzzing::test_seeds!() {
            super::kill_while_deleting_and_indexing(seed, fuzzing::cases(super::DEFAULT_ROUNDS)).await;
        }
    }
}
