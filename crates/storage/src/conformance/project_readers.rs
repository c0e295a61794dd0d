//! Projects that other people may read.

use super::{
    accounts::{apply, create, make_accounts},
    conversation_lists::of_list,
    hand_over::delete_user,
    memories,
    project_files::added,
    projects::{delete, garden, saved, turn_in},
    *,
};
use crate::{
    accounts::{AccountChange, AccountWarrant},
    projects::ProjectChange,
    search::SearchQuery,
    shares::Audience,
};
use parlor_protocol::{
    Project, ProjectColour, ProjectConversations, ProjectId, ProjectReader, SharedProject,
    conversation_list::ListCursor,
};

fn third_user() -> UserId {
    UserId(uuid::Uuid::from_u128(3))
}

/// Makes three accounts, and a project of the first user.
async fn project_of_three(storage: &dyn Storage) -> ProjectId {
    make_accounts(storage).await;
    let third = create(third_user(), "cat", AccountWarrant::SignUp);
    apply(storage, third).await.unwrap();
    saved(storage, garden()).await
}

fn change(user_id: UserId, change: ProjectChange) -> Change {
    Change::Project { user_id, change }
}

fn add(user_id: UserId, id: ProjectId, readers: &[UserId]) -> Change {
    change(
        user_id,
        ProjectChange::AddReaders {
            id,
            readers: readers.to_vec(),
            limit: 2,
            limit_shared: 2,
        },
    )
}

fn remove(user_id: UserId, id: ProjectId, reader: UserId) -> Change {
    change(user_id, ProjectChange::RemoveReader { id, reader })
}

/// Begins a conversation in a project, and ends its answer.
async fn talk(storage: &dyn Storage, id: ProjectId, text: &str) -> RunKey {
    let turn = turn_in(TEST_USER, id, text);
    commit_one(storage, &turn.change).await.unwrap();
    commit_one(storage, &end_run(turn.run, "Yes.")).await.unwrap();
    turn.run
}

/// Returns the titles of the conversations that a person sees in a project; `None` without the project.
async fn seen(storage: &dyn Storage, reader: UserId, id: ProjectId) -> Option<Vec<String>> {
    let found = storage.shared_project(reader, id, None, 10).await.unwrap()?;
    let titles = found.conversations.into_iter().map(|chat| chat.title);
    Some(titles.collect())
}

async fn is_open(storage: &dyn Storage, reader: UserId, run: RunKey) -> bool {
    let found = storage.share_of_project(run.conversation_id, reader).await;
    found.unwrap().is_some()
}

/// Returns the log's changes of projects after a position: true for those that end a right.
async fn told(storage: &dyn Storage, user_id: UserId, after: Position) -> Vec<bool> {
    let log = read_log(storage, user_id).await.into_iter();
    let told = log.filter(|event| event.position > after);
    told.filter_map(|event| match event.body {
        EventBody::User(UserEvent::ProjectChanged { deleted, .. }) => Some(deleted),
        _ => None,
    })
    .collect()
}

pub async fn a_reader_sees_the_project_until_removed(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    let id = project_of_three(&*storage).await;
    let (ben, cat) = (other_user(), third_user());
    let run = talk(&*storage, id, "Tulips?").await;
    let file = added(&*storage, id, "soil.txt").await;
    let shared = commit_one(&*storage, &add(TEST_USER, id, &[ben, TEST_USER])).await;
    assert_eq!(shared, Ok(Outcome::Done));
    let again = commit_one(&*storage, &add(TEST_USER, id, &[ben])).await;
    assert_eq!(again, Ok(Outcome::Unchanged));

    drop(storage);
    let storage = open_storage(backend, &folder).await;
    let storage = &*storage;
    let reader = ProjectReader {
        name: "ben".into(),
        since: NOON,
    };
    let readers = async |user_id| storage.project_readers(user_id, id).await.unwrap();
    assert_eq!(readers(TEST_USER).await, [reader]);
    assert_eq!(readers(ben).await, [], "only the owner lists them");
    let listed = SharedProject {
        id,
        name: "Garden".into(),
        colour: ProjectColour::Green,
        owner: "ann".into(),
    };
    let shared_with = async |reader| storage.shared_projects(reader).await.unwrap();
    assert_eq!(shared_with(ben).await, std::slice::from_ref(&listed));
    for stranger in [TEST_USER, cat] {
        assert_eq!(shared_with(stranger).await, []);
        assert_eq!(seen(storage, stranger, id).await, None);
        assert!(!is_open(storage, stranger, run).await);
        let found = storage.shared_project_file(stranger, id, file).await.unwrap();
        assert_eq!(found, None);
    }
    let content = storage.shared_project(ben, id, None, 10).await.unwrap().unwrap();
    assert_eq!(
        (content.listed, &*content.instructions),
        (listed, "Answer as a gardener.")
    );
    assert_eq!(content.files[0].attachment.id, file);
    assert_eq!(content.conversations[0].title, "Tulips?");
    let found = storage.shared_project_file(ben, id, file).await.unwrap();
    assert_eq!(
        found.map(|file| file.attachment.name).as_deref(),
        Some("soil.txt")
    );
    let share = storage.share_of_project(run.conversation_id, ben).await.unwrap();
    let share = share.expect("it is shared");
    assert_eq!(
        (share.user_id, share.snapshot.as_ref(), &share.audience),
        (TEST_USER, None, &Audience::Project(id))
    );
    let transcript = storage.shared_transcript(&share, PageSize::UNLIMITED, None);
    assert_eq!(transcript.await.unwrap().unwrap().messages.len(), 2);

    // A reader gets nothing but what is read here: no change, no search, no memories and files in own conversations.
    for stolen in [
        add(ben, id, &[cat]),
        remove(ben, id, ben),
        change(
            ben,
            ProjectChange::DeleteFile {
                project_id: id,
                id: file,
            },
        ),
        delete(ben, id, ProjectConversations::Delete),
        turn_in(ben, id, "Mine?").change,
        of_list(
            RunKey { user_id: ben, ..run },
            ConversationChange::Rename { title: "Mine".into() },
        ),
    ] {
        let _ = commit_one(storage, &stolen).await;
    }
    let request = SearchRequest {
        query: SearchQuery::parse("tulips"),
        limit: 10,
        ..SearchRequest::default()
    };
    assert_eq!(storage.search(ben, &request).await.unwrap().hits, []);
    assert_eq!(storage.projects(ben).await.unwrap(), []);
    assert_eq!(storage.project_files(ben, id).await.unwrap(), []);
    assert_eq!(seen(storage, ben, id).await.unwrap(), ["Tulips?"]);

    let position = storage.last_position(ben).await.unwrap();
    let removed = commit_one(storage, &remove(TEST_USER, id, ben)).await;
    assert_eq!(removed, Ok(Outcome::DataDeleted));
    assert_eq!(told(storage, ben, position).await, [true]);
    assert_eq!(seen(storage, ben, id).await, None);
    assert!(!is_open(storage, ben, run).await);
    let found = storage.shared_project_file(ben, id, file).await.unwrap();
    assert_eq!(found, None);
    assert_eq!(
        (shared_with(ben).await, readers(TEST_USER).await),
        (vec![], vec![])
    );
}

pub async fn readers_see_what_is_in_the_project(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = project_of_three(storage).await;
    let ben = other_user();
    commit_one(storage, &add(TEST_USER, id, &[ben])).await.unwrap();
    let (a, b) = (talk(storage, id, "a").await, talk(storage, id, "b").await);
    let mut temporary = turn_in(TEST_USER, id, "c");
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut temporary.change
    {
        intent.temporary = true;
    }
    commit_one(storage, &temporary.change).await.unwrap();
    assert_eq!(seen(storage, ben, id).await.unwrap(), ["b", "a"]);
    assert!(!is_open(storage, ben, temporary.run).await);
    commit_one(storage, &of_list(temporary.run, ConversationChange::Keep))
        .await
        .unwrap();
    assert!(is_open(storage, ben, temporary.run).await);

    let first = storage.shared_project(ben, id, None, 2).await.unwrap().unwrap();
    let next = first.next.expect("there is more");
    let second = storage
        .shared_project(ben, id, Some(next), 2)
        .await
        .unwrap()
        .unwrap();
    let titles = |chats: &[parlor_protocol::SharedChat]| -> Vec<String> {
        chats.iter().map(|chat| chat.title.clone()).collect()
    };
    assert_eq!(titles(&first.conversations), ["c", "b"]);
    assert_eq!(
        (titles(&second.conversations), second.next),
        (vec!["a".into()], None)
    );
    let end = Some(ListCursor {
        activity: Position(0),
    });
    let nothing = storage.shared_project(ben, id, end, 2).await.unwrap().unwrap();
    assert_eq!(nothing.conversations, []);

    let archive = ConversationChange::Archive { is_archived: true };
    commit_one(storage, &of_list(a, archive)).await.unwrap();
    assert!(is_open(storage, ben, a).await, "the archive is the owner's order");
    for (run, gone, back) in [
        (
            a,
            ConversationChange::Move { project_id: None },
            ConversationChange::Move { project_id: Some(id) },
        ),
        (
            b,
            ConversationChange::Trash { trashed_at: NOON },
            ConversationChange::Restore,
        ),
    ] {
        commit_one(storage, &of_list(run, gone)).await.unwrap();
        assert!(!is_open(storage, ben, run).await);
        assert_eq!(seen(storage, ben, id).await.unwrap().len(), 2);
        commit_one(storage, &of_list(run, back)).await.unwrap();
        assert!(is_open(storage, ben, run).await);
        assert_eq!(seen(storage, ben, id).await.unwrap().len(), 3);
    }
}

pub async fn sharing_ends_with_project_and_accounts(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = project_of_three(storage).await;
    let (ben, cat) = (other_user(), third_user());
    commit_one(storage, &add(TEST_USER, id, &[ben])).await.unwrap();
    let run = talk(storage, id, "a").await;
    let position = storage.last_position(ben).await.unwrap();
    commit_one(storage, &delete(TEST_USER, id, ProjectConversations::Keep))
        .await
        .unwrap();
    assert_eq!(told(storage, ben, position).await, [true]);
    assert!(!is_open(storage, ben, run).await);

    // A disabled account shares nothing. One that is deleted ends the sharing, with an heir, too.
    let id = ProjectId::new();
    let save = projects::save(cat, id, garden());
    commit_one(storage, &save).await.unwrap();
    commit_one(storage, &add(cat, id, &[ben, TEST_USER]))
        .await
        .unwrap();
    let is_shared = async |reader| !storage.shared_projects(reader).await.unwrap().is_empty();
    let position = storage.last_position(ben).await.unwrap();
    for is_disabled in [true, false] {
        let user_id = cat;
        apply(storage, AccountChange::SetDisabled { user_id, is_disabled })
            .await
            .unwrap();
        assert_eq!(is_shared(ben).await, !is_disabled);
        assert_eq!(seen(storage, ben, id).await.is_some(), !is_disabled);
    }
    assert_eq!(told(storage, ben, position).await, [false, false]);
    let position = storage.last_position(ben).await.unwrap();
    delete_user(storage, cat, Some(TEST_USER)).await.unwrap();
    assert!(!is_shared(ben).await && !is_shared(TEST_USER).await);
    assert_eq!(told(storage, ben, position).await, [false, true]);
    assert_eq!(storage.project_readers(TEST_USER, id).await.unwrap(), []);
    assert_eq!(storage.projects(TEST_USER).await.unwrap().len(), 1);

    // The owner is told of a reader whose account is deleted.
    let readers = async || storage.projects(TEST_USER).await.unwrap()[0].readers;
    commit_one(storage, &add(TEST_USER, id, &[ben])).await.unwrap();
    assert_eq!(readers().await, 1);
    let position = storage.last_position(TEST_USER).await.unwrap();
    delete_user(storage, ben, None).await.unwrap();
    assert_eq!(told(storage, TEST_USER, position).await, [false]);
    assert_eq!(storage.project_readers(TEST_USER, id).await.unwrap(), []);
    assert_eq!(readers().await, 0);
}

pub async fn readers_are_limited(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = project_of_three(storage).await;
    let (ben, cat, dan) = (other_user(), third_user(), UserId(uuid::Uuid::from_u128(4)));
    apply(storage, create(dan, "dan", AccountWarrant::SignUp))
        .await
        .unwrap();
    let full = commit_one(storage, &add(TEST_USER, id, &[ben, cat, dan])).await;
    assert_eq!(full, Err(ChangeRejection::ProjectReadersFull));
    assert_eq!(storage.project_readers(TEST_USER, id).await.unwrap(), []);
    let nobody = commit_one(storage, &add(TEST_USER, id, &[UserId::new()])).await;
    assert_eq!(nobody, Err(ChangeRejection::NotFound));
    let nowhere = commit_one(storage, &add(TEST_USER, ProjectId::new(), &[ben])).await;
    assert_eq!(nowhere, Err(ChangeRejection::ProjectNotFound));

    // The owner of three projects gives a reader two of them, who leaves one.
    for shared in [id, saved(storage, garden()).await] {
        commit_one(storage, &add(TEST_USER, shared, &[ben]))
            .await
            .unwrap();
    }
    let third = ProjectId::new();
    commit_one(storage, &projects::save(cat, third, garden()))
        .await
        .unwrap();
    let full = commit_one(storage, &add(cat, third, &[ben])).await;
    assert_eq!(full, Err(ChangeRejection::SharedProjectsFull));
    let left = commit_one(storage, &change(ben, ProjectChange::Leave { id })).await;
    assert_eq!(left, Ok(Outcome::DataDeleted));
    let again = commit_one(storage, &change(ben, ProjectChange::Leave { id })).await;
    assert_eq!(again, Ok(Outcome::Unchanged));
    assert_eq!(seen(storage, ben, id).await, None);
    commit_one(storage, &add(cat, third, &[ben])).await.unwrap();
}

pub async fn readers_are_told_of_changes(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = project_of_three(storage).await;
    let (ben, cat) = (other_user(), third_user());
    commit_one(storage, &add(TEST_USER, id, &[ben])).await.unwrap();
    let run = talk(storage, id, "a").await;
    let renamed = Project {
        name: "Orchard".into(),
        ..garden()
    };
    let rename = ConversationChange::Rename { title: "b".into() };
    for (what, change) in [
        ("another name", projects::save(TEST_USER, id, renamed)),
        ("another title", of_list(run, rename)),
        ("a new conversation", turn_in(TEST_USER, id, "c").change),
        (
            "one that leaves",
            of_list(run, ConversationChange::Move { project_id: None }),
        ),
        (
            "one that comes",
            of_list(run, ConversationChange::Move { project_id: Some(id) }),
        ),
        ("one that is erased", of_list(run, ConversationChange::Delete)),
    ] {
        let position = storage.last_position(ben).await.unwrap();
        commit_one(storage, &change).await.unwrap();
        assert_eq!(told(storage, ben, position).await, [false], "{what}");
    }
    assert_eq!(told(storage, cat, Position(0)).await, [] as [bool; 0]);
}

pub async fn readers_are_not_told_of_what_they_do_not_see(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = project_of_three(storage).await;
    let ben = other_user();
    commit_one(storage, &add(TEST_USER, id, &[ben])).await.unwrap();
    let trashed = talk(storage, id, "a").await;
    let trash = ConversationChange::Trash {
        trashed_at: Timestamp(1),
    };
    commit_one(storage, &of_list(trashed, trash)).await.unwrap();
    let mut temporary = turn_in(TEST_USER, id, "b");
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut temporary.change
    {
        intent.temporary = true;
    }
    let run = temporary.run;
    let rename = ConversationChange::Rename { title: "c".into() };
    let quiet = storage.last_position(ben).await.unwrap();
    for change in [
        memories::of_project(id, "Clay."),
        add(TEST_USER, id, &[third_user()]),
        remove(TEST_USER, id, third_user()),
        temporary.change,
        end_run(run, "Yes."),
        of_list(run, rename),
        of_list(
            trashed,
            ConversationChange::Erase {
                trashed_at: Timestamp(1),
            },
        ),
    ] {
        commit_one(storage, &change).await.unwrap();
    }
    assert_eq!(told(storage, ben, quiet).await, [] as [bool; 0]);
    commit_one(storage, &of_list(run, ConversationChange::Keep))
        .await
        .unwrap();
    assert_eq!(told(storage, ben, quiet).await, [false], "it is kept");
}
