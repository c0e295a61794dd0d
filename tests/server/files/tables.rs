//! The tables of attached files, queried with SQL.

use parlor_base::settings::Settings;
use serde_json::{Value, json};
use upstream::{Script, When};
use uuid::Uuid;

use super::{
    documents::fixture,
    start,
    stored::{stored_names, wait_for_names},
};
use crate::{
    data::make_database,
    support::{self, Parlor, string_field},
};

/// Returns the description and the fields of a tool in the last model call; `None` if it was not offered.
fn offered(upstream: &upstream::Upstream, name: &str) -> Option<(String, Vec<String>)> {
    let call = support::last_model_call(upstream);
    let tools = call["tools"].as_array()?;
    let tool = tools.iter().find(|tool| tool["function"]["name"] == name)?;
    let fields = tool["function"]["parameters"]["properties"].as_object()?;
    let description = string_field(&tool["function"], "description");
    Some((description, fields.keys().cloned().collect()))
}

/// A question with files, which the model answers with a query.
struct Question<'a> {
    query: &'a str,
    /// The other arguments.
    arguments: Value,
    context: Value,
    conversation: Option<Uuid>,
    files: &'a [(&'a str, Vec<u8>)],
}

impl<'a> Question<'a> {
    fn new(query: &'a str, files: &'a [(&'a str, Vec<u8>)]) -> Self {
        Self {
            query,
            arguments: json!({}),
            context: json!({ "current_page": "chat" }),
            conversation: None,
            files,
        }
    }

    /// Asks. Returns the result of the call and the conversation.
    async fn ask(self, parlor: &Parlor, upstream: &upstream::Upstream) -> (String, Uuid) {
        let mut arguments = self.arguments;
        arguments["query"] = self.query.into();
        let conversation = self.conversation.unwrap_or_else(Uuid::new_v4);
        let mut ids = Vec::new();
        for (name, data) in self.files {
            let (status, file) = parlor.upload(name, Some(conversation), data.clone()).await;
            assert_eq!(status, 201, "{file}");
            ids.push(file["id"].clone());
        }
        let question = format!("query {arguments} of {conversation}");
        upstream.add_script(
            When::user_contains(question.clone()),
            Script::new().tool_call("call_1", "sql_query", arguments.to_string()),
        );
        upstream.add_script(
            When {
                tool_gave: Some(String::new()),
                ..When::user_contains(question.clone())
            },
            Script::new().text("That is it."),
        );
        let turn = json!({
            "message": question, "files": ids, "conversation_id": conversation, "model": "test/any", "context": self.context,
        });
        let events = parlor.chat(&turn).await.read_to_end().await;
        let ended = events.iter().find(|event| event["type"] == "tool_complete");
        let ended = ended.unwrap_or_else(|| panic!("no call ended: {events:?}"));
        (string_field(ended, "output"), conversation)
    }
}

fn csv(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn unchanged(_: &mut Settings, _: &upstream::Upstream) {}

#[tokio::test]
async fn conversation_files_are_tables_of_one_database() {
    let (_folder, upstream, parlor) = start(unchanged).await;
    let sales = csv("product,amount\napple,3\npear,4\napple,5\n");
    let prices = csv("{\"product\": \"apple\", \"price\": 1.5}\n{\"product\": \"pear\", \"price\": 2}\n");
    let files = [("Sales 2024.csv", sales), ("prices.jsonl", prices)];
    let query = "SELECT product, sum(amount * price) AS total FROM sales_2024 JOIN prices USING (product) GROUP BY product ORDER BY 1";
    let (output, conversation) = Question::new(query, &files).ask(&parlor, &upstream).await;
    assert!(
        output.starts_with("| product | total |\n| --- | ---: |\n| apple | 12 |\n| pear | 8 |"),
        "{output}"
    );
    assert!(output.contains("2 rows."), "{output}");

    // Files of earlier messages stay; a wrong name is told with what there is.
    let ask = |query: &'static str| Question {
        conversation: Some(conversation),
        ..Question::new(query, &[])
    };
    let (output, _) = ask("SELECT count(*) AS n FROM sales_2024")
        .ask(&parlor, &upstream)
        .await;
    assert!(output.contains("| 3 |"), "{output}");
    let (output, _) = ask("SELECT * FROM sales").ask(&parlor, &upstream).await;
    assert!(output.contains("The tables are: prices, sales_2024."), "{output}");
    let (output, _) = ask("SELECT amont FROM sales_2024").ask(&parlor, &upstream).await;
    assert!(output.contains("sales_2024 has product, amount"), "{output}");
    for query in [
        "DELETE FROM sales_2024",
        "CREATE TABLE x (a)",
        "ATTACH '/etc/passwd' AS p",
        "DROP VIEW sales_2024",
        "PRAGMA query_only = OFF",
    ] {
        let question = Question {
            conversation: Some(conversation),
            ..Question::new(query, &[])
        };
        let (output, _) = question.ask(&parlor, &upstream).await;
        assert!(
            ["not allowed", "does not read rows", "cannot modify"]
                .iter()
                .any(|reason| output.contains(reason)),
            "{query}: {output}"
        );
    }
    // Another conversation has none of them.
    let other = [("b.csv", csv("x\n1\n"))];
    let (output, _) = Question::new("SELECT * FROM prices", &other)
        .ask(&parlor, &upstream)
        .await;
    assert!(output.contains("The tables are: b."), "{output}");
}

#[tokio::test]
async fn file_queries_are_offered_only_with_tables() {
    let (_folder, upstream, parlor) = start(unchanged).await;
    parlor.send_file("notes.txt", csv("just text"), "Look").await;
    assert_eq!(offered(&upstream, "sql_query"), None);
    parlor.send_file("t.csv", csv("a,b\n1,2\n"), "Look").await;
    let (description, fields) = offered(&upstream, "sql_query").expect("it is offered");
    assert_eq!(fields, ["query"]);
    assert!(
        description.contains("The database: files (SQLite).") && description.contains("sales_2024"),
        "{description}"
    );
}

#[tokio::test]
async fn page_data_queries_databases_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let town = make_database(folder.path(), "town").await;
    let (_folder, upstream, parlor) = start(|settings, _| settings.databases = vec![town]).await;
    let files = [("t.csv", csv("a\n41\n"))];
    let on_page = |query: &'static str, arguments: Value, conversation| Question {
        arguments,
        context: json!({ "current_page": "data" }),
        conversation,
        ..Question::new(query, &[])
    };
    let question = Question {
        files: &files,
        ..on_page("SELECT a + 1 AS n FROM t", json!({ "database": "files" }), None)
    };
    let (output, conversation) = question.ask(&parlor, &upstream).await;
    assert!(output.contains("| 42 |"), "{output}");
    let id = Some(conversation);
    let question = on_page(
        "SELECT count(*) AS n FROM jobs",
        json!({ "database": "town" }),
        id,
    );
    let (output, _) = question.ask(&parlor, &upstream).await;
    assert!(output.contains("| 3 |"), "{output}");
    let (output, _) = on_page("SELECT 1", json!({}), id).ask(&parlor, &upstream).await;
    assert!(output.contains("Name the database: town, files."), "{output}");
    // The plain chat queries the files alone.
    let question = Question {
        conversation: id,
        ..Question::new("SELECT * FROM jobs", &[])
    };
    let (output, _) = question.ask(&parlor, &upstream).await;
    assert!(output.contains("The tables are: t."), "{output}");
    let (_, fields) = offered(&upstream, "sql_query").expect("it is offered");
    assert_eq!(fields, ["query"]);
    // Without files, nothing speaks of them.
    let question = on_page("SELECT count(*) AS n FROM jobs", json!({}), None);
    let (output, _) = question.ask(&parlor, &upstream).await;
    assert!(output.contains("| 3 |"), "{output}");
    let (description, fields) = offered(&upstream, "sql_query").expect("it is offered");
    assert_eq!(fields, ["query"]);
    assert!(!description.contains("files"), "{description}");
}

#[tokio::test]
async fn tables_are_deleted_with_their_file() {
    let (folder, upstream, parlor) = start(unchanged).await;
    let files = [("t.csv", csv("a\n1\n"))];
    let (_, conversation) = Question::new("SELECT * FROM t", &files)
        .ask(&parlor, &upstream)
        .await;
    let made = stored_names(folder.path());
    assert_eq!(
        made.iter().filter(|name| name.ends_with(".tables2")).count(),
        1,
        "{made:?}"
    );
    assert_eq!(made.len(), 3, "{made:?}");
    let url = format!("{}/api/conversations/{conversation}", parlor.url);
    let deleted = parlor.client.delete(url).send().await.unwrap();
    assert!(deleted.status().is_success(), "{deleted:?}");
    wait_for_names(folder.path(), 0).await;
}

#[tokio::test]
async fn sheets_of_workbooks_are_tables() {
    let (_folder, upstream, parlor) = start(unchanged).await;
    for (name, sheet, rows) in [
        ("orders.xlsx", "orders_orders", 300),
        // Their only sheet.
        ("orders.ods", "orders", 5),
        ("orders.xls", "orders", 5),
    ] {
        let files = [(name, fixture(name))];
        let query = format!("SELECT count(*) AS n, min(Amount) AS least, min(Name) AS first FROM {sheet}");
        let (output, _) = Question::new(&query, &files).ask(&parlor, &upstream).await;
        assert!(
            output.contains(&format!("| {rows} | 1.5 | Order 1 |")),
            "{name}: {output}"
        );
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_queried_says_why() {
    let (_folder, upstream, parlor) = start(unchanged).await;
    let files = [("broken.json", csv("{\"a\": 1}\n[not JSON"))];
    let (output, _) = Question::new("SELECT 1", &files).ask(&parlor, &upstream).await;
    assert!(
        output.contains("The tables of “broken.json” can’t be queried"),
        "{output}"
    );
    // The other files can be queried, with the reason why this one can't.
    let files = [
        ("t.csv", csv("a\n1\n")),
        ("broken.json", csv("{\"a\": 1}\n[not JSON")),
    ];
    let (output, _) = Question::new("SELECT a FROM t", &files)
        .ask(&parlor, &upstream)
        .await;
    assert!(
        output.contains("| 1 |") && output.contains("The tables of “broken.json” can’t be queried"),
        "{output}"
    );
}

#[tokio::test]
async fn files_beyond_the_newest_ten_are_named() {
    let (_folder, upstream, parlor) = start(unchanged).await;
    let names: Vec<String> = (0..12).map(|index| format!("t{index}.csv")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), csv("a\n1\n"))).collect();
    let (older, newer) = files.split_at(6);
    let (_, conversation) = Question::new("SELECT 1", older).ask(&parlor, &upstream).await;
    let question = Question {
        conversation: Some(conversation),
        ..Question::new("SELECT count(*) AS n FROM t11", newer)
    };
    let (output, _) = question.ask(&parlor, &upstream).await;
    assert!(
        output.contains("| 1 |")
            && output.contains("Only the 10 newest files can be queried here, without t0.csv, t1.csv."),
        "{output}"
    );
}
