//! Projects that are shared for reading.

use reqwest::Client;
use serde_json::{Value, json};
use upstream::Script;

use super::{SharedStream, page, people::three_people, read_shared};
use crate::{
    accounts::{Browser, Team},
    files::png,
    project_files::add,
    projects::{begin_in, garden, saved},
    support::{Parlor, last_system_prompt, parlor_answering, read_json, string_field},
};

/// A team whose first person shares a project, with a file and a conversation, with the second one.
struct Shared {
    team: Team,
    ann: Browser,
    ben: Browser,
    cat: Browser,
    project: String,
    conversation: String,
    file: String,
}

impl Shared {
    async fn start() -> Self {
        let mut team = Team::start(|_| {}).await;
        let [ann, ben, cat] = three_people(&mut team).await;
        let parlor = &team.parlor;
        let project = saved(parlor, &garden()).await;
        let (status, file) = add(parlor, &project, "plan.txt", "Roses in bed 3.").await;
        assert_eq!(status, 201, "{file}");
        let conversation = begin_in(parlor, &project, "Tulips?").await;
        let shared = Self {
            file: string_field(&file, "id"),
            team,
            ann,
            ben,
            cat,
            project,
            conversation,
        };
        let (status, readers) = shared.put_reader("Ben").await;
        assert_eq!((status, &readers["readers"][0]["name"]), (200, &json!("ben")));
        shared
    }

    fn parlor(&self) -> &Parlor {
        &self.team.parlor
    }

    async fn put_reader(&self, name: &str) -> (u16, Value) {
        let parlor = self.parlor();
        let url = format!("{}/api/projects/{}/readers/{name}", parlor.url, self.project);
        let response = parlor.client.put(url).send().await.unwrap();
        (response.status().as_u16(), read_json(response).await)
    }

    async fn remove_reader(&self, name: &str) {
        let parlor = self.parlor();
        let url = format!("{}/api/projects/{}/readers/{name}", parlor.url, self.project);
        let removed = parlor.client.delete(url).send().await.unwrap();
        assert_eq!(removed.status(), 204);
    }

    /// Follows the conversation.
    async fn follow(&self, reader: &Client) -> SharedStream {
        let url = format!(
            "{}/shared/{}/events?after=0",
            self.parlor().url,
            self.conversation
        );
        let mut stream = SharedStream::open(reader.get(url)).await;
        stream.next().await.expect("the state");
        stream
    }

    /// Returns the statuses of all that a reader can ask for.
    async fn statuses(&self, reader: &Client) -> Vec<u16> {
        let (project, file, conversation) = (&self.project, &self.file, &self.conversation);
        let mut statuses = Vec::new();
        for path in [
            format!("/api/shared-projects/{project}"),
            format!("/rpc/shared_project?id={project}"),
            format!("/api/shared-projects/{project}/files/{file}"),
            format!("/rpc/shared-projects/{project}/files/{file}"),
            format!("/shared-project/{project}"),
            format!("/shared/{conversation}"),
        ] {
            let request = reader.get(format!("{}{path}", self.parlor().url));
            let response = request.header("accept", "text/html, */*").send().await.unwrap();
            statuses.push(response.status().as_u16());
        }
        statuses.push(read_shared(self.parlor(), reader, conversation).await.0);
        statuses
    }

    async fn get(&self, reader: &Client, path: &str) -> (u16, Value) {
        let response = reader
            .get(format!("{}{path}", self.parlor().url))
            .send()
            .await
            .unwrap();
        (response.status().as_u16(), read_json(response).await)
    }

    async fn patch(&self, body: Value) -> u16 {
        let url = format!("{}/api/conversations/{}", self.parlor().url, self.conversation);
        let request = self
            .parlor()
            .client
            .patch(url)
            .header("content-type", "application/json");
        request
            .body(body.to_string())
            .send()
            .await
            .unwrap()
            .status()
            .as_u16()
    }
}

const ALL: [u16; 7] = [200; 7];
const NONE: [u16; 7] = [404; 7];

#[tokio::test]
async fn a_reader_sees_the_project_and_changes_nothing() {
    let shared = Shared::start().await;
    let (reader, other) = (shared.ben.signed_in_client(), shared.cat.signed_in_client());
    assert_eq!(shared.statuses(&reader).await, ALL);
    assert_eq!(shared.statuses(&other).await, NONE);
    let (_, list) = shared.get(&reader, "/api/projects").await;
    let expected = json!([{ "id": shared.project, "name": "The garden", "colour": "green", "owner": "ann" }]);
    assert_eq!((&list["projects"], &list["shared"]), (&json!([]), &expected));
    let url = format!("/api/shared-projects/{}", shared.project);
    let (_, content) = shared.get(&reader, &url).await;
    assert_eq!(content["instructions"], "Answer as a gardener.");
    assert_eq!(content["files"][0]["name"], "plan.txt");
    assert_eq!(content["conversations"][0]["title"], "Tulips?");
    assert_eq!(content.get("next"), None);
    let (_, html) = page(shared.parlor(), &reader, "/").await;
    assert!(
        html.contains("Shared with you") && html.contains("The garden"),
        "in the list"
    );
    let (_, html) = page(
        shared.parlor(),
        &reader,
        &format!("/shared-project/{}", shared.project),
    )
    .await;
    assert!(
        html.contains("Answer as a gardener.") && html.contains("Tulips?"),
        "without scripts, too"
    );
    let (_, read) = read_shared(shared.parlor(), &reader, &shared.conversation).await;
    assert_eq!(
        (&read["owner"], &read["is_live"], &read["project_id"]),
        (&json!("ann"), &json!(true), &json!(shared.project))
    );

    // The project, its conversations and its files are the owner's for everything else.
    for (method, path, body) in [
        ("PUT", format!("/api/projects/{}", shared.project), garden()),
        ("GET", format!("/api/projects/{}", shared.project), Value::Null),
        (
            "GET",
            format!("/api/projects/{}/files", shared.project),
            Value::Null,
        ),
        (
            "GET",
            format!("/api/projects/{}/readers", shared.project),
            Value::Null,
        ),
        (
            "PUT",
            format!("/api/projects/{}/readers/cat", shared.project),
            Value::Null,
        ),
        (
            "DELETE",
            format!("/api/projects/{}/readers/ben", shared.project),
            Value::Null,
        ),
        ("GET", format!("/api/files/{}", shared.file), Value::Null),
        (
            "GET",
            format!("/api/conversations/{}", shared.conversation),
            Value::Null,
        ),
        (
            "PATCH",
            format!("/api/conversations/{}", shared.conversation),
            json!({ "title": "Mine" }),
        ),
        (
            "GET",
            format!("/api/conversations?project_id={}", shared.project),
            Value::Null,
        ),
        (
            "POST",
            "/api/chat/stream".into(),
            json!({ "message": "Hello", "project_id": shared.project, "model": "test/any" }),
        ),
        (
            "POST",
            "/api/chat/stream".into(),
            json!({ "message": "Hello", "conversation_id": shared.conversation, "model": "test/any" }),
        ),
    ] {
        let request = reader.request(method.parse().unwrap(), format!("{}{path}", shared.parlor().url));
        let request = request.header("content-type", "application/json");
        let refused = request.body(body.to_string()).send().await.unwrap();
        assert_eq!(refused.status(), 404, "{method} {path}");
    }
    let (_, found) = shared.get(&reader, "/api/search?q=tulips").await;
    assert_eq!(found["hits"], json!([]));
    let (_, found) = shared.get(&reader, "/api/files").await;
    assert_eq!(found["files"], json!([]));
}

#[tokio::test]
async fn models_of_a_reader_get_nothing_of_the_project() {
    let mut shared = Shared::start().await;
    shared.team.parlor.client = shared.ben.signed_in_client();
    shared.team.parlor.turn(None, "Hello").await;
    let prompt = last_system_prompt(&shared.team.upstream);
    for text in ["Roses", "plan.txt", "gardener", "The garden"] {
        assert!(!prompt.contains(text), "{text}: {prompt}");
    }
}

#[tokio::test]
async fn removal_ends_open_streams_and_all_routes() {
    let shared = Shared::start().await;
    let reader = shared.ben.signed_in_client();
    let mut stream = shared.follow(&reader).await;
    shared.parlor().turn(Some(&shared.conversation), "Go on").await;
    stream.until("complete").await;
    shared.remove_reader("BEN").await;
    stream.expect_end().await;
    assert_eq!(shared.statuses(&reader).await, NONE);
    assert_eq!(shared.get(&reader, "/api/projects").await.1.get("shared"), None);
    shared.remove_reader("ben").await;
    let nobody = format!(
        "{}/api/projects/{}/readers/nobody",
        shared.parlor().url,
        shared.project
    );
    assert_eq!(
        shared
            .parlor()
            .client
            .delete(nobody)
            .send()
            .await
            .unwrap()
            .status(),
        404
    );

    shared.put_reader("ben").await;
    assert_eq!(shared.statuses(&reader).await, ALL);
    let leave = format!("{}/api/shared-projects/{}", shared.parlor().url, shared.project);
    let mut stream = shared.follow(&reader).await;
    for _ in 0..2 {
        assert_eq!(reader.delete(&leave).send().await.unwrap().status(), 204);
    }
    stream.expect_end().await;
    assert_eq!(shared.statuses(&reader).await, NONE);
    let audit = shared.ann.page("/settings/audit").await;
    assert!(audit.contains("shared a project with ben"));
    assert!(audit.contains("ended the sharing of a project with ben"));
}

#[tokio::test]
async fn what_leaves_the_project_is_not_read_any_more() {
    let shared = Shared::start().await;
    let reader = shared.ben.signed_in_client();
    let can_read = async || {
        read_shared(shared.parlor(), &reader, &shared.conversation)
            .await
            .0
            == 200
    };
    let mut moved = shared.follow(&reader).await;
    assert_eq!(shared.patch(json!({ "project_id": null })).await, 200);
    moved.expect_end().await;
    assert!(!can_read().await);
    assert_eq!(shared.patch(json!({ "project_id": shared.project })).await, 200);
    assert!(can_read().await);
    // Another place in the list changes nothing for readers.
    let mut stream = shared.follow(&reader).await;
    assert_eq!(shared.patch(json!({ "pinned": true })).await, 200);
    assert_eq!(shared.patch(json!({ "title": "Roses?" })).await, 200);
    stream.until("conversation_renamed").await;

    let trash = json!({ "conversation_ids": [shared.conversation], "change": "delete" });
    let trashed = shared
        .parlor()
        .post("/rpc/change_conversations", &trash)
        .send()
        .await
        .unwrap();
    assert_eq!(trashed.status(), 200);
    stream.expect_end().await;
    assert!(!can_read().await);
    let restore = json!({ "conversation_ids": [shared.conversation], "change": "restore" });
    let restored = shared
        .parlor()
        .post("/rpc/change_conversations", &restore)
        .send()
        .await
        .unwrap();
    assert_eq!(restored.status(), 200);
    assert!(can_read().await);
    let mut deleted = shared.follow(&reader).await;
    let url = format!("{}/api/projects/{}", shared.parlor().url, shared.project);
    assert_eq!(
        shared.parlor().client.delete(url).send().await.unwrap().status(),
        204
    );
    deleted.expect_end().await;
    assert_eq!(shared.statuses(&reader).await, NONE);
}

#[tokio::test]
async fn a_conversation_of_two_shared_projects_is_read_as_one_of_the_present_one() {
    let mut shared = Shared::start().await;
    let reader = shared.ben.signed_in_client();
    let mut stream = shared.follow(&reader).await;
    shared.project = saved(shared.parlor(), &garden()).await;
    shared.put_reader("ben").await;
    assert_eq!(shared.patch(json!({ "project_id": shared.project })).await, 200);
    shared.parlor().turn(Some(&shared.conversation), "Go on").await;
    stream.until("complete").await;
    shared.remove_reader("ben").await;
    stream.expect_end().await;
}

#[tokio::test]
async fn a_disabled_account_shares_no_project() {
    let mut shared = Shared::start().await;
    // The owner is a member, whom the administrator disables.
    shared.team.parlor.client = shared.ben.signed_in_client();
    shared.project = saved(shared.parlor(), &garden()).await;
    shared.conversation = begin_in(shared.parlor(), &shared.project, "Roses?").await;
    shared.file = string_field(
        &add(shared.parlor(), &shared.project, "a.txt", "Bees.").await.1,
        "id",
    );
    shared.put_reader("cat").await;
    let reader = shared.cat.signed_in_client();
    assert_eq!(shared.statuses(&reader).await, ALL);
    let mut stream = shared.follow(&reader).await;
    let user = shared.ann.user_id("ben").await;
    shared
        .ann
        .submit("/settings/users/disable", &[("user", &user)])
        .await;
    stream.expect_end().await;
    assert_eq!(shared.statuses(&reader).await, NONE);
    assert_eq!(shared.get(&reader, "/api/projects").await.1.get("shared"), None);
    shared
        .ann
        .submit("/settings/users/enable", &[("user", &user)])
        .await;
    assert_eq!(shared.statuses(&reader).await, ALL);
}

#[tokio::test]
async fn images_of_a_project_are_only_pixels() {
    let shared = Shared::start().await;
    let reader = shared.ben.signed_in_client();
    let (_, image) = add(shared.parlor(), &shared.project, "bed.png", png(4, 3)).await;
    let file = async |id: &str| {
        let url = format!(
            "{}/api/shared-projects/{}/files/{id}",
            shared.parlor().url,
            shared.project
        );
        reader.get(url).send().await.unwrap()
    };
    let text = file(&shared.file).await;
    assert_eq!(text.headers()["content-type"], "application/octet-stream");
    assert_eq!(text.headers()["cache-control"], "no-store");
    assert!(
        text.headers()["content-disposition"]
            .to_str()
            .unwrap()
            .starts_with("attachment")
    );
    assert_eq!(text.text().await.unwrap(), "Roses in bed 3.");
    let image = file(&string_field(&image, "id")).await;
    assert_eq!(image.headers()["content-type"], "image/png");
    let unknown = file(&uuid::Uuid::now_v7().to_string()).await;
    assert_eq!(unknown.status(), 404);
}

#[tokio::test]
async fn readers_and_projects_have_limits() {
    let mut team = Team::start(|settings| {
        settings.projects.readers = 1;
        settings.projects.shared_with_user = 1;
    })
    .await;
    let [_ann, ben, _cat] = three_people(&mut team).await;
    let parlor = &team.parlor;
    let (first, second) = (saved(parlor, &garden()).await, saved(parlor, &garden()).await);
    let add = async |project: &str, names: Value| {
        let request = json!({ "id": project, "names": names });
        let response = parlor
            .post("/rpc/add_project_readers", &request)
            .send()
            .await
            .unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    for names in [json!(["dan"]), json!([]), json!(["ann"]), json!(["ben", "cat"])] {
        let (status, text) = add(&first, names.clone()).await;
        assert_eq!(status, 400, "{names}: {text}");
    }
    assert_eq!(add(&first, json!(["BEN"])).await.0, 200);
    let (status, text) = add(&first, json!(["cat"])).await;
    assert!(status == 413 && text.contains("projects.readers"), "{text}");
    let (status, text) = add(&second, json!(["ben"])).await;
    assert!(
        status == 413 && text.contains("projects.shared_with_user"),
        "{text}"
    );
    let cursor = format!("{}/api/shared-projects/{first}?cursor=x", parlor.url);
    assert_eq!(
        ben.signed_in_client().get(cursor).send().await.unwrap().status(),
        400
    );
}

#[tokio::test]
async fn without_accounts_nobody_can_be_named() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let project = saved(&parlor, &garden()).await;
    let url = format!("{}/api/projects/{project}/readers/ben", parlor.url);
    let refused = parlor.client.put(url).send().await.unwrap();
    assert_eq!(refused.status(), 400);
    let (_, list) = parlor.get_json("/api/projects").await;
    assert_eq!(list.get("shared"), None);
    let page = parlor.get(&format!("/project/{project}")).send().await.unwrap();
    assert!(!page.text().await.unwrap().contains("data-share-people"));
}
