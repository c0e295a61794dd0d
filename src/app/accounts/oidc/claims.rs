//! The claims of the provider about a user: the name, the groups, and the right to enter.

use serde_json::Value;

use super::{super::name, token::Claims};
use parlor_base::settings::OidcSettings;
use parlor_protocol::{ApiError, ErrorCode};
use parlor_storage::accounts::Role;

pub type Map = serde_json::Map<String, Value>;

/// The name of a user whom the provider gives none.
const UNNAMED: &str = "user";

/// A user whom the provider has authenticated, and who may enter.
#[derive(Debug, PartialEq, Eq)]
pub struct ProvidedUser {
    /// The provider's id of the user.
    pub subject: String,
    /// The name for an account. Another user may have the same.
    pub name: String,
    /// The role by the groups; none if they decide no roles.
    pub role: Option<Role>,
}

/// Returns true if the claims of an ID token say all that Parlor wants to know.
pub fn are_complete(settings: &OidcSettings, claims: &Map) -> bool {
    let wants_groups = !settings.administrator_groups.is_empty() || !settings.allowed_groups.is_empty();
    let has = |name: &str| find_claim(claims, name).is_some();
    has("preferred_username")
        && (!wants_groups || has(&settings.groups_claim))
        && (!settings.verified_email || has("email_verified"))
}

/// Returns a claim by its name, or by its path through nested ones with dots (Keycloak's `realm_access.roles`). The names of
/// claims have dots, too, such as those that are URLs. A claim that is `null` says nothing.
fn find_claim<'a>(claims: &'a Map, path: &str) -> Option<&'a Value> {
    if let Some(claim) = claims.get(path).filter(|claim| !claim.is_null()) {
        return Some(claim);
    }
    path.match_indices('.').find_map(|(dot, _)| {
        let inner = claims.get(&path[..dot])?.as_object()?;
        find_claim(inner, &path[dot + 1..])
    })
}

/// Reads a user of the provider `provider` from a verified ID token, and from the claims of the userinfo endpoint, which count
/// where the token says nothing.
///
/// # Errors
///
/// If the user may not enter.
pub fn read_user(
    settings: &OidcSettings,
    provider: &str,
    token: &Claims,
    more: &Map,
) -> Result<ProvidedUser, ApiError> {
    let claim = |name: &str| find_claim(&token.more, name).or_else(|| find_claim(more, name));
    let text = |name: &str| claim(name).and_then(Value::as_str);
    let is_verified = is_true(claim("email_verified"));
    if settings.verified_email && !(is_verified && text("email").is_some()) {
        return Err(refusal(format!(
            "{provider} has not verified your mail address, which this Parlor requires. You are not signed in; verify it there."
        )));
    }
    let groups = groups(claim(&settings.groups_claim));
    let is_in = |wanted: &[String]| wanted.iter().any(|wanted| groups.contains(&wanted.as_str()));
    let is_administrator = is_in(&settings.administrator_groups);
    if !settings.allowed_groups.is_empty() && !is_administrator && !is_in(&settings.allowed_groups) {
        return Err(refusal(format!(
            "Your account at {provider} is in none of the groups that may use this Parlor. You are not signed in; ask an administrator."
        )));
    }
    let role = match is_administrator {
        true => Role::Administrator,
        false => Role::Member,
    };
    // A mail address that is not verified could be somebody else's.
    let names = [
        text("preferred_username"),
        text("email").filter(|_| is_verified),
        text("name"),
    ];
    Ok(ProvidedUser {
        subject: token.sub.clone(),
        name: names
            .into_iter()
            .flatten()
            .find_map(name::from_foreign)
            .unwrap_or_else(|| UNNAMED.to_owned()),
        role: (!settings.administrator_groups.is_empty()).then_some(role),
    })
}

/// The fields with the name of a group that is an object.
const GROUP_NAMES: [&str; 3] = ["name", "value", "display"];

/// Returns the names of groups: a list of texts or of objects with names, or an object with one field a group, whose values are
/// objects (Zitadel: `{"staff": {"2104": "acme.example"}}`).
fn groups(claim: Option<&Value>) -> Vec<&str> {
    match claim {
        Some(Value::String(group)) => vec![group],
        Some(Value::Array(groups)) => groups.iter().filter_map(group_name).collect(),
        Some(Value::Object(groups)) => groups
            .iter()
            .filter(|(_, details)| details.is_object())
            .map(|(group, _)| group.as_str())
            .collect(),
        _ => Vec::new(),
    }
}

fn group_name(group: &Value) -> Option<&str> {
    let named = || GROUP_NAMES.iter().find_map(|field| group.get(field)?.as_str());
    group.as_str().or_else(named)
}

/// Some providers write booleans as texts.
fn is_true(claim: Option<&Value>) -> bool {
    let text = claim.and_then(Value::as_str).unwrap_or_default();
    matches!(claim, Some(Value::Bool(true))) || text.eq_ignore_ascii_case("true")
}

fn refusal(message: String) -> ApiError {
    ApiError::new(ErrorCode::Forbidden, message)
}
