//! The news after an upgrade.

use std::path::Path;

use serde_json::{Value, json};
use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
use upstream::{Script, Upstream, When};

use crate::support::Parlor;

/// Changes the stored data to those of a user who has last used an earlier version.
async fn use_earlier_version(data: &Path) {
    let options = SqliteConnectOptions::new().filename(data.join("parlor.db"));
    let mut database = options.connect().await.unwrap();
    let changed = sqlx::query("UPDATE users SET seen_version = '0.0.9'")
        .execute(&mut database)
        .await
        .unwrap();
    assert_eq!(changed.rows_affected(), 1);
}

async fn news(parlor: &Parlor) -> Value {
    parlor.get_json("/rpc/news").await.1
}

async fn close(parlor: &Parlor, version: &str) -> u16 {
    let request = parlor.post("/rpc/close_news", &json!({ "version": version }));
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn news_of_an_upgrade_are_shown_until_closed() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    upstream.add_script(When::any(), Script::new().text("yes"));
    let parlor = Parlor::start(folder.path(), &upstream).await;
    assert_eq!(news(&parlor).await, Value::Null, "nothing is news to a new user");
    parlor.turn(None, "Hello").await;
    assert_eq!(news(&parlor).await, Value::Null, "nor later in the same version");
    parlor.stop().await;

    use_earlier_version(folder.path()).await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let shown = news(&parlor).await;
    assert_eq!(shown["version"], env!("CARGO_PKG_VERSION"));
    assert_ne!(shown["items"], json!([]));
    let page = parlor.get("/").send().await.unwrap().text().await.unwrap();
    assert!(page.contains(concat!("New in Parlor ", env!("CARGO_PKG_VERSION"))));

    assert_eq!(close(&parlor, "everything").await, 400);
    assert_eq!(
        close(&parlor, "0.0.8").await,
        200,
        "as from a page of before the upgrade"
    );
    assert_eq!(news(&parlor).await, shown);
    let mut other_device = parlor.follow("/api/events").await;
    assert_eq!(close(&parlor, "9999.0.0").await, 200);
    other_device.next_of_type("settings_changed").await;
    assert_eq!(news(&parlor).await, Value::Null);
    assert_eq!(close(&parlor, "0.0.8").await, 200);
    assert_eq!(
        news(&parlor).await,
        Value::Null,
        "an earlier version is not recorded"
    );
}
