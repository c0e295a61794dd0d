//! A real server in the tests' process, over HTTP, at a scripted model server.

mod asking;
mod continuing;
mod contract;
mod faults;
mod history;
mod mcp;
mod nginx;
mod payloads;
mod refusals;
mod resume;
mod slow_reader;
mod storage_trouble;
mod support;
mod tools;
mod tools_builtin;
