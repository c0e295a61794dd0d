//! The models and tools that a user may use, and the limits of their use.
//!
//! Every call of a model for an answer is checked in [`Inner::check_call`], whatever started the answer. The same check before
//! a message is stored only refuses earlier.

use std::{sync::Arc, time::Duration};

use super::{CallRefusal, Inner, Runs, StartError, journal_error};
use parlor_base::{
    clock,
    settings::{AccountSettings, AuthMode},
};
use parlor_protocol::{Role, UserId, model_list::ModelList};
use parlor_storage::{
    StorageError,
    usage::{Day, UsageSum},
};

/// The models and tools that a user may use.
#[derive(Clone, Debug)]
pub struct Permissions {
    user_id: UserId,
    settings: Arc<AccountSettings>,
    /// The role, if there are rules.
    role: Option<Role>,
}

impl Permissions {
    pub(super) fn user_id(&self) -> UserId {
        self.user_id
    }

    /// Returns true if the user may use a model.
    pub fn allows_model(&self, id: &str) -> bool {
        self.role.is_none_or(|role| self.settings.allows_model(role, id))
    }

    /// Returns true if the user may use a tool.
    pub fn allows_tool(&self, name: &str) -> bool {
        self.role.is_none_or(|role| self.settings.allows_tool(role, name))
    }

    /// Returns true if the user may use a model of an endpoint, whose models need not be known.
    fn allows_endpoint(&self, endpoint: &str) -> bool {
        self.role
            .is_none_or(|role| self.settings.allows_endpoint(role, endpoint))
    }

    /// Removes the models that the user may not use, and the problems of endpoints of which none may be used.
    fn filter(&self, list: &mut ModelList) {
        list.models.retain(|model| self.allows_model(&model.id));
        if !list.default.as_ref().is_some_and(|id| self.allows_model(id)) {
            list.default = list.models.first().map(|model| model.id.clone());
        }
        list.problems.retain(|problem| {
            let endpoint = problem.endpoint.as_ref();
            endpoint.is_none_or(|endpoint| self.allows_endpoint(endpoint))
        });
    }
}

impl Runs {
    /// Returns the models and tools that a user may use.
    ///
    /// # Errors
    ///
    /// If the database can't be read.
    pub async fn permissions(&self, user_id: UserId) -> Result<Permissions, StorageError> {
        self.0.permissions(user_id).await
    }

    /// Returns the models that a user may use, as the endpoints list them: those for all, and the user's own.
    pub async fn allowed_models(&self, permissions: &Permissions) -> ModelList {
        self.0.allowed_models(permissions).await
    }

    /// Returns the full name of a model that a user may use.
    ///
    /// # Errors
    ///
    /// If the name means no model or several, or one that the user may not use.
    pub async fn find_model(&self, user_id: UserId, name: &str) -> Result<String, StartError> {
        let permissions = self.permissions(user_id).await.map_err(journal_error)?;
        let found = self
            .0
            .models
            .of_user(user_id)
            .find(name)
            .await
            .map_err(|mut unknown| {
                unknown.models.retain(|id| permissions.allows_model(id));
                StartError::UnknownModel(unknown)
            })?;
        if !permissions.allows_model(&found) {
            return Err(StartError::Refused(
                self.0.model_refusal(found, &permissions).await,
            ));
        }
        Ok(found)
    }
}

impl Runs {
    /// Returns the reason why a user may not call a model now, if there is one. An empty name means the default model.
    ///
    /// # Errors
    ///
    /// If the database can't be read.
    pub async fn call_refusal(
        &self,
        user_id: UserId,
        model: &str,
    ) -> Result<Option<CallRefusal>, StorageError> {
        Ok(self.0.check_call(user_id, model).await?.err())
    }
}

impl Inner {
    pub(super) async fn permissions(&self, user_id: UserId) -> Result<Permissions, StorageError> {
        let settings = self.accounts.clone();
        let role = match settings.access.is_empty() || settings.auth == AuthMode::None {
            true => None,
            false => {
                let account = self.storage.account(user_id).await?;
                Some(account.map_or(Role::Member, |account| account.role))
            }
        };
        Ok(Permissions {
            user_id,
            settings,
            role,
        })
    }

    /// Checks that a user may call a model now.
    pub(super) async fn check_call(
        &self,
        user_id: UserId,
        model: &str,
    ) -> Result<Result<(), CallRefusal>, StorageError> {
        let permissions = self.permissions(user_id).await?;
        if permissions.role.is_some() {
            // An empty name means the default model.
            let default = match model.is_empty() {
                true => self.models.of_user(user_id).list().await.default,
                false => None,
            };
            let model = default.as_deref().unwrap_or(model);
            if !permissions.allows_model(model) {
                return Ok(Err(self.model_refusal(model.to_owned(), &permissions).await));
            }
        }
        self.check_day(user_id).await
    }

    async fn check_day(&self, user_id: UserId) -> Result<Result<(), CallRefusal>, StorageError> {
        if !self.accounts.has_daily_limits() {
            return Ok(Ok(()));
        }
        let now = clock::now();
        let today = Day::from_timestamp(now);
        let days = self.storage.daily_usage(Some(user_id), today).await?;
        let used = days.iter().filter(|day| day.day == today);
        let used = used.fold(UsageSum::default(), |sum, day| sum.plus(day.usage));
        let left = Day(today.0 + 1).start().0.saturating_sub(now.0);
        let wait = Duration::from_millis(u64::try_from(left).unwrap_or_default());
        if let Some(limit) = self.accounts.tokens_per_day
            && used.tokens() >= limit
        {
            let used = used.tokens();
            return Ok(Err(CallRefusal::Tokens { used, limit, wait }));
        }
        if let Some(limit) = self.accounts.dollars_per_day
            && used.cost >= limit
        {
            let used = used.cost;
            return Ok(Err(CallRefusal::Cost { used, limit, wait }));
        }
        Ok(Ok(()))
    }

    /// Returns the models that a user may use.
    pub(super) async fn allowed_models(&self, permissions: &Permissions) -> ModelList {
        let mut list = self.models.of_user(permissions.user_id).list().await;
        permissions.filter(&mut list);
        list
    }

    async fn model_refusal(&self, model: String, permissions: &Permissions) -> CallRefusal {
        let list = self.allowed_models(permissions).await;
        CallRefusal::Model {
            model,
            allowed: list.models.into_iter().map(|model| model.id).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::model_list::ModelListProblem;

    #[test]
    fn problems_of_usable_endpoints_are_kept() {
        let access = "[[access]]\nmodels = [\"up/one\"]\nroles = [\"member\"]\n[[access]]\nmodels = [\"*\"]\nroles = []";
        let permissions = Permissions {
            user_id: UserId::new(),
            settings: Arc::new(toml::from_str(access).unwrap()),
            role: Some(Role::Member),
        };
        let problem = |endpoint: &str| ModelListProblem {
            endpoint: Some(endpoint.into()),
            code: "unreachable".into(),
            message: "It is down.".into(),
            hint: String::new(),
        };
        let mut list = ModelList {
            problems: vec![problem("up"), problem("other")],
            ..ModelList::default()
        };
        permissions.filter(&mut list);
        let kept: Vec<_> = list
            .problems
            .iter()
            .filter_map(|problem| problem.endpoint.as_deref())
            .collect();
        assert_eq!(kept, ["up"]);
    }
}
