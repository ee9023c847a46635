// SPDX-License-Identifier: Apache-2.0
// The frame loop of assay's JavaScript workers (../README.md is the protocol).
//
//     import {serve, Unsupported} from "./assay_worker.mjs";
//     await serve(description, run);
//
// `run(model, sets, options)` gets the bytes of a ModelProto and, per data set, the bytes of one TensorProto per graph
// input (none where it is absent). It resolves to a list of TensorProtos, as bytes, per data set, or throws:
// Unsupported where the runtime has no implementation; any other error is a refusal.
import {writeFileSync} from "node:fs";

export class Unsupported extends Error {}

class Requests {
  #chunks = process.stdin[Symbol.asyncIterator]();
  #held = Buffer.alloc(0);

  async #more() {
    const {value, done} = await this.#chunks.next();
    if (done) process.exit(0);
    this.#held = Buffer.concat([this.#held, value]);
  }

  async part(size) {
    while (this.#held.length < size) await this.#more();
    const part = this.#held.subarray(0, size);
    this.#held = this.#held.subarray(size);
    return part;
  }

  async parts(sizes) {
    const parts = [];
    for (const size of sizes) parts.push(await this.part(size));
    return parts;
  }

  async header() {
    while (!this.#held.includes("\n")) await this.#more();
    return JSON.parse(await this.part(this.#held.indexOf("\n") + 1));
  }
}

async function answer(run, model, sets, options) {
  try {
    const outputs = await run(model, sets, options);
    return [{outcome: "outputs", sets: outputs.map((parts) => parts.map((part) => part.length))}, outputs.flat()];
  } catch (error) {
    // A trap leaves the memory of a WebAssembly module in no known state: end, as a native program would.
    if (error instanceof WebAssembly.RuntimeError) throw error;
    const because = String(error?.message ?? error).replace(/\s+/g, " ").slice(0, 2000) || "refused";
    return [{outcome: error instanceof Unsupported ? "unsupported" : "refused", because}, []];
  }
}

export async function serve(description, run) {
  const requests = new Requests();
  const replies = Number(process.env.ASSAY_REPLY_FD);
  for (;;) {
    const header = await requests.header();
    let [reply, parts] = [{assay: 1, ...description}, []];
    if (header.ask !== "describe" && header.ask !== "run") throw new Error(`unknown question: ${header.ask}`);
    if (header.ask === "run") {
      const model = await requests.part(header.model);
      const sets = [];
      for (const sizes of header.sets) sets.push(await requests.parts(sizes));
      [reply, parts] = await answer(run, model, sets, header.options ?? {});
      reply = {id: header.id, ...reply};
    }
    writeFileSync(replies, Buffer.concat([Buffer.from(`${JSON.stringify(reply)}\n`), ...parts]));
  }
}
