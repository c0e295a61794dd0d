//! Projects, and the conversations in them.

use super::{
    accounts::make_accounts,
    conversation_lists::{ended_talks, folded_lists, of_list, titles},
    hand_over::delete_user,
    *,
};
use crate::{projects::ProjectChange, search::SearchQuery};
use parlor_protocol::{ListedProject, Project, ProjectColour, ProjectConversations, ProjectId};

pub fn garden() -> Project {
    Project {
        name: "Garden".into(),
        colour: ProjectColour::Green,
        instructions: "Answer as a gardener.".into(),
        model: Some("x/garden".into()),
        disabled_tools: vec!["fetch_webpage".into()],
    }
}

pub fn save(user_id: UserId, id: ProjectId, project: Project) -> Change {
    Change::Project {
        user_id,
        change: ProjectChange::Save {
            id,
            project: Box::new(project),
            replaces: None,
            limit: 2,
        },
    }
}

pub fn delete(user_id: UserId, id: ProjectId, conversations: ProjectConversations) -> Change {
    Change::Project {
        user_id,
        change: ProjectChange::Delete {
            id,
            conversations,
            deleted_at: NOON,
        },
    }
}

/// Saves a project of the test's user, and returns its id.
pub async fn saved(storage: &dyn Storage, project: Project) -> ProjectId {
    let id = ProjectId::new();
    commit_one(storage, &save(TEST_USER, id, project)).await.unwrap();
    id
}

async fn listed(storage: &dyn Storage, user_id: UserId) -> Vec<ListedProject> {
    storage.projects(user_id).await.expect("storage works")
}

async fn move_to(
    storage: &dyn Storage,
    run: RunKey,
    project_id: Option<ProjectId>,
) -> Result<Outcome, ChangeRejection> {
    commit_one(storage, &of_list(run, ConversationChange::Move { project_id })).await
}

/// Returns the titles of a project's conversations, after a check that the folded log equals the list.
async fn titles_in(storage: &dyn Storage, id: ProjectId) -> Vec<String> {
    let loaded = storage
        .project_conversations(TEST_USER, id, None, 100)
        .await
        .expect("storage works");
    let mut folded = ConversationList {
        project_id: Some(id),
        ..ConversationList::default()
    };
    for event in read_log(storage, TEST_USER).await {
        parlor_protocol::conversation_list::apply(&mut folded, &event);
    }
    assert_eq!(folded, loaded, "the live list equals the loaded one");
    let listed = loaded.conversations.into_iter();
    listed.map(|listed| listed.title).collect()
}

/// Returns a turn that begins a conversation in a project.
pub fn turn_in(user_id: UserId, project_id: ProjectId, text: &str) -> TestTurn {
    let mut turn = new_turn(user_id, ConversationId::new(), text);
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut turn.change
    {
        intent.project_id = Some(project_id);
        intent.model = None;
    }
    turn
}

pub async fn a_project_is_its_owners_alone(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = saved(storage, garden()).await;
    commit_one(storage, &turn_in(TEST_USER, id, "Mine?").change)
        .await
        .unwrap();
    let other = other_user();
    assert_eq!(listed(storage, other).await, []);
    assert_eq!(storage.project(other, id).await.unwrap(), None);
    let stolen = commit_one(storage, &save(other, id, garden())).await;
    assert_eq!(stolen, Err(ChangeRejection::NotFound));
    for conversations in [ProjectConversations::Keep, ProjectConversations::Delete] {
        commit_one(storage, &delete(other, id, conversations))
            .await
            .unwrap();
    }
    let begun = commit_one(storage, &turn_in(other, id, "Tulips?").change).await;
    assert_eq!(begun, Err(ChangeRejection::ProjectNotFound));
    let of_other = new_turn(other, ConversationId::new(), "Roses?");
    commit_one(storage, &of_other.change).await.unwrap();
    let moved = move_to(storage, of_other.run, Some(id)).await;
    assert_eq!(moved, Err(ChangeRejection::ProjectNotFound));
    let expected = ListedProject {
        id,
        project: garden(),
        conversations: 1,
        files: 0,
        readers: 0,
    };
    assert_eq!(listed(storage, TEST_USER).await, [expected]);

    let second = saved(storage, garden()).await;
    let third = save(TEST_USER, ProjectId::new(), garden());
    assert_eq!(
        commit_one(storage, &third).await,
        Err(ChangeRejection::ProjectsFull)
    );
    let renamed = Project {
        name: "Orchard".into(),
        ..garden()
    };
    commit_one(storage, &save(TEST_USER, second, renamed.clone()))
        .await
        .unwrap();
    let found = storage.project(TEST_USER, second).await.unwrap();
    assert_eq!(found.map(|listed| listed.project), Some(renamed));
}

pub async fn a_conversation_is_in_one_project_or_none(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let (first, second) = (saved(storage, garden()).await, saved(storage, garden()).await);
    let [a, b, c] = ended_talks(storage, ["a", "b", "c"]).await;
    for (run, project_id) in [(a, first), (b, first), (a, second)] {
        let moved = move_to(storage, run, Some(project_id)).await;
        assert_eq!(moved, Ok(Outcome::Done));
    }
    assert_eq!(move_to(storage, c, None).await, Ok(Outcome::Unchanged));
    assert_eq!(titles_in(storage, first).await, ["b"]);
    assert_eq!(titles_in(storage, second).await, ["a"]);
    let counts = async || {
        let listed = listed(storage, TEST_USER).await.into_iter();
        listed.map(|listed| listed.conversations).collect::<Vec<_>>()
    };
    assert_eq!(counts().await, [1, 1]);
    let [list, _] = folded_lists(storage).await;
    let projects: Vec<_> = list.iter().map(|listed| listed.project_id).collect();
    assert_eq!(projects, [None, Some(first), Some(second)]);

    // It stays in its project when it is archived, and comes back with activity.
    commit_one(
        storage,
        &of_list(b, ConversationChange::Archive { is_archived: true }),
    )
    .await
    .unwrap();
    assert_eq!(titles_in(storage, first).await, [] as [&str; 0]);
    assert_eq!(counts().await, [1, 1], "archived ones count");
    let next = new_turn(TEST_USER, b.conversation_id, "more");
    commit_one(storage, &next.change).await.unwrap();
    assert_eq!(titles_in(storage, first).await, ["b"]);
    commit_one(storage, &end_run(next.run, "done")).await.unwrap();
    assert_eq!(move_to(storage, b, None).await, Ok(Outcome::Done));
    assert_eq!(titles_in(storage, first).await, [] as [&str; 0]);
}

pub async fn a_conversation_begins_in_a_project(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = saved(storage, garden()).await;
    let begun = turn_in(TEST_USER, id, "Tulips?");
    commit_one(storage, &begun.change).await.unwrap();
    assert_eq!(titles_in(storage, id).await, ["Tulips?"]);
    let context = storage.run_context(begun.run).await.unwrap().unwrap();
    assert_eq!(context.project.map(|used| used.project), Some(garden()));
    commit_one(storage, &end_run(begun.run, "In autumn."))
        .await
        .unwrap();

    // The next answer has the instructions as they are then, and a branch those of its project.
    let shorter = Project {
        instructions: "Be brief.".into(),
        ..garden()
    };
    commit_one(storage, &save(TEST_USER, id, shorter.clone()))
        .await
        .unwrap();
    let branch = ConversationId::new();
    let intent = intent::BranchConversation {
        intent_id: IntentId::new(),
        message_id: begun.run.message_id,
        conversation_id: branch,
    };
    let change = IntentChange::BranchConversation {
        intent,
        fingerprint: String::new(),
    };
    let user_id = TEST_USER;
    commit_one(storage, &Change::Intent { user_id, change })
        .await
        .unwrap();
    assert_eq!(titles_in(storage, id).await, ["Tulips? (branch)", "Tulips?"]);
    let next = new_turn(TEST_USER, branch, "And roses?");
    commit_one(storage, &next.change).await.unwrap();
    let context = storage.run_context(next.run).await.unwrap().unwrap();
    assert_eq!(context.project.map(|used| used.project), Some(shorter));
}

pub async fn a_deleted_project_leaves_its_conversations(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = saved(storage, garden()).await;
    let [a, b] = ended_talks(storage, ["a", "b"]).await;
    move_to(storage, a, Some(id)).await.unwrap();
    for _ in 0..2 {
        let deleted = commit_one(storage, &delete(TEST_USER, id, ProjectConversations::Keep)).await;
        assert_eq!(deleted, Ok(Outcome::DataDeleted));
    }
    assert_eq!(listed(storage, TEST_USER).await, []);
    let [list, _] = folded_lists(storage).await;
    assert_eq!(titles(&list), ["b", "a"]);
    assert!(list.iter().all(|listed| listed.project_id.is_none()));
    assert_eq!(
        move_to(storage, b, Some(id)).await,
        Err(ChangeRejection::ProjectNotFound)
    );
    let again = new_turn(TEST_USER, a.conversation_id, "more");
    commit_one(storage, &again.change).await.unwrap();
    let context = storage.run_context(again.run).await.unwrap().unwrap();
    assert_eq!(context.project, None);
}

pub async fn a_project_is_deleted_with_its_conversations(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = saved(storage, garden()).await;
    let [a, b, c] = ended_talks(storage, ["a", "b", "c"]).await;
    move_to(storage, a, Some(id)).await.unwrap();
    move_to(storage, b, Some(id)).await.unwrap();
    let archive = ConversationChange::Archive { is_archived: true };
    commit_one(storage, &of_list(b, archive)).await.unwrap();
    // One that is being answered is to be stopped.
    let asked = turn_in(TEST_USER, id, "d");
    commit_one(storage, &asked.change).await.unwrap();
    commit_one(storage, &delete(TEST_USER, id, ProjectConversations::Delete))
        .await
        .unwrap();
    let [list, archived] = folded_lists(storage).await;
    assert_eq!((titles(&list), archived.len()), (vec!["c"], 0));
    let mut trashed: Vec<_> = storage.trashed_conversations().await.unwrap();
    trashed.sort_unstable_by_key(|trashed| trashed.conversation_id);
    let runs: Vec<_> = trashed
        .iter()
        .map(|trashed| (trashed.conversation_id, trashed.active_run))
        .collect();
    let expected = [
        (a.conversation_id, None),
        (b.conversation_id, None),
        (asked.run.conversation_id, Some(asked.run.message_id)),
    ];
    assert_eq!(runs, expected);
    assert!(trashed.iter().all(|trashed| trashed.trashed_at == NOON));
    assert_eq!(c.user_id, TEST_USER);

    commit_one(storage, &of_list(a, ConversationChange::Restore))
        .await
        .unwrap();
    let [list, _] = folded_lists(storage).await;
    assert_eq!(titles(&list), ["c", "a"]);
    assert!(list.iter().all(|listed| listed.project_id.is_none()));
}

pub async fn conversations_of_a_project_are_found(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let garden_id = saved(storage, garden()).await;
    let orchard = Project {
        name: "Gärten & Obst".into(),
        ..garden()
    };
    let orchard_id = saved(storage, orchard).await;
    let [a, b, _] = ended_talks(storage, ["tulips red", "tulips white", "tulips blue"]).await;
    move_to(storage, a, Some(garden_id)).await.unwrap();
    move_to(storage, b, Some(orchard_id)).await.unwrap();
    let found = async |user_id, query: &str| {
        let request = SearchRequest {
            query: SearchQuery::parse(query),
            limit: 10,
            ..SearchRequest::default()
        };
        let hits = storage.search(user_id, &request).await.unwrap().hits;
        let mut titles: Vec<_> = hits.into_iter().map(|hit| hit.title).collect();
        titles.sort_unstable();
        titles.dedup();
        titles
    };
    assert_eq!(found(TEST_USER, "tulips").await.len(), 3);
    assert_eq!(found(TEST_USER, "tulips in:garden").await, ["tulips red"]);
    assert_eq!(found(TEST_USER, "in:GARDEN").await, ["tulips red"]);
    assert_eq!(found(TEST_USER, "tulips in:gar").await.len(), 2, "a beginning");
    assert_eq!(
        found(TEST_USER, "tulips in:\"garten obst\"").await,
        ["tulips white"]
    );
    assert_eq!(found(TEST_USER, "tulips in:kitchen").await, [] as [&str; 0]);
    assert_eq!(found(other_user(), "tulips in:garden").await, [] as [&str; 0]);
}

pub async fn an_heir_gets_the_projects(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    make_accounts(storage).await;
    let id = ProjectId::new();
    commit_one(storage, &save(other_user(), id, garden()))
        .await
        .unwrap();
    let turn = turn_in(other_user(), id, "Tulips?");
    commit_one(storage, &turn.change).await.unwrap();
    commit_one(storage, &end_run(turn.run, "In autumn."))
        .await
        .unwrap();
    delete_user(storage, other_user(), Some(TEST_USER)).await.unwrap();
    let expected = ListedProject {
        id,
        project: garden(),
        conversations: 1,
        files: 0,
        readers: 0,
    };
    assert_eq!(listed(storage, TEST_USER).await, [expected]);
    let [list, _] = folded_lists(storage).await;
    assert_eq!(list[0].project_id, Some(id));
}

pub async fn an_edit_of_another_version_is_refused(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = saved(storage, garden()).await;
    let edit = |name: &str, replaces: Project| Change::Project {
        user_id: TEST_USER,
        change: ProjectChange::Save {
            id,
            project: Box::new(Project {
                name: name.into(),
                ..garden()
            }),
            replaces: Some(Box::new(replaces)),
            limit: 2,
        },
    };
    commit_one(storage, &edit("Orchard", garden())).await.unwrap();
    // A second form began with the same version.
    let late = commit_one(storage, &edit("Meadow", garden())).await;
    assert_eq!(late, Err(ChangeRejection::ProjectChanged));
    let kept = listed(storage, TEST_USER).await.remove(0).project;
    assert_eq!(kept.name, "Orchard");
    commit_one(storage, &edit("Meadow", kept)).await.unwrap();
    assert_eq!(listed(storage, TEST_USER).await[0].project.name, "Meadow");
}
