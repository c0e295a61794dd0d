//! When to hold the event stream, and when to try again: a pure machine.
//!
//! It knows no clock and no network. The driver tells it what happened and when, does what it answers,
//! and comes back at [`Link::deadline`].

/// Milliseconds on the driver's clock.
pub type Ms = f64;

/// The server sends a heartbeat at least every 15 seconds: after this long without a byte the connection is dead.
const SILENCE: Ms = 40_000.0;
/// How long an answer to the request for the stream may take.
const PATIENCE: Ms = 15_000.0;
/// A tab that is looked at again after a sleep, or hears that there is a network again, does not wait for the whole
/// silence to pass.
const DOUBTFUL: Ms = 18_000.0;
/// How long a hidden tab keeps its stream unless it is the chosen one. HTTP/1.1 allows six connections for all tabs
/// together: whoever leafs through many tabs must not have to wait until those left behind let go.
const LINGER: Ms = 500.0;
const FIRST_DELAY: Ms = 400.0;
const LONGEST_DELAY: Ms = 15_000.0;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// The page is ready: hold the stream from now on.
    Start,
    /// The server answered.
    Opened,
    /// Bytes came, if only a heartbeat.
    Heard,
    /// The stream ended or could not be had.
    Lost,
    /// The state is being loaded anew; a stream is of no use until the next `Start`.
    Pause,
    /// There is a network again, or the server has answered something else.
    Online,
    /// The network is gone, says the browser, which knows no better whether the server can be reached.
    Offline,
    Visible,
    Hidden,
    /// Of all hidden tabs, this one goes on: for its title.
    Chosen,
    /// The deadline passed.
    Tick,
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Open a stream, in place of the one that there may be.
    Connect,
    /// Close the stream.
    Disconnect,
}

/// What the person should know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Nothing is wrong: the first connection is being made, or nobody looks.
    #[default]
    Quiet,
    Connected,
    /// What happens on the server does not show here at the moment.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Off,
    Connecting {
        since: Ms,
    },
    Open {
        heard: Ms,
    },
    Waiting {
        until: Ms,
    },
    /// Hidden for long: waits to be seen.
    Asleep,
}

/// The state of the connection.
#[derive(Debug)]
pub struct Link {
    state: State,
    /// Connections that failed in a row.
    failures: u32,
    hidden_since: Option<Ms>,
    /// Hidden, and allowed to go on.
    chosen: bool,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            state: State::Off,
            failures: 0,
            hidden_since: None,
            chosen: false,
        }
    }
}

impl Link {
    /// Takes what happened at `now`. `random` is in 0..1 and spreads the clients of a server that came back.
    pub fn step(&mut self, input: Input, now: Ms, random: f64) -> Option<Effect> {
        match input {
            // Of many tabs that are opened in the background, each would hold a stream of its own.
            Input::Start if self.hidden_since.is_some() && !self.chosen => self.state = State::Asleep,
            Input::Start => return self.connect(now),
            Input::Pause => {
                self.state = State::Off;
                return Some(Effect::Disconnect);
            }
            Input::Hidden => {
                self.hidden_since.get_or_insert(now);
            }
            Input::Chosen if self.hidden_since.is_some() => {
                self.chosen = true;
                if self.state == State::Asleep {
                    return self.connect(now);
                }
            }
            Input::Visible => {
                self.hidden_since = None;
                self.chosen = false;
                if self.is_doubtful(now) || matches!(self.state, State::Waiting { .. } | State::Asleep) {
                    return self.connect(now);
                }
            }
            Input::Online if self.is_doubtful(now) || matches!(self.state, State::Waiting { .. }) => {
                return self.connect(now);
            }
            // If it is true, that is said at once and not after a long silence; if not, the stream goes on with another one.
            Input::Offline if matches!(self.state, State::Open { .. }) => return self.connect(now),
            Input::Opened if matches!(self.state, State::Connecting { .. }) => {
                self.state = State::Open { heard: now };
            }
            Input::Heard => {
                if let State::Open { heard } = &mut self.state {
                    *heard = now;
                    self.failures = 0;
                }
            }
            Input::Lost if matches!(self.state, State::Connecting { .. } | State::Open { .. }) => {
                self.wait(now, random);
            }
            Input::Tick => return self.tick(now, random),
            Input::Online | Input::Offline | Input::Opened | Input::Lost | Input::Chosen => {}
        }
        None
    }

    fn tick(&mut self, now: Ms, random: f64) -> Option<Effect> {
        if self.rest_at().is_some_and(|at| now >= at) && !matches!(self.state, State::Off | State::Asleep) {
            self.state = State::Asleep;
            return Some(Effect::Disconnect);
        }
        match self.state {
            State::Waiting { until } if now >= until => self.connect(now),
            State::Open { heard } if now - heard >= SILENCE => self.connect(now),
            State::Connecting { since } if now - since >= PATIENCE => {
                self.wait(now, random);
                Some(Effect::Disconnect)
            }
            _ => None,
        }
    }

    /// A stream that stands, but has been silent for longer than the server ever is.
    fn is_doubtful(&self, now: Ms) -> bool {
        matches!(self.state, State::Open { heard } if now - heard > DOUBTFUL)
    }

    fn connect(&mut self, now: Ms) -> Option<Effect> {
        self.state = State::Connecting { since: now };
        Some(Effect::Connect)
    }

    fn wait(&mut self, now: Ms, random: f64) {
        let longest = (FIRST_DELAY * 2f64.powi(self.failures.min(10) as i32)).min(LONGEST_DELAY);
        self.failures += 1;
        self.state = State::Waiting {
            until: now + longest * (0.5 + random / 2.0),
        };
    }

    /// When to come back with [`Input::Tick`], if nothing else happens before.
    pub fn deadline(&self) -> Option<Ms> {
        let own = match self.state {
            State::Off | State::Asleep => return None,
            State::Connecting { since } => since + PATIENCE,
            State::Open { heard } => heard + SILENCE,
            State::Waiting { until } => until,
        };
        Some(self.rest_at().map_or(own, |at| own.min(at)))
    }

    /// When a hidden tab gives its stream back.
    fn rest_at(&self) -> Option<Ms> {
        self.hidden_since
            .filter(|_| !self.chosen)
            .map(|since| since + LINGER)
    }

    /// What the person should know about the connection.
    pub fn status(&self) -> Status {
        match self.state {
            State::Open { .. } => Status::Connected,
            State::Waiting { .. } => Status::Lost,
            State::Connecting { .. } if self.failures > 0 => Status::Lost,
            State::Off | State::Asleep | State::Connecting { .. } => Status::Quiet,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Link {
        let mut link = Link::default();
        assert_eq!(link.step(Input::Start, 0.0, 0.0), Some(Effect::Connect));
        assert_eq!(link.step(Input::Opened, 10.0, 0.0), None);
        link
    }

    #[test]
    fn a_lost_stream_is_tried_again_later_and_later_until_it_is_heard() {
        let mut link = open();
        let mut now = 10.0;
        let mut delays = Vec::new();
        for _ in 0..8 {
            link.step(Input::Lost, now, 1.0);
            let until = link.deadline().unwrap();
            delays.push(until - now);
            assert_eq!(link.step(Input::Tick, until - 1.0, 1.0), None);
            assert_eq!(link.step(Input::Tick, until, 1.0), Some(Effect::Connect));
            assert_eq!(link.status(), Status::Lost);
            now = until;
        }
        assert_eq!(
            delays,
            [400.0, 800.0, 1600.0, 3200.0, 6400.0, 12_800.0, 15_000.0, 15_000.0]
        );
        link.step(Input::Opened, now, 0.0);
        link.step(Input::Heard, now, 0.0);
        assert_eq!(link.status(), Status::Connected);
        link.step(Input::Lost, now, 0.0);
        assert_eq!(link.deadline(), Some(now + 200.0), "jitter halves it at most");
    }

    #[test]
    fn a_stream_that_opens_and_ends_at_once_is_not_hammered() {
        let mut link = open();
        link.step(Input::Lost, 10.0, 1.0);
        link.step(Input::Tick, 410.0, 1.0);
        link.step(Input::Opened, 420.0, 1.0);
        link.step(Input::Lost, 420.0, 1.0);
        assert_eq!(link.deadline(), Some(1220.0));
    }

    #[test]
    fn silence_means_that_the_connection_is_dead() {
        let mut link = open();
        link.step(Input::Heard, 15_000.0, 0.0);
        assert_eq!(link.deadline(), Some(55_000.0));
        assert_eq!(link.step(Input::Tick, 54_999.0, 0.0), None);
        assert_eq!(link.step(Input::Tick, 55_000.0, 0.0), Some(Effect::Connect));
        assert_eq!(
            link.step(Input::Tick, 70_000.0, 0.0),
            Some(Effect::Disconnect),
            "no answer either"
        );
        assert_eq!(link.status(), Status::Lost);
    }

    #[test]
    fn a_hidden_tab_gives_its_stream_back_and_takes_one_up_when_seen() {
        let mut link = open();
        link.step(Input::Hidden, 1000.0, 0.0);
        assert_eq!(link.deadline(), Some(1500.0));
        assert_eq!(link.step(Input::Tick, 2000.0, 0.0), Some(Effect::Disconnect));
        assert_eq!((link.deadline(), link.status()), (None, Status::Quiet));
        assert_eq!(link.step(Input::Lost, 2001.0, 0.0), None, "its own closing");
        assert_eq!(link.step(Input::Online, 2002.0, 0.0), None);
        assert_eq!(link.step(Input::Visible, 90_000.0, 0.0), Some(Effect::Connect));
    }

    #[test]
    fn of_the_hidden_tabs_the_chosen_one_goes_on() {
        let mut link = open();
        link.step(Input::Hidden, 1000.0, 0.0);
        link.step(Input::Chosen, 1100.0, 0.0);
        assert_eq!(link.step(Input::Tick, 2000.0, 0.0), None);
        assert_eq!(link.status(), Status::Connected);

        let mut link = open();
        link.step(Input::Hidden, 1000.0, 0.0);
        link.step(Input::Tick, 2000.0, 0.0);
        assert_eq!(
            link.step(Input::Chosen, 60_000.0, 0.0),
            Some(Effect::Connect),
            "its turn came"
        );
        link.step(Input::Opened, 60_010.0, 0.0);
        link.step(Input::Visible, 61_000.0, 0.0);
        link.step(Input::Hidden, 62_000.0, 0.0);
        assert_eq!(
            link.step(Input::Tick, 63_000.0, 0.0),
            Some(Effect::Disconnect),
            "chosen once is not for ever"
        );
    }

    #[test]
    fn a_short_look_elsewhere_changes_nothing() {
        let mut link = open();
        link.step(Input::Hidden, 1000.0, 0.0);
        assert_eq!(link.step(Input::Visible, 1400.0, 0.0), None);
        assert_eq!(link.step(Input::Tick, 2000.0, 0.0), None);
        assert_eq!(link.status(), Status::Connected);
    }

    #[test]
    fn a_tab_that_is_opened_in_the_background_waits_for_its_turn() {
        let mut link = Link::default();
        link.step(Input::Hidden, 0.0, 0.0);
        assert_eq!(link.step(Input::Start, 1.0, 0.0), None);
        assert_eq!((link.deadline(), link.status()), (None, Status::Quiet));
        assert_eq!(link.step(Input::Visible, 5000.0, 0.0), Some(Effect::Connect));

        let mut link = Link::default();
        link.step(Input::Hidden, 0.0, 0.0);
        link.step(Input::Start, 1.0, 0.0);
        assert_eq!(link.step(Input::Chosen, 5.0, 0.0), Some(Effect::Connect));
    }

    #[test]
    fn a_network_that_is_back_is_reason_to_doubt_a_silent_stream() {
        let mut link = open();
        assert_eq!(
            link.step(Input::Online, 12_000.0, 0.0),
            None,
            "heard a moment ago"
        );
        assert_eq!(link.step(Input::Online, 19_000.0, 0.0), Some(Effect::Connect));
    }

    #[test]
    fn a_network_that_is_gone_is_noticed_at_once() {
        let mut link = open();
        assert_eq!(link.step(Input::Offline, 20.0, 0.0), Some(Effect::Connect));
        assert_eq!(link.status(), Status::Quiet, "it may be the network of others");
        link.step(Input::Lost, 30.0, 0.0);
        assert_eq!(link.status(), Status::Lost);
        assert_eq!(link.step(Input::Offline, 40.0, 0.0), None);
        assert_eq!(link.step(Input::Online, 50.0, 0.0), Some(Effect::Connect));
    }

    #[test]
    fn waking_up_tries_at_once() {
        let mut link = open();
        link.step(Input::Lost, 10.0, 1.0);
        assert_eq!(link.step(Input::Online, 20.0, 0.0), Some(Effect::Connect));
        link.step(Input::Opened, 30.0, 0.0);
        assert_eq!(
            link.step(Input::Visible, 3_600_000.0, 0.0),
            Some(Effect::Connect),
            "slept for an hour"
        );
    }

    #[test]
    fn nothing_is_connected_while_the_state_is_loaded_anew() {
        let mut link = open();
        assert_eq!(link.step(Input::Pause, 50.0, 0.0), Some(Effect::Disconnect));
        for input in [
            Input::Lost,
            Input::Online,
            Input::Visible,
            Input::Tick,
            Input::Heard,
        ] {
            assert_eq!(link.step(input, 99_000.0, 0.0), None);
        }
        assert_eq!(link.step(Input::Start, 99_000.0, 0.0), Some(Effect::Connect));
    }
}
