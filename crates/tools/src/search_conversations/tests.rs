use parlor_protocol::{
    AssistantMessage, IntentId, MessageId, RunEvent, RunStatus, Timestamp, intent::SendMessage, transcript,
};
use parlor_storage::{
    Change, IntentChange, RunKey, RunOutput, RunStart, search::SearchQuery, sqlite::SqliteStorage,
};

use super::*;
use crate::test_call;

const ANN: UserId = UserId::LOCAL;
const NOON: Timestamp = Timestamp(1_795_262_400_000);

/// What was said, a question in other words, and how a model may put it.
const QUESTIONS: [(&str, &str, [&str; 3]); 20] = [
    (
        "The boiler loses pressure because the expansion vessel has no air left. Pump it up to 1 bar.",
        "why did our heating stop working",
        ["heating problem cause", "boiler pressure", "radiator cold"],
    ),
    (
        "Sourdough needs 12 hours in the fridge at 4 °C after shaping.",
        "how long should my bread rest overnight",
        ["bread resting time", "dough fridge hours", "sourdough proofing"],
    ),
    (
        "For the trip to Lisbon we chose the hotel Avenida near the station, 94 euros a night.",
        "where did we want to stay in Portugal",
        ["hotel Lisbon", "accommodation Portugal", "stay trip night"],
    ),
    (
        "Use `git rebase --onto main feature~3` to move only the last three commits.",
        "how do I take just a few changes to another branch",
        ["git rebase onto", "move commits branch", "cherry-pick commits"],
    ),
    (
        "Die Kündigungsfrist des Mietvertrags beträgt drei Monate zum Monatsende.",
        "wann kann ich aus der Wohnung ausziehen",
        [
            "Kündigungsfrist Wohnung",
            "Mietvertrag kündigen",
            "notice period rent",
        ],
    ),
    (
        "The p-value of 0.03 came from a Mann-Whitney test, since the data were not normal.",
        "which statistics did we apply",
        ["statistical test", "significance p-value", "Mann-Whitney"],
    ),
    (
        "Your daughter's birthday cake: a hedgehog of chocolate and almonds.",
        "what did I bake for my kid's party",
        ["birthday cake", "daughter party", "child cake chocolate"],
    ),
    (
        "下周三下午两点在上海开会，记得带合同。",
        "会议是什么时候",
        ["开会时间", "上海 会", "下周 合同"],
    ),
    (
        "The regression came from the connection pool: it opened a new socket for each query.",
        "what made the website slow",
        ["performance regression", "connection pool", "slow website cause"],
    ),
    (
        "Take 400 mg of ibuprofen at most three times a day, with food.",
        "how many painkillers are allowed",
        ["painkiller dose", "ibuprofen mg", "maximum per day"],
    ),
    (
        "The word you were looking for is petrichor: the smell of rain on dry ground.",
        "what is the odour after a shower called",
        ["smell of rain", "word for odour", "petrichor"],
    ),
    (
        "Der Zug um 7:42 von Gleis 3 hat in Hannover 9 Minuten Umstieg.",
        "welche Bahnverbindung war es",
        ["Zug Umstieg", "Verbindung Bahn Gleis", "train connection"],
    ),
    (
        "Password resets fail since the token expires before the mail arrives.",
        "why can't customers log in again",
        ["login problem", "password reset token", "customers can't sign in"],
    ),
    (
        "東京では浅草の小さな旅館に三泊しました。",
        "日本の宿はどこだったか",
        ["旅館", "東京 宿", "浅草 泊"],
    ),
    (
        "We named the cat Kepler, after the astronomer.",
        "what is our pet called",
        ["name of the pet", "cat name", "named cat"],
    ),
    (
        "Water the orchid once a week by standing its pot in water for ten minutes.",
        "how often should I give my flowers something to drink",
        ["watering plants", "orchid water", "flowers how often"],
    ),
    (
        "The offer from Berger & Sons was 12,400 for the roof, scaffolding included.",
        "what did the craftsmen want for the house",
        ["roof offer price", "quote craftsmen", "scaffolding cost"],
    ),
    (
        "اتفقنا على أن يكون الاجتماع يوم الأحد في المكتبة",
        "متى نلتقي",
        ["موعد الاجتماع", "اجتماع المكتبة", "الأحد"],
    ),
    (
        "Set `wal_autocheckpoint` to 0 and checkpoint from a second connection.",
        "how did we avoid the database pauses",
        ["sqlite checkpoint", "database pause commit", "wal autocheckpoint"],
    ),
    (
        "The violin's A string should be tuned to 442 hertz for the orchestra.",
        "which pitch does the ensemble play at",
        ["tuning hertz", "orchestra pitch", "violin string"],
    ),
];

async fn new_storage() -> (tempfile::TempDir, Arc<dyn Storage>) {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = SqliteStorage::open(folder.path()).await.expect("a new database");
    (folder, Arc::new(storage))
}

/// Stores a conversation of one turn.
async fn tell(storage: &dyn Storage, user_id: UserId, question: &str, answer: &str) -> ConversationId {
    let run = RunKey {
        user_id,
        conversation_id: ConversationId::new(),
        message_id: MessageId::new(),
    };
    let intent = SendMessage {
        intent_id: IntentId::new(),
        conversation_id: run.conversation_id,
        user_message_id: MessageId::new(),
        text: question.into(),
        files: Vec::new(),
        model: Some("x/m".into()),
        replaces: None,
        temporary: false,
        project_id: None,
        force_tools: Vec::new(),
        parameters: None,
        context: None,
        interaction: Default::default(),
    };
    let start = RunStart {
        context_snapshot: None,
        run: run.message_id,
        default_model: "x/m".into(),
        parameters: None,
        fingerprint: String::new(),
    };
    let text = RunEvent::TextDelta {
        node: 0,
        part: 0,
        offset: 0,
        text: answer.into(),
    };
    let end = RunEvent::run_ended(RunStatus::Complete, None, NOON, 0);
    let mut message = AssistantMessage::new("x/m");
    transcript::apply_to_run(&mut message, &text);
    transcript::apply_to_run(&mut message, &end);
    let events = vec![end];
    let changes = [
        Change::Intent {
            user_id,
            change: IntentChange::SendMessage { intent, start },
        },
        Change::Output {
            run,
            output: RunOutput::EndRun { events, message },
        },
    ];
    let committed = storage.commit(NOON, &changes).await.expect("storage works");
    assert!(committed.outcomes.iter().all(Result::is_ok), "{committed:?}");
    run.conversation_id
}

async fn search(storage: &Arc<dyn Storage>, call: ToolContext, phrasings: &[&str]) -> String {
    let input = SearchConversationsInput {
        phrasings: phrasings.iter().map(|phrasing| (*phrasing).to_owned()).collect(),
    };
    let found = SearchConversations(storage.clone()).run(input, call).await;
    found.expect("storage works").text
}

#[tokio::test]
async fn finds_earlier_conversations_of_this_person_alone() {
    let (_folder, storage) = new_storage().await;
    let ben = UserId::new();
    tell(&*storage, ANN, "The cat?", "Its name is Kepler.").await;
    tell(&*storage, ben, "The cat?", "Its name is Tycho.").await;
    let present = tell(&*storage, ANN, "And the cat's name now?", "Its name is Galileo.").await;
    let here = ToolContext {
        conversation_id: present,
        ..test_call::call()
    };
    let found = search(&storage, here, &["pet name", "cat name"]).await;
    assert!(
        found.contains("Kepler") && found.contains("your answer"),
        "{found}"
    );
    assert!(!found.contains("Tycho") && !found.contains("Galileo"), "{found}");
    assert!(found.contains("\"date\":\"2026-11-21\""), "{found}");
    let nothing = search(&storage, test_call::call(), &["xylophone"]).await;
    assert_eq!(nothing, "Nothing was found with these words.");
    let empty = SearchConversationsInput {
        phrasings: vec![" ".into()],
    };
    assert!(
        SearchConversations(storage)
            .run(empty, test_call::call())
            .await
            .is_err()
    );
}

/// The figure of docs/tools.md: how many of twenty questions in other words find the text.
#[tokio::test]
async fn questions_in_other_words_find_most_texts() {
    let (_folder, storage) = new_storage().await;
    for (text, _, _) in QUESTIONS {
        tell(&*storage, ANN, "Please note this.", text).await;
    }
    let (mut typed, mut asked, mut phrased) = (0, 0, 0);
    for (text, question, phrasings) in QUESTIONS {
        let request = SearchRequest {
            query: SearchQuery::parse(question),
            limit: 5,
            keeps_markup: true,
            ..SearchRequest::default()
        };
        let hits = storage.search(ANN, &request).await.expect("storage works").hits;
        typed += usize::from(hits.iter().any(|hit| hit.snippet.text == text));
        let is_found = |found: &str| found.contains(&serde_json::Value::from(text).to_string());
        asked += usize::from(is_found(&search(&storage, test_call::call(), &[question]).await));
        phrased += usize::from(is_found(&search(&storage, test_call::call(), &phrasings).await));
    }
    assert_eq!(
        (typed, asked, phrased),
        (0, 6, 17),
        "typed in the palette, as one phrasing, in three phrasings"
    );
}
