//! `cargo xtask setup`: makes wasm32-wasip2 available for the toolchain in use.
//!
//! rustup does it in a moment where it can reach its server. Where it cannot, Debian's packages have what is needed to
//! build the target's standard library: the library's source and the C library for WASI. Nothing is installed outside
//! of the toolchain's own folder. Running it again changes nothing.

mod apt;
mod packages;
pub(crate) mod stamp;
mod toolchain;

use std::{env, process::Command, time::Instant};

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;

use self::toolchain::{Toolchain, Verdict};
use crate::{
    command::Run,
    workspace::{GUEST_TARGET, Workspace},
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the target comes from, if it is not there yet
    #[arg(long, value_enum, default_value_t = Source::Auto)]
    pub(crate) from: Source,
}

/// A way to get the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// rustup, and Debian's packages where rustup cannot
    Auto,
    /// rustup alone
    Rustup,
    /// Debian's packages alone: builds the standard library
    Packages,
}

/// Makes sure that guests can be built.
///
/// # Errors
/// When no way led to a target that works; the error says what each way met and how to do it by hand.
pub(crate) fn run(workspace: &Workspace, from: Source) -> Result<()> {
    let start = Instant::now();
    let toolchain = Toolchain::active(workspace)?;
    match toolchain.probe(workspace)? {
        Verdict::Works => println!("setup: {toolchain} has {GUEST_TARGET} already"),
        Verdict::Missing => {
            complete(workspace, &toolchain, from)?;
            stamp::clean(workspace)?;
            println!("setup: done in {:.1} s", start.elapsed().as_secs_f64());
        }
    }
    stamp::clean_if_stale(workspace)
}

fn complete(workspace: &Workspace, toolchain: &Toolchain, from: Source) -> Result<()> {
    type Way = fn(&Workspace, &Toolchain) -> Result<()>;
    const RUSTUP: (&str, Way) = ("rustup", |_, toolchain| rustup(toolchain));
    const PACKAGES: (&str, Way) = ("packages", packages::install);
    let ways: &[_] = match from {
        Source::Auto => &[RUSTUP, PACKAGES],
        Source::Rustup => &[RUSTUP],
        Source::Packages => &[PACKAGES],
    };
    let mut met = Vec::new();
    for (name, way) in ways {
        println!("setup: {toolchain} lacks {GUEST_TARGET}: trying {name}");
        let result = way(workspace, toolchain).and_then(|()| match toolchain.probe(workspace)? {
            Verdict::Works => Ok(()),
            Verdict::Missing => Err(anyhow!("it went through, yet {GUEST_TARGET} is still not there")),
        });
        match result {
            Ok(()) => return Ok(()),
            Err(error) => {
                let why = format!("{error:#}");
                println!("setup: {name} did not work: {}", why.lines().take(2).collect::<Vec<_>>().join(" "));
                met.push(format!("{name}: {why}"));
            }
        }
    }
    bail!("{}\n\n{}", met.join("\n"), by_hand(toolchain))
}

fn rustup(toolchain: &Toolchain) -> Result<()> {
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", GUEST_TARGET]).env("RUST_BACKTRACE", "0");
    if env::var_os("RUSTUP_TOOLCHAIN").is_none() {
        rustup.arg("--toolchain").arg(&toolchain.release);
    }
    rustup.capture().map(drop).context("rustup could not add the target")
}

fn by_hand(toolchain: &Toolchain) -> String {
    let Toolchain { release, .. } = toolchain;
    format!(
        "To do it by hand, one of:\n\
         - with a network: `rustup target add {GUEST_TARGET} --toolchain {release}`;\n\
         - without: copy lib/rustlib/{GUEST_TARGET} from another machine's Rust {release} to {}.\n\
         Then run `cargo xtask setup` again.",
        toolchain.target_folder().display()
    )
}
