//! Payloads that do not fit: the model is told so once.

use super::*;

/// A page whose model corrects rejected proposals.
#[derive(Debug)]
struct ProposalPage;

impl PayloadFactory for ProposalPage {
    fn markers(&self) -> Vec<Marker> {
        let markers = TablePage.markers().into_iter();
        markers
            .map(|marker| Marker {
                is_corrected: true,
                ..marker
            })
            .collect()
    }

    fn status_text(&self, kind: &str) -> String {
        TablePage.status_text(kind)
    }

    fn create_payload(&self, kind: &str, data: Value) -> Result<Payload, String> {
        TablePage.create_payload(kind, data)
    }

    fn to_ref(&self, payload: &Payload) -> PayloadRef {
        PayloadViews::default().to_ref(payload)
    }

    fn is_known_url(&self, _: &str, _: &dyn Toolbox) -> bool {
        false
    }
}

/// Plays the answers of successive model calls. Returns the requests for corrections and the run's output.
fn play_answers(answers: &[&str]) -> (Vec<Option<String>>, AssistantMessage) {
    let at = Timestamp(0);
    let message = AssistantMessage::new("x/m");
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(ProposalPage), limits(5));
    agent.step(Input::Start, at);
    let mut requests = Vec::new();
    for answer in answers {
        requests.push(agent.correction().map(str::to_owned));
        agent.step(Input::Model(ModelEvent::Text((*answer).into())), at);
        agent.step(FINISHED, at);
    }
    (requests, agent.message().clone())
}

#[test]
fn rejected_payload_is_corrected_once() {
    let (requests, answer) = play_answers(&["Here:\n\nTABLE: {\"row\": 1}\n", "TABLE: {\"rows\": [1]}"]);
    let [None, Some(request)] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert!(
        request.contains("did not accept your TABLE: a table has rows.") && request.contains("{\"row\": 1}"),
        "{request}"
    );
    assert_eq!(
        (answer.status, answer.text().trim()),
        (RunStatus::Complete, "Here:")
    );
    let payloads: Vec<&str> = answer
        .payloads()
        .map(|payload| payload.payload_id.as_str())
        .collect();
    assert_eq!(payloads, ["id1"]);
}

#[test]
fn what_is_no_json_stays_text() {
    let (requests, answer) = play_answers(&["TABLE: {rows: [}] }"]);
    assert_eq!(requests, [None]);
    assert_eq!(
        (answer.status, answer.text().as_str()),
        (RunStatus::Complete, "TABLE: {rows: [}] }")
    );
}

#[test]
fn payload_rejected_twice_is_text() {
    let wrong = "TABLE: {\"row\": 1}";
    let (requests, answer) = play_answers(&[wrong, wrong]);
    assert_eq!(requests.iter().flatten().count(), 1);
    assert_eq!(
        (answer.status, answer.text().as_str()),
        (RunStatus::Complete, wrong)
    );
}

#[test]
fn text_of_a_correction_is_a_paragraph() {
    let (_, answer) = play_answers(&["Here:\nTABLE: {\"row\": 1}", "Sorry.\nTABLE: {\"rows\": []}"]);
    assert_eq!(answer.text().trim(), "Here:\n\nSorry.");
}
