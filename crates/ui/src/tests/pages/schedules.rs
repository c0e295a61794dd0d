//! The data of the page *Schedules*.

use parlor_protocol::{
    Dollars, ListedSchedule, RunStatus, Schedule, ScheduleId, ScheduleList, ScheduledRun, Timestamp, Weekday,
};

/// A schedule in each state: planned, paused, ended.
pub fn list(text: &str) -> ScheduleList {
    let schedule = |is_paused| Schedule {
        name: text.into(),
        prompt: text.into(),
        stream_id: None,
        model: Some(text.into()),
        tools: vec![text.into()],
        days: vec![Weekday::Monday],
        time: "08:00".into(),
        time_zone: text.into(),
        ends_on: Some(text.into()),
        only_new: true,
        run_limit: Some(Dollars(5)),
        month_limit: Some(Dollars(5)),
        is_paused,
    };
    let listed = |next_at, is_paused| ListedSchedule {
        id: ScheduleId::new(),
        schedule: schedule(is_paused),
        next_at,
        last: Some(ScheduledRun {
            planned_at: Timestamp(1),
            started_at: Timestamp(2),
            conversation_id: None,
            report_id: None,
            status: Some(RunStatus::Failed),
        }),
        month_cost: Dollars(3),
        notice: Some(text.into()),
    };
    ScheduleList {
        schedules: vec![
            listed(Some(Timestamp(3)), false),
            listed(None, true),
            listed(None, false),
        ],
        limit: 5,
    }
}
