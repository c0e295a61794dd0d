//! Parts that the whole server uses: settings, redaction of secrets and their encryption at rest, short forms of foreign text, notices and figures for
//! operators, CA certificates, the program as a limited process, the clock, the planned times of schedules, and the places where a test kills the process.

pub mod ca_roots;
pub mod clock;
#[doc(hidden)]
pub mod crash_point;
pub mod metrics;
pub mod notices;
pub mod own_program;
pub mod planned_times;
pub mod sealing;
pub mod secrets;
pub mod settings;
pub mod text;
