//! The planned times of schedules: days and a local time, in a time zone with its changes to daylight saving.

use jiff::{
    civil::{Date, DateTime, Time, Weekday as JiffWeekday},
    tz::{AmbiguousOffset, TimeZone},
};

use parlor_protocol::{Schedule, Timestamp, Weekday};

/// The number of days after which an instant is not looked for any more. Each day of the week is among them.
const MAX_DAYS: usize = 8;

/// The largest number of missed times that is counted.
const MAX_MISSED: usize = 1000;

/// The reason why a schedule has no planned times, in a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTimes {
    #[error("Choose at least one day of the week.")]
    NoDay,
    #[error("“{0}” is not a time. Write hours and minutes, such as 08:00.")]
    Time(String),
    #[error("There is no time zone “{0}”. Name one as IANA does, such as Europe/Copenhagen.")]
    TimeZone(String),
    #[error("“{0}” is not a day. Write year, month and day, such as 2026-12-31.")]
    EndsOn(String),
}

/// The planned times of a schedule.
#[derive(Clone, Debug)]
pub struct PlannedTimes {
    days: Vec<Weekday>,
    time: Time,
    zone: TimeZone,
    ends_on: Option<Date>,
}

/// The newest planned time of a range, and the number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueTimes {
    pub newest: Timestamp,
    pub count: usize,
}

impl TryFrom<&Schedule> for PlannedTimes {
    type Error = InvalidTimes;

    fn try_from(schedule: &Schedule) -> Result<Self, InvalidTimes> {
        if schedule.days.is_empty() {
            return Err(InvalidTimes::NoDay);
        }
        let time = parse_time(&schedule.time).ok_or_else(|| InvalidTimes::Time(schedule.time.clone()))?;
        let zone = TimeZone::get(&schedule.time_zone)
            .map_err(|_| InvalidTimes::TimeZone(schedule.time_zone.clone()))?;
        let ends_on = schedule.ends_on.as_ref().map(|day| {
            let parsed = day.parse::<Date>();
            parsed.map_err(|_| InvalidTimes::EndsOn(day.clone()))
        });
        Ok(Self {
            days: schedule.days.clone(),
            time,
            zone,
            ends_on: ends_on.transpose()?,
        })
    }
}

impl PlannedTimes {
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Returns the first planned time after `after`, if there is one.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let after_there = jiff::Timestamp::from_millisecond(after.0).ok()?;
        let mut day = after_there.to_zoned(self.zone.clone()).date();
        for _ in 0..=MAX_DAYS {
            if self.ends_on.is_some_and(|last| day > last) {
                return None;
            }
            if self.days.contains(&weekday(day))
                && let Some(at) = self.instant(day)
                && at > after
            {
                return Some(at);
            }
            day = day.tomorrow().ok()?;
        }
        None
    }

    /// Returns the planned times from `first`, which is one, until `now`.
    pub fn due(&self, first: Timestamp, now: Timestamp) -> DueTimes {
        let mut due = DueTimes {
            newest: first,
            count: 1,
        };
        while due.count < MAX_MISSED
            && let Some(next) = self.next_after(due.newest).filter(|next| *next <= now)
        {
            due.newest = next;
            due.count += 1;
        }
        due
    }

    /// Returns the instant of the planned time on a day: of a local time that does not exist, the moment of the change; of one
    /// that exists twice, the first.
    fn instant(&self, day: Date) -> Option<Timestamp> {
        let local = DateTime::from_parts(day, self.time);
        let ambiguous = self.zone.to_ambiguous_timestamp(local);
        let is_gap = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
        let at = match is_gap {
            false => ambiguous.earlier().ok()?,
            // The offset before the change puts it after the change.
            true => {
                let later = ambiguous.later().ok()?;
                let after = later.checked_add(jiff::SignedDuration::from_nanos(1)).ok()?;
                let change = self.zone.preceding(after).next();
                change.map_or(later, |change| change.timestamp())
            }
        };
        Some(Timestamp(at.as_millisecond()))
    }
}

/// Parses `HH:MM`.
fn parse_time(text: &str) -> Option<Time> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<i8>().ok().filter(|_| is_number)
    };
    Time::new(number(hours)?, number(minutes)?, 0, 0).ok()
}

fn weekday(day: Date) -> Weekday {
    match day.weekday() {
        JiffWeekday::Monday => Weekday::Monday,
        JiffWeekday::Tuesday => Weekday::Tuesday,
        JiffWeekday::Wednesday => Weekday::Wednesday,
        JiffWeekday::Thursday => Weekday::Thursday,
        JiffWeekday::Friday => Weekday::Friday,
        JiffWeekday::Saturday => Weekday::Saturday,
        JiffWeekday::Sunday => Weekday::Sunday,
    }
}

/// Returns the beginning of the month (UTC) of a time.
pub fn month_start(at: Timestamp) -> Timestamp {
    let start = jiff::Timestamp::from_millisecond(at.0).ok().and_then(|time| {
        let day = time.to_zoned(TimeZone::UTC).date();
        day.first_of_month().to_zoned(TimeZone::UTC).ok()
    });
    start.map_or(Timestamp(0), |start| {
        Timestamp(start.timestamp().as_millisecond())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(days: &[Weekday], time: &str, zone: &str) -> Schedule {
        Schedule {
            name: "News".into(),
            prompt: "What is new?".into(),
            stream_id: None,
            model: None,
            tools: Vec::new(),
            days: days.to_vec(),
            time: time.into(),
            time_zone: zone.into(),
            ends_on: None,
            only_new: false,
            run_limit: None,
            month_limit: None,
            is_paused: false,
        }
    }

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    /// Returns the planned times after `after` until `until`.
    fn times(schedule: &Schedule, after: &str, until: &str) -> Vec<String> {
        let planned = PlannedTimes::try_from(schedule).unwrap();
        let mut last = at(after);
        let mut found = Vec::new();
        while let Some(next) = planned.next_after(last).filter(|next| *next <= at(until)) {
            found.push(jiff::Timestamp::from_millisecond(next.0).unwrap().to_string());
            last = next;
        }
        found
    }

    #[test]
    fn left_out_time_is_the_moment_of_the_change() {
        // 02:00 to 03:00 does not exist on 29 March in Berlin.
        for time in ["02:00", "02:30", "02:59"] {
            let daily = schedule(&Weekday::ALL, time, "Europe/Berlin");
            let found = times(&daily, "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z");
            assert_eq!(found, ["2026-03-29T01:00:00Z"], "{time}");
        }
        let daily = schedule(&Weekday::ALL, "08:00", "Europe/Berlin");
        assert_eq!(
            times(&daily, "2026-03-28T00:00:00Z", "2026-03-29T12:00:00Z"),
            ["2026-03-28T07:00:00Z", "2026-03-29T06:00:00Z"]
        );
    }

    #[test]
    fn doubled_time_counts_once() {
        let daily = schedule(&Weekday::ALL, "02:30", "Europe/Berlin");
        assert_eq!(
            times(&daily, "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z"),
            ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
        );
    }

    #[test]
    fn zones_without_midnight_have_their_day() {
        // The day began at 01:00 in Beirut on 29 March 2026.
        let daily = schedule(&[Weekday::Sunday], "00:00", "Asia/Beirut");
        let found = times(&daily, "2026-03-28T00:00:00Z", "2026-04-05T12:00:00Z");
        assert_eq!(found, ["2026-03-28T22:00:00Z", "2026-04-04T21:00:00Z"]);
    }

    #[test]
    fn only_chosen_days_until_the_end() {
        let mut weekly = schedule(&[Weekday::Monday, Weekday::Friday], "08:00", "UTC");
        weekly.ends_on = Some("2026-12-07".into());
        assert_eq!(
            times(&weekly, "2026-11-30T08:00:00Z", "2027-11-30T08:00:00Z"),
            ["2026-12-04T08:00:00Z", "2026-12-07T08:00:00Z"]
        );
        let due = PlannedTimes::try_from(&weekly)
            .unwrap()
            .due(at("2026-11-30T08:00:00Z"), at("2026-12-20T00:00:00Z"));
        assert_eq!((due.newest, due.count), (at("2026-12-07T08:00:00Z"), 3));
    }

    #[test]
    fn invalid_fields_are_named() {
        let error = |schedule: Schedule| PlannedTimes::try_from(&schedule).unwrap_err();
        assert_eq!(error(schedule(&[], "08:00", "UTC")), InvalidTimes::NoDay);
        for time in ["8", "24:00", "8:00", "08:60", "-1:00", "08:00:00", "", "０８:00"] {
            assert_eq!(
                error(schedule(&Weekday::ALL, time, "UTC")),
                InvalidTimes::Time(time.into())
            );
        }
        let zone = error(schedule(&Weekday::ALL, "08:00", "Mars/Olympus"));
        assert!(zone.to_string().contains("Mars/Olympus"));
        let mut ends = schedule(&Weekday::ALL, "08:00", "UTC");
        ends.ends_on = Some("2026-02-30".into());
        assert!(matches!(error(ends), InvalidTimes::EndsOn(_)));
    }

    #[test]
    fn month_begins_on_its_first_day() {
        assert_eq!(
            month_start(at("2026-11-29T12:00:00Z")),
            at("2026-11-01T00:00:00Z")
        );
    }
}
