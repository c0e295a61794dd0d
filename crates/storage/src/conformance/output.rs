//! The output of runs: text, payloads and files.

use super::{files::image_file, *};

pub async fn stored_output_is_not_folded_again(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn = new_turn(TEST_USER, ConversationId::new(), "Hello");
    let run = turn.run;
    let append = |offset, delta| Change::Output {
        run,
        output: RunOutput::AppendEvents {
            events: vec![text(offset, delta)],
        },
    };
    // Differs from the log, to tell the two apart.
    let store = Change::Output {
        run,
        output: RunOutput::StoreMessage {
            message: answer_message("stored"),
        },
    };
    for change in [
        turn.change,
        append(0, "logged"),
        store.clone(),
        append(6, " and on"),
    ] {
        commit_one(&*storage, &change).await.unwrap();
    }
    let (_, message) = storage.message(TEST_USER, run.message_id).await.unwrap().unwrap();
    assert_eq!(message.assistant().unwrap().text(), "stored and on");
    commit_one(&*storage, &end_run(run, "whole")).await.unwrap();
    assert_eq!(
        commit_one(&*storage, &store).await,
        Err(ChangeRejection::NotFound),
        "it has ended"
    );
    let (_, message) = storage.message(TEST_USER, run.message_id).await.unwrap().unwrap();
    assert_eq!(message.assistant().unwrap().text(), "whole");
}

pub async fn ending_a_run_deletes_unshown_artifacts(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let deletions = storage.watch_deletions().await;
    let earlier = new_turn(TEST_USER, ConversationId::new(), "Hello");
    commit_one(&*storage, &earlier.change).await.unwrap();
    commit_one(&*storage, &end_run(earlier.run, "Hello."))
        .await
        .unwrap();
    let turn = new_turn(TEST_USER, ConversationId::new(), "Draw and list");
    commit_one(&*storage, &turn.change).await.unwrap();
    let run = turn.run;
    let [shown, unseen, rows, unseen_rows] = [(); 4].map(|()| image_file(TEST_USER, run.conversation_id));
    let payload = |id: &str| Payload {
        payload_id: id.into(),
        kind: "table".into(),
        summary: id.into(),
        data: RawJson::parse_or_quote(&match id {
            "shown" => format!(r#"{{"stored":{{"file":"{}"}}}}"#, rows.attachment.id),
            "unseen" => format!(r#"{{"stored":{{"file":"{}"}}}}"#, unseen_rows.attachment.id),
            _ => "[]".to_owned(),
        }),
    };
    for change in [
        Change::Output {
            run,
            output: RunOutput::StorePayload {
                payload: payload("shown"),
            },
        },
        Change::Output {
            run,
            output: RunOutput::StorePayload {
                payload: payload("said"),
            },
        },
        Change::Output {
            run,
            output: RunOutput::StorePayload {
                payload: payload("unseen"),
            },
        },
        Change::Output {
            run,
            output: RunOutput::StoreAttachment {
                attachment: shown.clone(),
            },
        },
        Change::Output {
            run,
            output: RunOutput::StoreAttachment {
                attachment: unseen.clone(),
            },
        },
        Change::Output {
            run,
            output: RunOutput::StoreAttachment {
                attachment: rows.clone(),
            },
        },
        Change::Output {
            run,
            output: RunOutput::StoreAttachment {
                attachment: unseen_rows.clone(),
            },
        },
    ] {
        assert_eq!(commit_one(&*storage, &change).await, Ok(Outcome::Done));
    }
    let [start, complete] = draw_events(Some(payload("shown").to_ref()), &shown);
    let events = vec![
        start,
        complete,
        RunEvent::PayloadMade {
            node: 0,
            part: 1,
            payload: payload("said").to_ref(),
        },
        RunEvent::run_ended(RunStatus::Stopped, None, NOON, 0),
    ];
    let mut message = AssistantMessage::new("x/m");
    for event in &events {
        transcript::apply_to_run(&mut message, event);
    }
    assert!(!deletions.has_changed().unwrap(), "nothing was deleted");
    commit_one(
        &*storage,
        &Change::Output {
            run,
            output: RunOutput::EndRun { events, message },
        },
    )
    .await
    .unwrap();
    assert!(deletions.has_changed().unwrap());

    for (id, is_kept) in [("said", true), ("shown", true), ("unseen", false)] {
        let kept = storage.payload(TEST_USER, run.conversation_id, id).await.unwrap();
        assert_eq!(kept.is_some(), is_kept, "{id}");
    }
    let (shown_id, unseen_id) = (shown.attachment.id, unseen.attachment.id);
    assert_eq!(storage.file(TEST_USER, shown_id).await.unwrap(), Some(shown));
    assert_eq!(storage.file(TEST_USER, unseen_id).await.unwrap(), None);
    assert_eq!(
        storage.file(other_user(), shown_id).await.unwrap(),
        None,
        "somebody else's"
    );
    // The file that a payload names is shown with it.
    let rows_id = rows.attachment.id;
    assert_eq!(
        storage.file(TEST_USER, rows_id).await.unwrap(),
        Some(rows.clone())
    );
    let unseen_id = unseen_rows.attachment.id;
    assert_eq!(storage.file(TEST_USER, unseen_id).await.unwrap(), None);

    let conversation_id = run.conversation_id;
    commit_one(
        &*storage,
        &Change::Conversation {
            user_id: TEST_USER,
            conversation_id,
            change: ConversationChange::Delete,
        },
    )
    .await
    .unwrap();
    assert_eq!(storage.file(TEST_USER, shown_id).await.unwrap(), None);
}
