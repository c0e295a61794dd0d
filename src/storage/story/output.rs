//! What runs make: their text, and what goes with it for the person.

use super::*;

#[tokio::test]
async fn what_a_run_has_stored_is_not_put_together_again() {
    let (_folder, storage) = sqlite().await;
    let turn = turn(ANN, ConversationId::new(), "Hello");
    let run = turn.run;
    let append = |offset, words| Change::Append {
        run,
        events: vec![text(offset, words)],
    };
    // Not what the log says, to tell the two apart.
    let store = Change::Store {
        run,
        message: saying("stored"),
    };
    for change in [
        turn.change,
        append(0, "logged"),
        store.clone(),
        append(6, " and on"),
    ] {
        do_one(&*storage, &change).await.unwrap();
    }
    let (_, message) = storage.message(ANN, run.message_id).await.unwrap().unwrap();
    assert_eq!(message.assistant().unwrap().text(), "stored and on");
    do_one(&*storage, &end(run, "whole")).await.unwrap();
    assert_eq!(
        do_one(&*storage, &store).await,
        Err(Refusal::NotFound),
        "it has ended"
    );
    let (_, message) = storage.message(ANN, run.message_id).await.unwrap().unwrap();
    assert_eq!(message.assistant().unwrap().text(), "whole");
}

#[tokio::test]
async fn what_a_run_kept_and_did_not_show_goes_with_its_end() {
    let (_folder, storage) = sqlite().await;
    let turn = turn(ANN, ConversationId::new(), "Draw and list");
    do_one(&*storage, &turn.change).await.unwrap();
    let run = turn.run;
    let payload = |id: &str| Payload {
        payload_id: id.into(),
        kind: "table".into(),
        summary: id.into(),
        data: crate::protocol::Json::or_string("[]"),
    };
    let (shown, unseen) = (image(), image());
    for change in [
        Change::Keep {
            run,
            payload: payload("shown"),
        },
        Change::Keep {
            run,
            payload: payload("said"),
        },
        Change::Keep {
            run,
            payload: payload("unseen"),
        },
        Change::Attach {
            run,
            attachment: shown.clone(),
        },
        Change::Attach {
            run,
            attachment: unseen.clone(),
        },
    ] {
        assert_eq!(do_one(&*storage, &change).await, Ok(Outcome::Done));
    }
    let call = crate::protocol::AskedCall {
        node: 0,
        part: 0,
        index: 0,
        tool_use_id: "1".into(),
        tool: "draw".into(),
        input: crate::protocol::Json::or_string("{}"),
        label: "Drawing".into(),
        detail: None,
    };
    let events = vec![
        EventBody::ToolStart {
            call,
            started_at: NOON,
        },
        EventBody::ToolComplete {
            index: 0,
            tool_use_id: "1".into(),
            tool: "draw".into(),
            label: "Drew".into(),
            status: crate::protocol::ToolStatus::Complete,
            output: String::new(),
            payload: Some(payload("shown").reference()),
            attachments: vec![shown.attachment.clone()],
            ended_at: NOON,
        },
        EventBody::PayloadMade {
            node: 0,
            part: 1,
            payload: payload("said").reference(),
        },
        EventBody::ended(RunStatus::Stopped, None, NOON, 0),
    ];
    let mut message = AssistantMessage::started("x/m");
    for event in &events {
        transcript::apply_to_run(&mut message, event);
    }
    do_one(&*storage, &Change::End { run, events, message })
        .await
        .unwrap();

    for (id, is_kept) in [("said", true), ("shown", true), ("unseen", false)] {
        let kept = storage.payload(ANN, run.conversation_id, id).await.unwrap();
        assert_eq!(kept.is_some(), is_kept, "{id}");
    }
    let (shown_id, unseen_id) = (shown.attachment.id, unseen.attachment.id);
    assert_eq!(storage.attachment(ANN, shown_id).await.unwrap(), Some(shown));
    assert_eq!(storage.attachment(ANN, unseen_id).await.unwrap(), None);
    assert_eq!(
        storage.attachment(bob(), shown_id).await.unwrap(),
        None,
        "somebody else's"
    );

    let conversation_id = run.conversation_id;
    do_one(
        &*storage,
        &Change::Delete {
            user_id: ANN,
            conversation_id,
        },
    )
    .await
    .unwrap();
    assert_eq!(storage.attachment(ANN, shown_id).await.unwrap(), None);
}

/// A file that a tool has given.
fn image() -> StoredAttachment {
    StoredAttachment {
        attachment: Attachment {
            id: AttachmentId::new(),
            name: "map.png".into(),
            media_type: "image/png".into(),
            bytes: 3,
        },
        data: Bytes::from_static(b"map"),
    }
}
