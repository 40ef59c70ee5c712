//! A web server on this machine that serves the files of one folder. It knows no more of HTTP than tests need.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// A server; it ends with the process.
pub struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves the files below `dir` at a port that the system chooses.
    ///
    /// # Panics
    /// When this machine lets nobody listen.
    pub fn over(dir: impl Into<PathBuf>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (dir, asked) = (dir.into(), Arc::<Mutex<Vec<String>>>::default());
        let log = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (dir, log) = (dir.clone(), log.clone());
                // A client that goes away half-way is no matter of the server.
                thread::spawn(move || answer(&stream, &dir, &log).ok());
            }
        });
        Self { port, asked }
    }

    /// Where it listens, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The paths that were asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn answer(mut stream: &TcpStream, dir: &Path, log: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
    let file = fs::read(dir.join(path.trim_start_matches('/')));
    log.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    let (status, body) = match file {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", b"there is no such page".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}
