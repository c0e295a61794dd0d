//! A report whose server is killed again and again: the same report, each step with one result.

use std::{collections::BTreeMap, path::Path, process::Stdio};

use reqwest::Client;
use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};

use crate::{
    Server, WITHOUT_TITLES,
    client::{query_sql, wait_for_event},
    expect_abort,
    failpoints::JOB_POINTS,
};

const STREAM: &str = "01a2217b-0246-7346-8b45-a4bcd684a3d1";
const JOB: &str = "01a2217b-0246-7346-8b45-a4bcd684a3d2";

const FIRST_PMID: usize = 1001;
/// The articles whose abstracts one step reads.
const ABSTRACTS_AT_ONCE: usize = 20;

/// The size of a report, and how often its server is killed.
#[derive(Clone, Copy)]
struct Size {
    articles: usize,
    kills: u32,
}

const USUAL: Size = Size {
    articles: 40,
    kills: 6,
};

/// That of `make fuzz`.
const LARGE: Size = Size {
    articles: 200,
    kills: 20,
};

impl Size {
    fn pmids(self) -> impl Iterator<Item = usize> {
        FIRST_PMID..FIRST_PMID + self.articles
    }

    fn relevant(self) -> usize {
        self.pmids().filter(|pmid| is_relevant(*pmid)).count()
    }

    /// The stream, the search, the abstracts, a judgement of each article, a reading of each that is relevant, the summary.
    fn steps(self) -> usize {
        1 + 1 + self.articles.div_ceil(ABSTRACTS_AT_ONCE) + self.articles + self.relevant() + 1
    }

    /// The maximum number of steps that pass a failpoint before it kills. All kills together come before the end of the job.
    fn max_passes(self) -> u32 {
        u32::try_from(self.steps()).unwrap() / self.kills - 2
    }
}

fn is_relevant(pmid: usize) -> bool {
    !pmid.is_multiple_of(4)
}

/// A PubMed with these articles, and a model that judges, reads and summarises them. Every fourth article is not relevant.
fn add_articles(upstream: &Upstream, size: Size) {
    let ids: Vec<String> = size.pmids().map(|pmid| pmid.to_string()).collect();
    let found = json!({ "esearchresult": { "count": size.articles.to_string(), "idlist": ids } });
    upstream.add_page("/eutils/esearch.fcgi", Page::json(&found));
    let mut summaries = json!({ "uids": ids });
    let mut texts = String::new();
    for pmid in size.pmids() {
        summaries[pmid.to_string()] =
            json!({ "title": format!("Tides {pmid}"), "authors": [], "source": "J", "pubdate": "2024" });
        texts.push_str(&format!(
            "<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><Abstract><AbstractText>Salt rises by {pmid} grams.\
             </AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"
        ));
        // One answer for every step about the article.
        let answer = json!({
            "relevant": is_relevant(pmid), "reason": "It is about salt.", "category": null,
            "answers": [{ "name": "Amount", "value": pmid, "passage": format!("rises by {pmid} grams") }],
            "claims": [{ "text": "Salt rises.", "pmid": pmid, "passage": format!("rises by {pmid} grams") }],
        });
        upstream.add_script(
            When::user_contains(format!("PMID {pmid}\n")),
            Script::new().text(answer.to_string()),
        );
    }
    upstream.add_page(
        "/eutils/esummary.fcgi",
        Page::json(&json!({ "result": summaries })),
    );
    upstream.add_page(
        "/eutils/efetch.fcgi",
        Page::text(format!("<PubmedArticleSet>{texts}</PubmedArticleSet>")),
    );
}

fn write_settings(data: &Path, upstream: &Upstream) {
    let pubmed = format!("[tools.pubmed]\nbase_url = '{}'\n", upstream.url_of("/eutils"));
    // Kills may come before a step has finished.
    let agent = "[agent]\nmax_resumptions = 100\n";
    let settings = format!("{pubmed}{agent}{WITHOUT_TITLES}");
    std::fs::write(data.join("Leptos.toml"), settings).unwrap();
}

async fn post(server: &Server, path: &str, body: &Value) -> reqwest::Result<reqwest::Response> {
    let request = Client::new().post(format!("{}{path}", server.url));
    let request = request
        .header("content-type", "application/json")
        .header("idempotency-key", JOB);
    request.body(body.to_string()).send().await
}

/// Begins the job on a server that may crash before it answers.
async fn begin(server: &Server) {
    let stream = json!({ "stream": {
        "id": STREAM, "name": "Tides", "query": "tides", "instructions": "",
        "schema": [{ "name": "Amount", "question": "How much?", "type": "number" }],
    } });
    let saved = post(server, "/rpc/save_stream", &stream).await.unwrap();
    assert!(saved.status().is_success(), "{saved:?}");
    let job = json!({ "kind": "report", "input": { "stream_id": STREAM }, "model": "openai/echo" });
    if let Ok(started) = post(server, "/api/jobs", &job).await {
        assert!(started.status().is_success(), "{started:?}");
    }
}

/// Waits until the job is complete, and returns it with its report.
async fn wait_for_report(server: &Server) -> Value {
    wait_for_event(&server.url, |line| {
        line.contains("job_changed") && line.contains("\"status\":\"complete\"")
    })
    .await;
    let job = reqwest::get(format!("{}/api/jobs/{JOB}", server.url))
        .await
        .unwrap();
    serde_json::from_str(&job.text().await.unwrap()).unwrap()
}

async fn steps(server: &Server) -> BTreeMap<String, Value> {
    let steps = reqwest::get(format!("{}/api/jobs/{JOB}/steps", server.url))
        .await
        .unwrap();
    let steps: Value = serde_json::from_str(&steps.text().await.unwrap()).unwrap();
    let steps = steps["steps"].as_array().unwrap().clone();
    let count = steps.len();
    let by_key: BTreeMap<String, Value> = steps
        .into_iter()
        .map(|step| (step["key"].as_str().unwrap().to_owned(), step))
        .collect();
    assert_eq!(by_key.len(), count);
    by_key
}

/// Returns the number of the model's calls for an article, besides the summary.
fn calls_for(upstream: &Upstream, pmid: usize) -> u64 {
    let requests = upstream.requests();
    let bodies = requests.iter().map(|request| request.body.to_string());
    let is_summary =
        |body: &str| body.contains(&format!("PMID {FIRST_PMID}\\n")) && body.contains("PMID 1002\\n");
    bodies
        .filter(|body| body.contains(&format!("PMID {pmid}\\n")) && !is_summary(body))
        .count() as u64
}

async fn undisturbed_report(size: Size) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    add_articles(&upstream, size);
    write_settings(folder.path(), &upstream);
    let server = Server::start(folder.path(), &upstream).await;
    begin(&server).await;
    let job = wait_for_report(&server).await;
    assert_eq!(job["progress"]["done"], size.steps(), "{}", job["progress"]);
    assert_eq!(job["totals"]["calls"], size.articles + size.relevant() + 1);
    job["result"].clone()
}

async fn kill_at_random_steps(random: &mut fastrand::Rng, size: Size, expected: &Value) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    add_articles(&upstream, size);
    write_settings(folder.path(), &upstream);
    let mut kills = Vec::new();
    for kill in 0..size.kills {
        let point = format!(
            "{}={}*off->return",
            JOB_POINTS[random.usize(..3)],
            random.u32(..size.max_passes())
        );
        let mut command = Server::command(folder.path(), &upstream, "127.0.0.1:0");
        command.env("FAILPOINTS", &point);
        kills.push(point);
        if kill == 0 {
            let server = Server::run(&mut command).await;
            begin(&server).await;
            server.expect_crash().await;
        } else {
            // It may be killed before it is ready.
            let child = command.stdout(Stdio::null()).spawn();
            expect_abort(&mut child.expect("the server starts")).await;
        }
    }
    let server = Server::start(folder.path(), &upstream).await;
    let job = wait_for_report(&server).await;
    assert_eq!(job["result"], *expected, "{kills:?}");
    let steps = steps(&server).await;
    assert_eq!(steps.len(), size.steps());
    assert_eq!(job["progress"]["done"], steps.len());
    let mut repeated = 0;
    for pmid in size.pmids() {
        let attempts = |key: String| {
            steps
                .get(&key)
                .map_or(0, |step| step["attempts"].as_u64().unwrap())
        };
        let started = attempts(format!("screen/{pmid}")) + attempts(format!("read/{pmid}"));
        let calls = calls_for(&upstream, pmid);
        assert!(
            calls <= started,
            "{kills:?}: {pmid}: {calls} calls in {started} starts"
        );
        repeated += started - if is_relevant(pmid) { 2 } else { 1 };
    }
    // At most those in progress at a kill: jobs.concurrency.
    assert!(repeated <= u64::from(size.kills) * 4, "{kills:?}: {repeated}");
    server.kill().await;
    let open: i64 = query_sql(
        folder.path(),
        "SELECT count(*) FROM job_steps WHERE output IS NULL AND error IS NULL",
    )
    .await;
    assert_eq!(open, 0);
}

/// A crash at each point of a step's and of a job's end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_at_any_point_changes_no_report() {
    parlor_web::http_client::install_tls();
    let size = USUAL;
    let expected = undisturbed_report(size).await;
    for point in JOB_POINTS {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        add_articles(&upstream, size);
        write_settings(folder.path(), &upstream);
        let server = Server::start_with_failpoint(folder.path(), &upstream, point).await;
        begin(&server).await;
        server.expect_crash().await;
        let server = Server::start(folder.path(), &upstream).await;
        let job = wait_for_report(&server).await;
        assert_eq!(job["result"], expected, "{point}");
    }
}

/// Randomised tests, in the module that `make fuzz` looks for.
mod properties {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn kills_change_no_report() {
        parlor_web::http_client::install_tls();
        let size = if fuzzing::is_long_run() { LARGE } else { USUAL };
        let expected = undisturbed_report(size).await;
        for seed in fuzzing::test_seeds!() {
            let mut random = fastrand::Rng::with_seed(seed);
            for _ in 0..fuzzing::cases(1) {
                kill_at_random_steps(&mut random, size, &expected).await;
            }
        }
    }
}
