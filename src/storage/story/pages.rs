//! Long conversations, read page by page.

use super::*;
use crate::protocol::OlderMessages;

fn messages(messages: usize) -> PageSize {
    PageSize {
        messages,
        ..PageSize::WHOLE
    }
}

fn again(run: RunKey) -> (Change, RunKey) {
    let other = RunKey {
        message_id: MessageId::new(),
        ..run
    };
    (regenerate(run, other), other)
}

fn ids(messages: &[Message]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id).collect()
}

async fn page(
    storage: &dyn Storage,
    id: ConversationId,
    size: PageSize,
    reach: Option<MessageId>,
) -> Transcript {
    let page = storage.transcript(ANN, id, size, reach).await.unwrap();
    page.expect("it is there")
}

async fn older(
    storage: &dyn Storage,
    id: ConversationId,
    before: MessageId,
    size: PageSize,
) -> OlderMessages {
    let older = storage.older_messages(ANN, id, before, size).await.unwrap();
    older.expect("it is there")
}

/// Ann asks, has it answered twice, asks on, goes back to the first answer, asks on from there, and while that is being
/// answered looks at the second one again.
async fn conversation_with_branches(storage: &dyn Storage) -> (ConversationId, Vec<Change>) {
    let id = ConversationId::new();
    let (one, two, three) = (turn(ANN, id, "one"), turn(ANN, id, "two"), turn(ANN, id, "three"));
    let (regenerate, other) = again(one.run);
    let through = |through: MessageId| Change::SelectBranch {
        user_id: ANN,
        conversation_id: id,
        through,
    };
    let say = |run: RunKey, answer: &str| Change::Append {
        run,
        events: vec![text(0, answer)],
    };
    let steps = vec![
        one.change,
        say(one.run, "first"),
        end(one.run, "first"),
        regenerate,
        say(other, "second"),
        end(other, "second"),
        two.change,
        say(two.run, "of the second"),
        end(two.run, "of the second"),
        through(one.run.message_id),
        three.change,
        say(three.run, "of the first"),
        through(other.message_id),
        end(three.run, "of the first"),
    ];
    for step in &steps[..steps.len() - 2] {
        do_one(storage, step).await.expect("the step is fine");
    }
    (id, steps[steps.len() - 2..].to_vec())
}

#[tokio::test]
async fn a_page_is_the_newest_part_of_the_branch_that_is_shown() {
    let (_folder, storage) = sqlite().await;
    let (id, steps) = conversation_with_branches(&*storage).await;
    for step in &steps {
        do_one(&*storage, step).await.expect("the step is fine");
        let whole = folded(&*storage, id).await;
        for size in [1, 2, 3, 4, usize::MAX] {
            let mut newest = whole.clone();
            newest.keep_newest(size);
            assert_eq!(
                page(&*storage, id, messages(size), None).await,
                newest,
                "{size} after {step:?}"
            );
        }
    }
}

#[tokio::test]
async fn older_pages_lead_to_the_beginning() {
    let (_folder, storage) = sqlite().await;
    let (id, _) = conversation_with_branches(&*storage).await;
    let whole = whole(&*storage, id).await.unwrap();
    let mut shown = page(&*storage, id, messages(1), None).await;
    let mut pages = 1;
    while let Some(before) = shown.earliest {
        shown.prepend(older(&*storage, id, before, messages(2)).await);
        pages += 1;
    }
    assert_eq!((ids(&shown.messages), pages), (ids(&whole.messages), 3));
    let first = whole.messages[0].id;
    let none = older(&*storage, id, first, messages(2)).await;
    assert_eq!((none.messages, none.earliest), (vec![], None));
}

#[tokio::test]
async fn a_branch_is_chosen_by_any_message_of_it() {
    let (_folder, storage) = sqlite().await;
    let (id, steps) = conversation_with_branches(&*storage).await;
    let before = whole(&*storage, id).await.unwrap();
    do_one(&*storage, &steps[0]).await.unwrap();
    let after = whole(&*storage, id).await.unwrap();
    let texts = |page: &Transcript| -> Vec<String> {
        let text = |message: &&Message| match &message.body {
            MessageBody::User { text, .. } => text.clone(),
            MessageBody::Assistant(assistant) => assistant.text(),
            MessageBody::Damaged => String::new(),
        };
        page.branch().iter().map(text).collect()
    };
    assert_eq!(texts(&before), ["one", "first", "three", "of the first"]);
    assert_eq!(texts(&after), ["one", "second", "two", "of the second"]);
    assert_eq!(
        after.active_run(),
        before.active_leaf,
        "the run goes on, and is here"
    );
    let answer = after.branch()[1];
    assert_eq!(after.siblings(answer), before.siblings(before.branch()[1]));
    assert_eq!(after.siblings(answer).len(), 2);

    // The second answer is the newer one; but the first was asked on from later.
    let through = Change::SelectBranch {
        user_id: ANN,
        conversation_id: id,
        through: after.branch()[0].id,
    };
    do_one(&*storage, &through).await.unwrap();
    let last_grown = whole(&*storage, id).await.unwrap();
    assert_eq!(texts(&last_grown), texts(&before));
}

#[tokio::test]
async fn a_page_goes_back_as_far_as_it_has_to() {
    let (_folder, storage) = sqlite().await;
    let (id, steps) = conversation_with_branches(&*storage).await;
    let old = whole(&*storage, id).await.unwrap();
    let reach = Some(old.branch()[1].id);
    // The answer is of another branch than the one that is shown now: what came after it is here.
    do_one(&*storage, &steps[0]).await.unwrap();
    let new = page(&*storage, id, messages(1), reach).await;
    assert_eq!(new.branch().len(), 4, "{new:?}");
    assert_eq!(
        page(&*storage, id, messages(1), Some(MessageId::new()))
            .await
            .branch()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_page_of_long_messages_is_short() {
    let (_folder, storage) = sqlite().await;
    let id = ConversationId::new();
    let long = "x".repeat(10_000);
    for _ in 0..3 {
        let turn = turn(ANN, id, &long);
        do_one(&*storage, &turn.change).await.unwrap();
        do_one(&*storage, &end(turn.run, &long)).await.unwrap();
    }
    for (bytes, count) in [(1, 1), (10_001, 1), (20_000, 2), (20_200, 3)] {
        let size = PageSize { messages: 40, bytes };
        assert_eq!(
            page(&*storage, id, size, None).await.messages.len(),
            count,
            "{bytes}"
        );
    }
}

#[tokio::test]
async fn nobody_else_reads_older_messages() {
    let (_folder, storage) = sqlite().await;
    let (id, _) = conversation_with_branches(&*storage).await;
    let last = page(&*storage, id, messages(1), None).await.messages[0].id;
    let other = storage
        .older_messages(bob(), id, last, PageSize::WHOLE)
        .await
        .unwrap();
    assert_eq!(other, None);
    let elsewhere = storage
        .older_messages(ANN, ConversationId::new(), last, PageSize::WHOLE)
        .await;
    assert_eq!(elsewhere.unwrap(), None);
}
