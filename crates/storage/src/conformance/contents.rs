//! Contents of files in the database: whole or not at all, by owner, gone when deleted.

use futures::stream;

use super::{files::image_file, *};
use crate::contents::{CONTENT_PART_BYTES, StoredContent};

fn content(user_id: UserId, form: &str, bytes: u64) -> StoredContent {
    StoredContent {
        location: image_file(user_id, ConversationId::new()).location,
        form: form.into(),
        bytes,
        sha256: "5feceb66".into(),
        created_at: Timestamp(7),
    }
}

async fn store(
    storage: &dyn Storage,
    content: &StoredContent,
    parts: Vec<std::io::Result<Vec<u8>>>,
) -> Result<(), StorageError> {
    storage
        .store_content(content, Box::pin(stream::iter(parts)))
        .await
}

async fn part(storage: &dyn Storage, content: &StoredContent, part: u64) -> Option<Vec<u8>> {
    let found = storage.content_part(content.location, &content.form, part);
    found.await.unwrap()
}

pub async fn a_content_is_stored_whole_or_not_at_all(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let whole = content(TEST_USER, "original", 2 + CONTENT_PART_BYTES as u64);
    let first = vec![0; CONTENT_PART_BYTES];
    store(storage, &whole, vec![Ok(first.clone()), Ok(vec![1, 2])])
        .await
        .unwrap();
    let found = storage.content(whole.location, "original").await.unwrap();
    assert_eq!(found.as_ref(), Some(&whole));
    assert_eq!(part(storage, &whole, 0).await, Some(first));
    assert_eq!(part(storage, &whole, 1).await, Some(vec![1, 2]));
    assert_eq!(part(storage, &whole, 2).await, None);

    let cut = content(TEST_USER, "original", 9);
    let failed = std::io::Error::other("the disk");
    store(storage, &cut, vec![Ok(vec![1]), Err(failed)])
        .await
        .unwrap_err();
    assert_eq!(storage.content(cut.location, "original").await.unwrap(), None);
    assert_eq!(part(storage, &cut, 0).await, None);

    // One that is stored again has no part of the earlier one.
    let shorter = StoredContent {
        bytes: 1,
        ..whole.clone()
    };
    store(storage, &shorter, vec![Ok(vec![3])]).await.unwrap();
    assert_eq!(part(storage, &whole, 0).await, Some(vec![3]));
    assert_eq!(part(storage, &whole, 1).await, None);
    assert_eq!(storage.contents().await.unwrap(), [shorter]);
}

pub async fn a_content_belongs_to_its_user_and_is_deleted_in_all_forms(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let original = content(TEST_USER, "original", 1);
    let prepared = StoredContent {
        form: "prepared".into(),
        ..original.clone()
    };
    let kept = content(other_user(), "original", 1);
    for content in [&original, &prepared, &kept] {
        store(storage, content, vec![Ok(vec![1])]).await.unwrap();
    }
    let of_another = FileLocation {
        user_id: other_user(),
        ..original.location
    };
    assert_eq!(storage.content(of_another, "original").await.unwrap(), None);
    assert_eq!(
        storage.content_part(of_another, "original", 0).await.unwrap(),
        None
    );
    storage.delete_content(of_another).await.unwrap();
    assert_eq!(storage.contents().await.unwrap().len(), 3);

    storage.delete_content(original.location).await.unwrap();
    storage.delete_content(original.location).await.unwrap();
    assert_eq!(storage.contents().await.unwrap(), [kept]);
    assert_eq!(part(storage, &prepared, 0).await, None);
}
