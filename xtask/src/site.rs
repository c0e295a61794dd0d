//! The folder of everything that a browser loads, in the format that `src/assets/mod.rs` reads:
//!
//! ```text
//! site/manifest.json            {"js": "/pkg/parlor-HASH/parlor.js", "wasm": …, "css": "/pkg/parlor-HASH.css", …}
//! site/pkg/parlor-HASH.css      named by its content, so that a browser may keep it for ever
//! site/pkg/parlor-HASH/         the browser code, with what is loaded later (`wasm` makes it)
//! site/pkg/mermaid-HASH.js.br   Mermaid, compressed only: it is large, and few browsers need it uncompressed
//! site/pkg/math-font-HASH.css    the style sheet of the font of formulas
//! site/pkg/FONT-HASH.woff2      the fonts of public/fonts, to which a style sheet refers by their names there
//! site/favicon.svg …            the other files of public/, under their own names
//! site/**/*.br                  each compressible file once more, with Brotli
//! ```
//!
//! The files of the browser code refer to each other and match within one build only. The hash is therefore
//! in the folder's name and covers all of them, and each finds the others next to it: a page of an old build
//! never gets a part of a new one.
//!
//! Development and release have separate folders (`target/site`, `target/site-release`), so that neither
//! deletes the other's files. So has the browser code of another package than Parlor's own (`target/site-NAME`), such as one
//! with a page more (`docs/pages.md`).

use crate::{Profile, cargo, css, npm, package::Package, print_step, wasm};
use anyhow::{Context, Result};
use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// The font of all text, which every page loads first, as the style sheet names it.
const TEXT_FONT: &str = "/fonts/inter-latin.woff2";

/// Returns the path of the finished site of a package.
pub fn site_folder(mode: Profile, package: &Package) -> PathBuf {
    let mut folder = "target/site".to_owned();
    if let Package::Other(name) = package {
        folder.push_str(&format!("-{name}"));
    }
    if mode == Profile::Release {
        folder.push_str("-release");
    }
    folder.into()
}

/// Updates the site of a package. Does nothing if none of its inputs has changed.
pub fn build(mode: Profile, package: &Package) -> Result<()> {
    print_step("building the browser code (WASM)");
    let wasm = cargo::build_wasm(mode, package.browser_code())?;
    assemble(mode, &wasm, &site_folder(mode, package))
}

fn assemble(mode: Profile, wasm: &Path, site: &Path) -> Result<()> {
    let wasm = fs::read(wasm).with_context(|| format!("reading {}", wasm.display()))?;
    let css = css::bundle(Path::new("style/main.css"))?;
    let math_font = css::bundle(Path::new("style/math-font.css"))?;
    let mermaid = npm::mermaid()?;
    let public = files_below(Path::new("public"))?;

    let mut inputs = Hash::new();
    inputs
        .add(&wasm)
        .add(css.as_bytes())
        .add(math_font.as_bytes())
        .add(mermaid.as_deref().unwrap_or_default().as_bytes());
    for file in &public {
        inputs
            .add(file.as_os_str().as_encoded_bytes())
            .add(&fs::read(file)?);
    }
    // This helper's own code is also an input.
    inputs.add(format!("{:?}", fs::metadata(std::env::current_exe()?)?.modified()?).as_bytes());
    let inputs = inputs.to_hex();
    let stamp = site.with_extension("stamp");
    if site.join("manifest.json").exists()
        && fs::read_to_string(&stamp).is_ok_and(|made_from| made_from == inputs)
    {
        return Ok(());
    }

    print_step("packing the browser's files");
    let draft = site.with_extension("draft");
    let _ = fs::remove_dir_all(&draft);
    let pkg = draft.join("pkg");
    fs::create_dir_all(&pkg)?;
    let (fonts, public): (Vec<_>, Vec<_>) = public.iter().partition(|file| is_font(file));
    for file in public {
        copy_folder(file, &draft.join(file.strip_prefix("public")?))?;
    }
    let fonts = write_fonts(Path::new("public"), &fonts, &pkg)?;
    let (css, math_font) = (link_fonts(css, &fonts), link_fonts(math_font, &fonts));
    let code = pkg.join("parlor");
    wasm::pack(mode, &wasm, &code)?;
    let code = rename_hashed(&code)?;
    let mermaid = mermaid
        .map(|script| write_hashed(&pkg, "mermaid", "js", script.as_bytes()))
        .transpose()?;
    let manifest = serde_json::json!({
        "js": format!("{code}/parlor.js"),
        "wasm": format!("{code}/parlor_bg.wasm"),
        "css": write_hashed(&pkg, "parlor", "css", css.as_bytes())?,
        "mermaid": mermaid,
        "text_font": fonts.get(TEXT_FONT),
        "math_font": write_hashed(&pkg, "math-font", "css", math_font.as_bytes())?,
    });
    fs::write(draft.join("manifest.json"), format!("{manifest:#}\n"))?;
    for file in files_below(&draft)? {
        compress(mode, &file)?;
    }
    if let Some(url) = &mermaid {
        fs::remove_file(draft.join(url.trim_start_matches('/')))?;
    }

    // A running development server reads the folder: it must find the old one or the new one.
    let _ = fs::remove_file(&stamp);
    let _ = fs::remove_dir_all(site);
    fs::rename(&draft, site)?;
    fs::write(&stamp, inputs)?;
    Ok(())
}

fn is_font(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "woff2")
}

/// Writes the fonts with hashed names, so that browsers may keep them for ever. Returns these URLs by those in the style sheets.
fn write_fonts(public: &Path, fonts: &[&PathBuf], pkg: &Path) -> Result<BTreeMap<String, String>> {
    let write = |font: &&PathBuf| {
        let name = font.file_stem().and_then(|stem| stem.to_str());
        let name = name.with_context(|| format!("the name of {}", font.display()))?;
        let url = format!("/{}", font.strip_prefix(public)?.display());
        Ok((url, write_hashed(pkg, name, "woff2", &fs::read(font)?)?))
    };
    fonts.iter().map(write).collect()
}

/// Returns a style sheet with the hashed names of the fonts.
fn link_fonts(css: String, fonts: &BTreeMap<String, String>) -> String {
    fonts
        .iter()
        .fold(css, |css, (url, hashed)| css.replace(url, hashed))
}

/// Writes `pkg/name-HASH.extension` and returns its URL on the server.
fn write_hashed(pkg: &Path, name: &str, extension: &str, content: &[u8]) -> Result<String> {
    let name = format!("{name}-{}.{extension}", Hash::new().add(content).to_hex());
    fs::write(pkg.join(&name), content)?;
    Ok(format!("/pkg/{name}"))
}

/// Renames `pkg/parlor` to `pkg/parlor-HASH` and returns its URL on the server.
fn rename_hashed(folder: &Path) -> Result<String> {
    let mut hash = Hash::new();
    for file in files_below(folder)? {
        hash.add(file.strip_prefix(folder)?.as_os_str().as_encoded_bytes())
            .add(&fs::read(&file)?);
    }
    let name = format!("parlor-{}", hash.to_hex());
    fs::rename(folder, folder.with_file_name(&name))?;
    Ok(format!("/pkg/{name}"))
}

/// Writes `file.br` next to `file`, if it is worth it.
fn compress(mode: Profile, file: &Path) -> Result<()> {
    let extension = file
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    let compressible = [
        "js",
        "wasm",
        "bin",
        "css",
        "svg",
        "txt",
        "json",
        "webmanifest",
        "html",
        "xml",
        "map",
    ];
    let content = fs::read(file)?;
    if !compressible.contains(&extension) || content.len() < 256 || file.ends_with("manifest.json") {
        return Ok(());
    }
    let (quality, window) = match mode {
        Profile::Dev => (4, 22),
        Profile::Release => (11, 24),
    };
    let mut compressed = brotli::CompressorWriter::new(Vec::new(), 1 << 16, quality, window);
    compressed.write_all(&content)?;
    let compressed = compressed.into_inner();
    if compressed.len() < content.len() {
        let mut name = file.as_os_str().to_owned();
        name.push(".br");
        fs::write(name, compressed)?;
    }
    Ok(())
}

/// Returns all files in a folder and its subfolders in a stable order; none if the folder does not exist.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(files);
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().context("a file without a folder")?)?;
    fs::copy(from, to).with_context(|| format!("copying {}", from.display()))?;
    Ok(())
}

/// FNV-1a: sufficient for names and freshness, and the same with every compiler.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) -> &mut Self {
        for byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }

    fn to_hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_sheet_names_the_hashed_font() {
        let folder = std::env::temp_dir().join(format!("parlor-fonts-{}", std::process::id()));
        let (font, pkg) = (folder.join("fonts/a.woff2"), folder.join("pkg"));
        fs::create_dir_all(folder.join("fonts")).unwrap();
        fs::create_dir_all(&pkg).unwrap();
        fs::write(&font, "font").unwrap();

        let fonts = write_fonts(&folder, &[&font], &pkg).unwrap();
        let css = link_fonts("src: url(\"/fonts/a.woff2\")".into(), &fonts);

        let written = files_below(&pkg).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let name = written[0].file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("a-") && name.ends_with(".woff2"), "{name}");
        assert_eq!(css, format!("src: url(\"/pkg/{name}\")"));
    }

    #[test]
    fn hashed_name_depends_on_the_content() {
        let name = |content: &[u8]| Hash::new().add(content).to_hex();
        assert_eq!(name(b"a"), name(b"a"));
        assert_ne!(name(b"a"), name(b"b"));
        assert_ne!(
            Hash::new().add(b"ab").add(b"c").to_hex(),
            Hash::new().add(b"a").add(b"bc").to_hex()
        );
    }
}
