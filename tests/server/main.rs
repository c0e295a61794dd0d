//! A real server in the tests' process, over HTTP, at a scripted model server.

mod continuing;
mod contract;
mod faults;
mod forgeries;
mod literature;
mod mcp;
mod nginx;
mod offers;
mod payloads;
mod refusals;
mod resume;
mod slow_reader;
mod storage_trouble;
mod support;
mod tools;
mod tools_builtin;
