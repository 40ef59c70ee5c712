//! `bare-call CODE ARGUMENTS`: the least that a program can do to call a compiled component.
//!
//! `ratios` compares the whole process of `youyou run-tool` with it. It finds, checks, limits and logs nothing.

mod bare;

#[tokio::main(flavor = "current_thread")]
async fn main() -> wasmtime::Result<()> {
    let mut words = std::env::args_os().skip(1);
    let (Some(code), Some(arguments)) = (words.next(), words.next()) else {
        return Err(wasmtime::format_err!(
            "expected two arguments: the file of compiled code, and the call's arguments"
        ));
    };
    let engine = bare::engine()?;
    // SAFETY: `ratios` hands over code that the component host compiled for this run, in a folder of its own.
    let component = unsafe { bare::load(&engine, code.as_ref()) }?;
    println!("{}", bare::Bare::new(&component)?.call(&arguments.to_string_lossy()).await?);
    Ok(())
}
