//! Shares with people by name.

use serde_json::json;

use super::{Share, page, read_shared};
use crate::{
    accounts::{Browser, Team},
    support::string_field,
};

/// Signs ann, ben and cat in. Requests of the server's client are ann's.
pub(super) async fn three_people(team: &mut Team) -> [Browser; 3] {
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let ben = ann.invite(&team.parlor, "ben").await;
    let cat = ann.invite(&team.parlor, "cat").await;
    team.parlor.client = ann.signed_in_client();
    [ann, ben, cat]
}

#[tokio::test]
async fn only_the_named_people_read_a_share() {
    let mut team = Team::start(|_| {}).await;
    let [ann, ben, cat] = three_people(&mut team).await;
    let parlor = &team.parlor;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let share = Share::create(parlor, &conversation, Some(&["Ben"]), true).await;
    assert_eq!(share.key(), share.id, "the name opens it, no secret");
    let unknown = uuid::Uuid::now_v7().to_string();
    let (owner, reader, other) = (
        ann.signed_in_client(),
        ben.signed_in_client(),
        cat.signed_in_client(),
    );
    let nobody = team.browser().client;
    for client in [&owner, &reader] {
        let (status, shared) = read_shared(parlor, client, share.key()).await;
        assert_eq!((status, &shared["owner"]), (200, &json!("ann")));
        assert_eq!(page(parlor, client, &share.path).await.0, 200);
    }
    for client in [&other, &nobody] {
        let refused = read_shared(parlor, client, share.key()).await;
        assert_eq!(refused.0, 404);
        assert_eq!(refused, read_shared(parlor, client, &unknown).await);
    }
    assert_eq!(page(parlor, &other, &share.path).await.0, 404);
    // It leads to the sign-in, whether there is such a share or not.
    for key in [share.key(), &unknown] {
        let request = nobody.get(format!("{}/shared/{key}", parlor.url));
        let response = request.header("accept", "text/html").send().await.unwrap();
        assert_eq!(response.status(), 303);
        assert_eq!(
            response.headers()["location"].to_str().unwrap(),
            format!("/sign-in?next=%2Fshared%2F{}", key.replace('-', "%2D"))
        );
    }
    assert!(page(parlor, &owner, "/").await.1.contains("data-share-people"));
    // A link needs no account.
    let link = Share::create(parlor, &conversation, None, false).await;
    assert_eq!(read_shared(parlor, &nobody, link.key()).await.0, 200);
    assert_eq!(page(parlor, &nobody, &link.path).await.0, 200);
    assert!(read_shared(parlor, &nobody, link.key()).await.1["owner"].is_null());

    // Only the owner ends it.
    let request = other.post(format!("{}/rpc/end_share", parlor.url));
    let request = request.header("content-type", "application/json");
    request
        .body(json!({ "share_id": share.id }).to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(read_shared(parlor, &reader, share.key()).await.0, 200);
    share.end(parlor).await;
    assert_eq!(read_shared(parlor, &reader, share.key()).await.0, 404);

    let audit = ann.page("/settings/audit").await;
    assert!(audit.contains("shared a conversation") && audit.contains("ended a share"));
}

#[tokio::test]
async fn unknown_names_share_nothing() {
    let mut team = Team::start(|settings| settings.sharing.readers = 1).await;
    three_people(&mut team).await;
    let parlor = &team.parlor;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    for names in [json!(["dan"]), json!([]), json!(["ann"]), json!(["ben", "cat"])] {
        let request = json!({ "conversation_id": conversation, "readers": names, "is_live": true });
        let refused = parlor.post("/rpc/create_share", &request).send().await.unwrap();
        assert_eq!(refused.status(), 400, "{names}");
    }
    let listed = parlor.get("/rpc/shares").send().await.unwrap();
    assert_eq!(listed.text().await.unwrap(), "[]");
    Share::create(parlor, &conversation, Some(&["ben", "ann", "BEN"]), true).await;
}

#[tokio::test]
async fn a_stream_ends_with_the_right_to_read() {
    let mut team = Team::start(|_| {}).await;
    let [mut ann, mut ben, cat] = three_people(&mut team).await;
    let parlor = &team.parlor;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let share = Share::create(parlor, &conversation, Some(&["ben", "cat"]), true).await;
    let link = Share::create(parlor, &conversation, None, true).await;
    let nobody = team.browser().client;
    let (reader, other) = (ben.signed_in_client(), cat.signed_in_client());
    let mut signed_out = share.follow(parlor, &reader).await;
    let mut disabled = share.follow(parlor, &other).await;
    let mut anonymous = link.follow(parlor, &nobody).await;
    // A link is no matter of its reader's session.
    let mut by_link = link.follow(parlor, &reader).await;
    for stream in [&mut signed_out, &mut disabled, &mut anonymous, &mut by_link] {
        stream.next().await.expect("the state");
    }
    ben.submit("/sign-out", &[]).await;
    signed_out.expect_end().await;
    let user = ann.user_id("cat").await;
    ann.submit("/settings/users/disable", &[("user", &user)]).await;
    disabled.expect_end().await;
    parlor.turn(Some(&conversation), "Go on").await;
    for stream in [&mut anonymous, &mut by_link] {
        stream.until("complete").await;
    }
}

#[tokio::test]
async fn shares_of_a_disabled_account_open_nothing() {
    let mut team = Team::start(|_| {}).await;
    let [mut ann, ben, _] = three_people(&mut team).await;
    let user = ann.user_id("ben").await;
    team.parlor.client = ben.signed_in_client();
    let parlor = &team.parlor;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let link = Share::create(parlor, &conversation, None, true).await;
    let nobody = team.browser().client;
    let mut stream = link.follow(parlor, &nobody).await;
    stream.next().await.expect("the state");
    ann.submit("/settings/users/disable", &[("user", &user)]).await;
    stream.expect_end().await;
    assert_eq!(read_shared(parlor, &nobody, link.key()).await.0, 404);
    ann.submit("/settings/users/enable", &[("user", &user)]).await;
    assert_eq!(read_shared(parlor, &nobody, link.key()).await.0, 200);
}
