//! Schedules: saving, deleting and running them by hand. [`timer`] sends them at their planned times.
//!
//! A schedule is a timer that sends a message as its user would, or starts a report; all else is the business of runs and jobs.

use parlor_base::{
    clock,
    planned_times::{PlannedTimes, month_start},
};
use parlor_protocol::{
    ApiError, ConversationId, Dollars, ErrorCode, Interaction, JobId, ListedSchedule, MessageId, RawJson,
    ResearchStreamId, RunSchedule, Schedule, ScheduleId, ScheduleList, ScheduleStarted, ScheduledMessage,
    Timestamp,
    intent::SendMessage,
    report::{REPORT, ReportInput},
};
use parlor_runs::jobs::JobRequest;
use parlor_storage::{
    Change,
    schedules::{ScheduleChange, ScheduledStart},
};

use super::{AppState, Caller, fingerprint, not_found};

pub mod timer;

/// Returns the caller's schedules.
pub async fn list(caller: &Caller) -> Result<ScheduleList, ApiError> {
    let (storage, settings) = (&*caller.app.storage, &caller.app.settings.schedules);
    Ok(parlor_pages::schedules::list(storage, settings, caller.user_id, caller.app.clock.now()).await?)
}

/// Returns one of the caller's schedules.
///
/// # Errors
///
/// If there is none.
pub async fn get(caller: &Caller, id: ScheduleId) -> Result<ListedSchedule, ApiError> {
    let month = month_start(caller.app.clock.now());
    let found = caller.app.storage.schedule(caller.user_id, id, month).await?;
    found.ok_or_else(not_found)
}

/// Saves a schedule: a new one, or another version of one. A request that changes nothing has no effect, so that a repeated one
/// skips no planned time.
///
/// # Errors
///
/// If a field is not valid, or the limit of schedules is reached. The saved one is kept.
pub async fn save(caller: &Caller, id: ScheduleId, schedule: Schedule) -> Result<ListedSchedule, ApiError> {
    require_enabled(&caller.app)?;
    let schedule = check(caller, schedule).await?;
    let now = caller.app.clock.now();
    let times = PlannedTimes::try_from(&schedule).map_err(|error| invalid(&error.to_string()))?;
    let known = caller
        .app
        .storage
        .schedule(caller.user_id, id, month_start(now))
        .await?;
    let next_at = match known {
        Some(known) if known.schedule == schedule => return Ok(known),
        // One that is due stays due, and one that has ended stays so.
        Some(known) if known.schedule.has_times_of(&schedule) => known.next_at,
        _ if schedule.is_paused => None,
        _ => Some(
            times
                .next_after(now)
                .ok_or_else(|| invalid("No planned time is left until the last day. Choose a later one."))?,
        ),
    };
    let change = ScheduleChange::Save {
        id,
        schedule: Box::new(schedule),
        next_at,
        limit: caller.app.settings.schedules.per_user,
    };
    submit(caller, change).await?;
    get(caller, id).await
}

/// Deletes a schedule. Its conversations stay. Deleting it again is not an error.
pub async fn delete(caller: &Caller, id: ScheduleId) -> Result<(), ApiError> {
    submit(caller, ScheduleChange::Delete { id }).await
}

/// Sends the prompt of a schedule now, or makes its report, besides its planned times, also if it is paused.
///
/// # Errors
///
/// As for a message of the user, or if there is no such schedule.
pub async fn run(caller: &Caller, intent: RunSchedule) -> Result<ScheduleStarted, ApiError> {
    let fingerprint = fingerprint(&intent)?;
    let RunSchedule {
        intent_id,
        schedule_id,
    } = intent;
    let (runs, user_id) = (&caller.app.runs, caller.user_id);
    // A repeated request for an answer needs neither the schedule nor other ids.
    if let Some(started) = runs.started_run(user_id, intent_id, &fingerprint).await? {
        return Ok(ScheduleStarted::Answer(started));
    }
    require_enabled(&caller.app)?;
    let now = caller.app.clock.now();
    let listed = get(caller, schedule_id).await?;
    let start = ScheduledStart {
        schedule_id,
        planned_at: now,
        started_at: now,
        advance: None,
    };
    if let Some(stream_id) = listed.schedule.stream_id {
        let request = report_request(&listed, stream_id, JobId(intent_id.0), start)?;
        let started = caller.app.jobs.start(user_id, request).await?;
        return Ok(ScheduleStarted::Report(started.job.id));
    }
    let message = SendMessage {
        intent_id,
        ..message(&listed, now, 0)
    };
    let started = runs.send_scheduled(user_id, message, start, fingerprint).await?;
    Ok(ScheduleStarted::Answer(started))
}

/// Returns the request for the report of a schedule.
fn report_request(
    listed: &ListedSchedule,
    stream_id: ResearchStreamId,
    id: JobId,
    start: ScheduledStart,
) -> Result<JobRequest, ApiError> {
    let input = serde_json::to_string(&ReportInput { stream_id }).map_err(ApiError::unreadable)?;
    let schedule = &listed.schedule;
    Ok(JobRequest {
        id,
        fingerprint: fingerprint(&(&input, listed.id))?,
        kind: REPORT.into(),
        input: RawJson::parse_or_quote(&input),
        model: schedule.model.clone(),
        cost_limit: schedule.run_limit,
        scheduled: Some(start),
    })
}

/// Returns the message that a schedule sends at a planned time, which stands for `missed` ones.
fn message(listed: &ListedSchedule, planned_at: Timestamp, missed: usize) -> SendMessage {
    let ListedSchedule { id, schedule, .. } = listed;
    let scheduled = ScheduledMessage {
        schedule_id: *id,
        title: title(schedule, planned_at),
        planned_at,
        missed,
        only_new: schedule.only_new,
        run_limit: schedule.run_limit,
    };
    SendMessage {
        intent_id: parlor_protocol::IntentId::new(),
        conversation_id: ConversationId::new(),
        user_message_id: MessageId::new(),
        text: schedule.prompt.clone(),
        files: Vec::new(),
        replaces: None,
        model: schedule.model.clone(),
        force_tools: schedule.tools.clone(),
        parameters: None,
        interaction: Interaction::Scheduled(Box::new(scheduled)),
        context: None,
        temporary: false,
        project_id: None,
    }
}

/// Returns the title of a conversation that a schedule begins: its name and the day in its time zone.
fn title(schedule: &Schedule, planned_at: Timestamp) -> String {
    let name = schedule.shown_name();
    match PlannedTimes::try_from(schedule) {
        Ok(times) => format!("{name}, {}", clock::format_day(planned_at, times.zone())),
        Err(_) => name,
    }
}

/// Checks the fields of a schedule besides its times, and completes them.
async fn check(caller: &Caller, mut schedule: Schedule) -> Result<Schedule, ApiError> {
    let limits = &caller.app.settings.limits;
    schedule.name = schedule.name.split_whitespace().collect::<Vec<_>>().join(" ");
    if schedule.name.chars().count() > limits.title_characters {
        let max = limits.title_characters;
        return Err(invalid(&format!("A name has at most {max} characters.")));
    }
    match schedule.stream_id {
        Some(_) if !schedule.prompt.is_empty() || !schedule.tools.is_empty() || schedule.only_new => {
            return Err(invalid(
                "A schedule sends a prompt or makes a report of a stream, and not both.",
            ));
        }
        Some(stream_id) => {
            let stream = caller
                .app
                .storage
                .research_stream(caller.user_id, stream_id)
                .await?;
            match stream {
                Some(stream) if schedule.name.is_empty() => schedule.name = stream.name,
                Some(_) => {}
                // One whose stream is gone can still be renamed.
                None if schedule.is_paused && !schedule.name.is_empty() => {}
                None => {
                    return Err(invalid(
                        "There is no such stream. Choose another one in the form of a new report.",
                    ));
                }
            }
        }
        None if schedule.prompt.trim().is_empty() => return Err(invalid("Write what should be asked.")),
        None => {}
    }
    if schedule.prompt.len() > limits.message_bytes {
        let max = limits.message_bytes;
        return Err(invalid(&format!(
            "The prompt is longer than a message may be: {max} bytes (setting limits.message_bytes)."
        )));
    }
    if [schedule.run_limit, schedule.month_limit].contains(&Some(Dollars(0))) {
        return Err(invalid("A limit is more than 0."));
    }
    schedule.days.sort_unstable();
    schedule.days.dedup();
    let runs = &caller.app.runs;
    schedule.model = runs
        .find_named_model(caller.user_id, schedule.model.as_deref())
        .await?;
    runs.check_tools(caller.user_id, &schedule.tools, None).await?;
    Ok(schedule)
}

fn require_enabled(app: &AppState) -> Result<(), ApiError> {
    if app.settings.schedules.enabled {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::Forbidden,
        "Schedules are switched off on this server (setting schedules.enabled). Nothing was changed.",
    ))
}

fn invalid(message: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, format!("{message} Nothing was saved."))
}

async fn submit(caller: &Caller, change: ScheduleChange) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    caller
        .app
        .journal
        .submit(Change::Schedule { user_id, change })
        .await?;
    Ok(())
}
