// flame.js - the flame graph. data: S names, K kinds and O modules of frames (M: modules); F frame, D depth, W weight and,
// when two runs are compared, B weight before, of each node, parents before their children.
const ROW = 17, TOP = 112;
const kinds = ["program", "library", "kernel", "inlined", "JIT", "unknown", "label", "Python", "Ruby", "PHP",
	"Perl", "JavaScript", "Java"];
// hue, saturation, lightness on light and dark ground
const colours = [[28, 85, 68, 34], [48, 85, 70, 30], [205, 65, 72, 34], [28, 90, 84, 44], [310, 40, 78, 36],
	[0, 0, 80, 36], [235, 22, 86, 42], [130, 45, 70, 32], [340, 55, 72, 36], [265, 50, 78, 36],
	[180, 45, 66, 32], [55, 75, 64, 32], [92, 48, 66, 32]];
const frames = svg.querySelector("#f");
const kindOf = f => data.K[f];
const hash = data.M.map(m => { let h = 0; for (const c of m) h = (h * 31 + c.charCodeAt(0)) & 0xffff; return h % 8; });

function makeTree(F, D, W, B) {
	const n = F.length, P = new Int32Array(n), E = new Int32Array(n), path = [];
	let deepest = 0;
	for (let i = 0; i < n; i++) {
		for (let d = path.length; d > D[i]; d--)
			E[path[d - 1]] = i;
		path.length = D[i];
		P[i] = D[i] ? path[D[i] - 1] : -1;
		path.push(i);
		deepest = Math.max(deepest, D[i]);
	}
	for (const i of path)
		E[i] = n;
	return {n, F, D, W, B, P, E, deepest};
}
// Callers of each leaf: paths from the leaf to the root, merged. order: which of two siblings comes first.
function rebuilt(t, backward, order) {
	const root = {f: t.F[0], w: 0, b: 0, kids: new Map()};
	const self = i => {
		let w = t.W[i], b = t.B ? t.B[i] : 0;
		for (let c = i + 1; c < t.E[i]; c = t.E[c]) {
			w -= t.W[c];
			b -= t.B ? t.B[c] : 0;
		}
		return [w, b];
	};
	for (let i = 0; i < t.n; i++) {
		const [w, b] = self(i);
		if (w <= 0 && b <= 0)
			continue;
		const steps = [];
		for (let k = i; k > 0; k = t.P[k])
			steps.push(t.F[k]);
		if (!backward)
			steps.reverse();
		let at = root;
		at.w += w;
		at.b += b;
		for (const f of steps) {
			let next = at.kids.get(f);
			if (!next)
				at.kids.set(f, next = {f, w: 0, b: 0, kids: new Map()});
			next.w += w;
			next.b += b;
			at = next;
		}
	}
	const F = [], D = [], W = [], B = [], todo = [[root, 0]];
	while (todo.length) {
		const [x, d] = todo.pop();
		F.push(x.f);
		D.push(d);
		W.push(x.w);
		B.push(x.b);
		for (const k of [...x.kids.values()].sort((p, q) => -order(p, q)))
			todo.push([k, d + 1]);
	}
	return makeTree(F, D, W, t.B && B);
}
const byName = (p, q) => data.S[p.f] < data.S[q.f] ? -1 : data.S[p.f] > data.S[q.f] ? 1 : p.f - q.f;
const byWeight = (p, q) => q.w - p.w || byName(p, q);

const given = makeTree(data.F, data.D, data.W, data.B);
let tree = given, zoom = 0, cursor = -1, pattern = null, matches = null, shown = new Map();
const before = () => state.v === "before" && tree.B;
const weight = i => before() ? tree.B[i] : tree.W[i];
const icicle = () => state.i ? state.i === "1" : data.icicle;

// ---- names that fit ----
function fit(name, n) {
	if (name.length <= n)
		return name;
	if (n < 3)
		return "";
	for (const [what, by] of [[/ \([^(]*\)$/, ""], [/\((?!\*)[^]*\)( const)?$/, "()"], [/<[^]*>/, "<…>"], [/^.*::/, "…::"]]) {
		const shorter = name.replace(what, by);
		if (shorter.length < name.length)
			name = shorter;
		if (name.length <= n)
			return name;
	}
	return name.slice(0, n - 1) + "…";
}

// ---- colours ----
function hsl(h, s, l) {
	return "hsl(" + h + "," + s.toFixed(0) + "%," + l.toFixed(0) + "%)";
}
function change(i) {
	const w = tree.W[i] / (tree.W[0] || 1), b = tree.B[i] / (tree.B[0] || 1);
	return {points: w - b, part: (w - b) / (Math.max(w, b) || 1), ratio: b ? w / b - 1 : NaN};
}
function fill(i, dark) {
	const f = tree.F[i];
	if (tree.B) {
		const t = change(i).part, a = Math.abs(t);
		return hsl(t > 0 ? 28 : 212, 85 * a, dark ? 30 + 8 * a : 88 - 22 * a);
	}
	const [h, s, l, d] = colours[kindOf(f)], step = hash[data.O[f]];
	return hsl(h, s, dark ? d - step : l + step - 4);
}

// ---- texts ----
const name = i => (tree.B && i && !tree.B[i] ? "+ " : tree.B && i && !tree.W[i] ? "- " : "") + data.S[tree.F[i]];
function selfOf(i) {
	let w = weight(i);
	for (let c = i + 1; c < tree.E[i]; c = tree.E[c])
		w -= weight(c);
	return w;
}
function figures(i) {
	const w = weight(i), parts = [group(w) + " " + data.unit, percent(w, weight(0)) + " of all"];
	if (zoom)
		parts.push(percent(w, weight(zoom)) + " of view");
	parts.push("self " + percent(selfOf(i), weight(0)));
	return parts.join(" · ");
}
function changeText(i) {
	const c = change(i), sign = c.points < 0 ? "-" : "+";
	return "before " + group(tree.B[i]) + ", after " + group(tree.W[i]) + ": " + sign +
		(100 * Math.abs(c.points)).toFixed(2) + " points" +
		(tree.B[i] ? tree.W[i] ? " (" + (c.ratio < 0 ? "-" : "+") + (100 * Math.abs(c.ratio)).toFixed(0) + " %)" : " (gone)" : " (new)");
}
function describe(i) {
	const m = data.M[data.O[tree.F[i]]];
	return [name(i), (m ? m + " · " : "") + kinds[kindOf(tree.F[i])], figures(i)].concat(tree.B ? [changeText(i)] : []);
}

// ---- searching ----
function setSearch(text) {
	setState("s", text);
	pattern = null;
	if (text) {
		const flags = text === text.toLowerCase() ? "i" : "";
		try {
			pattern = new RegExp(text, flags);
		} catch (e) {
			pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), flags);
		}
	}
	matches = pattern && data.S.map(s => pattern.test(s));
}
// Nested matches count once.
function matched() {
	let w = 0, all = 0, n = 0;
	for (let i = 0, until = 0; i < tree.n; i++) {
		if (!matches[tree.F[i]])
			continue;
		n++;
		if (i < until)
			continue;
		until = tree.E[i];
		all += weight(i);
		if (i >= zoom && i < tree.E[zoom])
			w += weight(i);
		else if (i < zoom && tree.E[i] > zoom)
			w = weight(zoom);
	}
	return {all, view: w, n};
}

// ---- drawing ----
let details, found, narrow = false;
const input = field("search (regular expression)  /", t => { setSearch(t); draw(); });
function legend(y) {
	let x = 10;
	if (data.B) {
		for (const [t, label] of [[-1, "less than before"], [0, "the same"], [1, "more"]]) {
			const dark = isDark(), a = Math.abs(t);
			el("rect", {x: x, y: y - 10, width: 12, height: 12, fill: hsl(t > 0 ? 28 : 212, 85 * a, dark ? 30 + 8 * a : 88 - 22 * a), "class": "edge"}, bar);
			el("text", {x: x + 17, y: y}, bar, label);
			x += 33 + label.length * charWidth;
		}
		el("text", {x: x, y: y, "class": "faint"}, bar, "+ new, - gone");
		return;
	}
	const used = kinds.map((k, i) => data.K.some((x, f) => f && x === i));
	kinds.forEach((k, i) => {
		if (!used[i] || x + 40 + k.length * charWidth > pageWidth())
			return;
		const c = colours[i];
		el("rect", {x: x, y: y - 10, width: 12, height: 12, fill: hsl(c[0], c[1], isDark() ? c[3] : c[2]), "class": "edge"}, bar);
		el("text", {x: x + 17, y: y}, bar, k);
		x += 33 + k.length * charWidth;
	});
}
function drawBar() {
	const w = pageWidth(), small = w < 520;
	bar.replaceChildren();
	el("rect", {x: 0, y: 0, width: w, height: TOP - 4, "class": "bg"}, bar);
	head(w);
	let x = 10;
	x = button(x, 34, "Reset", "0", "whole picture", () => zoomTo(0));
	x = button(x, 34, icicle() ? "Flame" : "Icicle", "i", "root at the other end", () => { setState("i", icicle() ? "0" : "1"); draw(); toRoot(); });
	x = button(x, 34, (small ? "" : "From ") + (state.b === "1" ? "root" : "leaves"), "b", "callers of each leaf, or calls from the root", () => reshape("b"));
	x = button(x, 34, (small ? "" : "By ") + (state.w === "1" ? "name" : "weight"), "w", "order of neighbours", () => reshape("w"));
	if (data.B)
		x = button(x, 34, before() ? "After" : "Before", "v", "widths of the other run", () => { setState("v", before() ? "" : "before"); draw(); });
	x = button(x, 34, state.t ? "Graph" : small ? "Table" : "Functions", "t", "a table of functions, or the graph", () => { setState("t", state.t ? "" : "self", true); draw(); toRoot(); });
	x = button(x, 34, isDark() ? "Light" : "Dark", "d", "colours", flipTheme);
	x = button(x, 34, "?", "?", "keys", () => help(keys));
	const free = w - x - 10;
	narrow = free <= 150; // then the field stands where the legend was
	place(input, narrow ? 10 : x, narrow ? 84 : 33, Math.min(narrow ? w - 20 : free, 260));
	details = el("text", {x: 10, y: 76, "aria-live": "polite"}, bar, "");
	found = el("text", {x: w - 10, y: narrow ? 76 : 98, "text-anchor": "end", "class": "found"}, bar, "");
	if (!narrow)
		legend(98);
	say(cursor);
}
function say(i) {
	const n = Math.floor((pageWidth() - 20) / charWidth);
	if (matches) {
		const m = matched();
		const all = percent(m.all, weight(0)), text = "matched " + all + " of all" + (zoom ? ", " + percent(m.view, weight(zoom)) + " of view" : "") + " in " + group(m.n) + " frames";
		svg.setAttribute("data-state", "matched=" + (100 * m.all / (weight(0) || 1)).toFixed(2) + "% frames=" + m.n);
		found.textContent = narrow && i >= 0 ? "" : fit(text, n);
	} else {
		svg.setAttribute("data-state", "ready zoom=" + zoom + " frames=" + tree.n);
		found.textContent = "";
	}
	details.textContent = i < 0 ? narrow && matches ? "" : fit(data.note, n) : fit(describe(i).slice(0, 1).concat(describe(i).slice(2)).join("  "), n);
}
// ---- the table of functions ----
const MOST_ROWS = 1000;
// Of what is in view: what the function took by itself, and with all that it called; recursion counts once.
function functions() {
	const t = state.b === "1" ? given : tree, top = state.b === "1" ? 0 : zoom, of = before() ? t.B : t.W, rows = new Map(), open = [];
	const active = new Map(); // by frame: how many of its nodes are on the path
	for (let i = top; i < t.E[top]; i++) {
		while (open.length && i >= t.E[open[open.length - 1]]) {
			const f = t.F[open.pop()];
			active.set(f, active.get(f) - 1);
		}
		const f = t.F[i];
		let self = of[i];
		for (let c = i + 1; c < t.E[i]; c = t.E[c])
			self -= of[c];
		const row = rows.get(f) || {f, self: 0, total: 0};
		rows.set(f, row);
		row.self += self;
		row.total += active.get(f) ? 0 : of[i];
		active.set(f, (active.get(f) || 0) + 1);
		open.push(i);
	}
	const by = state.t === "total" ? "total" : "self", other = by === "self" ? "total" : "self";
	const all = [...rows.values()].filter(r => r.f && r.total && (!matches || matches[r.f]));
	return all.sort((p, q) => q[by] - p[by] || q[other] - p[other] || (data.S[p.f] < data.S[q.f] ? -1 : 1));
}
// A row shows its function in the graph.
function showFunction(f) {
	const name = "^" + data.S[f].replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$";
	setState("t", "");
	setSearch(name);
	input.value = name;
	draw();
	toRoot();
}
function drawTable(w) {
	const rows = functions(), shownRows = rows.slice(0, MOST_ROWS), all = weight(0), piece = document.createDocumentFragment();
	const line = (i, text, attrs, act) => {
		const e = el("text", Object.assign({x: 10, y: TOP + 14 + i * ROW}, attrs), piece, fit(text, Math.floor((w - 20) / charWidth)));
		if (act) {
			e.addEventListener("click", act);
			e.addEventListener("keydown", k => { if (k.key === "Enter") { k.stopPropagation(); act(); } });
		}
	};
	const pad = (s, n) => String(s).padStart(n);
	const widest = Math.max(8, group(all).length + 1);
	const head = [pad("SELF", widest), pad("SELF %", 9), pad("TOTAL", widest), pad("TOTAL %", 9), " FUNCTION (" + data.unit + ")"];
	let x = 10;
	head.forEach((h, i) => {
		const by = i < 2 ? "self" : i < 4 ? "total" : "";
		const e = el("text", {x: x, y: TOP + 14, "class": "ink found" + (by ? " go pick" : "")}, piece, h);
		x += h.length * charWidth;
		if (!by)
			return;
		e.setAttribute("role", "button");
		e.setAttribute("tabindex", 0);
		e.setAttribute("aria-label", "sort by " + by);
		const act = () => { setState("t", by); draw(); };
		e.addEventListener("click", act);
		e.addEventListener("keydown", k => { if (k.key === "Enter") { k.stopPropagation(); act(); } });
	});
	shownRows.forEach((r, i) => line(i + 1, pad(group(r.self), widest) + pad(percent(r.self, all), 9) + pad(group(r.total), widest) + pad(percent(r.total, all), 9) + " " + data.S[r.f] +
		(data.O[r.f] ? " (" + data.M[data.O[r.f]].replace(/^.*\//, "") + ")" : ""), {"class": "ink go pick row", role: "link", tabindex: 0}, () => showFunction(r.f)));
	if (rows.length > MOST_ROWS)
		line(MOST_ROWS + 1, "… " + group(rows.length - MOST_ROWS) + " more: search for them", {"class": "ink faint"});
	setSize(w, Math.max(TOP + (Math.min(rows.length, MOST_ROWS) + 3) * ROW, own ? innerHeight - 4 : 0));
	shown = new Map();
	frames.replaceChildren(piece);
	drawBar();
	svg.setAttribute("data-state", "table rows=" + rows.length + " by=" + (state.t === "total" ? "total" : "self"));
}
// The stack of the view and what stands on it; what is narrower than half a pixel is left out.
function draw() {
	if (state.t)
		return drawTable(pageWidth());
	const w = pageWidth(), dark = isDark(), scale = (w - 20) / (weight(zoom) || 1), base = tree.D[zoom];
	let rows = 0;
	const todo = [], X = new Map([[zoom, 0]]);
	for (let i = tree.P[zoom]; i >= 0; i = tree.P[i])
		todo.push([i, 0, w - 20, true]);
	for (let i = zoom; i < tree.E[zoom];) {
		const x = X.get(i), width = weight(i) * scale;
		if (width < .5 && i !== zoom) {
			i = tree.E[i];
			continue;
		}
		todo.push([i, x, width, false]);
		rows = Math.max(rows, tree.D[i] + 1);
		let at = x;
		for (let c = i + 1; c < tree.E[i]; c = tree.E[c]) {
			X.set(c, at);
			at += weight(c) * scale;
		}
		i++;
	}
	const height = TOP + rows * ROW + 14, piece = document.createDocumentFragment();
	setSize(w, Math.max(height, own ? innerHeight - 4 : 0));
	shown = new Map();
	for (const [i, x, width, past] of todo) {
		const y = icicle() ? TOP + tree.D[i] * ROW : height - 14 - (tree.D[i] + 1) * ROW;
		const hit = matches && matches[tree.F[i]];
		const r = el("rect", {x: (x + 10).toFixed(2), y: y, width: width.toFixed(2), height: ROW - 1, fill: fill(i, dark),
			"class": "go" + (past ? " past" : "") + (hit ? " hit" : matches ? " dim" : "") + (kindOf(tree.F[i]) === 3 ? " inl" : "")}, piece);
		r.node = i;
		shown.set(i, r);
		if (width < 3 * charWidth + 6)
			continue;
		r.setAttribute("role", "treeitem");
		r.setAttribute("aria-level", tree.D[i] + 1);
		r.setAttribute("aria-label", describe(i).join(", "));
		el("text", {x: (x + 13).toFixed(1), y: y + 12, "class": past ? "past" : matches && !hit ? "dim" : ""}, piece, fit(name(i), Math.floor((width - 6) / charWidth)));
	}
	frames.replaceChildren(piece);
	drawBar();
	mark();
}
function mark() {
	const old = frames.querySelector(".cur"), r = shown.get(cursor);
	if (old)
		old.remove();
	if (r)
		el("rect", {x: r.getAttribute("x"), y: r.getAttribute("y"), width: Math.max(r.getAttribute("width"), 2), height: ROW - 1, "class": "cur"}, frames);
}
function toRoot() {
	if (own)
		scrollTo(0, icicle() || state.t ? 0 : document.documentElement.scrollHeight + svg.getBoundingClientRect().height);
}

// ---- moving about ----
function zoomTo(i) {
	const old = zoom;
	zoom = i;
	if (cursor >= 0 && (cursor < zoom || cursor >= tree.E[zoom]))
		cursor = zoom;
	if (old !== i)
		setState("z", i || "", true);
	hideTip();
	draw();
	toRoot();
}
function reshape(key) {
	setState(key, state[key] === "1" ? "" : "1");
	setState("z", "");
	restore();
	draw();
	toRoot();
}
function move(i) {
	if (i < 0 || i >= tree.n || !shown.has(i))
		return;
	cursor = i;
	mark();
	say(i);
	const r = shown.get(i).getBoundingClientRect();
	if (own && (r.top < TOP || r.bottom > innerHeight))
		scrollBy(0, r.top < TOP ? r.top - TOP - 40 : r.bottom - innerHeight + 40);
}
const toParent = () => move(cursor < 0 ? zoom : tree.P[cursor]);
function toChild() {
	if (cursor < 0)
		return move(zoom);
	let best = -1;
	for (let c = cursor + 1; c < tree.E[cursor]; c = tree.E[c])
		if (shown.has(c) && (best < 0 || weight(c) > weight(best)))
			best = c;
	move(best);
}
function toSide(step) {
	if (cursor <= 0)
		return move(zoom);
	const p = tree.P[cursor];
	let last = -1;
	for (let c = p + 1; c < tree.E[p]; c = tree.E[c]) {
		if (step < 0 && c === cursor)
			return move(last);
		if (step > 0 && last === cursor)
			return move(c);
		last = c;
	}
}
const stackText = i => i < 0 ? "" : stackText(tree.P[i]) + (i ? data.S[tree.F[i]] + "\n" : "");

const keys = ["click, Enter      zoom into the frame", "Esc, Backspace    one step out", "0, Home           whole picture",
	"/, Ctrl-F         search (regular expression)", "arrows            to parent, child, neighbours",
	"t                 table of functions", "i                 flame or icicle", "b                 from the leaves", "w                 by weight, by name",
	"v                 widths before or after", "d                 dark or light", "c, C              copy name, stack", "?                 this list"];
Object.assign(actions, {
	"/": () => input.focus(), "0": () => zoomTo(0), Home: () => zoomTo(0),
	Escape: () => zoomTo(zoom ? tree.P[zoom] : 0), Backspace: () => zoomTo(zoom ? tree.P[zoom] : 0),
	Enter: () => { if (cursor >= 0) zoomTo(cursor); },
	ArrowUp: () => icicle() ? toParent() : toChild(), ArrowDown: () => icicle() ? toChild() : toParent(),
	ArrowLeft: () => toSide(-1), ArrowRight: () => toSide(1),
	c: () => { if (cursor >= 0) copy(data.S[tree.F[cursor]]); }, C: () => { if (cursor >= 0) copy(stackText(cursor)); },
});
const nodeOf = e => e.target.node;
frames.addEventListener("click", e => {
	if (nodeOf(e) === undefined)
		return;
	cursor = nodeOf(e);
	zoomTo(cursor);
});
frames.addEventListener("mousemove", e => {
	const i = nodeOf(e);
	if (i === undefined)
		return hideTip();
	const [title, ...rest] = describe(i);
	showTip(e, wrap(title, Math.max(20, Math.min(90, Math.floor(pageWidth() / charWidth) - 6))).concat(rest));
	say(i);
});
frames.addEventListener("mouseleave", () => { hideTip(); say(cursor); });

// As the URL says.
function restore() {
	tree = state.b === "1" ? rebuilt(given, true, state.w === "1" ? byWeight : byName)
		: state.w === "1" ? rebuilt(given, false, byWeight) : given;
	const z = Number(state.z || 0);
	zoom = Number.isInteger(z) && z >= 0 && z < tree.n ? z : 0;
	cursor = -1;
	setSearch(state.s || "");
	if (input.value !== (state.s || ""))
		input.value = state.s || "";
}
if (data.reverse && !/[#&]b=/.test(location.hash))
	location.hash += (location.hash ? "&" : "#") + "b=1";
begin();
toRoot();
