//! A real server in the tests' process, over HTTP, at a scripted model server.

mod continuing;
mod contract;
mod faults;
mod mcp;
mod nginx;
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
