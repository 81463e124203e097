// Calls of all kinds. mark() writes the stack as V8 tells it, and makes a getppid(2): jscalls.js FILE.
// It writes "ready"; the end of standard input is the sign to begin. Then it writes "done", and waits for SIGTERM:
// lines of functions can only be read from a process that runs.
'use strict';
const fs = require('fs');
const vm = require('vm');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { EventEmitter } = require('events');

const path = isMainThread ? process.argv[2] : workerData;
Error.stackTraceLimit = Infinity;

// Functions that are written in C++ are native: V8 tells of them, too.
const NATIVE = new Set(['parse', 'construct', 'apply', 'defineProperty', 'Function', 'eval', 'stringify']);

function describe(site) {
	const file = site.getFileName(), named = site.getFunctionName();
	// A name that is made at run time is not seen.
	const name = named && !named.startsWith('[') && !site.isEval() ? named : '<anonymous>';
	if (!file)
		return name;
	return `${name}@${file.replace(/^file:\/\//, '')}:${site.getLineNumber()}`;
}

function mark() {
	const prepare = Error.prepareStackTrace;
	Error.prepareStackTrace = (error, sites) => sites;
	const sites = new Error().stack;
	Error.prepareStackTrace = prepare;
	const lines = sites.filter(s => !s.isAsync() && (s.isEval() || s.getFileName() || !NATIVE.has(s.getFunctionName())));
	fs.appendFileSync(path, lines.slice(1).map(describe).join('\n') + '\n\n');
	return process.ppid && 0;
}

function recursion(n) {
	if (n)
		return recursion(n - 1);
	return mark();
}

class Shape {
	#size;
	constructor(size) {
		mark();
		this.#size = size;
	}
	get size() { return mark() + this.#size; }
	set size(n) {
		mark();
		this.#size = n;
	}
	area() {
		return [1].map(x => recursion(1) + x);
	}
	static of(size) { return new this(size); }
	valueOf() { return mark(); }
}

class Square extends Shape {
	constructor(size) {
		super(size);
		mark();
	}
	area() {
		super.area();
		return mark();
	}
}

function classes() {
	const s = Square.of(2);
	s.size = s.size + 1;
	s.area();
	return -s;
}

function closures() {
	const made = [0, 1].map(n => () => recursion(n));
	for (const f of made)
		f();
	const bound = recursion.bind(null, 1);
	bound();
	recursion.call(null, 1);
	recursion.apply(null, [1]);
	(function () { mark(); })();
	(() => { mark(); })();
	const named = function inner() { mark(); };
	named();
	const object = { method() { mark(); } };
	object.method();
}

function natives() {
	[2, 1, 3].sort((a, b) => mark() + a - b);
	[1].forEach(() => mark());
	[1, 2].reduce((a, b) => recursion(1) + a + b);
	'ab'.replace('a', () => mark());
	'ab'.replace(/a/g, () => mark() + '');
	JSON.parse('[1]', (k, v) => mark() + v);
	Array.from({ length: 1 }, () => recursion(2));
	new Map([[1, 2]]).forEach(() => mark());
	new Proxy({}, { get: () => mark() }).any;
	Reflect.apply(recursion, null, [1]);
	Object.keys({ get a() { return mark(); } }).map(() => mark());
	String({ toString() { return mark() + ''; } });
	const [first] = generator(0);
	return first;
}

function errors() {
	try {
		recursion(1);
		throw new Error('first');
	} catch (e) {
		mark();
		try {
			null.none;
		} catch {
			recursion(1);
		}
	} finally {
		mark();
	}
}

function* generator(n) {
	mark();
	yield n;
	if (n)
		yield* generator(n - 1);
	recursion(1);
}

function generators() {
	for (const x of generator(2))
		mark();
}

function texts() {
	eval('mark()');
	(0, eval)('globalThis.many = 1');
	new Function('f', 'return f(1)')(recursion);
	vm.runInThisContext('(f) => {\n\n\treturn f();\n}', { filename: '/made/by/vm.js' })(mark);
	vm.runInThisContext('f => f()', { filename: 'caf\u00e9/\u{1f600}.js', lineOffset: 10 })(mark);
}

async function later(n) {
	await null;
	mark();
	if (n)
		await later(n - 1);
	recursion(1);
	return n;
}

async function asynchronous() {
	mark();
	await later(1);
	await new Promise(done => setTimeout(() => { recursion(1); done(); }, 1));
	await new Promise(done => setImmediate(() => { mark(); done(); }));
	await new Promise(done => process.nextTick(() => { mark(); done(); }));
	await new Promise(done => queueMicrotask(() => { mark(); done(); }));
	await Promise.resolve(1).then(x => mark() + x);
	for await (const x of (async function* () { yield mark(); })())
		mark();
	const emitter = new EventEmitter();
	emitter.on('event', function listener() { recursion(1); });
	emitter.emit('event');
	await fs.promises.stat('/').then(() => mark());
	await new Promise(done => fs.stat('/', () => { mark(); done(); }));
}

// Called so often that V8 compiles them. It cannot know which of these is called, and inlines none.
const often = [1, 2, 3, 4, 5, 6].map(() => function often(n, last) {
	let sum = 0;
	for (let i = 0; i < 10; i++)
		sum += i * n;
	return last ? sum + recursion(2) : sum;
});
for (let i = 1; i < often.length; i++)
	often[i] = eval(`(${often[i]})`);

function outer(n, last) {
	let x = n + 1;

	x += often[n % often.length](x, last);
	return x;
}

function warm(times) {
	let sum = 0;
	for (let i = 0; i < times; i++)
		sum += outer(i, false);
	return sum;
}

// These are inlined.
function innermost(n, last) {
	return last ? recursion(1) : n;
}

class Inlined {
	method(n, last) {
		return innermost(n, last) + 1;
	}
}
const one = new Inlined();

function around(n, last) {
	const x = n * 2;
	return x + one.method(n, last);
}

function warm_inlined(times) {
	let sum = 0;
	for (let i = 0; i < times; i++)
		sum += around(i, false);
	return sum;
}

function compiled() {
	for (let i = 0; i < 3; i++)
		around(i, true);
	warm_inlined(200000);
	around(0, true);
	warm(600);
	outer(0, true);
	warm(200000);
	outer(0, true);
}

async function main() {
	if (isMainThread) {
		fs.writeSync(1, 'ready\n');
		fs.readFileSync(0);
	}
	recursion(0);
	recursion(5);
	recursion(60);
	classes();
	closures();
	natives();
	errors();
	generators();
	texts();
	compiled();
	await asynchronous();
	if (isMainThread)
		await new Promise(done => new Worker(__filename, { workerData: path }).on('message', done));
	mark();
	if (isMainThread) {
		console.log('done');
		process.on('SIGTERM', () => process.exit(0));
	} else {
		parentPort.postMessage('done');
	}
	setInterval(() => {}, 1000);
}

main();
