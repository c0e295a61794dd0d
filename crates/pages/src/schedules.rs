//! The page *Schedules*: the list of the user's schedules, and the form of one. The chat has no part in it.

use std::sync::Arc;

use async_trait::async_trait;

use super::{BuiltContext, OpenPage, Page, PageDefinition, Scope};
use parlor_base::{clock, planned_times::month_start, settings::ScheduleSettings};
use parlor_protocol::{
    ApiError, RawJson, UserId,
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

#[async_trait]
impl Page for Schedules {
    type Fields = SchedulesFields;

    fn definition(&self) -> &'static PageDefinition {
        &DEFINITION
    }

    async fn is_useful_to(&self, user_id: UserId) -> Result<bool, StorageError> {
        let schedules = self.storage.schedules(user_id, clock::now()).await?;
        Ok(!schedules.is_empty())
    }

    async fn describe(&self, _: UserId, _: &OpenPage<SchedulesFields>) -> Result<BuiltContext, StorageError> {
        Ok(BuiltContext::default())
    }

    async fn load(&self, user_id: UserId, url: &str) -> Result<RawJson, ApiError> {
        let location = ScheduleLocation::parse(url).ok_or_else(not_found)?;
        let month = month_start(clock::now());
        let list = ScheduleList {
            schedules: self.storage.schedules(user_id, month).await?,
            limit: if self.settings.enabled {
                self.settings.per_user
            } else {
                0
            },
        };
        if let ScheduleLocation::Edit(id) = location
            && list.schedules.iter().all(|listed| listed.id != id)
        {
            return Err(not_found());
        }
        let json = serde_json::to_string(&list).map_err(StorageError::from)?;
        Ok(RawJson::parse_or_quote(&json))
    }
}
