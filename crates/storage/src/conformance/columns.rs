//! Columns, and the corrections of their cells.

use super::{
    accounts::make_accounts,
    hand_over::delete_user,
    jobs::{finish_step, output, start, start_step},
    *,
};
use crate::{columns::ColumnChange, jobs::JobOutput};
use parlor_protocol::{
    ColumnId, JobId,
    columns::{Column, ColumnQuestion, ColumnSource, ColumnType, Correction},
};

const SOURCE: ColumnSource = ColumnSource::Articles;

fn column(name: &str) -> Column {
    Column {
        id: ColumnId::new(),
        name: name.into(),
        question: ColumnQuestion {
            question: "How much?".into(),
            kind: ColumnType::Number,
            choices: Vec::new(),
            revision: 0,
        },
    }
}

fn change(user_id: UserId, change: ColumnChange) -> Change {
    Change::Column { user_id, change }
}

fn save(user_id: UserId, column: &Column) -> Change {
    let column = column.clone();
    change(
        user_id,
        ColumnChange::Save {
            source: SOURCE,
            column,
            limit: 2,
        },
    )
}

fn correction(column: &Column, row: &str, value: &str, at: i64) -> Correction {
    Correction {
        column_id: column.id,
        row: row.into(),
        value: value.into(),
        corrected_at: Timestamp(at),
    }
}

fn correct(user_id: UserId, correction: &Correction) -> Change {
    let correction = correction.clone();
    change(user_id, ColumnChange::Correct { correction, limit: 2 })
}

async fn read(storage: &dyn Storage, user_id: UserId) -> (Vec<Column>, Vec<Correction>) {
    let columns = storage.columns(user_id, &SOURCE).await.unwrap();
    (columns, storage.corrections(user_id, &SOURCE).await.unwrap())
}

pub async fn columns_and_corrections_are_their_owners_alone(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    make_accounts(storage).await;
    let (first, mut second) = (column("First"), column("Second"));
    for saved in [&first, &second] {
        assert_eq!(
            commit_one(storage, &save(TEST_USER, saved)).await,
            Ok(Outcome::Done)
        );
    }
    let third = save(TEST_USER, &column("Third"));
    assert_eq!(
        commit_one(storage, &third).await,
        Err(ChangeRejection::ColumnsFull)
    );
    second.name = "Changed".into();
    assert_eq!(
        commit_one(storage, &save(TEST_USER, &second)).await,
        Ok(Outcome::DataDeleted)
    );
    let (older, newer) = (correction(&first, "11", "5", 1), correction(&second, "12", "", 2));
    for made in [correction(&first, "11", "4", 1), older.clone(), newer.clone()] {
        commit_one(storage, &correct(TEST_USER, &made)).await.unwrap();
    }
    let mine = (vec![first.clone(), second.clone()], vec![newer.clone(), older]);
    assert_eq!(read(storage, TEST_USER).await, mine);

    let foreign = [
        save(other_user(), &first),
        correct(other_user(), &correction(&first, "11", "6", 3)),
    ];
    for wrong in foreign {
        assert_eq!(commit_one(storage, &wrong).await, Err(ChangeRejection::NotFound));
    }
    let row = "11".to_owned();
    for harmless in [
        ColumnChange::Delete { id: first.id },
        ColumnChange::TakeBack {
            column_id: first.id,
            row: row.clone(),
        },
    ] {
        commit_one(storage, &change(other_user(), harmless))
            .await
            .unwrap();
    }
    assert_eq!(read(storage, TEST_USER).await, mine);
    assert_eq!(read(storage, other_user()).await, (vec![], vec![]));

    commit_one(storage, &correct(TEST_USER, &correction(&first, "12", "1", 4)))
        .await
        .unwrap();
    let full = correct(TEST_USER, &correction(&first, "13", "1", 4));
    assert_eq!(
        commit_one(storage, &full).await,
        Err(ChangeRejection::CorrectionsFull)
    );
    for row in ["11", "12"] {
        let back = ColumnChange::TakeBack {
            column_id: first.id,
            row: row.into(),
        };
        commit_one(storage, &change(TEST_USER, back)).await.unwrap();
    }
    assert_eq!(read(storage, TEST_USER).await.1, [newer]);
    let delete = ColumnChange::Delete { id: second.id };
    commit_one(storage, &change(TEST_USER, delete)).await.unwrap();
    assert_eq!(read(storage, TEST_USER).await, (vec![first.clone()], vec![]));

    commit_one(storage, &save(other_user(), &second)).await.unwrap();
    let outcome = delete_user(storage, other_user(), Some(TEST_USER)).await;
    assert_eq!(outcome, Ok(Outcome::DataDeleted));
    assert_eq!(
        read(storage, TEST_USER).await.0,
        [first, second],
        "an heir has both"
    );
}

pub async fn a_deleted_column_leaves_no_cells(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let (deleted, kept) = (column("Deleted"), column("Kept"));
    let job = JobId::new();
    commit_one(storage, &start(job)).await.unwrap();
    let keys = [&deleted, &kept].map(|column| format!("cell/{}/11", column.id));
    for column in [&deleted, &kept] {
        commit_one(storage, &save(TEST_USER, column)).await.unwrap();
    }
    for key in &keys {
        for step in [start_step(key), finish_step(key, Ok("2"))] {
            commit_one(storage, &output(job, 1, step)).await.unwrap();
        }
    }
    let jobs = storage.jobs_of_input(TEST_USER, "count", "{\"to\":3}").await;
    assert_eq!(
        jobs.unwrap().iter().map(|job| job.job.id).collect::<Vec<_>>(),
        [job]
    );
    assert!(
        storage
            .jobs_of_input(TEST_USER, "count", "{}")
            .await
            .unwrap()
            .is_empty()
    );
    let stored = async || {
        let steps = storage.finished_steps(TEST_USER, job, "add").await.unwrap();
        steps.into_iter().map(|step| step.key).collect::<Vec<_>>()
    };
    assert_eq!(stored().await, keys);
    assert!(
        storage
            .finished_steps(TEST_USER, job, "sub")
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        storage
            .finished_steps(other_user(), job, "add")
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        storage
            .job_step(other_user(), job, &keys[0])
            .await
            .unwrap()
            .is_none()
    );
    let end = JobOutput::End {
        status: RunStatus::Complete,
        error: None,
        result: Some("3".into()),
    };
    commit_one(storage, &output(job, 1, end)).await.unwrap();
    let delete = ColumnChange::Delete { id: deleted.id };
    commit_one(storage, &change(TEST_USER, delete)).await.unwrap();
    assert_eq!(stored().await, keys[1..]);
    let step = storage.job_step(TEST_USER, job, &keys[1]).await.unwrap();
    assert_eq!(step.and_then(|step| step.output).as_deref(), Some("2"));
}
