//! The timer of schedules for tests.

use crate::app::{self, AppState};
use parlor_storage::StorageError;

/// The timer of schedules, besides its own looks.
pub struct ScheduleTimer(pub(super) AppState);

impl ScheduleTimer {
    /// Sends the messages of all schedules whose planned time has come.
    ///
    /// # Errors
    ///
    /// If the database can't be read.
    pub async fn send_due(&self) -> Result<(), StorageError> {
        app::schedules::timer::send_due(&self.0).await
    }
}
