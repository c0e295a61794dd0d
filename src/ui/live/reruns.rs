//! Runs that a person asked for without a message (*Regenerate*, *Continue*), until the stream tells of them:
//! pure state.

use crate::protocol::{
    AssistantMessage, ConversationId, IntentId, Message, MessageId, Timestamp, Transcript,
};

#[derive(Debug)]
struct Rerun {
    intent_id: IntentId,
    conversation_id: ConversationId,
    /// When the answer that goes on had ended; what has no such time does not go on, but begins.
    ended_at: Option<Timestamp>,
    /// The run, once the server has said which it is.
    run: Option<MessageId>,
    /// The person pressed *Stop* before there was a run to stop.
    stop: bool,
}

/// The runs that were asked for.
#[derive(Debug, Default)]
pub struct Reruns(Vec<Rerun>);

impl Reruns {
    /// A run is being asked for. For an answer that goes on, `ended_at` is when it had ended.
    pub fn begin(&mut self, conversation_id: ConversationId, ended_at: Option<Timestamp>) -> IntentId {
        let intent_id = IntentId::new();
        self.0.push(Rerun {
            intent_id,
            conversation_id,
            ended_at,
            run: None,
            stop: false,
        });
        intent_id
    }

    /// Whether one is asked for in a conversation.
    pub fn any(&self, id: ConversationId) -> bool {
        self.0.iter().any(|rerun| rerun.conversation_id == id)
    }

    /// The person wants no answer any more: the run to stop, if it is known already.
    pub fn stop(&mut self, id: ConversationId) -> Option<MessageId> {
        let rerun = self.0.iter_mut().find(|rerun| rerun.conversation_id == id)?;
        rerun.stop = true;
        rerun.run
    }

    /// The server has started it: the run to stop, if the person wanted that already.
    pub fn started(&mut self, intent_id: IntentId, run: MessageId) -> Option<MessageId> {
        let rerun = self.0.iter_mut().find(|rerun| rerun.intent_id == intent_id)?;
        rerun.run = Some(run);
        rerun.stop.then_some(run)
    }

    /// It could not be started.
    pub fn failed(&mut self, intent_id: IntentId) {
        self.0.retain(|rerun| rerun.intent_id != intent_id);
    }

    /// What the server has started in a conversation.
    pub fn known(&self, id: ConversationId) -> impl Iterator<Item = IntentId> {
        let known = self.0.iter().filter(|rerun| rerun.run.is_some());
        known
            .filter(move |rerun| rerun.conversation_id == id)
            .map(|rerun| rerun.intent_id)
    }

    /// A snapshot is here that the server gave when it had these: they are in it, or on another branch.
    pub fn forget(&mut self, known: &[IntentId]) {
        self.0.retain(|rerun| !known.contains(&rerun.intent_id));
    }

    /// Forgets those that a transcript tells of.
    pub fn settle(&mut self, transcript: &Transcript) {
        self.0.retain(|rerun| {
            rerun.conversation_id != transcript.conversation_id
                || !(transcript.deleted || rerun.is_in(transcript))
        });
    }
}

impl Rerun {
    fn is_in(&self, transcript: &Transcript) -> bool {
        let message = self.run.and_then(|run| transcript.message(run));
        let answer: Option<&AssistantMessage> = message.and_then(Message::assistant);
        answer.is_some_and(|answer| self.ended_at.is_none() || answer.ended_at != self.ended_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::live::story::Story;

    #[test]
    fn a_run_is_asked_for_until_the_stream_tells_of_it() {
        let story = Story::new("Hello", &["Hi"]);
        let id = story.conversation_id;
        let mut reruns = Reruns::default();
        let intent = reruns.begin(id, None);
        reruns.settle(&story.after(2));
        assert!(reruns.any(id));
        assert_eq!(reruns.started(intent, story.answer), None);
        reruns.settle(&story.after(2));
        assert!(reruns.any(id), "the server has it, the stream does not");
        reruns.settle(&story.after(3));
        assert!(!reruns.any(id));
    }

    #[test]
    fn an_answer_that_goes_on_is_not_taken_for_the_one_that_had_ended() {
        let story = Story::new("Hello", &["Hi"]);
        let ended = story.after(5);
        let ended_at = ended
            .message(story.answer)
            .and_then(Message::assistant)
            .and_then(|answer| answer.ended_at);
        let mut reruns = Reruns::default();
        let intent = reruns.begin(story.conversation_id, ended_at);
        reruns.started(intent, story.answer);
        reruns.settle(&ended);
        assert!(reruns.any(story.conversation_id));
        reruns.settle(&story.after(4));
        assert!(!reruns.any(story.conversation_id));
    }

    #[test]
    fn a_run_that_a_later_snapshot_does_not_show_is_not_waited_for() {
        let story = Story::new("Hello", &["Hi"]);
        let id = story.conversation_id;
        let mut reruns = Reruns::default();
        let intent = reruns.begin(id, None);
        assert_eq!(reruns.known(id).count(), 0);
        reruns.started(intent, MessageId::new());
        let known: Vec<_> = reruns.known(id).collect();
        assert_eq!(known, [intent]);
        // Somebody has chosen the other answer meanwhile.
        reruns.settle(&story.after(5));
        assert!(reruns.any(id), "the snapshot may be older");
        reruns.forget(&known);
        assert!(!reruns.any(id));
    }

    #[test]
    fn stop_is_not_lost_whenever_it_is_pressed() {
        let id = ConversationId::new();
        let run = MessageId::new();
        let mut reruns = Reruns::default();
        let early = reruns.begin(id, None);
        assert_eq!(reruns.stop(id), None);
        assert_eq!(reruns.started(early, run), Some(run));

        let mut reruns = Reruns::default();
        let late = reruns.begin(id, None);
        assert_eq!(reruns.started(late, run), None);
        assert_eq!(reruns.stop(id), Some(run));

        reruns.failed(late);
        assert!(!reruns.any(id));
    }
}
