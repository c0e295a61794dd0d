//! The data of the page *Reports*.

use parlor_protocol::{
    ApiError, Dollars, ErrorCode, FoundPassage, JobId, Passage, Position, ResearchStreamId, RunError,
    RunStatus, Timestamp, TokenTotals,
    job::{Job, JobProgress},
    literature::{Article, ResearchStream},
    report::{
        Cell, Claim, ComparedReport, Comparison, Gone, Moved, OpenReport, REPORT, Relevance, Report,
        ReportArticle, ReportList, ReportLocation, ReportView, ReportsPageData,
    },
};

/// All that the page shows, with its URLs.
pub fn pages(text: &str) -> Vec<(ReportsPageData, ReportLocation)> {
    let complete = job(text, RunStatus::Complete);
    let id = complete.id;
    let with = |report: Option<ReportView>, article: Option<ReportArticle>| ReportsPageData {
        list: Ok(list(text, &complete)),
        report: report.map(Ok),
        article: article.map(Ok),
    };
    let report = report(text);
    let whole = view(text, &complete, Some(report.clone()));
    let running = job(text, RunStatus::Running);
    let waiting = job(text, RunStatus::Waiting);
    let unfinished = |job: &Job| with(Some(view(text, job, None)), None);
    let mut missing = with(None, None);
    missing.report = Some(Err(ApiError::new(ErrorCode::NotFound, text)));
    let no_streams = ReportsPageData {
        list: Ok(ReportList::default()),
        ..with(None, None)
    };
    vec![
        (with(None, None), ReportLocation::List),
        (no_streams.clone(), ReportLocation::List),
        (with(None, None), ReportLocation::New(None)),
        (no_streams, ReportLocation::New(None)),
        (
            with(Some(whole.clone()), None),
            ReportLocation::Report(OpenReport::summary(id)),
        ),
        (
            with(Some(whole.clone()), None),
            ReportLocation::Report(OpenReport::articles(id)),
        ),
        (
            with(Some(whole), report.articles.first().cloned()),
            ReportLocation::Report(OpenReport::article(id, "11", "Salt rises at night.")),
        ),
        (
            unfinished(&running),
            ReportLocation::Report(OpenReport::summary(running.id)),
        ),
        (
            unfinished(&waiting),
            ReportLocation::Report(OpenReport::summary(waiting.id)),
        ),
        (missing, ReportLocation::Report(OpenReport::summary(JobId::new()))),
    ]
}

fn list(text: &str, complete: &Job) -> ReportList {
    ReportList {
        as_of: Position(1),
        reports: vec![
            complete.clone(),
            job(text, RunStatus::Running),
            job(text, RunStatus::Failed),
        ],
        streams: vec![ResearchStream {
            name: text.into(),
            query: text.into(),
            ..ResearchStream::new(ResearchStreamId::new())
        }],
        no_search: None,
    }
}

fn job(text: &str, status: RunStatus) -> Job {
    Job {
        id: JobId::new(),
        kind: REPORT.into(),
        title: text.into(),
        status,
        model: text.into(),
        progress: JobProgress {
            done: 3,
            total: 9,
            left_ms: Some(90_000),
        },
        totals: TokenTotals {
            cost: Dollars(5_000_000),
            ..TokenTotals::default()
        },
        cost_limit: Some(Dollars(500_000_000)),
        error: (status != RunStatus::Complete && status != RunStatus::Running).then(|| RunError {
            code: "cost_limit".into(),
            message: text.into(),
            hint: text.into(),
        }),
        waits_for: None,
        unseen: false,
        created_at: Timestamp(1),
        ended_at: None,
    }
}

fn view(text: &str, job: &Job, report: Option<Report>) -> ReportView {
    let comparison = report.is_some().then(|| ComparedReport {
        report_id: JobId::new(),
        created_at: Timestamp(1),
        comparison: Comparison {
            new: vec!["11".into()],
            moved: vec![Moved {
                pmid: "12".into(),
                from: Some(text.into()),
            }],
            gone: vec![Gone {
                pmid: "13".into(),
                title: text.into(),
            }],
        },
    });
    ReportView {
        job: job.clone(),
        stream_id: ResearchStreamId::new(),
        report,
        comparison,
    }
}

fn report(text: &str) -> Report {
    let found = Passage::Found(FoundPassage {
        text: "Salt rises at night.".into(),
        place: String::new(),
    });
    let missing = Passage::NotFound { quote: text.into() };
    let article = |pmid: &str, relevance: Relevance| ReportArticle {
        article: Article {
            pmid: pmid.into(),
            title: text.into(),
            authors: vec![text.into()],
            journal: text.into(),
            published: "2024".into(),
            doi: Some("10.1/x".into()),
        },
        retracted: pmid == "11",
        relevance,
        category: (pmid == "11").then(|| text.into()),
        cells: vec![
            Cell {
                field: text.into(),
                value: text.into(),
                passage: found.clone(),
            },
            Cell {
                field: "Place".into(),
                value: text.into(),
                passage: missing.clone(),
            },
        ],
        problem: None,
        text: vec![text.into(), format!("Salt rises at night. {text}")],
    };
    let relevant = || Relevance::Relevant { reason: text.into() };
    let claim = |passage: &Passage| Claim {
        text: text.into(),
        pmid: "11".into(),
        passage: passage.clone(),
    };
    Report {
        stream_id: ResearchStreamId::new(),
        name: text.into(),
        query: text.into(),
        found: 1234,
        articles: vec![
            article("11", relevant()),
            article("12", relevant()),
            ReportArticle {
                problem: Some(text.into()),
                cells: Vec::new(),
                ..article("14", Relevance::Unknown)
            },
        ],
        summary: vec![claim(&found), claim(&missing)],
        summary_problem: None,
        unsupported: 1,
    }
}
