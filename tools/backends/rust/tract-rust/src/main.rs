// SPDX-License-Identifier: Apache-2.0
//! assay worker: tract, one plan per model.
use assay_worker::{serve, Answer, Failure, Question, TensorProto};
use serde_json::json;
use tract_onnx::pb::tensor_proto::DataType;
use tract_onnx::prelude::*;

/// TensorProto.DataType of what tract computes with; a quantised type counts as its integers.
fn data_type_of(kind: DatumType) -> TractResult<DataType> {
    Ok(match kind.unquantized() {
        DatumType::F16 => DataType::Float16,
        DatumType::F32 => DataType::Float,
        DatumType::F64 => DataType::Double,
        DatumType::I8 => DataType::Int8,
        DatumType::U8 => DataType::Uint8,
        DatumType::I32 => DataType::Int32,
        DatumType::I64 => DataType::Int64,
        DatumType::Bool => DataType::Bool,
        other => return Err(TractError::msg(format!("the output is of the type {other:?}"))),
    })
}

fn value_of(proto: &TensorProto) -> TractResult<TValue> {
    let kind = DatumType::try_from(DataType::try_from(proto.data_type)?)?;
    let shape: Vec<usize> = proto.dims.iter().map(|&extent| extent as usize).collect();
    // SAFETY: any bytes are a tensor of a numeric type; from_raw_dt compares their count with the shape.
    Ok(unsafe { Tensor::from_raw_dt(kind, &shape, &proto.raw_data)? }.into_tvalue())
}

fn proto_of(value: &TValue) -> TractResult<TensorProto> {
    Ok(TensorProto {
        dims: value.shape().iter().map(|&extent| extent as i64).collect(),
        data_type: data_type_of(value.datum_type())? as i32,
        raw_data: value.as_bytes().to_vec(),
    })
}

/// The inputs have the types and extents of the data: tract plans for what it knows.
fn plan_of(question: &Question) -> TractResult<std::sync::Arc<TypedRunnableModel>> {
    let mut model = tract_onnx::onnx().model_for_read(&mut question.model.as_slice())?;
    for (index, input) in question.sets.iter().take(1).flatten().flatten().enumerate() {
        let value = value_of(input)?;
        let fact = InferenceFact::dt_shape(value.datum_type(), value.shape());
        model.set_input_fact(index, fact)?;
    }
    let model = model.into_typed()?;
    match question.optimization.as_str() {
        "none" => model,
        "basic" => model.into_decluttered()?,
        _ => model.into_optimized()?,
    }
    .into_runnable()
}

fn answers(question: &Question) -> TractResult<Vec<Vec<TensorProto>>> {
    let plan = plan_of(question)?;
    let run_set = |set: &Vec<Option<TensorProto>>| {
        let inputs = set.iter().flatten().map(value_of).collect::<TractResult<_>>()?;
        plan.run(inputs)
    };
    // Read after the last run: a buffer that is used again would show.
    let results = question.sets.iter().map(run_set).collect::<TractResult<Vec<_>>>()?;
    results.iter().map(|values| values.iter().map(proto_of).collect()).collect()
}

fn run(question: Question) -> Answer {
    answers(&question).map_err(|error| {
        let because = format!("{error:#}");
        let is_missing = because.contains("nimplemented") || because.contains("not implemented");
        if is_missing {
            Failure::Unsupported(because)
        } else {
            Failure::Refused(because)
        }
    })
}

fn main() -> std::io::Result<()> {
    let description = json!({
        "assay": 1, "backend": "tract", "version": "0.23.9", "device": "cpu",
        "arithmetic": {"accumulator": "f32"},
        "capabilities": {"types": ["f16", "f32", "f64", "i8", "u8", "i32", "i64"]}
    });
    serve(description, run)
}
