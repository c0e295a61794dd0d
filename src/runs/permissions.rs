//! The models and tools that a user may use, and the limits of their use.
//!
//! Every call of a model for an answer is checked in [`Inner::check_call`], whatever started the answer. The same check before
//! a message is stored only refuses earlier.

use std::{sync::Arc, time::Duration};

use super::{Inner, Runs, StartError, journal_error};
use crate::{
    agent::run_error,
    clock,
    model::{ModelError, ModelErrorKind},
    protocol::{Dollars, Role, UserId, model_list::ModelList, number_format::group_digits},
    settings::{AccountSettings, AuthMode},
    storage::{
        StorageError,
        usage::{Day, UsageSum},
    },
};

/// The maximum number of models that a refusal lists.
const MAX_LISTED_MODELS: usize = 20;

/// The time after which a further run may be possible. Nobody knows when one ends.
const RUN_RETRY_DELAY: Duration = Duration::from_secs(5);

/// The models and tools that a user may use.
#[derive(Clone, Debug)]
pub struct Permissions {
    settings: Arc<AccountSettings>,
    /// The role, if there are rules.
    role: Option<Role>,
}

impl Permissions {
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
    pub fn filter(&self, list: &mut ModelList) {
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

/// The reason why a user may not call a model now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallRefusal {
    /// The user's role may not use the model.
    Model {
        model: String,
        /// The listed models that it may use.
        allowed: Vec<String>,
    },
    /// The tokens of the day are used.
    Tokens { used: u64, limit: u64, wait: Duration },
    /// The cost of the day is reached.
    Cost {
        used: Dollars,
        limit: Dollars,
        wait: Duration,
    },
    /// As many answers are being written as may be.
    Runs { limit: usize },
}

impl CallRefusal {
    /// Returns the reason, in a sentence.
    pub fn reason(&self) -> String {
        match self {
            Self::Model { model, .. } => {
                format!("You may not use the model “{model}” here (setting accounts.access).")
            }
            Self::Tokens { used, limit, .. } => format!(
                "Your answers have used {} tokens today; the limit is {} a day (setting accounts.tokens_per_day).",
                group_digits(*used),
                group_digits(*limit)
            ),
            Self::Cost { used, limit, .. } => format!(
                "Your answers have cost {} today; the limit is {} a day (setting accounts.dollars_per_day).",
                used.to_label(),
                limit.to_label()
            ),
            Self::Runs { limit: 1 } => {
                "You can have one answer at a time here, and one is being written (setting accounts.runs)."
                    .into()
            }
            Self::Runs { limit } => {
                format!(
                    "You can have {limit} answers at a time here, and {limit} are being written (setting accounts.runs)."
                )
            }
        }
    }

    /// Returns the next step for the user.
    pub fn advice(&self) -> String {
        match self {
            Self::Model { allowed, .. } if allowed.is_empty() => {
                "None of the models is for you: ask an administrator.".into()
            }
            Self::Model { allowed, .. } => {
                let named = allowed[..allowed.len().min(MAX_LISTED_MODELS)].join(", ");
                let more = match allowed.len().saturating_sub(MAX_LISTED_MODELS) {
                    0 => String::new(),
                    more => format!(", or one of {more} more"),
                };
                format!("Choose one of these: {named}{more}.")
            }
            Self::Tokens { wait, .. } | Self::Cost { wait, .. } => format!(
                "The next day begins at midnight UTC, in {}; an administrator can raise the limit.",
                in_hours(*wait)
            ),
            Self::Runs { .. } => "Wait for the end of one, or stop one.".into(),
        }
    }

    /// Returns the time after which the same request may succeed.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Model { .. } => None,
            Self::Tokens { wait, .. } | Self::Cost { wait, .. } => Some(*wait),
            Self::Runs { .. } => Some(RUN_RETRY_DELAY),
        }
    }

    /// Returns the error of an answer that may not continue.
    pub fn into_model_error(self) -> ModelError {
        let code = match self {
            Self::Model { .. } => "model_not_allowed",
            Self::Tokens { .. } | Self::Cost { .. } | Self::Runs { .. } => "limit_reached",
        };
        ModelError {
            error: run_error(code, self.reason(), &self.advice()),
            kind: ModelErrorKind::Refused,
            reply: None,
        }
    }
}

fn in_hours(wait: Duration) -> String {
    let count = |number: u64, unit: &str| match number {
        1 => format!("1 {unit}"),
        _ => format!("{number} {unit}s"),
    };
    let minutes = wait.as_secs().div_ceil(60);
    match (minutes / 60, minutes % 60) {
        (0, minutes) => count(minutes, "minute"),
        (hours, 0) => count(hours, "hour"),
        (hours, minutes) => [count(hours, "hour"), count(minutes, "minute")].join(" "),
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

    /// Returns the full name of a model that a user may use.
    ///
    /// # Errors
    ///
    /// If the name means no model or several, or one that the user may not use.
    pub async fn find_model(&self, user_id: UserId, name: &str) -> Result<String, StartError> {
        let permissions = self.permissions(user_id).await.map_err(journal_error)?;
        let found = self.0.models.find(name).await.map_err(|mut unknown| {
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
        Ok(Permissions { settings, role })
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
                true => self.models.list().await.default,
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

    async fn model_refusal(&self, model: String, permissions: &Permissions) -> CallRefusal {
        let mut list = self.models.list().await;
        permissions.filter(&mut list);
        CallRefusal::Model {
            model,
            allowed: list.models.into_iter().map(|model| model.id).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::model_list::ModelListProblem;

    #[test]
    fn refusals_say_what_to_do() {
        let model = |allowed: &[&str]| CallRefusal::Model {
            model: "x/dear".into(),
            allowed: allowed.iter().map(|id| (*id).to_owned()).collect(),
        };
        assert_eq!(model(&["x/a", "x/b"]).advice(), "Choose one of these: x/a, x/b.");
        assert!(model(&[]).advice().contains("ask an administrator"));
        let spent = CallRefusal::Tokens {
            used: 12_345,
            limit: 12_000,
            wait: Duration::from_secs(2 * 3600 + 90),
        };
        assert!(spent.reason().contains("12,345 tokens"), "{}", spent.reason());
        assert!(
            spent.advice().contains("in 2 hours 2 minutes"),
            "{}",
            spent.advice()
        );
        assert_eq!(spent.retry_after(), Some(Duration::from_secs(7290)));
        for (minutes, words) in [
            (1, "1 minute"),
            (60, "1 hour"),
            (61, "1 hour 1 minute"),
            (120, "2 hours"),
        ] {
            assert_eq!(in_hours(Duration::from_secs(minutes * 60)), words);
        }
        let one = CallRefusal::Runs { limit: 1 };
        assert!(one.reason().starts_with("You can have one answer at a time here"));
    }

    #[test]
    fn problems_of_usable_endpoints_are_kept() {
        let access = "[[access]]\nmodels = [\"up/one\"]\nroles = [\"member\"]\n[[access]]\nmodels = [\"*\"]\nroles = []";
        let permissions = Permissions {
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
