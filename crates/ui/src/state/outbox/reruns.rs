//! Runs that were requested without a message (*Regenerate*, *Continue*), until the stream reports them: pure state.

use parlor_protocol::{
    AssistantMessage, ConversationId, IntentId, Message, MessageId, Timestamp, Transcript,
};

#[derive(Debug)]
struct Rerun {
    intent_id: IntentId,
    conversation_id: ConversationId,
    /// The end time of the answer to continue; `None` for a new answer.
    ended_at: Option<Timestamp>,
    /// The run, once the server has named it.
    run_id: Option<MessageId>,
    /// True if the user pressed *Stop* before the run's id was known.
    is_stop_requested: bool,
}

/// The requested runs.
#[derive(Debug, Default)]
pub struct Reruns(Vec<Rerun>);

impl Reruns {
    /// Adds a requested run. For a continued answer, `ended_at` is its previous end.
    pub fn add(&mut self, conversation_id: ConversationId, ended_at: Option<Timestamp>) -> IntentId {
        let intent_id = IntentId::new();
        self.0.push(Rerun {
            intent_id,
            conversation_id,
            ended_at,
            run_id: None,
            is_stop_requested: false,
        });
        intent_id
    }

    /// Returns true if a run is requested in the conversation.
    pub fn is_pending(&self, id: ConversationId) -> bool {
        self.0.iter().any(|rerun| rerun.conversation_id == id)
    }

    /// Marks the conversation's run as not wanted any more. Returns the run to stop, if its id is known.
    pub fn stop(&mut self, id: ConversationId) -> Option<MessageId> {
        let rerun = self.0.iter_mut().find(|rerun| rerun.conversation_id == id)?;
        rerun.is_stop_requested = true;
        rerun.run_id
    }

    /// Records that the server has started the run. Returns the run to stop, if the user asked for that already.
    pub fn mark_started(&mut self, intent_id: IntentId, run: MessageId) -> Option<MessageId> {
        let rerun = self.0.iter_mut().find(|rerun| rerun.intent_id == intent_id)?;
        rerun.run_id = Some(run);
        rerun.is_stop_requested.then_some(run)
    }

    /// Removes a run that could not be started.
    pub fn remove(&mut self, intent_id: IntentId) {
        self.0.retain(|rerun| rerun.intent_id != intent_id);
    }

    /// The intents of a conversation's runs that the server has started.
    pub fn known_intents(&self, id: ConversationId) -> impl Iterator<Item = IntentId> {
        let known = self.0.iter().filter(|rerun| rerun.run_id.is_some());
        known
            .filter(move |rerun| rerun.conversation_id == id)
            .map(|rerun| rerun.intent_id)
    }

    /// Forgets intents the server knew when it made the received snapshot: they are in it, or on another branch.
    pub fn forget_intents(&mut self, known: &[IntentId]) {
        self.0.retain(|rerun| !known.contains(&rerun.intent_id));
    }

    /// Removes the runs that a transcript contains.
    pub fn reconcile(&mut self, transcript: &Transcript) {
        self.0.retain(|rerun| {
            rerun.conversation_id != transcript.conversation_id
                || !(transcript.deleted || rerun.appears_in(transcript))
        });
    }
}

impl Rerun {
    fn appears_in(&self, transcript: &Transcript) -> bool {
        let message = self.run_id.and_then(|run| transcript.message(run));
        let answer: Option<&AssistantMessage> = message.and_then(Message::assistant);
        answer.is_some_and(|answer| self.ended_at.is_none() || answer.ended_at != self.ended_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::test_events::Story;

    #[test]
    fn rerun_is_pending_until_the_stream_shows_it() {
        let story = Story::new("Hello", &["Hi"]);
        let id = story.conversation_id;
        let mut reruns = Reruns::default();
        let intent = reruns.add(id, None);
        reruns.reconcile(&story.after(2));
        assert!(reruns.is_pending(id));
        assert_eq!(reruns.mark_started(intent, story.answer), None);
        reruns.reconcile(&story.after(2));
        assert!(reruns.is_pending(id), "the server has it, the stream does not");
        reruns.reconcile(&story.after(3));
        assert!(!reruns.is_pending(id));
    }

    #[test]
    fn continued_answer_differs_from_its_earlier_end() {
        let story = Story::new("Hello", &["Hi"]);
        let ended = story.after(5);
        let ended_at = ended
            .message(story.answer)
            .and_then(Message::assistant)
            .and_then(|answer| answer.ended_at);
        let mut reruns = Reruns::default();
        let intent = reruns.add(story.conversation_id, ended_at);
        reruns.mark_started(intent, story.answer);
        reruns.reconcile(&ended);
        assert!(reruns.is_pending(story.conversation_id));
        reruns.reconcile(&story.after(4));
        assert!(!reruns.is_pending(story.conversation_id));
    }

    #[test]
    fn drops_a_rerun_missing_from_later_snapshot() {
        let story = Story::new("Hello", &["Hi"]);
        let id = story.conversation_id;
        let mut reruns = Reruns::default();
        let intent = reruns.add(id, None);
        assert_eq!(reruns.known_intents(id).count(), 0);
        reruns.mark_started(intent, MessageId::new());
        let known: Vec<_> = reruns.known_intents(id).collect();
        assert_eq!(known, [intent]);
        // Another tab has selected the other answer meanwhile.
        reruns.reconcile(&story.after(5));
        assert!(reruns.is_pending(id), "the snapshot may be older");
        reruns.forget_intents(&known);
        assert!(!reruns.is_pending(id));
    }

    #[test]
    fn keeps_stop_whenever_it_is_pressed() {
        let id = ConversationId::new();
        let run = MessageId::new();
        let mut reruns = Reruns::default();
        let early = reruns.add(id, None);
        assert_eq!(reruns.stop(id), None);
        assert_eq!(reruns.mark_started(early, run), Some(run));

        let mut reruns = Reruns::default();
        let late = reruns.add(id, None);
        assert_eq!(reruns.mark_started(late, run), None);
        assert_eq!(reruns.stop(id), Some(run));

        reruns.remove(late);
        assert!(!reruns.is_pending(id));
    }
}
