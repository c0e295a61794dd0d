//! Model servers that were added in the page.

use super::{accounts::make_accounts, hand_over::delete_user, *};
use crate::{
    audit::AuditAction,
    endpoints::{EndpointChange, EndpointValues, SealedKey, StoredEndpoint},
};
use parlor_protocol::{EndpointId, EndpointKind};

fn endpoint(name: &str) -> StoredEndpoint {
    StoredEndpoint {
        id: EndpointId::new(),
        owner: None,
        name: name.into(),
        kind: EndpointKind::Anthropic,
        base_url: "https://models.example".into(),
        key: Some(SealedKey(vec![1, 2])),
        models: vec!["one".into()],
        hidden_models: vec!["<b>two</b>".into()],
        is_enabled: true,
        takes_own_keys: false,
        created_at: NOON,
        updated_by: TEST_USER,
        updated_at: NOON,
    }
}

fn by(user_id: UserId, change: EndpointChange) -> Change {
    Change::Endpoint { by: user_id, change }
}

fn add(endpoint: &StoredEndpoint) -> Change {
    let endpoint = endpoint.clone();
    by(TEST_USER, EndpointChange::Add { endpoint, limit: 2 })
}

fn update(id: EndpointId, values: EndpointValues) -> Change {
    by(
        other_user(),
        EndpointChange::Update {
            id,
            owner: None,
            values,
        },
    )
}

fn remove(endpoint: &StoredEndpoint) -> Change {
    by(
        TEST_USER,
        EndpointChange::Remove {
            id: endpoint.id,
            owner: endpoint.owner,
        },
    )
}

pub async fn an_endpoint_exists_until_it_is_removed(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let (one, two) = (endpoint("one"), endpoint("two"));
    for added in [&one, &two] {
        assert_eq!(commit_one(&*storage, &add(added)).await, Ok(Outcome::Done));
    }
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    assert_eq!(storage.endpoints(None).await.unwrap(), [one.clone(), two.clone()]);
    assert_eq!(storage.endpoints(Some(TEST_USER)).await.unwrap(), []);

    assert_eq!(
        commit_one(&*storage, &remove(&one)).await,
        Ok(Outcome::DataDeleted)
    );
    assert_eq!(
        commit_one(&*storage, &remove(&one)).await,
        Err(ChangeRejection::NotFound)
    );
    assert_eq!(storage.endpoints(None).await.unwrap(), [two]);

    let log: Vec<_> = storage.audit_log(None, 3).await.unwrap();
    let log: Vec<_> = log
        .iter()
        .map(|entry| (&*entry.name, entry.action, &*entry.about))
        .collect();
    let entry = |action, about| ("ann", action, about);
    assert_eq!(
        log,
        [
            entry(AuditAction::EndpointRemoved, "one"),
            entry(AuditAction::EndpointAdded, "two"),
            entry(AuditAction::EndpointAdded, "one"),
        ]
    );
    for user in [TEST_USER, other_user()] {
        let events = read_log(&*storage, user).await;
        let changes = events
            .iter()
            .filter(|event| event.body == EventBody::User(UserEvent::ModelsChanged));
        assert_eq!(changes.count(), 3, "everybody is told");
    }
}

pub async fn an_endpoint_is_added_once(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let one = endpoint("one");
    commit_one(&*storage, &add(&one)).await.unwrap();
    let rejected = async |endpoint: &StoredEndpoint| commit_one(&*storage, &add(endpoint)).await.unwrap_err();
    assert_eq!(rejected(&one).await, ChangeRejection::IntentReused);
    assert_eq!(
        rejected(&endpoint("one")).await,
        ChangeRejection::EndpointNameTaken
    );
    commit_one(&*storage, &add(&endpoint("two"))).await.unwrap();
    assert_eq!(rejected(&endpoint("three")).await, ChangeRejection::EndpointsFull);
}

pub async fn only_given_values_change(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let mut one = endpoint("one");
    commit_one(&*storage, &add(&one)).await.unwrap();
    let values = EndpointValues {
        is_enabled: Some(false),
        takes_own_keys: Some(true),
        hidden_models: Some(Vec::new()),
        ..EndpointValues::default()
    };
    assert_eq!(
        commit_one(&*storage, &update(one.id, values)).await,
        Ok(Outcome::Done)
    );
    one = StoredEndpoint {
        is_enabled: false,
        takes_own_keys: true,
        hidden_models: Vec::new(),
        updated_by: other_user(),
        ..one
    };
    assert_eq!(storage.endpoints(None).await.unwrap(), [one.clone()]);

    let reseal = |from: &[u8]| {
        let (from, to) = (SealedKey(from.to_vec()), SealedKey(vec![3]));
        by(TEST_USER, EndpointChange::Reseal { id: one.id, from, to })
    };
    commit_one(&*storage, &reseal(&[9])).await.unwrap();
    assert_eq!(storage.endpoints(None).await.unwrap(), [one.clone()]);
    commit_one(&*storage, &reseal(&[1, 2])).await.unwrap();
    let resealed = storage.endpoints(None).await.unwrap();
    assert_eq!(resealed[0].key, Some(SealedKey(vec![3])));

    let values = EndpointValues {
        kind: Some(EndpointKind::Gemini),
        base_url: Some("https://other.example".into()),
        key: Some(None),
        models: Some(vec!["three".into()]),
        ..EndpointValues::default()
    };
    assert_eq!(
        commit_one(&*storage, &update(one.id, values)).await,
        Ok(Outcome::DataDeleted)
    );
    one = StoredEndpoint {
        kind: EndpointKind::Gemini,
        base_url: "https://other.example".into(),
        key: None,
        models: vec!["three".into()],
        ..one
    };
    assert_eq!(storage.endpoints(None).await.unwrap(), [one]);
    let missing = update(EndpointId::new(), EndpointValues::default());
    assert_eq!(
        commit_one(&*storage, &missing).await,
        Err(ChangeRejection::NotFound)
    );
}

pub async fn an_own_endpoint_is_its_owners_alone(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let own = |owner: UserId| StoredEndpoint {
        owner: Some(owner),
        updated_by: owner,
        ..endpoint("one")
    };
    let (mine, others) = (own(TEST_USER), own(other_user()));
    let before = read_log(&*storage, other_user()).await.len();
    commit_one(&*storage, &add(&mine)).await.unwrap();
    assert_eq!(
        read_log(&*storage, other_user()).await.len(),
        before,
        "nobody else is told"
    );
    commit_one(&*storage, &add(&others)).await.unwrap();
    commit_one(&*storage, &add(&endpoint("one"))).await.unwrap();
    assert_eq!(
        storage.endpoints(Some(TEST_USER)).await.unwrap(),
        std::slice::from_ref(&mine)
    );
    assert_eq!(
        storage.own_endpoints().await.unwrap(),
        [mine.clone(), others.clone()]
    );

    let values = EndpointValues {
        key: Some(None),
        ..EndpointValues::default()
    };
    for change in [
        EndpointChange::Update {
            id: others.id,
            owner: Some(TEST_USER),
            values: values.clone(),
        },
        EndpointChange::Update {
            id: others.id,
            owner: None,
            values,
        },
        EndpointChange::Remove {
            id: others.id,
            owner: Some(TEST_USER),
        },
        EndpointChange::Remove {
            id: others.id,
            owner: None,
        },
    ] {
        let refused = commit_one(&*storage, &by(TEST_USER, change)).await;
        assert_eq!(refused, Err(ChangeRejection::NotFound));
    }
    delete_user(&*storage, other_user(), None).await.unwrap();
    assert_eq!(storage.own_endpoints().await.unwrap(), [mine]);
}

pub async fn own_keys_are_forbidden_until_they_are_allowed(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    assert!(!storage.allows_own_keys().await.unwrap());
    for is_allowed in [true, true, false, true] {
        let change = by(TEST_USER, EndpointChange::AllowOwnKeys { is_allowed });
        commit_one(&*storage, &change).await.unwrap();
        assert_eq!(storage.allows_own_keys().await.unwrap(), is_allowed);
    }
    drop(storage);
    assert!(
        open_storage(backend, &folder)
            .await
            .allows_own_keys()
            .await
            .unwrap()
    );
}
