//! Modes that reach for what lies outside: files, environment, network. Each returns what it got, or the error as text.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket},
};

use wasip2::http::{
    outgoing_handler,
    types::{Fields, Method, OutgoingRequest, Scheme},
};

use crate::{raw, run::Arguments};

/// The answer of `mode`, or its error as text; none when there is no such mode.
pub(crate) fn attempt(mode: &str, arguments: &Arguments) -> Option<Result<String, String>> {
    let (path, to) = (arguments.text("path"), arguments.text("to"));
    Some(match mode {
        "read" => answer(fs::read_to_string(path)),
        "write" => answer(fs::write(path, arguments.text("text")).map(|()| "written".to_owned())),
        "append" => answer(append(path, arguments.text("text")).map(|()| "appended".to_owned())),
        "truncate" => answer(fs::File::options().write(true).truncate(true).open(path).map(|_| "truncated".to_owned())),
        "set-times" => answer(set_times(path).map(|()| "set".to_owned())),
        "list" => answer(list(path)),
        "remove" => answer(fs::remove_file(path).map(|()| "removed".to_owned())),
        "make-dir" => answer(fs::create_dir(path).map(|()| "made".to_owned())),
        "remove-dir" => answer(fs::remove_dir(path).map(|()| "removed".to_owned())),
        "rename" => answer(fs::rename(path, to).map(|()| "renamed".to_owned())),
        "link" => answer(fs::hard_link(path, to).map(|()| "linked".to_owned())),
        "read-link" => answer(fs::read_link(path).map(|found| found.display().to_string())),
        "stat" => answer(fs::metadata(path).map(|found| format!("{} bytes", found.len()))),
        "change-dir" => answer(std::env::set_current_dir(path).and_then(|()| fs::read_to_string(to))),
        "current-dir" => answer(std::env::current_dir().map(|dir| dir.display().to_string())),
        "open-many" => Ok(open_many(path, arguments.number("count")).to_string()),
        "env" => answer(env(arguments.text("name"))),
        "args" => Ok(format!("{:?}", std::env::args().collect::<Vec<_>>())),
        "resolve" => answer(resolve(arguments.text("host"))),
        "connect" => answer(connect(arguments.text("address"), arguments.text("send"))),
        "listen" => answer(TcpListener::bind(arguments.text("address")).map(|_| "listening".to_owned())),
        "send-datagram" => answer(send_datagram(arguments.text("address")).map(|()| "sent".to_owned())),
        "http-get" => http_get(arguments.text("url")),
        "http-get-often" => http_get_often(arguments.text("url"), arguments.number("count")),
        _ => return raw::attempt(mode, arguments),
    })
}

pub(crate) fn answer<E: std::fmt::Display>(result: Result<String, E>) -> Result<String, String> {
    result.map_err(|error| error.to_string())
}

fn append(path: &str, text: &str) -> std::io::Result<()> {
    fs::File::options().append(true).open(path)?.write_all(text.as_bytes())
}

fn set_times(path: &str) -> std::io::Result<()> {
    fs::File::open(path)?.set_modified(std::time::UNIX_EPOCH)
}

/// How many of so many handles could be held open at once.
fn open_many(path: &str, count: u64) -> usize {
    let held: Vec<_> = (0..count).map_while(|_| fs::File::open(path).ok()).collect();
    held.len()
}

fn send_datagram(address: &str) -> std::io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.send_to(b"ping", address)?;
    Ok(())
}

fn http_get_often(url: &str, count: u64) -> Result<String, String> {
    (0..count).try_fold(String::new(), |_, n| http_get(url).map_err(|error| format!("request {n}: {error}")))
}

fn list(path: &str) -> std::io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names.join("\n"))
}

/// One variable, or all of them when no name is given.
fn env(name: &str) -> Result<String, std::env::VarError> {
    if name.is_empty() {
        let mut all: Vec<_> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
        all.sort();
        return Ok(all.join("\n"));
    }
    std::env::var(name)
}

fn resolve(host: &str) -> std::io::Result<String> {
    let found: Vec<_> = (host, 80).to_socket_addrs()?.map(|address| address.ip().to_string()).collect();
    Ok(found.join("\n"))
}

fn connect(address: &str, send: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(send.as_bytes())?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn http_get(url: &str) -> Result<String, String> {
    let (scheme, rest) = url.split_once("://").ok_or("no scheme")?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.to_owned()),
    };
    let request = OutgoingRequest::new(Fields::new());
    let unset = |()| "the request does not take that".to_owned();
    request.set_method(&Method::Get).map_err(unset)?;
    request.set_scheme(Some(&scheme)).map_err(unset)?;
    request.set_authority(Some(authority)).map_err(unset)?;
    request.set_path_with_query(Some(if path.is_empty() { "/" } else { path })).map_err(unset)?;
    let pending = outgoing_handler::handle(request, None).map_err(|code| format!("{code:?}"))?;
    pending.subscribe().block();
    let response = pending
        .get()
        .ok_or("no answer")?
        .map_err(|()| "taken twice".to_owned())?
        .map_err(|code| format!("{code:?}"))?;
    let mut found = format!("{}\n", response.status());
    if let Some(location) = response.headers().get("location").first() {
        found.push_str(&format!("location: {}\n", String::from_utf8_lossy(location)));
    }
    let body = response.consume().map_err(|()| "no body".to_owned())?;
    let stream = body.stream().map_err(|()| "no stream".to_owned())?;
    while let Ok(bytes) = stream.blocking_read(64 * 1024) {
        found.push_str(&String::from_utf8_lossy(&bytes));
    }
    Ok(found)
}
