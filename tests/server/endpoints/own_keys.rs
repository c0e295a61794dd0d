//! Keys that users bring of their own: only for services that are offered, and each its owner's alone.

use super::*;
use crate::tokens::create_token;

/// A server with an administrator and two members, who may add keys of their own for one scripted server.
struct House {
    _folder: tempfile::TempDir,
    upstream: Upstream,
    parlor: Parlor,
    ann: Browser,
    ben: Browser,
    cid: Browser,
}

impl House {
    async fn open() -> Self {
        let (folder, upstream) = (
            tempfile::tempdir().unwrap(),
            upstream_with_models(&["a", "b"]).await,
        );
        let mut parlor = start(folder.path(), &upstream, with_passwords).await;
        let mut ann = Browser::new(&parlor);
        ann.set_up(&parlor, "ann").await;
        let ben = ann.invite(&parlor, "ben").await;
        let cid = ann.invite(&parlor, "cid").await;
        parlor.client = ann.signed_in_client();
        let mut shared = endpoint("house", &upstream);
        shared["takes_own_keys"] = json!(true);
        shared["hidden_models"] = json!(["b"]);
        add(&parlor, &shared).await;
        Self {
            _folder: folder,
            upstream,
            parlor,
            ann,
            ben,
            cid,
        }
    }

    /// Sends a request of a user to a server function.
    async fn call(&mut self, user: impl Fn(&Self) -> &Browser, function: &str, body: Value) -> (u16, Value) {
        self.parlor.client = user(self).signed_in_client();
        send(&self.parlor, "POST", &format!("/rpc/{function}"), &body).await
    }

    async fn allow(&mut self, is_allowed: bool) -> u16 {
        let body = json!({ "is_allowed": is_allowed });
        self.call(|house| &house.ann, "allow_own_keys", body).await.0
    }

    async fn models(&mut self, user: impl Fn(&Self) -> &Browser) -> Vec<String> {
        self.parlor.client = user(self).signed_in_client();
        model_ids(&self.parlor).await
    }

    /// Asks a model. Returns the type of the last event, and the key that its server got.
    async fn ask(&mut self, user: impl Fn(&Self) -> &Browser, model: &str) -> (String, Option<String>) {
        self.parlor.client = user(self).signed_in_client();
        let before = self.upstream.requests().len();
        let turn = json!({ "message": "Hello", "model": model });
        let (status, _) = match self.parlor.post("/api/chat/stream", &turn).send().await {
            Ok(response) => (response.status().as_u16(), response.text().await),
            Err(error) => panic!("{error}"),
        };
        let requests = self.upstream.requests();
        let asked = requests[before..]
            .iter()
            .find(|request| request.path.ends_with("/chat/completions"));
        let key = asked.and_then(|request| request.headers.get("authorization").cloned());
        (status.to_string(), key)
    }
}

fn own_key(key: &str) -> Value {
    json!({ "new": { "id": Uuid::now_v7(), "service": "house", "key": key } })
}

#[tokio::test]
async fn a_key_is_its_owners_alone() {
    let mut house = House::open().await;
    assert_eq!(house.allow(true).await, 200);
    let (of_ben, of_cid) = (own_key("sk-of-ben-01234"), own_key("sk-of-cid-01234"));
    let (status, added) = house
        .call(|house| &house.ben, "add_own_key", of_ben.clone())
        .await;
    assert_eq!((status, &added["name"]), (200, &json!("my house")), "{added}");
    assert!(!added.to_string().contains("sk-of-ben"), "{added}");
    assert_eq!(
        house
            .call(|house| &house.cid, "add_own_key", of_cid.clone())
            .await
            .0,
        200
    );

    let own = ["house/a", "my house/a", "my house/b"];
    assert_eq!(house.models(|house| &house.ben).await, own);
    assert_eq!(house.models(|house| &house.cid).await, own);
    assert_eq!(house.models(|house| &house.ann).await, ["house/a"]);
    let ok = |key: &str| ("200".to_owned(), Some(format!("Bearer {key}")));
    assert_eq!(
        house.ask(|house| &house.ben, "my house/a").await,
        ok("sk-of-ben-01234")
    );
    assert_eq!(
        house.ask(|house| &house.cid, "my house/a").await,
        ok("sk-of-cid-01234")
    );
    assert_eq!(house.ask(|house| &house.ben, "house/a").await, ok(KEY));
    let (status, key) = house.ask(|house| &house.ann, "my house/a").await;
    assert_eq!((status.as_str(), key), ("422", None), "it is not hers");

    let id = &of_cid["new"]["id"];
    for (function, body) in [
        (
            "change_own_key",
            json!({ "id": id, "update": { "key": "sk-other-0123" } }),
        ),
        (
            "test_own_key",
            json!({ "test": { "service": "house", "id": id } }),
        ),
    ] {
        let (status, refused) = house.call(|house| &house.ben, function, body).await;
        assert_eq!(
            (status, &refused["code"]),
            (404, &json!("not_found")),
            "{function}"
        );
    }
    house
        .call(|house| &house.ben, "remove_own_key", json!({ "id": id }))
        .await;
    assert_eq!(house.models(|house| &house.cid).await, own, "it is still there");
    let path = format!("/api/endpoints/{}", id.as_str().unwrap());
    house.parlor.client = house.ann.signed_in_client();
    let (status, _) = send(&house.parlor, "PATCH", &path, &json!({ "is_enabled": false })).await;
    assert_eq!(status, 404, "administrators have no part in it");
    house.parlor.client = house.ben.signed_in_client();
    let (_, listed) = house.parlor.get_json("/rpc/own_keys").await;
    assert_eq!(listed["keys"], json!([added]));
}

#[tokio::test]
async fn keys_are_only_for_offered_services() {
    let mut house = House::open().await;
    let (status, refused) = house
        .call(|house| &house.ben, "add_own_key", own_key("sk-0123456789"))
        .await;
    assert_eq!(
        (status, &refused["code"]),
        (403, &json!("forbidden")),
        "it is not allowed yet"
    );
    for client in [house.ben.signed_in_client(), house.cid.signed_in_client()] {
        house.parlor.client = client;
        let (status, _) = send(
            &house.parlor,
            "POST",
            "/rpc/allow_own_keys",
            &json!({ "is_allowed": true }),
        )
        .await;
        assert_eq!(status, 403, "a member allows nothing");
    }
    house.allow(true).await;
    let asked = house.upstream.requests().len();
    let url = house.upstream.url();
    let mut with_address = own_key("sk-0123456789");
    with_address["new"]["base_url"] = json!(url);
    for (field, value) in [
        ("service", json!(url)),
        ("service", json!("other")),
        ("key", json!(" ")),
    ] {
        let mut new = own_key("sk-0123456789");
        new["new"][field] = value;
        let (status, refused) = house.call(|house| &house.ben, "add_own_key", new).await;
        assert_eq!(status, 400, "{field}: {refused}");
    }
    let (status, _) = house.call(|house| &house.ben, "add_own_key", with_address).await;
    assert_eq!(status, 400, "an address is nothing that a member enters");
    let test = json!({ "test": { "service": url, "key": "sk-0123456789" } });
    assert_eq!(house.call(|house| &house.ben, "test_own_key", test).await.0, 400);
    assert_eq!(house.upstream.requests().len(), asked, "nothing was sent");
    house.parlor.client = house.ben.signed_in_client();
    let (_, listed) = house.parlor.get_json("/rpc/own_keys").await;
    let services = listed["services"].as_array().unwrap();
    assert_eq!(
        (&services[0]["name"], services.len()),
        (&json!("house"), 8),
        "{listed}"
    );
    assert!(!listed.to_string().contains(&url), "not even the address is told");
}

#[tokio::test]
async fn forbidden_keys_stay_and_are_not_used() {
    let mut house = House::open().await;
    house.allow(true).await;
    let new = own_key("sk-of-ben-01234");
    house.call(|house| &house.ben, "add_own_key", new.clone()).await;
    assert_eq!(house.models(|house| &house.ben).await.len(), 3);
    house.allow(false).await;
    assert_eq!(house.models(|house| &house.ben).await, ["house/a"]);
    assert_eq!(house.ask(|house| &house.ben, "my house/a").await.1, None);
    house.allow(true).await;
    assert_eq!(house.models(|house| &house.ben).await.len(), 3);

    let id = &new["new"]["id"];
    house
        .call(|house| &house.ben, "remove_own_key", json!({ "id": id }))
        .await;
    assert_eq!(house.models(|house| &house.ben).await, ["house/a"]);
    let log = house.ann.page("/settings/audit").await;
    for sentence in ["allowed keys of people’s own", "forbade keys of people’s own"] {
        assert!(log.contains(sentence), "{sentence}");
    }
}

#[tokio::test]
async fn programs_have_the_operations_of_the_page() {
    let mut house = House::open().await;
    let id = Uuid::now_v7();
    let new = json!({ "id": id, "service": "house", "key": "sk-of-ben-01234" });
    let own = format!("/api/own-keys/{id}");
    house.parlor.client = house.ben.signed_in_client();
    for (method, path, body) in [
        ("POST", "/api/own-keys", new.clone()),
        (
            "POST",
            "/api/own-keys/test",
            json!({ "service": "house", "key": "sk-of-ben-01234" }),
        ),
        ("PUT", "/api/own-keys/allowed", json!({ "is_allowed": true })),
    ] {
        let (status, refused) = send(&house.parlor, method, path, &body).await;
        assert_eq!(status, 403, "{method} {path}: {refused}");
    }
    house.parlor.client = house.ann.signed_in_client();
    let allowed = json!({ "is_allowed": true });
    assert_eq!(
        send(&house.parlor, "PUT", "/api/own-keys/allowed", &allowed)
            .await
            .0,
        204
    );

    house.parlor.client = house.ben.signed_in_client();
    for status in [201, 201] {
        let (added, view) = send(&house.parlor, "POST", "/api/own-keys", &new).await;
        assert_eq!((added, &view["name"]), (status, &json!("my house")), "{view}");
        assert!(!view.to_string().contains("sk-of-ben"), "{view}");
    }
    let test = json!({ "service": "house", "id": id });
    let (_, tested) = send(&house.parlor, "POST", "/api/own-keys/test", &test).await;
    assert_eq!(
        (&tested["problem"], tested["models"].as_array().unwrap().len()),
        (&Value::Null, 2)
    );
    let hidden = json!({ "hidden_models": ["b"] });
    let (_, changed) = send(&house.parlor, "PATCH", &own, &hidden).await;
    let (_, listed) = house.parlor.get_json("/api/own-keys").await;
    assert_eq!(
        (&listed["keys"], &listed["is_allowed"]),
        (&json!([changed]), &json!(true))
    );
    assert_eq!(house.models(|house| &house.ben).await, ["house/a", "my house/a"]);

    house.parlor.client = house.cid.signed_in_client();
    assert_eq!(
        send(&house.parlor, "PATCH", &own, &hidden).await.0,
        404,
        "it is not his"
    );
    house.parlor.client = house.ben.signed_in_client();
    let token = create_token(&house.parlor, "A program").await;
    let url = format!("{}/api/own-keys", house.parlor.url);
    let listed = reqwest::Client::new().get(url).bearer_auth(token).send().await;
    assert_eq!(listed.unwrap().status(), 403, "a token is not enough");
    for _ in 0..2 {
        let url = format!("{}{own}", house.parlor.url);
        let removed = house.parlor.client.delete(url).send().await.unwrap();
        assert_eq!(removed.status(), 204);
    }
    assert_eq!(house.models(|house| &house.ben).await, ["house/a"]);
}
