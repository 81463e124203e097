// heat.js - the heat map. data: X ends of columns in microseconds since start (X[0] is 0), Y rows [low, high), null without
// end, T marks of the values' axis: row, label; V cells of each column: row, count, row, count ...; start: milliseconds since 1970.
const LEFT = 110, RIGHT = 16, TOP = 112, LOW = 48;
const stops = [[253, 226, 163], [253, 184, 99], [241, 116, 62], [194, 55, 90], [122, 31, 107], [45, 16, 82]];
const parts = [[50, "p50"], [90, "p90"], [99, "p99"]];
const scales = ["sqrt", "linear", "rank"];
const plot = svg.querySelector("#f");
const columns = data.V.length, rows = data.Y.length;
const cells = data.V.map(v => { const c = new Float64Array(rows); for (let i = 0; i < v.length; i += 2) c[v[i]] = v[i + 1]; return c; });
const sums = cells.map(c => c.reduce((a, b) => a + b, 0));
let from = 0, to = columns, at = null, dragged = null, details;

function number(n) {
	if (n === null)
		return "…";
	let power = 0;
	for (; n >= 1024 && n % 1024 === 0 && power < 6; power++)
		n /= 1024;
	return group(n).replace(/^-(?=0$)/, "") + ["", "K", "M", "G", "T", "P", "E"][power];
}
// Times in the unit that suits them, all else with what stands behind it.
const times = ["ns", "us", "ms", "s"];
function amount(n) {
	let at = times.indexOf(data.unit);
	if (n === null || at < 0)
		return number(n) + (data.unit ? " " + data.unit : "");
	for (; Math.abs(n) >= 1000 && at < 3; at++)
		n /= 1000;
	return Number(n.toPrecision(3)) + " " + times[at];
}
const two = n => String(n).padStart(2, "0");
function clock(us) {
	const t = new Date(data.start + us / 1000);
	return two(t.getHours()) + ":" + two(t.getMinutes()) + ":" + two(t.getSeconds());
}
// From when to when a column is: with milliseconds where it is no whole second.
function period(i) {
	const fine = us => clock(us) + "." + String(new Date(data.start + us / 1000).getMilliseconds()).padStart(3, "0");
	const a = data.X[i], b = data.X[i + 1], show = b - a < 2e6 ? fine : clock;
	return show(a) + " to " + show(b) + " (+" + (a / 1e6).toFixed(1) + " s)";
}
const range = k => "[" + amount(data.Y[k][0]) + ", " + amount(data.Y[k][1]) + ")";

// The row where this part of a column's values lies below, with how far into it.
function percentile(i, p) {
	let below = 0;
	const want = sums[i] * p / 100;
	for (let k = 0; k < rows; k++) {
		if (cells[i][k] && below + cells[i][k] >= want)
			return k + (want - below) / cells[i][k];
		below += cells[i][k];
	}
	return -1;
}

// ---- colour: 0 to 1 of a count ----
let max = 1, top = 1, ranks = []; // top: few cells have more; they look alike, or the rest would be pale
function prepare() {
	const all = [];
	for (let i = from; i < to; i++)
		for (const n of cells[i])
			if (n)
				all.push(n);
	all.sort((a, b) => a - b);
	max = all.length ? all[all.length - 1] : 1;
	top = all.length ? all[Math.floor((all.length - 1) * .99)] : 1;
	ranks = all;
}
function level(n) {
	if (state.k === "linear")
		return n / top;
	if (state.k !== "rank")
		return Math.sqrt(n / top);
	let a = 0, b = ranks.length;
	while (a < b) {
		const m = (a + b) >> 1;
		if (ranks[m] < n)
			a = m + 1;
		else
			b = m;
	}
	return ranks.length > 1 ? a / (ranks.length - 1) : 1;
}
function colour(t) {
	const x = Math.min(Math.max(isDark() ? 1 - t : t, 0), 1) * 5, i = Math.min(Math.floor(x), 4), part = x - i;
	return "rgb(" + stops[i].map((c, k) => Math.round(c * (1 - part) + stops[i + 1][k] * part)).join(",") + ")";
}

// ---- drawing ----
let width = 0, height = 0, rowHeight = 0;
const span = () => data.X[to] - data.X[from];
const xOf = us => LEFT + (us - data.X[from]) / span() * (width - LEFT - RIGHT);
const yOf = row => TOP + height - row * rowHeight;

function draw() {
	width = pageWidth();
	height = Math.max(160, (own ? innerHeight - 4 : 600) - TOP - LOW);
	rowHeight = height / rows;
	setSize(width, TOP + height + LOW);
	prepare();
	const piece = document.createDocumentFragment(), paths = new Map();
	for (let i = from; i < to; i++) {
		const x = xOf(data.X[i]), w = xOf(data.X[i + 1]) - x;
		for (let k = 0; k < rows; k++) {
			if (!cells[i][k])
				continue;
			const c = colour(Math.round(level(cells[i][k]) * 31) / 31);
			paths.set(c, (paths.get(c) || "") + "M" + x.toFixed(1) + " " + yOf(k + 1).toFixed(1) + "h" + w.toFixed(1) + "v" + rowHeight.toFixed(1) + "h" + (-w).toFixed(1) + "z");
		}
	}
	for (const [c, d] of paths)
		el("path", {d: d, fill: c}, piece);
	axes(piece);
	if (state.p !== "0")
		lines(piece);
	plot.replaceChildren(piece);
	drawBar();
	say();
}
function axes(g) {
	el("path", {d: "M" + LEFT + " " + TOP + "v" + height + "h" + (width - LEFT - RIGHT), "class": "axis"}, g);
	let last = 1e9;
	for (const [at, label] of data.T) {
		const y = yOf(at);
		if (last - y < 18)
			continue;
		last = y;
		el("path", {d: "M" + (LEFT - 4) + " " + y.toFixed(1) + "h4", "class": "axis"}, g);
		el("text", {x: LEFT - 8, y: y + 4, "text-anchor": "end", "class": "ink value"}, g, cut(label, 14));
	}
	const wide = 11 * charWidth, n = Math.max(1, Math.floor((width - LEFT - RIGHT) / wide / 1.6)), rough = span() / n;
	const day = 864e8, step = [1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 2e7, 3e7, 6e7, 12e7, 3e8, 6e8, 12e8, 18e8, 36e8, 72e8, 216e8, day].find(s => s >= rough) || Math.ceil(rough / day) * day;
	for (let t = Math.ceil(data.X[from] / step) * step; t <= data.X[to]; t += step) {
		const x = xOf(t);
		el("path", {d: "M" + x.toFixed(1) + " " + (TOP + height) + "v5", "class": "axis"}, g);
		if (x + wide / 2 > width)
			continue;
		el("text", {x: x, y: TOP + height + 19, "text-anchor": "middle", "class": "ink time"}, g, "+" + (t / 1e6).toFixed(step < 1e6 ? 1 : 0) + " s");
		el("text", {x: x, y: TOP + height + 35, "text-anchor": "middle", "class": "ink faint"}, g, clock(t));
	}
}
function lines(g) {
	for (const [p, label] of parts) {
		let d = "", last = null;
		for (let i = from; i < to; i++) {
			const row = percentile(i, p);
			if (row < 0) {
				last = null;
				continue;
			}
			const x = (xOf(data.X[i]) + xOf(data.X[i + 1])) / 2;
			d += (last === null ? "M" : "L") + x.toFixed(1) + " " + yOf(row).toFixed(1);
			last = yOf(row);
		}
		if (!d)
			continue;
		el("path", {d: d, "class": "halo"}, g);
		el("path", {d: d, "class": "line " + label}, g);
	}
	let free = 1e9, top = TOP + 12; // labels stand at the right end, apart from each other, within the plot
	const tags = [];
	for (const [p, label] of parts) {
		const row = percentile(to - 1, p);
		if (row < 0)
			continue;
		free = Math.min(yOf(row) - 4, free - 15);
		tags.unshift([free, label]);
	}
	for (const [y, label] of tags) {
		el("text", {x: width - RIGHT - 2, y: Math.max(y, top), "text-anchor": "end", "class": "ink tag"}, g, label);
		top = Math.max(y, top) + 15;
	}
}
function legend(y) {
	let x = 10;
	el("text", {x: x, y: y}, bar, "1");
	x += charWidth + 6;
	for (let i = 0; i < 32; i++) {
		const n = state.k === "rank" ? ranks[Math.round(i / 31 * (ranks.length - 1))] || 0 : state.k === "linear" ? top * i / 31 : top * (i / 31) * (i / 31);
		el("rect", {x: x + 6 * i, y: y - 11, width: 6.5, height: 13, fill: colour(level(Math.max(n, 1)))}, bar);
	}
	x += 32 * 6 + 6;
	el("text", {x: x, y: y}, bar, cut(group(state.k === "rank" ? max : top) + (top < max && state.k !== "rank" ? " and more (" + group(max) + " at most)" : "") + " per cell, " + (state.k || "sqrt") + " scale" + (state.p !== "0" ? "; lines: p50, p90, p99" : ""), Math.floor((width - x - 4) / charWidth)));
}
function drawBar() {
	bar.replaceChildren();
	el("rect", {x: 0, y: 0, width: width, height: TOP - 6, "class": "bg"}, bar);
	head(width);
	let x = 10;
	x = button(x, 34, "Reset", "0", "all of the time", () => view(0, columns));
	x = button(x, 34, "Percentiles", "p", "lines of p50, p90 and p99", () => { setState("p", state.p === "0" ? "" : "0"); draw(); });
	x = button(x, 34, "Scale", "k", "colours by square root, linear or by rank", () => { setState("k", scales[(scales.indexOf(state.k || "sqrt") + 1) % 3]); draw(); });
	x = button(x, 34, isDark() ? "Light" : "Dark", "d", "colours", flipTheme);
	button(x, 34, "?", "?", "keys", () => help(keys));
	details = el("text", {x: 10, y: 76, "aria-live": "polite"}, bar, "");
	legend(98);
}
const row = r => r < 0 ? "-" : amount(data.Y[Math.min(Math.floor(r), rows - 1)][0]);
function describe(c) {
	const n = cells[c.i][c.k], out = [period(c.i),
		range(c.k), group(n) + " of " + group(sums[c.i]) + " (" + percent(n, sums[c.i]) + ")"];
	out.push(parts.map(([p, label]) => label + " " + row(percentile(c.i, p))).join(", "));
	return out;
}
function say() {
	let n = 0;
	for (let i = from; i < to; i++)
		n += data.V[i].length / 2;
	svg.setAttribute("data-state", "cells=" + n + " max=" + max + " columns=" + (to - from));
	details.textContent = cut(at ? describe(at).join("  ") : data.note, Math.floor((width - 20) / charWidth));
	const old = plot.querySelector(".cur");
	if (old)
		old.remove();
	if (at && at.i >= from && at.i < to)
		el("rect", {x: xOf(data.X[at.i]), y: yOf(at.k + 1), width: Math.max(2, xOf(data.X[at.i + 1]) - xOf(data.X[at.i])), height: rowHeight, "class": "cur",
			role: "gridcell", "aria-label": describe(at).join(", ")}, plot);
}

// ---- moving about ----
function cellAt(e) {
	const p = toSvg(e);
	if (p.x < LEFT || p.x >= width - RIGHT || p.y < TOP || p.y >= TOP + height)
		return null;
	const us = data.X[from] + (p.x - LEFT) / (width - LEFT - RIGHT) * span();
	let i = from;
	while (i + 1 < to && data.X[i + 1] <= us)
		i++;
	return {i: i, k: Math.min(rows - 1, Math.floor((TOP + height - p.y) / rowHeight))};
}
function view(a, b) {
	from = a;
	to = b;
	setState("x", a === 0 && b === columns ? "" : a + "-" + b, true);
	draw();
}
function step(dx, dy) {
	at = at ? {i: Math.min(to - 1, Math.max(from, at.i + dx)), k: Math.min(rows - 1, Math.max(0, at.k + dy))} : {i: from, k: 0};
	say();
}
const keys = ["drag         zoom into a part of the time", "0, Home, Esc all of the time", "arrows       from cell to cell",
	"p            percentile lines", "k            scale of the colours", "d            dark or light", "?            this list"];
Object.assign(actions, {
	"0": () => view(0, columns), Home: () => view(0, columns), Escape: () => view(0, columns),
	ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0), ArrowUp: () => step(0, 1), ArrowDown: () => step(0, -1),
});
svg.addEventListener("mousemove", e => {
	const c = cellAt(e);
	if (!c)
		return hideTip();
	at = c;
	say();
	if (dragged) {
		const a = Math.min(dragged.i, c.i), b = Math.max(dragged.i, c.i) + 1;
		el("rect", {x: xOf(data.X[a]), y: TOP, width: xOf(data.X[b]) - xOf(data.X[a]), height: height, "class": "cur"}, plot);
		plot.querySelector(".cur").remove();
	}
	showTip(e, describe(c));
});
svg.addEventListener("mousedown", e => { dragged = cellAt(e); if (dragged) e.preventDefault(); });
addEventListener("mouseup", e => {
	const c = dragged && cellAt(e), a = dragged;
	dragged = null;
	if (c && Math.abs(c.i - a.i) > 0)
		view(Math.min(a.i, c.i), Math.max(a.i, c.i) + 1);
});
svg.addEventListener("mouseleave", () => { hideTip(); at = null; say(); });

function restore() {
	const m = /^(\d+)-(\d+)$/.exec(state.x || "");
	from = m && +m[1] < +m[2] && +m[2] <= columns ? +m[1] : 0;
	to = from || (m && +m[1] === 0 && +m[2] <= columns && +m[2] > 0) ? +m[2] : columns;
	at = null;
}
begin();
