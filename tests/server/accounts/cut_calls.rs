//! The usage of calls that are cut off: their model server never reports it.

use parlor_base::settings::TitleMode;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
use upstream::{Script, When};

use super::{
    Team,
    usage::{expect_limit, send, start, turn},
};
use crate::support::{TEST_TIMEOUT, model_calls};

#[tokio::test]
async fn a_stopped_answer_counts_too() {
    let (team, _ann, _ben) = start(|settings| settings.accounts.tokens_per_day = Some(1)).await;
    team.upstream.add_script(
        When::user_contains("slow"),
        Script::new().text("Many words.").gate("never"),
    );
    let mut stream = team.parlor.chat(&turn("slow")).await;
    let first = stream.next().await.unwrap();
    stream.next_of_type("text_delta").await;
    stop(&team, first["message_id"].as_str().unwrap()).await;
    expect_limit(send(&team.parlor, "Again").await).await;
}

/// Waits until the model server has a request.
async fn wait_for_request(team: &Team, is_it: impl Fn(&str) -> bool) {
    let arrived = async {
        while !model_calls(&team.upstream)
            .iter()
            .any(|call| is_it(&call.to_string()))
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, arrived)
        .await
        .expect("the request arrives");
}

/// Returns the tokens of all days and users.
async fn counted_tokens(team: &Team) -> i64 {
    let mut database = SqliteConnectOptions::new()
        .filename(team.folder.path().join("parlor.db"))
        .connect()
        .await
        .unwrap();
    let sum = "SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM daily_usage";
    sqlx::query_scalar(sum).fetch_one(&mut database).await.unwrap()
}

async fn stop(team: &Team, run: &str) {
    let path = format!("/api/runs/{run}/stop");
    let stopped = team.parlor.post(&path, &json!({})).send().await;
    assert_eq!(stopped.unwrap().status(), 200);
}

#[tokio::test]
async fn an_answer_stopped_before_its_first_word_counts() {
    let (team, _ann, _ben) = start(|settings| settings.accounts.tokens_per_day = Some(1)).await;
    team.upstream.add_script(
        When::user_contains("slow"),
        Script::new().gate("never").text("Late."),
    );
    let mut stream = team.parlor.chat(&turn("slow")).await;
    let first = stream.next().await.unwrap();
    wait_for_request(&team, |call| call.contains("slow")).await;
    stop(&team, first["message_id"].as_str().unwrap()).await;
    expect_limit(send(&team.parlor, "Again").await).await;
}

#[tokio::test]
async fn a_summary_that_is_stopped_counts() {
    let (team, _ann, _ben) = start(|settings| {
        settings.endpoints[0].context_window = Some(3000);
        settings.history.answer_tokens = 500;
    })
    .await;
    team.upstream.add_script(
        When::user_contains("Person: "),
        Script::new().gate("never").text("Late."),
    );
    let mut conversation = Value::Null;
    for number in 0..10 {
        let before = counted_tokens(&team).await;
        let message = json!({
            "message": format!("turn {number} {}", "word ".repeat(400)), "model": "test/any", "conversation_id": conversation,
        });
        let mut stream = team.parlor.chat(&message).await;
        let first = stream.next().await.unwrap();
        conversation = first["conversation_id"].clone();
        while let Some(event) = stream.next().await {
            if event["type"] == "status" && event.to_string().contains("Summarizing") {
                wait_for_request(&team, |call| call.contains("Person: ")).await;
                stop(&team, first["message_id"].as_str().unwrap()).await;
                stream.read_to_end().await;
                let counted = counted_tokens(&team).await - before;
                assert!((500..3000).contains(&counted), "{counted}");
                return;
            }
        }
    }
    panic!("nothing was summarized");
}

#[tokio::test]
async fn a_title_that_repeats_itself_counts() {
    let (team, _ann, _ben) = start(|settings| settings.titles.mode = TitleMode::Always).await;
    team.upstream
        .add_script(When::any(), Script::new().text("In Oslo."));
    let looping = "A title of words that come again and again and again, as they should not. ".repeat(200);
    team.upstream.add_script(
        When::user_contains("Assistant: In Oslo."),
        Script::new().text(looping).gate("never"),
    );
    let events = team.parlor.turn(None, "Where is it?").await;
    let id = events[0]["message_id"].as_str().unwrap();
    let counts_both = async {
        loop {
            let message = team.parlor.get_json(&format!("/api/messages/{id}")).await.1;
            let totals = &message["message"]["usage"]["totals"];
            if totals["calls"] == 2 {
                return totals.clone();
            }
        }
    };
    let totals = tokio::time::timeout(TEST_TIMEOUT, counts_both)
        .await
        .expect("the title is counted");
    assert!(totals["output_tokens"].as_u64() > Some(100), "{totals}");
}
