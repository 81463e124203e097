// node tp.mjs FILE SQL... - Perfetto's trace processor (WebAssembly) answers queries over FILE, a JSON line per row.
import fs from 'node:fs';
const wasm = process.env.TRACE_PROCESSOR;
const [file, ...queries] = process.argv.slice(2);
const enc = n => { const out = []; n = BigInt(n); do { const b = Number(n & 127n); n >>= 7n; out.push(n ? b | 128 : b); } while (n); return out; };
const field = (num, bytes) => Buffer.concat([Buffer.from(enc(num << 3 | 2)), Buffer.from(enc(bytes.length)), Buffer.from(bytes)]);
const number = (num, n) => Buffer.concat([Buffer.from(enc(num << 3)), Buffer.from(enc(n))]);
function* fields(b) {
	let at = 0;
	const varint = () => { let n = 0n, s = 0n, c; do { c = b[at++]; n |= BigInt(c & 127) << s; s += 7n; } while (c & 128); return n; };
	while (at < b.length) {
		const key = Number(varint()), num = key >> 3;
		if ((key & 7) === 0) yield [num, varint()];
		else if ((key & 7) === 2) { const n = Number(varint()); yield [num, b.subarray(at, at + n)]; at += n; }
		else if ((key & 7) === 1) { yield [num, b.subarray(at, at + 8)]; at += 8; }
		else { yield [num, b.subarray(at, at + 4)]; at += 4; }
	}
}
let memory, table, replies = [];
const u8 = () => new Uint8Array(memory.buffer), view = () => new DataView(memory.buffer);
const module = new WebAssembly.Module(fs.readFileSync(wasm));
const imports = {};
for (const i of WebAssembly.Module.imports(module)) {
	let f = i.name.startsWith('__syscall') ? () => -52 : () => 0;
	if (/abort|exit|assert|throw/.test(i.name)) f = (...a) => { throw new Error(i.name + ' ' + a); };
	if (i.name === 'emscripten_get_now' || i.name === 'emscripten_date_now') f = () => 1000;
	if (i.name === 'clock_time_get') f = (c, p, out) => { view().setBigUint64(out, 1000000000n, true); return 0; };
	if (i.name === 'environ_sizes_get') f = (a, b) => { view().setUint32(a, 0, true); view().setUint32(b, 0, true); return 0; };
	if (i.name === 'emscripten_get_heap_max') f = () => 2147483648;
	if (i.name === 'emscripten_resize_heap') f = n => { try { memory.grow(Math.ceil((n - memory.buffer.byteLength) / 65536)); return 1; } catch { return 0; } };
	if (i.name === 'fd_write') f = (fd, iov, n, out) => {
		let total = 0;
		for (let k = 0; k < n; k++) {
			const p = view().getUint32(iov + 8 * k, true), len = view().getUint32(iov + 8 * k + 4, true);
			if (process.env.TP_VERBOSE) process.stderr.write(Buffer.from(u8().subarray(p, p + len)));
			total += len;
		}
		view().setUint32(out, total, true); return 0; };
	(imports[i.module] ??= {})[i.name] = f;
}
const ex = new WebAssembly.Instance(module, imports).exports;
memory = ex.memory; table = ex.__indirect_function_table;
ex.emscripten_stack_init(); ex.__wasm_call_ctors();
// A module that imports a function of two i32 and exports it, so that a table can hold it.
const thunk = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 2, 127, 127, 0, 2, 7, 1, 1, 101, 1, 102, 0, 0, 7, 5, 1, 1, 102, 0, 0]));
const cb = new WebAssembly.Instance(thunk, { e: { f: (p, n) => replies.push(Buffer.from(u8().slice(p, p + n))) } }).exports.f;
const slot = table.grow(1); table.set(slot, cb);
const SIZE = 32 << 20, req = ex.trace_processor_rpc_init(slot, SIZE);
let seq = 1n;
function rpc(method, extra = Buffer.alloc(0)) {
	const msg = field(1, Buffer.concat([number(1, seq++), number(2, method), extra]));
	u8().set(msg, req); replies = []; ex.trace_processor_on_rpc_request(msg.length);
	return [...fields(Buffer.concat(replies))].map(([, m]) => [...fields(m)]);
}
const fail = e => { console.error(e); process.exit(1); };
const check = (answers, num, sub) => { for (const a of answers) for (const [n, v] of a) {
	if (n === 5) fail(v.toString());
	if (n === num) for (const [m, t] of fields(v)) if (m === sub && t.length) fail(t.toString()); } };
const data = fs.readFileSync(file);
for (let at = 0; at < data.length; at += 1 << 20) check(rpc(1, field(101, data.subarray(at, at + (1 << 20)))), 201, 2);
check(rpc(2), 212, 1);
for (const sql of queries) {
	const names = [], rows = []; let row = [];
	for (const a of rpc(3, field(103, field(1, Buffer.from(sql))))) for (const [n, v] of a) {
		if (n === 5) fail(v.toString());
		if (n !== 203) continue;
		const batches = [];
		for (const [m, t] of fields(v)) { if (m === 1) names.push(t.toString()); if (m === 2) fail(sql + ': ' + t); if (m === 3) batches.push(t); }
		for (const b of batches) {
			const cells = [], ints = [], floats = [], blobs = []; let strings = [];
			const varints = (t, out) => { let at = 0; while (at < t.length) { let x = 0n, s = 0n, c; do { c = t[at++]; x |= BigInt(c & 127) << s; s += 7n; } while (c & 128); out.push(BigInt.asIntN(64, x)); } };
			for (const [m, t] of fields(b)) {
				if (m === 1) typeof t === 'bigint' ? cells.push(t) : varints(t, cells);
				if (m === 2) typeof t === 'bigint' ? ints.push(t) : varints(t, ints);
				if (m === 3) for (let k = 0; k < t.length; k += 8) floats.push(t.readDoubleLE(k));
				if (m === 4) blobs.push(t.toString('hex'));
				if (m === 5) strings = t.toString().split('\0');
			}
			for (const c of cells) {
				row.push(c === 1n ? null : c === 2n ? (x => Number.isSafeInteger(Number(x)) ? Number(x) : String(x))(ints.shift()) : c === 3n ? floats.shift() : c === 4n ? strings.shift() : blobs.shift());
				if (row.length === names.length) { rows.push(row); row = []; }
			}
		}
	}
	console.log(JSON.stringify(rows));
}
