//! How a conversation's model is asked, and what stands for its beginning.

use super::*;
use crate::protocol::{AskedParameters, Parameters, intent::SetParameters};

fn hot(temperature: &str) -> AskedParameters {
    AskedParameters {
        temperature: temperature.into(),
        ..AskedParameters::default()
    }
}

fn set(intent_id: IntentId, conversation_id: ConversationId, temperature: &str) -> Change {
    let asked = hot(temperature);
    Change::SetParameters {
        user_id: ANN,
        parameters: Parameters::read(&asked).unwrap(),
        fingerprint: temperature.into(),
        intent: SetParameters {
            intent_id,
            conversation_id,
            parameters: asked,
        },
    }
}

/// How a run's model is called.
async fn terms(storage: &dyn Storage, run: RunKey) -> Terms {
    let beginning = storage.beginning(run).await.unwrap();
    beginning.expect("the run is there").terms
}

#[tokio::test]
async fn parameters_are_set_once_for_an_intent_and_shown_everywhere() {
    let (_folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let first = turn(ANN, conversation_id, "Hello");
    do_one(&*storage, &first.change).await.unwrap();
    assert_eq!(terms(&*storage, first.run).await, Terms::default());

    let intent = IntentId::new();
    let change = set(intent, conversation_id, "0.7");
    assert_eq!(do_one(&*storage, &change).await, Ok(Outcome::Done));
    let events = log(&*storage, ANN).await.len();
    assert_eq!(do_one(&*storage, &change).await, Ok(Outcome::Done));
    assert_eq!(
        log(&*storage, ANN).await.len(),
        events,
        "the same again does nothing"
    );
    assert_eq!(
        do_one(&*storage, &set(intent, conversation_id, "1")).await,
        Err(Refusal::IntentReused)
    );

    let parameters = Parameters::read(&hot("0.7")).unwrap();
    assert_eq!(
        whole(&*storage, conversation_id).await.unwrap().parameters,
        parameters
    );
    assert_eq!(folded(&*storage, conversation_id).await.parameters, parameters);
    assert_eq!(terms(&*storage, first.run).await.parameters, parameters);
    assert_eq!(
        storage.parameters(bob(), conversation_id).await.unwrap(),
        None,
        "it is Ann's"
    );
    let elsewhere = set(IntentId::new(), ConversationId::new(), "1");
    assert_eq!(do_one(&*storage, &elsewhere).await, Err(Refusal::NotFound));
}

#[tokio::test]
async fn forced_tools_belong_to_their_question_and_summaries_to_their_conversation() {
    let (_folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let mut first = turn(ANN, conversation_id, "Hello");
    if let Change::Send { intent, .. } = &mut first.change {
        intent.force_tools = vec!["look".into()];
    }
    do_one(&*storage, &first.change).await.unwrap();
    do_one(&*storage, &end(first.run, "Hi")).await.unwrap();
    let again = RunKey {
        message_id: MessageId::new(),
        ..first.run
    };
    do_one(&*storage, &regenerate(first.run, again)).await.unwrap();
    assert_eq!(terms(&*storage, again).await.force_tools, ["look"]);
    do_one(&*storage, &end(again, "Hi")).await.unwrap();
    let second = turn(ANN, conversation_id, "And?");
    do_one(&*storage, &second.change).await.unwrap();
    assert_eq!(terms(&*storage, first.run).await.force_tools, ["look"]);
    assert!(terms(&*storage, second.run).await.force_tools.is_empty());

    let summary = |text: &str| Summary {
        reaches: first.run.message_id,
        text: text.into(),
    };
    for text in ["in short", "made again meanwhile"] {
        let change = Change::Summarise {
            run: second.run,
            summary: summary(text),
        };
        assert_eq!(do_one(&*storage, &change).await, Ok(Outcome::Done));
    }
    assert_eq!(
        terms(&*storage, second.run).await.summaries,
        [summary("in short")]
    );
    let other = turn(ANN, ConversationId::new(), "Elsewhere");
    do_one(&*storage, &other.change).await.unwrap();
    assert_eq!(terms(&*storage, other.run).await.summaries, []);

    let delete = Change::Delete {
        user_id: ANN,
        conversation_id,
    };
    do_one(&*storage, &delete).await.unwrap();
    assert_eq!(storage.beginning(second.run).await.unwrap(), None);
}
