//! The user of a valid token: the name, the groups and the role.

use super::{
    super::claims::{Map, ProvidedUser, are_complete, read_user},
    *,
};
use parlor_base::settings::OidcSettings;
use parlor_protocol::ErrorCode;
use parlor_storage::accounts::Role;

/// Reads the user of a token with more claims.
fn user(settings: &OidcSettings, token: Value, more: Value) -> Result<ProvidedUser, ErrorCode> {
    let token = check(&sign(&header("one"), &claims(token), 1)).unwrap();
    let more: Map = serde_json::from_value(more).unwrap();
    read_user(settings, "The provider", &token, &more).map_err(|error| error.code)
}

#[test]
fn an_unverified_mail_address_names_nobody() {
    let settings = OidcSettings::default();
    let name = |token| user(&settings, token, json!({})).unwrap().name;
    assert_eq!(
        name(json!({ "preferred_username": "Ann Lee", "email": "a@b.example" })),
        "ann.lee"
    );
    assert_eq!(
        name(json!({ "email": "Ann@b.example", "email_verified": true })),
        "ann@b.example"
    );
    assert_eq!(name(json!({ "email": "ann@b.example" })), "user");
    assert_eq!(
        name(json!({ "email": "ann@b.example", "email_verified": false, "name": "Ann" })),
        "ann"
    );
    assert_eq!(
        name(json!({ "preferred_username": "\u{202e}<>", "name": 7 })),
        "user"
    );
    let strict = OidcSettings {
        verified_email: true,
        ..OidcSettings::default()
    };
    for refused in [
        json!({}),
        json!({ "email": "a@b.example" }),
        json!({ "email_verified": true }),
    ] {
        assert_eq!(user(&strict, refused, json!({})), Err(ErrorCode::Forbidden));
    }
    assert!(
        user(
            &strict,
            json!({}),
            json!({ "email": "a@b.example", "email_verified": "true" })
        )
        .is_ok()
    );
}

#[test]
fn groups_decide_who_may_enter_and_who_administers() {
    let settings = OidcSettings {
        groups_claim: "roles".into(),
        administrator_groups: vec!["admins".into()],
        allowed_groups: vec!["staff".into()],
        ..OidcSettings::default()
    };
    let role = |token, more| user(&settings, token, more).map(|user| user.role);
    let nothing = || json!({});
    assert_eq!(
        role(json!({ "roles": ["x", "staff"] }), nothing()),
        Ok(Some(Role::Member))
    );
    assert_eq!(
        role(json!({ "roles": "admins" }), nothing()),
        Ok(Some(Role::Administrator))
    );
    assert_eq!(
        role(nothing(), json!({ "roles": ["admins"] })),
        Ok(Some(Role::Administrator))
    );
    // Zitadel's roles, and groups in the form of SCIM.
    for taken in [
        json!({ "roles": { "admins": { "2104": "acme.example" }, "x": {} } }),
        json!({ "roles": [{ "value": "7", "display": "x" }, { "id": 1, "name": "admins" }, null, 5] }),
        json!({ "roles": [{ "value": "admins", "$ref": "../Groups/7" }] }),
    ] {
        assert_eq!(
            role(taken.clone(), nothing()),
            Ok(Some(Role::Administrator)),
            "{taken}"
        );
    }
    for refused in [
        json!({}),
        json!({ "roles": ["staffx", "Staff"] }),
        json!({ "groups": ["admins"] }),
        json!({ "roles": {"staff": 1} }),
        json!({ "roles": {"staff": false, "admins": null} }),
        json!({ "roles": [["staff"], {"group": "staff"}] }),
        json!({ "roles": "staff admins" }),
        json!({ "roles": true }),
    ] {
        assert_eq!(
            role(refused.clone(), nothing()),
            Err(ErrorCode::Forbidden),
            "{refused}"
        );
    }
    // The signed token counts, not the other source.
    assert_eq!(
        role(json!({ "roles": [] }), json!({ "roles": ["admins"] })),
        Err(ErrorCode::Forbidden)
    );
    // A list that the token leaves open is at the other source; an empty one is not.
    assert_eq!(
        role(json!({ "roles": null }), json!({ "roles": ["admins"] })),
        Ok(Some(Role::Administrator))
    );
    let free = user(
        &OidcSettings::default(),
        json!({ "groups": ["admins"] }),
        nothing(),
    );
    assert_eq!(free.unwrap().role, None);
    let named: Map = serde_json::from_value(json!({ "preferred_username": "ann" })).unwrap();
    assert!(are_complete(&OidcSettings::default(), &named) && !are_complete(&settings, &named));
}

#[test]
fn groups_may_be_nested_claims() {
    let settings = |claim: &str| OidcSettings {
        groups_claim: claim.into(),
        allowed_groups: vec!["staff".into()],
        ..OidcSettings::default()
    };
    let staff = json!(["staff"]);
    for (claim, token, more) in [
        (
            "realm_access.roles",
            json!({ "realm_access": { "roles": staff } }),
            json!({}),
        ),
        (
            "resource_access.parlor.roles",
            json!({ "resource_access": { "parlor": { "roles": staff } } }),
            json!({}),
        ),
        (
            "resource_access.my.app.roles",
            json!({ "resource_access": { "my.app": { "roles": staff } } }),
            json!({}),
        ),
        (
            "https://id.example/groups",
            json!({ "https://id.example/groups": staff }),
            json!({}),
        ),
        ("a.b", json!({ "a.b": staff, "a": { "b": ["other"] } }), json!({})),
        (
            "realm_access.roles",
            json!({ "realm_access": { "roles": null } }),
            json!({ "realm_access": { "roles": staff } }),
        ),
        (
            "realm_access.roles",
            json!({ "realm_access": {} }),
            json!({ "realm_access": { "roles": "staff" } }),
        ),
    ] {
        let claims: Map = serde_json::from_value(token.clone()).unwrap();
        assert!(
            user(&settings(claim), token.clone(), more.clone()).is_ok(),
            "{claim}: {token}"
        );
        let mut named = claims;
        named.insert("preferred_username".into(), "ann".into());
        assert_eq!(
            are_complete(&settings(claim), &named),
            more == json!({}),
            "{claim}: {token}"
        );
    }
    for token in [
        json!({ "realm_access": ["staff"] }),
        json!({ "realm_access.roles": null }),
        json!({ "roles": staff }),
    ] {
        assert_eq!(
            user(&settings("realm_access.roles"), token, json!({})),
            Err(ErrorCode::Forbidden)
        );
    }
}
