//! The connection to the server: requests with a time limit, and the event stream with its reconnects.
//!
//! It knows no events. It passes the frames of the stream to its listener, which reports the position to resume at.

mod reconnect;
mod request;

use leptos::prelude::*;

pub use self::reconnect::ConnectionStatus;
use self::reconnect::{ConnectionEffect, ConnectionEvent, Ms, ReconnectPolicy};
pub(super) use self::request::{check_user, load_error_text, report_signed_out};
use crate::{
    browser::{self, PresenceEvent, ResponseEvent},
    runtime::page_state::PageState,
};
use parlor_protocol::{
    Position,
    sse::{SseDecoder, SseFrame},
};

/// Far above the server's limit for one event.
const MAX_FRAME_BYTES: usize = 16 << 20;
/// The URL of the user's log, up to the position.
const USER_EVENTS: &str = "/rpc/events?after=";
/// The lock whose holder, a hidden tab, keeps its stream.
const HIDDEN_TAB_LOCK: &str = "parlor-hidden";

/// The connection. One per page.
#[derive(Clone, Copy)]
pub struct Connection {
    state: PageState<ConnectionState>,
    status: RwSignal<ConnectionStatus>,
}

/// Input from the event stream.
pub(super) enum StreamInput {
    /// The stream is open after a time in which changes did not arrive.
    Connected,
    /// The frames of the received bytes. They are `Incomplete` if bytes after them can't be decoded.
    Frames(Vec<SseFrame>),
    Incomplete(Vec<SseFrame>),
    /// The server refused the stream, as there are too many.
    TooMany,
}

#[derive(Default)]
struct ConnectionState {
    policy: ReconnectPolicy,
    /// The last applied position, after which the stream resumes.
    cursor: Position,
    listener: Option<Callback<StreamInput>>,
    /// The URL of the stream up to the position at which it starts; `None` for the user's log.
    events_url: Option<String>,
    /// Counts the streams, so that late events of an old stream are not taken for the new one's.
    generation: u32,
    /// Closes the stream when dropped.
    stream: Option<browser::EventStream>,
    decoder: Option<SseDecoder>,
    /// Wakes the reconnect policy at its deadline. Waking early is harmless: the timer is set again.
    timer: Option<(Ms, browser::Timer)>,
    /// True if the snapshots are being loaded again.
    is_paused: bool,
    /// The request to be the one hidden tab that stays connected; set while the page is hidden.
    lock: Option<browser::TabLock>,
}

impl Connection {
    pub(super) fn new() -> Self {
        Self {
            state: PageState::default(),
            status: RwSignal::default(),
        }
    }

    /// The status for the user. Tracked.
    pub fn status(self) -> ConnectionStatus {
        self.status.get()
    }

    /// The last applied position.
    pub fn cursor(self) -> Position {
        self.state.with(|state| state.cursor)
    }

    pub(super) fn set_cursor(self, cursor: Position) {
        self.state.with(|state| state.cursor = cursor);
    }

    /// Sets the cursor to the position of an event of the stream.
    pub(super) fn advance(self, cursor: Position) {
        self.state.with(|state| {
            state.cursor = cursor;
            state.policy.reset_failures();
        });
    }

    /// Returns true if the snapshots were loaded again and no event has arrived since.
    pub(super) fn was_resynced(self) -> bool {
        self.state.with(|state| state.policy.was_resynced())
    }

    /// Closes the stream for long, because the server's log is damaged.
    pub(super) fn report_damaged_log(self) {
        self.step(ConnectionEvent::LogDamaged);
    }

    /// Follows another log than the user's: that of a share.
    pub(super) fn set_events_url(self, url: String) {
        self.state.with(|state| state.events_url = Some(url));
    }

    /// Opens the stream, in the browser, after hydration.
    pub(super) fn start(self, listener: Callback<StreamInput>) {
        self.state.with(|state| state.listener = Some(listener));
        self.step(ConnectionEvent::Start);
    }

    /// Closes the stream while snapshots are loaded. Returns false if it is closed for that already.
    pub(super) fn pause(self) -> bool {
        if self
            .state
            .with(|state| std::mem::replace(&mut state.is_paused, true))
        {
            return false;
        }
        self.step(ConnectionEvent::Pause);
        true
    }

    /// Shows that the server can't be reached, while the connection is paused.
    pub(super) fn mark_disconnected(self) {
        self.status.set(ConnectionStatus::Disconnected);
    }

    /// Opens the stream again.
    pub(super) fn resume(self) {
        self.state.with(|state| state.is_paused = false);
        self.step(ConnectionEvent::Start);
    }

    /// Handles a change of the page's visibility or of the network.
    pub(super) fn on_presence(self, presence: PresenceEvent) {
        match presence {
            PresenceEvent::Visible => {
                self.state.with(|state| state.lock = None);
                self.step(ConnectionEvent::Visible);
            }
            PresenceEvent::Hidden => {
                self.step(ConnectionEvent::Hidden);
                let lock =
                    browser::wait_for_lock(HIDDEN_TAB_LOCK, move || self.step(ConnectionEvent::LockGranted));
                self.state.with(|state| state.lock = lock);
            }
            PresenceEvent::Offline => self.step(ConnectionEvent::Offline),
            PresenceEvent::Online => self.step(ConnectionEvent::Online),
        }
    }

    fn step(self, input: ConnectionEvent) {
        let now = browser::monotonic_ms();
        let (effect, status, is_paused) = self.state.with(|state| {
            let effect = state.policy.step(input, now, browser::random());
            (effect, state.policy.status(), state.is_paused)
        });
        match effect {
            Some(ConnectionEffect::Connect) => self.connect(),
            Some(ConnectionEffect::Disconnect) => self.state.with(|state| state.stream = None),
            None => {}
        }
        // While it is paused, the status stays.
        if self.status.get_untracked() != status && !is_paused {
            self.status.set(status);
            if status == ConnectionStatus::Connected {
                self.report(StreamInput::Connected);
            }
        }
        self.set_timer(now);
    }

    fn set_timer(self, now: Ms) {
        self.state.with(|state| {
            let Some(deadline) = state.policy.deadline() else {
                state.timer = None;
                return;
            };
            if state.timer.as_ref().is_some_and(|(at, _)| *at <= deadline) {
                return;
            }
            let wake = move || {
                self.state.with(|state| state.timer = None);
                self.step(ConnectionEvent::Tick);
            };
            state.timer = Some((deadline, browser::set_timeout((deadline - now).max(0.0), wake)));
        });
    }

    fn connect(self) {
        self.state.with(|state| {
            state.generation += 1;
            state.decoder = Some(SseDecoder::new(MAX_FRAME_BYTES));
            let number = state.generation;
            let mut url = match &state.events_url {
                Some(url) => url.clone(),
                None => String::from(USER_EVENTS),
            };
            url.push_str(&state.cursor.0.to_string());
            // Close the old stream before the new one opens.
            state.stream = None;
            state.stream = Some(browser::open_event_stream(&url, move |event| {
                self.on_stream_event(number, event)
            }));
        });
    }

    fn on_stream_event(self, number: u32, event: ResponseEvent) {
        if self
            .state
            .with(|state| state.generation != number || state.stream.is_none())
        {
            return;
        }
        match event {
            ResponseEvent::Opened => self.step(ConnectionEvent::Opened),
            ResponseEvent::TooMany => self.report(StreamInput::TooMany),
            ResponseEvent::Ended => self.step(ConnectionEvent::Closed),
            ResponseEvent::Bytes(bytes) => {
                self.step(ConnectionEvent::Received);
                self.report(self.state.with(|state| state.decode(&bytes)));
            }
        }
    }

    fn report(self, input: StreamInput) {
        if let Some(listener) = self.state.with(|state| state.listener) {
            listener.run(input);
        }
    }
}

impl ConnectionState {
    fn decode(&mut self, bytes: &[u8]) -> StreamInput {
        let mut frames = Vec::new();
        let decoded = self
            .decoder
            .as_mut()
            .map(|decoder| decoder.push(bytes, &mut frames));
        match decoded {
            Some(Err(_)) => StreamInput::Incomplete(frames),
            _ => StreamInput::Frames(frames),
        }
    }
}
