//! Long conversations in pages.

use super::*;
use parlor_protocol::OlderMessages;

fn message_limit(messages: usize) -> PageSize {
    PageSize {
        messages,
        ..PageSize::UNLIMITED
    }
}

fn regenerate_change(run: RunKey) -> (Change, RunKey) {
    let other = RunKey {
        message_id: MessageId::new(),
        ..run
    };
    (regenerate(run, other), other)
}

fn ids(messages: &[Message]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id).collect()
}

async fn transcript_page(
    storage: &dyn Storage,
    id: ConversationId,
    size: PageSize,
    reach: Option<MessageId>,
) -> Transcript {
    let page = storage.transcript(TEST_USER, id, size, reach).await.unwrap();
    page.expect("it is there")
}

async fn older_page(
    storage: &dyn Storage,
    id: ConversationId,
    before: MessageId,
    size: PageSize,
) -> OlderMessages {
    let older = storage.older_messages(TEST_USER, id, before, size).await.unwrap();
    older.expect("it is there")
}

/// Builds a conversation with branches: a question with two answers, a second question after the second
/// answer, and one after the first answer. While that one is answered, the second answer is selected again.
async fn conversation_with_branches(storage: &dyn Storage) -> (ConversationId, Vec<Change>) {
    let id = ConversationId::new();
    let (one, two, three) = (
        new_turn(TEST_USER, id, "one"),
        new_turn(TEST_USER, id, "two"),
        new_turn(TEST_USER, id, "three"),
    );
    let (regenerate, other) = regenerate_change(one.run);
    let through = |through: MessageId| Change::Conversation {
        user_id: TEST_USER,
        conversation_id: id,
        change: ConversationChange::SelectBranch { through },
    };
    let say = |run: RunKey, answer: &str| Change::Output {
        run,
        output: RunOutput::AppendEvents {
            events: vec![text(0, answer)],
        },
    };
    let steps = vec![
        one.change,
        say(one.run, "first"),
        end_run(one.run, "first"),
        regenerate,
        say(other, "second"),
        end_run(other, "second"),
        two.change,
        say(two.run, "of the second"),
        end_run(two.run, "of the second"),
        through(one.run.message_id),
        three.change,
        say(three.run, "of the first"),
        through(other.message_id),
        end_run(three.run, "of the first"),
    ];
    for step in &steps[..steps.len() - 2] {
        commit_one(storage, step).await.expect("the step is fine");
    }
    (id, steps[steps.len() - 2..].to_vec())
}

pub async fn first_page_is_the_newest_part(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let (id, steps) = conversation_with_branches(&*storage).await;
    for step in &steps {
        commit_one(&*storage, step).await.expect("the step is fine");
        let full = folded_transcript(&*storage, id).await;
        for size in [1, 2, 3, 4, usize::MAX] {
            let mut newest = full.clone();
            newest.truncate_to_newest(size);
            assert_eq!(
                transcript_page(&*storage, id, message_limit(size), None).await,
                newest,
                "{size} after {step:?}"
            );
        }
    }
}

pub async fn older_pages_reach_the_first_message(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let (id, _) = conversation_with_branches(&*storage).await;
    let full = full_transcript(&*storage, id).await.unwrap();
    let mut shown = transcript_page(&*storage, id, message_limit(1), None).await;
    let mut pages = 1;
    while let Some(before) = shown.earliest {
        shown.prepend(older_page(&*storage, id, before, message_limit(2)).await);
        pages += 1;
    }
    assert_eq!((ids(&shown.messages), pages), (ids(&full.messages), 3));
    let first = full.messages[0].id;
    let none = older_page(&*storage, id, first, message_limit(2)).await;
    assert_eq!((none.messages, none.earliest), (vec![], None));
}

pub async fn any_message_selects_its_branch(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let (id, steps) = conversation_with_branches(&*storage).await;
    let before = full_transcript(&*storage, id).await.unwrap();
    commit_one(&*storage, &steps[0]).await.unwrap();
    let after = full_transcript(&*storage, id).await.unwrap();
    let texts = |page: &Transcript| -> Vec<String> {
        let text = |message: &&Message| match &message.body {
            MessageBody::User { text, .. } => text.clone(),
            MessageBody::Assistant(assistant) => assistant.text(),
            MessageBody::Damaged => String::new(),
        };
        page.shown_branch().iter().map(text).collect()
    };
    assert_eq!(texts(&before), ["one", "first", "three", "of the first"]);
    assert_eq!(texts(&after), ["one", "second", "two", "of the second"]);
    assert_eq!(
        after.active_run(),
        before.active_leaf,
        "the active run is included"
    );
    let answer = after.shown_branch()[1];
    assert_eq!(after.siblings(answer), before.siblings(before.shown_branch()[1]));
    assert_eq!(after.siblings(answer).len(), 2);

    // The second answer is newer, but the first one has the newer follow-up.
    let through = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: id,
        change: ConversationChange::SelectBranch {
            through: after.shown_branch()[0].id,
        },
    };
    commit_one(&*storage, &through).await.unwrap();
    let last_grown = full_transcript(&*storage, id).await.unwrap();
    assert_eq!(texts(&last_grown), texts(&before));
}

pub async fn a_page_reaches_the_requested_message(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let (id, steps) = conversation_with_branches(&*storage).await;
    let old = full_transcript(&*storage, id).await.unwrap();
    let reach = Some(old.shown_branch()[1].id);
    // The answer belongs to another branch than the shown one; the events after it are included.
    commit_one(&*storage, &steps[0]).await.unwrap();
    let new = transcript_page(&*storage, id, message_limit(1), reach).await;
    assert_eq!(new.shown_branch().len(), 4, "{new:?}");
    assert_eq!(
        transcript_page(&*storage, id, message_limit(1), Some(MessageId::new()))
            .await
            .shown_branch()
            .len(),
        1
    );
}

pub async fn long_messages_shorten_a_page(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let long = "x".repeat(10_000);
    for _ in 0..3 {
        let turn = new_turn(TEST_USER, id, &long);
        commit_one(&*storage, &turn.change).await.unwrap();
        commit_one(&*storage, &end_run(turn.run, &long)).await.unwrap();
    }
    for (bytes, count) in [(1, 1), (10_001, 1), (20_000, 2), (20_200, 3)] {
        let size = PageSize { messages: 40, bytes };
        assert_eq!(
            transcript_page(&*storage, id, size, None).await.messages.len(),
            count,
            "{bytes}"
        );
    }
}

pub async fn older_messages_are_private(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let (id, _) = conversation_with_branches(&*storage).await;
    let last = transcript_page(&*storage, id, message_limit(1), None)
        .await
        .messages[0]
        .id;
    let other = storage
        .older_messages(other_user(), id, last, PageSize::UNLIMITED)
        .await
        .unwrap();
    assert_eq!(other, None);
    let elsewhere = storage
        .older_messages(TEST_USER, ConversationId::new(), last, PageSize::UNLIMITED)
        .await;
    assert_eq!(elsewhere.unwrap(), None);
}
