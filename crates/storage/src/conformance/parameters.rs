//! Model parameters and history summaries.

use super::*;
use parlor_protocol::{ParameterInput, Parameters, intent::SetParameters};

fn parameter_input(temperature: &str) -> ParameterInput {
    ParameterInput {
        temperature: temperature.into(),
        ..ParameterInput::default()
    }
}

fn set_parameters(intent_id: IntentId, conversation_id: ConversationId, temperature: &str) -> Change {
    let asked = parameter_input(temperature);
    Change::Intent {
        user_id: TEST_USER,
        change: IntentChange::SetParameters {
            parameters: Parameters::parse(&asked).unwrap(),
            fingerprint: temperature.into(),
            intent: SetParameters {
                intent_id,
                conversation_id,
                parameters: asked,
            },
        },
    }
}

/// Returns the options of a run's model calls.
async fn run_options(storage: &dyn Storage, run: RunKey) -> RunOptions {
    let context = storage.run_context(run).await.unwrap();
    context.expect("the run is there").options
}

pub async fn an_intent_sets_parameters_once_everywhere(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let first = new_turn(TEST_USER, conversation_id, "Hello");
    commit_one(&*storage, &first.change).await.unwrap();
    assert_eq!(run_options(&*storage, first.run).await, RunOptions::default());

    let intent = IntentId::new();
    let change = set_parameters(intent, conversation_id, "0.7");
    assert_eq!(commit_one(&*storage, &change).await, Ok(Outcome::Done));
    let events = read_log(&*storage, TEST_USER).await.len();
    assert_eq!(commit_one(&*storage, &change).await, Ok(Outcome::Done));
    assert_eq!(
        read_log(&*storage, TEST_USER).await.len(),
        events,
        "a repeated intent has no effect"
    );
    assert_eq!(
        commit_one(&*storage, &set_parameters(intent, conversation_id, "1")).await,
        Err(ChangeRejection::IntentReused)
    );

    let parameters = Parameters::parse(&parameter_input("0.7")).unwrap();
    assert_eq!(
        full_transcript(&*storage, conversation_id)
            .await
            .unwrap()
            .parameters,
        parameters
    );
    assert_eq!(
        folded_transcript(&*storage, conversation_id).await.parameters,
        parameters
    );
    assert_eq!(run_options(&*storage, first.run).await.parameters, parameters);
    assert_eq!(
        storage.parameters(other_user(), conversation_id).await.unwrap(),
        None,
        "it is Ann's"
    );
    let elsewhere = set_parameters(IntentId::new(), ConversationId::new(), "1");
    assert_eq!(
        commit_one(&*storage, &elsewhere).await,
        Err(ChangeRejection::NotFound)
    );
}

pub async fn forced_tools_and_summaries_keep_their_scope(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let mut first = new_turn(TEST_USER, conversation_id, "Hello");
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut first.change
    {
        intent.force_tools = vec!["look".into()];
    }
    commit_one(&*storage, &first.change).await.unwrap();
    commit_one(&*storage, &end_run(first.run, "Hi")).await.unwrap();
    let again = RunKey {
        message_id: MessageId::new(),
        ..first.run
    };
    commit_one(&*storage, &regenerate(first.run, again))
        .await
        .unwrap();
    assert_eq!(run_options(&*storage, again).await.force_tools, ["look"]);
    commit_one(&*storage, &end_run(again, "Hi")).await.unwrap();
    let second = new_turn(TEST_USER, conversation_id, "And?");
    commit_one(&*storage, &second.change).await.unwrap();
    assert_eq!(run_options(&*storage, first.run).await.force_tools, ["look"]);
    assert!(run_options(&*storage, second.run).await.force_tools.is_empty());

    let summary = |text: &str| HistorySummary {
        last_message_id: first.run.message_id,
        text: text.into(),
    };
    for text in ["in short", "made again meanwhile"] {
        let change = Change::Output {
            run: second.run,
            output: RunOutput::StoreSummary {
                summary: summary(text),
            },
        };
        assert_eq!(commit_one(&*storage, &change).await, Ok(Outcome::Done));
    }
    assert_eq!(
        run_options(&*storage, second.run).await.summaries,
        [summary("in short")]
    );
    let other = new_turn(TEST_USER, ConversationId::new(), "Elsewhere");
    commit_one(&*storage, &other.change).await.unwrap();
    assert_eq!(run_options(&*storage, other.run).await.summaries, []);

    let delete = Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change: ConversationChange::Delete,
    };
    commit_one(&*storage, &delete).await.unwrap();
    assert_eq!(storage.run_context(second.run).await.unwrap(), None);
}
