//! Lines for the host's log: `trace!`, `debug!`, `info!`, `warn!` and `error!`, used like `println!`.
//!
//! ```
//! use youyou_guest::log;
//! log::info!("{} files read", 3);
//! ```
//!
//! The host shows them where it shows its own log; the model does not see them. Natively they go to the running
//! [`testing::call`](crate::testing), which keeps them for the test, or else to stderr. What a tool prints with
//! `println!` goes to the log as well, but without a level.

use std::fmt;

pub use crate::{
    __log_debug as debug, __log_error as error, __log_info as info, __log_trace as trace, __log_warn as warn,
};

/// How serious a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Every detail.
    Trace,
    /// For whoever debugs the tool.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is wrong, the tool goes on.
    Warn,
    /// Something failed.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        })
    }
}

/// Writes one line; the macros call this.
pub fn write(level: Level, message: fmt::Arguments<'_>) {
    #[cfg(target_arch = "wasm32")]
    crate::component::write_log(level, message);
    #[cfg(not(target_arch = "wasm32"))]
    crate::testing::write_log(level, message);
}

/// Logs every detail.
#[macro_export]
#[doc(hidden)]
macro_rules! __log_trace {
    ($($message:tt)+) => {
        $crate::log::write($crate::log::Level::Trace, ::core::format_args!($($message)+))
    };
}

/// Logs for whoever debugs the tool.
#[macro_export]
#[doc(hidden)]
macro_rules! __log_debug {
    ($($message:tt)+) => {
        $crate::log::write($crate::log::Level::Debug, ::core::format_args!($($message)+))
    };
}

/// Logs what is worth knowing.
#[macro_export]
#[doc(hidden)]
macro_rules! __log_info {
    ($($message:tt)+) => {
        $crate::log::write($crate::log::Level::Info, ::core::format_args!($($message)+))
    };
}

/// Logs that something is wrong while the tool goes on.
#[macro_export]
#[doc(hidden)]
macro_rules! __log_warn {
    ($($message:tt)+) => {
        $crate::log::write($crate::log::Level::Warn, ::core::format_args!($($message)+))
    };
}

/// Logs that something failed.
#[macro_export]
#[doc(hidden)]
macro_rules! __log_error {
    ($($message:tt)+) => {
        $crate::log::write($crate::log::Level::Error, ::core::format_args!($($message)+))
    };
}
