//! A tool that waits for one file and makes another: it ends only if something else runs at the same time.

use std::{fs, io, thread, time::Duration};

use youyou_guest::{args, tool};

#[args]
struct Args {
    /// File to wait for.
    path: Option<String>,
    /// File to make then.
    to: Option<String>,
}

/// Waits for `path`, then makes `to`.
#[tool]
fn meet(args: Args) -> io::Result<String> {
    if let Some(path) = args.path {
        while !fs::exists(&path)? {
            thread::sleep(Duration::from_millis(1));
        }
    }
    if let Some(to) = args.to {
        fs::write(to, "")?;
    }
    Ok("met".to_owned())
}
