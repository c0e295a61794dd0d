//! The deletion of a user, with a hand-over of what they have.

use serde_json::json;
use sqlx::{ConnectOptions, Executor, sqlite::SqliteConnectOptions};

use super::Team;
use crate::support::string_field;

#[tokio::test]
async fn an_heir_continues_conversations_handed_over() {
    let mut team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let ben = ann.invite(&team.parlor, "ben").await;
    team.parlor.client = ben.signed_in_client();
    let turn = team.parlor.turn(None, "a remarkable plan").await;
    let conversation = string_field(&turn[0], "conversation_id");
    let (_, file) = team
        .parlor
        .upload(
            "plan.csv",
            Some(conversation.parse().unwrap()),
            "name,size\nmap,3\n",
        )
        .await;
    let file = string_field(&file, "id");
    let message = json!({
        "message": "with a file", "conversation_id": conversation, "model": "test/any", "files": [file],
    });
    let events = team.parlor.chat(&message).await.read_to_end().await;
    assert_eq!(events.last().unwrap()["type"], "complete");
    let before = team.parlor.transcript(&conversation).await;

    // Ann's page is open, and learns of it.
    team.parlor.client = ann.signed_in_client();
    let mut log = team.parlor.follow("/api/events?after=0").await;
    let user = ann.user_id("ben").await;
    let asked = ann.submit("/settings/users/delete", &[("user", &user)]).await;
    let form = asked.text().await.unwrap();
    let (_, heir) = form.split_once("<option value=\"").expect("another user");
    let (heir, name) = heir.split_once("\">").unwrap();
    assert!(name.starts_with("ann<") && form.contains("Hand over"), "{form}");
    for (wrong, status) in [(user.as_str(), 400), ("x", 404)] {
        let fields = [("user", user.as_str()), ("sure", "yes"), ("heir", wrong)];
        let refused = ann.submit("/settings/users/delete", &fields).await;
        assert_eq!(refused.status(), status, "{wrong}");
    }
    let fields = [("user", user.as_str()), ("sure", "yes"), ("heir", heir)];
    let done = ann.submit("/settings/users/delete", &fields).await;
    assert_eq!(done.headers()["location"], "/settings/users?done=handed-over");
    let event = log.next().await.unwrap();
    assert_eq!(
        (&event["type"], &event["conversation_id"]),
        (&json!("conversation_created"), &json!(conversation))
    );
    assert_eq!(ben.status().await, 401);
    let after = team.parlor.transcript(&conversation).await;
    assert_eq!(after["messages"], before["messages"]);
    let content = team
        .parlor
        .get(&format!("/api/files/{file}"))
        .send()
        .await
        .unwrap();
    assert_eq!(content.text().await.unwrap(), "name,size\nmap,3\n");
    let events = team.parlor.turn(Some(&conversation), "Go on").await;
    assert_eq!(events.last().unwrap()["type"], "complete");
    let again = team.parlor.transcript(&conversation).await;
    let count = |transcript: &serde_json::Value| transcript["messages"].as_array().unwrap().len();
    assert_eq!(count(&again), count(&before) + 2);
    let audit = ann.page("/settings/audit").await;
    assert!(
        audit.contains("handed over what was in the account ben to ann"),
        "{audit}"
    );
}

#[tokio::test]
async fn interrupted_deletion_is_reported_as_unfinished() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    ann.invite(&team.parlor, "ben").await;
    let user = ann.user_id("ben").await;
    // A row that does not go with its user.
    let mut database = SqliteConnectOptions::new()
        .filename(team.folder.path().join("parlor.db"))
        .connect()
        .await
        .unwrap();
    let block = "CREATE TABLE blocks (user_id TEXT REFERENCES users (id)); INSERT INTO blocks SELECT user_id FROM accounts WHERE name = 'ben'";
    database.execute(sqlx::raw_sql(block)).await.unwrap();
    let fields = [("user", user.as_str()), ("sure", "yes")];
    let cut_off = ann.submit("/settings/users/delete", &fields).await;
    assert!(cut_off.status().is_server_error(), "{}", cut_off.status());
    let text = cut_off.text().await.unwrap();
    assert!(
        text.contains("goes on at the next start") && !text.contains("Nothing was changed"),
        "{text}"
    );
    let list = ann.page("/settings/users").await;
    assert!(list.contains("being deleted"), "{list}");
    ann.submit("/settings/users/enable", &[("user", &user)]).await;
    let list = ann.page("/settings/users").await;
    assert!(!list.contains("being deleted") && list.contains("ben"), "{list}");
}
