//! The targets: every operation of the API, every server function and the form, each with a valid request. In
//! it, `"$name"` stands for an id.

use leptos::server_fn::axum::server_fn_paths;
use serde_json::{Value, json};
use uuid::Uuid;

use super::arguments::function_arguments;
use crate::{
    columns::save_column,
    openapi::DOCUMENT,
    projects::put_project,
    schedules::{daily, put},
    support::{Parlor, read_json, string_field},
};

/// A target of the fuzzer.
#[derive(Clone, Debug)]
pub struct Target {
    pub method: String,
    /// The path, with `{name}` in place of ids.
    pub path: String,
    pub arguments: Option<Value>,
    pub is_form: bool,
}

/// The existing ids.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    pub conversation: String,
    question: String,
    answer: String,
    payload: String,
    attachment: String,
    /// An upload that no message has.
    file: String,
    schedule: String,
    stream: String,
    /// A report of the stream.
    job: String,
    project: String,
    column: String,
}

impl Ids {
    /// Returns the ids of a turn.
    pub fn from_turn(turn: &[Value]) -> Self {
        let find = |kind: &str, pointer: &str| {
            let event = turn.iter().find(|event| event["type"] == kind);
            let id = event.and_then(|event| event.pointer(pointer)?.as_str());
            id.unwrap_or("none").to_owned()
        };
        Self {
            conversation: find("user_message_saved", "/conversation_id"),
            question: find("user_message_saved", "/user_message_id"),
            answer: find("user_message_saved", "/expected_assistant_message_id"),
            payload: find("payload_made", "/payload/payload_id"),
            attachment: find("tool_complete", "/attachments/0/id"),
            file: "none".into(),
            schedule: "none".into(),
            stream: "none".into(),
            job: "none".into(),
            project: "none".into(),
            column: "none".into(),
        }
    }

    /// Returns ids that nothing has. They are the same each time.
    pub fn unknown() -> Self {
        let id = |number: u128| Uuid::from_u128((7 << 76) | (2 << 62) | number).to_string();
        Self {
            conversation: id(1),
            question: id(2),
            answer: id(3),
            payload: "p99".into(),
            attachment: id(4),
            file: id(5),
            schedule: id(6),
            job: id(6),
            stream: id(7),
            project: id(8),
            column: id(9),
        }
    }

    /// Returns the ids with the question in place of the answer: only questions can be deleted.
    pub fn with_question_only(mut self) -> Self {
        self.answer.clone_from(&self.question);
        self
    }

    /// Runs a turn that has every kind of content, uploads a file, starts a job, and returns the ids.
    pub async fn create(parlor: &Parlor) -> Self {
        let mut ids = Self::from_turn(&parlor.turn(None, "Give").await);
        assert!(ids.payload != "none" && ids.attachment != "none", "{ids:?}");
        let (_, file) = parlor.upload("a.csv", None, "name,size\nmap,3\n").await;
        ids.file = string_field(&file, "id");
        ids.schedule = Uuid::now_v7().to_string();
        let (status, saved) = put(parlor, &ids.schedule, &daily("Morning", "08:00", "UTC")).await;
        assert_eq!(status, 200, "{saved}");
        (ids.stream, ids.job) = make_report(parlor).await;
        ids.project = Uuid::now_v7().to_string();
        let (status, saved) = put_project(parlor, &ids.project, &json!({ "name": "Garden" })).await;
        assert_eq!(status, 200, "{saved}");
        ids.column = save_column(parlor, "Amount", json!({ "type": "number" })).await;
        ids
    }

    /// Returns an id by its name; a new one if the name is unknown.
    pub fn get(&self, name: &str) -> String {
        match name {
            "conversation" | "conversation_id" => self.conversation.clone(),
            "question" | "before" => self.question.clone(),
            "answer" | "message_id" => self.answer.clone(),
            "payload" | "payload_id" => self.payload.clone(),
            "attachment_id" => self.attachment.clone(),
            "file_id" => self.file.clone(),
            "schedule" | "schedule_id" => self.schedule.clone(),
            "job_id" => self.job.clone(),
            "stream" => self.stream.clone(),
            "column" | "column_id" => self.column.clone(),
            "row" => "11".into(),
            "project" | "project_id" => self.project.clone(),
            _ => Uuid::now_v7().to_string(),
        }
    }

    /// Returns one of the ids at random.
    pub fn random(&self, random: &mut fastrand::Rng) -> String {
        let names = [
            "conversation",
            "question",
            "answer",
            "payload",
            "attachment_id",
            "file_id",
            "schedule",
            "job_id",
            "stream",
            "project",
            "column",
            "new",
        ];
        self.get(names[random.usize(..names.len())])
    }

    /// Replaces names by ids.
    pub fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(name) = text.strip_prefix('$') {
                    *text = self.get(name);
                } else if text == "file:$file" {
                    *text = format!("file:{}", self.file);
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.fill(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.fill(value)),
            _ => {}
        }
    }
}

/// Saves a stream and makes a report of it. Returns the ids of both; the job has ended.
async fn make_report(parlor: &Parlor) -> (String, String) {
    let stream = Uuid::now_v7();
    let saved = json!({ "stream": { "id": stream, "name": "Tides", "query": "tides", "instructions": "" } });
    let saved = parlor.post("/rpc/save_stream", &saved).send().await.unwrap();
    assert!(saved.status().is_success(), "{saved:?}");
    let job = json!({ "kind": "report", "input": { "stream_id": stream }, "model": "test/any" });
    let started = parlor.post("/api/jobs", &job).send().await.unwrap();
    let id = string_field(&read_json(started).await, "id");
    let list = parlor.get_json("/api/jobs").await.1;
    let is_running = |job: &Value| job["id"] == *id && job["status"] == "running";
    if list["jobs"].as_array().unwrap().iter().any(is_running) {
        let mut log = parlor
            .follow(&format!("/api/events?after={}", list["as_of"]))
            .await;
        loop {
            let job = log.next_of_type("job_changed").await["change"]["changed"].clone();
            if job["id"] == *id && job["status"] != "running" {
                break;
            }
        }
    }
    (stream.to_string(), id)
}

impl Target {
    /// Returns the path with ids, and the query of a `GET` request.
    pub fn url(&self, ids: &Ids) -> String {
        let parts = self.path.split('/').map(|part| {
            let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
            name.map_or_else(|| part.to_owned(), |name| ids.get(name))
        });
        let mut url = parts.collect::<Vec<_>>().join("/");
        if self.method == "GET"
            && let Some(arguments) = &self.arguments
        {
            let mut arguments = arguments.clone();
            ids.fill(&mut arguments);
            url = format!("{url}?{}", form_encode(&arguments));
        }
        url
    }
}

/// Encodes an object as a query or a form.
pub fn form_encode(arguments: &Value) -> String {
    let pairs = arguments.as_object().into_iter().flatten();
    let pairs = pairs.map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
        format!("{name}={text}")
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// Returns all server functions.
pub fn server_functions() -> Vec<Target> {
    let mut known = function_arguments();
    let functions = server_fn_paths().map(|(path, method)| {
        let name = path.strip_prefix("/rpc/").expect("a function of the page");
        let arguments = known.remove(name);
        let arguments = arguments.unwrap_or_else(|| panic!("{name}: the fuzzer has no arguments for it"));
        Target {
            method: method.to_string(),
            path: path.into(),
            arguments: Some(arguments),
            is_form: false,
        }
    });
    let mut functions: Vec<Target> = functions.collect();
    functions.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(known.is_empty(), "there are no such functions: {known:?}");
    functions
}

/// Returns all targets in a stable order.
pub fn all_targets() -> Vec<Target> {
    let mut targets = server_functions();
    for (path, methods) in DOCUMENT["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let example = operation["requestBody"]["content"]["application/json"].get("example");
            targets.push(Target {
                method: method.to_uppercase(),
                path: path.clone(),
                arguments: example.cloned(),
                is_form: false,
            });
        }
    }
    let form = json!({
        "message": "By a form", "intent_id": "$new", "conversation_id": "$new", "message_id": "$new", "begins": "yes", "model": "test/any",
    });
    let more = [
        ("POST", "/send", Some(form)),
        ("GET", "/rpc/events", Some(json!({ "after": 0 }))),
        ("GET", "/rpc/files/{file_id}", None),
        ("POST", "/rpc/files", None),
        ("POST", "/rpc/projects/{project_id}/files", None),
        ("GET", "/rpc/files/{file_id}/picture", None),
        ("POST", "/rpc/files/{file_id}/picture", None),
        ("GET", "/rpc/conversations/{conversation_id}/notebook", None),
        (
            "GET",
            "/rpc/conversations/{conversation_id}/payloads/{payload_id}/file",
            None,
        ),
        ("GET", "/c/{conversation_id}", None),
        (
            "GET",
            "/literature",
            Some(json!({ "q": "tides", "article": "11" })),
        ),
        ("GET", "/streams", None),
        ("GET", "/stream/new", None),
        ("GET", "/data/town/jobs", Some(json!({ "q": "jobs" }))),
        ("GET", "/reports", None),
        ("GET", "/reports/new", None),
        ("GET", "/reports/{job_id}", None),
        ("GET", "/reports/{job_id}/articles", None),
        ("GET", "/project/{project_id}", None),
        ("GET", "/shared-project/{project_id}", None),
        ("GET", "/rpc/shared-projects/{project_id}/files/{file_id}", None),
        ("GET", "/schedules", None),
        ("GET", "/schedules/{schedule_id}", None),
        ("GET", "/settings", None),
        ("GET", "/v1/models", None),
    ];
    // The settings' tabs, those with a form on the server and those of administrators among them.
    let tabs = [
        "general",
        "models",
        "memories",
        "tokens",
        "usage",
        "account",
        "devices",
        "users",
        "invitations",
        "audit",
        "system",
    ];
    targets.extend(tabs.map(|tab| Target {
        method: "GET".into(),
        path: format!("/settings/{tab}"),
        arguments: None,
        is_form: false,
    }));
    targets.extend(more.map(|(method, path, arguments)| Target {
        method: method.into(),
        path: path.into(),
        arguments,
        is_form: path == "/send",
    }));
    targets
}
