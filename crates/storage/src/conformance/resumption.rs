//! Runs that an earlier process left running, and that go on by themselves.

use super::*;

fn resume(run: RunKey) -> Change {
    Change::Run(RunChange::Resume { run })
}

pub(super) async fn a_resumed_run_keeps_its_place(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    let conversation = ConversationId::new();
    let turn = new_turn(TEST_USER, conversation, "question");
    commit_one(&*storage, &turn.change).await.expect("it is saved");
    let other = regenerate(
        turn.run,
        RunKey {
            message_id: MessageId::new(),
            ..turn.run
        },
    );
    let half = Change::Output {
        run: turn.run,
        output: RunOutput::AppendEvents {
            events: vec![text(0, "half")],
        },
    };
    commit_one(&*storage, &half).await.expect("it is stored");
    assert_eq!(
        commit_one(&*storage, &other).await,
        Err(ChangeRejection::RunActive)
    );
    let begun = storage.running_runs().await.expect("storage works");
    drop(storage);

    let storage = open_storage(backend, &folder).await;
    let before = storage
        .conversations(TEST_USER, None, 10)
        .await
        .expect("storage works");
    let resumed = commit_and_fold(&*storage, conversation, &resume(turn.run)).await;
    let answer = resumed.messages[1].assistant().expect("an answer");
    assert_eq!(
        (answer.status, answer.resumptions, answer.text()),
        (RunStatus::Running, 1, "half".to_owned())
    );
    // Nobody has done anything: the conversation keeps its place in the list.
    let after = storage
        .conversations(TEST_USER, None, 10)
        .await
        .expect("storage works");
    assert_eq!(after.conversations, before.conversations);
    let again = commit_and_fold(&*storage, conversation, &resume(turn.run)).await;
    assert_eq!(again.messages[1].assistant().expect("an answer").resumptions, 2);
    let running = storage.running_runs().await.expect("storage works");
    assert_eq!(
        running[0].first_position, begun[0].first_position,
        "a client may read all of it"
    );
}

pub(super) async fn only_a_running_run_is_resumed(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation = ConversationId::new();
    let turn = new_turn(TEST_USER, conversation, "question");
    commit_one(&*storage, &turn.change).await.expect("it is saved");
    let foreign = RunKey {
        user_id: other_user(),
        ..turn.run
    };
    let elsewhere = RunKey {
        conversation_id: ConversationId::new(),
        ..turn.run
    };
    let of_question = RunKey {
        message_id: turn.user_message_id,
        ..turn.run
    };
    for run in [foreign, elsewhere, of_question] {
        assert_eq!(
            commit_one(&*storage, &resume(run)).await,
            Err(ChangeRejection::NotFound)
        );
    }
    commit_one(&*storage, &answer_run(turn.run, "done", RunStatus::Stopped))
        .await
        .expect("it ends");
    assert_eq!(
        commit_one(&*storage, &resume(turn.run)).await,
        Err(ChangeRejection::NotFound)
    );
}

pub async fn output_for_a_run_of_another_process_is_refused(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    let conversation = ConversationId::new();
    let turn = new_turn(TEST_USER, conversation, "question");
    commit_one(&*storage, &turn.change).await.expect("it is saved");
    let append = |offset, words: &str| Change::Output {
        run: turn.run,
        output: RunOutput::AppendEvents {
            events: vec![text(offset, words)],
        },
    };
    commit_one(&*storage, &append(0, "one")).await.expect("its own");
    drop(storage);

    // The next process has not taken the run.
    let storage = open_storage(backend, &folder).await;
    let before = read_log(&*storage, TEST_USER).await;
    let message = answer_message("late");
    let late = [
        append(3, "late"),
        Change::Output {
            run: turn.run,
            output: RunOutput::StoreMessage { message },
        },
        answer_run(turn.run, "late", RunStatus::Complete),
    ];
    for late in &late {
        assert_eq!(commit_one(&*storage, late).await, Err(ChangeRejection::FenceLost));
    }
    assert_eq!(read_log(&*storage, TEST_USER).await, before);
    let take = Change::Run(RunChange::TakeOver { run: turn.run });
    commit_one(&*storage, &take).await.expect("it is taken");
    commit_and_fold(&*storage, conversation, &append(3, ", two")).await;
    let ended = answer_run(turn.run, "", RunStatus::Stopped);
    commit_one(&*storage, &ended).await.expect("its own");
}
