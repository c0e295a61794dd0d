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

/// The mode of authentication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMode {
    /// One user, on loopback only.
    #[default]
    None,
    /// Accounts with passwords.
    Password,
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
    /// The mode of authentication, or `PARLOR_AUTH`: "none" (one user, on loopback only), "password" (accounts with passwords)
    /// or "proxy" (a proxy names the user in a header).
    pub auth: AuthMode,
    /// The ways to a new account with "password": "invitation" (an administrator's link), "open" (everybody) or "closed".
    pub sign_up: SignUp,
    /// The header in which a proxy names the user, with "proxy". It counts only from the addresses in `server.proxies`.
    #[serde(deserialize_with = "header_name")]
    pub user_header: String,
    /// The minimum length of a password, in characters.
    pub password_characters: usize,
    /// The time without use after which a session ends.
    #[serde(deserialize_with = "super::duration::positive")]
    pub session_idle: Duration,
    /// The time after which a session ends in any case.
    #[serde(deserialize_with = "super::duration::positive")]
    pub session_lifetime: Duration,
    /// Both times for a session of a device on which the user chose to stay signed in.
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
            session_idle: Duration::from_secs(DAY),
            session_lifetime: Duration::from_secs(7 * DAY),
            remembered_lifetime: Duration::from_secs(90 * DAY),
            link_lifetime: Duration::from_secs(3 * DAY),
            sign_in_attempts: 5,
            sign_in_wait: Duration::from_secs(15 * 60),
            requests_per_minute: 1200,
        }
    }
}

impl AccountSettings {
    /// The limits that may not be 0.
    pub(super) fn positive(&self) -> [(&'static str, usize); 3] {
        [
            ("accounts.password_characters", self.password_characters),
            ("accounts.sign_in_attempts", self.sign_in_attempts),
            ("accounts.requests_per_minute", self.requests_per_minute),
        ]
    }
}

/// Reads an authentication mode of the environment.
pub(super) fn parse_mode(text: &str) -> Option<AuthMode> {
    let deserializer: StrDeserializer<'_, value::Error> = text.trim().into_deserializer();
    AuthMode::deserialize(deserializer).ok()
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
