//! The provider's URLs (OpenID Connect Discovery 1.0) and keys.

use reqwest::Url;
use serde::{Deserialize, Deserializer, de::Error};

use super::{
    client::{ClientError, ProviderClient},
    keys::KeySet,
};

/// The path of the discovery document below the issuer.
const DISCOVERY_PATH: &str = "/.well-known/openid-configuration";

/// The known metadata and keys of the provider.
pub struct ProviderState {
    pub metadata: ProviderMetadata,
    pub keys: KeySet,
}

/// The parts of the discovery document that Parlor uses.
#[derive(Debug, Deserialize)]
pub struct ProviderMetadata {
    issuer: String,
    #[serde(deserialize_with = "read_url")]
    pub authorization_endpoint: Url,
    #[serde(deserialize_with = "read_url")]
    pub token_endpoint: Url,
    #[serde(deserialize_with = "read_url")]
    jwks_uri: Url,
    #[serde(default, deserialize_with = "read_optional_url")]
    pub userinfo_endpoint: Option<Url>,
    #[serde(default, deserialize_with = "read_optional_url")]
    pub end_session_endpoint: Option<Url>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
}

fn read_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    let text = String::deserialize(deserializer)?;
    Url::parse(&text).map_err(|error| D::Error::custom(format!("a URL can't be read: {error}")))
}

fn read_optional_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    // A URL that can't be read counts as none: a sign-in works without it.
    Ok(text.and_then(|text| Url::parse(&text).ok()))
}

impl ProviderMetadata {
    /// Returns true if the token endpoint takes the client's secret in `Authorization`, which is the standard's default.
    pub fn takes_basic_authentication(&self) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.as_ref();
        methods.is_none_or(|methods| {
            methods.iter().any(|method| method == "client_secret_basic")
                || methods.iter().all(|method| method != "client_secret_post")
        })
    }

    /// Checks that the document is the issuer's own, and that no URL is less protected than the issuer.
    fn check(&self, issuer: &str) -> Result<(), ClientError> {
        if self.issuer != issuer {
            let why = format!("it is of the issuer “{}” instead of “{issuer}”", self.issuer);
            return Err(ClientError::Discovery(why));
        }
        let scheme = issuer.split(':').next().unwrap_or_default();
        let optional = [&self.userinfo_endpoint, &self.end_session_endpoint];
        let urls = [&self.authorization_endpoint, &self.token_endpoint, &self.jwks_uri];
        let urls = urls.into_iter().chain(optional.into_iter().flatten());
        match urls
            .into_iter()
            .find(|url| url.scheme() != scheme && url.scheme() != "https")
        {
            Some(url) => Err(ClientError::Discovery(format!(
                "the URL {url} does not begin with {scheme}:, as the issuer does"
            ))),
            None => Ok(()),
        }
    }
}

/// Loads the discovery document and the keys.
pub async fn load(client: &ProviderClient, issuer: &str) -> Result<ProviderState, ClientError> {
    let url = [issuer.trim_end_matches('/'), DISCOVERY_PATH].concat();
    let url = Url::parse(&url).map_err(|error| ClientError::Discovery(error.to_string()))?;
    let metadata: ProviderMetadata = client.get(&url, None).await?;
    metadata.check(issuer)?;
    let keys = client.get(&metadata.jwks_uri, None).await?;
    Ok(ProviderState { metadata, keys })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(changed: &[(&str, serde_json::Value)]) -> ProviderMetadata {
        let mut document = json!({
            "issuer": "https://id.example",
            "authorization_endpoint": "https://id.example/auth",
            "token_endpoint": "https://id.example/token",
            "jwks_uri": "https://keys.example/jwks",
        });
        for (name, value) in changed {
            document[*name] = value.clone();
        }
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn the_document_must_be_the_issuers() {
        assert!(metadata(&[]).check("https://id.example").is_ok());
        for issuer in ["https://id.example/", "https://evil.example", "http://id.example"] {
            assert!(metadata(&[]).check(issuer).is_err(), "{issuer}");
        }
    }

    #[test]
    fn no_url_is_less_protected_than_the_issuer() {
        for name in [
            "authorization_endpoint",
            "token_endpoint",
            "jwks_uri",
            "userinfo_endpoint",
            "end_session_endpoint",
        ] {
            let changed = metadata(&[(name, json!("http://id.example/x"))]);
            assert!(changed.check("https://id.example").is_err(), "{name}");
        }
    }

    #[test]
    fn secret_is_sent_as_the_provider_wants() {
        let takes_basic = |methods| {
            let changed = metadata(&[("token_endpoint_auth_methods_supported", methods)]);
            changed.takes_basic_authentication()
        };
        assert!(metadata(&[]).takes_basic_authentication());
        assert!(takes_basic(json!(["client_secret_post", "client_secret_basic"])));
        assert!(!takes_basic(json!(["client_secret_post"])));
    }
}
