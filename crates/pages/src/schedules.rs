//! The page *Schedules*: the list of the user's schedules, and the form of one. The chat has no part in it.

use std::sync::Arc;

use async_trait::async_trait;

use super::{BuiltContext, OpenPage, Page, PageDefinition, Scope};
use parlor_base::{clock, planned_times::month_start, settings::ScheduleSettings};
use parlor_protocol::{
    ApiError, RawJson, Timestamp, UserId,
    schedule::{SCHEDULES_PAGE, ScheduleList, ScheduleLocation, SchedulesFields},
};
use parlor_storage::{Storage, StorageError, not_found};

static DEFINITION: PageDefinition = PageDefinition {
    info: &SCHEDULES_PAGE,
    identity: "You are a helpful assistant. A person looks at their schedules, prompts that are sent at planned times, on a page of Parlor, \
         a chat that they run themselves.",
    brief_identity: "You are a helpful assistant.",
    scope: Scope::EMPTY,
    tabs: &[],
};

/// The page *Schedules*.
pub struct Schedules {
    pub storage: Arc<dyn Storage>,
    pub settings: ScheduleSettings,
}

/// Returns a user's schedules at a time.
///
/// # Errors
///
/// If the database can't be read.
pub async fn list(
    storage: &dyn Storage,
    settings: &ScheduleSettings,
    user_id: UserId,
    now: Timestamp,
) -> Result<ScheduleList, StorageError> {
    Ok(ScheduleList {
        schedules: storage.schedules(user_id, month_start(now)).await?,
        limit: settings.limit(),
    })
}

#[async_trait]
impl Page for Schedules {
    type Fields = SchedulesFields;

    fn definition(&self) -> &'static PageDefinition {
        &DEFINITION
    }

    async fn is_useful_to(&self, user_id: UserId) -> Result<bool, StorageError> {
        self.storage.has_schedules(user_id).await
    }

    async fn describe(&self, _: UserId, _: &OpenPage<SchedulesFields>) -> Result<BuiltContext, StorageError> {
        Ok(BuiltContext::default())
    }

    async fn load(&self, user_id: UserId, url: &str) -> Result<RawJson, ApiError> {
        let location = ScheduleLocation::parse(url).ok_or_else(not_found)?;
        let list = list(&*self.storage, &self.settings, user_id, clock::now()).await?;
        if let ScheduleLocation::Edit(id) = location
            && list.schedules.iter().all(|listed| listed.id != id)
        {
            return Err(not_found());
        }
        let json = serde_json::to_string(&list).map_err(StorageError::from)?;
        Ok(RawJson::parse_or_quote(&json))
    }
}
