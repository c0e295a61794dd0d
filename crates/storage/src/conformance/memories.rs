//! Memories of a user across conversations.

use super::{
    accounts::make_accounts,
    hand_over::delete_user,
    projects::{save, saved, turn_in},
    *,
};
use parlor_protocol::{ProjectConversations, ProjectId};

fn add_memory(user_id: UserId, text: &str) -> Change {
    Change::Personal {
        user_id,
        change: PersonalChange::AddMemory {
            memory: Memory {
                id: MemoryId::new(),
                text: text.into(),
                created_at: NOON,
            },
            project_id: None,
            limit: 3,
        },
    }
}

/// Returns the memories of a user, newest first.
async fn memory_texts(storage: &dyn Storage, user_id: UserId) -> Vec<String> {
    let memories = storage.memories(user_id).await.expect("storage works");
    memories.into_iter().map(|memory| memory.text).collect()
}

pub async fn a_memory_exists_until_deleted(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    for text in ["likes tea", "has a dog", "likes tea"] {
        assert_eq!(
            commit_one(&*storage, &add_memory(TEST_USER, text)).await,
            Ok(Outcome::Done),
            "{text}"
        );
    }
    assert_eq!(
        memory_texts(&*storage, TEST_USER).await,
        ["has a dog", "likes tea"],
        "a duplicate is stored once"
    );
    let log = read_log(&*storage, TEST_USER).await;
    assert!(
        log.len() == 2
            && log
                .iter()
                .all(|event| event.body == EventBody::User(UserEvent::SettingsChanged)),
        "that something has changed is said, and not what: {log:?}"
    );
    drop(storage);

    let storage = open_storage(backend, &folder).await;
    let [dog, tea] = &storage.memories(TEST_USER).await.unwrap()[..] else {
        panic!("both are there after a restart")
    };
    assert_eq!(tea.created_at, NOON);
    let forget = |memory_id| Change::Personal {
        user_id: TEST_USER,
        change: PersonalChange::DeleteMemory { memory_id },
    };
    assert_eq!(
        commit_one(&*storage, &forget(tea.id)).await,
        Ok(Outcome::DataDeleted)
    );
    assert_eq!(
        commit_one(&*storage, &forget(tea.id)).await,
        Err(ChangeRejection::NotFound)
    );
    assert_eq!(
        storage.memories(TEST_USER).await.unwrap(),
        std::slice::from_ref(dog)
    );
}

pub async fn deleting_a_memory_makes_room_for_another(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    for text in ["one", "two", "three"] {
        commit_one(&*storage, &add_memory(TEST_USER, text)).await.unwrap();
    }
    let four = add_memory(TEST_USER, "four");
    assert_eq!(
        commit_one(&*storage, &four).await,
        Err(ChangeRejection::MemoryFull)
    );
    assert_eq!(
        commit_one(&*storage, &add_memory(TEST_USER, "two")).await,
        Ok(Outcome::Done),
        "it is stored already"
    );
    let oldest = storage.memories(TEST_USER).await.unwrap().pop().expect("one");
    let forget = Change::Personal {
        user_id: TEST_USER,
        change: PersonalChange::DeleteMemory { memory_id: oldest.id },
    };
    commit_one(&*storage, &forget).await.unwrap();
    commit_one(&*storage, &four).await.unwrap();
    assert_eq!(memory_texts(&*storage, TEST_USER).await, ["four", "three", "two"]);
}

pub async fn memories_are_separate_per_user(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    commit_one(&*storage, &add_memory(TEST_USER, "a secret"))
        .await
        .unwrap();
    commit_one(&*storage, &add_memory(other_user(), "another"))
        .await
        .unwrap();
    let anns = storage.memories(TEST_USER).await.unwrap().pop().expect("one");
    let theft = Change::Personal {
        user_id: other_user(),
        change: PersonalChange::DeleteMemory { memory_id: anns.id },
    };
    assert_eq!(
        commit_one(&*storage, &theft).await,
        Err(ChangeRejection::NotFound)
    );
    assert_eq!(memory_texts(&*storage, TEST_USER).await, ["a secret"]);
    assert_eq!(memory_texts(&*storage, other_user()).await, ["another"]);
}

pub async fn deletes_all_memories_and_restores_one_in_place(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    for text in ["one", "two", "three"] {
        commit_one(&*storage, &add_memory(TEST_USER, text)).await.unwrap();
    }
    commit_one(&*storage, &add_memory(other_user(), "another"))
        .await
        .unwrap();
    let two = storage.memories(TEST_USER).await.unwrap().swap_remove(1);
    let forget = Change::Personal {
        user_id: TEST_USER,
        change: PersonalChange::DeleteMemory { memory_id: two.id },
    };
    commit_one(&*storage, &forget).await.unwrap();
    let restore = Change::Personal {
        user_id: TEST_USER,
        change: PersonalChange::AddMemory {
            memory: two,
            project_id: None,
            limit: 3,
        },
    };
    for _ in 0..2 {
        assert_eq!(commit_one(&*storage, &restore).await, Ok(Outcome::Done));
    }
    assert_eq!(memory_texts(&*storage, TEST_USER).await, ["three", "two", "one"]);

    let all = Change::Personal {
        user_id: TEST_USER,
        change: PersonalChange::DeleteAllMemories { project_id: None },
    };
    assert_eq!(commit_one(&*storage, &all).await, Ok(Outcome::DataDeleted));
    assert_eq!(
        commit_one(&*storage, &all).await,
        Ok(Outcome::Done),
        "no memory is left"
    );
    assert_eq!(memory_texts(&*storage, TEST_USER).await, [""; 0]);
    assert_eq!(memory_texts(&*storage, other_user()).await, ["another"]);
}

pub fn of_project(project_id: ProjectId, text: &str) -> Change {
    Change::Personal {
        user_id: TEST_USER,
        change: PersonalChange::AddMemory {
            memory: Memory {
                id: MemoryId::new(),
                text: text.into(),
                created_at: NOON,
            },
            project_id: Some(project_id),
            limit: 2,
        },
    }
}

/// Returns the memories that a conversation is given, newest first.
async fn given(storage: &dyn Storage, user_id: UserId, id: ConversationId) -> Vec<(String, bool)> {
    let given = storage.memories_for(user_id, id).await.unwrap().into_iter();
    given
        .map(|given| (given.memory.text, given.is_of_project))
        .collect()
}

pub async fn memories_of_a_project_are_its_conversations_alone(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let (garden, trip) = (
        saved(storage, projects::garden()).await,
        saved(storage, projects::garden()).await,
    );
    let inside = turn_in(TEST_USER, garden, "Plan");
    let elsewhere = new_turn(TEST_USER, ConversationId::new(), "Hi");
    for change in [
        &inside.change,
        &elsewhere.change,
        &add_memory(TEST_USER, "likes tea"),
        &of_project(garden, "bed 3 has roses"),
        &of_project(garden, "bed 3 has roses"),
        &of_project(trip, "to Rome"),
    ] {
        commit_one(storage, change).await.unwrap();
    }
    let (inside, elsewhere) = (inside.run.conversation_id, elsewhere.run.conversation_id);
    assert_eq!(
        given(storage, TEST_USER, inside).await,
        [("bed 3 has roses".into(), true), ("likes tea".into(), false)]
    );
    assert_eq!(
        given(storage, TEST_USER, elsewhere).await,
        [("likes tea".into(), false)]
    );
    assert_eq!(given(storage, other_user(), inside).await, []);
    assert_eq!(memory_texts(storage, TEST_USER).await, ["likes tea"]);
    assert_eq!(storage.project_memories(other_user(), garden).await.unwrap(), []);
    // Another's project takes none, and each has a limit of its own.
    commit_one(storage, &of_project(garden, "two")).await.unwrap();
    let third = commit_one(storage, &of_project(garden, "three")).await;
    assert_eq!(third, Err(ChangeRejection::MemoryFull));
    let unknown = commit_one(storage, &of_project(ProjectId::new(), "x")).await;
    assert_eq!(unknown, Err(ChangeRejection::ProjectNotFound));

    let of_garden = storage.project_memories(TEST_USER, garden).await.unwrap();
    let [two, roses] = &of_garden[..] else {
        panic!("{of_garden:?}");
    };
    let personal = |user_id, change| Change::Personal { user_id, change };
    let edit = PersonalChange::EditMemory {
        memory_id: roses.id,
        text: "bed 3 has tulips".into(),
    };
    let refused = commit_one(storage, &personal(other_user(), edit.clone())).await;
    assert_eq!(refused, Err(ChangeRejection::NotFound));
    assert_eq!(
        commit_one(storage, &personal(TEST_USER, edit)).await,
        Ok(Outcome::DataDeleted)
    );
    let memory_id = two.id;
    commit_one(
        storage,
        &personal(TEST_USER, PersonalChange::DeleteMemory { memory_id }),
    )
    .await
    .unwrap();
    // Forgetting everything about the user leaves what projects know.
    let all = PersonalChange::DeleteAllMemories { project_id: None };
    commit_one(storage, &personal(TEST_USER, all)).await.unwrap();
    assert_eq!(
        given(storage, TEST_USER, inside).await,
        [("bed 3 has tulips".into(), true)]
    );
    // They go with their project.
    let delete = projects::delete(TEST_USER, garden, ProjectConversations::Keep);
    commit_one(storage, &delete).await.unwrap();
    assert_eq!(given(storage, TEST_USER, inside).await, []);
    assert_eq!(storage.project_memories(TEST_USER, garden).await.unwrap(), []);
    let all = PersonalChange::DeleteAllMemories {
        project_id: Some(trip),
    };
    commit_one(storage, &personal(TEST_USER, all)).await.unwrap();
    assert_eq!(storage.project_memories(TEST_USER, trip).await.unwrap(), []);
}

pub async fn an_heir_gets_memories_of_projects_only(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    make_accounts(storage).await;
    let (ben, id) = (other_user(), ProjectId::new());
    commit_one(storage, &save(ben, id, projects::garden()))
        .await
        .unwrap();
    let mut decision = of_project(id, "sows in May");
    if let Change::Personal { user_id, .. } = &mut decision {
        *user_id = ben;
    }
    for change in [
        decision,
        add_memory(ben, "likes tea"),
        add_memory(TEST_USER, "has a dog"),
    ] {
        commit_one(storage, &change).await.unwrap();
    }
    delete_user(storage, ben, Some(TEST_USER)).await.unwrap();
    let of_project = storage.project_memories(TEST_USER, id).await.unwrap();
    let texts: Vec<_> = of_project.iter().map(|memory| memory.text.as_str()).collect();
    assert_eq!(texts, ["sows in May"]);
    assert_eq!(
        memory_texts(storage, TEST_USER).await,
        ["has a dog"],
        "not about the former owner"
    );
    let turn = turn_in(TEST_USER, id, "When?");
    commit_one(storage, &turn.change).await.unwrap();
    let given = given(storage, TEST_USER, turn.run.conversation_id).await;
    assert!(given.contains(&("sows in May".into(), true)), "{given:?}");
}
