//! The cookies of a session: its secret, which scripts cannot read, and the user's id, by which an open page notices that
//! another user has signed in since. And the cookie of a begun sign-in at a provider.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

use crate::{app::accounts::NewSession, http::client::Client};

/// The name of the session's cookie without TLS.
const NAME: &str = "parlor";

/// The name of the session's cookie with TLS: browsers accept it from this host over TLS only.
const SECURE_NAME: &str = "__Host-parlor";

/// The name of the cookie with the user's id.
const USER_NAME: &str = "parlor-user";

/// The name of the cookie of a begun sign-in without TLS, and with TLS.
const ATTEMPT_NAME: &str = "parlor-sign-in";
const SECURE_ATTEMPT_NAME: &str = "__Host-parlor-sign-in";

/// Returns the secret of a request's session.
pub fn session_secret(headers: &HeaderMap, client: &Client) -> Option<String> {
    read(headers, session_name(client))
}

/// Returns the begun sign-in of a request.
pub fn attempt(headers: &HeaderMap, client: &Client) -> Option<String> {
    read(headers, attempt_name(client))
}

/// Returns the value of `Set-Cookie` that keeps a begun sign-in. `Lax`: the callback comes from the provider's page.
pub fn begin_attempt(attempt: &str, lifetime: Duration, client: &Client) -> HeaderValue {
    cookie(
        attempt_name(client),
        attempt,
        "; HttpOnly",
        Some(lifetime),
        client,
    )
}

/// Returns the value of `Set-Cookie` that ends it.
pub fn end_attempt(client: &Client) -> HeaderValue {
    begin_attempt("", Duration::ZERO, client)
}

fn read(headers: &HeaderMap, wanted: &str) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let mut pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    // Another site of the same host could add a second one.
    let found = pairs.find(|(name, _)| *name == wanted)?.1.to_owned();
    pairs.all(|(name, _)| name != wanted).then_some(found)
}

/// Returns the values of `Set-Cookie` that start a session.
pub fn start(session: &NewSession, client: &Client) -> [HeaderValue; 2] {
    let lifetime = session.cookie_lifetime;
    let user = session.user_id.to_string();
    [
        cookie(
            session_name(client),
            &session.secret,
            "; HttpOnly",
            lifetime,
            client,
        ),
        cookie(USER_NAME, &user, "", lifetime, client),
    ]
}

/// Returns the values of `Set-Cookie` that delete a session.
pub fn end(client: &Client) -> [HeaderValue; 2] {
    let at_once = Some(Duration::ZERO);
    [
        cookie(session_name(client), "", "; HttpOnly", at_once, client),
        cookie(USER_NAME, "", "", at_once, client),
    ]
}

fn attempt_name(client: &Client) -> &'static str {
    if client.is_tls {
        SECURE_ATTEMPT_NAME
    } else {
        ATTEMPT_NAME
    }
}

fn session_name(client: &Client) -> &'static str {
    if client.is_tls { SECURE_NAME } else { NAME }
}

fn cookie(name: &str, value: &str, hidden: &str, lifetime: Option<Duration>, client: &Client) -> HeaderValue {
    let secure = if client.is_tls { "; Secure" } else { "" };
    let lifetime = lifetime.map_or(String::new(), |lifetime| {
        format!("; Max-Age={}", lifetime.as_secs())
    });
    let text = format!("{name}={value}; Path=/; SameSite=Lax{hidden}{secure}{lifetime}");
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::UserId;

    fn client(is_tls: bool) -> Client {
        Client {
            address: [192, 0, 2, 1].into(),
            is_tls,
            is_proxied: is_tls,
        }
    }

    #[test]
    fn cookies_are_hidden_and_secure() {
        let session = NewSession {
            secret: "s".into(),
            user_id: UserId::LOCAL,
            cookie_lifetime: Some(Duration::from_secs(9)),
        };
        assert_eq!(
            start(&session, &client(true))[0],
            "__Host-parlor=s; Path=/; SameSite=Lax; HttpOnly; Secure; Max-Age=9"
        );
        assert_eq!(
            start(&session, &client(false))[0],
            "parlor=s; Path=/; SameSite=Lax; HttpOnly; Max-Age=9"
        );
        assert_eq!(
            end(&client(false))[0],
            "parlor=; Path=/; SameSite=Lax; HttpOnly; Max-Age=0"
        );
        assert_eq!(
            begin_attempt("s", Duration::from_secs(9), &client(true)),
            "__Host-parlor-sign-in=s; Path=/; SameSite=Lax; HttpOnly; Secure; Max-Age=9"
        );
    }

    #[test]
    fn reads_the_only_session_cookie() {
        let read = |cookies: &[&str], is_tls| {
            let cookies = cookies
                .iter()
                .map(|value| (header::COOKIE, value.parse().unwrap()));
            session_secret(&cookies.collect(), &client(is_tls))
        };
        assert_eq!(read(&["a=b; parlor=s"], false).as_deref(), Some("s"));
        assert_eq!(
            read(&["a=b", "__Host-parlor=s; parlor=t"], true).as_deref(),
            Some("s")
        );
        assert_eq!(
            read(&["parlor=s"], true),
            None,
            "it could be from an insecure page"
        );
        assert_eq!(read(&["parlor=s; parlor=t"], false), None);
        assert_eq!(read(&[], false), None);
    }
}
