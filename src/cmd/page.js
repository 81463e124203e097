// The page of `sonde live --web`. State comes as lines: the first is about the run, each other is a pane.
'use strict';
const state = [], panes = new Map(), token = new URLSearchParams(location.search).get('t');
let frozen = false, filter = '', pending = new Set(), run = {};

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

const header = add(document.body, 'header'), title = add(header, 'h1', '', 'sonde'), when = add(header, 'span');
const row = add(header, 'div', 'row'), losses = add(row, 'span'), cost = add(row, 'span', 'dim');
const search = add(row, 'input', 'right'), freeze = add(row, 'button', '', 'Freeze');
const messages = add(header, 'pre', 'bad'), main = add(document.body, 'main');
losses.setAttribute('role', 'status');
search.type = 'search';
search.placeholder = 'filter: words in keys';
search.setAttribute('aria-label', 'Filter');
freeze.setAttribute('aria-pressed', 'false');

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

function cell(td, kind, c) {
  if (kind === 'b') {
    const bar = child(td, 0, 'i');
    bar.style.width = 100 * c + '%';
  } else if (kind === 's') {
    put(td, c.replace(/[0-7]/g, d => String.fromCharCode(0x2581 + Number(d))));
  } else {
    put(td, c === null ? '' : String(Array.isArray(c) ? c[1] : c));
  }
}

function cells(body, rows, kinds) {
  rows.forEach((r, i) => {
    const tr = child(body, i, 'tr');
    kinds.forEach((k, j) => cell(child(tr, j, 'td', k), k, r[j]));
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
    cells(t.tBodies[0], rows, v.cols.map(c => c[1]));
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
    const h = box.firstChild;
    v.rows.forEach((r, i) => {
      put(child(h, 2 * i, 'span'), r[0]);
      const line = child(h, 2 * i + 1, 'div');
      [...r[1]].forEach((d, j) => { child(line, j, 'i').style.background = d === '0' ? '' : 'hsl(' + (310 + 10 * d) + ' 85% ' + (24 + 7 * d) + '%)'; });
      trim(line, r[1].length);
    });
    trim(h, 2 * v.rows.length);
    put(child(box, 1, 'pre', 'dim'), v.rows.length ? v.ago + ' to now; most: ' + v.most + ' in an interval' : 'nothing came in the intervals so far');
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
      b.onclick = () => { p.path = names; draw(p); };
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

function pane(s) {
  let p = panes.get(s.id);
  if (p) return p;
  p = {id: s.id, e: document.createElement('details')};
  p.e.open = !s.notes;
  const head = add(p.e, 'summary');
  p.title = add(head, 'span');
  p.views = add(head, 'span');
  p.lacks = add(head, 'small');
  p.more = add(head, 'small');
  p.box = add(p.e, 'div', 'box');
  panes.set(s.id, p);
  return p;
}

function draw(p) {
  const s = p.s, names = Object.keys(views).filter(n => n in s), name = names.includes(p.view) ? p.view : s.view in views && s.view in s ? s.view : names[0];
  put(p.title, s.title);
  put(p.lacks, s.lacks.trim());
  names.forEach((n, i) => {
    const b = child(p.views, i, 'button');
    put(b, n);
    b.hidden = names.length < 2;
    b.setAttribute('aria-pressed', String(n === name));
    b.onclick = e => { e.preventDefault(); p.view = n; draw(p); };
  });
  trim(p.views, names.length);
  if (p.drawn !== name) p.box.replaceChildren();
  p.drawn = name;
  put(p.more, name ? views[name](p, p.box, s[name]) || '' : 'sonde live shows it on the terminal');
}

function show() {
  if (frozen) return;
  if (pending.has(0)) {
    run = state[0];
    document.title = run.title + ' - sonde';
    put(title, run.title);
    put(losses, run.losses);
    losses.className = run.good ? 'good' : 'bad';
    put(cost, run.cost);
    put(messages, run.messages.join('\n'));
  }
  put(when, run.when || 'starting');
  const order = [];
  for (let i = 1; i < state.length; i++) {
    const p = pane(state[i]);
    p.s = state[i];
    order.push(p);
    if (pending.has(i)) draw(p);
  }
  for (const [id, p] of panes) if (!order.includes(p)) { p.e.remove(); panes.delete(id); }
  order.forEach((p, i) => { if (main.children[i] !== p.e) main.insertBefore(p.e, main.children[i] || null); });
  pending = new Set();
}

function lost(text) {
  losses.className = 'bad';
  put(losses, text);
}

search.oninput = () => {
  filter = search.value.toLowerCase().trim().replace(/ +/g, ' ');
  for (const p of panes.values()) draw(p);
};
freeze.onclick = () => {
  frozen = !frozen;
  freeze.setAttribute('aria-pressed', String(frozen));
  put(freeze, frozen ? 'Frozen' : 'Freeze');
  show();
};
document.onkeydown = e => {
  if (e.target === search) { if (e.key === 'Escape') { search.value = ''; search.oninput(); search.blur(); } return; }
  if (e.key === '/') { search.focus(); e.preventDefault(); }
  if (e.key === ' ' && e.target === document.body) { freeze.click(); e.preventDefault(); }
};

const events = new EventSource('/events?t=' + encodeURIComponent(token));
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
