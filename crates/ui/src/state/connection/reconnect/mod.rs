//! The reconnect policy of the event stream: a pure state machine without clock or network.
//!
//! The driver passes in each event with its time, performs the returned effect, and comes back at
//! [`ReconnectPolicy::deadline`].

/// Milliseconds on the driver's clock.
pub type Ms = f64;

/// The server sends a heartbeat at least every 15 seconds: after this long without a byte the connection is dead.
const SILENCE_TIMEOUT: Ms = 40_000.0;
/// The time limit for the response to the stream request.
const OPEN_TIMEOUT: Ms = 15_000.0;
/// The silence limit for a tab that becomes visible after a sleep or comes back online, which does not wait for the
/// full timeout.
const WAKE_SILENCE_TIMEOUT: Ms = 18_000.0;
/// The time for which a hidden tab keeps its stream unless it holds the lock. HTTP/1.1 allows six connections for all
/// tabs together: with many tabs open, the visible one must not have to wait for the hidden ones to disconnect.
const HIDDEN_CLOSE_DELAY: Ms = 500.0;
const MIN_RETRY_DELAY: Ms = 400.0;
const MAX_RETRY_DELAY: Ms = 15_000.0;
/// The delay after which the server is asked again for a damaged log, in case it was repaired.
const DAMAGED_LOG_DELAY: Ms = 60_000.0;
/// The age from which a stream counts as useful even without an event. The server sends its first heartbeat before it
/// has read the log, so bytes alone prove nothing.
const STABLE_AGE: Ms = 5_000.0;

/// An input of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConnectionEvent {
    /// The page is ready: connect and stay connected.
    Start,
    /// The server responded.
    Opened,
    /// Bytes arrived, including heartbeats.
    Received,
    /// The server reports that its log is damaged: to connect again does not help.
    LogDamaged,
    /// The stream ended or could not be opened.
    Closed,
    /// The state is being loaded again; a stream is useless until the next `Start`.
    Pause,
    /// The network is back, or the server responded to another request.
    Online,
    /// The browser reports that the network is gone. This does not prove that the server is unreachable.
    Offline,
    Visible,
    Hidden,
    /// This hidden tab holds the lock and stays connected, for the sake of its title.
    LockGranted,
    /// The deadline passed.
    Tick,
}

/// An effect for the driver to perform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEffect {
    /// Open a stream, replacing the present one, if any.
    Connect,
    /// Close the stream.
    Disconnect,
}

/// The connection status for the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// Nothing to report: the first connection is being made, or the page is hidden.
    #[default]
    Idle,
    Connected,
    /// Changes on the server do not arrive at the moment.
    Disconnected,
    /// Changes on the server do not arrive until its log is repaired. A reload shows them.
    LogDamaged,
}

/// The reason to wait before the next connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitReason {
    /// The server could not be reached, perhaps. It is asked as soon as it responds to another request.
    Unreachable,
    /// The server is reachable, and its streams are useless: that it responds to another request is no reason to connect
    /// earlier.
    Useless,
    /// The server reports a damaged log: its streams are useless, too, and the wait is longer (`DAMAGED_LOG_DELAY`).
    LogDamaged,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StreamState {
    Off,
    Connecting {
        since: Ms,
    },
    Open {
        since: Ms,
        heard: Ms,
    },
    BackingOff {
        until: Ms,
        reason: WaitReason,
    },
    /// Hidden for long: disconnected until the page is visible.
    Suspended,
}

/// The state of the connection.
#[derive(Debug)]
pub struct ReconnectPolicy {
    state: StreamState,
    /// Failed connections in a row.
    failures: u32,
    /// Reloads of the state in a row, without an event between them.
    resyncs: u32,
    hidden_since: Option<Ms>,
    /// True if the page is hidden and allowed to stay connected.
    is_lock_holder: bool,
}

impl Default for ReconnectPolicy {
    fn default() -> Self {
        Self {
            state: StreamState::Off,
            failures: 0,
            resyncs: 0,
            hidden_since: None,
            is_lock_holder: false,
        }
    }
}

impl ReconnectPolicy {
    /// Handles an event at `now`. `random` is in 0..1 and spreads the reconnects of many clients after a restart of the
    /// server.
    pub fn step(&mut self, input: ConnectionEvent, now: Ms, random: f64) -> Option<ConnectionEffect> {
        match input {
            // Many tabs opened in the background would otherwise hold a stream each.
            ConnectionEvent::Start if self.hidden_since.is_some() && !self.is_lock_holder => {
                self.state = StreamState::Suspended
            }
            // The log can't be followed from the state that was just loaded: to load it at once again would not end.
            ConnectionEvent::Start if self.resyncs > 1 => {
                self.state = StreamState::BackingOff {
                    until: now + retry_delay(self.resyncs - 1, random),
                    reason: WaitReason::Useless,
                };
            }
            ConnectionEvent::Start => return self.connect(now),
            ConnectionEvent::Pause => {
                self.reset_failures_if_stable(now);
                self.resyncs += 1;
                self.state = StreamState::Off;
                return Some(ConnectionEffect::Disconnect);
            }
            ConnectionEvent::Hidden => {
                self.hidden_since.get_or_insert(now);
            }
            ConnectionEvent::LockGranted if self.hidden_since.is_some() => {
                self.is_lock_holder = true;
                if self.state == StreamState::Suspended {
                    return self.connect(now);
                }
            }
            ConnectionEvent::Visible => {
                self.hidden_since = None;
                self.is_lock_holder = false;
                if self.is_silent_too_long(now)
                    || matches!(
                        self.state,
                        StreamState::BackingOff { .. } | StreamState::Suspended
                    )
                {
                    return self.connect(now);
                }
            }
            ConnectionEvent::Online
                if self.is_silent_too_long(now)
                    || matches!(
                        self.state,
                        StreamState::BackingOff {
                            reason: WaitReason::Unreachable,
                            ..
                        }
                    ) =>
            {
                return self.connect(now);
            }
            // If the network is really gone, this shows it without waiting for the silence timeout; if not, a new
            // stream takes over.
            ConnectionEvent::Offline if matches!(self.state, StreamState::Open { .. }) => {
                return self.connect(now);
            }
            ConnectionEvent::Opened if matches!(self.state, StreamState::Connecting { .. }) => {
                self.state = StreamState::Open {
                    since: now,
                    heard: now,
                };
            }
            ConnectionEvent::Received => {
                if let StreamState::Open { heard, .. } = &mut self.state {
                    *heard = now;
                    self.reset_failures_if_stable(now);
                }
            }
            ConnectionEvent::LogDamaged if matches!(self.state, StreamState::Open { .. }) => {
                self.failures += 1;
                self.state = StreamState::BackingOff {
                    until: now + DAMAGED_LOG_DELAY * (0.5 + random / 2.0),
                    reason: WaitReason::LogDamaged,
                };
                return Some(ConnectionEffect::Disconnect);
            }
            ConnectionEvent::Closed
                if matches!(
                    self.state,
                    StreamState::Connecting { .. } | StreamState::Open { .. }
                ) =>
            {
                self.schedule_retry(now, random);
            }
            ConnectionEvent::Tick => return self.tick(now, random),
            ConnectionEvent::Online
            | ConnectionEvent::Offline
            | ConnectionEvent::Opened
            | ConnectionEvent::LogDamaged
            | ConnectionEvent::Closed
            | ConnectionEvent::LockGranted => {}
        }
        None
    }

    fn tick(&mut self, now: Ms, random: f64) -> Option<ConnectionEffect> {
        if self.hidden_close_at().is_some_and(|at| now >= at)
            && !matches!(self.state, StreamState::Off | StreamState::Suspended)
        {
            self.state = StreamState::Suspended;
            return Some(ConnectionEffect::Disconnect);
        }
        match self.state {
            StreamState::BackingOff { until, .. } if now >= until => self.connect(now),
            StreamState::Open { heard, .. } if now - heard >= SILENCE_TIMEOUT => self.connect(now),
            StreamState::Connecting { since } if now - since >= OPEN_TIMEOUT => {
                self.schedule_retry(now, random);
                Some(ConnectionEffect::Disconnect)
            }
            _ => None,
        }
    }

    /// Returns true if an open stream has been silent for longer than the server's heartbeat interval allows.
    fn is_silent_too_long(&self, now: Ms) -> bool {
        matches!(self.state, StreamState::Open { heard, .. } if now - heard > WAKE_SILENCE_TIMEOUT)
    }

    fn connect(&mut self, now: Ms) -> Option<ConnectionEffect> {
        self.state = StreamState::Connecting { since: now };
        Some(ConnectionEffect::Connect)
    }

    fn schedule_retry(&mut self, now: Ms, random: f64) {
        self.reset_failures_if_stable(now);
        let reason = match self.state {
            StreamState::Open { .. } if self.failures > 0 => WaitReason::Useless,
            _ => WaitReason::Unreachable,
        };
        self.state = StreamState::BackingOff {
            until: now + retry_delay(self.failures, random),
            reason,
        };
        self.failures += 1;
    }

    /// Forgets earlier failures: the stream is useful, for instance because an event of the log arrived.
    pub fn reset_failures(&mut self) {
        self.failures = 0;
        self.resyncs = 0;
    }

    fn reset_failures_if_stable(&mut self, now: Ms) {
        if matches!(self.state, StreamState::Open { since, .. } if now - since >= STABLE_AGE) {
            self.reset_failures();
        }
    }

    /// Returns true if the state was loaded again and no event has arrived since.
    pub fn was_resynced(&self) -> bool {
        self.resyncs > 0
    }

    /// The time for the next [`ConnectionEvent::Tick`], if nothing else happens before.
    pub fn deadline(&self) -> Option<Ms> {
        let own = match self.state {
            StreamState::Off | StreamState::Suspended => return None,
            StreamState::Connecting { since } => since + OPEN_TIMEOUT,
            StreamState::Open { heard, .. } => heard + SILENCE_TIMEOUT,
            StreamState::BackingOff { until, .. } => until,
        };
        Some(self.hidden_close_at().map_or(own, |at| own.min(at)))
    }

    /// The time at which a hidden tab closes its stream.
    fn hidden_close_at(&self) -> Option<Ms> {
        self.hidden_since
            .filter(|_| !self.is_lock_holder)
            .map(|since| since + HIDDEN_CLOSE_DELAY)
    }

    /// The connection status for the user.
    pub fn status(&self) -> ConnectionStatus {
        match self.state {
            StreamState::Open { .. } => ConnectionStatus::Connected,
            StreamState::BackingOff {
                reason: WaitReason::LogDamaged,
                ..
            } => ConnectionStatus::LogDamaged,
            StreamState::BackingOff { .. } => ConnectionStatus::Disconnected,
            StreamState::Connecting { .. } if self.failures > 0 => ConnectionStatus::Disconnected,
            StreamState::Off | StreamState::Suspended | StreamState::Connecting { .. } => {
                ConnectionStatus::Idle
            }
        }
    }
}

/// Returns the delay after a number of earlier failures.
fn retry_delay(failures: u32, random: f64) -> Ms {
    let longest = (MIN_RETRY_DELAY * 2f64.powi(failures.min(10) as i32)).min(MAX_RETRY_DELAY);
    longest * (0.5 + random / 2.0)
}

#[cfg(test)]
mod tests;
