//! Reads what a file is, and what it imports and exports, from its binary form. Nothing is compiled or validated.
//!
//! It knows WebAssembly and neither our contract nor what a tool is.

use std::mem;

use wasmparser::{Chunk, Encoding, MemorySectionReader, Parser, Payload};

/// What the outside of a WebAssembly binary shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scan {
    Component(Outline),
    CoreModule { imports_wasip1: bool },
}

/// The outside of a component.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// Names as they stand in the binary, in its order.
    pub(super) imports: Vec<String>,
    pub(super) exports: Vec<String>,
    /// The memories of all modules inside, as large as they start.
    pub(super) initial_memory_bytes: u64,
}

/// Why a file has no outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoScan {
    Empty,
    /// The file ends in the middle of something.
    Cut {
        offset: u64,
    },
    /// Text; the flag tells the WebAssembly text format from any other.
    Text {
        looks_like_wat: bool,
    },
    /// Machine code that wasmtime made.
    Precompiled,
    /// Some other binary.
    Other {
        first_bytes: Vec<u8>,
    },
    /// It starts as WebAssembly and then breaks the format.
    Malformed {
        offset: u64,
        message: String,
    },
}

const MAGIC: &[u8; 4] = b"\0asm";
/// Magic, version, layer.
const HEADER_BYTES: usize = 8;
const WASM_PAGE: u64 = 64 * 1024;

/// Reads the outline of `bytes`.
pub(super) fn scan(bytes: &[u8]) -> Result<Scan, NoScan> {
    if bytes.is_empty() {
        return Err(NoScan::Empty);
    }
    if !bytes.starts_with(MAGIC) {
        return Err(foreign(bytes));
    }
    if bytes.len() < HEADER_BYTES {
        return Err(NoScan::Cut { offset: bytes.len() as u64 });
    }
    walk(bytes)
}

/// What the parser's error at some place of a file of `size` bytes means.
fn broken(error: &wasmparser::Error, size: usize) -> NoScan {
    let offset = error.offset() as u64;
    match error.message() {
        "unexpected end-of-file" | "unexpected end" => NoScan::Cut { offset },
        // What it misses would stand beyond the end.
        _ if error.offset() >= size => NoScan::Cut { offset },
        message => NoScan::Malformed { offset, message: message.to_owned() },
    }
}

/// What a file is that does not start as WebAssembly does.
fn foreign(bytes: &[u8]) -> NoScan {
    if MAGIC.starts_with(bytes) {
        return NoScan::Cut { offset: bytes.len() as u64 };
    }
    if wasmtime::Engine::detect_precompiled(bytes).is_some() {
        return NoScan::Precompiled;
    }
    // A multi-byte character may be cut at the end of what is looked at.
    let head = &bytes[..bytes.len().min(4096)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&head[..error.valid_up_to()]).ok(),
        Err(_) => None,
    };
    match text {
        Some(text) if !text.contains('\0') => NoScan::Text { looks_like_wat: looks_like_wat(text) },
        _ => NoScan::Other { first_bytes: bytes[..bytes.len().min(4)].to_vec() },
    }
}

fn looks_like_wat(text: &str) -> bool {
    let code = text.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with(";;"));
    code.is_some_and(|line| line.starts_with("(module") || line.starts_with("(component"))
}

/// Walks the sections of the file, and those of the modules and components inside it, past all code.
fn walk(bytes: &[u8]) -> Result<Scan, NoScan> {
    let mut outside = Outside::default();
    let mut parser = Parser::new(0);
    let mut outer: Vec<Parser> = Vec::new();
    let mut rest = bytes;
    loop {
        let payload = match parser.parse(rest, true).map_err(|error| broken(&error, bytes.len()))? {
            Chunk::Parsed { payload, consumed } => {
                rest = rest.get(consumed..).unwrap_or_default();
                payload
            }
            Chunk::NeedMoreData(_) => return Err(NoScan::Cut { offset: bytes.len() as u64 }),
        };
        match payload {
            Payload::ModuleSection { parser: inner, .. } | Payload::ComponentSection { parser: inner, .. } => {
                outer.push(mem::replace(&mut parser, inner));
            }
            Payload::CodeSectionStart { size, .. } => {
                parser.skip_section();
                rest = rest.get(size as usize..).ok_or(NoScan::Cut { offset: bytes.len() as u64 })?;
            }
            Payload::End(_) => match outer.pop() {
                Some(parent) => parser = parent,
                None => return Ok(outside.finish()),
            },
            Payload::MemorySection(memories) => {
                outside.add_memories(memories).map_err(|error| broken(&error, bytes.len()))?
            }
            Payload::UnknownSection { id, range, .. } => {
                let message = format!("unknown section {id}");
                return Err(NoScan::Malformed { offset: range.start as u64, message });
            }
            payload if outer.is_empty() => outside.add(payload).map_err(|error| broken(&error, bytes.len()))?,
            // What lies deeper says nothing about the outside.
            _ => {}
        }
    }
}

/// What was seen so far.
#[derive(Default)]
struct Outside {
    outline: Outline,
    is_core_module: bool,
    imports_wasip1: bool,
}

impl Outside {
    fn add(&mut self, payload: Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::Version { encoding, .. } => self.is_core_module = encoding == Encoding::Module,
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    self.imports_wasip1 |= import?.module.starts_with("wasi_snapshot_preview1");
                }
            }
            Payload::ComponentImportSection(imports) => {
                for import in imports {
                    self.outline.imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(exports) => {
                for export in exports {
                    self.outline.exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add_memories(&mut self, memories: MemorySectionReader<'_>) -> wasmparser::Result<()> {
        for memory in memories {
            let bytes = memory?.initial.saturating_mul(WASM_PAGE);
            self.outline.initial_memory_bytes = self.outline.initial_memory_bytes.saturating_add(bytes);
        }
        Ok(())
    }

    fn finish(self) -> Scan {
        if self.is_core_module {
            Scan::CoreModule { imports_wasip1: self.imports_wasip1 }
        } else {
            Scan::Component(self.outline)
        }
    }
}
