//! A real server in the tests' process, over HTTP, at a scripted model server.

mod asking;
mod attachments;
mod batch;
mod continuing;
mod contract;
mod conversations;
mod diagnostics;
mod faults;
mod forgeries;
mod history;
mod literature;
mod mcp;
mod mcp_start;
mod nginx;
mod offers;
mod openapi;
mod payloads;
mod personal;
mod refusals;
mod resume;
mod slow_reader;
mod storage_trouble;
mod support;
mod tokens;
mod tools;
mod tools_builtin;
