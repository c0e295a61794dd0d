//! The vocabulary of the server, the browser and any other client: ids, messages, events, the reducer and the
//! framing of the event stream.
//!
//! Serde and schemars only, no business logic, no I/O; compiled for the server and for the browser. The meaning of events
//! is defined here ([`transcript`], [`conversation_list`], [`client_update`]) and nowhere else.

pub mod attachment;
pub mod client_update;
pub mod columns;
pub mod context;
pub mod conversation_list;
pub mod damaged_message;
pub mod data;
pub mod diagnostics;
pub mod dollars;
pub mod draft;
pub mod earlier_data;
mod endpoint;
mod endpoint_kind;
pub mod error;
pub mod event;
#[cfg(any(test, feature = "testing"))]
pub mod examples;
pub mod file_list;
pub mod file_preview;
pub mod finish_reason;
mod flat_json;
pub mod id;
pub mod intent;
pub mod interaction;
pub mod job;
pub mod json;
pub mod literature;
pub mod memory;
pub mod message;
pub mod model_capabilities;
pub mod model_list;
pub mod number_format;
mod own_key;
pub mod page;
pub mod panel;
pub mod parameters;
pub mod passage;
pub mod payload;
pub mod personal;
pub mod project;
pub mod provider_data;
pub mod queue;
pub mod report;
pub mod role;
pub mod run_status;
pub mod schedule;
pub mod search;
#[cfg(feature = "server-functions")]
pub mod server_functions;
mod services;
pub mod shared_project;
pub mod sharing;
pub mod sorted_vec;
pub mod sse;
pub mod suggestion;
pub mod text;
pub mod thinking;
pub mod time;
pub mod tool;
pub mod tool_kind;
pub mod transcript;
pub mod url_text;
pub mod usage;

pub use attachment::{Attachment, FileProblem};
pub use client_update::ClientUpdate;
pub use context::{DRAFTS_FIELD, PageContext, PageFields};
pub use conversation_list::{ConversationList, ListChange, ListChanged, ListedConversation};
pub use dollars::Dollars;
pub use endpoint::{
    EndpointKey, EndpointKeyState, EndpointList, EndpointProblem, EndpointProblemCode, EndpointTest,
    EndpointTestResult, EndpointUpdate, EndpointView, FoundModel, LocalServer, NewEndpoint,
};
pub use endpoint_kind::EndpointKind;
pub use error::{ApiError, ErrorCode};
pub use event::{
    ConversationEvent, Event, EventBody, Placeholder, Position, RunEvent, StreamNotice, UserEvent,
};
pub use file_list::{FileList, FileSort, FileUse, FileUseState, FilesDeleted, ListedFile};
pub use file_preview::FilePreview;
pub use finish_reason::FinishReason;
pub use id::{
    AttachmentId, ColumnId, ConversationId, EndpointId, IntentId, JobId, LinkId, MemoryId, MessageId,
    ModelCallId, ProjectId, ResearchStreamId, ScheduleId, SessionId, ShareId, TokenId, UserId,
};
pub use interaction::{FRESH_SESSION, Interaction, ScheduledMessage};
pub use json::RawJson;
pub use memory::Memory;
pub use message::{
    AssistantMessage, JoinedPart, JoinedPartKind, Message, MessageBody, Node, Part, SESSION_NOT_RESTORED,
    WAITING_FOR_MODEL,
};
pub use model_capabilities::{ModelCapabilities, Prices};
pub use own_key::{
    NewOwnKey, OWN_KEY_PREFIX, OfferedService, OwnKeyList, OwnKeyTest, OwnKeyUpdate, is_of_own_key,
};
pub use page::PageInfo;
pub use panel::PanelView;
pub use parameters::{ParameterInput, Parameters};
pub use passage::{FoundPassage, Passage};
pub use payload::{Payload, PayloadRef, PayloadVerdict, Verdict};
pub use personal::{ApiToken, NewToken, News, PersonalData};
pub use project::{
    ListedProject, OfferedTool, Project, ProjectColour, ProjectConversations, ProjectDeleted, ProjectFiles,
    ProjectList,
};
pub use provider_data::{PlacedProviderData, ProviderData};
pub use queue::{MessageQueue, QueuedMessage};
pub use role::Role;
pub use run_status::{RunError, RunStatus};
pub use schedule::{
    ListedSchedule, RunSchedule, Schedule, ScheduleList, ScheduleStarted, ScheduledRun, Weekday,
};
pub use services::{SERVICES, Service, service_label};
pub use shared_project::{ProjectReader, ProjectReaders, SharedChat, SharedProject, SharedProjectContent};
pub use sharing::{NewShare, Share, SharedConversation, SharedFrame};
pub use suggestion::{ActionHandler, ActionStyle, CitedSource, SuggestedAction, SuggestedValue};
pub use thinking::{ThinkingChoice, ThinkingLevel, ThinkingSupport};
pub use time::Timestamp;
pub use tool::{Fraction, RequestedCall, ToolCall, ToolProgress, ToolStatus};
pub use transcript::{OlderMessages, Transcript};
pub use usage::{TokenTotals, Usage};
