//! The endpoints that users have for themselves alone: keys of their own.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use super::{
    AddedEndpoint, EndpointChangeGuard, Models, endpoint_set::EndpointSet, list_cache::ModelListCache,
};
use parlor_protocol::{RunError, UserId, model_list::ModelList};

/// The endpoints of one user, and what they list.
#[derive(Debug, Default)]
pub(super) struct OwnEndpoints {
    set: EndpointSet,
    cache: Mutex<Option<ModelListCache>>,
    refresh_lock: tokio::sync::Mutex<()>,
    /// These and those for all, as long as those for all are the same.
    joined: Mutex<Option<JoinedSet>>,
}

#[derive(Debug)]
struct JoinedSet {
    common: Arc<EndpointSet>,
    all: Arc<EndpointSet>,
}

/// A user's endpoints that can be used, and the problems of those that can't.
#[derive(Clone, Debug, Default)]
pub struct UserEndpoints {
    pub added: Vec<AddedEndpoint>,
    pub problems: Vec<RunError>,
}

impl OwnEndpoints {
    pub fn join(&self, common: Arc<EndpointSet>) -> Arc<EndpointSet> {
        let mut joined = self.joined.lock();
        match &*joined {
            Some(joined) if Arc::ptr_eq(&joined.common, &common) => joined.all.clone(),
            _ => {
                let all = Arc::new(common.joined(&self.set));
                let made = JoinedSet {
                    common,
                    all: all.clone(),
                };
                *joined = Some(made);
                all
            }
        }
    }

    pub fn cached(&self) -> Option<ModelListCache> {
        self.cache.lock().clone()
    }
}

impl Models {
    /// Returns the models of a user: those for all, and the user's own.
    pub fn of_user(&self, user_id: UserId) -> Self {
        Self {
            inner: self.inner.clone(),
            user_id: Some(user_id),
            pinned: None,
        }
    }

    /// Returns the endpoints of the user alone.
    pub(super) fn own(&self) -> Option<Arc<OwnEndpoints>> {
        self.inner.own.read().get(&self.user_id?).cloned()
    }

    /// The models for all.
    fn common(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            user_id: None,
            pinned: None,
        }
    }

    /// Refreshes all lists that are not accepted by `is_acceptable`.
    pub(super) async fn refresh(&self, is_acceptable: fn(&ModelListCache) -> bool) -> ModelList {
        let common = self.common();
        let Some(own) = self.own() else {
            return common.refresh_common(is_acceptable).await;
        };
        let (list, ()) = tokio::join!(
            common.refresh_common(is_acceptable),
            common.refresh_own(&own, is_acceptable)
        );
        self.cached().map_or(list, |cached| cached.list)
    }

    async fn refresh_own(&self, own: &OwnEndpoints, is_acceptable: fn(&ModelListCache) -> bool) {
        let _guard = own.refresh_lock.lock().await;
        let old = own.cached();
        if old.as_ref().is_some_and(is_acceptable) {
            return;
        }
        let known = old.map(|old| old.by_endpoint).unwrap_or_default();
        let fetched = self.fetch_lists(&own.set, known).await;
        *own.cache.lock() = Some(fetched);
    }
}

impl EndpointChangeGuard {
    /// Replaces the endpoints of all users for themselves alone.
    pub fn set_own(&self, own: HashMap<UserId, UserEndpoints>) {
        let mut all = self.models.inner.own.write();
        let old = std::mem::take(&mut *all);
        let empty = EndpointSet::default();
        for (user_id, endpoints) in own {
            self.redact_keys(&endpoints.added);
            let before = old.get(&user_id);
            let old_set = before.map_or(&empty, |before| &before.set);
            let set = EndpointSet::with_added(&empty, endpoints.added, endpoints.problems, old_set);
            // What they have listed is still true.
            let kept = before.filter(|before| before.set.is_same(&set)).cloned();
            let made = || {
                Arc::new(OwnEndpoints {
                    set,
                    ..OwnEndpoints::default()
                })
            };
            all.insert(user_id, kept.unwrap_or_else(made));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ModelsConfig;

    #[tokio::test]
    async fn a_list_waits_for_a_change_of_own_endpoints() {
        let models = Models::new(ModelsConfig::default());
        let user_id = UserId::new();
        let of_user = models.of_user(user_id);
        let change = models.begin_change().await;
        let listed = tokio::spawn(async move { of_user.list().await });
        tokio::task::yield_now().await;
        let own = UserEndpoints {
            problems: vec![RunError {
                code: "unreadable_key".into(),
                message: "The key can't be read.".into(),
                hint: String::new(),
            }],
            ..UserEndpoints::default()
        };
        change.set_own(HashMap::from([(user_id, own)]));
        drop(change);
        let problems = listed.await.unwrap().problems;
        assert!(problems.iter().any(|problem| problem.code == "unreadable_key"));
    }
}
