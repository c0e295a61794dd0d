//! Days and times: the date groups of the list, and the format of times.
//!
//! The server knows no time zone but UTC, and the browser must render the same first page. So the first clock is the
//! server's, sent with the page; after hydration the browser's own takes over.

use leptos::prelude::*;

use super::{each::ItemKey, signal::set_if_changed, texts};
use crate::browser;
use parlor_protocol::{Timestamp, time};

const MS_PER_DAY: i64 = 86_400_000;

/// The source of the time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The server's. `today` is the day on which the page was made.
    Utc { today: i64 },
    /// The browser's, in its own zone.
    Local { today: i64 },
}

impl Clock {
    /// The server's clock at `now`.
    pub fn utc(now: Timestamp) -> Self {
        Self::Utc {
            today: now.days_since_epoch(),
        }
    }

    /// The browser's current clock.
    pub fn local() -> Self {
        Self::Local {
            today: browser::local_day(browser::now()),
        }
    }

    /// The group of the list for a last activity at `at`.
    pub fn group(self, at: Timestamp) -> DateGroup {
        match self {
            Self::Utc { today } => DateGroup::for_day(at.days_since_epoch(), today),
            Self::Local { today } => DateGroup::for_day(browser::local_day(at), today),
        }
    }

    /// A time in its shortest clear form, for a message.
    pub fn format_time(self, at: Timestamp) -> String {
        match self {
            Self::Utc { .. } => {
                let minutes = at.0.rem_euclid(MS_PER_DAY) / 60_000;
                let mut text = at.to_long_date();
                text.push_str(", ");
                for (number, after) in [(minutes / 60, ":"), (minutes % 60, " UTC")] {
                    if number < 10 {
                        text.push('0');
                    }
                    text.push_str(&number.to_string());
                    text.push_str(after);
                }
                text
            }
            Self::Local { .. } => browser::local_time(at),
        }
    }
}

/// The page's clock. One per page.
#[derive(Clone, Copy)]
pub struct PageClock(RwSignal<Clock>);

impl PageClock {
    /// The server's clock at `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(RwSignal::new(Clock::utc(now)))
    }

    /// The current clock. Tracked.
    pub fn get(self) -> Clock {
        self.0.get()
    }

    /// Sets the clock to the browser's time zone and date: after hydration, and later because days pass while a page is open.
    pub fn update(self) {
        set_if_changed(&self.0, &Clock::local());
    }
}

/// The clock of the page.
pub fn use_clock() -> PageClock {
    expect_context()
}

/// A date group of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DateGroup {
    Today,
    Yesterday,
    Week,
    Month { year: i64, month: u32 },
}

impl DateGroup {
    fn for_day(day: i64, today: i64) -> Self {
        match today - day {
            // A slightly wrong clock must not make a group of its own.
            ..=0 => Self::Today,
            1 => Self::Yesterday,
            2..=7 => Self::Week,
            _ => {
                let (year, month, _) = Timestamp(day * MS_PER_DAY).utc_date();
                Self::Month { year, month }
            }
        }
    }

    /// Returns the heading of the group in the list of conversations.
    pub fn label(self) -> String {
        match self {
            Self::Today => texts::TODAY.into(),
            Self::Yesterday => texts::YESTERDAY.into(),
            Self::Week => texts::PREVIOUS_WEEK.into(),
            Self::Month { year, month } => texts::month(time::MONTH_NAMES[month as usize - 1], year),
        }
    }
}

impl From<DateGroup> for ItemKey {
    fn from(group: DateGroup) -> Self {
        match group {
            DateGroup::Today => ItemKey(0, 0),
            DateGroup::Yesterday => ItemKey(0, 1),
            DateGroup::Week => ItemKey(0, 2),
            // No year is 0.
            DateGroup::Month { year, month } => ItemKey(year.cast_unsigned(), u64::from(month)),
        }
    }
}

/// A duration in its shortest clear form: "0.4 s", "12 s", "3 min 5 s". `None` below a tenth of a second.
pub fn format_duration(ms: u64) -> Option<String> {
    (ms >= 100).then(|| format_tenths(ms))
}

fn format_tenths(ms: u64) -> String {
    match (ms / 1000, ms / 100 % 10) {
        (seconds @ 0..10, tenths) => {
            texts::seconds(&[&seconds.to_string(), ".", &tenths.to_string()].concat())
        }
        (seconds, _) => format_seconds(seconds),
    }
}

/// Whole seconds: "12 s", "3 min 5 s".
pub fn format_seconds(seconds: u64) -> String {
    let (minutes, seconds) = (seconds / 60, (seconds % 60).to_string());
    match minutes {
        0 => texts::seconds(&seconds),
        _ => texts::minutes(&minutes.to_string(), &seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_day_then_month() {
        let now = Timestamp(1_795_300_051_123); // 21 November 2026, 22:27
        let clock = Clock::utc(now);
        let cases = [
            (0, "Today"),
            (22, "Today"),
            (23, "Yesterday"),
            (46, "Yesterday"),
            (47, "Previous 7 days"),
            (24 * 7, "Previous 7 days"),
            (24 * 8, "November 2026"),
            (24 * 30, "October 2026"),
            (24 * 365, "November 2025"),
            (-3, "Today"),
        ];
        for (hours_ago, label) in cases {
            let at = Timestamp(now.0 - hours_ago * 3_600_000);
            assert_eq!(clock.group(at).label(), label, "{hours_ago} hours ago");
        }
    }

    #[test]
    fn server_times_name_their_zone() {
        let now = Timestamp(1_795_300_051_123);
        assert_eq!(Clock::utc(now).format_time(now), "21 November 2026, 22:27 UTC");
    }

    #[test]
    fn formats_durations_briefly() {
        for (ms, text) in [
            (99, None),
            (449, Some("0.4 s")),
            (9_999, Some("9.9 s")),
            (12_345, Some("12 s")),
            (185_000, Some("3 min 5 s")),
        ] {
            assert_eq!(format_duration(ms).as_deref(), text);
        }
    }
}
