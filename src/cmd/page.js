// The page of `sonde live --web`. State comes as lines: the first is about the run, each other is a pane.
'use strict';
// What only some pages want, such as another view, a row alone, or a reading of before, is asked for.
const state = [], panes = new Map(), token = new URLSearchParams(location.search).get('t');
const me = [...crypto.getRandomValues(new Uint8Array(8))].map(n => n.toString(16).padStart(2, '0')).join('');
let past = null, wanted = 0, filter = '', pending = new Set(), run = {}; // past: the state of a reading of before

function add(parent, tag, cls, text) {
  const e = parent.appendChild(document.createElement(tag));
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
}
function put(e, text) {
  if (e.textContent !== text) e.textContent = text;
}
// The n-th child, made if there is none; those behind the last one are removed by trim().
const child = (parent, n, tag, cls) => parent.children[n] || add(parent, tag, cls);
const trim = (parent, n) => { while (parent.children.length > n) parent.lastChild.remove(); };

const address = (path, args) => path + '?' + new URLSearchParams({t: token, ...args});
async function ask(path, args, post) {
  const r = await fetch(address(path, args), {method: post ? 'POST' : 'GET'}), text = await r.text();
  if (!r.ok) throw new Error(text.trim());
  return text;
}

const header = add(document.body, 'header'), title = add(header, 'h1', '', 'sonde'), when = add(header, 'span');
const row = add(header, 'div', 'row'), losses = add(row, 'span'), cost = add(row, 'span', 'dim'), note = add(row, 'span', 'bad');
const search = add(row, 'input', 'right');
const tools = add(header, 'div', 'row'), freeze = add(tools, 'button', '', 'Freeze'), every = add(tools, 'select');
const buttons = {mark: add(tools, 'button', '', 'Mark'), diff: add(tools, 'button', '', 'Since mark'), base: add(tools, 'button', '', 'From now'),
  start: add(tools, 'button', '', 'From start')};
const time = add(tools, 'div', 'time'), track = add(time, 'div', 'track'), slider = add(time, 'input'), now = add(tools, 'button', '', 'Now');
const messages = add(header, 'pre', 'bad'), main = add(document.body, 'main');
losses.setAttribute('role', 'status');
search.type = 'search';
search.placeholder = 'filter: words in keys';
search.setAttribute('aria-label', 'Filter');
slider.type = 'range';
slider.setAttribute('aria-label', 'Reading');
every.setAttribute('aria-label', 'Interval');
for (const ms of [200, 500, 1000, 2000, 5000, 10000, 30000, 60000]) add(every, 'option', '', 'every ' + ms / 1000 + ' s').value = ms;

// A link to a file that is made when it is asked for.
function saves(parent, text, args) {
  const a = add(parent, 'a', '', text);
  a.href = '#';
  a.onclick = e => {
    const given = args();
    e.stopPropagation();
    a.download = given.x;
    a.href = address('/save', given);
  };
  return a;
}
saves(tools, 'JSON', () => ({x: 'readings.json'}));
saves(tools, '.sonde', () => ({x: 'readings.sonde'}));
const at = () => past ? {at: past[0].at} : {};

const passes = text => filter.split(' ').every(w => text.toLowerCase().includes(w));
const number = c => c === null ? -Infinity : Array.isArray(c) ? Number(c[0]) : Number(c);

function sorted(p, v) {
  const key = v.cols.findIndex(c => c[1] === 'k'), at = p.sort === undefined ? v.sort : p.sort, kind = v.cols[at][1];
  const rows = v.rows.filter(r => passes(String(r[key])));
  if (p.sort === undefined) return rows;
  const text = kind === 'k' || kind === 't';
  rows.sort((a, b) => (text ? a[at] < b[at] ? -1 : a[at] > b[at] ? 1 : 0 : number(b[at]) - number(a[at])) * (p.reverse ? -1 : 1));
  return rows;
}

// into: keys are buttons.
function cell(td, kind, c, into) {
  if (kind === 'b') {
    const bar = child(td, 0, 'i');
    bar.style.width = 100 * c + '%';
  } else if (kind === 'k' && into && c) {
    put(child(td, 0, 'button'), c);
  } else if (kind === 's') {
    put(td, c.replace(/[0-7]/g, d => String.fromCharCode(0x2581 + Number(d))));
  } else {
    put(td, c === null ? '' : String(Array.isArray(c) ? c[1] : c));
  }
}

function cells(body, rows, kinds, into) {
  rows.forEach((r, i) => {
    const tr = child(body, i, 'tr');
    kinds.forEach((k, j) => cell(child(tr, j, 'td', k), k, r[j], into));
  });
  trim(body, rows.length);
}

function frame(box, cols) {
  let t = box.firstChild;
  if (t && t.cols === cols.join()) return t;
  box.replaceChildren();
  t = add(box, 'table');
  t.cols = cols.join();
  const tr = add(add(t, 'thead'), 'tr');
  for (const c of cols) add(tr, 'th', c[1]);
  add(t, 'tbody');
  return t;
}

const views = {
  table(p, box, v) {
    const t = frame(box, v.cols), rows = sorted(p, v), at = p.sort === undefined ? v.sort : p.sort;
    [...t.tHead.rows[0].cells].forEach((th, i) => {
      const [head, kind] = v.cols[i], on = i === at;
      if (kind === 's') return put(th, head);
      const b = child(th, 0, 'button');
      put(b, head + (on ? p.reverse ? ' ▴' : ' ▾' : ''));
      th.setAttribute('aria-sort', !on ? 'none' : p.reverse ? 'ascending' : 'descending');
      b.onclick = () => { p.reverse = i === at && !p.reverse; p.sort = i; draw(p); };
    });
    cells(t.tBodies[0], rows, v.cols.map(c => c[1]), p.row === undefined);
    t.tBodies[0].onclick = e => { if (e.target.matches('.k button')) { p.row = e.target.textContent; p.rowView = ''; draw(p); } };
    return v.n > v.rows.length ? v.rows.length + ' of ' + v.n + ' rows' : rows.length < v.n ? rows.length + ' of ' + v.n + ' rows' : '';
  },
  hist(p, box, v) {
    const most = k => Math.max(1, ...v.rows.map(r => r[k])), all = most(1), step = most(2);
    const t = frame(box, [['VALUE', 'k'], ['ALL', 'n'], ['', 'b'], ['INTERVAL', 'n'], ['', 'b']]);
    t.className = 'hist';
    ['VALUE', 'ALL', '', 'INTERVAL', ''].forEach((h, i) => put(t.tHead.rows[0].cells[i], h));
    cells(t.tBodies[0], v.rows.map(r => [r[0], r[1], r[1] / all, r[2], r[2] / step]), ['k', 'n', 'b', 'n', 'b']);
    put(child(box, 1, 'pre'), v.sums.join('\n'));
  },
  heat(p, box, v) {
    if (!box.firstChild || box.firstChild.className !== 'heat') { box.replaceChildren(); add(box, 'div', 'heat'); }
    const h = box.firstChild, on = h.querySelector('b');
    if (on) on.remove(); // rows take its place
    v.rows.forEach((r, i) => {
      put(child(h, 2 * i, 'span'), r[0]);
      const line = child(h, 2 * i + 1, 'div');
      [...r[1]].forEach((d, j) => { child(line, j, 'i').style.background = d === '0' ? '' : 'hsl(' + (310 + 10 * d) + ' 85% ' + (24 + 7 * d) + '%)'; });
      trim(line, r[1].length);
    });
    trim(h, 2 * v.rows.length);
    put(child(box, 1, 'pre', 'dim'), v.rows.length ? v.ago + ' to now; most: ' + v.most + ' in an interval; a rectangle shows what was in it' : 'nothing came in the intervals so far');
    selects(p, h, v);
  },
  series(p, box, v) {
    const known = v.v.filter(n => n !== null), most = Math.max(0, ...known), least = Math.min(0, ...known), n = v.v.length, ns = 'http://www.w3.org/2000/svg';
    const y = x => most > least ? 100 - 100 * (x - least) / (most - least) : 100;
    if (!box.firstChild || box.firstChild.className !== 'series') { box.replaceChildren(); add(box, 'div', 'series'); }
    const g = box.firstChild, text = child(g, 0, 'pre', 'dim');
    const draws = (tag, i, set) => {
      const e = svg.children[i] || svg.appendChild(document.createElementNS(ns, tag));
      for (const k in set) e.setAttribute(k, set[k]);
    };
    const svg = g.children[1] || g.appendChild(document.createElementNS(ns, 'svg'));
    svg.setAttribute('viewBox', '0 -3 ' + Math.max(1, n - 1) + ' 106');
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('role', 'img');
    let line = '', open = false;
    v.v.forEach((x, i) => { if (x !== null) line += (open ? 'L' : 'M') + i + ' ' + y(x).toFixed(1); open = x !== null; });
    draws('path', 0, {d: line, class: 'line'});
    const all = events_of().map(e => [n - 1 - (v.at - e[0]), e[1]]).filter(e => e[0] >= 0 && e[0] < n);
    all.forEach((e, i) => draws('path', i + 1, {d: 'M' + e[0] + ' 0V100', class: e[1]}));
    trim(svg, all.length + 1);
    const says = (i, what) => known.length ? what + (v.adds ? ' per second' : '') + (i === null ? '; most ' + most + ', least ' + least : ', ' + (n - 1 - i) + ' intervals before') : 'no interval is over yet';
    put(text, says(null, v.v[n - 1] === null ? '-' : v.v[n - 1]));
    svg.setAttribute('aria-label', text.textContent);
    svg.onpointermove = e => { const b = svg.getBoundingClientRect(), i = Math.round((e.clientX - b.left) / b.width * (n - 1)); if (v.v[i] !== null && i in v.v) put(text, says(i, v.v[i])); };
  },
  flame(p, box, v) {
    const path = p.path || [], all = v[1];
    let root = v, depth = 0;
    const up = [v];
    for (const name of path) {
      const next = root.slice(2).find(c => c[0] === name);
      if (!next) break;
      up.push(root = next);
    }
    if (!box.firstChild || box.firstChild.className !== 'flame') { box.replaceChildren(); add(box, 'div', 'flame'); }
    const f = box.firstChild;
    let n = 0, matched = 0;
    const put1 = (node, left, width, line, names, inside) => {
      const b = child(f, n++, 'button'), hit = filter && passes(node[0]);
      put(b, node[0]);
      b.title = node[0] + ': ' + node[1] + ' of ' + all + ', ' + (100 * node[1] / all).toFixed(1) + ' %';
      b.className = hit ? 'hit' : '';
      b.style.left = 100 * left + '%';
      b.style.width = 100 * width + '%';
      b.style.top = 18 * line + 'px';
      let hash = 0;
      for (const c of node[0]) hash = (hash * 31 + c.charCodeAt(0)) % 997;
      b.style.background = hit ? '' : 'hsl(' + (20 + hash % 35) + ' 85% ' + (62 + hash % 12) + '%)';
      b.onclick = () => { p.path = names; p.again ? p.again() : draw(p); };
      depth = Math.max(depth, line + 1);
      if (hit && !inside) matched += node[1];
      return hit || inside;
    };
    const down = (node, left, width, line, names, inside) => {
      if (width < 0.002) return;
      const hit = put1(node, left, width, line, names, inside);
      for (const c of node.slice(2)) {
        const w = width * c[1] / node[1];
        down(c, left, w, line + 1, [...names, c[0]], hit);
        left += w;
      }
    };
    up.slice(0, -1).forEach((node, i) => put1(node, 0, 1, i, path.slice(0, i), true));
    if (all > 0) down(root, 0, 1, up.length - 1, path.slice(0, up.length - 1), false);
    trim(f, n);
    f.style.height = 18 * depth + 'px';
    return all > 0 ? all + ' in all' + (filter ? ', ' + (100 * matched / all).toFixed(1) + ' % match' : '') : 'no stacks yet';
  },
  text(p, box, v) {
    const end = box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
    const pre = box.firstChild || add(box, 'pre');
    put(pre, v.filter(passes).join('\n'));
    if (end) box.scrollTop = box.scrollHeight;
  },
};

// Readings that are worth a line: [number, class].
function events_of() {
  return [...(run.lossy || []).map(l => [l[0], 'loss']), ...[[run.mark, 'mark'], [run.base, 'base']].filter(e => e[0])];
}

// The tree of rows with frames, as a flame graph takes it.
function tree(rows) {
  const root = ['all', 0];
  for (const [, n, ...frames] of rows) {
    let at = root;
    at[1] += n;
    for (const f of frames) {
      let next = at.slice(2).find(c => c[0] === f);
      if (!next) at.push(next = [f, 0]);
      at = next;
      at[1] += n;
    }
  }
  return root;
}

// ---- a rectangle of a heat map ----

function selects(p, h, v) {
  const width = v.rows.length ? v.rows[0][1].length : 0, box = p.select;
  if (!width) return;
  h.tabIndex = 0;
  h.setAttribute('aria-label', 'Heat map: arrow keys select a cell, with Shift a rectangle, Enter shows what was in it');
  const cell = e => {
    const first = h.children[1].getBoundingClientRect(), last = h.children[2 * v.rows.length - 1].getBoundingClientRect();
    const limit = (x, n) => Math.max(0, Math.min(n - 1, Math.floor(x * n)));
    return [limit((e.clientX - first.left) / first.width, width), limit((e.clientY - first.top) / (last.bottom - first.top), v.rows.length)];
  };
  const show = () => {
    const on = child(h, 2 * v.rows.length, 'b'), s = p.select, line = h.children[1];
    on.hidden = !s;
    if (!s) return;
    const w = line.clientWidth / width, x = Math.min(s[0], s[2]), y = Math.min(s[1], s[3]), top = h.children[1 + 2 * y], end = h.children[1 + 2 * Math.max(s[1], s[3])];
    on.style.left = line.offsetLeft + x * w + 'px';
    on.style.width = (Math.abs(s[0] - s[2]) + 1) * w + 'px';
    on.style.top = top.offsetTop + 'px';
    on.style.height = end.offsetTop + end.offsetHeight - top.offsetTop + 'px';
  };
  const asks = async () => {
    const s = p.select, [x0, x1] = [s[0], s[2]].sort((a, b) => a - b), [y0, y1] = [s[1], s[3]].sort((a, b) => a - b), of = i => v.at - (width - 1 - i);
    p.select = null;
    p.held = false;
    try {
      const d = JSON.parse(await ask('/part', {pane: p.id, row: p.row || '', at: of(x1), x: of(x0) - 1, y: v.rows[y1][2] + ' ' + v.rows[y0][2]}));
      shows(p, d, v.rows[y1][0] + (y0 === y1 ? '' : ' to ' + v.rows[y0][0]));
    } catch (e) { put(note, e.message); }
    draw(p);
  };
  h.onpointerdown = e => { const c = cell(e); p.select = [...c, ...c]; p.held = true; h.setPointerCapture(e.pointerId); e.preventDefault(); show(); };
  h.onpointermove = e => { if (p.held && p.select) { p.select.splice(2, 2, ...cell(e)); show(); } };
  h.onpointerup = () => { if (p.held && p.select) asks(); };
  h.onkeydown = e => {
    const d = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[e.key], s = p.select;
    if (e.key === 'Enter' && s) return asks();
    if (e.key === 'Escape') { p.select = null; p.held = false; return show(); }
    if (!d) return;
    e.preventDefault();
    p.held = true;
    const to = s ? [Math.max(0, Math.min(width - 1, s[2] + d[0])), Math.max(0, Math.min(v.rows.length - 1, s[3] + d[1]))] : [width - 1, 0];
    p.select = e.shiftKey && s ? [s[0], s[1], ...to] : [...to, ...to];
    show();
  };
  show();
}

// What was in it: rows, their stacks, and what other maps counted meanwhile.
function shows(p, d, values) {
  const part = p.part;
  part.replaceChildren();
  const head = add(part, 'div', 'row');
  add(head, 'b', '', d.n + ' of ' + values + ', ' + d.when);
  const close = add(head, 'button', 'right', 'Close');
  close.onclick = () => part.replaceChildren();
  const table = (rows, n, name) => {
    const keyed = rows.filter(r => r[0]);
    if (!keyed.length) return;
    const t = frame(add(part, 'div'), [['COUNT', 'n'], ['', 'b'], [name, 'k']]);
    ['COUNT', '', name].forEach((h, i) => put(t.tHead.rows[0].cells[i], h));
    cells(t.tBodies[0], keyed.map(r => [r[1], r[1] / n, r[0]]), ['n', 'b', 'k']);
  };
  const stacks = rows => {
    const box = add(part, 'div'), q = {again: () => views.flame(q, box, tree(rows))};
    q.again();
  };
  const both = (m, name) => m.rows.some(r => r.length > 2) ? stacks(m.rows) : table(m.rows, m.n, name);
  both(d, 'KEY');
  for (const m of d.beside) if (m.n) { if (m.rows.some(r => r.length > 2)) add(part, 'b', '', m.title); both(m, m.title); }
}

// ---- panes ----

const sights = new IntersectionObserver(all => { for (const e of all) e.target.inSight = e.isIntersecting; sees(); });
let seen = '', seeing = 0;
// Panes that nobody looks at need not be traced.
function sees() {
  clearTimeout(seeing);
  seeing = setTimeout(() => {
    const list = [...panes.values()].filter(p => p.e.open && p.e.inSight).map(p => p.id).join();
    if (list !== seen) ask('/see', {c: me, pane: list}, true).catch(() => {});
    seen = list;
  }, 300);
}

function pane(s) {
  let p = panes.get(s.id);
  if (p) return p;
  p = {id: s.id, e: document.createElement('details')};
  p.e.open = !s.notes;
  p.e.ontoggle = sees;
  sights.observe(p.e);
  const head = add(p.e, 'summary');
  p.title = add(head, 'span');
  p.views = add(head, 'span');
  p.back = add(head, 'button', '', 'All rows');
  p.back.onclick = e => { e.preventDefault(); delete p.row; draw(p); };
  p.lacks = add(head, 'small');
  p.more = add(head, 'small');
  p.save = add(head, 'span', 'save');
  p.box = add(p.e, 'div', 'box');
  p.part = add(p.e, 'div', 'part');
  const args = ending => () => ({x: p.id.replace(/\W/g, '_') + ending, pane: p.id, view: p.shows || '', row: p.row || '', ...at()});
  saves(p.save, 'SVG', args('.svg'));
  p.csv = saves(p.save, 'CSV', args('.csv'));
  p.pb = saves(p.save, 'pprof', args('.pb'));
  panes.set(s.id, p);
  return p;
}

// d: a pane's line, of a state or an answer.
function render(p, d) {
  if (p.held) return;
  const name = d.view, key = name + (p.row === undefined ? '' : '/' + p.row);
  p.shows = name;
  put(p.title, d.title);
  put(p.lacks, d.lacks.trim());
  p.back.hidden = p.row === undefined;
  p.csv.hidden = d.views[0] === 'text';
  p.pb.hidden = !d.views.includes('flame');
  d.views.forEach((n, i) => {
    const b = child(p.views, i, 'button');
    put(b, n);
    b.hidden = d.views.length < 2;
    b.setAttribute('aria-pressed', String(n === name));
    b.onclick = e => { e.preventDefault(); p[p.row === undefined ? 'view' : 'rowView'] = n; draw(p); };
  });
  trim(p.views, d.views.length);
  if (p.drawn !== key) p.box.replaceChildren();
  p.drawn = key;
  put(p.more, views[name](p, p.box, d[name]) || '');
}

async function draw(p) {
  const s = p.s, inside = p.row !== undefined, view = inside ? p.rowView : p.view && p.view !== s.view && s.views.includes(p.view) ? p.view : '';
  if (!inside && !view) return render(p, s);
  if (p.asking) { p.late = true; return; }
  p.asking = true;
  try {
    const d = JSON.parse(await ask('/pane', {pane: p.id, view, row: p.row || '', ...at()}));
    if (inside === (p.row !== undefined)) render(p, d);
  } catch (e) {
    put(p.more, run.ended ? '' : e.message);
  }
  p.asking = false;
  if (p.late) { p.late = false; draw(p); }
}

function show_time() {
  const first = run.first, last = run.last, at = past ? past[0].at : run.at;
  slider.min = first;
  slider.max = last;
  if (!wanted) slider.value = at;
  slider.setAttribute('aria-valuetext', (past || state)[0].when);
  const all = events_of();
  all.forEach((e, i) => { const t = child(track, i, 'i'); t.className = e[1]; t.style.left = last > first ? 100 * (Math.max(e[0], first) - first) / (last - first) + '%' : 0; });
  trim(track, all.length);
  now.hidden = !past;
  freeze.setAttribute('aria-pressed', String(run.paused));
  put(freeze, run.paused ? 'Frozen' : 'Freeze');
  every.value = run.every;
  buttons.diff.disabled = !run.mark;
  buttons.diff.setAttribute('aria-pressed', String(run.diff));
  buttons.start.hidden = !run.base && !run.diff;
}

function show() {
  run = state[0];
  const from = past || state, head = from[0];
  document.title = run.title + ' - sonde';
  put(title, run.title);
  put(losses, run.losses);
  losses.className = run.good ? 'good' : 'bad';
  put(cost, head.cost);
  put(messages, run.messages.join('\n'));
  put(when, head.when || 'starting');
  show_time();
  const order = [];
  for (let i = 1; i < from.length; i++) {
    const p = pane(from[i]), asks = p.row !== undefined || (p.view && p.view !== from[i].view);
    const fresh = p.s !== from[i];
    p.s = from[i];
    order.push(p);
    if (fresh || pending.has(i) && !past || asks && !past) draw(p);
  }
  for (const [id, p] of panes) if (!order.includes(p)) { sights.unobserve(p.e); p.e.remove(); panes.delete(id); }
  order.forEach((p, i) => { if (main.children[i] !== p.e) main.insertBefore(p.e, main.children[i] || null); });
  pending = new Set();
}

function lost(text) {
  losses.className = 'bad';
  put(losses, text);
}

// To a reading; the last one is now.
async function go(to) {
  wanted = to;
  if (to >= run.last) { past = null; wanted = 0; return show(); }
  if (go.on) return;
  go.on = true;
  try {
    for (let to = 0; wanted && wanted !== to;) {
      to = wanted;
      const got = (await ask('/state', {at: to})).trim().split('\n').map(line => JSON.parse(line));
      if (wanted) past = got;
    }
  } catch (e) { put(note, e.message); }
  go.on = false;
  wanted = 0;
  show();
}
function control(x, more) {
  put(note, '');
  ask('/ctl', {x, ...more}, true).catch(e => put(note, e.message));
}

slider.oninput = () => go(Number(slider.value));
now.onclick = () => go(run.last);
every.onchange = () => control('every', {y: every.value});
freeze.onclick = () => control('pause');
for (const x in buttons) buttons[x].onclick = () => control(x, x === 'mark' || x === 'base' ? at() : {});
search.oninput = () => {
  filter = search.value.toLowerCase().trim().replace(/ +/g, ' ');
  for (const p of panes.values()) draw(p);
};
document.onkeydown = e => {
  if (e.target === search) { if (e.key === 'Escape') { search.value = ''; search.oninput(); search.blur(); } return; }
  if (e.key === '/') { search.focus(); e.preventDefault(); }
  if (e.target !== document.body) return;
  if (e.key === ' ') { freeze.click(); e.preventDefault(); }
  if (e.key === 'm') buttons.mark.click();
  if (e.key === 'd') buttons.diff.click();
  if (e.key === 't') go(Math.max(run.first, (past ? past[0].at : run.at) - 1));
  if (e.key === 'T') go((past ? past[0].at : run.at) + 1);
};

const events = new EventSource(address('/events', {c: me}));
events.onopen = () => { seen = ''; sees(); };
events.onmessage = e => {
  const d = JSON.parse(e.data);
  state.length = d.n;
  for (const i in d.set) { state[i] = d.set[i]; pending.add(Number(i)); }
  show();
};
events.onerror = () => {
  if (state[0] && state[0].ended) events.close();
  else lost(events.readyState === 2 ? 'refused: more than 32 pages are open, or the token is wrong' : 'the connection to sonde is lost: has the run ended?');
};
