//! The limits of tokens, cost and runs, and the pages that show the usage.

use std::sync::Arc;

use parlor_base::settings::Price;
use parlor_protocol::Dollars;
use reqwest::Response;
use serde_json::{Value, json};
use upstream::{Script, When};

use super::{Browser, Team};
use crate::support::{Parlor, read_json};

pub(super) fn turn(message: &str) -> Value {
    json!({ "message": message, "model": "test/any" })
}

pub(super) async fn send(parlor: &Parlor, message: &str) -> Response {
    parlor
        .post("/api/chat/stream", &turn(message))
        .send()
        .await
        .unwrap()
}

/// Checks a refusal. Returns its text.
pub(super) async fn expect_limit(response: Response) -> String {
    assert_eq!(response.status(), 429);
    let wait: u64 = response.headers()["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=24 * 3600).contains(&wait), "{wait}");
    let problem = read_json(response).await;
    assert_eq!(problem["code"], "limit_reached");
    problem["detail"].as_str().unwrap().to_owned()
}

/// Starts a server with two users. Returns the pages of both.
pub(super) async fn start(
    change: impl FnOnce(&mut parlor_base::settings::Settings),
) -> (Team, Browser, Browser) {
    let mut team = Team::start(change).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let ben = ann.invite(&team.parlor, "ben").await;
    team.parlor.client = ben.signed_in_client();
    (team, ann, ben)
}

#[tokio::test]
async fn tokens_of_a_day_are_limited_per_user() {
    let (mut team, ann, ben) = start(|settings| settings.accounts.tokens_per_day = Some(1)).await;
    let events = team.parlor.turn(None, "Hello").await;
    assert_eq!(
        events.last().unwrap()["type"],
        "complete",
        "the first answer reaches the limit"
    );
    let detail = expect_limit(send(&team.parlor, "Again").await).await;
    assert!(
        detail.contains("the limit is 1 a day")
            && detail.contains("midnight UTC")
            && detail.contains("is kept"),
        "{detail}"
    );
    let page = ben.page("/settings/usage").await;
    assert!(page.contains("of 1 tokens") && page.contains("<svg"), "{page}");
    // The page's own function says the same.
    let message = json!({ "intent": {
        "intent_id": uuid::Uuid::now_v7(), "conversation_id": events[0]["conversation_id"],
        "user_message_id": uuid::Uuid::now_v7(), "text": "Again", "model": "test/any",
        "interaction": { "interaction_type": "text_input" },
    } });
    let refused = team
        .parlor
        .post("/rpc/send_message", &message)
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    // Others are not limited by it, and a restart forgets nothing.
    team.parlor.client = ann.signed_in_client();
    let events = team.parlor.turn(None, "Hello").await;
    assert_eq!(events.last().unwrap()["type"], "complete");
    team.parlor.stop().await;
    let mut parlor = Parlor::start_with(team.folder.path(), &team.upstream, |settings| {
        super::with_passwords(settings);
        settings.accounts.tokens_per_day = Some(1);
    })
    .await;
    parlor.client = ben.signed_in_client();
    expect_limit(send(&parlor, "Again").await).await;
}

#[tokio::test]
async fn an_answer_ends_where_the_limit_is_reached() {
    let (team, _ann, _ben) = start(|settings| settings.accounts.tokens_per_day = Some(1)).await;
    team.upstream.add_script(
        When::user_contains("tool"),
        Script::new().text("First.").tool_call("1", "nothing", "{}"),
    );
    let events = team.parlor.turn(None, "tool").await;
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["error"]["code"]),
        (&json!("error"), &json!("limit_reached"))
    );
    let id = events[0]["conversation_id"].as_str().unwrap();
    let kept = team.parlor.transcript(id).await;
    assert!(kept.to_string().contains("First."), "what was written is kept");
}

#[tokio::test]
async fn cost_of_a_day_is_limited_and_shown() {
    let (team, mut ann, ben) = start(|settings| {
        let price = Price {
            input: Dollars(1_000_000_000_000),
            output: Dollars(1_000_000_000_000),
            ..Price::default()
        };
        settings.models.prices = [("test/any".to_owned(), price)].into();
        settings.accounts.dollars_per_day = Some(Dollars(1_000_000));
    })
    .await;
    team.parlor.turn(None, "Hello").await;
    let detail = expect_limit(send(&team.parlor, "Again").await).await;
    assert!(detail.contains("the limit is $0.001 a day"), "{detail}");
    // Administrators see it by user and day; members do not.
    let page = ann.page("/settings/usage/all").await;
    assert!(page.matches("<svg").count() == 2, "{page}");
    let user = ann.user_id("ben").await;
    let own = ann.page(&format!("/settings/usage/all?user={user}")).await;
    let row = own
        .split("<tbody>")
        .nth(1)
        .unwrap()
        .split("</tr>")
        .next()
        .unwrap()
        .to_owned();
    assert!(row.contains("<td>1</td>") && row.contains('$'), "{row}");
    let nobody = uuid::Uuid::now_v7();
    let unknown = ann
        .get(&format!("/settings/usage/all?user={nobody}"))
        .send()
        .await
        .unwrap();
    assert_eq!(unknown.status(), 404);
    assert_eq!(ben.get("/settings/usage/all").send().await.unwrap().status(), 403);
    // The usage goes with the account.
    ann.submit("/settings/users/delete", &[("user", &user), ("sure", "yes")])
        .await;
    assert!(ann.page("/settings/usage/all").await.contains("Nothing was used"));
}

#[tokio::test]
async fn concurrent_answers_are_limited_per_user() {
    let (team, ann, ben) = start(|settings| settings.accounts.runs = Some(2)).await;
    team.upstream
        .add_script(When::user_contains("slow"), Script::new().text("One").gate("end"));
    let parlor = Arc::new(team.parlor);
    let mut streams = Vec::new();
    for _ in 0..2 {
        let mut stream = parlor.chat(&turn("slow")).await;
        let first = stream.next().await.unwrap();
        streams.push((stream, first["conversation_id"].clone()));
    }
    let detail = expect_limit(send(&parlor, "slow").await).await;
    assert!(
        detail.contains("2 answers at a time") && detail.contains("stop one"),
        "{detail}"
    );
    // A message in a conversation that is being answered waits there, as always.
    let mut ben = ben;
    let queue = async |ben: &mut Browser, conversation: &Value| {
        let id = conversation.as_str().unwrap().to_owned();
        let fields = [("message", "Waits"), ("conversation_id", &id), ("model", "")];
        ben.submit("/send", &fields).await.status().as_u16()
    };
    assert_eq!(queue(&mut ben, &streams[0].1).await, 303);
    // Another user has places of their own.
    let own = ann.signed_in_client();
    let other = own
        .post(format!("{}/api/chat/stream", parlor.url))
        .header("content-type", "application/json")
        .body(turn("Hello").to_string());
    assert_eq!(other.send().await.unwrap().status(), 200);
    team.upstream.open_gate("end");
    for (stream, _) in streams {
        let events = stream.read_to_end().await;
        assert_eq!(events.last().unwrap()["type"], "complete");
    }
    let events = parlor.turn(None, "Hello").await;
    assert_eq!(
        events.last().unwrap()["type"],
        "complete",
        "places are free again"
    );
}
