//! The pages with the usage by day: one's own, and for administrators that of all users.

use std::collections::BTreeMap;

use axum::{
    Extension,
    extract::{Query, rejection::QueryRejection},
    http::StatusCode,
    response::Response,
};
use jiff::tz::TimeZone;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::{
    SignedIn,
    page::{self, failure},
    texts,
};
use crate::app::{self, AppState, Caller};
use parlor_base::clock;
use parlor_pages::payloads::PayloadViews;
use parlor_protocol::{
    ApiError, Payload, RawJson, UserId,
    number_format::group_digits,
    panel::{ChartView, PanelBody},
};
use parlor_storage::{
    accounts::{Account, Role},
    usage::{DailyUsage, Day, UsageSum},
};
use parlor_ui::still_chart;

/// The number of days that the pages show: whole weeks, so that all labels of the chart stand for as many days.
const SHOWN_DAYS: i64 = 28;

/// The query of the administrator's page.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct UsageQuery {
    /// The only user to show.
    user: Option<String>,
}

/// `GET /settings/usage`: the user's own.
pub async fn show_own(caller: Caller, account: Option<Extension<Account>>) -> Response {
    let is_administrator = account.is_some_and(|account| account.role == Role::Administrator);
    match own_page(&caller, is_administrator).await {
        Ok(response) => response,
        Err(error) => failure(texts::USAGE_TITLE, &error),
    }
}

/// Returns the links between an administrator's own usage and that of all users.
fn switch(is_of_all: bool) -> impl IntoView {
    let link = |label: &'static str, path: &'static str, is_here: bool| {
        view! { <a class="choice-link" href=path aria-current=is_here.then_some("page")>{label}</a> }
    };
    view! {
        <nav class="choice" aria-label=texts::USAGE_TITLE>
            {link(texts::OWN_USAGE, "/settings/usage", !is_of_all)}
            {link(texts::USAGE_OF_ALL, "/settings/usage/all", is_of_all)}
        </nav>
    }
}

async fn own_page(caller: &Caller, is_administrator: bool) -> Result<Response, ApiError> {
    let today = Day::from_timestamp(clock::now());
    let usage = caller
        .app
        .storage
        .daily_usage(Some(caller.user_id), first_day(today));
    let days = by_day(&usage.await?);
    let used = days.get(&today).copied().unwrap_or_default();
    let content = view! {
        {is_administrator.then(|| switch(false))}
        {about()}
        {limits(&caller.app, used)}
        {charts(&days, today)}
        {table(texts::BY_DAY, texts::DAY, rows_by_day(&days))}
    };
    Ok(page::respond(StatusCode::OK, texts::USAGE_TITLE, content))
}

/// `GET /settings/usage/all`
pub async fn show_all(admin: SignedIn, query: Result<Query<UsageQuery>, QueryRejection>) -> Response {
    let Query(query) = query.unwrap_or_default();
    match administrators_page(&admin, query).await {
        Ok(response) => response,
        Err(error) => failure(texts::USAGE_TITLE, &error),
    }
}

async fn administrators_page(admin: &SignedIn, query: UsageQuery) -> Result<Response, ApiError> {
    admin.require_administrator()?;
    let accounts = admin.app.accounts.accounts().await?;
    let user: Option<UserId> = match &query.user {
        Some(id) => Some(id.parse().map_err(|_| app::not_found())?),
        None => None,
    };
    let names: BTreeMap<UserId, String> = accounts
        .into_iter()
        .map(|account| (account.user_id, account.name))
        .collect();
    let name = match user {
        Some(user) => Some(names.get(&user).ok_or_else(app::not_found)?.clone()),
        None => None,
    };
    let today = Day::from_timestamp(clock::now());
    let usage = admin.app.storage.daily_usage(user, first_day(today)).await?;
    let days = by_day(&usage);
    let of_users = user.is_none().then(|| {
        let mut sums: BTreeMap<UserId, UsageSum> = BTreeMap::new();
        for day in &usage {
            let sum = sums.entry(day.user_id).or_default();
            *sum = sum.plus(day.usage);
        }
        let mut sums: Vec<_> = sums
            .into_iter()
            .filter_map(|(user, sum)| Some((user, names.get(&user)?.clone(), sum)))
            .collect();
        sums.sort_by_key(|(_, _, sum)| std::cmp::Reverse(sum.tokens()));
        table_by_user(sums)
    });
    let heading = name.map(heading);
    let content = view! {
        {switch(true)}
        {heading}
        {about()}
        {charts(&days, today)}
        {of_users}
        {table(texts::BY_DAY, texts::DAY, rows_by_day(&days))}
    };
    Ok(page::respond(StatusCode::OK, texts::USAGE_TITLE, content))
}

pub(super) fn heading(name: String) -> impl IntoView {
    let [before, after] = texts::USAGE_OF;
    view! { <p>{before} <strong>{name}</strong> {after}</p> }
}

pub(super) fn table_by_user(sums: Vec<(UserId, String, UsageSum)>) -> impl IntoView {
    let rows = sums.into_iter().map(|(user, name, sum)| {
        let link = view! { <a href=format!("/settings/usage/all?user={user}")>{name}</a> };
        (link.into_any(), sum)
    });
    table(texts::BY_USER, texts::USER, rows.collect())
}

fn about() -> impl IntoView {
    let text = texts::about_usage(SHOWN_DAYS);
    view! { <p class="account-note">{text}</p> }
}

/// Returns the rest of the day's limits, if there are any.
fn limits(app: &AppState, used: UsageSum) -> impl IntoView + use<> {
    let settings = &app.settings.accounts;
    let tokens = settings
        .tokens_per_day
        .map(|limit| texts::used_tokens(&group_digits(used.tokens()), &group_digits(limit)));
    let cost = settings
        .dollars_per_day
        .map(|limit| texts::used_dollars(&used.cost.to_label(), &limit.to_label()));
    let runs = settings.runs.map(texts::runs_at_once);
    let parts: Vec<_> = [tokens, cost, runs].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| view! { <p>{texts::limits(&parts)}</p> })
}

fn first_day(today: Day) -> Day {
    Day(today.0 - SHOWN_DAYS + 1)
}

/// Returns the sums of all users by day.
fn by_day(usage: &[DailyUsage]) -> BTreeMap<Day, UsageSum> {
    let mut days: BTreeMap<Day, UsageSum> = BTreeMap::new();
    for day in usage {
        let sum = days.entry(day.day).or_default();
        *sum = sum.plus(day.usage);
    }
    days
}

/// Returns the charts of the tokens and, if there is any, of the cost.
fn charts(days: &BTreeMap<Day, UsageSum>, today: Day) -> impl IntoView + use<> {
    let shown: Vec<Day> = (first_day(today).0..=today.0).map(Day).collect();
    let values = |of: fn(&UsageSum) -> f64| -> Vec<f64> {
        let of_day = |day| days.get(day).map_or(0.0, of);
        shown.iter().map(of_day).collect()
    };
    // Without any usage, the table says so.
    let tokens = (!days.is_empty())
        .then(|| chart(&shown, &values(|sum| sum.tokens() as f64)))
        .flatten();
    let cost = values(|sum| sum.cost.to_f64());
    let cost = cost
        .iter()
        .any(|cost| *cost > 0.0)
        .then(|| chart(&shown, &cost))
        .flatten();
    let drawn: Vec<_> = [(texts::TOKENS_BY_DAY, tokens), (texts::COST_BY_DAY, cost)]
        .into_iter()
        .filter_map(|(title, chart)| Some((title, chart?)))
        .map(|(title, chart)| {
            view! {
                <section class="settings-section">
                    <h3>{title}</h3>
                    {still_chart(&chart, title)}
                </section>
            }
        })
        .collect();
    view! { {drawn} }
}

/// Returns a chart of the panel's kind.
fn chart(days: &[Day], values: &[f64]) -> Option<ChartView> {
    let labels: Vec<String> = days.iter().map(|day| date(*day)).collect();
    let data = json!({ "kind": "bar", "x": labels, "series": [{ "values": values }] });
    let payload = Payload {
        payload_id: String::new(),
        kind: "chart".into(),
        summary: String::new(),
        data: RawJson::parse_or_quote(&data.to_string()),
    };
    match PayloadViews::default().view(&payload).body {
        PanelBody::Chart(chart) => Some(chart),
        _ => None,
    }
}

fn rows_by_day(days: &BTreeMap<Day, UsageSum>) -> Vec<(AnyView, UsageSum)> {
    let newest_first = days.iter().rev();
    newest_first
        .map(|(day, sum)| (view! { <span>{date(*day)}</span> }.into_any(), *sum))
        .collect()
}

/// Returns a table of sums, with their total.
fn table(title: &'static str, first: &'static str, rows: Vec<(AnyView, UsageSum)>) -> impl IntoView + use<> {
    if rows.is_empty() {
        return view! { <p class="settings-empty">{texts::NOTHING_USED}</p> }.into_any();
    }
    let total = rows
        .iter()
        .fold(UsageSum::default(), |total, (_, sum)| total.plus(*sum));
    let rows: Vec<_> = rows.into_iter().map(|(name, sum)| row(name, sum)).collect();
    let total = row(view! { <span>{texts::TOTAL}</span> }.into_any(), total);
    view! {
        <section class="settings-section">
            <h3>{title}</h3>
            <div class="usage-table" tabindex="0" role="region" aria-label=title>
                <table>
                    <thead>
                        <tr>
                            <th scope="col">{first}</th>
                            <th scope="col">{texts::ANSWERS}</th>
                            <th scope="col">{texts::TOKENS_IN}</th>
                            <th scope="col">{texts::TOKENS_OUT}</th>
                            <th scope="col">{texts::COST}</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                    <tfoot>{total}</tfoot>
                </table>
            </div>
        </section>
    }
    .into_any()
}

fn row(name: AnyView, sum: UsageSum) -> AnyView {
    view! {
        <tr>
            <th scope="row">{name}</th>
            <td>{group_digits(sum.runs)}</td>
            <td>{group_digits(sum.input_tokens)}</td>
            <td>{group_digits(sum.output_tokens)}</td>
            <td>{sum.cost.to_label()}</td>
        </tr>
    }
    .into_any()
}

/// Returns the date of a day, such as Nov 25: all shown days are of the last four weeks.
fn date(day: Day) -> String {
    clock::format_day(day.start(), &TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use parlor_protocol::Dollars;

    #[test]
    fn charts_have_equal_labels_and_no_styles() {
        let today = Day(20_782);
        let sum = UsageSum {
            runs: 2,
            input_tokens: 1500,
            output_tokens: 200,
            cost: Dollars(2_500_000),
        };
        let days = BTreeMap::from([(today, sum), (Day(today.0 - 27), sum)]);
        let shown: Vec<Day> = (first_day(today).0..=today.0).map(Day).collect();
        let drawn = chart(&shown, &vec![1.0; shown.len()]).expect("a chart");
        let places: BTreeSet<u32> = drawn.labels.iter().map(|label| label.places).collect();
        assert_eq!(places.len(), 1, "{:?}", drawn.labels);
        let html = charts(&days, today).to_html();
        assert!(
            html.matches("<svg").count() == 2 && !html.contains("style="),
            "{html}"
        );
        let html = table("By day", "Day", rows_by_day(&days)).to_html();
        assert!(html.contains("Nov 25") && html.contains("3,000"), "{html}");
    }
}
