use super::*;
use crate::{
    pages::pages,
    state::{
        Stores,
        navigation::Navigation,
        route::Route,
        snapshot::{FormIds, PageSnapshot},
        test_events::Story,
        tray::Tray,
    },
};
use parlor_protocol::{
    ConversationEvent, EventBody, MessageId, Placeholder, ProjectList, RawJson, RunEvent, Timestamp,
    UserEvent, data, examples, literature,
};

fn list_at(position: u64) -> ConversationList {
    ConversationList {
        as_of: Position(position),
        ..ConversationList::default()
    }
}

/// Runs `test` with the follower of a page that starts from the given snapshots.
fn with_follower(list: ConversationList, transcript: Option<Transcript>, test: impl FnOnce(EventFollower)) {
    Owner::new().with(|| {
        let id = transcript.as_ref().map(|transcript| transcript.conversation_id);
        let place = id.map_or(Route::New, Route::Conversation);
        let page = PageSnapshot {
            now: Timestamp(0),
            projects: Ok(ProjectList {
                as_of: list.as_of,
                ..ProjectList::default()
            }),
            list: Ok(list),
            transcript: transcript.map(Ok),
            models: Ok(Default::default()),
            shares: Ok(Vec::new()),
            listed_pages: Ok(Vec::new()),
            unseen_reports: Vec::new(),
            project_chats: None,
            shared_project: None,
            opened: None,
            personal: None,
            news: None,
            person: None,
            form: FormIds::new(place),
        };
        let navigation = Navigation::new(place.path(), pages(), Tray::new());
        test(Stores::new(page, navigation).follower);
    });
}

/// Applies events and returns their effects.
fn apply<'a>(follower: EventFollower, events: impl IntoIterator<Item = &'a Event>) -> Vec<EventEffect> {
    let mut effects = Vec::new();
    for event in events {
        follower.apply(event, &mut effects);
    }
    effects
}

fn transcript(follower: EventFollower, story: &Story) -> Option<Transcript> {
    follower
        .conversations
        .with_transcript(story.conversation_id, Clone::clone)
}

#[test]
fn stream_starts_after_the_older_snapshot() {
    let story = Story::new("Hello", &["one ", "two"]);
    let cases = [(5, 2, 2), (2, 5, 2), (3, 3, 3)];
    for (list, shown, cursor) in cases {
        with_follower(list_at(list), Some(story.after(shown)), |follower| {
            assert_eq!(follower.connection.cursor(), Position(cursor));
            let effects = apply(follower, &story.events[cursor as usize..]);
            assert_eq!(transcript(follower, &story), Some(story.after(6)));
            assert!(!effects.contains(&EventEffect::Resync));
        });
    }
}

#[test]
fn applies_a_repeated_event_once() {
    let story = Story::new("Hello", &["one ", "two"]);
    with_follower(list_at(0), Some(story.after(0)), |follower| {
        apply(follower, &story.events);
        assert_eq!(apply(follower, &story.events), []);
        assert_eq!(transcript(follower, &story), Some(story.after(6)));
    });
}

#[test]
fn missing_position_triggers_a_resync() {
    let story = Story::new("Hello", &["one ", "two"]);
    with_follower(list_at(0), None, |follower| {
        apply(follower, &story.events[..1]);
        assert_eq!(apply(follower, &story.events[2..3]), [EventEffect::Resync]);
        assert_eq!(follower.connection.cursor(), Position(1), "nothing was applied");
        let reloaded = Some((story.conversation_id, Ok(story.after(6))));
        follower.replace_snapshots(list_at(6), reloaded);
        assert_eq!(follower.connection.cursor(), Position(6));
    });
}

#[test]
fn skips_a_damaged_event_once() {
    let story = Story::new("Hello", &["one ", "two"]);
    with_follower(list_at(2), Some(story.after(2)), |follower| {
        let mut damaged = story.events[2].clone();
        damaged.body = EventBody::Placeholder(Placeholder::Damaged);
        assert_eq!(
            apply(follower, [&damaged, &damaged]),
            [EventEffect::Damaged(Position(3)), EventEffect::Resync]
        );
        assert_eq!(follower.connection.cursor(), Position(3));
        let reloaded = Some((story.conversation_id, Ok(story.after(3))));
        follower.replace_snapshots(list_at(3), reloaded);
        let effects = apply(follower, &story.events[3..]);
        assert!(!effects.contains(&EventEffect::Resync));
        assert_eq!(transcript(follower, &story), Some(story.after(6)));
    });
}

fn run_end_effects(story: &Story) -> Vec<EventEffect> {
    let mut effects = Vec::new();
    with_follower(list_at(0), None, |follower| {
        effects = apply(follower, story.events.iter().chain(&story.events));
    });
    effects.retain(|effect| matches!(effect, EventEffect::RunEnded(_)));
    effects
}

#[test]
fn reports_a_run_end_once_unless_stopped() {
    let mut story = Story::new("Hello", &["one"]);
    let Some(Event {
        body: EventBody::Run(RunEvent::Complete { ended_at, .. }),
        ..
    }) = story.events.last_mut()
    else {
        panic!("a story ends")
    };
    let began_at = *ended_at;
    ended_at.0 += 31_000;
    let ended_at = *ended_at;
    let ended = RunEnd {
        conversation_id: story.conversation_id,
        run_id: story.answer,
        started_at: began_at,
        ended_at,
    };
    assert_eq!(run_end_effects(&story), [EventEffect::RunEnded(ended)]);
    if let Some(last) = story.events.last_mut() {
        last.body = EventBody::Run(RunEvent::Cancelled {
            ended_at,
            worked_ms: 0,
        });
    }
    assert_eq!(run_end_effects(&story), []);
}

#[test]
fn attached_documents_may_make_data_useful() {
    with_follower(list_at(0), None, |follower| {
        let received = StoredValue::new(0);
        let count = move |_| received.update_value(|count| *count += 1);
        follower.feeds.on_page_change(data::PAGE.name, count);
        let mut file = examples::attachment();
        file.media_type = "text/csv".into();
        let saved = EventBody::Conversation(ConversationEvent::UserMessageSaved {
            user_message_id: MessageId::new(),
            expected_assistant_message_id: MessageId::new(),
            parent_id: None,
            text: "Look".into(),
            files: vec![file],
            interaction: Default::default(),
            created_at: Timestamp(0),
        });
        let event = Event {
            position: Position(1),
            conversation_id: ConversationId::new(),
            message_id: None,
            body: saved,
        };
        let mut effects = Vec::new();
        follower.apply(&event, &mut effects);
        assert!(effects.contains(&EventEffect::PageChanged), "{effects:?}");
        assert_eq!(received.get_value(), 1);
    });
}

#[test]
fn changes_reach_the_shown_page_alone() {
    with_follower(list_at(0), None, |follower| {
        let change = RawJson::parse_or_quote(r#"{"article_removed":"11"}"#);
        let event = |position| Event {
            position: Position(position),
            conversation_id: ConversationId::NONE,
            message_id: None,
            body: EventBody::User(UserEvent::LiteratureChanged {
                change: change.clone(),
            }),
        };
        let received = StoredValue::new(Vec::new());
        let show = |page| {
            let listener = move |change| received.update_value(|all| all.push(change));
            follower.feeds.on_page_change(page, listener);
        };
        show("another");
        apply(follower, [&event(1)]);
        show(literature::PAGE.name);
        apply(follower, [&event(2)]);
        follower.replace_snapshots(list_at(2), None);
        // Both hear of a list that was loaded again.
        let change = Some((Position(2), change.clone()));
        assert_eq!(received.get_value(), [change, None, None]);
    });
}
