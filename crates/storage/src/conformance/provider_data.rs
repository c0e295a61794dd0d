//! Provider-specific data.

use super::*;
use parlor_protocol::{PlacedProviderData, ProviderData};

fn placed_provider_data(node: usize, part: Option<usize>, value: &str) -> PlacedProviderData {
    PlacedProviderData {
        node,
        part,
        endpoint: "x".into(),
        data: ProviderData {
            kind: "openai".into(),
            field: "extra_content".into(),
            value: RawJson::parse_or_quote(value),
        },
    }
}

pub async fn run_context_has_provider_data_of_its_branch(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let first = new_turn(TEST_USER, conversation_id, "Hello");
    // Unusual formatting that no serializer produces.
    let odd = r#"{ "b":1.0e2, "a" : "\u00e9" }"#;
    let given = [
        placed_provider_data(0, Some(1), odd),
        placed_provider_data(0, None, "[]"),
        placed_provider_data(1, Some(0), "2"),
    ];
    commit_one(&*storage, &first.change).await.unwrap();
    for placed in given.clone() {
        let run = first.run;
        let kept = commit_one(
            &*storage,
            &Change::Output {
                run,
                output: RunOutput::StoreProviderData { placed },
            },
        )
        .await;
        assert_eq!(kept, Ok(Outcome::Done));
    }
    let expected = HashMap::from([(first.run.message_id, given.to_vec())]);
    let context = storage.run_context(first.run).await.unwrap().unwrap();
    assert_eq!(context.provider_data, expected, "a continued run has its data");

    commit_one(&*storage, &end_run(first.run, "Hi")).await.unwrap();
    let second = new_turn(TEST_USER, conversation_id, "And?");
    commit_one(&*storage, &second.change).await.unwrap();
    let context = storage.run_context(second.run).await.unwrap().unwrap();
    assert_eq!(
        context.provider_data, expected,
        "a later run has the data of earlier turns"
    );

    // Another answer to the first question makes another branch.
    commit_one(&*storage, &end_run(second.run, "So")).await.unwrap();
    let again = RunKey {
        message_id: MessageId::new(),
        ..first.run
    };
    commit_one(&*storage, &regenerate(first.run, again))
        .await
        .unwrap();
    let context = storage.run_context(again).await.unwrap().unwrap();
    assert_eq!(context.provider_data, HashMap::new());
}
