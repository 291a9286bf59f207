//! The input of a case that exists already, in memory.

use std::io::Read as _;
use std::path::{Path, PathBuf};

/// One file of it.
#[derive(Clone, Debug)]
pub struct Source {
    /// Below the case's folder.
    pub path: PathBuf,
    /// Its bytes, unpacked.
    pub text: Vec<u8>,
}

/// All of it.
#[derive(Clone, Debug)]
pub struct Input {
    /// The files, by path.
    pub files: Vec<Source>,
}

impl Input {
    /// Reads `input/` and `loki/` of a case.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(case: &Path) -> std::io::Result<Self> {
        let mut files = Vec::new();
        for part in ["input", "loki"] {
            let mut left = vec![case.join(part)];
            while let Some(at) = left.pop() {
                if at.is_dir() {
                    for entry in std::fs::read_dir(&at)? {
                        left.push(entry?.path());
                    }
                } else if at.is_file() {
                    let packed = at.extension().is_some_and(|ending| ending == "gz");
                    let bytes = std::fs::read(&at)?;
                    let mut text = Vec::new();
                    if packed {
                        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut text)?;
                    } else {
                        text = bytes;
                    }
                    let path = if packed { at.with_extension("") } else { at };
                    files.push(Source {
                        path: path.strip_prefix(case).unwrap_or(&path).to_owned(),
                        text,
                    });
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    /// Writes it below a folder.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, to: &Path) -> std::io::Result<()> {
        for file in &self.files {
            let path = to.join(&file.path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, &file.text)?;
        }
        std::fs::create_dir_all(to.join("input"))
    }
}
