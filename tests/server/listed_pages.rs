//! The pages that the sidebar links to: those that can do something for the user.

use parlor_base::settings::AccessRule;
use parlor_protocol::Role;
use serde_json::{Value, json};
use upstream::{Script, Upstream};
use uuid::Uuid;

use crate::{
    accounts::{Browser, with_passwords},
    data::make_database,
    support::{Parlor, parlor_answering},
};

async fn listed(parlor: &Parlor) -> Value {
    parlor.get_json("/rpc/listed_pages").await.1
}

#[tokio::test]
async fn a_page_is_listed_once_it_can_do_something() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("x")).await;
    assert_eq!(listed(&parlor).await, json!([]));
    for path in ["/data", "/literature", "/streams"] {
        let page = parlor.get(path).send().await.unwrap();
        assert_eq!(page.status(), 200, "{path}");
        let html = page.text().await.unwrap();
        let link = format!("href=\"{path}\" aria-current=\"page\"");
        assert!(html.contains(&link), "{path}: an open page is listed");
    }
    let home = parlor.get("/").send().await.unwrap().text().await.unwrap();
    assert!(!home.contains("href=\"/literature\""), "{home}");

    let id = Uuid::now_v7();
    let stream = json!({ "stream": { "id": id, "name": "Tides", "query": "tides", "instructions": "" } });
    let saved = parlor.post("/rpc/save_stream", &stream).send().await.unwrap();
    assert_eq!(saved.status(), 200);
    assert_eq!(listed(&parlor).await, json!(["literature", "streams"]));
    let home = parlor.get("/").send().await.unwrap().text().await.unwrap();
    assert!(home.contains("href=\"/literature\""));
    let delete = json!({ "stream_id": id });
    parlor.post("/rpc/delete_stream", &delete).send().await.unwrap();
    assert_eq!(listed(&parlor).await, json!([]));
}

#[tokio::test]
async fn settings_list_pages_for_everybody_who_may_open_them() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let database = make_database(folder.path(), "town").await;
    let mut parlor = Parlor::start_built_in(&folder.path().join("data"), &upstream, |settings| {
        with_passwords(settings);
        settings.databases = vec![database];
        settings.literature.listed = true;
        let tools = [
            "sql_query",
            "table_docs",
            "subject_overview",
            "view_column_values",
        ];
        settings.accounts.access = vec![AccessRule {
            models: Vec::new(),
            tools: tools.map(str::to_owned).to_vec(),
            roles: vec![Role::Administrator],
        }];
    })
    .await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let ben = ann.invite(&parlor, "ben").await;
    parlor.client = ann.signed_in_client();
    assert_eq!(listed(&parlor).await, json!(["literature", "streams", "data"]));
    parlor.client = ben.signed_in_client();
    assert_eq!(listed(&parlor).await, json!(["literature", "streams"]));
}
