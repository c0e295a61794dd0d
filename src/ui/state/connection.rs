//! The subscription to the server's log: the stream, its timers, and the recovery when the log cannot be followed.

use leptos::{prelude::*, task::spawn_local};

use super::{
    ConversationPhase, LiteratureUpdate, Live,
    reconnect::{ConnectionEffect, ConnectionEvent, ConnectionStatus, Ms, ReconnectPolicy},
    unrecorded::find_unrecorded,
};
use crate::{
    api::rpc,
    protocol::ApiError,
    protocol::ConversationId,
    protocol::ConversationList,
    protocol::ErrorCode,
    protocol::Event,
    protocol::PageUpdate,
    protocol::Position,
    protocol::StreamNotice,
    protocol::Transcript,
    protocol::json,
    protocol::sse,
    ui::{browser, browser::PresenceEvent, browser::StreamEvent, state::clock::Clock, state::route::Route},
};

/// Far above the server's limit for one event.
const MAX_FRAME_BYTES: usize = 16 << 20;
/// The hidden tab that holds this lock keeps its stream.
const HIDDEN_TAB_LOCK: &str = "parlor-hidden";

/// The state of the connection.
#[derive(Default)]
pub struct EventConnection {
    policy: ReconnectPolicy,
    /// Counts the streams, so that late events of an old stream are not taken for the new one's.
    generation: u32,
    /// Closes the stream when dropped.
    stream: Option<browser::EventStream>,
    decoder: Option<sse::SseDecoder>,
    /// Wakes the reconnect policy at its deadline. Waking early is harmless: the timer is set again.
    timer: Option<(Ms, browser::Timer)>,
    is_resyncing: bool,
    /// While the page is hidden: the request to be the one hidden tab that stays connected.
    lock: Option<browser::Lock>,
}

impl Live {
    /// Starts in the browser, after hydration.
    pub fn start(self) {
        self.with_state(|state| state.is_hydrated = true);
        self.clock.set(Clock::local());
        browser::on_presence(move |presence| match presence {
            PresenceEvent::Visible => {
                self.is_visible.set(true);
                self.with_state(|state| state.connection.lock = None);
                self.step_connection(ConnectionEvent::Visible);
                self.update_clock();
            }
            PresenceEvent::Hidden => self.on_hidden(),
            PresenceEvent::Offline => self.step_connection(ConnectionEvent::Offline),
            PresenceEvent::Online => {
                self.step_connection(ConnectionEvent::Online);
                self.load_route(self.chat_route.get_untracked());
            }
        });
        if browser::is_page_hidden() {
            self.on_hidden();
        }
        self.step_connection(ConnectionEvent::Start);
        self.resume_outbox();
    }

    fn on_hidden(self) {
        self.is_visible.set(false);
        self.step_connection(ConnectionEvent::Hidden);
        let lock = browser::wait_for_lock(HIDDEN_TAB_LOCK, move || {
            self.step_connection(ConnectionEvent::LockGranted)
        });
        self.with_state(|state| state.connection.lock = lock);
    }

    /// Updates the clock: days pass while a page is open.
    fn update_clock(self) {
        let clock = Clock::local();
        if self.clock.get_untracked() != clock {
            self.clock.set(clock);
        }
    }

    pub(super) fn step_connection(self, input: ConnectionEvent) {
        let now = browser::monotonic_ms();
        let (effect, status) = self.with_state(|state| {
            let policy = &mut state.connection.policy;
            (policy.step(input, now, browser::random()), policy.status())
        });
        match effect {
            Some(ConnectionEffect::Connect) => self.connect(),
            Some(ConnectionEffect::Disconnect) => self.with_state(|state| state.connection.stream = None),
            None => {}
        }
        let before = self.status.get_untracked();
        // A resync keeps the current indicator.
        if before != status && !self.with_state(|state| state.connection.is_resyncing) {
            self.status.set(status);
            if status == ConnectionStatus::Connected {
                self.load_route(self.chat_route.get_untracked());
                self.retry_held();
            }
        }
        self.set_timer(now);
    }

    fn set_timer(self, now: Ms) {
        self.with_state(|state| {
            let follow = &mut state.connection;
            let Some(deadline) = follow.policy.deadline() else {
                follow.timer = None;
                return;
            };
            if follow.timer.as_ref().is_some_and(|(at, _)| *at <= deadline) {
                return;
            }
            let wake = move || {
                self.with_state(|state| state.connection.timer = None);
                self.step_connection(ConnectionEvent::Tick);
            };
            follow.timer = Some((deadline, browser::set_timeout((deadline - now).max(0.0), wake)));
        });
    }

    fn connect(self) {
        self.with_state(|state| {
            let cursor = state.replica.cursor();
            let follow = &mut state.connection;
            follow.generation += 1;
            follow.decoder = Some(sse::SseDecoder::new(MAX_FRAME_BYTES));
            let number = follow.generation;
            let mut url = String::from("/rpc/events?after=");
            url.push_str(&cursor.0.to_string());
            // Close the old stream before the new one opens.
            follow.stream = None;
            follow.stream = Some(browser::open_event_stream(&url, move |event| {
                self.on_stream_event(number, event)
            }));
        });
    }

    fn on_stream_event(self, number: u32, event: StreamEvent) {
        if self.with_state(|state| state.connection.generation != number || state.connection.stream.is_none())
        {
            return;
        }
        match event {
            StreamEvent::Opened => self.step_connection(ConnectionEvent::Opened),
            StreamEvent::Ended => self.step_connection(ConnectionEvent::Closed),
            StreamEvent::Bytes(bytes) => {
                self.step_connection(ConnectionEvent::Received);
                self.apply_bytes(&bytes);
            }
        }
    }

    fn apply_bytes(self, bytes: &[u8]) {
        let mut frames = Vec::new();
        let decoded = self.with_state(|state| match &mut state.connection.decoder {
            Some(decoder) => decoder.push(bytes, &mut frames).is_ok(),
            None => true,
        });
        let mut changes = Vec::new();
        let mut created = Vec::new();
        let mut needs_resync = !decoded;
        for frame in frames {
            match json::parse::<Event>(frame.data.as_bytes()) {
                Ok(event) => {
                    self.with_state(|state| state.replica.apply(&event, &mut changes));
                    match event.page_update() {
                        PageUpdate::Unchanged => {}
                        PageUpdate::ConversationCreated => created.push(event.conversation_id),
                        PageUpdate::Payload(payload) => self
                            .latest_payload
                            .set(Some((event.conversation_id, payload.clone()))),
                        PageUpdate::LiteratureChanged(change) => {
                            self.notify_literature(Some((event.position, change.clone())));
                        }
                        PageUpdate::SettingsChanged => self.note_settings_change(),
                        PageUpdate::Damaged => {
                            let id = event.position.0.to_string();
                            self.toasts
                                .show(["A change is damaged and can't be shown. Id ", &id].concat());
                            needs_resync = true;
                        }
                    }
                }
                // The server cannot read its log at the moment; the stream ends, and the reconnect policy tries again.
                Err(_) if is_unavailable(&frame.data) => {}
                Err(_) => needs_resync = true,
            }
            if needs_resync {
                break;
            }
        }
        self.apply_changes(changes);
        for id in created {
            self.retry_missing(id);
        }
        if needs_resync {
            self.resync();
        }
    }

    fn notify_literature(self, change: LiteratureUpdate) {
        if let Some(reader) = self.literature_listener.get_value() {
            reader.run(change);
        }
    }

    fn note_settings_change(self) {
        self.settings_version.update(|changes| *changes += 1);
    }

    /// A conversation was created. Its page may have been opened before, for example while its first message was being
    /// sent.
    fn retry_missing(self, id: ConversationId) {
        let missing = self.with_state(|state| {
            let view = state.find_view(id).cloned();
            view.filter(|view| {
                view.phase
                    .with_untracked(|phase| *phase == ConversationPhase::Missing)
            })
        });
        if let Some(view) = missing {
            view.phase.set(ConversationPhase::Loading);
            self.load_route(Route::Conversation(id));
        }
    }

    /// Loads the snapshots again and resumes from them, because the log cannot be followed from here.
    pub(super) fn resync(self) {
        if self.with_state(|state| std::mem::replace(&mut state.connection.is_resyncing, true)) {
            return;
        }
        self.step_connection(ConnectionEvent::Pause);
        spawn_local(async move {
            let mut tries = 0;
            loop {
                let route = self.chat_route.get_untracked();
                let known = match route.conversation_id() {
                    Some(id) => self.with_state(|state| state.known_intents(id)),
                    None => Vec::new(),
                };
                let (list, transcript) = self.load_snapshots(route).await;
                // Content on the screen is replaced only by a definite answer of the server.
                let answered = !matches!(&transcript, Some(Err(error))
                    if matches!(error.code, ErrorCode::Unreachable | ErrorCode::Unavailable));
                if let (Ok(list), true) = (list, answered) {
                    self.with_state(|state| state.forget_intents(&known));
                    self.replace_snapshots(route, list, transcript);
                    self.notify_literature(None);
                    break;
                }
                self.status.set(ConnectionStatus::Disconnected);
                tries += 1;
                browser::sleep(f64::from(tries.min(15)) * (500.0 + 500.0 * browser::random())).await;
            }
            self.with_state(|state| state.connection.is_resyncing = false);
            self.step_connection(ConnectionEvent::Start);
        });
    }

    async fn load_snapshots(
        self,
        route: Route,
    ) -> (
        Result<ConversationList, ApiError>,
        Option<Result<Transcript, ApiError>>,
    ) {
        let transcript = async {
            match route.conversation_id() {
                Some(id) => {
                    let first_message = self.with_state(|state| state.replica.transcripts.first_shown(id));
                    Some(self.call(rpc::conversation(id, first_message)).await)
                }
                None => None,
            }
        };
        futures::join!(self.call(rpc::conversations(None)), transcript)
    }

    /// Replaces the old snapshots with new ones.
    fn replace_snapshots(
        self,
        route: Route,
        list: ConversationList,
        transcript: Option<Result<Transcript, ApiError>>,
    ) {
        let here = route.conversation_id();
        let (transcript, error) = match transcript {
            Some(Ok(transcript)) => {
                self.keep_unrecorded(transcript.conversation_id, list.as_of, Some(&transcript));
                (Some(transcript), None)
            }
            Some(Err(error)) => {
                let gone = here.filter(|_| error.code == ErrorCode::NotFound);
                match gone.and_then(|id| self.keep_unrecorded(id, list.as_of, None)) {
                    Some(rest) => (Some(rest), None),
                    None => (None, Some(error)),
                }
            }
            None => (None, None),
        };
        // The route may have changed meanwhile; the start of the stream loads what it shows.
        let shown = self.chat_route.get_untracked().conversation_id();
        self.with_state(|state| {
            let dropped = state.replica.restart(list, transcript);
            state
                .views
                .retain(|view| !dropped.contains(&view.id) || Some(view.id) == shown);
            state.dirty.is_list_dirty = true;
            if let Some(id) = here {
                state.dirty.mark_conversation(id);
            }
        });
        if let (Some(id), Some(error)) = (here, &error) {
            self.fail_load(id, error);
        }
        // The changes in between are unknown.
        self.note_settings_change();
        self.flush();
    }

    /// Keeps the messages on the screen that the server has lost, and returns the conversation without them. Positions
    /// only grow: if the log now ends before a position that was applied already, the server's data was replaced by an
    /// older copy, and the messages on the screen may exist nowhere else.
    fn keep_unrecorded(
        self,
        id: ConversationId,
        head: Position,
        now: Option<&Transcript>,
    ) -> Option<Transcript> {
        if self.with_state(|state| state.replica.cursor() <= head) {
            return None;
        }
        let (found, rest) = self.with_transcript(id, |held| {
            let mut rest = Transcript::new(id);
            rest.as_of = head;
            rest.title.clone_from(&held.title);
            rest.model.clone_from(&held.model);
            (find_unrecorded(held, now), rest)
        })?;
        self.view(id).add_unrecorded(found?);
        Some(rest)
    }
}

fn is_unavailable(data: &str) -> bool {
    matches!(json::parse(data.as_bytes()), Ok(StreamNotice::Unavailable))
}
