//! YOUR PORT. Nothing is declared yet, so nothing is asked; take the operations that you have into `operations`.
//! example.rs is a whole port in this form.

use crate::{Port, Request, Stop};
use serde_json::{json, Value};

pub const PORT: Port = Port {
    implementation: || json!({"name": "my port", "version": "0.0.0", "language": "Rust"}),
    operations: &[
        // Take the // off a line once its function is filled in.
        // ("fold", fold),
        // ("messages", messages),
    ],
};

/// Give nodes, replacements (each seq, start, end, shadowedSeqs) and replaceGeneration. `request.text("events")?`
/// is the JSON text of the log: give it to your own reader, and turn the error that your port has for a log that
/// it refuses, and no other error, into `Stop::Refused(json!({"condition": "replace-reversed", "at": 3}))`, or
/// `{"message": ...}` if it names no condition.
#[allow(dead_code)]
fn fold(_request: &Request) -> Result<Value, Stop> {
    todo!("fold")
}

/// Give `messages_text`: the JSON text of the list of messages. A String is UTF-8, and serde_json refuses a lone
/// surrogate for one. So keep what is passed on as `RawValue` and answer with its text; if your port has a
/// String there, let the case fail: that is the truth. A log that cannot be read at all is no refusal but a crash.
#[allow(dead_code)]
fn messages(_request: &Request) -> Result<Value, Stop> {
    todo!("messages")
}
