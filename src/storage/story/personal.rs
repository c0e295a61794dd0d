//! What a person sets for themselves: instructions and API tokens.

use super::*;

fn token(n: u8) -> (ApiToken, TokenHash) {
    let token = ApiToken {
        id: TokenId::new(),
        name: format!("script {n}"),
        beginning: format!("parlor_{n}"),
        created_at: NOON,
        expires_at: (n > 1).then_some(Timestamp(NOON.0 + i64::from(n))),
        last_used_at: None,
    };
    (token, TokenHash([n; 32]))
}

fn add(user_id: UserId, (token, hash): &(ApiToken, TokenHash)) -> Change {
    Change::AddToken {
        user_id,
        token: token.clone(),
        hash: *hash,
        limit: 2,
    }
}

fn revoke(user_id: UserId, (token, _): &(ApiToken, TokenHash)) -> Change {
    let token_id = token.id;
    Change::RevokeToken { user_id, token_id }
}

/// How often the log says that something has changed; it must not say what.
async fn told(storage: &dyn Storage, user_id: UserId) -> usize {
    let log = log(storage, user_id).await;
    let is_all = |event: &Event| {
        event.body == EventBody::SettingsChanged
            && event.conversation_id == ConversationId::NONE
            && event.message_id.is_none()
    };
    assert!(log.iter().all(is_all), "{log:?}");
    log.len()
}

#[tokio::test]
async fn instructions_are_the_last_ones_that_were_set() {
    let (folder, storage) = sqlite().await;
    assert_eq!(storage.instructions(ANN).await.unwrap(), "");
    for (user_id, text) in [(ANN, "Be kind."), (ANN, "Be brief."), (bob(), "Rhyme.")] {
        let text = text.into();
        let set = Change::SetInstructions { user_id, text };
        assert_eq!(do_one(&*storage, &set).await, Ok(Outcome::Forgotten));
    }
    assert_eq!((told(&*storage, ANN).await, told(&*storage, bob()).await), (2, 1));
    drop(storage);
    let storage = sqlite::Sqlite::open(folder.path())
        .await
        .expect("the same database");
    assert_eq!(storage.instructions(ANN).await.unwrap(), "Be brief.");
    assert_eq!(storage.instructions(bob()).await.unwrap(), "Rhyme.");
}

#[tokio::test]
async fn a_token_is_found_by_its_hash_until_it_is_revoked() {
    let (_folder, storage) = sqlite().await;
    let (one, two, three) = (token(1), token(2), token(3));
    for token in [&one, &two] {
        assert_eq!(do_one(&*storage, &add(ANN, token)).await, Ok(Outcome::Done));
    }
    assert_eq!(
        storage.api_tokens(ANN).await.unwrap(),
        [two.0.clone(), one.0.clone()],
        "newest first"
    );
    assert_eq!(
        storage.api_token(&two.1).await.unwrap(),
        Some((ANN, two.0.clone()))
    );
    assert_eq!(storage.api_token(&three.1).await.unwrap(), None);
    assert_eq!(
        do_one(&*storage, &add(ANN, &three)).await,
        Err(Refusal::TokensFull)
    );
    assert_eq!(
        do_one(&*storage, &revoke(ANN, &two)).await,
        Ok(Outcome::Forgotten)
    );
    assert_eq!(
        do_one(&*storage, &revoke(ANN, &two)).await,
        Err(Refusal::NotFound)
    );
    assert_eq!(storage.api_token(&two.1).await.unwrap(), None);
    assert_eq!(do_one(&*storage, &add(ANN, &three)).await, Ok(Outcome::Done));
    assert_eq!(told(&*storage, ANN).await, 4);
}

#[tokio::test]
async fn that_a_token_is_used_is_noted_and_is_no_news() {
    let (_folder, storage) = sqlite().await;
    let one = token(1);
    do_one(&*storage, &add(ANN, &one)).await.unwrap();
    let (user_id, token_id) = (ANN, one.0.id);
    do_one(&*storage, &Change::UseToken { user_id, token_id })
        .await
        .unwrap();
    let used = ApiToken {
        last_used_at: Some(NOON),
        ..one.0
    };
    assert_eq!(storage.api_tokens(ANN).await.unwrap(), [used]);
    assert_eq!(told(&*storage, ANN).await, 1);
}

#[tokio::test]
async fn one_persons_tokens_are_nothing_to_another() {
    let (_folder, storage) = sqlite().await;
    let one = token(1);
    do_one(&*storage, &add(ANN, &one)).await.unwrap();
    assert_eq!(storage.api_tokens(bob()).await.unwrap(), []);
    assert_eq!(
        do_one(&*storage, &revoke(bob(), &one)).await,
        Err(Refusal::NotFound)
    );
    let (user_id, token_id) = (bob(), one.0.id);
    do_one(&*storage, &Change::UseToken { user_id, token_id })
        .await
        .unwrap();
    assert_eq!(storage.api_token(&one.1).await.unwrap(), Some((ANN, one.0)));
}
