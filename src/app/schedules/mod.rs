//! Schedules: saving, deleting and running them by hand. [`timer`] sends them at their planned times.
//!
//! A schedule is a timer that sends a message as its user would; all else is the business of runs. Another kind of scheduled work
//! would have its own step in `timer::send` and share the rest.

use parlor_base::planned_times::{PlannedTimes, month_start};
use parlor_protocol::{
    ApiError, ConversationId, ErrorCode, Interaction, ListedSchedule, MessageId, RunSchedule, Schedule,
    ScheduleId, ScheduleList, ScheduledMessage, Timestamp,
    intent::{SendMessage, StartedRun},
};
use parlor_storage::{
    Change,
    schedules::{Firing, ScheduleChange},
};

use super::{AppState, Caller, fingerprint, not_found};

pub mod timer;

/// The maximum number of tools that a schedule names.
const MAX_TOOLS: usize = 20;

/// Returns the caller's schedules.
pub async fn list(caller: &Caller) -> Result<ScheduleList, ApiError> {
    let settings = &caller.app.settings.schedules;
    let month = month_start(caller.app.clock.now());
    Ok(ScheduleList {
        schedules: caller.app.storage.schedules(caller.user_id, month).await?,
        limit: if settings.enabled { settings.per_user } else { 0 },
    })
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
    let times = PlannedTimes::of(&schedule).map_err(|error| invalid(&error.to_string()))?;
    let known = caller
        .app
        .storage
        .schedule(caller.user_id, id, month_start(now))
        .await?;
    if let Some(known) = known
        && known.schedule == schedule
    {
        return Ok(known);
    }
    let next_at = times.next_after(now).filter(|_| !schedule.is_paused);
    if next_at.is_none() && !schedule.is_paused {
        return Err(invalid(
            "No planned time is left until the last day. Choose a later one.",
        ));
    }
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

/// Sends the prompt of a schedule now, besides its planned times, also if it is paused.
///
/// # Errors
///
/// As for a message of the user, or if there is no such schedule.
pub async fn run(caller: &Caller, intent: RunSchedule) -> Result<StartedRun, ApiError> {
    require_enabled(&caller.app)?;
    let fingerprint = fingerprint(&intent)?;
    let RunSchedule {
        intent_id,
        schedule_id,
    } = intent;
    let now = caller.app.clock.now();
    let listed = get(caller, schedule_id).await?;
    let firing = Firing {
        schedule_id,
        planned_at: now,
        started_at: now,
        turn: None,
    };
    let message = SendMessage {
        intent_id,
        // A repeated request does not get as far as needing other ids.
        ..message(&listed, now, 0)
    };
    let runs = &caller.app.runs;
    Ok(runs
        .send_scheduled(caller.user_id, message, firing, fingerprint)
        .await?)
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
    }
}

/// Returns the title of a conversation that a schedule begins: its name and the day in its time zone.
fn title(schedule: &Schedule, planned_at: Timestamp) -> String {
    let name = schedule.shown_name();
    let zone = PlannedTimes::of(schedule).map(|times| times.zone().clone());
    let day = jiff::Timestamp::from_millisecond(planned_at.0)
        .ok()
        .zip(zone.ok())
        .map(|(at, zone)| at.to_zoned(zone).strftime("%b %-d").to_string());
    match day {
        Some(day) => format!("{name}, {day}"),
        None => name,
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
    if schedule.prompt.trim().is_empty() {
        return Err(invalid("Write what should be asked."));
    }
    if schedule.prompt.len() > limits.message_bytes {
        let max = limits.message_bytes;
        return Err(invalid(&format!(
            "The prompt is longer than a message may be: {max} bytes (setting limits.message_bytes)."
        )));
    }
    schedule.days.sort_unstable();
    schedule.days.dedup();
    let runs = &caller.app.runs;
    schedule.model = match schedule.model.filter(|model| !model.is_empty()) {
        Some(model) => Some(runs.find_model(caller.user_id, &model).await?),
        None => None,
    };
    if schedule.tools.len() > MAX_TOOLS {
        return Err(invalid(&format!("A schedule names at most {MAX_TOOLS} tools.")));
    }
    let permissions = runs.permissions(caller.user_id).await?;
    if let Some(unknown) = schedule
        .tools
        .iter()
        .find(|tool| !runs.is_tool_offered(&permissions, tool))
    {
        return Err(invalid(&format!("There is no tool “{unknown}” for you.")));
    }
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
