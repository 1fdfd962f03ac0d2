//! The glue between session-conformance and a port. It needs no change: fill in port.rs.
//!
//!     cargo build --release
//!     session-conformance run stdio:target/release/adapter
//!     session-conformance run stdio:'target/release/adapter --example'      the worked example
//!
//! One request per line comes in, one answer per line goes out, until the input ends. A port that prints has to
//! print to stderr: nothing may stand between the answers.

mod example;
mod port;

use serde_json::{json, value::RawValue, Value};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// What a port offers: an operation by its name.
pub type Operation = fn(&Request) -> Result<Value, Stop>;

pub struct Port {
    pub implementation: fn() -> Value,
    pub operations: &'static [(&'static str, Operation)],
}

/// Why there is no result. A panic is a third way, and is told as a crash.
pub enum Stop {
    /// The log was refused: an object with condition (a name of the ledger), at (the index of the event) and
    /// message, each of which may be left out.
    Refused(Value),
    /// The request lacks something.
    Unreadable(String),
}

/// The members of a request as raw JSON, so that nothing is lost before the port has seen it.
pub struct Request(BTreeMap<String, Box<RawValue>>);

impl Request {
    /// The JSON text of a member, in whichever of its two spellings it came.
    pub fn text(&self, name: &str) -> Result<String, Stop> {
        if let Some(raw) = self.0.get(name) {
            return Ok(raw.get().to_string());
        }
        self.string(&format!("{name}_text"))
            .ok_or_else(|| Stop::Unreadable(format!("the request needs {name} or {name}_text")))
    }

    fn string(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }
}

/// The kind of answer and what stands under it; exactly one of the five.
fn answer(port: &Port, request: &Request) -> (&'static str, Value) {
    let op = request.string("op").unwrap_or_default();
    let edition = request.string("edition").unwrap_or_default();
    if op == "hello" {
        if request.text("protocol").ok().as_deref() != Some("1") {
            return ("error", json!("this adapter speaks protocol 1"));
        }
        let capabilities: Vec<_> = port.operations.iter().map(|(name, _)| name).collect();
        let mut hello = json!({"protocol": 1, "editions": ["v0"], "capabilities": capabilities});
        hello["implementation"] = (port.implementation)();
        return ("result", hello);
    }
    let found = port.operations.iter().find(|(name, _)| *name == op);
    let operation = match found {
        Some((_, operation)) if edition == "v0" => operation,
        _ => {
            return (
                "unsupported",
                json!(format!("operation {op} of edition {edition}")),
            )
        }
    };
    match catch_unwind(AssertUnwindSafe(|| operation(request))) {
        Ok(Ok(result)) => ("result", result),
        Ok(Err(Stop::Unreadable(what))) => ("error", json!(what)),
        Ok(Err(Stop::Refused(told))) => ("rejected", told),
        // A panic is never a refusal. Its words are on stderr.
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            ("crashed", json!(text.unwrap_or("a panic without words")))
        }
    }
}

fn main() {
    let example = std::env::args().any(|word| word == "--example");
    let port = if example { &example::PORT } else { &port::PORT };
    let mut answers = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("stdin can be read, and is UTF-8");
        let request = Request(serde_json::from_str(&line).unwrap_or_default());
        let id = request.text("id").unwrap_or_else(|_| "null".into());
        let (kind, value) = match request.0.is_empty() {
            true => ("error", json!("the request is no JSON object")),
            false => answer(port, &request),
        };
        writeln!(answers, "{{\"id\":{id},\"{kind}\":{value}}}").expect("stdout takes answers");
        answers.flush().expect("stdout takes answers");
    }
}
