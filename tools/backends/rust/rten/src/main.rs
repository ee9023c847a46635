// SPDX-License-Identifier: Apache-2.0
//! assay worker: RTen, one loaded model per question.
use std::error::Error;
use std::sync::Arc;

use assay_worker::{serve, Answer, Failure, Question, TensorProto};
use rten::{Model, ModelOptions, RunOptions, ThreadPool, Value};
use rten_tensor::prelude::*;
use serde_json::json;

// TensorProto.DataType of what RTen computes with.
const FLOAT: i32 = 1;
const UINT8: i32 = 2;
const INT8: i32 = 3;
const INT32: i32 = 6;

type Fallible<T> = Result<T, Box<dyn Error>>;

fn value_of(proto: &TensorProto) -> Fallible<Value> {
    let shape: Vec<usize> = proto.dims.iter().map(|&extent| extent as usize).collect();
    let raw = &proto.raw_data;
    let words = || raw.chunks_exact(4).map(|word| word.try_into().unwrap());
    Ok(match proto.data_type {
        FLOAT => Value::from_shape(&shape, words().map(f32::from_le_bytes).collect::<Vec<_>>())?,
        INT32 => Value::from_shape(&shape, words().map(i32::from_le_bytes).collect::<Vec<_>>())?,
        INT8 => Value::from_shape(&shape, raw.iter().map(|&byte| byte as i8).collect::<Vec<_>>())?,
        UINT8 => Value::from_shape(&shape, raw.clone())?,
        other => return Err(format!("unsupported: RTen has no tensors of data_type {other}").into()),
    })
}

fn proto_of(value: &Value) -> Fallible<TensorProto> {
    let (data_type, raw_data) = match value {
        Value::FloatTensor(tensor) => (FLOAT, tensor.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Value::Int32Tensor(tensor) => (INT32, tensor.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Value::Int8Tensor(tensor) => (INT8, tensor.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Value::UInt8Tensor(tensor) => (UINT8, tensor.to_vec()),
        other => return Err(format!("the output is a {}", other.dtype()).into()),
    };
    let dims = value.shape().iter().map(|&extent| extent as i64).collect();
    Ok(TensorProto { dims, data_type, raw_data })
}

fn run_set(model: &Model, pool: &Arc<ThreadPool>, set: &[Option<TensorProto>]) -> Fallible<Vec<Value>> {
    if set.len() != model.input_ids().len() {
        return Err(format!("{} inputs for a model that takes {}", set.len(), model.input_ids().len()).into());
    }
    let mut inputs = Vec::new();
    for (id, proto) in model.input_ids().iter().zip(set) {
        if let Some(proto) = proto {
            inputs.push((*id, value_of(proto)?.into()));
        }
    }
    let options = RunOptions::default().with_thread_pool(Some(pool.clone()));
    Ok(model.run(inputs, model.output_ids(), Some(options))?)
}

fn answers(question: Question) -> Fallible<Vec<Vec<TensorProto>>> {
    let mut options = ModelOptions::with_all_ops();
    options.enable_optimization(question.optimization != "none");
    let model = options.load(question.model)?;
    let pool = Arc::new(ThreadPool::with_num_threads(question.threads));
    // Read after the last run: a buffer that is used again would show.
    let results = question.sets.iter().map(|set| run_set(&model, &pool, set)).collect::<Fallible<Vec<_>>>()?;
    results.iter().map(|values| values.iter().map(proto_of).collect()).collect()
}

/// RTen says "unsupported" of what is valid and not implemented, "not supported" of operators.
fn run(question: Question) -> Answer {
    answers(question).map_err(|error| {
        let because = error.to_string();
        let is_missing = because.contains("unsupported") || because.contains("not supported");
        if is_missing {
            Failure::Unsupported(because)
        } else {
            Failure::Refused(because)
        }
    })
}

fn main() -> std::io::Result<()> {
    let description = json!({
        "assay": 1, "backend": "rten", "version": "0.27.0", "device": "cpu",
        "arithmetic": {"accumulator": "f32"},
        // https://docs.rs/rten/0.27.0/rten/#data-types: 64-bit types are taken, and computed as 32-bit ones.
        "capabilities": {"types": ["f32", "i32", "i8", "u8"]}
    });
    serve(description, run)
}
