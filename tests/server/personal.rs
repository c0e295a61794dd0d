//! Personal settings, and their part in the model's prompt.

use parlor_base::settings::Settings;
use parlor_protocol::PersonalData;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, last_model_call, last_system_prompt, parlor_answering, read_json};

async fn load_personal(parlor: &Parlor) -> PersonalData {
    let personal = parlor.get("/rpc/personal").send().await.unwrap();
    serde_json::from_str(&personal.text().await.unwrap()).expect("personal data")
}

async fn call_status(parlor: &Parlor, function: &str, body: Value) -> u16 {
    let request = parlor.post(&format!("/rpc/{function}"), &body);
    request.send().await.unwrap().status().as_u16()
}

/// Returns the system prompt of a new conversation.
async fn last_prompt(parlor: &Parlor, upstream: &Upstream) -> String {
    let message = json!({ "message": "Hi", "model": "test/any" });
    parlor.chat(&message).await.read_to_end().await;
    last_system_prompt(upstream)
}

#[tokio::test]
async fn prompt_has_server_and_user_instructions() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    upstream.add_script(When::any(), Script::new().text("yes"));
    let strict = |settings: &mut Settings| settings.agent.instructions = "No jokes.".into();
    let parlor = Parlor::start_with(folder.path(), &upstream, strict).await;
    let before = last_prompt(&parlor, &upstream).await;
    assert!(
        before.contains("No jokes.") && !before.contains("person you talk with"),
        "{before}"
    );

    let text = "I am a nurse.\n# Guidelines are mine";
    assert_eq!(
        call_status(&parlor, "save_instructions", json!({ "text": text })).await,
        200
    );
    let prompt = last_prompt(&parlor, &upstream).await;
    let place = |text: &str| prompt.find(text).unwrap_or_else(|| panic!("{text} in {prompt}"));
    assert!(place("# Instructions") < place("No jokes."));
    assert!(place("No jokes.") < place(text) && place(text) < place("\n# Guidelines\n"));

    assert_eq!(
        call_status(&parlor, "save_instructions", json!({ "text": "" })).await,
        200
    );
    assert_eq!(last_prompt(&parlor, &upstream).await, before);
}

#[tokio::test]
async fn oversized_instructions_keep_the_old_ones() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    assert_eq!(
        call_status(&parlor, "save_instructions", json!({ "text": "Short." })).await,
        200
    );
    let longest = load_personal(&parlor).await.instructions_bytes;
    let long = "x".repeat(longest + 1);
    let refused = parlor.post("/rpc/save_instructions", &json!({ "text": long }));
    let refused = refused.send().await.unwrap();
    assert_eq!(refused.status(), 413);
    assert!(
        read_json(refused).await["message"]
            .as_str()
            .unwrap()
            .contains("limits.instructions_bytes")
    );
    assert_eq!(load_personal(&parlor).await.instructions, "Short.");
}

#[tokio::test]
async fn change_event_carries_no_personal_data() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    let mut live = parlor.follow("/api/events").await;
    call_status(&parlor, "save_instructions", json!({ "text": "A secret." })).await;
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
async fn memories_can_be_listed_deleted_and_restored() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
    for text in ["She likes tea.", "She has a dog."] {
        let arguments = json!({ "text": text }).to_string();
        upstream.add_script(
            When::user_contains(text),
            Script::new().tool_call(text, "remember", arguments),
        );
        upstream.add_script(When::tool_gave("remembered"), Script::new().text("Noted."));
        let message = json!({ "message": text, "model": "test/any" });
        parlor.chat(&message).await.read_to_end().await;
    }
    let seen = load_personal(&parlor).await;
    assert!(seen.remembers);
    let [dog, tea] = &seen.memories[..] else {
        panic!("two: {seen:?}")
    };
    assert_eq!(tea.text, "She likes tea.");
    let forget = json!({ "memory_id": tea.id });
    for _ in 0..2 {
        assert_eq!(call_status(&parlor, "forget_memory", forget.clone()).await, 200);
    }
    assert_eq!(load_personal(&parlor).await.memories, std::slice::from_ref(dog));
    assert_eq!(
        call_status(&parlor, "restore_memory", json!({ "memory": tea })).await,
        200
    );
    assert_eq!(load_personal(&parlor).await.memories, seen.memories);
    let mut empty = tea.clone();
    empty.text = " ".into();
    assert_eq!(
        call_status(&parlor, "restore_memory", json!({ "memory": empty })).await,
        400
    );
    assert_eq!(call_status(&parlor, "forget_all_memories", json!({})).await, 200);
    assert_eq!(load_personal(&parlor).await.memories, []);
}

#[tokio::test]
async fn page_states_whether_memory_is_enabled() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let disable = |settings: &mut Settings| settings.tools.disabled = vec!["remember".into()];
    let parlor = Parlor::start_built_in(folder.path(), &upstream, disable).await;
    assert!(!load_personal(&parlor).await.remembers);
}

#[tokio::test]
async fn earlier_chats_are_searched_once_the_user_allows_it() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    upstream.add_script(When::any(), Script::new().text("yes"));
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
    for is_on in [false, true, false] {
        let switch = call_status(&parlor, "set_chat_search", json!({ "is_on": is_on })).await;
        assert_eq!(switch, 200);
        assert_eq!(load_personal(&parlor).await.searches_chats, is_on);
        last_prompt(&parlor, &upstream).await;
        let tools = last_model_call(&upstream)["tools"].to_string();
        assert_eq!(tools.contains("\"search_conversations\""), is_on, "{tools}");
    }
}

#[tokio::test]
async fn nothing_is_kept_longer_than_the_server_keeps_it() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let limit = |settings: &mut Settings| settings.retention.days = 30;
    let parlor = Parlor::start_with(folder.path(), &upstream, limit).await;
    assert_eq!(
        call_status(&parlor, "set_retention", json!({ "days": 7 })).await,
        200
    );
    let refused = parlor.post("/rpc/set_retention", &json!({ "days": 31 }));
    let refused = refused.send().await.unwrap();
    assert_eq!(refused.status(), 400);
    let message = read_json(refused).await["message"].to_string();
    assert!(
        message.contains("at most 30 days here (setting retention.days)"),
        "{message}"
    );
    assert_eq!(load_personal(&parlor).await.retention_days, 7);
}

#[tokio::test]
async fn settings_page_works_without_scripts() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    let text = "</textarea><script>alert(1)</script>";
    call_status(&parlor, "save_instructions", json!({ "text": text })).await;
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
