//! All routes, by who may use them. The routes of the API are those of its document, the server functions those that are
//! registered, and all others are read from the source: a method of a path without an entry fails.

use std::{collections::BTreeSet, fs, path::Path};

use crate::fuzz::targets::all_targets;

/// Routes that everybody may use.
const PUBLIC: [(&str, &str); 19] = [
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("GET", "/sign-in/start"),
    ("GET", "/sign-in/callback"),
    ("GET", "/setup"),
    ("POST", "/setup"),
    ("GET", "/sign-up"),
    ("POST", "/sign-up"),
    ("GET", "/invitation/{secret}"),
    ("POST", "/invitation/{secret}"),
    ("GET", "/new-password/{secret}"),
    ("POST", "/new-password/{secret}"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    // Only with the token of the metrics: `operations::metrics`.
    ("GET", "/metrics"),
    // Only with the key of a share: `sharing::keys`.
    ("GET", "/shared/{key}/events"),
    ("GET", "/shared/{key}/files/{file_id}"),
    ("GET", "/shared/{key}/files/{file_id}/picture"),
    ("GET", "/shared/{key}/payloads/{payload_id}/file"),
];

/// Routes of a signed-in user about nothing that another user has.
pub(super) const OWN: [(&str, &str); 24] = [
    ("POST", "/sign-out"),
    ("GET", "/settings/account"),
    ("GET", "/settings/devices"),
    ("GET", "/settings/usage"),
    ("POST", "/settings/account/password"),
    ("POST", "/settings/devices/end"),
    ("POST", "/settings/devices/end-all"),
    // These lead to the pages of forms.
    ("GET", "/settings/account/password"),
    ("GET", "/settings/devices/end"),
    ("GET", "/settings/devices/end-all"),
    ("GET", "/settings/users/password"),
    ("GET", "/settings/users/role"),
    ("GET", "/settings/users/disable"),
    ("GET", "/settings/users/enable"),
    ("GET", "/settings/users/delete"),
    ("GET", "/settings/invitations/invite"),
    ("GET", "/settings/invitations/withdraw"),
    // These lead from addresses of earlier versions.
    ("GET", "/account"),
    ("GET", "/account/usage"),
    ("GET", "/account/users"),
    ("GET", "/account/users/usage"),
    ("GET", "/account/audit"),
    ("POST", "/frame"),
    ("GET", "/charts/plotly.js"),
];

/// Routes of administrators.
pub(super) const ADMINISTRATORS: [(&str, &str); 12] = [
    ("GET", "/settings/audit"),
    ("GET", "/settings/system"),
    ("POST", "/settings/users/role"),
    ("GET", "/settings/users"),
    ("GET", "/settings/invitations"),
    ("GET", "/settings/usage/all"),
    ("POST", "/settings/invitations/invite"),
    ("POST", "/settings/invitations/withdraw"),
    ("POST", "/settings/users/password"),
    ("POST", "/settings/users/disable"),
    ("POST", "/settings/users/enable"),
    ("POST", "/settings/users/delete"),
];

/// Patterns that match what no other route does.
const CATCH_ALL: [&str; 9] = [
    "/api",
    "/api/",
    "/api/{*unknown}",
    "/v1",
    "/v1/",
    "/v1/{*unknown}",
    "/rpc",
    "/rpc/",
    "/rpc/{*unknown}",
];

/// Returns the part of a call after its opening parenthesis, up to the closing one.
fn call_arguments(text: &str) -> &str {
    let mut depth = 1;
    let end = text.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    });
    &text[..end.expect("the call ends")]
}

/// Returns the methods of a route: `get(…).delete_with(…)`. `any` is one.
fn declared_methods(call: &str) -> Vec<String> {
    let names = ["get", "post", "put", "patch", "delete", "any"];
    let is_method = |name: &&str| {
        [format!("{name}("), format!("{name}_with(")]
            .iter()
            .any(|opening| {
                let mut found = call.match_indices(opening.as_str());
                found.any(|(at, _)| {
                    !call[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'))
                })
            })
    };
    let methods = names.into_iter().filter(is_method);
    methods.map(str::to_uppercase).collect()
}

/// Reads the methods and patterns of all routes from the source.
fn declared_routes(folder: &Path, routes: &mut BTreeSet<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            declared_routes(&path, routes);
            continue;
        }
        // Only development builds have the routes of the latter two, and nothing of a user in them.
        let omitted = ["tests.rs", "dev_reload.rs", "http/design.rs"];
        if omitted.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for call in source.split("route(").skip(1) {
            let call = call_arguments(call).trim_start();
            let pattern = match call.strip_prefix('"') {
                Some(literal) => literal.split('"').next().unwrap(),
                None if call.starts_with("framed_page::PATH") => "/frame",
                None if call.starts_with("rpc::UPLOAD_PATH") => "/rpc/files",
                // Files of the page.
                None => {
                    assert!(call.starts_with("&url"), "{}: {call:.40}", path.display());
                    continue;
                }
            };
            let methods = declared_methods(call);
            assert!(!methods.is_empty(), "no method of {pattern} is known");
            routes.extend(methods.into_iter().map(|method| (method, pattern.to_owned())));
        }
    }
}

#[test]
fn every_route_has_an_entry() {
    let mut routes = BTreeSet::new();
    declared_routes(Path::new("src/http"), &mut routes);
    declared_routes(Path::new("src/assets"), &mut routes);
    assert!(routes.len() > 40, "{routes:?}");
    let others = OWN.into_iter().chain(ADMINISTRATORS).chain(PUBLIC);
    let others = others.chain(CATCH_ALL.map(|path| ("ANY", path)));
    let others = others.chain([("GET", "/pkg/{*name}")]);
    let known: BTreeSet<(String, String)> = all_targets()
        .into_iter()
        .map(|target| (target.method, target.path))
        .chain(others.map(|(method, path)| (method.to_owned(), path.to_owned())))
        .collect();
    let missing: Vec<_> = routes.difference(&known).collect();
    assert!(
        missing.is_empty(),
        "add these to this file, or to the fuzzer's targets: {missing:?}"
    );
}
