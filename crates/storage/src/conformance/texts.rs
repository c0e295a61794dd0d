//! Texts: whatever a user, a model or a tool writes comes back as it was.

use super::*;

/// Characters that a database may treat specially: U+0000, which Postgres refuses, and the mark that stands for it there.
const ODD: &str = "a\0b\u{7f}0\u{7f}1\u{7f}\u{1}\u{feff}\u{10ffff} \\u0000 '\"\\ \r\n%_";

pub async fn any_text_comes_back_unchanged(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let turn = new_turn(TEST_USER, conversation_id, ODD);
    commit_one(&*storage, &turn.change).await.unwrap();
    let payload = Payload {
        payload_id: "p\0\u{7f}".into(),
        kind: "text".into(),
        summary: ODD.into(),
        data: RawJson::parse_or_quote(&serde_json::to_string(ODD).unwrap()),
    };
    let (run, stored) = (turn.run, payload.clone());
    let output = RunOutput::StorePayload { payload: stored };
    commit_one(&*storage, &Change::Output { run, output })
        .await
        .unwrap();
    let found = storage
        .payloads(TEST_USER, conversation_id, &[&payload.payload_id], 1000)
        .await;
    assert_eq!(found.unwrap(), std::slice::from_ref(&payload));

    let personal = |change| Change::Personal {
        user_id: TEST_USER,
        change,
    };
    let text = ODD.to_owned();
    for change in [
        Change::Output {
            run,
            output: RunOutput::StoreSummary {
                summary: HistorySummary {
                    last_message_id: turn.user_message_id,
                    text: text.clone(),
                },
            },
        },
        Change::Conversation {
            user_id: TEST_USER,
            conversation_id,
            change: ConversationChange::AllowTool { tool: text.clone() },
        },
        personal(PersonalChange::SetInstructions { text: text.clone() }),
        end_run(run, ODD),
    ] {
        commit_one(&*storage, &change).await.unwrap();
    }
    let next = new_turn(TEST_USER, conversation_id, "And?");
    commit_one(&*storage, &next.change).await.unwrap();
    let context = storage.run_context(next.run).await.unwrap().unwrap();
    assert_eq!(context.instructions, ODD);
    assert_eq!(context.allowed_tools, [ODD]);
    assert_eq!(context.options.summaries[0].text, ODD);
    let transcript = full_transcript(&*storage, conversation_id).await.unwrap();
    let MessageBody::User { text: asked, .. } = &transcript.messages[0].body else {
        panic!("it begins with the question")
    };
    assert_eq!(asked, ODD);
    assert_eq!(transcript.messages[1].assistant().unwrap().text(), ODD);
    let folded = folded_transcript(&*storage, conversation_id).await;
    assert_eq!(folded.title, transcript.title);
    // The first message is erased from the log, which has such texts.
    let hide = |change| Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change,
    };
    let (message_id, hidden_at) = (turn.user_message_id, NOON);
    let delete = hide(ConversationChange::Delete);
    commit_one(&*storage, &end_run(next.run, ODD)).await.unwrap();
    for change in [
        hide(ConversationChange::DeleteMessage {
            message_id,
            hidden_at,
        }),
        hide(ConversationChange::EraseMessage {
            message_id,
            hidden_at,
        }),
        delete,
    ] {
        commit_one(&*storage, &change).await.unwrap();
    }
    assert_eq!(full_transcript(&*storage, conversation_id).await, None);
}
