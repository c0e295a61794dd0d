//! A user's own settings: instructions and API tokens.

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

fn add_token(user_id: UserId, (token, hash): &(ApiToken, TokenHash)) -> Change {
    Change::Personal {
        user_id,
        change: PersonalChange::AddToken {
            token: token.clone(),
            hash: *hash,
            limit: 2,
        },
    }
}

fn revoke_token(user_id: UserId, (token, _): &(ApiToken, TokenHash)) -> Change {
    let token_id = token.id;
    Change::Personal {
        user_id,
        change: PersonalChange::RevokeToken { token_id },
    }
}

/// Counts the events about changed settings, and checks that they contain no content.
async fn count_settings_events(storage: &dyn Storage, user_id: UserId) -> usize {
    let log = read_log(storage, user_id).await;
    let is_all = |event: &Event| {
        event.body == EventBody::User(UserEvent::SettingsChanged)
            && event.conversation_id == ConversationId::NONE
            && event.message_id.is_none()
    };
    assert!(log.iter().all(is_all), "{log:?}");
    log.len()
}

pub async fn the_last_instructions_count(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    assert_eq!(storage.instructions(TEST_USER).await.unwrap(), "");
    for (user_id, text) in [
        (TEST_USER, "Be kind."),
        (TEST_USER, "Be brief."),
        (other_user(), "Rhyme."),
    ] {
        let text = text.into();
        let set = Change::Personal {
            user_id,
            change: PersonalChange::SetInstructions { text },
        };
        assert_eq!(commit_one(&*storage, &set).await, Ok(Outcome::DataDeleted));
    }
    assert_eq!(
        (
            count_settings_events(&*storage, TEST_USER).await,
            count_settings_events(&*storage, other_user()).await
        ),
        (2, 1)
    );
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    assert_eq!(storage.instructions(TEST_USER).await.unwrap(), "Be brief.");
    assert_eq!(storage.instructions(other_user()).await.unwrap(), "Rhyme.");
}

pub async fn finds_a_token_until_it_is_revoked(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let (one, two, three) = (token(1), token(2), token(3));
    for token in [&one, &two] {
        assert_eq!(
            commit_one(&*storage, &add_token(TEST_USER, token)).await,
            Ok(Outcome::Done)
        );
    }
    assert_eq!(
        storage.api_tokens(TEST_USER).await.unwrap(),
        [two.0.clone(), one.0.clone()],
        "newest first"
    );
    assert_eq!(
        storage.api_token(&two.1).await.unwrap(),
        Some((TEST_USER, two.0.clone()))
    );
    assert_eq!(storage.api_token(&three.1).await.unwrap(), None);
    assert_eq!(
        commit_one(&*storage, &add_token(TEST_USER, &three)).await,
        Err(ChangeRejection::TokensFull)
    );
    assert_eq!(
        commit_one(&*storage, &revoke_token(TEST_USER, &two)).await,
        Ok(Outcome::DataDeleted)
    );
    assert_eq!(
        commit_one(&*storage, &revoke_token(TEST_USER, &two)).await,
        Err(ChangeRejection::NotFound)
    );
    assert_eq!(storage.api_token(&two.1).await.unwrap(), None);
    assert_eq!(
        commit_one(&*storage, &add_token(TEST_USER, &three)).await,
        Ok(Outcome::Done)
    );
    assert_eq!(count_settings_events(&*storage, TEST_USER).await, 4);
}

pub async fn token_use_is_recorded_without_an_event(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let one = token(1);
    commit_one(&*storage, &add_token(TEST_USER, &one)).await.unwrap();
    let (user_id, token_id) = (TEST_USER, one.0.id);
    commit_one(
        &*storage,
        &Change::Personal {
            user_id,
            change: PersonalChange::RecordTokenUse { token_id },
        },
    )
    .await
    .unwrap();
    let used = ApiToken {
        last_used_at: Some(NOON),
        ..one.0
    };
    assert_eq!(storage.api_tokens(TEST_USER).await.unwrap(), [used]);
    assert_eq!(count_settings_events(&*storage, TEST_USER).await, 1);
}

pub async fn tokens_are_separate_per_user(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let one = token(1);
    commit_one(&*storage, &add_token(TEST_USER, &one)).await.unwrap();
    assert_eq!(storage.api_tokens(other_user()).await.unwrap(), []);
    assert_eq!(
        commit_one(&*storage, &revoke_token(other_user(), &one)).await,
        Err(ChangeRejection::NotFound)
    );
    let (user_id, token_id) = (other_user(), one.0.id);
    commit_one(
        &*storage,
        &Change::Personal {
            user_id,
            change: PersonalChange::RecordTokenUse { token_id },
        },
    )
    .await
    .unwrap();
    assert_eq!(storage.api_token(&one.1).await.unwrap(), Some((TEST_USER, one.0)));
}

pub async fn a_new_user_has_seen_the_running_version(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    assert_eq!(storage.seen_version(TEST_USER).await.unwrap(), None);
    commit_one(&*storage, &add_token(TEST_USER, &token(1)))
        .await
        .unwrap();
    let seen = storage.seen_version(TEST_USER).await.unwrap();
    assert_eq!(seen.as_deref(), Some(env!("CARGO_PKG_VERSION")));
    let later = Change::Personal {
        user_id: TEST_USER,
        change: PersonalChange::SetSeenVersion {
            version: "12.0.1".into(),
        },
    };
    commit_one(&*storage, &later).await.unwrap();
    let seen = storage.seen_version(TEST_USER).await.unwrap();
    assert_eq!(seen.as_deref(), Some("12.0.1"));
    assert_eq!(storage.seen_version(other_user()).await.unwrap(), None);
    assert_eq!(count_settings_events(&*storage, TEST_USER).await, 2);
}
