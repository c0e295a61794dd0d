//! Data that is damaged, missing, locked or accessible to other system users.

use std::{
    fs,
    io::{Seek, SeekFrom, Write},
};

use tokio_util::sync::CancellationToken;

use super::*;
use crate::data_folder::lock_folder;

const WAL_FILE_NAME: &str = "parlor.db-wal";

/// Opens data that another connection of this process may still be closing.
async fn open_when_unlocked(folder: &Path) -> Result<SqliteStorage, StorageError> {
    loop {
        match SqliteStorage::open(folder).await {
            Err(StorageError::InUse) => tokio::task::yield_now().await,
            opened => return opened,
        }
    }
}

/// Returns a folder with data, all of it in the database's file.
async fn closed_data_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    for _ in 0..20 {
        storage
            .commit(NOON, &[send_change(&"x".repeat(20_000)).0])
            .await
            .unwrap();
    }
    storage.close().await.unwrap();
    drop(storage);
    // The last connection deletes the file on its own thread.
    while folder.path().join("parlor.db-shm").exists() {
        tokio::task::yield_now().await;
    }
    folder
}

#[tokio::test]
async fn damage_check_finds_zeroed_pages() {
    let folder = closed_data_folder().await;
    let file = folder.path().join(DATABASE_FILE_NAME);
    let storage = open_when_unlocked(folder.path()).await.unwrap();
    assert_eq!(
        storage.find_damage(CancellationToken::new()).await.unwrap(),
        [""; 0]
    );
    drop(storage);

    let length = fs::metadata(&file).unwrap().len();
    let mut opened = fs::File::options().write(true).open(&file).unwrap();
    opened.seek(SeekFrom::Start(length / 2)).unwrap();
    opened
        .write_all(&vec![0; usize::try_from(length / 2).unwrap()])
        .unwrap();
    let storage = open_when_unlocked(folder.path()).await.unwrap();
    assert_ne!(
        storage.find_damage(CancellationToken::new()).await.unwrap(),
        [""; 0]
    );
    let stop = CancellationToken::new();
    stop.cancel();
    assert_eq!(storage.find_damage(stop).await.unwrap(), [""; 0], "it is stopped");
}

#[tokio::test]
async fn damage_check_covers_tables_and_indexes() {
    let folder = closed_data_folder().await;
    let file = folder.path().join(DATABASE_FILE_NAME);
    let options = SqliteConnectOptions::new().filename(&file);
    let sound = fs::read(&file).unwrap();
    let mut connection = options.connect().await.unwrap();
    let pages: Vec<(String, i64)> =
        sqlx::query_as("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0")
            .fetch_all(&mut connection)
            .await
            .unwrap();
    let size: i64 = sqlx::query_scalar("PRAGMA page_size")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    let size = usize::try_from(size).unwrap();
    for (name, page) in pages {
        let mut damaged = sound.clone();
        let at = (usize::try_from(page).unwrap() - 1) * size;
        damaged[at..at + size].fill(0);
        fs::write(&file, damaged).unwrap();
        let found = damage_check::find_damage(&options, CancellationToken::new())
            .await
            .unwrap();
        assert_ne!(found, [""; 0], "{name}");
    }
}

#[tokio::test]
async fn a_truncated_database_does_not_open() {
    let folder = closed_data_folder().await;
    let file = folder.path().join(DATABASE_FILE_NAME);
    let length = fs::metadata(&file).unwrap().len();
    let cut = fs::File::options().write(true).open(&file).unwrap();
    cut.set_len(length / 2).unwrap();
    let left = fs::read(&file).unwrap();
    let opened = open_when_unlocked(folder.path()).await.map(drop);
    assert!(matches!(opened, Err(StorageError::Damaged(_))), "{opened:?}");
    assert_eq!(fs::read(&file).unwrap(), left);
}

#[tokio::test]
async fn distinguishes_an_emptied_database_from_a_new_one() {
    for (files, is_told) in [
        (&[][..], false),
        (&["parlor.lock"], true),
        (&["parlor.db.bak"], true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(DATABASE_FILE_NAME), "").unwrap();
        for file in files {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let storage = SqliteStorage::open(folder.path()).await.unwrap();
        assert_eq!(storage.lacks_earlier_data(), is_told, "{files:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(
        !SqliteStorage::open(folder.path())
            .await
            .unwrap()
            .lacks_earlier_data()
    );
}

#[tokio::test]
async fn notices_a_missing_database() {
    let folder = closed_data_folder().await;
    fs::remove_file(folder.path().join(DATABASE_FILE_NAME)).unwrap();
    let storage = open_when_unlocked(folder.path()).await.unwrap();
    assert!(storage.lacks_earlier_data());
    drop(storage);
    let storage = open_when_unlocked(folder.path()).await.unwrap();
    assert!(!storage.lacks_earlier_data());
    assert!(keep_files_marker(folder.path()).is_some(), "later starts know it");
    drop(storage);
    // The files of users show it too.
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("files")).unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    assert!(storage.lacks_earlier_data());
    drop(storage);
    // The first start could lock the folder and not create the database.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("parlor.lock"), "").unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    assert!(!storage.lacks_earlier_data());
}

#[tokio::test]
async fn an_empty_database_keeps_its_wal() {
    for is_there in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        if is_there {
            fs::write(folder.path().join(DATABASE_FILE_NAME), "").unwrap();
        }
        fs::write(folder.path().join(WAL_FILE_NAME), "committed").unwrap();
        let opened = SqliteStorage::open(folder.path()).await.map(drop);
        assert!(
            matches!(opened, Err(StorageError::EmptyDatabase(_))),
            "{opened:?}"
        );
        assert_eq!(fs::read(folder.path().join(WAL_FILE_NAME)).unwrap(), b"committed");
    }
}

#[tokio::test]
async fn data_stays_locked_without_the_lock_file() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    fs::remove_file(folder.path().join("parlor.lock")).unwrap();
    let second = SqliteStorage::open(folder.path()).await.map(drop);
    assert!(matches!(second, Err(StorageError::InUse)), "{second:?}");
    drop(storage);
}

#[tokio::test]
async fn closed_storage_releases_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    // Another task still holds the storage.
    let held = storage.clone();
    storage.close().await.unwrap();
    let next = SqliteStorage::open(folder.path()).await.unwrap();
    let late = held.commit(NOON, &[send_change("late").0]).await.map(drop);
    assert!(matches!(late, Err(StorageError::Closed)), "{late:?}");
    drop(next);
}

#[test]
fn folder_is_unlocked_despite_a_forked_process() {
    let folder = tempfile::tempdir().unwrap();
    let lock = lock_folder(folder.path(), false).unwrap();
    // A process that has just been forked has the same files open.
    let inherited = lock.duplicate_files();
    drop(lock);
    lock_folder(folder.path(), false).unwrap();
    drop(inherited);
}

#[cfg(unix)]
#[tokio::test]
async fn other_system_users_cannot_open_the_data() {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let folder = closed_data_folder().await;
    drop(open_when_unlocked(folder.path()).await.unwrap());
    set(folder.path(), 0o755);
    for entry in fs::read_dir(folder.path()).unwrap() {
        set(&entry.unwrap().path(), 0o644);
    }
    let storage = open_when_unlocked(folder.path()).await.unwrap();
    storage.commit(NOON, &[send_change("hello").0]).await.unwrap();
    assert_eq!(mode(folder.path()), 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(mode(&path), 0o600, "{name}");
        names.push(name);
    }
    assert!(names.contains(&WAL_FILE_NAME.to_owned()), "{names:?}");

    // A shared folder keeps its permissions, however often it is used.
    let shared = tempfile::tempdir().unwrap();
    let notes = shared.path().join("notes.txt");
    set(shared.path(), 0o755);
    fs::write(&notes, "").unwrap();
    set(&notes, 0o644);
    for _ in 0..2 {
        drop(open_when_unlocked(shared.path()).await.unwrap());
        assert_eq!((mode(shared.path()), mode(&notes)), (0o755, 0o644));
        assert_eq!(mode(&shared.path().join(DATABASE_FILE_NAME)), 0o600);
    }
}
