//! Following the server's log: the stream, its timers, and what to do when the log cannot be followed.

use leptos::{prelude::*, task::spawn_local};

use super::{
    LiteratureNews, Live, Phase,
    link::{Effect, Input, Link, Ms, Status},
    lost::lost,
};
use crate::{
    api::rpc,
    protocol::{
        ApiError, ConversationId, ConversationList, ErrorCode, Event, EventBody, Notice, PayloadRef,
        Position, Transcript, json, sse,
    },
    ui::{
        browser::{self, Presence, StreamEvent},
        clock::Clock,
        place::Place,
    },
};

/// The server's limit for one event is far below it.
const LONGEST_FRAME: usize = 16 << 20;
/// Who of the hidden tabs has it goes on following.
const LOCK: &str = "parlor-hidden";

/// What belongs to the connection.
#[derive(Default)]
pub struct Follow {
    link: Link,
    /// Counts the streams, so that what an old one still says is not taken for the new one's.
    number: u32,
    /// Closes its stream when it is dropped.
    stream: Option<browser::EventStream>,
    decoder: Option<sse::Decoder>,
    /// Wakes the link at its deadline, or before: then it just asks again.
    timer: Option<(Ms, browser::Timer)>,
    restarting: bool,
    /// While the page is hidden: asks to be the one hidden tab that goes on.
    lock: Option<browser::Lock>,
}

impl Live {
    /// The browser takes over.
    pub fn start(self) {
        self.with(|state| state.live = true);
        self.clock.set(Clock::local());
        browser::on_presence(move |presence| match presence {
            Presence::Visible => {
                self.visible.set(true);
                self.with(|state| state.follow.lock = None);
                self.drive(Input::Visible);
                self.tell_time();
            }
            Presence::Hidden => self.hidden(),
            Presence::Offline => self.drive(Input::Offline),
            Presence::Online => {
                self.drive(Input::Online);
                self.visit(self.place.get_untracked());
            }
        });
        if browser::is_hidden() {
            self.hidden();
        }
        self.drive(Input::Start);
        self.take_up_messages();
    }

    fn hidden(self) {
        self.visible.set(false);
        self.drive(Input::Hidden);
        let lock = browser::lock(LOCK, move || self.drive(Input::Chosen));
        self.with(|state| state.follow.lock = lock);
    }

    /// Days pass while a page is open.
    fn tell_time(self) {
        let clock = Clock::local();
        if self.clock.get_untracked() != clock {
            self.clock.set(clock);
        }
    }

    pub(super) fn drive(self, input: Input) {
        let now = browser::uptime();
        let (effect, status) = self.with(|state| {
            let link = &mut state.follow.link;
            (link.step(input, now, browser::random()), link.status())
        });
        match effect {
            Some(Effect::Connect) => self.connect(),
            Some(Effect::Disconnect) => self.with(|state| state.follow.stream = None),
            None => {}
        }
        let before = self.status.get_untracked();
        // Loading everything again keeps the sign that is there.
        if before != status && !self.with(|state| state.follow.restarting) {
            self.status.set(status);
            if status == Status::Connected {
                self.visit(self.place.get_untracked());
                self.deliver_held();
            }
        }
        self.set_timer(now);
    }

    fn set_timer(self, now: Ms) {
        self.with(|state| {
            let follow = &mut state.follow;
            let Some(deadline) = follow.link.deadline() else {
                follow.timer = None;
                return;
            };
            if follow.timer.as_ref().is_some_and(|(at, _)| *at <= deadline) {
                return;
            }
            let wake = move || {
                self.with(|state| state.follow.timer = None);
                self.drive(Input::Tick);
            };
            follow.timer = Some((deadline, browser::after((deadline - now).max(0.0), wake)));
        });
    }

    fn connect(self) {
        self.with(|state| {
            let cursor = state.session.cursor();
            let follow = &mut state.follow;
            follow.number += 1;
            follow.decoder = Some(sse::Decoder::new(LONGEST_FRAME));
            let number = follow.number;
            let mut url = String::from("/rpc/events?after=");
            url.push_str(&cursor.0.to_string());
            // The old stream is closed before there is a new one.
            follow.stream = None;
            follow.stream = Some(browser::event_stream(&url, move |event| {
                self.heard(number, event)
            }));
        });
    }

    fn heard(self, number: u32, event: StreamEvent) {
        if self.with(|state| state.follow.number != number || state.follow.stream.is_none()) {
            return;
        }
        match event {
            StreamEvent::Opened => self.drive(Input::Opened),
            StreamEvent::Ended => self.drive(Input::Lost),
            StreamEvent::Bytes(bytes) => {
                self.drive(Input::Heard);
                self.read(&bytes);
            }
        }
    }

    fn read(self, bytes: &[u8]) {
        let mut frames = Vec::new();
        let decoded = self.with(|state| match &mut state.follow.decoder {
            Some(decoder) => decoder.push(bytes, &mut frames).is_ok(),
            None => true,
        });
        let mut changes = Vec::new();
        let mut created = Vec::new();
        let mut lost = !decoded;
        for frame in frames {
            match json::read::<Event>(frame.data.as_bytes()) {
                Ok(event) => {
                    self.with(|state| state.session.apply(&event, &mut changes));
                    if matches!(event.body, EventBody::ConversationCreated { .. }) {
                        created.push(event.conversation_id);
                    }
                    if let EventBody::LiteratureChanged { change } = &event.body {
                        self.literature_changed(Some((event.position, change.clone())));
                    }
                    if matches!(event.body, EventBody::SettingsChanged) {
                        self.settings_changed();
                    }
                    if event.body == EventBody::Damaged {
                        let id = event.position.0.to_string();
                        self.toasts
                            .say(["A change is damaged and can't be shown. Id ", &id].concat());
                        lost = true;
                    }
                    if let Some(payload) = made(event.body) {
                        self.made.set(Some((event.conversation_id, payload)));
                    }
                }
                // Just now the server cannot read its log; the stream ends, and the link tries again.
                Err(_) if is_unavailable(&frame.data) => {}
                Err(_) => lost = true,
            }
            if lost {
                break;
            }
        }
        self.changed(changes);
        for id in created {
            self.is_there_after_all(id);
        }
        if lost {
            self.restart();
        }
    }

    fn literature_changed(self, change: LiteratureNews) {
        if let Some(reader) = self.reader.get_value() {
            reader.run(change);
        }
    }

    fn settings_changed(self) {
        self.settings_changes.update(|changes| *changes += 1);
    }

    /// A conversation has begun. Its page may have been opened before: one whose first message was on its way, say.
    fn is_there_after_all(self, id: ConversationId) {
        let missing = self.with(|state| {
            let view = state.known_view(id).cloned();
            view.filter(|view| view.phase.with_untracked(|phase| *phase == Phase::Missing))
        });
        if let Some(view) = missing {
            view.phase.set(Phase::Loading);
            self.visit(Place::Conversation(id));
        }
    }

    /// The log cannot be followed from here: loads the snapshots again and goes on from them.
    pub(super) fn restart(self) {
        if self.with(|state| std::mem::replace(&mut state.follow.restarting, true)) {
            return;
        }
        self.drive(Input::Pause);
        spawn_local(async move {
            let mut tries = 0;
            loop {
                let place = self.place.get_untracked();
                let known = match place.conversation() {
                    Some(id) => self.with(|state| state.known(id)),
                    None => Vec::new(),
                };
                let (list, transcript) = self.ask_for_both(place).await;
                // What is on the screen is given up only for what the server really says.
                let answered = !matches!(&transcript, Some(Err(error))
                    if matches!(error.code, ErrorCode::Unreachable | ErrorCode::Unavailable));
                if let (Ok(list), true) = (list, answered) {
                    self.with(|state| state.forget(&known));
                    self.begin_again(place, list, transcript);
                    self.literature_changed(None);
                    break;
                }
                self.status.set(Status::Lost);
                tries += 1;
                browser::sleep(f64::from(tries.min(15)) * (500.0 + 500.0 * browser::random())).await;
            }
            self.with(|state| state.follow.restarting = false);
            self.drive(Input::Start);
        });
    }

    async fn ask_for_both(
        self,
        place: Place,
    ) -> (
        Result<ConversationList, ApiError>,
        Option<Result<Transcript, ApiError>>,
    ) {
        let transcript = async {
            match place.conversation() {
                Some(id) => {
                    let reach = self.with(|state| state.session.shelf.reach(id));
                    Some(self.ask(rpc::conversation(id, reach)).await)
                }
                None => None,
            }
        };
        futures::join!(self.ask(rpc::conversations(None)), transcript)
    }

    /// Takes new snapshots for the old.
    fn begin_again(
        self,
        place: Place,
        list: ConversationList,
        transcript: Option<Result<Transcript, ApiError>>,
    ) {
        let here = place.conversation();
        let (transcript, error) = match transcript {
            Some(Ok(transcript)) => {
                self.keep_lost(transcript.conversation_id, list.as_of, Some(&transcript));
                (Some(transcript), None)
            }
            Some(Err(error)) => {
                let gone = here.filter(|_| error.code == ErrorCode::NotFound);
                match gone.and_then(|id| self.keep_lost(id, list.as_of, None)) {
                    Some(rest) => (Some(rest), None),
                    None => (None, Some(error)),
                }
            }
            None => (None, None),
        };
        // The person may have gone elsewhere meanwhile; the stream's start loads what is there.
        let shown = self.place.get_untracked().conversation();
        self.with(|state| {
            let dropped = state.session.restart(list, transcript);
            state
                .views
                .retain(|view| !dropped.contains(&view.id) || Some(view.id) == shown);
            state.dirty.list = true;
            if let Some(id) = here {
                state.dirty.conversation(id);
            }
        });
        if let (Some(id), Some(error)) = (here, &error) {
            self.could_not_load(id, error);
        }
        // What happened in between is not known.
        self.settings_changed();
        self.flush();
    }

    /// Positions only grow: if the log now ends before one that was here already, the server's data were replaced by
    /// older ones, and what is on the screen may be nowhere else. It stays; gives the conversation without it.
    fn keep_lost(self, id: ConversationId, head: Position, now: Option<&Transcript>) -> Option<Transcript> {
        if self.with(|state| state.session.cursor() <= head) {
            return None;
        }
        let (found, rest) = self.with_transcript(id, |held| {
            let mut rest = Transcript::new(id);
            rest.as_of = head;
            rest.title.clone_from(&held.title);
            rest.model.clone_from(&held.model);
            (lost(held, now), rest)
        })?;
        self.view(id).lose(found?);
        Some(rest)
    }
}

/// What an event brings for the panel.
fn made(event: EventBody) -> Option<PayloadRef> {
    match event {
        EventBody::ToolComplete { payload, .. } => payload,
        EventBody::PayloadMade { payload, .. } => Some(payload),
        _ => None,
    }
}

fn is_unavailable(data: &str) -> bool {
    matches!(json::read(data.as_bytes()), Ok(Notice::Unavailable))
}
