//! Sign-in by an OpenID provider: the authorization code flow with PKCE (OpenID Connect Core 1.0; RFC 6749, 7636, 9207).
//!
//! The crate `openidconnect` was weighed: it brings 48 crates, among them RustCrypto's RSA (RUSTSEC-2023-0071) and curves in two
//! generations, although this server already has ring, which verifies the same signatures.
//!
//! - [`client`]: requests to the provider
//! - [`metadata`]: its URLs and keys; [`known`]: what is known of them
//! - [`keys`], [`token`]: verification of ID tokens
//! - [`claims`]: what the provider says about a user
//! - [`attempt`]: a begun sign-in, which one browser has

mod attempt;
mod claims;
mod client;
mod keys;
mod known;
mod metadata;
mod token;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use reqwest::Url;
use serde::Deserialize;

pub use self::{attempt::Attempt, claims::ProvidedUser};
use self::{
    client::ProviderClient,
    keys::KeySet,
    known::KnownProvider,
    metadata::{ProviderMetadata, ProviderState},
    token::{Claims, Expected, TokenError},
};
use parlor_base::{clock, settings::OidcSettings};
use parlor_protocol::{ApiError, ErrorCode};

/// The maximum length of the provider's error texts that are shown, in characters.
const MAX_SHOWN_CHARS: usize = 200;

/// The OpenID provider of the settings.
pub struct Provider {
    settings: OidcSettings,
    issuer: String,
    client_id: String,
    name: String,
    client: Arc<ProviderClient>,
    known: KnownProvider,
}

/// The parameters with which the provider redirects back.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Callback {
    pub code: Option<String>,
    pub state: Option<String>,
    pub error: Option<String>,
    pub error_description: Option<String>,
    /// The issuer (RFC 9207).
    pub iss: Option<String>,
}

/// The token endpoint's response. Its access token is used once and not kept.
#[derive(Deserialize)]
struct TokenResponse {
    access_token: Option<String>,
    id_token: Option<String>,
}

impl Provider {
    pub fn new(settings: OidcSettings) -> Self {
        let issuer = settings.issuer.clone().unwrap_or_default();
        let client = Arc::new(ProviderClient::new(&issuer, settings.timeout));
        Self {
            known: KnownProvider::new(client.clone(), issuer.clone(), settings.refresh),
            client,
            client_id: settings.client_id.clone().unwrap_or_default(),
            name: settings.display_name(),
            issuer,
            settings,
        }
    }

    /// Returns its name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Returns the time for a sign-in.
    pub fn sign_in_time(&self) -> Duration {
        self.settings.sign_in_time
    }

    /// Returns Parlor's own URL with a path, to which the provider redirects. `site` is the one of the request.
    pub fn own_url(&self, site: &str, path: &str) -> String {
        let site = self.settings.url.as_deref().unwrap_or(site);
        [site.trim_end_matches('/'), path].concat()
    }

    /// Returns the provider's URL at which a sign-in begins.
    pub async fn sign_in_url(&self, attempt: &Attempt, redirect_uri: &str) -> Result<Url, ApiError> {
        let state = self.state().await?;
        let mut url = state.metadata.authorization_endpoint.clone();
        let scopes = self.settings.scopes.iter().map(String::as_str);
        let scopes: Vec<&str> = ["openid"].into_iter().chain(scopes).collect();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", &scopes.join(" "))
            .append_pair("state", &attempt.state())
            .append_pair("nonce", &attempt.nonce())
            .append_pair("code_challenge", &attempt.code_challenge())
            .append_pair("code_challenge_method", "S256");
        Ok(url)
    }

    /// Returns the URL at which the provider ends its own session, if it has one.
    pub async fn sign_out_url(&self, return_to: &str) -> Option<Url> {
        let state = self.state().await.ok()?;
        let mut url = state.metadata.end_session_endpoint.clone()?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.client_id)
            .append_pair("post_logout_redirect_uri", return_to);
        Some(url)
    }

    /// Ends a sign-in: checks the parameters of the callback, exchanges the code, and verifies the user.
    pub async fn finish(
        &self,
        attempt: &Attempt,
        callback: Callback,
        redirect_uri: &str,
    ) -> Result<ProvidedUser, ApiError> {
        let provider = self.state().await?;
        let is_other = match &callback.iss {
            Some(issuer) => *issuer != self.issuer,
            None => provider.metadata.authorization_response_iss_parameter_supported,
        };
        if is_other {
            tracing::warn!(issuer = ?callback.iss, "refused a sign-in: it came back from another issuer");
            return Err(self.refusal("The answer came from another provider than the one that was asked."));
        }
        if let Some(error) = &callback.error {
            return Err(self.provider_error(error, callback.error_description.as_deref()));
        }
        let code = callback
            .code
            .ok_or_else(|| self.refusal("The answer has no code."))?;
        let tokens = self
            .exchange(&provider.metadata, &code, attempt, redirect_uri)
            .await?;
        let token = tokens
            .id_token
            .ok_or_else(|| self.refusal("The provider returned no ID token."))?;
        let claims = self.verify(&token, attempt, &provider).await?;
        let more = self
            .more_claims(&claims, tokens.access_token.as_deref(), &provider.metadata)
            .await?;
        claims::read_user(&self.settings, &self.name, &claims, &more)
    }

    async fn exchange(
        &self,
        metadata: &ProviderMetadata,
        code: &str,
        attempt: &Attempt,
        redirect_uri: &str,
    ) -> Result<TokenResponse, ApiError> {
        let verifier = attempt.code_verifier();
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", &*verifier),
        ];
        let secret = self
            .settings
            .client_secret
            .as_ref()
            .map(|secret| secret.0.as_str());
        let basic = secret.filter(|_| metadata.takes_basic_authentication());
        if basic.is_none() {
            fields.push(("client_id", &*self.client_id));
            fields.extend(secret.map(|secret| ("client_secret", secret)));
        }
        let basic = basic.map(|secret| (self.client_id.as_str(), secret));
        let exchanged = self.client.post_form(&metadata.token_endpoint, &fields, basic);
        exchanged.await.map_err(|error| {
            if error.is_outage() {
                return self.unavailable(&error);
            }
            if error.is_about_client() {
                tracing::error!(%error, "the provider rejects Parlor's client id or secret");
                return self.misconfigured();
            }
            tracing::warn!(%error, "the provider did not exchange a code");
            self.refusal(
                "The provider did not accept its own code. It works once, and only for a short time.",
            )
        })
    }

    /// Verifies an ID token. If no known key has signed it, the provider may have new ones.
    async fn verify(
        &self,
        token: &str,
        attempt: &Attempt,
        state: &ProviderState,
    ) -> Result<Claims, ApiError> {
        let nonce = attempt.nonce();
        let verify = |keys: &KeySet| {
            token::verify(
                token,
                keys,
                &Expected {
                    issuer: &self.issuer,
                    client_id: &self.client_id,
                    nonce: &nonce,
                    now_ms: clock::now().0,
                    skew: self.settings.clock_skew,
                },
            )
        };
        let verified = match verify(&state.keys) {
            Err(TokenError::UnknownKey | TokenError::Signature) => verify(&self.load().await?.keys),
            verified => verified,
        };
        verified.map_err(|error| {
            tracing::warn!(%error, "refused an ID token");
            self.refusal("The provider's ID token is not valid here.")
        })
    }

    /// Returns the claims that the userinfo endpoint adds to an ID token. Many providers keep the name and the groups out of the
    /// token.
    async fn more_claims(
        &self,
        claims: &Claims,
        access_token: Option<&str>,
        metadata: &ProviderMetadata,
    ) -> Result<claims::Map, ApiError> {
        let (Some(endpoint), Some(access_token)) = (&metadata.userinfo_endpoint, access_token) else {
            return Ok(claims::Map::new());
        };
        if claims::are_complete(&self.settings, &claims.more) {
            return Ok(claims::Map::new());
        }
        let more: claims::Map = self
            .client
            .get(endpoint, Some(access_token))
            .await
            .map_err(|error| {
                if error.is_outage() {
                    return self.unavailable(&error);
                }
                tracing::warn!(%error, "the provider did not say who its user is");
                self.refusal("The provider did not say who you are.")
            })?;
        if more.get("sub").and_then(|subject| subject.as_str()) != Some(&*claims.sub) {
            tracing::warn!("refused a sign-in: the userinfo endpoint named another user");
            return Err(self.refusal("The provider answered about another user."));
        }
        Ok(more)
    }

    /// Returns the URLs and keys, loaded before or now.
    async fn state(&self) -> Result<Arc<ProviderState>, ApiError> {
        let known = self.known.get().await;
        known.map_err(|error| self.unavailable(&error))
    }

    /// Loads the URLs and keys again.
    async fn load(&self) -> Result<Arc<ProviderState>, ApiError> {
        let loaded = self.known.load().await;
        loaded.map_err(|error| self.unavailable(&error))
    }

    fn unavailable(&self, error: &dyn std::fmt::Display) -> ApiError {
        tracing::error!(%error, issuer = self.issuer, "the OpenID provider can't be used");
        let message = format!(
            "{} can't be reached. You are not signed in; try again in a moment. Parlor’s log says more.",
            self.name
        );
        ApiError::new(ErrorCode::Unavailable, message)
    }

    /// Returns the error for a client id or secret that the provider rejects.
    fn misconfigured(&self) -> ApiError {
        let message = format!(
            "{} does not accept this Parlor: its client id or secret is wrong (settings client_id and \
             client_secret_env of accounts.oidc). You are not signed in, and trying again does not help: tell an administrator.",
            self.name
        );
        ApiError::new(ErrorCode::Forbidden, message)
    }

    fn refusal(&self, why: &str) -> ApiError {
        let message = format!("{why} You are not signed in; try again. Parlor’s log says more.");
        ApiError::new(ErrorCode::Forbidden, message)
    }

    /// Returns the error that the provider reported in the callback.
    fn provider_error(&self, error: &str, description: Option<&str>) -> ApiError {
        let shown = |text: &str| -> String {
            let visible = text.chars().filter(|c| !c.is_control());
            visible.take(MAX_SHOWN_CHARS).collect()
        };
        tracing::info!(error, "the provider signed nobody in");
        let reason = match error {
            "access_denied" => "you, or a rule there, did not allow it".to_owned(),
            "login_required" | "interaction_required" | "consent_required" => {
                "you have to sign in there first".to_owned()
            }
            "temporarily_unavailable" | "server_error" => "it does not work just now".to_owned(),
            other => format!("it says “{}”", shown(other)),
        };
        let description = description.map_or_else(String::new, |text| format!(" It adds: “{}”", shown(text)));
        let message = format!(
            "{} did not sign you in: {reason}.{description} You are not signed in; try again, or ask an administrator.",
            self.name
        );
        ApiError::new(ErrorCode::Forbidden, message)
    }
}
