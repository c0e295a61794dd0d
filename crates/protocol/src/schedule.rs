//! Schedules: prompts that are sent at planned times, without anybody at the page.
//!
//! A schedule is a timer that sends a message as its user would, or makes a report of a research stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ConversationId, Dollars, IntentId, JobId, PageFields, PageInfo, ResearchStreamId, RunStatus, Timestamp,
    flat_json::Fields,
    id::ScheduleId,
    intent::{StartedRun, derive_title},
};

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Weekday {
    pub const ALL: [Self; 7] = [
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
        Self::Sunday,
    ];

    /// Returns the name in English.
    pub fn name(self) -> &'static str {
        match self {
            Self::Monday => "Monday",
            Self::Tuesday => "Tuesday",
            Self::Wednesday => "Wednesday",
            Self::Thursday => "Thursday",
            Self::Friday => "Friday",
            Self::Saturday => "Saturday",
            Self::Sunday => "Sunday",
        }
    }
}

/// A prompt with the times at which it is sent, as its user has set them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Schedule {
    /// The name, with which the conversations begin. Empty: the beginning of the prompt.
    #[schemars(default)]
    pub name: String,
    /// The message that is sent; empty if a report is made.
    #[schemars(default)]
    pub prompt: String,
    /// The research stream of which a report is made at the planned times, in place of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<ResearchStreamId>,
    /// The model to answer, as `endpoint/model`; without it, the default one of that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The names of tools that the model has to use before it answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub tools: Vec<String>,
    /// The days on which it is sent: at least one.
    pub days: Vec<Weekday>,
    /// The local time at which it is sent, as `HH:MM`. A time that a change to daylight saving leaves out is the moment of the
    /// change; one that occurs twice counts the first time.
    pub time: String,
    /// The IANA name of the time zone, such as `Europe/Copenhagen`.
    pub time_zone: String,
    /// The last day, as `YYYY-MM-DD`; without it, there is no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_on: Option<String>,
    /// True if the answer may say that there is nothing new. It is then not marked as unread.
    #[schemars(default)]
    pub only_new: bool,
    /// The cost of one answer, in US dollars, at which it ends, or of one report, at which it waits: more than 0. Models without known prices cost nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_limit: Option<Dollars>,
    /// The cost of a calendar month (UTC), in US dollars, at which the schedule pauses: more than 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub month_limit: Option<Dollars>,
    /// True if it is not sent until it is resumed.
    #[schemars(default)]
    pub is_paused: bool,
}

impl Schedule {
    /// Returns the name, or the beginning of the prompt if there is none.
    pub fn shown_name(&self) -> String {
        match self.name.trim() {
            "" => derive_title(&self.prompt, None),
            name => name.into(),
        }
    }

    /// Returns true if it has the planned times of another one, and is paused as that is.
    pub fn has_times_of(&self, other: &Self) -> bool {
        (
            &self.days,
            &self.time,
            &self.time_zone,
            &self.ends_on,
            self.is_paused,
        ) == (
            &other.days,
            &other.time,
            &other.time_zone,
            &other.ends_on,
            other.is_paused,
        )
    }
}

/// A schedule with its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ListedSchedule {
    pub id: ScheduleId,
    pub schedule: Schedule,
    /// The next planned time; missing if it is paused or has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// The last time that it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<ScheduledRun>,
    /// The cost of its answers in this calendar month (UTC), in US dollars.
    pub month_cost: Dollars,
    /// A notice for its user: times that were missed or skipped, the reason of a pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// One answer of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ScheduledRun {
    pub planned_at: Timestamp,
    pub started_at: Timestamp,
    /// Missing if the conversation was deleted, and for reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// The report that was made; missing if it was deleted, and for messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_id: Option<JobId>,
    /// The state of the answer or the report; `waiting` if it waits for its user. Missing if it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<RunStatus>,
}

/// A user's schedules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ScheduleList {
    /// The schedules, oldest first.
    pub schedules: Vec<ListedSchedule>,
    /// The number of schedules that a user can have; 0 if schedules are switched off.
    pub limit: usize,
}

/// Sends the prompt of a schedule now, besides its planned times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSchedule {
    pub intent_id: IntentId,
    pub schedule_id: ScheduleId,
}

/// The answer or the report that a schedule has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleStarted {
    Answer(StartedRun),
    Report(JobId),
}

/// The page of the schedules.
pub static SCHEDULES_PAGE: PageInfo = PageInfo {
    name: "schedules",
    path: "/schedules",
    title: "Schedules",
    has_tray: false,
};

/// The page has no fields of its own in a message's context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulesFields {}

impl PageFields for SchedulesFields {
    const PAGE: &'static str = SCHEDULES_PAGE.name;
}

/// A place on the page of the schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleLocation {
    /// All schedules.
    List,
    /// The form of a new one.
    New,
    /// The form of one.
    Edit(ScheduleId),
}

impl ScheduleLocation {
    /// Reads a URL. `None` if there is nothing at it.
    pub fn parse(url: &str) -> Option<Self> {
        let path = url.split('?').next().unwrap_or_default();
        let below = path.strip_prefix(SCHEDULES_PAGE.path)?.trim_matches('/');
        match below {
            "" => Some(Self::List),
            "new" => Some(Self::New),
            id => id.parse().ok().map(Self::Edit),
        }
    }

    pub fn to_url(self) -> String {
        match self {
            Self::List => SCHEDULES_PAGE.path.into(),
            Self::New => [SCHEDULES_PAGE.path, "/new"].concat(),
            Self::Edit(id) => [SCHEDULES_PAGE.path, "/", &id.to_string()].concat(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_have_urls() {
        let id = ScheduleId::new();
        for location in [
            ScheduleLocation::List,
            ScheduleLocation::New,
            ScheduleLocation::Edit(id),
        ] {
            assert_eq!(ScheduleLocation::parse(&location.to_url()), Some(location));
        }
        assert_eq!(
            ScheduleLocation::parse("/schedules/?a=1"),
            Some(ScheduleLocation::List)
        );
        for nowhere in ["/schedules/x", "/streams", "/schedulesnew/1"] {
            assert_eq!(ScheduleLocation::parse(nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn a_schedule_is_read_as_written() {
        let written = r#"{"name":"","prompt":"What is new?","days":["monday","friday"],"time":"08:00","time_zone":"UTC","only_new":true,"run_limit":0.5,"is_paused":false}"#;
        let read: Schedule = serde_json::from_str(written).unwrap();
        assert_eq!(read.shown_name(), "What is new?");
        assert_eq!(
            (read.run_limit, read.only_new),
            (Some(Dollars(500_000_000)), true)
        );
        assert_eq!(serde_json::to_string(&read).unwrap(), written);
        let short = r#"{"prompt":"a","days":[],"time":"08:00","time_zone":"UTC"}"#;
        assert!(serde_json::from_str::<Schedule>(short).is_ok());
    }
}
