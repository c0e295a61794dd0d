//! Two kinds of jobs: reports of research streams (search, screen, read, summarise with sources), and columns of what has rows.
//!
//! - [`search`]: the steps that ask storage and PubMed
//! - [`judge`]: the steps that ask the model
//! - [`passages`]: the check of the passages that the model quotes
//! - [`mod@export`]: a report as a file
//! - [`columns`]: questions about each row of something
//!
//! The plan of reports is here ([`ReportKind`]).

mod answer_text;
mod columns;
mod export;
mod judge;
mod passages;
mod search;

use std::{collections::BTreeMap, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

pub use self::{
    columns::{ColumnCellReader, ColumnsKind, OpenQuestions},
    export::{ExportFormat, ExportedFile, export},
};
use self::{
    judge::{ArticleText, Read, ReadAnswer, ReadInput, Screen, ScreenInput, Summarise, SummaryInput},
    passages::{check_cells, check_claims},
    search::{Abstracts, FoundArticle, Search, SearchInput, StreamNow},
};
use crate::jobs::{JobContext, JobEnd, JobKind, PreparedJob};
use parlor_pages::literature::{Literature, LiteratureError};
use parlor_protocol::{
    ApiError, ErrorCode, RawJson, RunError, UserId,
    literature::ResearchStream,
    report::{REPORT, Relevance, Report, ReportArticle, ReportInput},
};
use parlor_web::services::pubmed::{PubmedClient, PubmedUnavailable};

/// The version of the plan: a job of another one is not continued.
const VERSION: u32 = 1;

/// The number of articles whose abstracts are requested at once.
const ABSTRACTS_AT_ONCE: usize = 20;

/// The kind of job that makes a report.
pub struct ReportKind {
    literature: Literature,
    pubmed: Result<Arc<PubmedClient>, PubmedUnavailable>,
    /// The maximum number of articles.
    limit: usize,
}

impl ReportKind {
    pub fn new(
        literature: Literature,
        pubmed: Result<Arc<PubmedClient>, PubmedUnavailable>,
        limit: usize,
    ) -> Self {
        Self {
            literature,
            pubmed,
            limit,
        }
    }

    async fn check(&self, user_id: UserId, input: &RawJson) -> Result<PreparedJob, ApiError> {
        let read = serde_json::from_str::<ReportInput>(input.as_str());
        let input = read.map_err(|error| {
            let message =
                format!("The input of a report is {{\"stream_id\": …}}: {error}. Nothing was started.");
            ApiError::new(ErrorCode::BadRequest, message)
        })?;
        if let Err(reason) = &self.pubmed {
            return Err(LiteratureError::from(*reason).into());
        }
        let stream = self.literature.stream(user_id, input.stream_id).await?;
        if stream.query.trim().is_empty() {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "This stream has no query, so there is nothing to report. Nothing was started; write its query first.",
            ));
        }
        Ok(PreparedJob {
            title: stream.name,
            input: serde_json::to_string(&input).unwrap_or_default(),
        })
    }

    async fn report(&self, job: &JobContext) -> Result<String, JobEnd> {
        let input: ReportInput = serde_json::from_str(job.input())
            .map_err(|error| JobEnd::invalid_plan(&format!("its input can't be read: {error}")))?;
        let stream = StreamNow(&self.literature);
        let stream = job
            .step("stream", &stream, input)
            .await?
            .map_err(JobEnd::Failed)?;
        let search = Search {
            pubmed: self.pubmed.as_deref(),
            limit: self.limit,
        };
        let wanted = SearchInput {
            query: stream.query.clone(),
        };
        let found = job
            .step("search", &search, wanted)
            .await?
            .map_err(JobEnd::Failed)?;
        let batches: Vec<Vec<String>> = found
            .articles
            .chunks(ABSTRACTS_AT_ONCE)
            .map(|articles| articles.iter().map(|found| found.article.pmid.clone()).collect())
            .collect();
        let reads = !stream.schema.0.is_empty() || !stream.categories.0.is_empty();
        let searches = 2 + batches.len();
        job.expect_steps(searches);
        let abstracts = self.abstracts(job, batches).await?;
        let texts: Vec<ArticleText> = found
            .articles
            .iter()
            .map(|found| ArticleText::new(found, abstracts.get(&found.article.pmid)))
            .collect();
        let screens = texts.iter().filter(|text| text.has_abstract()).count();
        job.expect_steps(searches + screens);
        let screened = self.screen(job, &stream, &found.articles, &texts).await?;
        let relevant = screened.iter().filter(|article| article.is_relevant()).count();
        if relevant > 0 {
            job.expect_steps(searches + screens + if reads { relevant } else { 0 } + 1);
        }
        let articles = match reads {
            true => self.read(job, &stream, screened, &texts).await?,
            false => screened.into_iter().map(|article| article.0).collect(),
        };
        let report = Report {
            stream_id: stream.id,
            name: stream.name.clone(),
            query: stream.query.clone(),
            found: found.total,
            articles,
            summary: Vec::new(),
            summary_problem: None,
            unsupported: 0,
        };
        let report = self.summarise(job, &stream, report, &texts).await?;
        serde_json::to_string(&report)
            .map_err(|error| JobEnd::invalid_plan(&format!("its result can't be written: {error}")))
    }

    /// Reads the abstracts of all articles, by their PMIDs.
    async fn abstracts(
        &self,
        job: &JobContext,
        batches: Vec<Vec<String>>,
    ) -> Result<BTreeMap<String, Vec<String>>, JobEnd> {
        let step = &Abstracts(self.pubmed.as_deref());
        let batches = batches.into_iter().enumerate();
        let read = job
            .for_each(batches, |(number, pmids)| {
                async move { job.step(format!("abstracts/{}", number + 1), step, pmids).await }.boxed()
            })
            .await?;
        let read: Result<Vec<_>, _> = read.into_iter().collect();
        Ok(read.map_err(JobEnd::Failed)?.into_iter().flatten().collect())
    }

    /// Judges the relevance of each article that has an abstract.
    async fn screen<'a>(
        &self,
        job: &JobContext,
        stream: &ResearchStream,
        found: &'a [FoundArticle],
        texts: &'a [ArticleText],
    ) -> Result<Vec<Screened>, JobEnd> {
        let screen = |(found, text): (&'a FoundArticle, &'a ArticleText)| {
            let found = found.clone();
            async move {
                let found = (found, text);
                if !text.has_abstract() {
                    return Ok(Screened::unknown(found, "PubMed has no abstract of it.".into()));
                }
                let key = format!("screen/{}", text.pmid);
                let answer = job
                    .step(key, &Screen, ScreenInput::new(stream, text.clone()))
                    .await?;
                Ok(match answer {
                    Ok(answer) if answer.relevant => Screened::new(
                        found,
                        Relevance::Relevant {
                            reason: answer.reason,
                        },
                    ),
                    Ok(answer) => Screened::new(
                        found,
                        Relevance::NotRelevant {
                            reason: answer.reason,
                        },
                    ),
                    Err(error) => Screened::unknown(found, message_of(&error)),
                })
            }
            .boxed()
        };
        job.for_each(found.iter().zip(texts), screen).await
    }

    /// Reads the fields of the schema out of each relevant article.
    async fn read<'a>(
        &self,
        job: &JobContext,
        stream: &ResearchStream,
        screened: Vec<Screened>,
        texts: &'a [ArticleText],
    ) -> Result<Vec<ReportArticle>, JobEnd> {
        let read = |(screened, text): (Screened, &'a ArticleText)| {
            async move {
                if !screened.is_relevant() {
                    return Ok(screened.0);
                }
                let key = format!("read/{}", text.pmid);
                let answer = job.step(key, &Read, ReadInput::new(stream, text.clone())).await?;
                Ok(with_cells(screened.0, answer, stream, text))
            }
            .boxed()
        };
        job.for_each(screened.into_iter().zip(texts), read).await
    }

    /// Adds the summary of the relevant articles.
    async fn summarise(
        &self,
        job: &JobContext,
        stream: &ResearchStream,
        mut report: Report,
        texts: &[ArticleText],
    ) -> Result<Report, JobEnd> {
        let relevant: Vec<ArticleText> = report
            .articles
            .iter()
            .zip(texts)
            .filter(|(article, _)| article.is_relevant())
            .map(|(_, text)| text.clone())
            .collect();
        if relevant.is_empty() {
            report.summary_problem = Some("No article is relevant.".into());
            return Ok(report);
        }
        let input = SummaryInput::new(stream, relevant);
        match job.step("summary", &Summarise, input).await? {
            Ok(answer) => {
                report.summary = check_claims(answer, texts);
                report.unsupported = passages::count_unsupported(&report.summary);
            }
            Err(error) => report.summary_problem = Some(message_of(&error)),
        }
        Ok(report)
    }
}

impl JobKind for ReportKind {
    fn name(&self) -> &'static str {
        REPORT
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn prepare<'a>(
        &'a self,
        user_id: UserId,
        input: &'a RawJson,
    ) -> BoxFuture<'a, Result<PreparedJob, ApiError>> {
        self.check(user_id, input).boxed()
    }

    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, Result<String, JobEnd>> {
        self.report(job).boxed()
    }
}

/// An article that was judged.
struct Screened(ReportArticle);

impl Screened {
    fn new((found, text): (FoundArticle, &ArticleText), relevance: Relevance) -> Self {
        Self(ReportArticle {
            article: found.article,
            retracted: found.retracted,
            relevance,
            category: None,
            cells: Vec::new(),
            problem: None,
            text: text.paragraphs.clone(),
        })
    }

    fn unknown(found: (FoundArticle, &ArticleText), problem: String) -> Self {
        let mut screened = Self::new(found, Relevance::Unknown);
        screened.0.problem = Some(problem);
        screened
    }

    fn is_relevant(&self) -> bool {
        self.0.is_relevant()
    }
}

/// Adds what was read out of an article.
fn with_cells(
    mut article: ReportArticle,
    answer: Result<ReadAnswer, RunError>,
    stream: &ResearchStream,
    text: &ArticleText,
) -> ReportArticle {
    match answer {
        Ok(answer) => {
            // The model may invent a group.
            article.category = answer
                .category
                .clone()
                .filter(|name| stream.categories.0.iter().any(|known| known.name == *name));
            article.cells = check_cells(answer, &stream.schema, text);
        }
        Err(error) => article.problem = Some(message_of(&error)),
    }
    article
}

fn message_of(error: &RunError) -> String {
    [error.message.as_str(), error.hint.as_str()]
        .join(" ")
        .trim_end()
        .into()
}
