// SPDX-License-Identifier: Apache-2.0
//! The frame loop of assay's Rust workers; tools/backends/README.md is the protocol.
//!
//! `run` gets a [`Question`] and answers with the output tensors of each of its data sets, in graph order, or says why
//! not. A panic ends the process, as a crash of any native runtime does, unless it is the runtime's `unimplemented!()`.
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::FromRawFd;
use std::panic::{self, AssertUnwindSafe};

pub use prost::Message;
use serde_json::{json, Value};

/// The fields of onnx.proto that a tensor on the wire has.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
}

pub struct Question {
    pub model: Vec<u8>,
    /// Per data set one tensor per graph input; None where an optional one is absent.
    pub sets: Vec<Vec<Option<TensorProto>>>,
    pub threads: usize,
    pub optimization: String,
}

pub enum Failure {
    /// The runtime says that it has no implementation.
    Unsupported(String),
    Refused(String),
}

pub type Answer = Result<Vec<Vec<TensorProto>>, Failure>;

/// Answers until stdin ends.
pub fn serve(description: Value, run: impl Fn(Question) -> Answer) -> io::Result<()> {
    panic::set_hook(Box::new(|about| {
        let what = about.payload_as_str().unwrap_or("no message").replace('\n', " ");
        let place = about.location().map_or(String::new(), |place| format!(" at {place}"));
        eprintln!("panicked: {what}{place}");
    }));
    let mut requests = io::stdin().lock();
    let mut replies = open_replies();
    let mut line = String::new();
    while requests.read_line(&mut line)? > 0 {
        let header: Value = serde_json::from_str(&line)?;
        match header["ask"].as_str() {
            Some("describe") => writeln!(replies, "{description}")?,
            Some("run") => {
                let model = read_part(&header["model"], &mut requests)?;
                let sets = read_sets(&header["sets"], &mut requests)?;
                let answer = question_of(model, &sets, &header["options"]).and_then(|question| guarded(&run, question));
                write_answer(&header["id"], answer, &mut replies)?;
            }
            _ => return Err(io::Error::other(format!("unknown question: {line}"))),
        }
        line.clear();
    }
    Ok(())
}

fn open_replies() -> File {
    let number = std::env::var("ASSAY_REPLY_FD").expect("ASSAY_REPLY_FD is not set");
    // SAFETY: the host opened this descriptor for us, and nothing else in this process uses it.
    unsafe { File::from_raw_fd(number.parse().expect("ASSAY_REPLY_FD is no number")) }
}

fn read_part(size: &Value, requests: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut part = vec![0; size.as_u64().unwrap_or(0) as usize];
    requests.read_exact(&mut part)?;
    Ok(part)
}

fn read_sets(sizes: &Value, requests: &mut impl Read) -> io::Result<Vec<Vec<Vec<u8>>>> {
    let mut read_set = |sizes: &Value| -> io::Result<Vec<Vec<u8>>> {
        sizes.as_array().into_iter().flatten().map(|size| read_part(size, requests)).collect()
    };
    sizes.as_array().into_iter().flatten().map(&mut read_set).collect()
}

fn tensor_of(part: &Vec<u8>) -> Result<Option<TensorProto>, Failure> {
    if part.is_empty() {
        return Ok(None);
    }
    TensorProto::decode(&part[..]).map(Some).map_err(|error| Failure::Refused(error.to_string()))
}

fn question_of(model: Vec<u8>, sets: &[Vec<Vec<u8>>], options: &Value) -> Result<Question, Failure> {
    Ok(Question {
        model,
        sets: sets.iter().map(|set| set.iter().map(tensor_of).collect()).collect::<Result<_, _>>()?,
        threads: options["threads"].as_u64().unwrap_or(1) as usize,
        optimization: options["optimization"].as_str().unwrap_or("all").to_string(),
    })
}

fn guarded(run: &impl Fn(Question) -> Answer, question: Question) -> Answer {
    panic::catch_unwind(AssertUnwindSafe(|| run(question))).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        match said {
            Some(text) if text.starts_with("not implemented") => Err(Failure::Unsupported(text)),
            _ => panic::resume_unwind(panic),
        }
    })
}

fn write_answer(id: &Value, answer: Answer, replies: &mut impl Write) -> io::Result<()> {
    let (header, parts) = match answer {
        Ok(sets) => {
            let sets: Vec<Vec<Vec<u8>>> =
                sets.iter().map(|set| set.iter().map(Message::encode_to_vec).collect()).collect();
            let sizes: Vec<Vec<usize>> = sets.iter().map(|set| set.iter().map(Vec::len).collect()).collect();
            (json!({"id": id, "outcome": "outputs", "sets": sizes}), sets.concat().concat())
        }
        Err(Failure::Unsupported(why)) => (json!({"id": id, "outcome": "unsupported", "because": cut(&why)}), vec![]),
        Err(Failure::Refused(why)) => (json!({"id": id, "outcome": "refused", "because": cut(&why)}), vec![]),
    };
    replies.write_all(&[format!("{header}\n").as_bytes(), &parts].concat())
}

fn cut(words: &str) -> String {
    words.chars().take(2000).collect()
}
