//! What is remembered of a person, across conversations.

use super::*;

fn remember(user_id: UserId, text: &str) -> Change {
    Change::Remember {
        user_id,
        memory: Memory {
            id: MemoryId::new(),
            text: text.into(),
            created_at: NOON,
        },
        limit: 3,
    }
}

/// What is remembered of somebody, newest first.
async fn remembered(storage: &dyn Storage, user_id: UserId) -> Vec<String> {
    let memories = storage.memories(user_id).await.expect("storage works");
    memories.into_iter().map(|memory| memory.text).collect()
}

#[tokio::test]
async fn what_is_remembered_is_there_until_it_is_forgotten() {
    let (folder, storage) = sqlite().await;
    for text in ["likes tea", "has a dog", "likes tea"] {
        assert_eq!(
            do_one(&*storage, &remember(ANN, text)).await,
            Ok(Outcome::Done),
            "{text}"
        );
    }
    assert_eq!(
        remembered(&*storage, ANN).await,
        ["has a dog", "likes tea"],
        "the same twice is once"
    );
    let log = log(&*storage, ANN).await;
    assert!(
        log.len() == 2 && log.iter().all(|event| event.body == EventBody::SettingsChanged),
        "that something has changed is said, and not what: {log:?}"
    );
    drop(storage);

    let storage = sqlite::Sqlite::open(folder.path())
        .await
        .expect("the same database");
    let [dog, tea] = &storage.memories(ANN).await.unwrap()[..] else {
        panic!("both are there after a restart")
    };
    assert_eq!(tea.created_at, NOON);
    let forget = |memory_id| Change::Forget {
        user_id: ANN,
        memory_id,
    };
    assert_eq!(do_one(&storage, &forget(tea.id)).await, Ok(Outcome::Forgotten));
    assert_eq!(do_one(&storage, &forget(tea.id)).await, Err(Refusal::NotFound));
    assert_eq!(storage.memories(ANN).await.unwrap(), std::slice::from_ref(dog));
}

#[tokio::test]
async fn there_is_room_for_so_many_and_for_a_new_one_once_one_is_forgotten() {
    let (_folder, storage) = sqlite().await;
    for text in ["one", "two", "three"] {
        do_one(&*storage, &remember(ANN, text)).await.unwrap();
    }
    let four = remember(ANN, "four");
    assert_eq!(do_one(&*storage, &four).await, Err(Refusal::MemoryFull));
    assert_eq!(
        do_one(&*storage, &remember(ANN, "two")).await,
        Ok(Outcome::Done),
        "it is remembered already"
    );
    let oldest = storage.memories(ANN).await.unwrap().pop().expect("one");
    let forget = Change::Forget {
        user_id: ANN,
        memory_id: oldest.id,
    };
    do_one(&*storage, &forget).await.unwrap();
    do_one(&*storage, &four).await.unwrap();
    assert_eq!(remembered(&*storage, ANN).await, ["four", "three", "two"]);
}

#[tokio::test]
async fn what_is_remembered_of_one_person_is_nothing_to_another() {
    let (_folder, storage) = sqlite().await;
    do_one(&*storage, &remember(ANN, "a secret")).await.unwrap();
    do_one(&*storage, &remember(bob(), "another")).await.unwrap();
    let anns = storage.memories(ANN).await.unwrap().pop().expect("one");
    let theft = Change::Forget {
        user_id: bob(),
        memory_id: anns.id,
    };
    assert_eq!(do_one(&*storage, &theft).await, Err(Refusal::NotFound));
    assert_eq!(remembered(&*storage, ANN).await, ["a secret"]);
    assert_eq!(remembered(&*storage, bob()).await, ["another"]);
}

#[tokio::test]
async fn all_can_be_forgotten_and_one_be_put_back_in_its_place() {
    let (_folder, storage) = sqlite().await;
    for text in ["one", "two", "three"] {
        do_one(&*storage, &remember(ANN, text)).await.unwrap();
    }
    do_one(&*storage, &remember(bob(), "another")).await.unwrap();
    let two = storage.memories(ANN).await.unwrap().swap_remove(1);
    let forget = Change::Forget {
        user_id: ANN,
        memory_id: two.id,
    };
    do_one(&*storage, &forget).await.unwrap();
    let restore = Change::Remember {
        user_id: ANN,
        memory: two,
        limit: 3,
    };
    for _ in 0..2 {
        assert_eq!(do_one(&*storage, &restore).await, Ok(Outcome::Done));
    }
    assert_eq!(remembered(&*storage, ANN).await, ["three", "two", "one"]);

    let all = Change::ForgetAll { user_id: ANN };
    assert_eq!(do_one(&*storage, &all).await, Ok(Outcome::Forgotten));
    assert_eq!(
        do_one(&*storage, &all).await,
        Ok(Outcome::Done),
        "there is nothing left"
    );
    assert_eq!(remembered(&*storage, ANN).await, [""; 0]);
    assert_eq!(remembered(&*storage, bob()).await, ["another"]);
}
