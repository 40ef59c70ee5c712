//! What a component may reach: the directories, environment variables and hosts that its `index.md` names, and nothing
//! else (DESIGN §7 "Grants", K-63).
//!
//! It does not decide who is trusted. A tool folder is trusted like the user's own code (Y1-8); grants protect from
//! bugs and confused tools, and are shown to the user.
//!
//! * **Everything is linked, little is allowed.** Each WASI import is there whether granted or not. A use that is not
//!   granted fails inside the guest with "permission denied", and the host keeps a [`Denial`] with the line of
//!   `index.md` that would grant it.
//! * **Directories** appear to the guest under the path as written; its current directory is the working directory. A
//!   `write` grant includes reading; a `read` grant allows no creating, writing, renaming, removing, truncating or
//!   setting of times. A symlink that leaves the directory is not followed.
//! * **Environment**: the variables named, with the values that the caller took when the call began. One that is not
//!   set is absent. WASI hands over all variables at once, so a use of one that is not granted cannot be seen.
//! * **Network**: `https` and `http` entries are for requests, `tcp` and `udp` entries for sockets; neither stands for
//!   the other. A host matches exactly, or below `*.` at a dot border. A name is resolved once for one use, and what was
//!   found is what is connected to. An address that is not public (loopback, private, link-local, metadata, …) is
//!   reached only where it is listed itself, or loopback as `localhost`. The host follows no redirect: each hop is a new
//!   request and decided anew. Looking up a name needs a `tcp` or `udp` entry for it; listening is never granted.
//! * **Budgets** of one call: 256 HTTP requests, 64 MiB in HTTP bodies, 4096 open handles.
//! * **Clocks and randomness** are always there.
//!
//! Read in this order: `parse` (from text to [`Grants`]), `wasi` (the state of one store, the linker), then `fs_guard` and
//! `fs_host` (files), `gate`, `sockets` and `http` (network).

mod address;
mod budget;
mod denial;
mod directory;
mod fs_guard;
mod fs_host;
mod gate;
mod http;
mod http_body;
mod net;
mod parse;
mod path;
mod sockets;
mod wasi;

pub use denial::{Denial, DenialKind};
pub use parse::{EnvSnapshot, GrantProblem, Grants};
pub(crate) use wasi::{GuestWasi, HasGuestWasi, add_to_linker, explain_full_table};
