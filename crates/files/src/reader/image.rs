//! Reading of images, and their form for models.

use std::{
    io::{self, Cursor, Read, Write},
    process::ExitCode,
};

use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageFormat, ImageReader,
    codecs::jpeg::JpegEncoder, imageops::FilterType,
};

use super::{ProcessLimits, limit_resources};
use crate::prepare::UprightSize;

/// The name of the subcommand.
pub const SUBCOMMAND: &str = "read-image";

/// The exit code for an image with too many pixels.
pub const TOO_MANY_PIXELS: u8 = 3;

/// The maximum width and height of an image for models: the smallest of the limits of the large providers.
const MAX_SIDE: u32 = 2000;

/// The maximum size of an image for models as PNG. A larger one is sent as JPEG.
const MAX_PNG_BYTES: usize = 1 << 20;

/// The quality of JPEG images for models.
const JPEG_QUALITY: u8 = 85;

/// The quality of whole JPEG images, which were JPEG before.
const WHOLE_JPEG_QUALITY: u8 = 95;

/// The memory for each pixel: decoded, turned and scaled.
const BYTES_PER_PIXEL: u64 = 16;

/// The maximum size of the form for models.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;

/// The form in which an image is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageForm {
    /// The image scaled for models, with few bytes.
    ForModels,
    /// The image at its original size.
    Whole,
}

/// Reads an image from the standard input and writes it in a form to the standard output: upright and without metadata. The
/// last line of the standard error is its size.
pub fn run(max_pixels: u64, memory: u64, form: ImageForm) -> ExitCode {
    limit_resources(ProcessLimits {
        memory: memory.saturating_add(max_pixels.saturating_mul(BYTES_PER_PIXEL)),
        output: MAX_OUTPUT_BYTES,
    });
    match convert(max_pixels, form) {
        Ok(size) => {
            let size = serde_json::to_string(&size).unwrap_or_default();
            let _ = writeln!(io::stderr(), "{size}");
            ExitCode::SUCCESS
        }
        Err(ConvertError::TooManyPixels) => ExitCode::from(TOO_MANY_PIXELS),
        Err(ConvertError::Unreadable(error)) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

enum ConvertError {
    TooManyPixels,
    Unreadable(ImageError),
}

impl<E: Into<ImageError>> From<E> for ConvertError {
    fn from(error: E) -> Self {
        Self::Unreadable(error.into())
    }
}

fn convert(max_pixels: u64, form: ImageForm) -> Result<UprightSize, ConvertError> {
    let mut data = Vec::new();
    io::stdin().read_to_end(&mut data).map_err(ImageError::IoError)?;
    let (size, prepared) = prepare(&data, max_pixels, form)?;
    io::stdout().write_all(&prepared).map_err(ImageError::IoError)?;
    Ok(size)
}

/// Returns the upright size of an image and its form: upright, without metadata.
fn prepare(data: &[u8], max_pixels: u64, form: ImageForm) -> Result<(UprightSize, Vec<u8>), ConvertError> {
    let reader = ImageReader::new(Cursor::new(data))
        .with_guessed_format()
        .map_err(ImageError::IoError)?;
    let format = reader.format();
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > max_pixels {
        return Err(ConvertError::TooManyPixels);
    }
    let orientation = decoder.orientation()?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    let size = UprightSize {
        width: image.width() as usize,
        height: image.height() as usize,
    };
    let is_whole = form == ImageForm::Whole;
    if !is_whole && (image.width() > MAX_SIDE || image.height() > MAX_SIDE) {
        image = image.resize(MAX_SIDE, MAX_SIDE, FilterType::Triangle);
    }
    if format != Some(ImageFormat::Jpeg) {
        let mut png = Vec::new();
        image.write_to(&mut Cursor::new(&mut png), ImageFormat::Png)?;
        if is_whole || png.len() <= MAX_PNG_BYTES {
            return Ok((size, png));
        }
    }
    let quality = if is_whole {
        WHOLE_JPEG_QUALITY
    } else {
        JPEG_QUALITY
    };
    Ok((size, encode_jpeg(&image, quality)?))
}

/// JPEG has no transparency: it becomes white.
fn encode_jpeg(image: &DynamicImage, quality: u8) -> Result<Vec<u8>, ImageError> {
    let (width, height) = (image.width(), image.height());
    let mut rgb = Vec::with_capacity(width as usize * height as usize * 3);
    for pixel in image.to_rgba8().pixels() {
        let [colours @ .., alpha] = pixel.0;
        let alpha = u32::from(alpha);
        let on_white = |colour: u8| ((u32::from(colour) * alpha + 255 * (255 - alpha)) / 255) as u8;
        rgb.extend(colours.map(on_white));
    }
    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, quality).encode(&rgb, width, height, ExtendedColorType::Rgb8)?;
    Ok(jpeg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut png = Vec::new();
        DynamicImage::new_rgba8(width, height)
            .write_to(&mut Cursor::new(&mut png), ImageFormat::Png)
            .unwrap();
        png
    }

    /// Returns a JPEG of a width and height with an EXIF orientation and a place where it was taken.
    fn photo(width: u32, height: u32, orientation: u8) -> Vec<u8> {
        let jpeg = encode_jpeg(&DynamicImage::new_rgb8(width, height), JPEG_QUALITY).unwrap();
        let tiff = [
            &b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"[..],
            &[orientation, 0, 0, 0],
            b"\0\0\0\0GPS 55.6761 12.5683",
        ]
        .concat();
        let length = u16::try_from(tiff.len() + 2).unwrap().to_be_bytes();
        [&jpeg[..2], &[0xFF, 0xE1], &length, &tiff, &jpeg[2..]].concat()
    }

    #[test]
    fn photo_is_upright_and_without_its_place() {
        let photo = photo(40, 20, 6);
        assert!(photo.windows(3).any(|bytes| bytes == b"GPS"));
        let Ok((size, prepared)) = prepare(&photo, 1000, ImageForm::ForModels) else {
            panic!("it can be read")
        };
        assert_eq!((size.width, size.height), (20, 40));
        let shown = image::load_from_memory(&prepared).unwrap();
        assert_eq!((shown.width(), shown.height()), (20, 40));
        for metadata in [&b"GPS"[..], b"Exif"] {
            assert!(!prepared.windows(metadata.len()).any(|bytes| bytes == metadata));
        }
    }

    #[test]
    fn large_image_is_scaled() {
        let Ok((size, prepared)) = prepare(&png(4000, 10), 100_000, ImageForm::ForModels) else {
            panic!("it can be read")
        };
        assert_eq!((size.width, size.height), (4000, 10));
        assert_eq!(image::load_from_memory(&prepared).unwrap().width(), MAX_SIDE);
    }

    #[test]
    fn whole_image_keeps_its_size_and_format() {
        for (image, format) in [
            (png(3000, 10), ImageFormat::Png),
            (photo(2400, 20, 1), ImageFormat::Jpeg),
        ] {
            let Ok((size, whole)) = prepare(&image, 100_000, ImageForm::Whole) else {
                panic!("it can be read")
            };
            let shown = image::load_from_memory_with_format(&whole, format).unwrap();
            assert_eq!(
                (size.width, size.height),
                (shown.width() as usize, shown.height() as usize)
            );
            assert!(size.width > MAX_SIDE as usize && !whole.windows(3).any(|bytes| bytes == b"GPS"));
        }
    }

    #[test]
    fn pixel_bomb_is_not_decoded() {
        let bomb = png(30, 30);
        let refused = prepare(&bomb, 899, ImageForm::Whole);
        assert!(matches!(refused, Err(ConvertError::TooManyPixels)));
        assert!(prepare(&bomb, 900, ImageForm::Whole).is_ok());
    }

    #[test]
    fn damaged_image_is_an_error() {
        let png = png(30, 30);
        for end in 0..png.len().min(60) {
            let read = prepare(&png[..end], 1000, ImageForm::ForModels);
            assert!(matches!(read, Err(ConvertError::Unreadable(_))), "{end}");
        }
    }
}
