//! Columns, and the corrections of their cells.

use std::slice;

use super::{
    accounts::make_accounts,
    files::{upload, upload_by},
    hand_over::delete_user,
    jobs::{change as job_change, finish_step, output, start, start_step},
    *,
};
use crate::{
    columns::ColumnChange,
    jobs::{JobChange, JobLimits, JobOutput, NewJob},
};
use parlor_protocol::{
    ColumnId, JobId, RawJson,
    columns::{Column, ColumnQuestion, ColumnSource, ColumnType, ColumnsInput, Correction},
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

fn save_in(source: &ColumnSource, column: &Column) -> Change {
    let column = column.clone();
    let source = source.clone();
    change(
        TEST_USER,
        ColumnChange::Save {
            source,
            column,
            limit: 2,
        },
    )
}

/// Starts a job that fills the columns of a source.
fn start_filling(id: JobId, source: &ColumnSource) -> Change {
    let source = source.clone();
    let job = NewJob {
        id,
        kind: "columns".into(),
        version: 1,
        title: "Rumpelstilzchen".into(),
        input: serde_json::to_string(&ColumnsInput { source }).unwrap(),
        model: "x/m".into(),
        cost_limit: None,
        fingerprint: String::new(),
    };
    let limits = JobLimits {
        stored: 9,
        running: 9,
    };
    let scheduled = None;
    job_change(
        TEST_USER,
        JobChange::Start {
            job,
            limits,
            scheduled,
        },
    )
}

fn end(status: RunStatus) -> JobOutput {
    JobOutput::End {
        status,
        error: None,
        result: None,
    }
}

/// Returns a table that an answer in progress has made.
async fn store_table(storage: &dyn Storage) -> (TestTurn, ColumnSource) {
    let turn = new_turn(TEST_USER, ConversationId::new(), "Show it");
    let payload = Payload {
        payload_id: "p1".into(),
        kind: "table".into(),
        summary: String::new(),
        data: RawJson::parse_or_quote("{}"),
    };
    let stored = Change::Output {
        run: turn.run,
        output: RunOutput::StorePayload { payload },
    };
    for change in [&turn.change, &stored] {
        commit_one(storage, change).await.unwrap();
    }
    let source = ColumnSource::payload(turn.run.conversation_id, "p1");
    (turn, source)
}

pub async fn deleted_tables_leave_no_columns(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let (first, table) = store_table(storage).await;
    let (second, unshown) = store_table(storage).await;
    let file = upload(storage, ConversationId::new()).await;
    let id = file.attachment.id;
    let delete_conversation = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: first.run.conversation_id,
        change: ConversationChange::Delete,
    };
    let delete_file = Change::File(FileChange::DeleteUpload {
        user_id: TEST_USER,
        id,
    });
    // The message does not show the table.
    let end_answer = end_run(second.run, "Nothing");
    for (source, delete) in [
        (table, delete_conversation),
        (unshown, end_answer),
        (ColumnSource::File(id), delete_file),
    ] {
        let (lost, job) = (column("Lost"), JobId::new());
        for change in [
            save_in(&source, &lost),
            correct(TEST_USER, &correction(&lost, "1", "Rumpelstilzchen", 1)),
            start_filling(job, &source),
            output(job, 1, start_step("rows")),
            output(job, 1, finish_step("rows", Ok("\"Rumpelstilzchen\""))),
        ] {
            commit_one(storage, &change).await.unwrap();
        }
        let kept = column("Kept");
        commit_one(storage, &save(TEST_USER, &kept)).await.unwrap();
        let found = storage.column(TEST_USER, lost.id).await.unwrap();
        assert_eq!(found, Some((source.clone(), lost.clone())));
        assert_eq!(storage.column(other_user(), lost.id).await.unwrap(), None);
        commit_one(storage, &delete).await.unwrap();
        assert_eq!(storage.columns(TEST_USER, &source).await.unwrap(), []);
        assert_eq!(storage.corrections(TEST_USER, &source).await.unwrap(), []);
        assert_eq!(storage.job(TEST_USER, job).await.unwrap(), None);
        let log = storage
            .events_after(TEST_USER, Position(0), None, 1000)
            .await
            .unwrap();
        let LogPage::Events { events, .. } = log else {
            panic!("{log:?}");
        };
        let quoting = events.iter().find(|event| event.json.contains("Rumpelstilzchen"));
        assert_eq!(quoting, None);
        assert_eq!(
            commit_one(storage, &save_in(&source, &lost)).await,
            Err(ChangeRejection::NotFound)
        );
        assert_eq!(
            commit_one(storage, &start_filling(JobId::new(), &source)).await,
            Err(ChangeRejection::NotFound)
        );
        assert_eq!(read(storage, TEST_USER).await.0, slice::from_ref(&kept));
        let delete = ColumnChange::Delete { id: kept.id };
        commit_one(storage, &change(TEST_USER, delete)).await.unwrap();
    }
}

pub async fn an_heir_gets_no_columns_of_lost_tables(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    make_accounts(storage).await;
    let unsent = upload_by(storage, other_user(), ConversationId::new()).await;
    let save = ColumnChange::Save {
        source: ColumnSource::File(unsent.attachment.id),
        column: column("Lost"),
        limit: 2,
    };
    commit_one(storage, &change(other_user(), save)).await.unwrap();
    let outcome = delete_user(storage, other_user(), Some(TEST_USER)).await;
    assert_eq!(outcome, Ok(Outcome::DataDeleted));
    // What is committed later is not hindered.
    let kept = column("Kept");
    commit_one(storage, &save_in(&SOURCE, &kept)).await.unwrap();
    assert_eq!(read(storage, TEST_USER).await.0, [kept]);
}

pub async fn one_job_at_a_time_fills_columns(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let (_, other) = store_table(storage).await;
    let (first, second) = (JobId::new(), JobId::new());
    commit_one(storage, &start_filling(first, &SOURCE)).await.unwrap();
    assert_eq!(
        commit_one(storage, &start_filling(second, &SOURCE)).await,
        Err(ChangeRejection::JobActive)
    );
    commit_one(storage, &start_filling(JobId::new(), &other))
        .await
        .unwrap();
    let again = commit_one(storage, &start_filling(first, &SOURCE)).await;
    assert!(
        matches!(again, Ok(Outcome::JobTaken { again: true, .. })),
        "{again:?}"
    );
    commit_one(storage, &output(first, 1, end(RunStatus::Stopped)))
        .await
        .unwrap();
    commit_one(storage, &start_filling(second, &SOURCE))
        .await
        .unwrap();
    let go_on = JobChange::Continue {
        job_id: first,
        cost_limit: None,
        running: 9,
    };
    assert_eq!(
        commit_one(storage, &job_change(TEST_USER, go_on)).await,
        Err(ChangeRejection::JobActive)
    );
}

pub async fn changed_columns_are_read_again(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let (mut asked, kept) = (column("Asked"), column("Kept"));
    for column in [&asked, &kept] {
        commit_one(storage, &save(TEST_USER, column)).await.unwrap();
    }
    let told = correction(&kept, "12", "7", 1);
    commit_one(storage, &correct(TEST_USER, &told)).await.unwrap();
    let jobs = [RunStatus::Complete, RunStatus::Stopped].map(|status| (JobId::new(), status));
    let cells = [&asked, &kept].map(|column| format!("cell/{}/11", column.id));
    let keys = [cells[0].as_str(), cells[1].as_str(), "columns"];
    for (job, status) in jobs {
        commit_one(storage, &start_filling(job, &SOURCE)).await.unwrap();
        for key in keys {
            for step in [start_step(key), finish_step(key, Ok("2"))] {
                commit_one(storage, &output(job, 1, step)).await.unwrap();
            }
        }
        commit_one(storage, &output(job, 1, end(status))).await.unwrap();
    }
    let stored = async |job| {
        let steps = storage.finished_steps(TEST_USER, job, "add").await.unwrap();
        steps.into_iter().map(|step| step.key).collect::<Vec<_>>()
    };
    let [complete, stopped] = jobs.map(|(job, _)| job);
    asked.question.question = "How many?".into();
    commit_one(storage, &save(TEST_USER, &asked)).await.unwrap();
    assert_eq!(stored(complete).await, keys[..2]);
    assert_eq!(stored(stopped).await, keys[1..2]);
    let recounted = storage.job(TEST_USER, stopped).await.unwrap().unwrap();
    assert_eq!(recounted.job.progress.done, 1);
    let list = storage.jobs(TEST_USER).await.unwrap().jobs;
    assert_eq!(
        list.iter().map(|job| job.progress.done).collect::<Vec<_>>(),
        [1, 3]
    );
}
