//! Schedules, and the runs that they start.

use super::{
    accounts::{apply, make_accounts},
    hand_over::delete_user,
    *,
};
use crate::{
    accounts::AccountChange,
    schedules::{ScheduleAdvance, ScheduleChange, ScheduledStart},
};
use parlor_protocol::{
    Dollars, Interaction, ListedSchedule, Schedule, ScheduleId, ScheduledMessage, TokenTotals, Usage, Weekday,
};

const MONDAY: Timestamp = Timestamp(NOON.0 + 60_000);
const NEXT_MONDAY: Timestamp = Timestamp(MONDAY.0 + 7 * 86_400_000);

fn news(prompt: &str) -> Schedule {
    Schedule {
        name: "News".into(),
        prompt: prompt.into(),
        stream_id: None,
        model: Some("x/m".into()),
        tools: Vec::new(),
        days: vec![Weekday::Monday],
        time: "08:00".into(),
        time_zone: "UTC".into(),
        ends_on: None,
        only_new: true,
        run_limit: None,
        month_limit: Some(Dollars(5)),
        is_paused: false,
    }
}

fn save(user_id: UserId, id: ScheduleId, schedule: Schedule) -> Change {
    let next_at = (!schedule.is_paused).then_some(MONDAY);
    Change::Schedule {
        user_id,
        change: ScheduleChange::Save {
            id,
            schedule: Box::new(schedule),
            next_at,
            limit: 2,
        },
    }
}

fn delete(user_id: UserId, id: ScheduleId) -> Change {
    Change::Schedule {
        user_id,
        change: ScheduleChange::Delete { id },
    }
}

/// Returns the turn that a planned time of a schedule starts.
fn start(id: ScheduleId, planned_at: Timestamp, next_at: Option<Timestamp>) -> TestTurn {
    let mut turn = new_turn(TEST_USER, ConversationId::new(), "What is new?");
    let Change::Intent {
        change: IntentChange::SendMessage { mut intent, start },
        ..
    } = turn.change
    else {
        panic!("a new turn sends a message")
    };
    intent.interaction = Interaction::Scheduled(Box::new(ScheduledMessage {
        schedule_id: id,
        title: "News, Nov 30".into(),
        planned_at,
        missed: 0,
        only_new: true,
        run_limit: None,
    }));
    turn.change = Change::Intent {
        user_id: TEST_USER,
        change: IntentChange::RunSchedule {
            intent,
            start,
            scheduled: ScheduledStart {
                schedule_id: id,
                planned_at,
                started_at: planned_at,
                advance: Some(ScheduleAdvance {
                    id,
                    from: planned_at,
                    next_at,
                    notice: String::new(),
                }),
            },
        },
    };
    turn
}

/// Changes the start of a schedule's turn.
fn edit(turn: &mut TestTurn, change: impl FnOnce(&mut intent::SendMessage, &mut ScheduledStart)) {
    match &mut turn.change {
        Change::Intent {
            change: IntentChange::RunSchedule {
                intent, scheduled, ..
            },
            ..
        } => change(intent, scheduled),
        _ => panic!("a schedule starts it"),
    }
}

/// Saves a schedule of the test's user, and returns its id.
async fn saved(storage: &dyn Storage) -> ScheduleId {
    let id = ScheduleId::new();
    let change = save(TEST_USER, id, news("What is new?"));
    commit_one(storage, &change).await.unwrap();
    id
}

async fn titles(storage: &dyn Storage) -> Vec<String> {
    let list = storage.conversations(TEST_USER, None, 10).await.unwrap();
    list.conversations.into_iter().map(|one| one.title).collect()
}

async fn listed(storage: &dyn Storage, user_id: UserId) -> Vec<ListedSchedule> {
    storage
        .schedules(user_id, Timestamp(0))
        .await
        .expect("storage works")
}

async fn due(storage: &dyn Storage, now: Timestamp) -> Vec<ScheduleId> {
    let due = storage.due_schedules(now, Timestamp(0), 10).await;
    let due = due.expect("storage works");
    due.into_iter().map(|due| due.listed.id).collect()
}

pub async fn a_schedule_is_its_owners_alone(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = ScheduleId::new();
    for _ in 0..2 {
        commit_one(storage, &save(TEST_USER, id, news("What is new?")))
            .await
            .unwrap();
    }
    let [first] = &listed(storage, TEST_USER).await[..] else {
        panic!("saved twice, it is one")
    };
    assert_eq!(
        (&first.schedule, first.next_at),
        (&news("What is new?"), Some(MONDAY))
    );
    let rejected = commit_one(storage, &save(other_user(), id, news("Mine now"))).await;
    assert_eq!(rejected, Err(ChangeRejection::NotFound));
    commit_one(storage, &delete(other_user(), id)).await.unwrap();
    assert_eq!(listed(storage, TEST_USER).await.len(), 1);
    assert!(listed(storage, other_user()).await.is_empty());
    assert!(storage.has_schedules(TEST_USER).await.unwrap());
    assert!(!storage.has_schedules(other_user()).await.unwrap());
    assert_eq!(
        storage.schedule(other_user(), id, Timestamp(0)).await.unwrap(),
        None
    );

    commit_one(storage, &save(TEST_USER, ScheduleId::new(), news("b")))
        .await
        .unwrap();
    let third = commit_one(storage, &save(TEST_USER, ScheduleId::new(), news("c"))).await;
    assert_eq!(third, Err(ChangeRejection::SchedulesFull));
    commit_one(storage, &delete(TEST_USER, id)).await.unwrap();
    assert_eq!(listed(storage, TEST_USER).await.len(), 1);
}

pub async fn a_planned_time_starts_one_run(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = saved(storage).await;
    assert!(due(storage, NOON).await.is_empty());
    assert_eq!(due(storage, MONDAY).await, [id]);

    let first = start(id, MONDAY, Some(NEXT_MONDAY));
    let again = start(id, MONDAY, Some(NEXT_MONDAY));
    assert!(matches!(
        commit_one(storage, &first.change).await,
        Ok(Outcome::Started { again: false, .. })
    ));
    assert_eq!(
        commit_one(storage, &again.change).await,
        Err(ChangeRejection::NotFound),
        "another process had the same plan"
    );
    assert!(due(storage, MONDAY).await.is_empty());
    assert_eq!(titles(storage).await, ["News, Nov 30"]);
    let [now] = &listed(storage, TEST_USER).await[..] else {
        panic!("the schedule stays")
    };
    let last = now.last.unwrap();
    assert_eq!(
        (now.next_at, last.planned_at, last.conversation_id, last.status),
        (
            Some(NEXT_MONDAY),
            MONDAY,
            Some(first.run.conversation_id),
            Some(RunStatus::Running)
        )
    );

    // Set back to an earlier time by a change, the same instant does not run again.
    commit_one(storage, &save(TEST_USER, id, news("What else?")))
        .await
        .unwrap();
    assert_eq!(
        commit_one(storage, &again.change).await,
        Err(ChangeRejection::NotFound)
    );
}

pub async fn a_paused_or_deleted_schedule_starts_nothing(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = saved(storage).await;
    let skip = Change::Schedule {
        user_id: TEST_USER,
        change: ScheduleChange::Skip {
            advance: ScheduleAdvance {
                id,
                from: MONDAY,
                next_at: Some(NEXT_MONDAY),
                notice: "The limit is reached.".into(),
            },
            is_paused: true,
        },
    };
    commit_one(storage, &skip).await.unwrap();
    let [paused] = &listed(storage, TEST_USER).await[..] else {
        panic!("it is kept")
    };
    assert!(paused.schedule.is_paused && paused.next_at.is_none());
    assert_eq!(paused.notice.as_deref(), Some("The limit is reached."));
    for _ in 0..2 {
        let started = commit_one(storage, &start(id, MONDAY, None).change).await;
        assert_eq!(started, Err(ChangeRejection::NotFound));
        commit_one(storage, &delete(TEST_USER, id)).await.unwrap();
    }
    assert!(titles(storage).await.is_empty());
}

pub async fn a_quiet_end_is_not_unread(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = saved(storage).await;
    for (planned_at, is_quiet) in [(MONDAY, true), (NEXT_MONDAY, false)] {
        let next_at = Some(Timestamp(planned_at.0 + 7 * 86_400_000));
        let turn = start(id, planned_at, next_at);
        commit_one(storage, &turn.change).await.unwrap();
        let totals = TokenTotals {
            calls: 1,
            cost: Dollars(4),
            ..TokenTotals::default()
        };
        let usage = RunEvent::Usage(Usage {
            input_tokens: 1,
            output_tokens: 1,
            estimated: false,
            estimate: 1,
            window: None,
            totals,
        });
        let end = RunEvent::run_ended(RunStatus::Complete, None, NOON, 0).quiet_if(is_quiet);
        let mut message = AssistantMessage::new("x/m");
        message.status = RunStatus::Complete;
        let output = RunOutput::EndRun {
            events: vec![usage, end],
            message,
        };
        let change = Change::Output {
            run: turn.run,
            output,
        };
        commit_one(storage, &change).await.unwrap();
        let list = storage.conversations(TEST_USER, None, 1).await.unwrap();
        assert_eq!(list.conversations[0].unseen, !is_quiet);
        let mut followed = ConversationList::default();
        for event in read_log(storage, TEST_USER).await {
            parlor_protocol::conversation_list::apply(&mut followed, &event);
        }
        assert_eq!(followed.conversations[0].unseen, !is_quiet);

        // The cost of a deleted conversation counts in its month.
        let delete = Change::Conversation {
            user_id: TEST_USER,
            conversation_id: turn.run.conversation_id,
            change: ConversationChange::Delete,
        };
        commit_one(storage, &delete).await.unwrap();
    }
    let of_month = |month| async move {
        let listed = storage.schedule(TEST_USER, id, month).await.unwrap().unwrap();
        (listed.month_cost, listed.last.unwrap().conversation_id)
    };
    assert_eq!(of_month(Timestamp(0)).await, (Dollars(8), None));
    assert_eq!(of_month(NEXT_MONDAY).await, (Dollars(4), None));
}

pub async fn the_last_answer_is_the_last_started(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = saved(storage).await;
    // By hand after the planned time, which is made up for later.
    let mut by_hand = start(id, Timestamp(MONDAY.0 + 1), None);
    edit(&mut by_hand, |_, scheduled| scheduled.advance = None);
    let mut late = start(id, MONDAY, Some(NEXT_MONDAY));
    edit(&mut late, |_, scheduled| {
        scheduled.started_at = Timestamp(MONDAY.0 + 2)
    });
    for turn in [&by_hand, &late] {
        commit_one(storage, &turn.change).await.unwrap();
        let last = listed(storage, TEST_USER).await[0].last.unwrap();
        assert_eq!(last.conversation_id, Some(turn.run.conversation_id));
    }
}

pub async fn a_client_gives_no_title_as_a_schedule(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let mut turn = start(ScheduleId::new(), MONDAY, None);
    if let Change::Intent { change, .. } = &mut turn.change
        && let IntentChange::RunSchedule { intent, start, .. } = change.clone()
    {
        *change = IntentChange::SendMessage { intent, start };
    }
    commit_one(&*storage, &turn.change).await.unwrap();
    assert_eq!(titles(&*storage).await, ["What is new?"]);
}

pub async fn an_erased_prompt_leaves_the_title(backend: &dyn Backend) {
    for (title, erased) in [
        ("What is new?, Nov 30", "Untitled"),
        ("News, Nov 30", "News, Nov 30"),
    ] {
        let (_folder, storage) = temp_storage(backend).await;
        let storage = &*storage;
        let id = saved(storage).await;
        let mut turn = start(id, MONDAY, Some(NEXT_MONDAY));
        edit(&mut turn, |intent, _| {
            if let Interaction::Scheduled(scheduled) = &mut intent.interaction {
                scheduled.title = title.into();
            }
        });
        commit_one(storage, &turn.change).await.unwrap();
        assert_eq!(titles(storage).await, [title]);
        commit_one(storage, &answer_run(turn.run, "Nothing.", RunStatus::Complete))
            .await
            .unwrap();
        let (message_id, hidden_at) = (turn.user_message_id, NOON);
        for change in [
            ConversationChange::DeleteMessage {
                message_id,
                hidden_at,
            },
            ConversationChange::EraseMessage {
                message_id,
                hidden_at,
            },
        ] {
            let change = Change::Conversation {
                user_id: TEST_USER,
                conversation_id: turn.run.conversation_id,
                change,
            };
            commit_one(storage, &change).await.unwrap();
        }
        assert_eq!(titles(storage).await, [erased]);
    }
}

pub async fn schedules_of_disabled_accounts_wait(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    make_accounts(storage).await;
    let (own, others) = (ScheduleId::new(), ScheduleId::new());
    for (user_id, id) in [(TEST_USER, own), (other_user(), others)] {
        commit_one(storage, &save(user_id, id, news("What is new?")))
            .await
            .unwrap();
    }
    for (is_disabled, expected) in [(true, vec![own]), (false, vec![own, others])] {
        let change = AccountChange::SetDisabled {
            user_id: other_user(),
            is_disabled,
        };
        apply(storage, change).await.unwrap();
        assert_eq!(due(storage, MONDAY).await, expected);
    }
    delete_user(storage, other_user(), Some(TEST_USER)).await.unwrap();
    assert_eq!(due(storage, MONDAY).await, [own]);
    let left = listed(storage, TEST_USER).await;
    assert_eq!((left.len(), left[0].id), (1, own), "nothing is handed over");
}
