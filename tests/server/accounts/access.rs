//! Every route × everybody who may not use it, and then its owner.
//!
//! [`routes`](super::routes) has the routes, and a test that none is missing.

use parlor_ui::PART_HEADER;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    AT_ONCE, Browser, PASSWORD,
    routes::{ADMINISTRATORS, OWN},
    with_passwords,
};
use crate::{
    fuzz::{
        start_parlor_with,
        targets::{Ids, Target, all_targets, form_encode},
    },
    support::{Parlor, TEST_TIMEOUT},
    tokens::{create_token, list_tokens, revoke},
};

/// Routes that make the named conversation if it does not exist, as clients choose its id. Nobody can guess the id of another
/// one, which is taken.
const MAKE_CONVERSATIONS: [&str; 10] = [
    // They make a schedule, a project, or a column.
    "PUT /api/columns/{column_id}",
    "/rpc/save_column",
    "PUT /api/schedules/{schedule_id}",
    "/rpc/save_schedule",
    "PUT /api/projects/{project_id}",
    "/rpc/save_project",
    "/rpc/send_message",
    "/send",
    "/api/chat/stream",
    "/api/chat/batch",
];

/// Server functions of readers, who need no account: without the key of a share they answer everybody as if there was none.
const OF_READERS: [&str; 2] = ["/rpc/shared_conversation", "/rpc/shared_payload"];

/// Targets whose valid arguments name nothing that exists: an unknown URL, a model server, a key, a message in a queue, the key of a
/// share, a project of another person, a person.
const NAME_NOTHING_OF_THE_OWNER: [&str; 12] = [
    "/api/projects/{project_id}/readers/{name}",
    "/api/endpoints/{endpoint_id}",
    "/api/own-keys/{key_id}",
    "/v1/models",
    "/rpc/change_queue",
    "/rpc/shared_conversation",
    "/rpc/shared_payload",
    "/rpc/shared_project",
    "/api/shared-projects/{project_id}",
    "/api/shared-projects/{project_id}/files/{file_id}",
    "/rpc/shared-projects/{project_id}/files/{file_id}",
    "/shared-project/{project_id}",
];

/// Server functions and routes that change nothing of others and say the same about what does not exist, but with success:
/// deleting or stopping something that is gone is no error, and what does not exist has used no tokens.
const SUCCEED_WITHOUT_OBJECT: [&str; 24] = [
    "/api/columns/{column_id}",
    "/api/columns/{column_id}/cells/{row}",
    "/rpc/leave_shared_project",
    "/api/shared-projects/{project_id}",
    "/rpc/delete_column",
    "/rpc/delete_files",
    "/api/projects/{project_id}/files/{file_id}",
    "/rpc/delete_project_file",
    "/api/projects/{project_id}",
    "/rpc/delete_project",
    "/api/schedules/{schedule_id}",
    "/rpc/delete_schedule",
    "/rpc/delete_report",
    "/api/jobs/{job_id}",
    "/api/own-keys/{key_id}",
    "/api/search",
    "/rpc/search",
    "/api/files/{file_id}",
    "/rpc/token_totals",
    "/rpc/delete_conversation",
    "/rpc/delete_upload",
    "/rpc/mark_read",
    "/rpc/set_message_deleted",
    "/api/conversations/{conversation_id}",
];

/// What an administrator has to allow first.
const NOT_ALLOWED: [&str; 3] = ["/rpc/add_own_key", "/api/own-keys", "/api/own-keys/test"];

fn request(parlor: &Parlor, client: &reqwest::Client, target: &Target, ids: &Ids) -> RequestBuilder {
    let method: Method = target.method.parse().unwrap();
    let request = client.request(method, format!("{}{}", parlor.url, target.url(ids)));
    if target.method == "GET" {
        return request;
    }
    let mut arguments = target.arguments.clone().unwrap_or(Value::Null);
    ids.fill(&mut arguments);
    match target.is_form {
        true => request
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form_encode(&arguments)),
        false => request
            .header("content-type", "application/json")
            .body(arguments.to_string()),
    }
}

/// Sends a request. Returns the status and the body, which is empty for streams.
async fn send(request: RequestBuilder) -> (u16, String) {
    let response = timeout(TEST_TIMEOUT, request.send())
        .await
        .expect("a response")
        .unwrap();
    let status = response.status().as_u16();
    let content_type = response
        .headers()
        .get("content-type")
        .map(|value| value.to_str().unwrap().to_owned());
    let is_stream = content_type.is_some_and(|kind| kind.starts_with("text/event-stream"));
    let body = if is_stream {
        String::new()
    } else {
        response.text().await.unwrap()
    };
    (status, body)
}

/// Returns true if a target names something of a user.
fn names_an_object(target: &Target) -> bool {
    let arguments = target
        .arguments
        .as_ref()
        .map(Value::to_string)
        .unwrap_or_default();
    let names = [
        "$conversation",
        "$question",
        "$answer",
        "$payload",
        "$file",
        "$schedule",
        "$project",
        "$column",
    ];
    target.path.contains('{') || names.iter().any(|name| arguments.contains(name))
}

/// Returns the targets of all routes, with those that add a message to a conversation of the ids.
fn access_targets() -> Vec<Target> {
    let mut targets = all_targets();
    for path in ["/api/chat/stream", "/api/chat/batch", "/send"] {
        targets.push(Target {
            method: "POST".into(),
            path: path.into(),
            arguments: Some(
                json!({ "message": "Hello", "conversation_id": "$conversation", "model": "test/any" }),
            ),
            is_form: path == "/send",
        });
    }
    targets
}

/// Returns the ids for a target: only questions can be deleted.
fn ids_for(target: &Target, ids: &Ids) -> Ids {
    let is_deletion = target.method == "DELETE" && target.path.starts_with("/api/messages");
    match is_deletion {
        true => ids.clone().with_question_only(),
        false => ids.clone(),
    }
}

/// Waits until a session has expired.
async fn expired_session(parlor: &Parlor) -> Browser {
    let mut browser = Browser::new(parlor);
    browser.sign_in("ann", PASSWORD).await;
    browser.wait_until_expired().await;
    browser
}

/// Creates a token and revokes it.
async fn revoked_token(parlor: &Parlor) -> String {
    let token = create_token(parlor, "a").await;
    revoke(parlor, &list_tokens(parlor).await[0]).await;
    token
}

#[tokio::test]
async fn only_the_owner_reaches_anything() {
    let (_folder, _upstream, mut parlor) = start_parlor_with(|settings| {
        with_passwords(settings);
        // Sessions of remembered devices last.
        settings.accounts.session_lifetime = AT_ONCE;
        settings.accounts.requests_per_minute = 1_000_000;
        // Each target gets a schedule and a project of its own.
        settings.schedules.per_user = 10_000;
        settings.projects.per_user = 10_000;
    })
    .await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    ann.sign_in_remembered("ann").await;
    let mut ben = ann.invite(&parlor, "ben").await;
    ben.sign_in_remembered("ben").await;
    let nobody = Browser::new(&parlor).client;
    let expired = expired_session(&parlor).await.signed_in_client();
    let (owner, other) = (ann.signed_in_client(), ben.signed_in_client());
    parlor.client = owner.clone();
    let token = revoked_token(&parlor).await;
    let ids = Ids::create(&parlor).await;
    let kept = parlor.transcript(&ids.conversation).await;
    let file = format!("/api/files/{}", ids.get("file_id"));

    let targets = access_targets();
    let mut failures = Vec::new();
    let mut expect = |holds: bool, who: &str, target: &Target, (status, body): &(u16, String)| {
        if !holds {
            failures.push(format!(
                "{who}: {} {}: {status} {body:.200}",
                target.method, target.path
            ));
        }
    };
    let missing = Ids::unknown();
    for target in &targets {
        for (who, client) in [("nobody", &nobody), ("an expired session", &expired)] {
            let found = send(request(&parlor, client, target, &ids)).await;
            let unknown = send(request(&parlor, client, target, &missing)).await;
            let refused = if OF_READERS.contains(&target.path.as_str()) {
                404
            } else {
                401
            };
            expect(found.0 == refused && found == unknown, who, target, &found);
        }
        let found = send(request(&parlor, &nobody, target, &ids).bearer_auth(&token)).await;
        expect(found.0 == 401, "a revoked token", target, &found);

        if !names_an_object(target) {
            continue;
        }
        let found = send(request(&parlor, &other, target, &ids_for(target, &ids))).await;
        let path = target.path.as_str();
        let with_method = [&target.method, " ", path].concat();
        if MAKE_CONVERSATIONS.contains(&path) || MAKE_CONVERSATIONS.contains(&with_method.as_str()) {
            expect(found.0 == 404, "another user", target, &found);
            continue;
        }
        let unknown = send(request(&parlor, &other, target, &missing)).await;
        if ["/c/", "/schedules/", "/reports/", "/project/", "/shared-project/"]
            .iter()
            .any(|page| path.starts_with(page))
        {
            expect((found.0, unknown.0) == (404, 404), "another user", target, &found);
            continue;
        }
        let is_refused = matches!(found.0, 403 | 404);
        let may_succeed = SUCCEED_WITHOUT_OBJECT.contains(&path) && found.0 < 300;
        expect(is_refused || may_succeed, "another user", target, &found);
        expect(
            found == unknown,
            "another user learns that it exists",
            target,
            &found,
        );
    }
    assert_eq!(
        parlor.transcript(&ids.conversation).await,
        kept,
        "nothing was changed"
    );
    assert_eq!(parlor.get(&file).send().await.unwrap().status(), 200);

    // First those that change nothing, and leave the content for the next one.
    let (reading, changing): (Vec<_>, Vec<_>) = targets.iter().partition(|target| target.method == "GET");
    for target in reading.into_iter().chain(changing) {
        let own = if target.method == "GET" {
            ids.clone()
        } else {
            Ids::create(&parlor).await
        };
        let ids = ids_for(target, &own);
        let found = send(request(&parlor, &owner, target, &ids)).await;
        let is_known = !NAME_NOTHING_OF_THE_OWNER.contains(&target.path.as_str());
        let is_allowed = !NOT_ALLOWED.contains(&target.path.as_str());
        expect(
            !matches!(found.0, 401 | 403) || !is_allowed,
            "the owner",
            target,
            &found,
        );
        if is_known && names_an_object(target) {
            expect(found.0 != 404, "the owner", target, &found);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn account_pages_belong_to_their_users() {
    let (_folder, _upstream, parlor) = start_parlor_with(with_passwords).await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let ben = ann.invite(&parlor, "ben").await;
    let user = ann.user_id("ben").await;
    let form = |client: &reqwest::Client, method: &str, path: &str, user: &str| {
        let request = client.request(method.parse().unwrap(), format!("{}{path}", parlor.url));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        // Without the page around it, in which no two nonces are the same.
        let request = request.header(PART_HEADER, "1");
        request.body(format!("user={user}&role=member"))
    };
    let nobody = Browser::new(&parlor).client;
    for (method, path) in OWN.into_iter().chain(ADMINISTRATORS) {
        let (status, _) = send(form(&nobody, method, path, &user)).await;
        assert_eq!(status, 401, "{method} {path}");
    }
    let unknown = uuid::Uuid::now_v7().to_string();
    for (method, path) in ADMINISTRATORS {
        let member = ben.signed_in_client();
        let refused = send(form(&member, method, path, &user)).await;
        assert_eq!(refused.0, 403, "{method} {path}");
        assert_eq!(
            refused,
            send(form(&member, method, path, &unknown)).await,
            "{method} {path}"
        );
        let body = "role=member";
        let whole = member.request(method.parse().unwrap(), format!("{}{path}", parlor.url));
        let whole = whole.header("content-type", "application/x-www-form-urlencoded");
        let (status, page) = send(whole.body(body)).await;
        assert_eq!(status, 403, "{method} {path}");
        assert!(
            page.contains("Only administrators") && !page.contains("ann"),
            "{page}"
        );
    }
    for (method, path) in ADMINISTRATORS {
        let (status, body) = send(form(&ann.signed_in_client(), method, path, &user)).await;
        let is_done = matches!(status, 200 | 303) || (path.ends_with("/withdraw") && status == 404);
        assert!(is_done, "{method} {path}: {status} {body}");
    }
}

#[tokio::test]
async fn refused_signed_out_form_keeps_its_text() {
    let (_folder, _upstream, parlor) = start_parlor_with(with_passwords).await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let mut nobody = Browser::new(&parlor);
    let sent = nobody.submit("/send", &[("message", "A long text")]).await;
    assert_eq!(sent.status(), 401);
    assert!(
        sent.text()
            .await
            .unwrap()
            .contains("your text is still in the form")
    );
    let page = nobody.get("/c/1").send().await.unwrap();
    assert_eq!(page.headers()["location"], "/sign-in?next=%2Fc%2F1");
}
