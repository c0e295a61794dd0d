//! Points in time and their formats on the server: always UTC, so that the server's page and the browser's
//! first render agree. After hydration the browser shows them in its own time zone.
//!
//! jiff, which the server uses for time zones, was weighed: the two formats of this file with it add 49 KB to
//! the WASM as sent (jiff 0.2 without time zone data).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(rename = "Time")]
pub struct Timestamp(pub i64);

/// The months' names, January first.
pub const MONTH_NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const MS_PER_DAY: i64 = 86_400_000;

impl Timestamp {
    /// The day in UTC, counted from 1970-01-01.
    pub fn days_since_epoch(self) -> i64 {
        self.0.div_euclid(MS_PER_DAY)
    }

    /// Year, month (1 to 12) and day of the month in UTC.
    ///
    /// Howard Hinnant's `civil_from_days`, <https://howardhinnant.github.io/date_algorithms.html>.
    pub fn utc_date(self) -> (i64, u32, u32) {
        let days = self.days_since_epoch() + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
        let month = if month_from_march < 10 {
            month_from_march + 3
        } else {
            month_from_march - 9
        } as u32;
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (year, month, day)
    }

    /// `2026-11-21T22:27:31Z` (RFC 3339), for `<time datetime>`.
    pub fn to_rfc3339(self) -> String {
        let (year, month, day) = self.utc_date();
        let seconds = self.0.rem_euclid(MS_PER_DAY) / 1000;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// `21 November 2026`, for a heading or a label in UTC.
    pub fn to_long_date(self) -> String {
        let (year, month, day) = self.utc_date();
        format!("{day} {} {year}", MONTH_NAMES[month as usize - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_calendar() {
        let cases = [
            (0, "1970-01-01T00:00:00Z", "1 January 1970"),
            (951_782_400_000, "2000-02-29T00:00:00Z", "29 February 2000"),
            (-1, "1969-12-31T23:59:59Z", "31 December 1969"),
            (1_795_300_051_123, "2026-11-21T22:27:31Z", "21 November 2026"),
        ];
        for (ms, rfc3339, long) in cases {
            assert_eq!(
                (
                    Timestamp(ms).to_rfc3339().as_str(),
                    Timestamp(ms).to_long_date().as_str()
                ),
                (rfc3339, long)
            );
        }
    }
}
