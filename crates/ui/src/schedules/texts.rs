//! The texts of the page *Schedules*.

use parlor_protocol::{Dollars, Schedule, Weekday};

pub(super) use crate::components::texts::{CANCEL, DELETE, TRY_AGAIN};

pub(super) const LEAD: &str = "A schedule sends a prompt at planned times, also while this page is closed. Each time begins a conversation.";
pub(super) const NEW: &str = "New schedule";
pub(super) const EMPTY: &str = "There are no schedules yet";
pub(super) const EMPTY_HELP: &str =
    "Write the first one here, or press “Repeat” below a message of yours in any conversation.";
pub(super) const OFF: &str = "Schedules are switched off";
pub(super) const OFF_HELP: &str = "Nothing is sent by itself on this server. An administrator can switch schedules on (setting schedules.enabled).";
pub(super) const LOAD_FAILED: &str = "The schedules could not be loaded";
pub(super) const LOADING: &str = "Loading…";
pub(super) const NOTHING_HERE: &str = "There is nothing at this address.";
pub(super) const NOT_FOUND: &str = "There is no schedule at this address.";
pub(super) const NEEDS_SCRIPTS: &str = "Schedules are changed with scripts only.";

// A schedule of the list
pub(super) const NEXT: &str = "Next:";
pub(super) const LAST: &str = "Last:";
pub(super) const PAUSED: &str = "Paused";
pub(super) const ENDED: &str = "Ended";
pub(super) const WAITS: &str = "waits for you";
pub(super) const RUNNING: &str = "is under way";
pub(super) const FAILED: &str = "failed";
pub(super) const RUN: &str = "Run now";
pub(super) const PAUSE: &str = "Pause";
pub(super) const RESUME: &str = "Resume";
pub(super) const DELETED: &str = "The schedule is deleted. Its conversations and reports stay.";
pub(super) const STARTED: &str = "Started. The conversation is in the list.";
pub(super) const REPORT_STARTED: &str = "Started. The report is on the page Reports.";

pub(super) fn run(name: &str) -> String {
    [RUN, ": ", name].concat()
}

pub(super) fn pause(name: &str) -> String {
    [PAUSE, ": ", name].concat()
}

pub(super) fn resume(name: &str) -> String {
    [RESUME, ": ", name].concat()
}

pub(super) fn delete(name: &str) -> String {
    [DELETE, ": ", name].concat()
}

/// The planned times in words: "Monday, Friday at 08:00 (Europe/Oslo), until 2026-12-31".
pub(super) fn times(schedule: &Schedule) -> String {
    let weekdays = &Weekday::ALL[..5];
    let days = match &schedule.days[..] {
        days if days == Weekday::ALL => "Every day".to_owned(),
        days if days == weekdays => "Monday to Friday".to_owned(),
        days => days.iter().map(|day| day.name()).collect::<Vec<_>>().join(", "),
    };
    let mut words = [&days, " at ", &schedule.time, " (", &schedule.time_zone, ")"].concat();
    if let Some(last) = &schedule.ends_on {
        words.push_str(", until ");
        words.push_str(last);
    }
    words
}

pub(super) fn cost(cost: Dollars, limit: Option<Dollars>) -> String {
    let cost = cost.to_short_label();
    match limit {
        Some(limit) => [&cost, " of ", &limit.to_short_label(), " this month"].concat(),
        None => [&cost, " this month"].concat(),
    }
}

// The form
pub(super) const EDIT_TITLE: &str = "Edit schedule";
pub(super) const BACK: &str = "All schedules";
pub(super) const PROMPT: &str = "Prompt";
pub(super) const REPORT_OF: &str = "It makes a report of your stream.";
pub(super) const SHOW_STREAM: &str = "Show the stream";
pub(super) const REPORT_LIMIT: &str = "Limit of one report, in US dollars";
pub(super) const PROMPT_PLACEHOLDER: &str = "Such as: What is new about asthma in children since last week?";
pub(super) const NAME: &str = "Name";
pub(super) const DAYS: &str = "Days";
pub(super) const TIME: &str = "Time";
pub(super) const TIME_ZONE: &str = "Time zone";
pub(super) const TIME_ZONE_EXAMPLE: &str = "Europe/Copenhagen";
pub(super) const ENDS_ON: &str = "Last day (optional)";
pub(super) const MODEL: &str = "Model";
pub(super) const DEFAULT_MODEL: &str = "The default model at that time";
pub(super) const ONLY_NEW: &str = "Only tell me if there is something new";
pub(super) const RUN_LIMIT: &str = "Limit of one answer, in US dollars";
pub(super) const MONTH_LIMIT: &str = "Limit of a month, in US dollars";
pub(super) const NO_LIMIT: &str = "No limit";
pub(super) const LIMITS_HELP: &str = "An answer ends at its limit, a report waits there. At the limit of the month, the schedule pauses. Your daily limits apply, too.";
pub(super) const NO_AMOUNT: &str = "A limit is an amount in dollars, such as 0.50. Nothing was saved.";
pub(super) const SAVE: &str = "Save";
pub(super) const SAVING: &str = "Saving…";
pub(super) const SAVED: &str = "The schedule is saved.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_words() {
        let mut schedule = Schedule {
            name: String::new(),
            prompt: String::new(),
            stream_id: None,
            model: None,
            tools: Vec::new(),
            days: Weekday::ALL.to_vec(),
            time: "08:00".into(),
            time_zone: "UTC".into(),
            ends_on: None,
            only_new: false,
            run_limit: None,
            month_limit: None,
            is_paused: false,
        };
        assert_eq!(times(&schedule), "Every day at 08:00 (UTC)");
        schedule.days.truncate(5);
        assert_eq!(times(&schedule), "Monday to Friday at 08:00 (UTC)");
        schedule.days.truncate(2);
        schedule.ends_on = Some("2026-12-31".into());
        assert_eq!(
            times(&schedule),
            "Monday, Tuesday at 08:00 (UTC), until 2026-12-31"
        );
        assert_eq!(
            cost(Dollars(120_000_000), Some(Dollars(5_000_000_000))),
            "$0.12 of $5 this month"
        );
    }
}
