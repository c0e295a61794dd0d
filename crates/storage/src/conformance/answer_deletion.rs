//! The deletion of an answer, which leaves its question.

use super::{
    deletion::{erase, hide, restore},
    *,
};

pub async fn an_answer_is_deleted_without_its_question(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let turns = ["first", "kept", "follows"].map(|text| new_turn(TEST_USER, id, text));
    let [_, second, third] = &turns;
    for turn in &turns {
        commit_one(&*storage, &turn.change).await.unwrap();
        let answer = hide(id, turn.run.message_id);
        let active = commit_one(&*storage, &answer).await;
        assert_eq!(active, Err(ChangeRejection::RunActive));
        commit_one(&*storage, &answer_run(turn.run, "a secret", RunStatus::Complete))
            .await
            .unwrap();
    }
    let all = full_transcript(&*storage, id).await.unwrap();
    let answer = second.run.message_id;
    let hidden = commit_and_fold(&*storage, id, &hide(id, answer)).await;
    assert_eq!(hidden.messages, all.messages[..3]);
    assert_eq!(hidden.active_leaf, Some(second.user_message_id));
    let erased = commit_one(&*storage, &erase(id, answer)).await;
    assert_eq!(erased, Ok(Outcome::DataDeleted));
    let shown = full_transcript(&*storage, id).await.unwrap();
    assert_eq!(shown.messages, all.messages[..3]);
    assert_eq!(storage.run(TEST_USER, third.run.message_id).await.unwrap(), None);
    let log = async || serde_json::to_string(&read_log(&*storage, TEST_USER).await).unwrap();
    let kept = log().await;
    assert_eq!(kept.matches("a secret").count(), 1, "of the first answer: {kept}");
    assert!(kept.contains("kept") && !kept.contains("follows"), "{kept}");
    // The conversation goes on from the question.
    let next = new_turn(TEST_USER, id, "next");
    commit_and_fold(&*storage, id, &next.change).await;
    let shown = commit_and_fold(&*storage, id, &answer_run(next.run, "x", RunStatus::Complete)).await;
    assert_eq!(shown.messages.len(), 5);
    assert_eq!(shown.messages[3].parent_id, Some(second.user_message_id));
    // The question's event has outlived its answer, and goes with the question.
    let question = second.user_message_id;
    commit_one(&*storage, &hide(id, question)).await.unwrap();
    commit_one(&*storage, &erase(id, question)).await.unwrap();
    let left = log().await;
    assert!(
        left.contains("first") && !left.contains("kept") && !left.contains("next"),
        "{left}"
    );
}

pub async fn deleting_an_answer_shows_the_other(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let first = new_turn(TEST_USER, id, "first");
    commit_one(&*storage, &first.change).await.unwrap();
    commit_one(&*storage, &answer_run(first.run, "answer", RunStatus::Complete))
        .await
        .unwrap();
    let other = RunKey {
        message_id: MessageId::new(),
        ..first.run
    };
    commit_one(&*storage, &regenerate(first.run, other))
        .await
        .unwrap();
    commit_one(&*storage, &answer_run(other, "other answer", RunStatus::Complete))
        .await
        .unwrap();
    let shown = commit_and_fold(&*storage, id, &hide(id, other.message_id)).await;
    assert_eq!(shown.active_leaf, Some(first.run.message_id));
    assert_eq!(shown.siblings(&shown.messages[1]), [first.run.message_id]);
    // The first answer's events include the question's, which stays.
    let shown = commit_and_fold(&*storage, id, &hide(id, first.run.message_id)).await;
    assert_eq!(shown.active_leaf, Some(first.user_message_id));
    commit_one(&*storage, &erase(id, first.run.message_id))
        .await
        .unwrap();
    let shown = full_transcript(&*storage, id).await.unwrap();
    assert_eq!(shown.messages.len(), 1);
    commit_one(&*storage, &restore(id, other.message_id))
        .await
        .unwrap();
    let restored = full_transcript(&*storage, id).await.unwrap();
    let ids: Vec<_> = restored.messages.iter().map(|message| message.id).collect();
    assert_eq!(ids, [first.user_message_id, other.message_id]);
}

/// Messages that were sent meanwhile and the restored answer both follow the question: each can be shown.
pub async fn an_answer_restored_after_the_next_message_hides_nothing(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let [first, next] = ["first", "next"].map(|text| new_turn(TEST_USER, id, text));
    commit_one(&*storage, &first.change).await.unwrap();
    commit_one(&*storage, &end_run(first.run, "answer"))
        .await
        .unwrap();
    let answer = first.run.message_id;
    commit_one(&*storage, &hide(id, answer)).await.unwrap();
    commit_one(&*storage, &next.change).await.unwrap();
    commit_one(&*storage, &end_run(next.run, "other answer"))
        .await
        .unwrap();
    commit_one(&*storage, &restore(id, answer)).await.unwrap();
    let restored = full_transcript(&*storage, id).await.unwrap();
    assert_eq!(restored.active_leaf, Some(answer));
    let both = [answer, next.user_message_id];
    assert_eq!(restored.siblings(&restored.messages[1]), both);
    let select = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: id,
        change: ConversationChange::SelectBranch {
            through: next.user_message_id,
        },
    };
    commit_one(&*storage, &select).await.unwrap();
    let shown = full_transcript(&*storage, id).await.unwrap();
    assert_eq!(shown.active_leaf, Some(next.run.message_id));
}
