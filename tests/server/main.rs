//! Tests of a real server in this process, over HTTP, with a scripted model server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test may panic, print and use its own client"
)]
#![recursion_limit = "512"]

mod accounts;
mod attached_tables;
mod attachments;
mod batch;
mod built_in_tools;
mod columns;
mod continue_run;
mod contract;
mod conversation_list;
mod conversations;
mod cross_site;
mod damage;
mod data;
mod diagnostics;
mod endpoints;
mod examples;
mod faults;
mod files;
mod frames;
mod fuzz;
mod history;
mod injection;
mod interrupted_jobs;
mod inventory;
mod jobs;
mod listed_pages;
mod literature;
mod many_tools;
mod mcp;
mod mcp_server;
mod mcp_start;
mod model_capabilities;
mod model_payloads;
mod news;
mod nginx;
mod nodes;
mod openapi;
mod operations;
mod pages;
mod parameters;
mod payloads;
mod personal;
mod project_files;
mod project_memories;
mod projects;
mod prompts;
mod provider_data;
mod provider_kinds;
mod python;
mod queue;
mod rejections;
mod releases;
mod reports;
mod resume;
mod roles;
mod schedules;
mod search;
mod sharing;
mod slow_clients;
mod slow_reader;
mod storage_failures;
mod stored_tables;
mod suggestions;
mod support;
mod titles;
mod tokens;
mod tools;
mod unknown_models;
mod window;
