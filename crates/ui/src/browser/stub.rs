//! The server's stubs of the types that functions of the browser return, and the time.

use std::time::{SystemTime, UNIX_EPOCH};

use parlor_protocol::Timestamp;

/// Returns the time of the server.
pub fn system_time() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(since.as_millis() as i64)
}

pub struct Timer;

impl Timer {
    pub fn detach(self) {}
}

pub struct ChartFrame;

impl ChartFrame {
    pub fn set_dark(&self, _is_dark: bool) {}
}

#[derive(Clone, Debug)]
pub struct LocalFile;

impl LocalFile {
    pub fn name(&self) -> String {
        String::new()
    }

    pub fn size(&self) -> f64 {
        0.0
    }
}

pub struct ElementObserver;

pub struct EventStream;

pub struct SelectionWatch;

pub struct TabLock;

#[derive(Debug)]
pub struct Upload;
