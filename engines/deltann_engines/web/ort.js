// The browser's side: a session of onnxruntime-web, fed over HTTP with raw tensors.
const TYPES = {
  float32: Float32Array, float64: Float64Array, int32: Int32Array, uint8: Uint8Array, int8: Int8Array,
  int64: BigInt64Array, bool: Uint8Array,
};
let ort, session;
let workers = 0;
const Plain = Worker;
globalThis.Worker = class extends Plain {  // counted: how many threads there really are
  constructor(...args) { super(...args); workers += 1; }
};

async function start(threads) {
  ort = await import("./modules/onnxruntime-web/dist/ort.wasm.min.mjs");
  ort.env.wasm.numThreads = threads;
  ort.env.wasm.wasmPaths = new URL("modules/onnxruntime-web/dist/", location.href).href;
  ort.env.logLevel = "error";
  return {isolated: crossOriginIsolated, agent: navigator.userAgent};
}

async function load() {
  const model = await (await fetch("model")).arrayBuffer();
  session = await ort.InferenceSession.create(model, {executionProviders: ["wasm"]});
  return {threads: 1 + workers};
}

async function run(type, dims) {
  const bytes = await (await fetch("input")).arrayBuffer();
  const feeds = {[session.inputNames[0]]: new ort.Tensor(type, new TYPES[type](bytes), dims)};
  const name = session.outputNames[0];
  const began = performance.now();
  const output = (await session.run(feeds, [name]))[name];
  const ms = performance.now() - began;
  await fetch("output", {method: "POST", body: output.data});
  return {ms, type: output.type, dims: output.dims};
}

globalThis.deltann = {start, load, run};
