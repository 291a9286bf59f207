//! Files made of records, so that each can be left out, doubled or cut.

use std::path::Path;

use crate::world::Tag;

/// One record of a file.
#[derive(Clone, Debug)]
pub struct Record {
    /// As it is written.
    pub text: String,
    /// What it tells.
    pub tags: Vec<Tag>,
    /// Uid of what it is about, where it has one.
    pub subject: Option<String>,
}

impl Record {
    /// A record of a line, or of a JSON value.
    #[must_use]
    pub fn new(text: impl Into<String>, tags: &[Tag]) -> Self {
        Self {
            text: text.into(),
            tags: tags.to_vec(),
            subject: None,
        }
    }

    /// About the object with this uid.
    #[must_use]
    pub fn about(mut self, uid: &str) -> Self {
        self.subject = Some(uid.to_owned());
        self
    }
}

/// A file.
#[derive(Clone, Debug)]
pub struct File {
    /// Which source it is of, such as `events`.
    pub source: String,
    /// Its path below the input's folder.
    pub path: String,
    /// What comes before the records.
    pub head: String,
    /// What comes between them.
    pub between: &'static str,
    /// What comes after them.
    pub tail: &'static str,
    /// The records, in order.
    pub records: Vec<Record>,
    /// Only so many bytes were kept.
    pub cut_at: Option<usize>,
}

impl File {
    /// A file of lines.
    #[must_use]
    pub fn lines(source: &str, path: impl Into<String>) -> Self {
        Self {
            source: source.to_owned(),
            path: path.into(),
            head: String::new(),
            between: "\n",
            tail: "\n",
            records: Vec::new(),
            cut_at: None,
        }
    }

    /// A JSON document around a list.
    #[must_use]
    pub fn list(
        source: &str,
        path: impl Into<String>,
        head: impl Into<String>,
        tail: &'static str,
    ) -> Self {
        Self {
            head: head.into(),
            between: ",\n",
            tail,
            ..Self::lines(source, path)
        }
    }

    /// As it is written, and how many of its records are whole.
    #[must_use]
    pub fn content(&self) -> (String, usize) {
        let mut text = self.head.clone();
        let mut whole = 0;
        for (at, record) in self.records.iter().enumerate() {
            if at > 0 {
                text.push_str(self.between);
            }
            text.push_str(&record.text);
            if self.cut_at.is_none_or(|cut_at| text.len() <= cut_at) {
                whole += 1;
            }
        }
        text.push_str(self.tail);
        if let Some(cut_at) = self.cut_at {
            let mut cut_at = cut_at.min(text.len());
            while !text.is_char_boundary(cut_at) {
                cut_at -= 1;
            }
            text.truncate(cut_at);
        }
        (text, whole)
    }

    /// Its records that were kept whole.
    pub fn whole(&self) -> impl Iterator<Item = &Record> + '_ {
        let whole = if self.cut_at.is_none() {
            self.records.len()
        } else {
            self.content().1
        };
        self.records.iter().take(whole)
    }
}

/// Writes files below a folder.
///
/// # Errors
/// When a file cannot be written.
pub fn write_all(files: &[File], folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, file.content().0)?;
    }
    Ok(())
}
