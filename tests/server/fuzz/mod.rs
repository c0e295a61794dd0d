//! A fuzzer of all URLs: every route of `docs/openapi.json`, every registered server function, and the
//! form. Requests start valid, with existing ids, and are then damaged. No response may have a status of 500
//! or above, nothing may panic, and Parlor must work afterwards.

mod arguments;
pub mod captures;
mod member;
mod mutations;
mod raw;
pub mod targets;

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use fastrand::Rng;
use parlor_base::settings::{Secret, Settings};
use parlor_tools::{NewAttachment, Tool, ToolContext, ToolError, ToolKind, ToolRegistry, ToolResult};
use serde_json::json;
use tokio::time::timeout;
use tracing::Level;
use upstream::{Page, Script, Upstream, When};

use self::{
    captures::{LogCapture, PanicCapture},
    mutations::MutatedRequest,
    targets::Ids,
};
use crate::support::{Nothing, Parlor, TEST_TIMEOUT};

/// The number of requests; `make fuzz` has more.
const DEFAULT_CASES: u32 = 1000;
/// The number of requests per conversation. Many requests delete what their ids refer to.
const CASES_PER_CONVERSATION: u32 = 60;
/// The number of failures after which the test stops.
const MAX_FAILURES: usize = 5;

/// A tool that returns a file, so that there is an attachment.
struct FileTool;

impl Tool for FileTool {
    type Input = Nothing;

    const KIND: ToolKind = ToolKind::plain("give");
    const DESCRIPTION: &'static str = "Gives a file.";
    const LABEL: &'static str = "Giving";
    const DONE: &'static str = "Gave";

    async fn run(&self, _: Nothing, _: ToolContext) -> Result<ToolResult, ToolError> {
        let file = NewAttachment {
            media_type: "image/png".into(),
            name: "dot.png".into(),
            data: Bytes::from_static(b"\x89PNG\r\n\x1a\nand so on"),
        };
        Ok(ToolResult {
            text: "A file.".into(),
            attachments: vec![file],
            ..ToolResult::default()
        })
    }
}

/// Starts a server with a model that creates files, proposals and buttons, and with a PubMed that has one
/// article.
pub(crate) async fn start_parlor() -> (tempfile::TempDir, Upstream, Parlor) {
    start_parlor_with(|_| {}).await
}

/// Like [`start_parlor`], with other settings.
pub(crate) async fn start_parlor_with(
    change: impl FnOnce(&mut Settings),
) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let article = json!({ "title": "Tides", "authors": [], "source": "J", "pubdate": "2024" });
    let found = json!({ "esearchresult": { "count": "1", "idlist": ["11"] } });
    upstream.add_page("/eutils/esearch.fcgi", Page::json(&found));
    let summaries = json!({ "result": { "uids": ["11"], "11": article } });
    upstream.add_page("/eutils/esummary.fcgi", Page::json(&summaries));
    upstream.add_page("/eutils/efetch.fcgi", Page::text("<PubmedArticleSet/>"));
    upstream.add_script(When::any(), Script::new().tool_call("call_1", "give", "{}"));
    let said = "Here.\nSUGGESTED_VALUES: [{\"label\": \"Yes\", \"value\": \"Yes\"}]\nSUGGESTED_ACTIONS: [{\"label\": \"Do\", \
                \"action\": \"do\", \"handler\": \"server\"}, {\"label\": \"Copy\", \
                \"action\": \"copy_answer\", \"handler\": \"client\"}]\nDOCUMENT: {\"title\": \"A text\", \"text\": \"One.\"}";
    upstream.add_script(When::tool_gave(""), Script::new().text(said));
    let eutils = upstream.url_of("/eutils");
    let tools = ToolRegistry::default().with_tool(FileTool);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        settings.tools.pubmed.base_url = eutils;
        settings.tools.pubmed.api_key = Some(Secret("key".into()));
        settings.limits.request_bytes = 300_000;
        settings.timeouts.batch = Duration::from_secs(5);
        // Each conversation comes with a stream, a report of it, and a column.
        settings.jobs.columns = 1_000_000;
        settings.literature.streams = 1_000_000;
        settings.jobs.stored = 1_000_000;
        settings.jobs.running = 1_000_000;
        change(settings);
    })
    .await;
    (folder, upstream, parlor)
}

async fn send_damaged(seed: u64, cases: u32) {
    let mut random = Rng::with_seed(seed);
    let (_folder, _upstream, parlor) = start_parlor().await;
    let (log, panics) = (LogCapture::start(Level::ERROR), PanicCapture::start());
    let targets = targets::all_targets();
    let mut ids = Ids::default();
    let mut failures = Vec::new();
    let mut statuses = BTreeMap::<u16, u32>::new();
    for case in 0..cases {
        if case % CASES_PER_CONVERSATION == 0 {
            ids = Ids::create(&parlor).await;
        }
        let target = &targets[random.usize(..targets.len())];
        let mutant = MutatedRequest::mutate(target, &ids, &mut random);
        let outcome = match timeout(TEST_TIMEOUT, mutant.send(&parlor)).await {
            Ok(Ok(status)) => {
                *statuses.entry(status).or_default() += 1;
                (status >= 500).then(|| status.to_string())
            }
            Ok(Err(error)) => (!mutant.may_fail_with(&error)).then(|| format!("{error:?}")),
            Err(_) => Some("no answer".into()),
        };
        failures.extend(outcome.map(|outcome| format!("case {case}: {outcome}\n{mutant}")));
        if failures.len() >= MAX_FAILURES || panics.has_panicked() {
            break;
        }
    }
    println!("statuses: {statuses:?}");
    assert!(
        failures.is_empty(),
        "seed {seed}\n{}\nlog: {}",
        failures.join("\n"),
        log.text()
    );
    assert_eq!(panics.text(), "", "seed {seed}");
    assert_eq!(log.text(), "", "seed {seed}");
    let succeeded = statuses.get(&200).copied().unwrap_or_default();
    assert!(succeeded * 20 > cases, "most are damaged too much: {statuses:?}");
    let turn = parlor.turn(None, "Still there?").await;
    assert_eq!(turn.last().unwrap()["type"], "complete", "it works afterwards");
}

/// The module in which `make fuzz` finds randomised tests.
mod properties {
    #[tokio::test]
    async fn no_request_crashes_the_server() {
        for seed in fuzzing::test_seeds!() {
            super::send_damaged(seed, fuzzing::cases(super::DEFAULT_CASES)).await;
        }
    }
}
