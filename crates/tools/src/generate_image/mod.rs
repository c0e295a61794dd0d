//! Makes an image, or edits an earlier one, with an image model of the endpoints.

mod count;
mod received;

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use self::count::ImageCount;
pub use self::count::made_images;
use super::{
    FileLimits, Tool, ToolContext, ToolError, ToolKind, ToolResult, message_file::find_message_file,
};
use parlor_base::{
    settings::{FetchWebpageSettings, ImageSettings},
    text::single_line,
};
use parlor_files::{Files, is_image};
use parlor_model::{ImageError, ImageRequest, ImageShape, ModelError, ReportedUsage, SourceImage};
use parlor_protocol::{Fraction, RawJson, UserId, tool_kind};
use parlor_providers as providers;
use parlor_providers::{ImageModel, Models};
use parlor_storage::Storage;
use parlor_web::{WebClient, WebConfig};

/// The time for fetching and reading images, in addition to that for making them.
const READING_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum length of a description, in bytes.
const MAX_PROMPT_BYTES: usize = 32_000;

/// Maximum length of an image's name, in characters, which is the beginning of its description.
const MAX_NAME_CHARS: usize = 40;

/// The tool, which is offered if an endpoint has an image model.
pub struct GenerateImage {
    storage: Arc<dyn Storage>,
    files: Files,
    models: Arc<Models>,
    settings: ImageSettings,
    /// The client for answers with the URL of an image; `None` if this machine can't make safe connections.
    web: Option<WebClient>,
    count: ImageCount,
}

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The image in words, as completely as possible: subject, surroundings, style, light, colours, and any text in it. For
    /// an edit: what changes and what stays.
    prompt: String,
    /// To edit an earlier image: its message, the part of its id in METADATA before the colon.
    history_image_message_id: Option<String>,
    /// To edit an earlier image: its number in its message, the part of its id after the colon.
    history_image_file_index: Option<usize>,
    /// The shape of the image. If missing, square, or that of the edited image.
    shape: Option<Shape>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Shape {
    Square,
    Landscape,
    Portrait,
}

impl From<Shape> for ImageShape {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Square => Self::Square,
            Shape::Landscape => Self::Landscape,
            Shape::Portrait => Self::Portrait,
        }
    }
}

impl GenerateImage {
    pub fn new(
        storage: Arc<dyn Storage>,
        files: Files,
        models: Arc<Models>,
        settings: &ImageSettings,
        web: &FetchWebpageSettings,
    ) -> Self {
        let config = WebConfig {
            allowed_hosts: web.allowed_hosts.clone(),
            max_bytes: settings.max_bytes,
            timeout: web.timeout,
            ..WebConfig::default()
        };
        Self {
            storage,
            files,
            models,
            settings: settings.clone(),
            web: WebClient::new(config).ok(),
            count: ImageCount::default(),
        }
    }

    /// Reads the image to edit, with its shape.
    async fn source(
        &self,
        user_id: UserId,
        message_id: &str,
        index: usize,
    ) -> Result<(SourceImage, ImageShape), ToolError> {
        let stored = find_message_file(&*self.storage, user_id, message_id, index).await?;
        let file = &stored.attachment;
        if !is_image(file) {
            return Err(ToolError(format!(
                "{} is not an image. Use the id of one.",
                file.name
            )));
        }
        let read = self.files.read_prepared_image(stored.location).await;
        let data = read
            .map_err(|error| {
                tracing::error!(%error, "an image can't be read");
                ToolError::unavailable()
            })?
            .ok_or_else(|| ToolError(format!("{} can't be read. Make a new image.", file.name)))?;
        let media_type = match data.starts_with(b"\x89PNG") {
            true => "image/png",
            false => "image/jpeg",
        };
        let shape = match (file.width, file.height) {
            (Some(width), Some(height)) => ImageShape::from_size(width, height),
            _ => ImageShape::Square,
        };
        Ok((SourceImage { media_type, data }, shape))
    }

    /// Adds the use of a model to that of the call. Without counts, nothing is known of the cost.
    fn add_usage(&self, call: &ToolContext, model: &ImageModel, usage: Option<ReportedUsage>) {
        let prices = self.models.capabilities(&model.id).prices;
        let cost = usage.and_then(|usage| usage.cost_at(prices.as_ref()));
        call.usage.add(usage.unwrap_or_default().to_totals(cost, false));
    }

    /// Counts an image that a run is going to have. Returns false if it has the maximum already.
    async fn count_image(&self, call: &ToolContext) -> Result<bool, ToolError> {
        let found = self.storage.message(call.user_id, call.run).await;
        let found = found.map_err(|error| {
            tracing::error!(%error, "an answer can't be read");
            ToolError::unavailable()
        })?;
        let message = found.as_ref().and_then(|(_, message)| message.assistant());
        let stored = message.map_or(0, made_images);
        Ok(self.count.add(call.run, stored, self.settings.max_count))
    }
}

impl Tool for GenerateImage {
    type Input = Input;

    const KIND: ToolKind = tool_kind::GENERATE_IMAGE;
    const DESCRIPTION: &'static str = "Makes an image from a description and shows it to the person, or edits an earlier image of the conversation: give its \
         id of METADATA. Use it only when the person wants an image. The person sees the image itself, so do not link it.";
    const LABEL: &'static str = "Generating image";
    const DONE: &'static str = "Generated image";

    fn timeout(&self) -> Duration {
        self.settings.timeout.saturating_add(READING_TIMEOUT)
    }

    fn file_limits(&self) -> Option<FileLimits> {
        Some(FileLimits {
            max_count: self.settings.max_count,
            max_bytes: self.settings.max_bytes,
            count_setting: "images.max_count",
            bytes_setting: "images.max_bytes",
        })
    }

    fn detail(&self, input: &Input) -> Option<String> {
        Some(input.prompt.clone())
    }

    async fn run(&self, input: Input, call: ToolContext) -> Result<ToolResult, ToolError> {
        let prompt = input.prompt.trim();
        if prompt.is_empty() || prompt.len() > MAX_PROMPT_BYTES {
            return Err(ToolError(format!(
                "The prompt must have from 1 to {MAX_PROMPT_BYTES} bytes."
            )));
        }
        let model = self.models.image_model(&self.settings);
        let model = model.ok_or_else(|| ToolError::new("No endpoint makes images just now. Say so."))?;
        let source = match &input.history_image_message_id {
            Some(id) if !id.trim().is_empty() => {
                let index = input.history_image_file_index.unwrap_or_default();
                Some(self.source(call.user_id, id, index).await?)
            }
            _ => None,
        };
        if source.is_some() && !providers::can_edit(model.api, &model.name) {
            return Err(ToolError(format!(
                "{} can't edit images. Make a new one from a full description.",
                model.id
            )));
        }
        let (source, source_shape) = source.unzip();
        let shape = input
            .shape
            .map(ImageShape::from)
            .or(source_shape)
            .unwrap_or_default();
        let limit = self.settings.max_count;
        if !self.count_image(&call).await? {
            return Err(ToolError(format!(
                "This answer has {limit} images already, which is the maximum (setting images.max_count). More can be made in the next \
                 answer."
            )));
        }
        report_size(&call, &model, shape);
        let request = ImageRequest {
            prompt: prompt.to_owned(),
            shape,
            source,
            max_bytes: self.settings.max_bytes,
        };
        let made = tokio::time::timeout(self.settings.timeout, self.models.make_image(&model, &request));
        let answer = made
            .await
            .map_err(|_| {
                let seconds = self.settings.timeout.as_secs();
                ToolError(format!(
                    "{} made no image within {seconds} seconds (setting images.timeout). Whether it counts as made is not known.",
                    model.id
                ))
            })?
            .map_err(|ImageError { error, usage }| {
                // It counts although there is no image.
                if let Some(usage) = usage {
                    self.add_usage(&call, &model, Some(usage));
                }
                model_error(error)
            })?;
        self.add_usage(&call, &model, answer.usage);
        let name = single_line(prompt, MAX_NAME_CHARS);
        let name = name.trim_end_matches(['…', '.']);
        let (attachments, notes) = self.read_images(answer.images, &call, name).await?;
        if attachments.is_empty() {
            return Err(ToolError(format!("{} Try once more.", notes.join(" "))));
        }
        let mut text = format!("Made by {}. {}", model.id, answer.text);
        text.truncate(text.trim_end().len());
        for note in notes {
            text.push_str(&format!("\n\n({note})"));
        }
        Ok(ToolResult {
            text,
            attachments,
            ..ToolResult::default()
        })
    }
}

/// Tells the page the size of the image, for a placeholder.
fn report_size(call: &ToolContext, model: &ImageModel, shape: ImageShape) {
    let size = providers::expected_size(model.api, &model.name, shape);
    let data = json!({ "width": size.width, "height": size.height }).to_string();
    let data = RawJson::parse_or_quote(&data);
    call.progress
        .report_with_data("generating", String::new(), None::<Fraction>, Some(data));
}

fn model_error(error: ModelError) -> ToolError {
    let error = error.error;
    ToolError(format!("{} {}", error.message, error.hint).trim_end().to_owned())
}
