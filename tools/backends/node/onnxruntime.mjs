// SPDX-License-Identifier: Apache-2.0
// assay worker: the npm packages of ONNX Runtime, onnxruntime-node (native CPU) or onnxruntime-web (WebAssembly).
//
//     node onnxruntime.mjs FOLDER PACKAGE      FOLDER holds the node_modules
import {createRequire} from "node:module";
import {resolve} from "node:path";
import {serve, Unsupported} from "./assay_worker.mjs";

const [folder, packageName] = process.argv.slice(2);
const require = createRequire(resolve(folder, "package.json"));
const ort = require(packageName);
const protobuf = require("protobufjs");
const isWasm = packageName === "onnxruntime-web";

// The fields of onnx.proto that a tensor on the wire has.
const TensorProto = protobuf
  .parse(`syntax = "proto3";
    message TensorProto { repeated int64 dims = 1; int32 dataType = 2; string name = 8; bytes rawData = 9; }`)
  .root.lookupType("TensorProto");

// By TensorProto.DataType: what an ort.Tensor can hold. It knows no bfloat16.
const kinds = new Map([
  [1, ["float32", Float32Array]],
  [2, ["uint8", Uint8Array]],
  [3, ["int8", Int8Array]],
  [6, ["int32", Int32Array]],
  [7, ["int64", BigInt64Array]],
  [9, ["bool", Uint8Array]],
  [10, ["float16", Uint16Array]],
  [11, ["float64", Float64Array]],
]);
const dataTypes = new Map([...kinds].map(([number, [type]]) => [type, number]));
const levels = {all: "all", extended: "extended", basic: "basic", none: "disabled"};

function tensorOf(part) {
  const proto = TensorProto.decode(part);
  if (!kinds.has(proto.dataType)) throw new Unsupported(`ort.Tensor has no type for data_type ${proto.dataType}`);
  const [type, Elements] = kinds.get(proto.dataType);
  return new ort.Tensor(type, new Elements(Uint8Array.from(proto.rawData).buffer), proto.dims.map(Number));
}

function partOf(name, {type, dims, data}) {
  if (!dataTypes.has(type)) throw new Unsupported(`output ${name} is of the type ${type}`);
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return TensorProto.encode({name, dims, dataType: dataTypes.get(type), rawData: raw}).finish();
}

async function runSet(session, parts) {
  const expected = session.inputNames.length;
  if (parts.length !== expected) throw new Error(`${parts.length} inputs for a model that takes ${expected}`);
  const present = session.inputNames.map((name, i) => [name, parts[i]]).filter(([, part]) => part?.length);
  const results = await session.run(Object.fromEntries(present.map(([name, part]) => [name, tensorOf(part)])));
  return session.outputNames.map((name) => [name, results[name]]);
}

async function runAll(session, sets) {
  const results = [];
  for (const parts of sets) results.push(await runSet(session, parts));
  // Read after the last run: a buffer that is used again shows.
  return results.map((outputs) => outputs.map(([name, tensor]) => partOf(name, tensor)));
}

async function run(model, sets, {threads = 1, optimization = "all"}) {
  let session;
  try {
    session = await ort.InferenceSession.create(model, {
      executionProviders: [isWasm ? "wasm" : "cpu"],
      graphOptimizationLevel: levels[optimization],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: 4,
    });
    return await runAll(session, sets);
  } catch (error) {
    const isMissing = /could not find an implementation|not_implemented/i.test(error?.message);
    throw isMissing ? new Unsupported(error.message) : error;
  } finally {
    await session?.release();
  }
}

if (isWasm) ort.env.wasm.numThreads = 1; // more would need a worker per thread, and shared memory
await serve(
  {
    backend: packageName,
    version: ort.env.versions[isWasm ? "web" : "node"],
    device: isWasm ? "wasm" : "cpu",
    arithmetic: {accumulator: "f32"},
    // Newer opsets are refused as "under development".
    capabilities: {newest_opset: 26, types: ["f16", "f32", "f64", "i8", "u8", "i32", "i64"]},
  },
  run,
);
