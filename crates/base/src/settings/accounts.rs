//! Accounts: how users are recognised, their sessions, and the limits of sign-in.

use std::{net::IpAddr, time::Duration};

use http::HeaderName;
use ipnet::IpNet;
use serde::{
    Deserialize, Deserializer,
    de::{
        Error as _, IntoDeserializer,
        value::{self, StrDeserializer},
    },
};

use super::{AccessRule, OidcSettings};
use parlor_protocol::{Dollars, Role};

/// The mode of authentication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMode {
    /// One user, on loopback only.
    #[default]
    None,
    /// Accounts with passwords.
    Password,
    /// An OpenID provider authenticates the users.
    Oidc,
    /// A proxy authenticates the users and names them in a header.
    Proxy,
}

/// The ways to a new account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignUp {
    /// An administrator's invitation.
    #[default]
    Invitation,
    /// Everybody can make one.
    Open,
    /// Nobody can, even with an earlier invitation.
    Closed,
}

/// Accounts, sessions, and the limits of sign-in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccountSettings {
    /// The mode of authentication, or `PARLOR_AUTH`: "none" (one user, on loopback only), "password" (accounts with passwords),
    /// "oidc" (an OpenID provider signs users in) or "proxy" (a proxy names the user in a header).
    pub auth: AuthMode,
    /// The ways to a new account with "password": "invitation" (an administrator's link), "open" (everybody) or "closed".
    pub sign_up: SignUp,
    /// The header in which a proxy names the user, with "proxy". It counts only from the addresses in `server.proxies`.
    #[serde(deserialize_with = "header_name")]
    pub user_header: String,
    /// The minimum length of a password, in characters.
    pub password_characters: usize,
    /// The number of passwords that are checked or set at the same time. Each takes 19 MiB of memory meanwhile.
    pub password_checks: usize,
    /// The time without use after which a session ends.
    #[serde(deserialize_with = "super::duration::positive")]
    pub session_idle: Duration,
    /// The time after which a session ends in any case.
    #[serde(deserialize_with = "super::duration::positive")]
    pub session_lifetime: Duration,
    /// The time that replaces session_idle and session_lifetime if the user chose to stay signed in.
    #[serde(deserialize_with = "super::duration::positive")]
    pub remembered_lifetime: Duration,
    /// The time for which an invitation or a link for a new password is valid.
    #[serde(deserialize_with = "super::duration::positive")]
    pub link_lifetime: Duration,
    /// The number of failed attempts to sign in, per account and per address, after which each further one has to wait: a
    /// second, then twice as long each time.
    pub sign_in_attempts: usize,
    /// The longest wait between two attempts to sign in.
    #[serde(deserialize_with = "super::duration::positive")]
    pub sign_in_wait: Duration,
    /// The number of requests per minute of a user, or of an address without one. Not limited with "none".
    pub requests_per_minute: usize,
    /// The number of answers of a user that may be written at the same time. If unset, any number.
    pub runs: Option<usize>,
    /// The number of tokens, in and out, that the answers of a user may use per day (UTC). If unset, any number.
    pub tokens_per_day: Option<u64>,
    /// The cost of the answers of a user per day (UTC), in US dollars. Models without known prices cost nothing. If unset, any.
    #[serde(deserialize_with = "dollars")]
    pub dollars_per_day: Option<Dollars>,
    /// The time for which the audit log keeps who signed in, who changed an account and the like.
    #[serde(deserialize_with = "super::duration::positive")]
    pub audit_keep: Duration,
    /// The number of entries of the audit log, and as many failed sign-ins. The oldest ones beyond it are deleted.
    pub audit_entries: usize,
    /// The models and tools that each role may use.
    pub access: Vec<AccessRule>,
    pub oidc: OidcSettings,
}

impl Default for AccountSettings {
    fn default() -> Self {
        const DAY: u64 = 24 * 3600;
        Self {
            auth: AuthMode::None,
            sign_up: SignUp::Invitation,
            user_header: "remote-user".into(),
            // The minimum of NIST SP 800-63B without a second factor is 8 for a rate-limited service.
            password_characters: 10,
            password_checks: 4,
            session_idle: Duration::from_secs(DAY),
            session_lifetime: Duration::from_secs(7 * DAY),
            remembered_lifetime: Duration::from_secs(90 * DAY),
            link_lifetime: Duration::from_secs(3 * DAY),
            sign_in_attempts: 5,
            sign_in_wait: Duration::from_secs(15 * 60),
            requests_per_minute: 1200,
            runs: None,
            tokens_per_day: None,
            dollars_per_day: None,
            audit_keep: Duration::from_secs(90 * DAY),
            audit_entries: 100_000,
            access: Vec::new(),
            oidc: OidcSettings::default(),
        }
    }
}

impl AccountSettings {
    /// Returns true if a role may use a model.
    pub fn allows_model(&self, role: Role, id: &str) -> bool {
        self.allows(role, |rule| rule.names_model(id))
    }

    /// Returns true if a role may use a tool.
    pub fn allows_tool(&self, role: Role, name: &str) -> bool {
        self.allows(role, |rule| rule.names_tool(name))
    }

    /// Returns true if a role may use a model of an endpoint, whose models need not be known.
    pub fn allows_endpoint(&self, role: Role, endpoint: &str) -> bool {
        let any_model = format!("{endpoint}/");
        for rule in &self.access {
            let is_allowed = rule.roles.contains(&role);
            if rule.names_model(&any_model) || (is_allowed && rule.may_name_endpoint(endpoint)) {
                return is_allowed;
            }
        }
        true
    }

    fn allows(&self, role: Role, is_about: impl Fn(&AccessRule) -> bool) -> bool {
        let rule = self.access.iter().find(|rule| is_about(rule));
        rule.is_none_or(|rule| rule.roles.contains(&role))
    }

    /// Returns true if the answers of users have limits per day.
    pub fn has_daily_limits(&self) -> bool {
        self.tokens_per_day.is_some() || self.dollars_per_day.is_some()
    }

    /// The limits that may not be 0.
    pub(super) fn positive(&self) -> [(&'static str, usize); 5] {
        [
            ("accounts.password_characters", self.password_characters),
            ("accounts.password_checks", self.password_checks),
            ("accounts.sign_in_attempts", self.sign_in_attempts),
            ("accounts.requests_per_minute", self.requests_per_minute),
            ("accounts.audit_entries", self.audit_entries),
        ]
    }
}

/// Reads an authentication mode of the environment.
pub(super) fn parse_mode(text: &str) -> Option<AuthMode> {
    let deserializer: StrDeserializer<'_, value::Error> = text.trim().into_deserializer();
    AuthMode::deserialize(deserializer).ok()
}

fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Dollars>, D::Error> {
    let dollars = f64::deserialize(deserializer)?;
    let error = || D::Error::custom(format!("{dollars} is no amount of dollars, such as 2.5"));
    Dollars::from_f64(dollars).map(Some).ok_or_else(error)
}

fn header_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let name: HeaderName = text.parse().map_err(|_| {
        D::Error::custom(format!(
            "“{text}” is not the name of a header, such as Remote-User"
        ))
    })?;
    Ok(name.as_str().to_owned())
}

/// Reads a list of addresses and networks.
pub(super) fn networks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let network = |text: &String| {
        let address = text.parse::<IpAddr>().map(IpNet::from).ok();
        address.or_else(|| text.parse().ok()).ok_or_else(|| {
            D::Error::custom(format!(
                "“{text}” is neither an address nor a network, such as 127.0.0.1 or 10.0.0.0/8"
            ))
        })
    };
    texts.iter().map(network).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_names_something_decides() {
        let settings: AccountSettings = toml::from_str(
            "[[access]]\nmodels = [\"a/cheap\"]\ntools = [\"calc*\"]\nroles = [\"member\", \"administrator\"]\n\
             [[access]]\nmodels = [\"a/*\"]\ntools = [\"*\"]\nroles = [\"administrator\"]\n\
             [[access]]\nmodels = [\"b/*\"]\nroles = []",
        )
        .unwrap();
        let models = |role| {
            let all = ["a/cheap", "a/dear", "b/old", "c/free"].into_iter();
            all.filter(|id| settings.allows_model(role, id))
                .collect::<Vec<_>>()
        };
        assert_eq!(models(Role::Member), ["a/cheap", "c/free"]);
        assert_eq!(models(Role::Administrator), ["a/cheap", "a/dear", "c/free"]);
        assert!(settings.allows_tool(Role::Member, "calculate"));
        assert!(!settings.allows_tool(Role::Member, "sql_query"));
        assert!(settings.allows_tool(Role::Administrator, "sql_query"));
    }
}
