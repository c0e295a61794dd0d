//! The timer: sends the messages of schedules whose planned time has come.
//!
//! The start of a run commits together with the advance to the next planned time. A server that is killed before has sent nothing
//! and finds the same planned time at its next start; one that is killed after has sent it once.

use std::collections::HashSet;

use parlor_base::{
    clock,
    planned_times::{PlannedTimes, month_start},
};
use parlor_journal::JournalError;
use parlor_protocol::{Dollars, ErrorCode, JobId, ListedSchedule, ResearchStreamId, Timestamp, UserId};
use parlor_runs::{CallRefusal, StartError};
use parlor_storage::{
    Change, ChangeRejection, StorageError,
    schedules::{DueSchedule, ScheduleAdvance, ScheduleChange, ScheduledStart},
};

use crate::app::{AppState, fingerprint};
use parlor_pages::literature::Literature;

/// The number of due schedules that one look reads.
const MAX_DUE: usize = 1000;

/// Looks for due schedules periodically, for as long as the server runs.
pub async fn run_periodically(app: AppState) {
    if !app.settings.schedules.enabled {
        return;
    }
    let mut ticks = tokio::time::interval(app.settings.schedules.interval);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = send_due(&app).await {
            tracing::error!(%error, "the due schedules can't be read; trying again");
        }
    }
}

/// Sends the messages of all schedules whose planned time has come, as far as the limits allow.
///
/// # Errors
///
/// If the database can't be read.
pub async fn send_due(app: &AppState) -> Result<(), StorageError> {
    let now = app.clock.now();
    let due = app.storage.due_schedules(now, month_start(now), MAX_DUE).await?;
    // The users who have as many answers, or reports, as they may. Their schedules of that kind wait for an end.
    let mut busy = HashSet::new();
    let mut started = 0;
    for due in due {
        if started >= app.settings.schedules.starts {
            break;
        }
        let kind = (due.user_id, due.listed.schedule.stream_id.is_some());
        if busy.contains(&kind) {
            continue;
        }
        match send(app, &due, now).await {
            Sent::Started => started += 1,
            Sent::Waits => {
                busy.insert(kind);
            }
            Sent::Skipped => {}
        }
    }
    Ok(())
}

/// The effect of a planned time.
enum Sent {
    Started,
    /// It is still due.
    Waits,
    /// Nothing is sent for it.
    Skipped,
}

/// Sends the message of a schedule, or skips its planned time.
async fn send(app: &AppState, DueSchedule { user_id, listed }: &DueSchedule, now: Timestamp) -> Sent {
    let Some(from) = listed.next_at else {
        return Sent::Skipped;
    };
    let times = match PlannedTimes::try_from(&listed.schedule) {
        Ok(times) => times,
        // It was checked when it was saved, perhaps with other time zones.
        Err(error) => {
            let notice = format!("Paused: {error}");
            return skip(app, *user_id, listed, (from, SkipTo::Pause), &notice).await;
        }
    };
    let due = times.due(from, now);
    let next_at = times.next_after(now);
    if let Some(limit) = listed
        .schedule
        .month_limit
        .filter(|limit| listed.month_cost >= *limit)
    {
        let notice = format!(
            "Paused: it has cost {} this month; the limit is {}. Raise the limit and resume it, or resume it next month.",
            listed.month_cost.to_label(),
            limit.to_label()
        );
        return skip(app, *user_id, listed, (from, SkipTo::Pause), &notice).await;
    }
    // One run must not cost what is left for the month several times.
    let limited = &within_month(listed);
    let sends = match listed.schedule.stream_id {
        Some(_) => Sends::Report,
        None => Sends::Prompt,
    };
    let delay = now.0.saturating_sub(due.newest.0);
    let grace = i64::try_from(app.settings.schedules.grace.as_millis()).unwrap_or(i64::MAX);
    let is_late = delay > grace;
    let planned = clock::format_minute(due.newest, times.zone());
    let advance = ScheduleAdvance {
        id: listed.id,
        from,
        next_at,
        notice: missed_notice(sends, due.count, is_late, &planned),
    };
    let start = ScheduledStart {
        schedule_id: listed.id,
        planned_at: due.newest,
        started_at: now,
        advance: Some(advance),
    };
    if let Some(stream_id) = listed.schedule.stream_id {
        return make_report(app, (*user_id, limited), stream_id, start, &planned).await;
    }
    let message = super::message(limited, due.newest, if is_late { due.count } else { 0 });
    let Ok(fingerprint) = fingerprint(&message) else {
        return Sent::Skipped;
    };
    match app
        .runs
        .send_scheduled(*user_id, message, start, fingerprint)
        .await
    {
        Ok(_) => Sent::Started,
        // An end of one of the user's runs, the next start of the server, or a working database lets it go on.
        Err(
            StartError::Refused(CallRefusal::Runs { .. })
            | StartError::ShuttingDown
            | StartError::Journal(JournalError::Unavailable(_)),
        ) => Sent::Waits,
        // It was sent at this time before, or it was changed or deleted meanwhile: then the skip is rejected, too.
        Err(StartError::Journal(JournalError::Rejected(ChangeRejection::NotFound))) => {
            let notice = missed_notice(sends, due.count, false, &planned);
            skip(app, *user_id, listed, (from, SkipTo::Next(next_at)), &notice).await
        }
        Err(StartError::Refused(refusal)) => {
            let notice = format!("Not sent at {planned}: {} {}", refusal.reason(), refusal.advice());
            skip(app, *user_id, listed, (from, SkipTo::Next(next_at)), &notice).await
        }
        Err(error) => {
            let reason = parlor_protocol::ApiError::from(error).message;
            let notice = format!("Not sent at {planned}: {reason}");
            skip(app, *user_id, listed, (from, SkipTo::Next(next_at)), &notice).await
        }
    }
}

/// Starts the report of a schedule, or skips its planned time.
async fn make_report(
    app: &AppState,
    (user_id, listed): (UserId, &ListedSchedule),
    stream_id: ResearchStreamId,
    start: ScheduledStart,
    planned: &str,
) -> Sent {
    let Some(ScheduleAdvance { from, next_at, .. }) = start.advance.clone() else {
        return Sent::Skipped;
    };
    let model = listed.schedule.model.as_deref().unwrap_or_default();
    let obstacle = match (
        app.pages.get::<Literature>(),
        app.runs.call_refusal(user_id, model).await,
    ) {
        (_, Err(_)) => return Sent::Waits,
        (_, Ok(Some(refusal))) => Some(format!("{} {}", refusal.reason(), refusal.advice())),
        (Ok(literature), Ok(None)) => literature.search_unavailable_reason(),
        (Err(error), Ok(None)) => Some(error.message),
    };
    if let Some(obstacle) = obstacle {
        let notice = format!("Not made at {planned}: {obstacle}");
        return skip(app, user_id, listed, (from, SkipTo::Next(next_at)), &notice).await;
    }
    let started = match super::report_request(listed, stream_id, JobId::new(), start) {
        Ok(request) => app.jobs.start(user_id, request).await,
        Err(error) => Err(error),
    };
    match started {
        Ok(_) => Sent::Started,
        // An end of one of the user's jobs, the next start of the server, or a working database lets it go on.
        Err(error) if matches!(error.code, ErrorCode::LimitReached | ErrorCode::Unavailable) => Sent::Waits,
        // The schedule was deleted or changed meanwhile: then the skip is rejected, too.
        Err(error) if error.code == ErrorCode::NotFound => {
            let notice = "Paused: its stream was deleted. Its reports stay. Delete this schedule, and make one of another stream.";
            skip(app, user_id, listed, (from, SkipTo::Pause), notice).await
        }
        Err(error) => {
            let notice = format!("Not made at {planned}: {}", error.message);
            skip(app, user_id, listed, (from, SkipTo::Next(next_at)), &notice).await
        }
    }
}

/// The effect of a planned time that is skipped.
enum SkipTo {
    /// Another planned time, if one is left.
    Next(Option<Timestamp>),
    /// Nothing, until the user resumes the schedule.
    Pause,
}

/// Skips a planned time without sending anything.
async fn skip(
    app: &AppState,
    user_id: UserId,
    listed: &ListedSchedule,
    (from, to): (Timestamp, SkipTo),
    notice: &str,
) -> Sent {
    let (next_at, is_paused) = match to {
        SkipTo::Next(next_at) => (next_at, false),
        SkipTo::Pause => (None, true),
    };
    let change = ScheduleChange::Skip {
        advance: ScheduleAdvance {
            id: listed.id,
            from,
            next_at,
            notice: notice.into(),
        },
        is_paused,
    };
    match app.journal.submit(Change::Schedule { user_id, change }).await {
        Ok(_) | Err(JournalError::Rejected(_)) => Sent::Skipped,
        Err(error) => {
            tracing::error!(%error, "a schedule could not go on to its next planned time");
            Sent::Waits
        }
    }
}

/// Returns a schedule whose next run may cost what is left of the limit for a month, at most.
fn within_month(listed: &ListedSchedule) -> ListedSchedule {
    let mut limited = listed.clone();
    if let Some(month_limit) = listed.schedule.month_limit {
        let left = Dollars(month_limit.0.saturating_sub(listed.month_cost.0));
        let run_limit = &mut limited.schedule.run_limit;
        *run_limit = Some(run_limit.map_or(left, |limit| limit.min(left)));
    }
    limited
}

/// The work of a planned time.
#[derive(Clone, Copy, Debug)]
enum Sends {
    Prompt,
    Report,
}

impl Sends {
    /// Returns its name, and the verb for doing it.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Prompt => ("prompt", "sent"),
            Self::Report => ("report", "made"),
        }
    }
}

/// Returns a notice of missed times: of a start that stands for `count` planned times, the last of them `planned`.
fn missed_notice(sends: Sends, count: usize, is_late: bool, planned: &str) -> String {
    let (what, done) = sends.words();
    match (count, is_late) {
        (..=1, false) => String::new(),
        (..=1, true) => format!("The {what} could not be {done} at {planned}, and was {done} later."),
        (count, true) => format!(
            "The {what} could not be {done} at {count} planned times, the last at {planned}, and was {done} once for all of them."
        ),
        (2, false) => {
            format!("The planned time before {planned} was missed. The {what} was {done} once for both.")
        }
        (count, false) => format!(
            "{} planned times before {planned} were missed. The {what} was {done} once for all of them.",
            count - 1
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_may_cost_what_is_left_for_the_month() {
        let limit = |run: Option<f64>, month: Option<f64>, cost: f64| {
            let schedule = serde_json::json!({
                "name": "", "prompt": "What is new?", "days": ["monday"], "time": "08:00", "time_zone": "UTC",
                "run_limit": run, "month_limit": month, "is_paused": false,
            });
            let listed = serde_json::json!({
                "id": parlor_protocol::ScheduleId::new(), "schedule": schedule, "month_cost": cost,
            });
            let listed = serde_json::from_value::<ListedSchedule>(listed).unwrap();
            within_month(&listed).schedule.run_limit.map(|limit| limit.0)
        };
        assert_eq!(limit(None, None, 1.5), None);
        assert_eq!(limit(Some(3.0), None, 1.5), Some(3_000_000_000));
        assert_eq!(limit(None, Some(2.0), 1.5), Some(500_000_000));
        assert_eq!(limit(Some(3.0), Some(2.0), 1.5), Some(500_000_000));
        assert_eq!(limit(Some(0.25), Some(2.0), 1.5), Some(250_000_000));
    }

    #[test]
    fn only_missed_times_are_noticed() {
        for (count, is_late, notice) in [
            (1, false, ""),
            (
                1,
                true,
                "The prompt could not be sent at 08:00, and was sent later.",
            ),
            (
                2,
                false,
                "The planned time before 08:00 was missed. The prompt was sent once for both.",
            ),
            (
                3,
                false,
                "2 planned times before 08:00 were missed. The prompt was sent once for all of them.",
            ),
            (
                3,
                true,
                "The prompt could not be sent at 3 planned times, the last at 08:00, and was sent once for all of them.",
            ),
        ] {
            assert_eq!(missed_notice(Sends::Prompt, count, is_late, "08:00"), notice);
        }
        assert_eq!(
            missed_notice(Sends::Report, 1, true, "08:00"),
            "The report could not be made at 08:00, and was made later."
        );
    }
}
