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
//! * **Network**: see [`gate`] and [`net`]. The host follows no redirect: each hop is a new request and decided anew.
//! * **Clocks and randomness** are always there.
//!
//! Read in this order: [`parse`] (from text to [`Grants`]), [`wasi`] (the state of one store, the linker), then
//! [`fs_guard`] and [`fs_host`] (files), [`gate`], [`sockets`] and [`http`] (network).

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
