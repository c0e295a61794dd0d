//! Python and the roles of accounts.

use parlor_base::settings::{AccessRule, DatabaseSettings};
use parlor_protocol::Role;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use super::conversations::start_in;
use crate::{
    accounts::{Browser, with_passwords},
    support::last_model_call,
};

#[tokio::test]
async fn members_without_python_have_no_session() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Yes."));
    let mut parlor = start_in(folder.path(), &upstream, |settings| {
        with_passwords(settings);
        settings.accounts.access = vec![AccessRule {
            models: Vec::new(),
            tools: vec!["execute_code".into(), "jupyter_notebook".into()],
            roles: vec![Role::Administrator],
        }];
        settings.databases = vec![DatabaseSettings {
            name: "town".into(),
            url: format!("sqlite:{}", folder.path().join("town.db").display()),
            password_env: None,
            password: None,
            documentation: None,
            functions: Vec::new(),
        }];
    })
    .await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let ben = ann.invite(&parlor, "ben").await;
    for (browser, may) in [(&ann, true), (&ben, false)] {
        parlor.client = browser.signed_in_client();
        for (page, tool) in [("data", "jupyter_notebook"), ("chat", "execute_code")] {
            let context = (page == "data").then(|| json!({ "current_page": page }));
            let body = json!({ "message": "Hello", "model": "test/any", "context": context });
            parlor.chat(&body).await.read_to_end().await;
            let call = last_model_call(&upstream);
            let tools = call["tools"].as_array().unwrap();
            let named = |name: &str| tools.iter().find(|offered| offered["function"]["name"] == name);
            assert_eq!(named(tool).is_some(), may, "{tool}");
            // Without a session there are no data frames.
            let fields = |tool: &Value| tool["function"]["parameters"]["properties"].clone();
            if let Some(query) = named("sql_query").map(fields) {
                assert_eq!(query["df_name"].is_object(), may, "{query}");
            }
            let forced =
                json!({ "message": "Hello", "model": "test/any", "context": context, "force_tools": [tool] });
            let answered = parlor.post("/api/chat/stream", &forced).send().await.unwrap();
            assert_eq!(answered.status() == 200, may, "{tool}");
            answered.text().await.unwrap();
        }
    }
}
