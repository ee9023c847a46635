# SPDX-License-Identifier: Apache-2.0
"""assay worker: tract, through the Python wheel of its C interface. It reads models from files only, and wants to be told
the shapes of inputs where the model leaves them open (set_input_fact), so it is told those of the data."""
import os
import tempfile

import assay_worker
import tract
from assay_worker import array_of, proto_of

# DatumType of the interface as facts spell it: neither bfloat16 nor strings.
KINDS = {"bool": "bool", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int8": "i8", "int16": "i16",
         "int32": "i32", "int64": "i64", "float16": "f16", "float32": "f32", "float64": "f64"}


def kind_of(array):
    if array is None:
        raise assay_worker.Unsupported("this interface has no inputs that are absent")
    if array.dtype.name not in KINDS:
        raise assay_worker.Unsupported(f"this interface has no tensors of {array.dtype.name}")
    return KINDS[array.dtype.name]


def loaded(model, arrays):
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model)
        file.flush()
        inference = tract.onnx().load(file.name)
    for index, array in enumerate(arrays):
        inference.set_input_fact(index, ",".join([*map(str, array.shape), kind_of(array)]))
    return inference


def run(model, sets, options):
    os.environ["RAYON_NUM_THREADS"] = str(options.get("threads", 1))
    sets = [[array_of(part) for part in parts] for parts in sets]
    for array in sets[0]:
        kind_of(array)
    try:
        inference = loaded(model, sets[0])
        names = [inference.output_name(index) for index in range(inference.output_count())]
        runnable = inference.into_model().into_runnable()
        results = [runnable.run(arrays) for arrays in sets]
        return [[proto_of(name, value.to_numpy()) for name, value in zip(names, values)] for values in results]
    except tract.TractError as error:
        raise tract.TractError(str(error).partition("Stack backtrace")[0]) from error


assay_worker.serve(
    {"backend": "tract", "version": tract.version(), "device": "cpu"},
    run,
    not_implemented=["Unimplemented(", "not implemented", "not supported", "does not support", "Unsupported operator"],
)
