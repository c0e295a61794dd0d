//! Server functions of the page *Schedules*, under `/rpc`.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, ListedSchedule, RunSchedule, Schedule, ScheduleId, ScheduleList, ScheduleStarted,
};

server_functions! {
    trait ScheduleFunctions;

    /// Returns the user's schedules.
    GetUrl "schedules" as LoadSchedules
    fn schedules() -> ScheduleList;

    /// Saves a schedule: a new one, or another version of one.
    Json "save_schedule"
    fn save_schedule(id: ScheduleId, schedule: Schedule) -> ListedSchedule;

    /// Deletes a schedule. Its conversations stay.
    Json "delete_schedule"
    fn delete_schedule(id: ScheduleId) -> ();

    /// Sends the prompt of a schedule now, or makes its report.
    Json "run_schedule" as RunScheduleNow
    fn run_schedule(intent: RunSchedule) -> ScheduleStarted;
}
