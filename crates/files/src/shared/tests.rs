//! Two nodes with folders of their own, and each place that they can share.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use futures::stream;
use tempfile::TempDir;
use tokio::{io::AsyncReadExt, sync::Notify};
use uuid::Uuid;

use super::*;
use crate::{FileOwner, Files, UploadHead};
use parlor_base::settings::Settings;
use parlor_journal::{Journal, hub::Hub};
use parlor_protocol::{ConversationId, UserId};
use parlor_storage::sqlite::SqliteStorage;

/// A place, and two nodes that share it.
struct Nodes {
    folder: TempDir,
    shared: Arc<dyn SharedContents>,
    first: Contents,
    second: Contents,
}

async fn open_storage(folder: &Path) -> Arc<dyn Storage> {
    Arc::new(SqliteStorage::open(folder).await.unwrap())
}

/// Calls a test with each place.
async fn with_each(test: impl AsyncFn(&Nodes)) {
    for is_database in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let shared: Arc<dyn SharedContents> = match is_database {
            true => Arc::new(DatabaseContents(open_storage(folder.path()).await)),
            false => Arc::new(ObjectContents::in_memory()),
        };
        let open = |name| Contents::open(&folder.path().join(name), Some(shared.clone())).unwrap();
        let (first, second) = (open("first"), open("second"));
        let nodes = Nodes {
            folder,
            shared,
            first,
            second,
        };
        test(&nodes).await;
    }
}

fn new_location() -> FileLocation {
    FileLocation {
        user_id: UserId::LOCAL,
        conversation_id: ConversationId::new(),
        stored_name: Uuid::new_v4(),
    }
}

async fn write(contents: &Contents, location: FileLocation, form: ContentForm, data: &[u8]) {
    let mut content = contents.create(location, form).await.unwrap();
    content.write(data).await.unwrap();
    content.keep().await.unwrap();
}

async fn read(contents: &Contents, location: FileLocation, form: ContentForm) -> io::Result<Vec<u8>> {
    let mut data = Vec::new();
    contents
        .read(location, form)
        .await?
        .read_to_end(&mut data)
        .await?;
    Ok(data)
}

#[tokio::test]
async fn what_a_node_keeps_is_read_by_others() {
    // None, in one part, in one request, in several.
    let sizes = [0, 1, CONTENT_PART_BYTES, (SEVERAL_REQUESTS << 20) + 3];
    with_each(async |nodes| {
        for bytes in sizes {
            let location = new_location();
            let data: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
            for form in SharedForm::ALL {
                write(&nodes.first, location, form.into(), &data).await;
                let found = read(&nodes.second, location, form.into()).await.unwrap();
                assert!(found == data, "{form:?} of {bytes} bytes");
            }
            // From its own folder, the second time.
            nodes.shared.delete(location).await.unwrap();
            let path = nodes
                .second
                .local_path(location, ContentForm::Original)
                .await
                .unwrap();
            assert_eq!(std::fs::read(path).unwrap(), data);
        }
    })
    .await;
}

/// The mebibytes of a content that is stored in several requests.
const SEVERAL_REQUESTS: usize = 11;

#[tokio::test]
async fn what_is_deleted_is_gone_in_all_forms() {
    with_each(async |nodes| {
        let (location, kept) = (new_location(), new_location());
        for form in SharedForm::ALL {
            write(&nodes.first, location, form.into(), b"gone").await;
        }
        write(&nodes.first, kept, ContentForm::Original, b"kept").await;
        nodes.first.delete(location).await.unwrap();
        nodes.first.delete(location).await.unwrap();
        for contents in [&nodes.first, &nodes.second] {
            let found = read(contents, location, ContentForm::Prepared).await;
            assert_eq!(found.unwrap_err().kind(), io::ErrorKind::NotFound);
        }
        let listed = nodes.shared.list().await.unwrap();
        let listed: Vec<_> = listed.iter().map(|content| content.location).collect();
        assert_eq!(listed, [kept]);
    })
    .await;
}

#[tokio::test]
async fn what_was_not_kept_is_not_shared() {
    with_each(async |nodes| {
        let location = new_location();
        let mut content = nodes.first.create(location, ContentForm::Original).await.unwrap();
        content.write(b"half").await.unwrap();
        drop(content);
        assert_eq!(nodes.shared.list().await.unwrap(), []);
        assert_eq!(nodes.first.local_files().await.unwrap().len(), 0);
        // The tables of a file are made anew on each node.
        write(&nodes.first, location, ContentForm::Tables, b"tables").await;
        assert_eq!(nodes.shared.list().await.unwrap(), []);
        let found = read(&nodes.second, location, ContentForm::Tables).await;
        assert_eq!(found.unwrap_err().kind(), io::ErrorKind::NotFound);
    })
    .await;
}

#[tokio::test]
async fn other_bytes_than_were_stored_are_refused() {
    with_each(async |nodes| {
        let location = new_location();
        let content = SharedContent {
            location,
            form: SharedForm::Original,
        };
        let digest = FileDigest {
            bytes: 4,
            sha256: "of other bytes".into(),
        };
        let chunks = || Box::pin(stream::iter([Ok(Bytes::from_static(b"data"))]));
        nodes.shared.put(content, &digest, chunks()).await.unwrap();
        let found = read(&nodes.first, location, ContentForm::Original).await;
        assert_eq!(found.unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(nodes.first.local_files().await.unwrap().len(), 0);
    })
    .await;
}

/// Opens the files of a node. Without a place, their contents are in the folder alone.
async fn files_of(folder: &Path, storage: &Arc<dyn Storage>, store: Option<FileStore>) -> Files {
    let (journal, _writer) = Journal::start(storage.clone(), Arc::new(Hub::default()));
    let mut settings = Settings::default();
    settings.files.store = store;
    std::fs::create_dir_all(folder).unwrap();
    let files = Files::open(folder, storage.clone(), journal, &settings).unwrap();
    files.delete_orphans().await;
    files.move_contents().await.unwrap();
    files
}

async fn upload(files: &Files, data: &'static [u8]) -> FileLocation {
    let head = UploadHead {
        user_id: UserId::LOCAL,
        owner: FileOwner::Conversation(ConversationId::new()),
        name: "a.log",
        length: None,
    };
    let body = stream::iter([Ok::<_, io::Error>(Bytes::from_static(data))]);
    let file = files.upload(head, body).await.unwrap();
    files
        .find(UserId::LOCAL, file.id)
        .await
        .unwrap()
        .unwrap()
        .location
}

#[tokio::test]
async fn contents_move_to_where_the_settings_want_them() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open_storage(folder.path()).await;
    let (here, elsewhere) = (folder.path().join("here"), folder.path().join("elsewhere"));
    let files = files_of(&here, &storage, None).await;
    let location = upload(&files, b"in a folder").await;
    assert_eq!(storage.contents().await.unwrap(), []);

    // Into the database: a node without that folder reads them.
    files_of(&here, &storage, Some(FileStore::Database)).await;
    let node = files_of(&elsewhere, &storage, Some(FileStore::Database)).await;
    assert_eq!(node.read_beginning(location, 99).await.unwrap(), b"in a folder");
    let later = upload(&node, b"in the database").await;

    // And out of it again.
    let files = files_of(&here, &storage, None).await;
    assert_eq!(files.read_beginning(location, 99).await.unwrap(), b"in a folder");
    assert_eq!(files.read_beginning(later, 99).await.unwrap(), b"in the database");
    assert_eq!(storage.contents().await.unwrap(), []);
}

#[tokio::test]
async fn contents_of_a_lost_database_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (here, shared) = (folder.path().join("here"), folder.path().join("shared"));
    let storage = open_storage(folder.path()).await;
    let files = files_of(&here, &storage, None).await;
    let location = upload(&files, b"of a lost database").await;
    drop((files, storage));
    // Another database, which knows none of them, and a place that has a content.
    let lost = tempfile::tempdir().unwrap();
    let empty = open_storage(lost.path()).await;
    std::fs::write(here.join("keep-files"), "").unwrap();
    let node = files_of(&here, &empty, Some(FileStore::Database)).await;
    let old = SystemTime::now() - Duration::from_secs(10 * 24 * 3600);
    for file in [ContentForm::Original].map(|form| node.0.contents.path(location, form)) {
        let times = std::fs::FileTimes::new().set_modified(old).set_accessed(old);
        File::options()
            .write(true)
            .open(file)
            .unwrap()
            .set_times(times)
            .unwrap();
    }
    node.trim_copies().await;
    assert_eq!(node.0.contents.local_files().await.unwrap().len(), 1);

    let in_folder = Some(FileStore::Folder(shared.clone().into()));
    let files = files_of(&here, &empty, in_folder.clone()).await;
    write(
        &files.0.contents,
        location,
        ContentForm::Original,
        b"of all nodes",
    )
    .await;
    let files = files_of(&here, &empty, in_folder).await;
    assert_eq!(files.read_beginning(location, 99).await.unwrap(), b"of all nodes");
}

#[tokio::test]
async fn two_store_the_same_content_at_once() {
    with_each(async |nodes| {
        let location = new_location();
        let form = ContentForm::Picture;
        tokio::join!(
            write(&nodes.first, location, form, b"a picture"),
            write(&nodes.second, location, form, b"a picture")
        );
        let third = Contents::open(&nodes.folder.path().join("third"), Some(nodes.shared.clone())).unwrap();
        assert_eq!(read(&third, location, form).await.unwrap(), b"a picture");
    })
    .await;
}

#[tokio::test]
async fn a_damaged_content_hinders_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let storage = open_storage(folder.path()).await;
    let here = folder.path().join("here");
    let node = files_of(&here, &storage, Some(FileStore::Database)).await;
    let (sound, damaged) = (upload(&node, b"sound").await, upload(&node, b"damaged").await);
    let content = storage.content(damaged, "original").await.unwrap().unwrap();
    let other_bytes = Box::pin(stream::iter([Ok(b"damagee".to_vec())]));
    storage.store_content(&content, other_bytes).await.unwrap();
    let elsewhere = folder.path().join("elsewhere");
    let files = files_of(&elsewhere, &storage, None).await;
    assert_eq!(files.read_beginning(sound, 99).await.unwrap(), b"sound");
    files.read_beginning(damaged, 99).await.unwrap_err();
    assert_eq!(storage.contents().await.unwrap(), [content]);
}

/// A place whose contents are stored once the test lets them.
#[derive(Debug)]
struct Gated {
    inner: ObjectContents,
    has_begun: Notify,
    may_go: Notify,
    has_ended: Notify,
}

#[async_trait]
impl SharedContents for Gated {
    async fn put(
        &self,
        content: SharedContent,
        digest: &FileDigest,
        chunks: BoxStream<'static, io::Result<Bytes>>,
    ) -> io::Result<()> {
        self.has_begun.notify_one();
        self.may_go.notified().await;
        let put = self.inner.put(content, digest, chunks).await;
        if content.form == SharedForm::Picture {
            self.has_ended.notify_one();
        }
        put
    }

    async fn get(&self, content: SharedContent) -> io::Result<SharedReader<'_>> {
        self.inner.get(content).await
    }

    async fn delete(&self, location: FileLocation) -> io::Result<()> {
        let deleted = self.inner.delete(location).await;
        self.has_ended.notify_one();
        deleted
    }

    async fn list(&self) -> io::Result<Vec<SharedContent>> {
        self.inner.list().await
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_nothing_and_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let gated = Arc::new(Gated {
        inner: ObjectContents::in_memory(),
        has_begun: Notify::new(),
        may_go: Notify::new(),
        has_ended: Notify::new(),
    });
    let contents = Contents::open(folder.path(), Some(gated.clone())).unwrap();
    let (kept, cut) = (new_location(), new_location());
    gated.may_go.notify_one();
    write(&contents, kept, ContentForm::Original, b"a chart").await;
    gated.has_begun.notified().await;
    for (location, form) in [(kept, ContentForm::Picture), (cut, ContentForm::Original)] {
        let contents = contents.clone();
        let caller = tokio::spawn(async move { write(&contents, location, form, b"cut off").await });
        gated.has_begun.notified().await;
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        gated.may_go.notify_one();
        gated.has_ended.notified().await;
        tokio::task::yield_now().await;
    }
    let listed = gated.list().await.unwrap();
    let is_original_of = |location| {
        listed
            .iter()
            .any(|content| content.location == location && content.form == SharedForm::Original)
    };
    assert!(is_original_of(kept) && !is_original_of(cut), "{listed:?}");
}
