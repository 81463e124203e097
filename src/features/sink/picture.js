// picture.js - what the flame graph and the heat map share: elements, theme, buttons, tooltip, state in the URL.
// Names only ever become text nodes and attributes that are no code; nothing is loaded, nothing evaluated.
"use strict";
const svg = document.currentScript.ownerSVGElement;
const data = JSON.parse(svg.querySelector("#data").textContent);
const own = svg === document.documentElement; // else a page embeds it
const SVG = "http://www.w3.org/2000/svg";

function el(name, attrs, parent, text) {
	const e = document.createElementNS(SVG, name);
	for (const k in attrs)
		e.setAttribute(k, attrs[k]);
	if (text !== undefined)
		e.textContent = text;
	if (parent)
		parent.appendChild(e);
	return e;
}

const group = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
const percent = (a, b) => b ? (100 * a / b).toFixed(100 * a / b < 10 ? 2 : 1) + " %" : "0 %";

const probe = el("text", {x: 0, y: -50}, svg, "MMMMMMMMMM");
const charWidth = Math.max(probe.getComputedTextLength() / 10, 1) || 7.23;
probe.remove();

// ---- state: what the fragment of the URL says; unknown keys are left out ----
const state = {};
let ready = false;
function readState() {
	for (const k in state)
		delete state[k];
	for (const part of location.hash.slice(1).split("&")) {
		const at = part.indexOf("=");
		try {
			if (at > 0)
				state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
		} catch (e) { /* not ours */ }
	}
}
function setState(key, value, step) {
	if (value === undefined || value === "")
		delete state[key];
	else
		state[key] = String(value);
	const hash = "#" + Object.keys(state).map(k => k + "=" + encodeURIComponent(state[k])).join("&");
	if (!ready || hash.length > 2000)
		return;
	try {
		history[step ? "pushState" : "replaceState"](null, "", hash);
	} catch (e) { /* a page that may not */ }
}

// ---- theme ----
const wantsDark = matchMedia("(prefers-color-scheme: dark)");
let printing = false;
const isDark = () => !printing && (state.d ? state.d === "dark" : wantsDark.matches);
function flipTheme() {
	setState("d", isDark() ? "light" : "dark");
	draw();
}

// ---- buttons, help, tooltip ----
const bar = el("g", {id: "bar"}, svg);
const ask = el("g", {}, svg); // what is typed into outlasts a drawing of the bar
const tip = el("g", {"class": "tip", display: "none"}, svg);
const actions = {}; // by key
function button(x, y, label, key, title, act) {
	const w = label.length * charWidth + 14;
	const b = el("g", {"class": "b", role: "button", tabindex: 0, "aria-label": title}, bar);
	el("rect", {x: x, y: y, width: w, height: 22, rx: 3}, b);
	el("text", {x: x + 7, y: y + 15}, b, label);
	el("title", {}, b, title + " (" + key + ")");
	b.addEventListener("click", e => { e.stopPropagation(); act(); });
	b.addEventListener("keydown", e => {
		if (e.key === "Enter" || e.key === " ") {
			e.stopPropagation();
			e.preventDefault();
			act();
		}
	});
	actions[key] = act;
	return x + w + 6;
}

// The title, and behind it where and when, as far as there is room.
function head(w) {
	const free = Math.floor((w - 20) / charWidth), beside = data.where.length + 2, both = data.where && beside + 16 < free;
	const most = Math.floor((both ? free - beside : free) / 1.3);
	el("text", {x: 10, y: 22, "class": "title"}, bar, data.title.length > most ? data.title.slice(0, most - 1) + "…" : data.title);
	if (both)
		el("text", {x: w - 10, y: 22, "text-anchor": "end", "class": "faint where"}, bar, data.where);
}
const cut = (text, n) => text.length > n ? text.slice(0, Math.max(n - 1, 1)) + "…" : text;

function place(input, x, y, w) {
	const f = input.parentNode;
	f.setAttribute("x", x);
	f.setAttribute("y", y);
	f.setAttribute("width", w);
}
function field(label, onInput) {
	const f = el("foreignObject", {height: 24}, ask);
	const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
	input.setAttribute("type", "text");
	input.setAttribute("placeholder", label);
	input.setAttribute("aria-label", label);
	input.setAttribute("spellcheck", "false");
	input.addEventListener("input", () => onInput(input.value));
	input.addEventListener("keydown", e => {
		e.stopPropagation();
		if (e.key === "Escape") {
			input.value = "";
			onInput("");
			input.blur();
		} else if (e.key === "Enter") {
			input.blur();
		}
	});
	f.appendChild(input);
	return input;
}

function box(g, lines, x, y) {
	g.replaceChildren();
	const w = Math.max(...lines.map(l => l.length)) * charWidth + 16, h = lines.length * 16 + 10;
	x = Math.max(2, Math.min(x, pageWidth() - w - 2));
	el("rect", {x: x, y: y, width: w, height: h, rx: 4}, g);
	lines.forEach((l, i) => el("text", {x: x + 8, y: y + 17 + 16 * i}, g, l));
	g.setAttribute("display", "");
	return h;
}
function wrap(text, n) {
	const lines = [];
	for (let i = 0; i < text.length && lines.length < 6; i += n)
		lines.push(text.slice(i, i + n));
	if (text.length > 6 * n)
		lines.push("…");
	return lines;
}
function showTip(event, lines) {
	const p = toSvg(event), h = lines.length * 16 + 10, bottom = toSvg({clientX: 0, clientY: innerHeight}).y;
	box(tip, lines, p.x + 12, p.y + 18 + h > bottom ? p.y - h - 8 : p.y + 18);
}
const hideTip = () => tip.setAttribute("display", "none");

function toSvg(event) {
	const m = svg.getScreenCTM();
	return m ? new DOMPoint(event.clientX, event.clientY).matrixTransform(m.inverse()) : {x: 0, y: 0};
}
const pageWidth = () => own ? Math.max(320, document.documentElement.clientWidth || innerWidth) : data.width;
function setSize(w, h) {
	svg.setAttribute("width", w);
	svg.setAttribute("height", h);
	svg.setAttribute("viewBox", "0 0 " + w + " " + h);
	svg.setAttribute("data-theme", isDark() ? "dark" : "light");
}

let helpShown = false;
function help(lines) {
	helpShown = !helpShown;
	if (helpShown)
		box(tip, lines, 20, toSvg({clientX: 0, clientY: 0}).y + 110);
	else
		hideTip();
}
function copy(text) {
	if (navigator.clipboard)
		navigator.clipboard.writeText(text).catch(() => {});
}

function onKey(event) {
	if (event.ctrlKey && event.key === "f") {
		event.preventDefault();
		actions["/"]();
		return;
	}
	if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	const act = actions[event.key];
	if (act) {
		event.preventDefault();
		if (helpShown && event.key !== "?")
			help();
		act();
	}
}
// Called once all is defined. The bar stays in view when a tall picture is scrolled.
function begin() {
	readState();
	ready = true;
	document.addEventListener("keydown", onKey);
	addEventListener("resize", () => draw());
	addEventListener("popstate", () => { readState(); restore(); draw(); });
	wantsDark.addEventListener("change", () => draw());
	addEventListener("beforeprint", () => { printing = true; draw(); });
	addEventListener("afterprint", () => { printing = false; draw(); });
	if (own)
		addEventListener("scroll", () => {
			for (const g of [bar, ask])
				g.setAttribute("transform", "translate(0," + Math.max(0, scrollY) + ")");
			hideTip();
		});
	restore();
	draw();
}
