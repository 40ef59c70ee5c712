//! The stable names of what can go wrong with a component, as they stand in `details.kind` of an error (Y10).

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $wire:literal;)+) => {
        /// How a component failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($(#[$doc])* $variant,)+
        }

        impl Kind {
            /// The name on the wire.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $wire,)+ }
            }
        }
    };
}

kinds! {
    /// No such file, or it cannot be read.
    ComponentMissing = "COMPONENT_MISSING";
    /// A file of no bytes.
    EmptyFile = "EMPTY_FILE";
    /// The file ends too early.
    Truncated = "TRUNCATED";
    /// A text file.
    Text = "TEXT";
    /// Some other binary.
    NotWasm = "NOT_WASM";
    /// It starts as WebAssembly, and then breaks the rules.
    InvalidWasm = "INVALID_WASM";
    /// Machine code that wasmtime made.
    Precompiled = "PRECOMPILED";
    /// A WebAssembly module that is no component.
    CoreModule = "CORE_MODULE";
    /// Made for a version of the contract that this host does not serve.
    WitVersion = "WIT_VERSION";
    /// The names fit the contract, the types behind them do not.
    WitMismatch = "WIT_MISMATCH";
    /// The export of the role is not there.
    MissingExport = "MISSING_EXPORT";
    /// A handler that is exported and not declared; a hint, no failure.
    UndeclaredTap = "UNDECLARED_TAP";
    /// An import that nobody offers.
    UnknownImport = "UNKNOWN_IMPORT";
    /// The guest answered with an error.
    GuestError = "GUEST_ERROR";
    /// The guest's answer breaks the contract.
    BadOutput = "BAD_OUTPUT";
    /// A hook handler's data is no object.
    InvalidOutput = "INVALID_OUTPUT";
    /// The guest panicked and said so.
    Panic = "PANIC";
    /// The guest ended itself.
    Exit = "EXIT";
    /// The guest was stopped for a mistake of its own.
    Trap = "TRAP";
    /// Past the deadline.
    LimitTime = "LIMIT_TIME";
    /// The call of a hook handler was cancelled; that of a tool has a code of its own.
    Cancelled = "CANCELLED";
    /// Past the memory that it may use.
    LimitMemory = "LIMIT_MEMORY";
    /// Past the stack.
    LimitStack = "LIMIT_STACK";
    /// Past the handles that a call may hold.
    LimitHandles = "LIMIT_HANDLES";
    /// Past what one call may hand over.
    LimitOutput = "LIMIT_OUTPUT";
    /// The host itself could not do its part.
    Host = "HOST";
}
