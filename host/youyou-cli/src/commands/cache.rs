//! `youyou cache`: the compiled components.

use std::io;

use youyou::{CacheInfo, ComponentHost, Error, ErrorCode, HostConfig};

use crate::{
    args::{Cache, CacheAction},
    exit::Exit,
    print,
};

pub(crate) fn run(args: Cache) -> Result<Exit, Error> {
    let host = ComponentHost::new(HostConfig::default())?;
    let (info, verb) = match args.action {
        CacheAction::Info => (host.cache().info(), "holds"),
        CacheAction::Clear => (host.cache().clear(), "is empty; it held"),
    };
    let info = info.map_err(|error| unreadable(&error))?;
    if args.json {
        print::document(&info)?
    } else {
        print::line(&describe(&info, verb))?
    }
    Ok(Exit::Ok)
}

fn unreadable(error: &io::Error) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("cannot work on the cache of compiled components: {error}"))
}

fn describe(info: &CacheInfo, verb: &str) -> String {
    let Some(dir) = &info.dir else { return "this user has no cache folder; nothing is cached".to_owned() };
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    format!(
        "{} {verb} {}, {} of at most {}",
        dir.display(),
        print::count(info.entries as usize, "compiled component"),
        mib(info.bytes),
        mib(info.limit_bytes)
    )
}
