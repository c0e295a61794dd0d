//! What a person sets for themselves, and what the model is told of it.

use parlor::{protocol::Personal, settings::Settings};
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, answering, json, prompt};

async fn personal(parlor: &Parlor) -> Personal {
    let personal = parlor.get("/rpc/personal").send().await.unwrap();
    serde_json::from_str(&personal.text().await.unwrap()).expect("what a person has set")
}

async fn ask(parlor: &Parlor, function: &str, body: Value) -> u16 {
    let request = parlor.post(&format!("/rpc/{function}"), &body);
    request.send().await.unwrap().status().as_u16()
}

/// What the model was told before the last conversation.
async fn told(parlor: &Parlor, upstream: &Upstream) -> String {
    let message = json!({ "message": "Hi", "model": "test/any" });
    parlor.chat(&message).await.rest().await;
    prompt(upstream)
}

#[tokio::test]
async fn the_model_is_told_what_the_server_and_the_person_want() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    upstream.script(When::any(), Script::new().text("yes"));
    let strict = |settings: &mut Settings| settings.agent.instructions = "No jokes.".into();
    let parlor = Parlor::start_with(folder.path(), &upstream, strict).await;
    let before = told(&parlor, &upstream).await;
    assert!(
        before.contains("No jokes.") && !before.contains("person you talk with"),
        "{before}"
    );

    let text = "I am a nurse.\n# Guidelines are mine";
    assert_eq!(
        ask(&parlor, "save_instructions", json!({ "text": text })).await,
        200
    );
    let prompt = told(&parlor, &upstream).await;
    let place = |text: &str| prompt.find(text).unwrap_or_else(|| panic!("{text} in {prompt}"));
    assert!(place("# Instructions") < place("No jokes."));
    assert!(place("No jokes.") < place(text) && place(text) < place("\n# Guidelines\n"));

    assert_eq!(
        ask(&parlor, "save_instructions", json!({ "text": "" })).await,
        200
    );
    assert_eq!(told(&parlor, &upstream).await, before);
}

#[tokio::test]
async fn instructions_that_are_too_long_leave_the_old_ones() {
    let (_folder, _upstream, parlor) = answering(Script::new().text("yes")).await;
    assert_eq!(
        ask(&parlor, "save_instructions", json!({ "text": "Short." })).await,
        200
    );
    let longest = personal(&parlor).await.instructions_bytes;
    let long = "x".repeat(longest + 1);
    let refused = parlor.post("/rpc/save_instructions", &json!({ "text": long }));
    let refused = refused.send().await.unwrap();
    assert_eq!(refused.status(), 413);
    assert!(
        json(refused).await["message"]
            .as_str()
            .unwrap()
            .contains("limits.instructions_bytes")
    );
    assert_eq!(personal(&parlor).await.instructions, "Short.");
}

#[tokio::test]
async fn other_tabs_hear_that_something_has_changed_and_not_what() {
    let (_folder, _upstream, parlor) = answering(Script::new().text("yes")).await;
    let mut live = parlor.follow("/api/events").await;
    ask(&parlor, "save_instructions", json!({ "text": "A secret." })).await;
    assert_eq!(
        live.next().await,
        Some(json!({ "position": 1, "type": "settings_changed" }))
    );
    let replayed = parlor.follow("/api/events?after=0").await.next().await;
    assert_eq!(
        replayed,
        Some(json!({ "position": 1, "type": "settings_changed" }))
    );
}

#[tokio::test]
async fn what_is_remembered_can_be_seen_forgotten_and_put_back() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
    for text in ["She likes tea.", "She has a dog."] {
        let arguments = json!({ "text": text }).to_string();
        upstream.script(
            When::user_contains(text),
            Script::new().tool_call(text, "remember", arguments),
        );
        upstream.script(When::tool_gave("remembered"), Script::new().text("Noted."));
        let message = json!({ "message": text, "model": "test/any" });
        parlor.chat(&message).await.rest().await;
    }
    let seen = personal(&parlor).await;
    assert!(seen.remembers);
    let [dog, tea] = &seen.memories[..] else {
        panic!("two: {seen:?}")
    };
    assert_eq!(tea.text, "She likes tea.");
    let forget = json!({ "memory_id": tea.id });
    for _ in 0..2 {
        assert_eq!(ask(&parlor, "forget_memory", forget.clone()).await, 200);
    }
    assert_eq!(personal(&parlor).await.memories, std::slice::from_ref(dog));
    assert_eq!(
        ask(&parlor, "restore_memory", json!({ "memory": tea })).await,
        200
    );
    assert_eq!(personal(&parlor).await.memories, seen.memories);
    let mut empty = tea.clone();
    empty.text = " ".into();
    assert_eq!(
        ask(&parlor, "restore_memory", json!({ "memory": empty })).await,
        400
    );
    assert_eq!(ask(&parlor, "forget_all_memories", json!({})).await, 200);
    assert_eq!(personal(&parlor).await.memories, []);
}

#[tokio::test]
async fn the_page_says_whether_anything_is_remembered_at_all() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let disable = |settings: &mut Settings| settings.tools.disabled = vec!["remember".into()];
    let parlor = Parlor::start_built_in(folder.path(), &upstream, disable).await;
    assert!(!personal(&parlor).await.remembers);
}

#[tokio::test]
async fn the_page_is_whole_without_scripts_and_text_stays_text() {
    let (_folder, _upstream, parlor) = answering(Script::new().text("yes")).await;
    let text = "</textarea><script>alert(1)</script>";
    ask(&parlor, "save_instructions", json!({ "text": text })).await;
    let page = parlor.get("/settings").send().await.unwrap();
    assert_eq!(page.status(), 200);
    let page = page.text().await.unwrap();
    assert!(page.contains("<title>Settings · Parlor</title>"), "{page}");
    assert!(
        page.contains("&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{page}"
    );
    assert!(!page.contains("<script>alert(1)"), "{page}");
}
