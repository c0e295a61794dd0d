//! The speed of full-text search: 10,000 conversations with 200,000 messages in five languages, made from a seed.
//!
//! `cargo bench -p parlor-storage --bench search` prints the time that the index costs a message at its commit, the times
//! of searches and of the deletion of conversations, the memory and the sizes. `-- --conversations 1000` makes fewer;
//! `-- --folder FOLDER` makes the data in an empty folder and leaves it there, for a server to be measured with; in a folder with
//! data, only searches are measured.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "its output is the figures, and no figure is better than a wrong one"
)]

use std::{
    path::Path,
    time::{Duration, Instant},
};

use parlor_protocol::{
    AssistantMessage, ConversationId, IntentId, MessageId, RunEvent, RunStatus, Timestamp, UserId, intent,
    transcript,
};
use parlor_storage::{
    Change, ConversationChange, ConversationListStorage, IntentChange, RunKey, RunOutput, RunStart,
    SearchRequest, Storage, search::SearchQuery, sqlite::SqliteStorage,
};
use sqlx::ConnectOptions;

const SEED: u64 = 20_261_128;
const TURNS: usize = 10;
/// The conversations that are committed together.
const BATCH: usize = 25;
const WORDS_PER_LANGUAGE: usize = 6000;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// A language: made-up words, of which the first are the most frequent.
struct Language {
    words: Vec<String>,
    between: &'static str,
}

fn language(
    random: &mut Random,
    syllables: &[&str],
    lengths: (usize, usize),
    between: &'static str,
) -> Language {
    let word = |random: &mut Random| {
        let length = lengths.0 + random.below(lengths.1 - lengths.0 + 1);
        (0..length)
            .map(|_| syllables[random.below(syllables.len())])
            .collect()
    };
    Language {
        words: (0..WORDS_PER_LANGUAGE).map(|_| word(random)).collect(),
        between,
    }
}

fn languages(random: &mut Random) -> Vec<Language> {
    let split = |text: &'static str| text.split(' ').collect::<Vec<_>>();
    let english =
        split("a re con ter ing er ion ly est in de pro ma ti on el sh th ou ea st ra bo ck fi gu ho");
    let german = split(
        "ge ver schaft ung keit zu an ab auf ein stra ße mü ler kö nig grö haus berg stein dorf lich bar end",
    );
    let han: Vec<&str> = "的一是不了在人有我他这中大来上个国和也子时道说出要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从"
        .split_inclusive(|_| true)
        .collect();
    let kana: Vec<&str> = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんアイウエオカキクケコ日本語東京時間人気会社"
        .split_inclusive(|_| true)
        .collect();
    let arabic: Vec<&str> = "ابتثجحخدذرزسشصضطظعغفقكلمنهوي".split_inclusive(|_| true).collect();
    vec![
        language(random, &english, (1, 4), " "),
        language(random, &german, (2, 5), " "),
        language(random, &han, (1, 3), ""),
        language(random, &kana, (2, 4), ""),
        language(random, &arabic, (3, 6), " "),
    ]
}

impl Language {
    /// Frequent words are chosen much more often, as in real texts.
    fn word(&self, random: &mut Random) -> &str {
        let exponent = random.below(10_000) as f64 / 10_000.0;
        let rank = (self.words.len() as f64).powf(exponent) as usize;
        &self.words[rank.min(self.words.len() - 1)]
    }

    fn text(&self, random: &mut Random, words: usize) -> String {
        let words: Vec<&str> = (0..words).map(|_| self.word(random)).collect();
        words.join(self.between)
    }
}

/// A question and its answer.
fn turn(conversation_id: ConversationId, user_id: UserId, question: &str, answer: &str) -> [Change; 2] {
    let run = RunKey {
        user_id,
        conversation_id,
        message_id: MessageId::new(),
    };
    let intent = intent::SendMessage {
        intent_id: IntentId::new(),
        conversation_id,
        user_message_id: MessageId::new(),
        text: question.into(),
        files: Vec::new(),
        model: Some("x/m".into()),
        replaces: None,
        temporary: false,
        project_id: None,
        force_tools: Vec::new(),
        parameters: None,
        context: None,
        interaction: Default::default(),
    };
    let start = RunStart {
        context_snapshot: None,
        run: run.message_id,
        default_model: "x/m".into(),
        parameters: None,
        fingerprint: String::new(),
    };
    let text = RunEvent::TextDelta {
        node: 0,
        part: 0,
        offset: 0,
        text: answer.into(),
    };
    let end = RunEvent::run_ended(RunStatus::Complete, None, Timestamp(0), 0);
    let mut message = AssistantMessage::new("x/m");
    transcript::apply_to_run(&mut message, &text);
    transcript::apply_to_run(&mut message, &end);
    [
        Change::Intent {
            user_id,
            change: IntentChange::SendMessage { intent, start },
        },
        Change::Output {
            run,
            output: RunOutput::EndRun {
                events: vec![end],
                message,
            },
        },
    ]
}

/// Times in microseconds.
struct Times(Vec<u64>);

impl Times {
    fn add(&mut self, since: Instant) {
        self.0.push(since.elapsed().as_micros() as u64);
    }

    fn print(mut self, what: &str) {
        self.0.sort_unstable();
        let at = |part: usize| self.0[(self.0.len() - 1) * part / 100] as f64 / 1000.0;
        println!(
            "{what}: p50 {:.2} ms, p95 {:.2} ms, most {:.2} ms ({})",
            at(50),
            at(95),
            at(100),
            self.0.len()
        );
    }
}

/// Resident memory of this process in MB; 0 where it is not known.
fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or_default() / 1024.0
}

fn file_mb(folder: &Path) -> f64 {
    let files = std::fs::read_dir(folder).unwrap();
    let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    bytes as f64 / (1 << 20) as f64
}

/// Commits single messages in turn into two databases, one of which has no index any more.
async fn measure_commits(languages: &[Language], random: &mut Random) {
    let (with, without) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    SqliteStorage::open(without.path())
        .await
        .unwrap()
        .close()
        .await
        .unwrap();
    let database = sqlx::sqlite::SqliteConnectOptions::new().filename(without.path().join("parlor.db"));
    let mut connection = database.connect().await.unwrap();
    for trigger in [
        "index_new_message",
        "index_changed_message",
        "index_new_title",
        "index_changed_title",
    ] {
        let drop = sqlx::AssertSqlSafe(format!("DROP TRIGGER {trigger}"));
        sqlx::query(drop).execute(&mut connection).await.unwrap();
    }
    drop(connection);
    let mut times = Vec::new();
    for folder in [&with, &without] {
        let storage = SqliteStorage::open(folder.path()).await.unwrap();
        let mut times_of = Times(Vec::new());
        for number in 0..1500 {
            let language = &languages[number % languages.len()];
            let [send, end] = turn(
                ConversationId::new(),
                UserId::LOCAL,
                &language.text(random, 20),
                &language.text(random, 200),
            );
            storage.commit(Timestamp(number as i64), &[send]).await.unwrap();
            let started = Instant::now();
            storage.commit(Timestamp(number as i64), &[end]).await.unwrap();
            if number >= 500 {
                times_of.add(started);
            }
        }
        times.push(times_of);
    }
    let mean = |times: &Times| times.0.iter().sum::<u64>() as f64 / times.0.len() as f64 / 1000.0;
    println!(
        "an answer of 200 words costs {:.2} ms more with the index",
        mean(&times[0]) - mean(&times[1])
    );
    for (times, what) in times
        .into_iter()
        .zip(["its commit with the index", "its commit without"])
    {
        times.print(what);
    }
}

fn request(query: &str) -> SearchRequest {
    SearchRequest {
        query: SearchQuery::parse(query),
        limit: 20,
        ..SearchRequest::default()
    }
}

/// Makes the conversations, and returns those of the measured user.
async fn fill(
    storage: &SqliteStorage,
    languages: &[Language],
    random: &mut Random,
    conversations: usize,
) -> Vec<ConversationId> {
    let others = UserId::new();
    let (mut batch, mut ids) = (Vec::new(), Vec::new());
    let started = Instant::now();
    for number in 0..conversations {
        let id = ConversationId::new();
        let user = if number % 5 == 4 { others } else { UserId::LOCAL };
        let language = &languages[(number / 5) % languages.len()];
        for _ in 0..TURNS {
            let (question, answer) = (5 + random.below(30), 20 + random.below(200));
            let (question, answer) = (language.text(random, question), language.text(random, answer));
            batch.extend(turn(id, user, &question, &answer));
        }
        if user == UserId::LOCAL {
            ids.push(id);
        }
        if batch.len() >= BATCH * TURNS * 2 || number + 1 == conversations {
            let at = Timestamp(1_700_000_000_000 + number as i64 * 3_000_000);
            let done = storage.commit(at, &batch).await.unwrap();
            assert!(done.outcomes.iter().all(Result::is_ok));
            batch.clear();
            // Checkpoints keep the log short.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    // A commit indexes only some of what it has.
    while storage.index_old_data().await.unwrap() {}
    println!(
        "{conversations} conversations, {} messages in {:.0} s",
        conversations * TURNS * 2,
        started.elapsed().as_secs_f64()
    );
    ids
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    let conversations = given("--conversations")
        .and_then(|number| number.parse().ok())
        .unwrap_or(10_000);
    let mut random = Random(SEED);
    let languages = languages(&mut random);
    let temporary = tempfile::tempdir().unwrap();
    let folder = given("--folder").map_or(temporary.path(), Path::new);
    let storage = SqliteStorage::open(folder).await.unwrap();
    // What an earlier run has left is measured as it is.
    let known = storage.conversations(UserId::LOCAL, None, 1).await.unwrap();
    let ids = match known.conversations.is_empty() {
        true => {
            measure_commits(&languages, &mut random).await;
            fill(&storage, &languages, &mut random, conversations).await
        }
        false => Vec::new(),
    };
    storage.close().await.unwrap();
    println!("database: {:.0} MB", file_mb(folder));

    let storage = SqliteStorage::open(folder).await.unwrap();
    storage.conversations(UserId::LOCAL, None, 50).await.unwrap();
    let before = resident_mb();
    let mut kinds = [
        "one frequent word",
        "one word",
        "two words",
        "a beginning as one types",
        "a phrase",
        "with conditions",
    ]
    .map(|kind| (kind, Times(Vec::new()), 0));
    let mut all = Times(Vec::new());
    for number in 0..600 {
        let language = &languages[number % languages.len()];
        let (one, other) = (
            language.word(&mut random).to_owned(),
            language.word(&mut random).to_owned(),
        );
        let kind = (number / languages.len()) % kinds.len();
        let query = match kind {
            0 => language.words[random.below(5)].clone(),
            1 => format!("\"{one}\""),
            2 => format!("{one} \"{other}\""),
            3 => one.chars().take(2).collect(),
            4 => format!("\"{one}{}{other}\"", language.between),
            _ => format!("from:me after:2024 before:2026-06 {one}"),
        };
        let started = Instant::now();
        let found = storage.search(UserId::LOCAL, &request(&query)).await.unwrap();
        kinds[kind].1.add(started);
        all.add(started);
        kinds[kind].2 += found.hits.len();
    }
    for (kind, times, hits) in kinds {
        times.print(&format!(
            "{kind} ({:.0} hits on average, at most 20)",
            hits as f64 / 100.0
        ));
    }
    all.print("all searches");
    println!(
        "memory: {:.1} MB, {:.1} MB before the searches",
        resident_mb(),
        before
    );

    if ids.is_empty() {
        return;
    }
    let now = Timestamp(1_795_262_400_000);
    let change = |id: &ConversationId, change: ConversationChange| Change::Conversation {
        user_id: UserId::LOCAL,
        conversation_id: *id,
        change,
    };
    let deleted: Vec<_> = ids.iter().step_by((ids.len() / 300).max(1)).take(300).collect();
    let trash = ConversationChange::Trash { trashed_at: now };
    let together: Vec<_> = deleted.iter().map(|id| change(id, trash.clone())).collect();
    let started = Instant::now();
    storage.commit(now, &together).await.unwrap();
    println!(
        "deleting {} conversations in one transaction: {:.1} ms",
        deleted.len(),
        started.elapsed().as_secs_f64() * 1000.0
    );
    let mut searches = Times(Vec::new());
    for number in 0..100 {
        let query = languages[number % languages.len()].word(&mut random).to_owned();
        let started = Instant::now();
        storage.search(UserId::LOCAL, &request(&query)).await.unwrap();
        searches.add(started);
    }
    searches.print("one word, while these can be restored");
    let mut erasures = Times(Vec::new());
    for id in deleted.iter().take(50) {
        let erase = change(id, ConversationChange::Erase { trashed_at: now });
        let started = Instant::now();
        storage.commit(now, &[erase]).await.unwrap();
        erasures.add(started);
    }
    erasures.print("erasing one of 20 messages");
}
