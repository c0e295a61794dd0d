//! The choice of the model that makes images.

use super::{super::images::image_rank, Models};
use parlor_base::settings::{ImageApiSetting, ImageSettings};
use parlor_model::{ImageAnswer, ImageApi, ImageError, ImageRequest};
use parlor_protocol::RunError;

/// A model that makes images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageModel {
    /// The id, as `endpoint/model`.
    pub id: String,
    /// The endpoint's name of it.
    pub name: String,
    pub api: ImageApi,
}

impl Models {
    /// Returns the model that makes images: the one in the settings, or the best one of the first endpoint that lists any.
    pub fn image_model(&self, settings: &ImageSettings) -> Option<ImageModel> {
        let set_api = settings.api.map(|api| match api {
            ImageApiSetting::Images => ImageApi::Images,
            ImageApiSetting::Gemini => ImageApi::GenerateContent,
            ImageApiSetting::Chat => ImageApi::Chat,
        });
        if let Some(id) = &settings.model {
            let (endpoint, name) = self.resolve(id).ok()?;
            let api = set_api.or_else(|| endpoint.image_api(&name, true))?;
            let id = format!("{}/{name}", endpoint.name());
            return Some(ImageModel { id, name, api });
        }
        let cached = self.cached()?;
        self.endpoints().slots.iter().find_map(|slot| {
            let listed = cached.by_endpoint.get(slot.endpoint.name())?.ids.iter();
            let found = listed.filter_map(|name| Some((name, slot.endpoint.image_api(name, false)?)));
            let (name, api) = found.min_by_key(|(name, _)| image_rank(name))?;
            Some(ImageModel {
                id: format!("{}/{name}", slot.endpoint.name()),
                name: name.clone(),
                api: set_api.unwrap_or(api),
            })
        })
    }

    /// Returns the reason why the model in the settings can't make images, if it is not there or its endpoint has no
    /// request for images.
    pub fn image_model_problem(&self, settings: &ImageSettings) -> Option<RunError> {
        let id = settings.model.as_ref()?;
        let reason = match self.resolve(id) {
            Err(error) => error.error.message,
            Ok(_) if self.image_model(settings).is_none() => "Its endpoint has no request for images.".into(),
            Ok(_) => return None,
        };
        Some(RunError {
            code: "no_image_model".into(),
            message: format!("No images are made: the setting images.model names “{id}”. {reason}"),
            hint: String::new(),
        })
    }

    /// Makes or edits an image. The caller limits the time.
    ///
    /// # Errors
    ///
    /// If there is no image: the reason, such as a refusal.
    pub async fn make_image(
        &self,
        model: &ImageModel,
        request: &ImageRequest,
    ) -> Result<ImageAnswer, ImageError> {
        let (endpoint, name) = self.resolve(&model.id)?;
        endpoint.make_image(&name, model.api, request).await
    }
}
