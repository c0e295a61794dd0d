//! Files of projects.

use super::{
    accounts::make_accounts,
    conversation_lists::of_list,
    files::image_file,
    hand_over::delete_user,
    projects::{delete, garden, save, saved, turn_in},
    *,
};
use crate::{
    projects::{FoundPassage, ProjectChange},
    search::SearchQuery,
};
use parlor_protocol::{Project, ProjectConversations, ProjectId, search::HitKind};

fn of_project(user_id: UserId, change: ProjectChange) -> Change {
    Change::Project { user_id, change }
}

fn add(user_id: UserId, project_id: ProjectId, name: &str) -> (AttachmentId, Change) {
    let mut file = image_file(user_id, ConversationId::NONE);
    file.attachment.name = name.into();
    let id = file.attachment.id;
    let change = ProjectChange::AddFile {
        project_id,
        file: Box::new(file),
        limit: 3,
    };
    (id, of_project(user_id, change))
}

pub(super) async fn added(storage: &dyn Storage, project_id: ProjectId, name: &str) -> AttachmentId {
    let (id, change) = add(TEST_USER, project_id, name);
    assert_eq!(commit_one(storage, &change).await, Ok(Outcome::Done));
    id
}

async fn names(storage: &dyn Storage, user_id: UserId, id: ProjectId) -> Vec<String> {
    let files = storage.project_files(user_id, id).await.unwrap();
    let mut names: Vec<_> = files.into_iter().map(|file| file.attachment.name).collect();
    names.sort_unstable();
    names
}

async fn remove(storage: &dyn Storage, user_id: UserId, project_id: ProjectId, id: AttachmentId) {
    let change = of_project(user_id, ProjectChange::DeleteFile { project_id, id });
    assert_eq!(commit_one(storage, &change).await, Ok(Outcome::DataDeleted));
}

async fn index(storage: &dyn Storage, id: AttachmentId, texts: &[&str]) {
    let change = FileChange::IndexText {
        id,
        first: 1,
        texts: texts.iter().map(|&text| text.to_owned()).collect(),
        is_last: true,
    };
    commit_one(storage, &Change::File(change)).await.unwrap();
}

pub async fn files_of_a_project_are_its_owners_alone(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let project = saved(storage, garden()).await;
    let file = added(storage, project, "plan.pdf").await;
    added(storage, project, "plan.pdf").await;
    added(storage, project, ".notes").await;
    assert_eq!(
        names(storage, TEST_USER, project).await,
        [".notes", "plan (2).pdf", "plan.pdf"]
    );
    let (_, fourth) = add(TEST_USER, project, "d");
    assert_eq!(
        commit_one(storage, &fourth).await,
        Err(ChangeRejection::ProjectFilesFull)
    );
    let listed = storage.project(TEST_USER, project).await.unwrap().unwrap();
    assert_eq!(listed.files, 3);

    let other = other_user();
    let (_, stolen) = add(other, project, "e");
    assert_eq!(
        commit_one(storage, &stolen).await,
        Err(ChangeRejection::ProjectNotFound)
    );
    remove(storage, other, project, file).await;
    remove(storage, TEST_USER, ProjectId::new(), file).await;
    assert_eq!(names(storage, other, project).await, [] as [&str; 0]);
    assert!(storage.file(other, file).await.unwrap().is_none());
    assert!(storage.file(TEST_USER, file).await.unwrap().is_some());

    let turn = turn_in(TEST_USER, project, "Tulips?");
    commit_one(storage, &turn.change).await.unwrap();
    let context = storage.run_context(turn.run).await.unwrap().unwrap();
    let used = context.project.expect("a project");
    assert_eq!((used.id, used.files.len()), (project, 3));
    let found = storage.project_of(TEST_USER, turn.run.conversation_id).await;
    assert_eq!(found.unwrap(), Some(used));
    let found = storage.project_of(other, turn.run.conversation_id).await;
    assert_eq!(found.unwrap(), None);
}

pub async fn files_of_a_project_stay_until_they_are_deleted(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let project = saved(storage, garden()).await;
    let file = added(storage, project, "plan.pdf").await;
    let kept = added(storage, project, "beds.pdf").await;
    // It is no upload of a message.
    for change in [
        FileChange::DeleteUpload {
            user_id: TEST_USER,
            id: file,
        },
        FileChange::ExpireUploads {
            before: Timestamp(i64::MAX),
        },
    ] {
        commit_one(storage, &Change::File(change)).await.unwrap();
    }
    let copy = FileChange::CopyFile {
        user_id: TEST_USER,
        id: file,
        copy: AttachmentId::new(),
    };
    assert_eq!(
        commit_one(storage, &Change::File(copy)).await,
        Err(ChangeRejection::NotFound)
    );
    let mut turn = turn_in(TEST_USER, project, "Look");
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut turn.change
    {
        intent.files = vec![file];
    }
    assert_eq!(
        commit_one(storage, &turn.change).await,
        Err(ChangeRejection::FileNotFound)
    );
    // Clients choose the ids of conversations, and may choose that of none.
    let nil = new_turn(TEST_USER, ConversationId::NONE, "Hello");
    commit_one(storage, &nil.change).await.unwrap();
    commit_one(storage, &end_run(nil.run, "Yes.")).await.unwrap();
    let erase = of_list(nil.run, ConversationChange::Delete);
    commit_one(storage, &erase).await.unwrap();
    let location = storage.file(TEST_USER, file).await.unwrap().unwrap().location;
    remove(storage, TEST_USER, project, file).await;
    assert_eq!(storage.deleted_files().await.unwrap(), [location]);
    assert_eq!(names(storage, TEST_USER, project).await, ["beds.pdf"]);

    index(storage, kept, &["Roses"]).await;
    commit_one(storage, &delete(TEST_USER, project, ProjectConversations::Keep))
        .await
        .unwrap();
    assert!(storage.file(TEST_USER, kept).await.unwrap().is_none());
    assert_eq!(storage.deleted_files().await.unwrap().len(), 2);
    assert_eq!(
        found(storage, TEST_USER, "roses").await,
        [] as [(String, String); 0]
    );
}

/// Returns the project's name and the file's name of each hit.
async fn found(storage: &dyn Storage, user_id: UserId, query: &str) -> Vec<(String, String)> {
    let request = SearchRequest {
        query: SearchQuery::parse(query),
        ..SearchRequest::default()
    };
    let hits = storage.search(user_id, &request).await.unwrap().hits;
    let hits = hits.into_iter().map(|hit| {
        assert_eq!(hit.kind, HitKind::File);
        assert_eq!((hit.conversation_id, hit.message_id), (None, None));
        assert!(hit.project_id.is_some());
        (hit.title, hit.file_name.unwrap_or_default())
    });
    hits.collect()
}

pub async fn files_of_a_project_are_found(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let project = saved(storage, garden()).await;
    let orchard = Project {
        name: "Orchard".into(),
        ..garden()
    };
    let orchard = saved(storage, orchard).await;
    let file = added(storage, project, "plan.pdf").await;
    let elsewhere = added(storage, orchard, "trees.txt").await;
    assert_eq!(
        found(storage, TEST_USER, "plan").await,
        [("Garden".into(), "plan.pdf".into())]
    );
    let unindexed = async |id| storage.unindexed_project_files(TEST_USER, id).await.unwrap();
    assert_eq!(unindexed(project).await, [file]);
    index(storage, file, &["Water the roses", "Prune the roses in March"]).await;
    index(storage, elsewhere, &["Roses between trees"]).await;
    assert_eq!(unindexed(project).await, []);

    assert_eq!(
        found(storage, TEST_USER, "roses").await.len(),
        2,
        "one of each file"
    );
    let request = SearchRequest {
        query: SearchQuery::parse("roses"),
        in_conversations: true,
        ..SearchRequest::default()
    };
    assert_eq!(storage.search(TEST_USER, &request).await.unwrap().hits, []);
    assert_eq!(
        found(storage, TEST_USER, "roses in:garden").await,
        [("Garden".into(), "plan.pdf".into())]
    );
    assert_eq!(
        found(storage, other_user(), "roses").await,
        [] as [(String, String); 0]
    );

    let passages = async |user_id, project_id, query: &str| {
        let request = SearchRequest {
            query: SearchQuery::parse(query),
            ..SearchRequest::default()
        };
        let found = storage.search_project_files(user_id, project_id, &request).await;
        let mut found = found.unwrap();
        found.sort_unstable_by_key(|found| found.passage);
        found
    };
    let all = [1, 2].map(|passage| FoundPassage {
        file_id: file,
        passage,
    });
    assert_eq!(passages(TEST_USER, project, "roses").await, all);
    assert_eq!(
        passages(TEST_USER, project, "\"prune the roses\"").await,
        all[1..]
    );
    assert_eq!(passages(TEST_USER, project, "trees").await, []);
    assert_eq!(passages(TEST_USER, project, "").await, []);
    assert_eq!(passages(other_user(), project, "roses").await, []);
}

pub async fn an_heir_gets_the_files_of_projects(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    make_accounts(storage).await;
    let id = ProjectId::new();
    commit_one(storage, &save(other_user(), id, garden()))
        .await
        .unwrap();
    let (file, change) = add(other_user(), id, "plan.pdf");
    commit_one(storage, &change).await.unwrap();
    let location = storage.file(other_user(), file).await.unwrap().unwrap().location;
    delete_user(storage, other_user(), Some(TEST_USER)).await.unwrap();
    assert_eq!(names(storage, TEST_USER, id).await, ["plan.pdf"]);
    let file = storage.file(TEST_USER, file).await.unwrap().expect("it stays");
    assert_eq!(file.location, location, "its content stays where it is");
    assert_eq!(
        found(storage, TEST_USER, "plan").await,
        [("Garden".into(), "plan.pdf".into())]
    );
}

pub async fn a_repeated_upload_is_stored_once(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let project = saved(storage, garden()).await;
    let (id, change) = add(TEST_USER, project, "plan.pdf");
    assert_eq!(commit_one(storage, &change).await, Ok(Outcome::Done));
    let mut again = image_file(TEST_USER, ConversationId::NONE);
    again.attachment.id = id;
    let again = ProjectChange::AddFile {
        project_id: project,
        file: Box::new(again),
        limit: 3,
    };
    let repeated = commit_one(storage, &of_project(TEST_USER, again)).await;
    assert_eq!(repeated, Err(ChangeRejection::IntentReused));
    assert_eq!(names(storage, TEST_USER, project).await, ["plan.pdf"]);
}
