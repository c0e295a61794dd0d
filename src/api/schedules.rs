//! The functions of the page *Schedules*.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_protocol::{
    ApiError, ListedSchedule, RunSchedule, Schedule, ScheduleId, ScheduleList, ScheduleStarted,
};
use parlor_ui::api::schedules::ScheduleFunctions;

#[async_trait]
impl ScheduleFunctions for Api {
    async fn schedules(&self) -> Result<ScheduleList, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::schedules::list(&caller).await)
    }

    async fn save_schedule(&self, id: ScheduleId, schedule: Schedule) -> Result<ListedSchedule, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::schedules::save(&caller, id, schedule).await)
    }

    async fn delete_schedule(&self, id: ScheduleId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::schedules::delete(&caller, id).await)
    }

    async fn run_schedule(&self, intent: RunSchedule) -> Result<ScheduleStarted, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::schedules::run(&caller, intent).await)
    }
}
