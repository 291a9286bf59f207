//! `whathappened man`

use clap::CommandFactory as _;

use crate::error::Error;

/// Writes the manual page to standard output
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Write one page for each command into this folder instead, which is created if it is missing.
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<std::path::PathBuf>,
}

/// Writes the manual.
///
/// # Errors
/// When the output cannot be written.
pub fn run(args: &Args) -> Result<(), Error> {
    let command = crate::cli::Cli::command();
    let failed = |path: &str| {
        let path = path.to_owned();
        move |error| Error::Io { path, error }
    };
    match &args.folder {
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(command, folder))
            .map_err(failed(&folder.display().to_string())),
        None => clap_mangen::Man::new(command)
            .render(&mut std::io::stdout().lock())
            .map_err(failed("standard output")),
    }
}
