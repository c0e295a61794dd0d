//! Results with many rows: files of their call, which the panel shows page by page.

use std::path::{Path, PathBuf};

use parlor_base::settings::DatabaseSettings;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor, sqlite::SqliteConnectOptions};
use tokio::time::timeout;
use upstream::{Script, Upstream, When};

use crate::{
    accounts::{Browser, with_passwords},
    data::make_database,
    sharing::Share,
    support::{Parlor, TEST_TIMEOUT, string_field},
};

const COUNT: u64 = 12_000;
const QUERY: &str = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x LIMIT 12000) \
    SELECT n, CASE n % 3 WHEN 0 THEN NULL ELSE n * 0.5 END AS rate, '=town, ' || n || CASE n WHEN 77 THEN ' 100%' ELSE '' END AS town FROM x";

struct Stored {
    folder: tempfile::TempDir,
    upstream: Upstream,
    database: DatabaseSettings,
    parlor: Parlor,
    conversation: String,
    payload: String,
    /// The end of the call.
    ended: Value,
}

async fn start_server(folder: &Path, upstream: &Upstream, database: &DatabaseSettings) -> Parlor {
    let database = database.clone();
    Parlor::start_built_in(&folder.join("data"), upstream, |settings| {
        settings.databases = vec![database];
        with_passwords(settings);
    })
    .await
}

impl Stored {
    /// Lets the user `ann` ask a question that is answered with many rows.
    async fn start() -> (Self, Browser) {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        let database = make_database(folder.path(), "town").await;
        let mut parlor = start_server(folder.path(), &upstream, &database).await;
        let mut ann = Browser::new(&parlor);
        ann.set_up(&parlor, "ann").await;
        parlor.client = ann.signed_in_client();
        let call = Script::new().tool_call("call_1", "sql_query", json!({ "query": QUERY }).to_string());
        upstream.add_script(When::user_contains("all towns"), call);
        upstream.add_script(When::tool_gave("12000 rows"), Script::new().text("Many."));
        let question = json!({
            "message": "all towns", "model": "test/any", "context": { "current_page": "data" },
        });
        let events = parlor.chat(&question).await.read_to_end().await;
        let ended = events.iter().find(|event| event["type"] == "tool_complete");
        let ended = ended.expect("the end of the call").clone();
        let stored = Self {
            conversation: string_field(&ended, "conversation_id"),
            payload: string_field(&ended["payload"], "payload_id"),
            folder,
            upstream,
            database,
            parlor,
            ended,
        };
        (stored, ann)
    }

    /// Starts the server again, after a change of its database.
    async fn restart(self, user: &Browser, statement: &'static str) -> Self {
        self.parlor.stop().await;
        let options = SqliteConnectOptions::new().filename(self.folder.path().join("data/parlor.db"));
        let mut connection = options.connect().await.unwrap();
        connection.execute(sqlx::raw_sql(statement)).await.unwrap();
        connection.close().await.unwrap();
        let mut parlor = start_server(self.folder.path(), &self.upstream, &self.database).await;
        parlor.client = user.signed_in_client();
        Self { parlor, ..self }
    }

    fn rows_path(&self, arguments: &str) -> String {
        let Self {
            conversation,
            payload,
            ..
        } = self;
        format!("/rpc/table_rows?conversation_id={conversation}&payload_id={payload}&{arguments}")
    }

    async fn rows(&self, arguments: &str) -> (u16, Value) {
        self.parlor.get_json(&self.rows_path(arguments)).await
    }

    fn file_path(&self) -> String {
        let Self {
            conversation,
            payload,
            ..
        } = self;
        format!("/rpc/conversations/{conversation}/payloads/{payload}/file")
    }

    fn view_path(&self) -> String {
        let Self {
            conversation,
            payload,
            ..
        } = self;
        format!("/rpc/payload?conversation_id={conversation}&payload_id={payload}")
    }

    /// Returns the id of the file of the rows.
    async fn file_id(&self) -> String {
        let Self {
            conversation,
            payload,
            parlor,
            ..
        } = self;
        let path = format!("/api/conversations/{conversation}/payloads/{payload}");
        let (_, payload) = parlor.get_json(&path).await;
        string_field(&payload["data"]["stored"], "file")
    }

    /// The files in the data folder.
    fn contents(&self) -> Vec<PathBuf> {
        contents(self.folder.path())
    }
}

/// The files in the data folder of a server.
fn contents(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.join("data/files")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => folders.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found
}

#[tokio::test]
async fn rows_have_the_room_of_the_users_files() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let database = make_database(folder.path(), "town").await;
    let parlor = Parlor::start_built_in(&folder.path().join("data"), &upstream, |settings| {
        settings.databases = vec![database];
        settings.files.user_bytes = 10_000;
    })
    .await;
    let call = Script::new().tool_call("call_1", "sql_query", json!({ "query": QUERY }).to_string());
    upstream.add_script(When::user_contains("all towns"), call);
    upstream.add_script(When::tool_gave("no room"), Script::new().text("Too many."));
    let question = json!({
        "message": "all towns", "model": "test/any", "context": { "current_page": "data" },
    });
    let events = parlor.chat(&question).await.read_to_end().await;
    let ended = events.iter().find(|event| event["type"] == "tool_complete");
    let output = string_field(ended.expect("the end of the call"), "output");
    assert!(output.contains("There is no room for so many rows"), "{output}");
    assert_eq!(contents(folder.path()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn many_rows_are_paged_sorted_and_filtered() {
    let (stored, _) = Stored::start().await;
    let text = string_field(&stored.ended, "output");
    let note = "12000 rows. The first 20 are above; the person sees all 12000 in a table.";
    assert!(
        text.starts_with("| n | rate | town |") && text.contains(note),
        "{text}"
    );
    assert_eq!(stored.ended["payload"]["preview_rows"], COUNT);
    let summary = string_field(&stored.ended["payload"], "summary");
    assert!(summary.ends_with("(12000)"), "{summary}");
    assert!(stored.ended.get("attachments").is_none(), "{}", stored.ended);
    assert_eq!(stored.contents().len(), 1);

    let (_, view) = stored.parlor.get_json(&stored.view_path()).await;
    let table = &view["body"]["table"];
    assert_eq!(
        (
            &table["stored_rows"],
            table["rows"].as_array().map(Vec::len),
            &table["rows"][1]
        ),
        (&json!(COUNT), Some(200), &json!(["2", "1.0", "=town, 2"]))
    );
    for (arguments, found, first) in [
        ("offset=0", COUNT, json!(["1", "0.5", "=town, 1"])),
        ("offset=11900", COUNT, json!(["11901", "NULL", "=town, 11901"])),
        (
            "offset=0&column=0&is_descending=true",
            COUNT,
            json!(["12000", "NULL", "=town, 12000"]),
        ),
        ("offset=100&column=1", COUNT, json!(["151", "75.5", "=town, 151"])),
        (
            "offset=0&filter=TOWN%20100%25",
            1,
            json!(["77", "38.5", "=town, 77 100%"]),
        ),
        ("offset=0&filter=%20%20", COUNT, json!(["1", "0.5", "=town, 1"])),
        ("offset=0&filter=nowhere", 0, Value::Null),
    ] {
        let (status, page) = stored.rows(arguments).await;
        assert_eq!(
            (status, &page["found"], &page["rows"][0]),
            (200, &json!(found), &first),
            "{arguments}"
        );
        assert!(page["rows"].as_array().unwrap().len() <= 100);
    }
    for (arguments, code) in [
        ("offset=0&column=3", "bad_request"),
        ("offset=0&column=0)%20FROM%20x--", "bad_request"),
        ("offset=-1", "bad_request"),
    ] {
        let (status, error) = stored.rows(arguments).await;
        assert_eq!((status, &error["code"]), (400, &json!(code)), "{arguments}");
    }
}

#[tokio::test]
async fn csv_has_all_rows() {
    let (stored, _) = Stored::start().await;
    let response = stored.parlor.get(&stored.file_path()).send().await.unwrap();
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/csv; charset=utf-8; header=present");
    assert!(header("content-disposition").starts_with("attachment; filename=\"WITH RECURSIVE"));
    let csv = response.text().await.unwrap();
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert_eq!(lines.len() as u64, COUNT + 2);
    assert_eq!(
        lines[..3],
        [
            "\u{feff}n,rate,town",
            "1,0.5,\"'=town, 1\"",
            "2,1.0,\"'=town, 2\""
        ]
    );
    assert_eq!(lines[COUNT as usize..], ["12000,,\"'=town, 12000\"", ""]);
}

#[tokio::test]
async fn rows_are_private_and_survive_a_restart() {
    let (mut stored, mut ann) = Stored::start().await;
    let ben = ann.invite(&stored.parlor, "ben").await.signed_in_client();
    let paths = [
        stored.rows_path("offset=0"),
        stored.file_path(),
        stored.view_path(),
        format!("/api/files/{}", stored.file_id().await),
    ];
    for path in &paths {
        let url = format!("{}{path}", stored.parlor.url);
        let foreign = ben.get(&url).send().await.unwrap();
        let own = stored.parlor.get(path).send().await.unwrap();
        assert_eq!(
            (foreign.status().as_u16(), own.status().as_u16()),
            (404, 200),
            "{path}"
        );
    }
    stored = stored.restart(&ann, "").await;
    let (status, page) = stored.rows("offset=11999").await;
    assert_eq!((status, page["rows"].as_array().map(Vec::len)), (200, Some(1)));
}

#[tokio::test]
async fn rows_are_never_shared() {
    let (stored, _) = Stored::start().await;
    let Stored {
        parlor,
        conversation,
        payload,
        ..
    } = &stored;
    let share = Share::create(parlor, conversation, None, true).await;
    let reader = reqwest::Client::new();
    let get = async |path: &str| {
        let url = format!("{}{path}", parlor.url);
        reader.get(url).send().await.unwrap().status().as_u16()
    };
    assert_eq!(get(&share.path).await, 200);
    let file = stored.file_id().await;
    for (path, status) in [
        (format!("{}/payloads/{payload}/file", share.path), 404),
        (format!("{}/files/{file}", share.path), 404),
        (stored.rows_path("offset=0"), 401),
        (stored.file_path(), 401),
        (format!("/api/files/{file}"), 401),
    ] {
        assert_eq!(get(&path).await, status, "{path}");
    }
    let body = json!({ "key": share.key(), "payload_id": payload, "is_preview": false }).to_string();
    let request = reader.post(format!("{}/rpc/shared_payload", parlor.url));
    let request = request.header("content-type", "application/json").body(body);
    assert_eq!(request.send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn rows_go_with_their_conversation() {
    let (stored, _) = Stored::start().await;
    let path = format!("/api/conversations/{}", stored.conversation);
    let request = stored
        .parlor
        .client
        .delete(format!("{}{path}", stored.parlor.url));
    assert!(request.send().await.unwrap().status().is_success());
    let gone = async {
        while !stored.contents().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    timeout(TEST_TIMEOUT, gone).await.expect("no file is left");
    for path in [stored.rows_path("offset=0"), stored.file_path()] {
        assert_eq!(
            stored.parlor.get(&path).send().await.unwrap().status(),
            404,
            "{path}"
        );
    }
}

#[tokio::test]
async fn table_without_its_file_keeps_the_first_rows() {
    let (stored, ann) = Stored::start().await;
    let stored = stored.restart(&ann, "DELETE FROM files").await;
    let (_, view) = stored.parlor.get_json(&stored.view_path()).await;
    let table = &view["body"]["table"];
    assert_eq!(
        (&table["stored_rows"], &table["missing"], &table["rows"][0][0]),
        (
            &Value::Null,
            &json!("11,800 more rows, which are not stored any more"),
            &json!("1")
        )
    );
    let gone = "The rows of this table are not stored any more. Ask for the query to be run again.";
    let (status, error) = stored.rows("offset=0").await;
    assert_eq!((status, &error["message"]), (404, &json!(gone)));
    let file = stored.parlor.get(&stored.file_path()).send().await.unwrap();
    assert_eq!(file.status(), 404);
}

#[tokio::test]
async fn damaged_file_is_an_error_in_words() {
    let (stored, _) = Stored::start().await;
    let path = stored.contents().remove(0);
    let damaged = "The rows of this table can’t be read: their file is damaged or missing. Ask for the query to be run again.";
    for content in [Some("no database"), None] {
        match content {
            Some(content) => std::fs::write(&path, content).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let (status, error) = stored.rows("offset=100").await;
        assert_eq!((status, &error["message"]), (500, &json!(damaged)));
        let (status, error) = stored.parlor.get_json(&stored.file_path()).await;
        assert_eq!(status, 500, "{error}");
        // The first rows are those of the payload.
        let (status, view) = stored.parlor.get_json(&stored.view_path()).await;
        assert_eq!((status, &view["body"]["table"]["rows"][0][0]), (200, &json!("1")));
    }
}
