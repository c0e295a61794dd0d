//! Sign-in by an OpenID provider.

use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;

use super::{Secret, SettingsError};

/// The OpenID provider of `accounts.auth` "oidc".
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OidcSettings {
    /// The provider's issuer, exactly as its discovery document names it.
    pub issuer: Option<String>,
    /// The name of Parlor at the provider, where its URLs end with /sign-in/callback (after a sign-in) and /sign-in (after a
    /// sign-out).
    pub client_id: Option<String>,
    /// The environment variable that has the client's secret. If unset, Parlor is a public client, which PKCE alone protects.
    pub client_secret_env: Option<String>,
    /// The secret, read from the environment.
    #[serde(skip)]
    pub client_secret: Option<Secret>,
    /// The provider's name on the page for signing in. If unset, its host.
    pub name: Option<String>,
    /// The URL of Parlor as browsers have it, to which the provider redirects. If unset, that of the request.
    pub url: Option<String>,
    /// The scopes that Parlor asks for besides `openid`. Some providers tell the groups with the scope "groups" only.
    pub scopes: Vec<String>,
    /// The claim with the user's groups, in the ID token or at the provider's userinfo endpoint; one inside others by its path with
    /// dots, such as "realm_access.roles".
    pub groups_claim: String,
    /// The groups whose users are administrators, checked at each sign-in. If empty, the first account is one.
    pub administrator_groups: Vec<String>,
    /// The groups whose users may enter, besides administrators, checked at each sign-in. If empty, everybody whom the provider
    /// signs in may.
    pub allowed_groups: Vec<String>,
    /// True if only users whose mail address the provider has verified may enter.
    pub verified_email: bool,
    /// The longest difference between the provider's clock and Parlor's.
    #[serde(deserialize_with = "super::duration::positive")]
    pub clock_skew: Duration,
    /// The time after which the provider's URLs and keys are loaded again. A token with a new key loads them at once.
    #[serde(deserialize_with = "super::duration::positive")]
    pub refresh: Duration,
    /// The longest wait for one response of the provider.
    #[serde(deserialize_with = "super::duration::positive")]
    pub timeout: Duration,
    /// The time for a sign-in at the provider.
    #[serde(deserialize_with = "super::duration::positive")]
    pub sign_in_time: Duration,
}

impl Default for OidcSettings {
    fn default() -> Self {
        Self {
            issuer: None,
            client_id: None,
            client_secret_env: None,
            client_secret: None,
            name: None,
            url: None,
            scopes: ["profile", "email"].map(str::to_owned).into(),
            groups_claim: "groups".into(),
            administrator_groups: Vec::new(),
            allowed_groups: Vec::new(),
            verified_email: false,
            clock_skew: Duration::from_secs(60),
            refresh: Duration::from_secs(3600),
            timeout: Duration::from_secs(10),
            sign_in_time: Duration::from_secs(600),
        }
    }
}

impl OidcSettings {
    /// Reads the secret from the environment.
    pub(super) fn read_secret(&mut self, env: impl Fn(&str) -> Option<String>) {
        self.client_secret = self.client_secret_env.as_deref().and_then(env).map(Secret);
    }

    /// Checks the settings that a sign-in needs.
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let (Some(issuer), Some(_)) = (&self.issuer, &self.client_id) else {
            return Err(SettingsError::MissingProvider);
        };
        check_url("accounts.oidc.issuer", issuer)?;
        if let Some(url) = &self.url {
            check_url("accounts.oidc.url", url)?;
        }
        match &self.client_secret_env {
            Some(name) if self.client_secret.is_none() => {
                Err(SettingsError::MissingClientSecret(name.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the name of the provider for people.
    pub fn display_name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let issuer = self.issuer.as_deref().and_then(|issuer| Url::parse(issuer).ok());
        let host = issuer.as_ref().and_then(Url::host_str);
        host.unwrap_or("the provider").to_owned()
    }
}

/// Checks a URL, which may have neither a password nor a query.
fn check_url(name: &'static str, value: &str) -> Result<(), SettingsError> {
    let url = Url::parse(value).map_err(|_| SettingsError::InvalidUrl(name))?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if matches!(url.scheme(), "http" | "https") && is_plain && url.fragment().is_none() {
        return Ok(());
    }
    Err(SettingsError::InvalidUrl(name))
}
