// SPDX-License-Identifier: Apache-2.0
// The page that `waitgate report` writes. Everything it shows is in the JSON beside it; nothing is loaded from elsewhere.
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const ROW = 22, TOP = 20, LABELS = 150;
const kinds = data.kinds;                       // what a box can be: cause, line, instruction
// Boxes follow each other without gap: each has a length, and begins where the one before it ends.
const tracks = data.tracks.map((t, index) => {
  const count = t.links.length / 2, edge = new Float64Array(count + 1), what = new Uint32Array(count);
  edge[0] = data.from;
  for (let n = 0; n < count; n++) { edge[n + 1] = edge[n] + t.links[2 * n]; what[n] = t.links[2 * n + 1]; }
  return {name: t.name, kind: t.kind, index, count, edge, what};
});
const begin = (t, n) => t.edge[n], end = (t, n) => t.edge[n + 1], kind = (t, n) => kinds[t.what[n]];
const view = {from: data.from, to: Math.max(data.to, data.from + 1)};
let picked = null, showPath = true;             // picked: {track, n}

// ---- What things are called ----
const element = (tag, text, attributes) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  Object.assign(e, attributes || {});
  return e;
};
const number = n => n.toLocaleString('en-US');
const base = file => file ? file.split('/').pop() : '';
const where = k => k.file ? `${base(k.file)}:${k.line}` + (k.function ? ` ${k.function}` : '') : k.function || k.pc || '';
const cause = k => k.address ? `${k.cause} ${k.address}` : k.holder ? `${k.cause} (${k.holder})` : k.cause;
const QUIET = ['idle', 'empty', 'reset', 'parked'], WORK = ['executing', 'issued', 'busy'];
const colourName = k => WORK.includes(k.cause) ? 'work' : k.cause === 'polling' ? 'poll' : QUIET.includes(k.cause) ? 'rest' : 'stall';
let colours = {};
const readColours = () => {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['work', 'stall', 'poll', 'rest', 'path', 'pick', 'text', 'faint', 'line', 'back', 'pane'])
    colours[name] = style.getPropertyValue('--' + name).trim();
};

// ---- The timeline ----
const canvas = $('canvas'), context = canvas.getContext('2d');
let width = 0, height = 0;
const scale = () => width / (view.to - view.from);
const x = cycle => (cycle - view.from) * scale();
const cycleAt = px => view.from + px / scale();
const y = index => TOP + index * ROW;

// The first link that ends after the cycle.
const firstAfter = (t, cycle) => {
  let low = 0, high = t.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end(t, middle) > cycle) high = middle; else low = middle + 1;
  }
  return low;
};
const linkAt = (t, cycle) => {
  const n = firstAfter(t, cycle);
  return n < t.count && begin(t, n) <= cycle ? n : -1;
};

const drawAxis = () => {
  const span = view.to - view.from;
  let step = Math.pow(10, Math.floor(Math.log10(span / 8 + 1e-9)));
  while (span / step > 16) step *= span / step > 40 ? 5 : 2;
  step = Math.max(1, step);
  context.fillStyle = colours.faint;
  context.strokeStyle = colours.line;
  context.textBaseline = 'middle';
  for (let c = Math.ceil(view.from / step) * step; c <= view.to; c += step) {
    context.beginPath();
    context.moveTo(x(c), TOP - 4);
    context.lineTo(x(c), height);
    context.stroke();
    context.fillText(number(c), x(c) + 3, TOP / 2);
  }
};

// Boxes narrower than a pixel are drawn as one with their neighbours, in the colour of whatever is most remarkable.
const RANK = {rest: 0, work: 1, poll: 2, stall: 3};
const drawTrack = t => {
  const top = y(t.index) + 3, tall = ROW - 6;
  let column = -1, best = null;
  const flush = () => {
    if (best === null) return;
    context.fillStyle = colours[best];
    context.fillRect(column, top, 1, tall);
    best = null;
  };
  for (let n = firstAfter(t, view.from); n < t.count && begin(t, n) < view.to; n++) {
    const k = kind(t, n), name = colourName(k), left = Math.max(0, x(begin(t, n))), right = Math.min(width, x(end(t, n)));
    if (right - left < 1) {
      const here = Math.floor(left);
      if (here !== column) { flush(); column = here; }
      if (best === null || RANK[name] > RANK[best]) best = name;
      if (right - left < 0.02) // far out: the rest of this column says nothing new
        while (n + 1 < t.count && x(begin(t, n + 1)) < here + 1 && RANK[best] === 3) n++;
      continue;
    }
    flush();
    column = -1;
    context.fillStyle = colours[name];
    context.fillRect(left, top, Math.max(1, right - left - (right - left > 4 ? 1 : 0)), tall);
    if (right - left > 40 && name !== 'rest') {
      context.save();
      context.beginPath();
      context.rect(left, top, right - left - 4, tall);
      context.clip();
      context.fillStyle = '#fff';
      context.fillText(k.instruction || cause(k), left + 4, top + tall / 2 + 0.5);
      context.restore();
    }
  }
  flush();
};

const drawSteps = (s, index) => {
  const top = y(tracks.length + index) + 3, tall = ROW - 6;
  context.strokeStyle = context.fillStyle = colours.pick;
  context.beginPath();
  let value = 0, last = x(data.from);
  const level = v => top + tall - tall * Math.min(1, v / Math.max(1, s.most));
  context.moveTo(last, level(0));
  for (let n = 0; n < s.steps.length; n += 2) {
    const px = x(s.steps[n]);
    if (px > width + 10) break;
    context.lineTo(px, level(value));
    value = s.steps[n + 1];
    context.lineTo(px, level(value));
  }
  context.lineTo(x(data.to), level(value));
  context.stroke();
};

const drawPath = () => {
  if (!showPath) return;
  context.strokeStyle = colours.path;
  context.lineWidth = 2;
  context.beginPath();
  let after = null, b = data.to;
  for (let n = 0; n < data.path.length && b > view.from; n += 2) {
    const track = data.path[n], a = b - data.path[n + 1], level = y(track) + ROW - 2;
    if (after !== null && after !== track && b <= view.to) {
      context.moveTo(x(b), y(after) + ROW - 2);
      context.lineTo(x(b), level);
    }
    if (a < view.to) {
      context.moveTo(Math.max(0, x(a)), level);
      context.lineTo(Math.min(width, x(b)), level);
    }
    after = track;
    b = a;
  }
  context.stroke();
  context.lineWidth = 1;
};

const drawPicked = () => {
  if (!picked) return;
  const {track: t, n} = picked, left = x(begin(t, n)), right = x(end(t, n)), k = kind(t, n);
  context.strokeStyle = colours.pick;
  context.lineWidth = 2;
  context.strokeRect(left, y(t.index) + 2, Math.max(2, right - left), ROW - 4);
  const by = tracks.find(other => other.name === k.holder);
  if (by) { // who ended it
    const px = right, start = y(by.index) + ROW / 2, stop = y(t.index) + (by.index < t.index ? 2 : ROW - 2), way = by.index < t.index ? -1 : 1;
    context.beginPath();
    context.moveTo(px, start);
    context.lineTo(px, stop);
    context.moveTo(px - 4, stop + 6 * way);
    context.lineTo(px, stop);
    context.lineTo(px + 4, stop + 6 * way);
    context.stroke();
  }
  context.lineWidth = 1;
};

const draw = () => {
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '11px system-ui, sans-serif';
  drawAxis();
  context.textBaseline = 'middle';
  tracks.forEach(drawTrack);
  data.steps.forEach(drawSteps);
  drawPath();
  drawPicked();
};
let waiting = false;
const redraw = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
};
const resize = () => {
  width = $('timeline').clientWidth - LABELS;
  height = TOP + ROW * (tracks.length + data.steps.length) + 4;
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(height * devicePixelRatio);
  canvas.style.height = height + 'px';
  draw();
};

const show = (a, b) => {
  const span = Math.max(4, Math.min(b - a, data.to - data.from));
  a = Math.min(Math.max(a, data.from), Math.max(data.from, data.to - span));
  view.from = a;
  view.to = a + span;
  redraw();
};
const zoom = (factor, at) => show(at - (at - view.from) * factor, at + (view.to - at) * factor);
const middle = () => (view.from + view.to) / 2;

// ---- What was clicked ----
const pick = (t, n) => {
  picked = n < 0 ? null : {track: t, n};
  const box = $('selected');
  box.replaceChildren();
  redraw();
  if (!picked) { box.textContent = 'Click a box in the timeline.'; return; }
  const k = kind(t, n), table = element('table');
  const row = (name, value) => {
    const tr = table.insertRow();
    tr.append(element('th', name), value instanceof Node ? value : element('td', value));
  };
  row('Who', t.name);
  row('When', `cycles ${number(begin(t, n))} to ${number(end(t, n))}, ${number(end(t, n) - begin(t, n))} long`);
  row('Cause', data.causes[t.kind + ' ' + k.cause] ? `${k.cause}: ${data.causes[t.kind + ' ' + k.cause]}` : k.cause);
  if (k.instruction) row('Instruction', k.instruction);
  if (where(k)) {
    const td = element('td'), a = element('a', where(k));
    a.onclick = () => showSource(k);
    td.append(a);
    row('Line', td);
  }
  if (k.address) row('Polled', k.address);
  const by = tracks.find(other => other.name === k.holder);
  if (by) {
    const td = element('td'), a = element('a', k.holder);
    a.onclick = () => {
      const m = linkAt(by, end(t, n) - 1);
      if (m >= 0) reveal(by, m);
    };
    td.append(a);
    row(QUIET.includes(k.cause) ? 'Fed by' : 'Ended by', td);
  }
  const buttons = element('p');
  for (const [name, step] of [['← before', -1], ['after →', 1]]) {
    const b = element('button', name);
    b.onclick = () => { if (n + step >= 0 && n + step < t.count) reveal(t, n + step); };
    buttons.append(b, ' ');
  }
  box.append(table, buttons);
  if (k.file) showSource(k);
};
const reveal = (t, n) => {
  const a = begin(t, n), b = end(t, n), span = view.to - view.from;
  if (a < view.from || b > view.to)
    show((a + b) / 2 - Math.max(span, (b - a) * 1.5) / 2, (a + b) / 2 + Math.max(span, (b - a) * 1.5) / 2);
  pick(t, n);
};

// ---- Source ----
const costs = {};                               // file → line → cycles on the critical path, and of all tracks
for (const t of tracks)
  for (let n = 0; n < t.count; n++) {
    const k = kind(t, n);
    if (!k.file || QUIET.includes(k.cause)) continue;
    const lines = costs[k.file] = costs[k.file] || {}, line = lines[k.line] = lines[k.line] || {all: 0, path: 0};
    line.all += end(t, n) - begin(t, n);
  }
let shownFile = null;
const showSource = k => {
  const source = data.sources.find(s => s.name === k.file), box = $('lines');
  if (shownFile !== k.file) {
    shownFile = k.file;
    box.replaceChildren();
    $('source-name').textContent = source ? base(k.file) : `${base(k.file)} (its text is not at hand)`;
    (source ? source.text.split('\n') : []).forEach((text, i) => {
      const cost = (costs[k.file] || {})[i + 1], div = element('div');
      div.append(element('i', cost ? number(cost.all) : ''), element('b', i + 1), text);
      div.onclick = () => find(`${base(k.file)}:${i + 1}`);
      box.append(div);
    });
  }
  for (const marked of box.querySelectorAll('.marked')) marked.classList.remove('marked');
  const line = box.children[k.line - 1];
  if (line) {
    line.classList.add('marked');
    $('source').scrollTop = line.offsetTop - $('source').offsetTop - 120;
  }
};

// ---- Tables ----
const tableOf = (id, rows, whole) => {
  const table = element('table'), head = table.insertRow();
  for (const name of ['Who', 'Cycles', '%', 'Cause', 'Line', 'Instruction'])
    head.append(element('th', name, {className: name === 'Cycles' || name === '%' ? 'number' : ''}));
  for (const r of rows.slice(0, 60)) {
    const tr = table.insertRow();
    tr.className = 'link';
    tr.append(element('td', r.who), element('td', number(r.cycles), {className: 'number'}),
              element('td', (100 * r.cycles / Math.max(1, whole)).toFixed(1), {className: 'number'}), element('td', cause(r)),
              element('td', where(r)), element('td', r.instruction || ''));
    tr.onclick = () => {
      const t = tracks.find(other => other.name === r.who);
      for (let n = 0; t && n < t.count; n++) {
        const k = kind(t, n);
        if (k.pc === r.pc && k.cause === r.cause && k.holder === r.holder) { reveal(t, n); return; }
      }
    };
  }
  if (!rows.length) table.insertRow().append(element('td', 'Nothing.'));
  $(id).append(table);
};
const run = data.run, whole = run.cost_profile.to - run.cost_profile.from;
const rowsOf = wanted => run.cost_profile.tracks.filter(t => t.kind === wanted)
  .flatMap(t => t.costs.map(c => ({...c, who: t.name}))).filter(c => !QUIET.includes(c.cause)).sort((a, b) => b.cycles - a.cycles);
tableOf('path-table', run.cost_profile.critical_path.costs, whole);
tableOf('core-table', rowsOf('core'), whole);
tableOf('thread-table', rowsOf('thread'), whole);
tableOf('unit-table', rowsOf('unit'), whole);

// ---- Search: an instruction, a line, a cause, or a cycle ----
let lastFound = {text: '', track: 0, n: -1};
const find = text => {
  const wanted = text.trim().toLowerCase();
  $('search').value = text;
  if (!wanted) { $('search-result').textContent = ''; return; }
  if (/^\d+$/.test(wanted)) {
    const span = view.to - view.from, cycle = Number(wanted);
    show(cycle - span / 2, cycle + span / 2);
    $('search-result').textContent = `cycle ${number(cycle)}`;
    return;
  }
  const matching = kinds.map(k => [cause(k), where(k), k.instruction || ''].join(' ').toLowerCase().includes(wanted));
  const hits = [];
  for (const t of tracks)
    for (let n = 0; n < t.count; n++)
      if (matching[t.what[n]]) hits.push([begin(t, n), t, n]);
  hits.sort((a, b) => a[0] - b[0]);
  if (!hits.length) { $('search-result').textContent = 'not found'; return; }
  const at = lastFound.text === wanted ? (lastFound.at + 1) % hits.length : 0;
  lastFound = {text: wanted, at};
  $('search-result').textContent = `${at + 1} of ${number(hits.length)} (Enter: next)`;
  reveal(hits[at][1], hits[at][2]);
};

// ---- The words on top ----
$('title').textContent = run.program;
const endings = {done: 'Done', until: 'Done (--until)', hang: 'Hangs', limit: 'Stopped by --max-cycles', finding: 'Stopped by a finding', interrupted: 'Interrupted'};
$('summary').textContent = `${endings[run.result] || run.result} after ${number(run.cycles)} cycles, ${run.arch === 'wh' ? 'Wormhole B0' : 'Blackhole A0'}. ` +
  (data.from > 0 || data.to < run.cycles ? `The page shows cycles ${number(data.from)} to ${number(data.to)}. ` : '') +
  (run.findings.length ? `${run.findings.length} findings.` : 'No findings.');
$('path-sentence').textContent = data.sentence;
$('footer').textContent = `waitgate ${run.waitgate}. One row per core, Wait Gate and unit; every cycle of each row is charged to a line and a cause.`;
if (data.hang) {
  $('hang-section').hidden = false;
  $('hang').textContent = data.hang;
}
if (run.result === 'hang') { // the cause comes first
  $('path-sentence').hidden = true;
  document.querySelector('nav').before($('hang-section'));
}
for (const f of run.findings) {
  $('findings-section').hidden = false;
  const div = element('div', undefined, {className: 'finding'}), a = element('a', `cycle ${number(f.cycle)}`);
  a.onclick = () => find(String(f.cycle));
  div.append(element('b', `${f.severity}: ${f.code}`), f.who ? `, ${f.who}, ` : ' ', a, f.place ? `, ${f.place}` : '', element('br'),
             `${f.detail ? f.detail + '. ' : ''}${f.cause} ${f.remedy}`);
  $('findings').append(div);
}
for (const [name, colour] of [['at work', 'work'], ['waiting', 'stall'], ['polling', 'poll'], ['nothing to do', 'rest'], ['critical path', 'path']]) {
  const span = element('span'), i = element('i');
  i.style.background = `var(--${colour})`;
  span.append(i, name);
  $('legend').append(span);
}

// The hang's graph: who waits for whom, on a circle.
const drawHang = () => {
  const hang = run.hang || {}, edges = hang.edges || [], decisive = new Set(hang.path || []);
  if (!edges.length) { $('hang-graph').remove(); return; }
  const names = [...new Set(edges.flatMap(e => [e.from, e.to]))], svg = $('hang-graph'), ns = 'http://www.w3.org/2000/svg';
  const w = 720, h = Math.max(160, 60 + 50 * Math.ceil(names.length / 2)), place = i => {
    const angle = 2 * Math.PI * i / names.length - Math.PI / 2;
    return [w / 2 + Math.cos(angle) * (w / 2 - 120), h / 2 + Math.sin(angle) * (h / 2 - 26)];
  };
  svg.setAttribute('viewBox', `0 0 ${w} ${h}`);
  svg.setAttribute('width', w);
  svg.setAttribute('height', h);
  const make = (tag, attributes, text) => {
    const e = document.createElementNS(ns, tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    if (text) e.textContent = text;
    svg.append(e);
    return e;
  };
  svg.innerHTML = '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>';
  edges.forEach((e, index) => {
    const [x1, y1] = place(names.indexOf(e.from)), [x2, y2] = place(names.indexOf(e.to));
    const cut = Math.min(0.45, 66 / Math.abs(x2 - x1), 17 / Math.abs(y2 - y1)); // where the line leaves the box
    const line = make('line', {x1: x1 + (x2 - x1) * cut, y1: y1 + (y2 - y1) * cut, x2: x2 - (x2 - x1) * cut, y2: y2 - (y2 - y1) * cut,
                               stroke: decisive.has(index) ? 'var(--path)' : 'currentColor', 'stroke-width': decisive.has(index) ? 2.5 : 1, 'marker-end': 'url(#tip)'});
    line.append(Object.assign(document.createElementNS(ns, 'title'), {textContent: e.reason}));
  });
  names.forEach((name, i) => {
    const [px, py] = place(i);
    make('rect', {x: px - 62, y: py - 13, width: 124, height: 26, rx: 5, fill: 'var(--back)', stroke: 'currentColor'});
    make('text', {x: px, y: py + 4, 'text-anchor': 'middle', 'font-size': 12, fill: 'currentColor'}, name);
  });
};

// ---- Hands ----
const labels = $('labels');
for (const t of tracks) labels.append(element('div', t.name, {title: t.name}));
for (const s of data.steps) labels.append(element('div', s.name, {title: s.name}));
for (const div of labels.children) { div.style.height = ROW + 'px'; div.style.lineHeight = ROW + 'px'; }
canvas.addEventListener('wheel', e => {
  e.preventDefault();
  if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
    const by = (e.deltaX || e.deltaY) / scale();
    show(view.from + by, view.to + by);
  } else {
    zoom(Math.exp(e.deltaY * 0.0015), cycleAt(e.offsetX));
  }
}, {passive: false});
let drag = null;
canvas.addEventListener('pointerdown', e => { drag = {x: e.offsetX, from: view.from, to: view.to, moved: false}; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener('pointermove', e => {
  if (!drag || (!drag.moved && Math.abs(e.offsetX - drag.x) < 4)) return;
  drag.moved = true;
  const by = (drag.x - e.offsetX) / scale();
  show(drag.from + by, drag.to + by);
});
canvas.addEventListener('pointerup', e => {
  const moved = drag && drag.moved;
  drag = null;
  if (moved) return;
  const t = tracks[Math.floor((e.offsetY - TOP) / ROW)];
  if (t) pick(t, linkAt(t, Math.floor(cycleAt(e.offsetX))));
  $('timeline').focus({preventScroll: true});
});
$('zoom-in').onclick = () => zoom(0.5, middle());
$('zoom-out').onclick = () => zoom(2, middle());
$('zoom-all').onclick = () => show(data.from, data.to);
$('theme').onclick = () => { document.documentElement.classList.toggle('dark'); readColours(); redraw(); };
$('search').addEventListener('keydown', e => { if (e.key === 'Enter') find(e.target.value); });
document.addEventListener('keydown', e => {
  if (e.target === $('search')) { if (e.key === 'Escape') e.target.blur(); return; }
  const span = view.to - view.from, moves = {
    '+': () => zoom(0.5, middle()), '=': () => zoom(0.5, middle()), '-': () => zoom(2, middle()), '0': () => show(data.from, data.to),
    ArrowLeft: () => show(view.from - span / 5, view.to - span / 5), ArrowRight: () => show(view.from + span / 5, view.to + span / 5),
    p: () => { showPath = !showPath; redraw(); }, '/': () => $('search').focus(),
    Escape: () => pick(null, -1),
  };
  if (moves[e.key] && !e.ctrlKey && !e.metaKey) { e.preventDefault(); moves[e.key](); }
});
addEventListener('resize', resize);
if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark');
readColours();
drawHang();
resize();
// For tests and the console: where boxes are, and how long a frame takes.
window.waitgate = {
  data, view, show, find, draw,
  box: (name, cycle) => {
    const t = tracks.find(other => other.name === name), n = t ? linkAt(t, cycle) : -1;
    return n < 0 ? null : {x: x(begin(t, n)), right: x(end(t, n)), y: y(t.index), from: begin(t, n), to: end(t, n), kind: kind(t, n)};
  },
  picked: () => picked && {name: picked.track.name, from: begin(picked.track, picked.n), to: end(picked.track, picked.n)},
};
})();
