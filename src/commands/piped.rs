//! What is piped in beside a name or a verb: it is read as if `--from -` had been typed.

use std::fs::File;
use std::io::Seek as _;
use std::time::Duration;

use tokio::io::{Interest, Ready};
use tokio::net::unix::pipe::Receiver;

use crate::cli::InputArgs;
use crate::error::Error;

/// How long a pipe may be silent before a person is told what is waited for.
const SILENCE: Duration = Duration::from_secs(1);
/// How long whoever writes to it has to begin: kubectl takes a while to list a large cluster.
const BEGUN: Duration = Duration::from_secs(60);
/// How long where files are named as well, so that there is something to answer from.
const BESIDE_FILES: Duration = Duration::from_secs(3);

/// What stands on standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stdin {
    /// Nothing that anybody sent: a terminal, /dev/null, a pipe that was closed without a word.
    Nothing,
    /// Records, to all appearances.
    Data,
    /// A pipe that is open and empty.
    Silent,
}

/// The input with what is piped in.
///
/// # Errors
/// When it is not clear what to read, or a pipe stays open and empty.
pub(super) async fn beside(args: &InputArgs) -> Result<InputArgs, Error> {
    if args.from.iter().any(|path| path == "-") {
        return Ok(args.clone());
    }
    let most = if args.from.is_empty() {
        BEGUN
    } else {
        BESIDE_FILES
    };
    match stdin(most, args.quiet).await {
        Stdin::Nothing => return Ok(args.clone()),
        Stdin::Data => {}
        Stdin::Silent if args.from.is_empty() => {
            return Err(Error::misused(
                format!(
                    "standard input is an open pipe, and nothing was written to it for {} s",
                    BEGUN.as_secs()
                ),
                "add < /dev/null to ignore it",
            ));
        }
        Stdin::Silent => {
            if !args.quiet {
                note!(
                    "Standard input is an open pipe, and nothing was written to it: it was not read."
                );
            }
            return Ok(args.clone());
        }
    }
    if let Some(option) = elsewhere(args) {
        return Err(Error::misused(
            format!("data is piped in, and {option} says to look elsewhere"),
            format!("leave out {option} to read what is piped in, or add < /dev/null to ignore it"),
        ));
    }
    let mut args = args.clone();
    args.from.push("-".to_owned());
    Ok(args)
}

/// The option that says that a store or a cluster is asked, where one was typed.
fn elsewhere(args: &InputArgs) -> Option<&'static str> {
    let by_environment = std::env::var_os("WHATHAPPENED_STORE").is_some();
    let options = [
        (args.live.no_fetch, "--no-fetch"),
        (!args.live.contexts.is_empty(), "--context"),
        (args.live.kubeconfig.is_some(), "--kubeconfig"),
        (args.stored.store.is_some() && !by_environment, "--store"),
    ];
    let given = options.into_iter().find(|(is_given, _)| *is_given);
    given.map(|(_, option)| option)
}

async fn stdin(most: Duration, quiet: bool) -> Stdin {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;
    let Ok(input) = std::io::stdin().as_fd().try_clone_to_owned() else {
        return Stdin::Nothing;
    };
    let mut input = File::from(input);
    let Ok(meta) = input.metadata() else {
        return Stdin::Nothing;
    };
    if meta.is_file() {
        // A loop of a shell over the lines of a file has read some of it already.
        let is_whole = meta.len() > 0 && input.stream_position().is_ok_and(|at| at == 0);
        return if is_whole {
            Stdin::Data
        } else {
            Stdin::Nothing
        };
    }
    if !meta.file_type().is_fifo() {
        return Stdin::Nothing;
    }
    // It is only looked at and not read, so that it may block.
    let Ok(pipe) = Receiver::from_file_unchecked(input) else {
        return Stdin::Data;
    };
    let looked = tokio::time::timeout(SILENCE, pipe.ready(Interest::READABLE)).await;
    let looked = match looked {
        Ok(looked) => looked,
        Err(_) => {
            if !quiet {
                note!("Waiting for standard input; add < /dev/null to ignore it.");
            }
            let rest = most.saturating_sub(SILENCE);
            match tokio::time::timeout(rest, pipe.ready(Interest::READABLE)).await {
                Ok(looked) => looked,
                Err(_) => return Stdin::Silent,
            }
        }
    };
    match looked {
        Ok(ready) if ready & Ready::READABLE == Ready::READABLE => Stdin::Data,
        _ => Stdin::Nothing,
    }
}
