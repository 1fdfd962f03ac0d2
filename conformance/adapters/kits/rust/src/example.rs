//! WORKED EXAMPLE, not your port: fold, messages and project, written from the pages of the specification.

#![allow(clippy::borrowed_box)] // a map gives out &Box<RawValue>, so that is what the readers take

use crate::{Port, Request, Stop};
use serde_json::{json, value::RawValue, Value};
use std::collections::{BTreeMap, BTreeSet};

pub const PORT: Port = Port {
    implementation: || json!({"name": "worked example", "version": "1", "language": "Rust"}),
    operations: &[
        ("fold", answer_fold),
        ("messages", answer_messages),
        ("project", answer_project),
    ],
};

/// One level of JSON: absent and null differ, unknown members stay, values are kept as they were written.
type Object = BTreeMap<String, Box<RawValue>>;
type List = Vec<Box<RawValue>>;

fn refuse<T>(condition: &'static str) -> Result<T, Stop> {
    Err(Stop::Refused(json!({"condition": condition})))
}

fn refuse_if(broken: bool, condition: &'static str) -> Result<(), Stop> {
    if broken {
        refuse(condition)
    } else {
        Ok(())
    }
}

/// Adds the index of the event to a refusal.
fn at<T>(index: usize, outcome: Result<T, Stop>) -> Result<T, Stop> {
    outcome.map_err(|mut stop| {
        if let Stop::Refused(told) = &mut stop {
            told["at"] = json!(index);
        }
        stop
    })
}

// Each reader gives None where the value is absent or of another kind.

fn object(raw: Option<&Box<RawValue>>) -> Option<Object> {
    serde_json::from_str(raw?.get()).ok()
}

fn list(raw: Option<&Box<RawValue>>) -> Option<List> {
    serde_json::from_str(raw?.get()).ok()
}

fn string(raw: Option<&Box<RawValue>>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

/// A number as a double. Rust's own reader takes every number of JSON; 1e400 is infinite.
fn double(raw: &RawValue) -> Option<f64> {
    let text = raw.get();
    if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

/// 1, 1.0 and 1e0 are the same seq. No integer member could read them: serde_json refuses 1.0 for one.
fn seq(raw: Option<&Box<RawValue>>) -> Option<usize> {
    let value = double(raw?)?;
    let is_seq = (0.0..=9007199254740991.0).contains(&value) && value.fract() == 0.0;
    if is_seq {
        Some(value as usize)
    } else {
        None
    }
}

struct Replacement {
    seq: usize,
    start: usize,
    end: usize,
    shadowed: Vec<usize>,
}

/// What a valid event does.
enum Plan {
    LogOnly,
    Append,
    Replace(Replacement),
}

fn fold(events: &[Box<RawValue>]) -> Result<(Vec<usize>, Vec<Replacement>), Stop> {
    let (mut nodes, mut replacements) = (Vec::new(), Vec::new());
    for (index, event) in events.iter().enumerate() {
        match at(index, check(event, index, &nodes, events))? {
            Plan::LogOnly => {}
            Plan::Append => nodes.push(index),
            Plan::Replace(made) => {
                let first = position(&nodes, made.start).expect("it was found just now");
                nodes.splice(first..first + made.shadowed.len(), [index]);
                replacements.push(made);
            }
        }
    }
    Ok((nodes, replacements))
}

fn position(nodes: &[usize], seq: usize) -> Option<usize> {
    nodes.iter().position(|node| *node == seq)
}

fn check(
    raw: &Box<RawValue>,
    own: usize,
    nodes: &[usize],
    events: &[Box<RawValue>],
) -> Result<Plan, Stop> {
    let event = match object(Some(raw)) {
        Some(event) => event,
        None => return refuse("event-shapeless"),
    };
    refuse_if(seq(event.get("seq")) != Some(own), "seq-not-contiguous")?;
    let kind = string(event.get("type")).unwrap_or_default();
    if !["user/message", "assistant/message", "tool/result"].contains(&kind.as_str()) {
        refuse_if(event.contains_key("surfaceOp"), "surface-op-forbidden")?; // null is there, too
        refuse_if(event.contains_key("sourceEventSeqs"), "sources-forbidden")?;
        return Ok(Plan::LogOnly);
    }
    refuse_if(!event.contains_key("surfaceOp"), "surface-op-missing")?;
    let appends = string(event.get("surfaceOp")).as_deref() == Some("append");
    let made = if appends {
        None
    } else {
        Some(read_replace(object(event.get("surfaceOp")), own, nodes)?)
    };
    let cited = if event.contains_key("sourceEventSeqs") {
        read_sources(list(event.get("sourceEventSeqs")), &kind, own)?
    } else {
        BTreeSet::new()
    };
    let made = match made {
        None => return Ok(Plan::Append),
        Some(made) => made,
    };
    refuse_if(
        !made.shadowed.iter().all(|node| cited.contains(node)),
        "sources-incomplete",
    )?;
    if kind == "tool/result" {
        refuse_if(made.shadowed.len() != 1, "tool-result-span")?;
        let target = object(events.get(made.shadowed[0])).expect("it was folded before");
        let is_result = string(target.get("type")).as_deref() == Some("tool/result");
        refuse_if(!is_result, "tool-result-target")?;
        refuse_if(
            without_content(&target)? != without_content(&event)?,
            "tool-result-changed",
        )?;
    }
    Ok(Plan::Replace(made))
}

fn read_replace(marker: Option<Object>, own: usize, nodes: &[usize]) -> Result<Replacement, Stop> {
    let marker = match marker {
        Some(marker) => marker,
        None => return refuse("surface-op-invalid"),
    };
    let exact = marker.len() == 3 && string(marker.get("op")).as_deref() == Some("replace");
    let (start, end) = match (exact, seq(marker.get("start")), seq(marker.get("end"))) {
        (true, Some(start), Some(end)) => (start, end),
        _ => return refuse("replace-op-invalid"),
    };
    match (position(nodes, start), position(nodes, end)) {
        (None, _) => refuse("replace-start-absent"),
        (_, None) => refuse("replace-end-absent"),
        (Some(first), Some(last)) if first > last => refuse("replace-reversed"),
        (Some(first), Some(last)) => Ok(Replacement {
            seq: own,
            start,
            end,
            shadowed: nodes[first..=last].to_vec(),
        }),
    }
}

/// Each check over the whole list before the next begins.
fn read_sources(sources: Option<List>, kind: &str, own: usize) -> Result<BTreeSet<usize>, Stop> {
    let sources = match sources {
        Some(sources) => sources,
        None => return refuse("sources-not-array"),
    };
    refuse_if(
        sources.is_empty() && kind != "assistant/message",
        "sources-empty",
    )?;
    let cited: Option<Vec<usize>> = sources.iter().map(|source| seq(Some(source))).collect();
    let cited = match cited {
        Some(cited) => cited,
        None => return refuse("source-not-seq"),
    };
    let distinct: BTreeSet<usize> = cited.into_iter().collect();
    refuse_if(distinct.len() != sources.len(), "sources-duplicate")?;
    refuse_if(
        distinct.iter().any(|source| *source >= own),
        "source-not-earlier",
    )?;
    Ok(distinct)
}

/// JSON as a whole, for comparison: numbers are doubles, the order of names does not count.
#[derive(PartialEq)]
enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

/// Level by level through RawValue, which serde_json skips over without its limit of 128 levels.
fn tree(raw: &Box<RawValue>) -> Json {
    match raw.get().as_bytes()[0] {
        b'{' => {
            let members = object(Some(raw)).expect("an object");
            Json::Object(
                members
                    .iter()
                    .map(|(name, value)| (name.clone(), tree(value)))
                    .collect(),
            )
        }
        b'[' => Json::List(list(Some(raw)).expect("a list").iter().map(tree).collect()),
        b'"' => Json::Text(string(Some(raw)).expect("a text")),
        b't' | b'f' => Json::Bool(raw.get() == "true"),
        b'n' => Json::Null,
        _ => Json::Number(double(raw).expect("a number")),
    }
}

/// The data of a tool result with its first block only, and with null for that block's content.
fn without_content(event: &Object) -> Result<Json, Stop> {
    let mut data = event.get("data").map(tree);
    let content = member(member(data.as_mut(), "message"), "content");
    let blocks = match content {
        Some(Json::List(blocks)) => blocks,
        _ => return refuse("event-shapeless"),
    };
    blocks.truncate(1);
    if blocks.is_empty() {
        blocks.push(Json::Object(BTreeMap::new()));
    }
    match &mut blocks[0] {
        Json::Object(first) => first.insert("content".into(), Json::Null),
        _ => return refuse("event-shapeless"),
    };
    Ok(data.unwrap_or(Json::Null))
}

fn member<'a>(holder: Option<&'a mut Json>, name: &str) -> Option<&'a mut Json> {
    match holder {
        Some(Json::Object(members)) => members.get_mut(name),
        _ => None,
    }
}

/// The message as it was written, or None.
fn project(raw: &Box<RawValue>) -> Result<Option<Box<RawValue>>, Stop> {
    let event = match object(Some(raw)) {
        Some(event) => event,
        None => return refuse("event-shapeless"),
    };
    let kind = string(event.get("type")).unwrap_or_default();
    let data = object(event.get("data"));
    let message = data.as_ref().and_then(|data| object(data.get("message")));
    match (kind.as_str(), data, message) {
        ("user/message", Some(_), _) => Ok(event.get("data").cloned()),
        ("assistant/message", Some(data), Some(message)) => match list(message.get("content")) {
            None => refuse("event-shapeless"),
            Some(content) if content.is_empty() => Ok(None),
            Some(_) => Ok(data.get("message").cloned()),
        },
        ("tool/result", Some(data), Some(_)) => Ok(data.get("message").cloned()),
        ("user/message" | "assistant/message" | "tool/result", _, _) => refuse("event-shapeless"),
        _ => Ok(None),
    }
}

fn answer_fold(request: &Request) -> Result<Value, Stop> {
    let (nodes, replacements) = fold(&events(request)?)?;
    let generation = replacements.len();
    let told: Vec<Value> = replacements
        .iter()
        .map(|made| json!({"seq": made.seq, "start": made.start, "end": made.end, "shadowedSeqs": made.shadowed}))
        .collect();
    Ok(json!({"nodes": nodes, "replacements": told, "replaceGeneration": generation}))
}

fn answer_messages(request: &Request) -> Result<Value, Stop> {
    let events = events(request)?;
    let (nodes, _) = fold(&events)?;
    let mut messages = Vec::new();
    for seq in nodes {
        if let Some(message) = at(seq, project(&events[seq]))? {
            messages.push(show(message.get()));
        }
    }
    Ok(json!({"messages_text": format!("[{}]", messages.join(","))}))
}

fn answer_project(request: &Request) -> Result<Value, Stop> {
    let event = RawValue::from_string(hide(&request.text("event")?)).expect("an event is JSON");
    let message = project(&event)?;
    Ok(json!({"message_text": message.map_or("null".into(), |message| show(message.get()))}))
}

/// The events of a request. Text that is no list is the asker's mistake; the panic tells of it.
fn events(request: &Request) -> Result<List, Stop> {
    let text = hide(&request.text("events")?);
    Ok(serde_json::from_str(&text).expect("events are a JSON list"))
}

/// Puts `\u0000` and four digits in the place of each escape of a lone surrogate, and of NUL itself: a String cannot
/// hold a lone surrogate, and so every text stays distinct from every other. `show` takes it back.
fn hide(text: &str) -> String {
    escapes(text, |rest| {
        match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, rest[..12].to_string()),
            (Some(0 | 0xD800..=0xDFFF), _) => (6, format!("\\u0000{}", rest[2..6].to_lowercase())),
            _ => (2, rest[..2].to_string()),
        }
    })
}

fn show(text: &str) -> String {
    escapes(text, |rest| match unit(rest) {
        Some(0) => (10, format!("\\u{}", &rest[6..10])),
        _ => (2, rest[..2].to_string()),
    })
}

/// Rewrites each escape: `rewrite` sees the text from a backslash on, and says how much of it becomes what.
fn escapes(text: &str, rewrite: impl Fn(&str) -> (usize, String)) -> String {
    let (mut rest, mut out) = (text, String::new());
    while let Some(index) = rest.find('\\') {
        out.push_str(&rest[..index]);
        let (length, put) = rewrite(&rest[index..]);
        out.push_str(&put);
        rest = &rest[index + length..];
    }
    out + rest
}

/// The code unit of the escape `\uXXXX` that the text begins with.
fn unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}
