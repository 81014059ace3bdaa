// SPDX-License-Identifier: Apache-2.0
// The page that `waitgate report` writes. Everything it shows is in the JSON beside it; nothing is loaded from elsewhere.
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const ROW = 22, TOP = 20, LABELS = 150;
// A chip has several tiles, of which one is open in the timeline; a tile alone is its own only one.
const tiles = data.tiles || [data], run = data.run;
let current = 0, tracks = [], kinds = [], steps = [];
const runOf = i => data.tiles ? run.tiles.find(t => t.x === tiles[i].x && t.y === tiles[i].y) : run;
// Boxes follow each other without gap: each has a length, and begins where the one before it ends.
const tracksOf = tile => tile.made = tile.made || tile.tracks.map((t, index) => {
  const count = t.links.length / 2, edge = new Float64Array(count + 1), what = new Uint32Array(count);
  const names = tile.kinds.map(colourName), so_far = {}; // cycles so far, by colour
  for (const name of COLOURS) so_far[name] = new Float64Array(count + 1);
  edge[0] = data.from;
  for (let n = 0; n < count; n++) {
    edge[n + 1] = edge[n] + t.links[2 * n];
    what[n] = t.links[2 * n + 1];
    for (const name of COLOURS) so_far[name][n + 1] = so_far[name][n];
    if (names[what[n]] in so_far) so_far[names[what[n]]][n + 1] += t.links[2 * n];
  }
  return {name: t.name, kind: t.kind, index, count, edge, what, so_far};
});
// Values over time: each step has a cycle and the value from then on.
const rowOf = (name, most, pairs) => {
  const count = pairs.length / 2, at = new Float64Array(count), value = new Float64Array(count);
  for (let n = 0, cycle = data.from; n < count; n++) {
    at[n] = cycle += pairs[2 * n];
    value[n] = pairs[2 * n + 1];
  }
  return {name, most, at, value, count};
};
// Of a chip: packets under way to a tile, and from it.
const packetRows = tile => {
  const here = data.chip ? tile.y * data.chip.width + tile.x : -1, rows = [];
  for (const noc of [0, 1])
    for (const [side, name] of [[1, `NoC ${noc} arriving`], [0, `NoC ${noc} sent`]]) {
      const changes = [];
      for (let n = 0; data.chip && n < data.packets.length; n += 6)
        if (data.packets[n + side] === here && data.packets[n + 2] === noc)
          changes.push([Math.max(data.from, data.packets[n + 3]), 1], [data.packets[n + 4], -1]);
      if (!changes.length) continue;
      changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      const pairs = [0, 0];
      let last = data.from, most = 1, value = 0;
      for (const [cycle, by] of changes) {
        most = Math.max(most, value += by);
        pairs.push(cycle - last, value);
        last = cycle;
      }
      rows.push(rowOf(name, most, pairs));
    }
  return rows;
};
const stepsOf = tile => tile.rows = tile.rows || [...tile.steps.map(s => rowOf(s.name, s.most, s.steps)), ...packetRows(tile)];
// The way of each instruction that passed a gate: pushed, made by a MOP or REPLAY (or the same cycle), passed, left its unit.
const waysOf = tile => tile.decoded = tile.decoded || tile.ways.map((list, thread) => {
  const all = [];
  for (let n = 0, cycle = data.from; n < list.length; n += 5) {
    cycle += list[n];
    const entered = cycle - list[n + 1], made = list[n + 2] >= 0;
    all.push({thread, pushed: made ? entered - list[n + 2] : entered, made: made ? entered : null, passed: cycle,
              unit: data.units[list[n + 3]], left: list[n + 4] ? cycle + list[n + 4] : null});
  }
  return all;
});
const COLOURS = ['work', 'poll', 'stall'], QUIET = ['idle', 'empty', 'reset', 'parked'], WORK = ['executing', 'multi-cycle', 'issued', 'busy'];
const begin = (t, n) => t.edge[n], end = (t, n) => t.edge[n + 1], kind = (t, n) => kinds[t.what[n]];
// The critical path, the latest piece first. Of a chip: tile, track, cycles; a packet under way has the track -1 - NoC.
const path = [];
for (let n = 0, b = data.to, stride = data.chip ? 3 : 2; n < data.path.length; n += stride) {
  const a = b - data.path[n + stride - 1];
  path.push({tile: data.chip ? data.path[n] : 0, track: data.path[n + stride - 2], from: a, to: b});
  b = a;
}
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
const counted = (n, what) => `${number(n)} ${what}${n === 1 ? '' : 's'}.`;
const base = file => file ? file.split('/').pop() : '';
const where = k => k.file ? `${base(k.file)}:${k.line}` + (k.function ? ` ${k.function}` : '') : k.function || k.pc || '';
const cause = k => k.who && k.who.startsWith('NIU') ? k.cause + (k.other_tile ? `, ${k.other_tile}` : '') : k.cause === 'polling' && k.other_tile ?
  /^0xffb[23]/.test(k.address) ? `waiting for NoC, ${k.other_tile}` : `waiting for tile ${k.other_tile} (${k.address})` :
  k.waits_for ? `waiting for ${k.waits_for} in CB ${k.circular_buffer}${k.holder ? ` (${k.holder}${k.ended_at ? ` at ${k.ended_at}` : ''})` : ''}` :
  k.address ? `${k.cause} ${k.address}${k.holder ? ` (${k.holder}${k.ended_at ? ` at ${k.ended_at}` : ''})` : ''}` : [k.cause, k.condition, k.holder && `(${k.holder})`].filter(Boolean).join(' ');
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

// The cycles of a track in [a, b) that have this colour.
const spent = (t, name, a, b) => {
  const list = t.so_far[name];
  const until = cycle => {
    const n = firstAfter(t, cycle);
    return n >= t.count ? list[t.count] : list[n] + (list[n + 1] > list[n] ? Math.max(0, cycle - begin(t, n)) : 0);
  };
  return until(b) - until(a);
};
// The share of each colour in the cycles of a column, one above the other.
const sharesAt = (t, column) => {
  const a = Math.max(data.from, cycleAt(column)), b = Math.min(data.to, cycleAt(column + 1)), shares = {};
  for (const name of COLOURS) shares[name] = b > a ? spent(t, name, a, b) / (b - a) : 0;
  return shares;
};
const drawColumn = (t, column, top, tall) => {
  const shares = sharesAt(t, column);
  let bottom = top + tall;
  context.fillStyle = colours.rest;
  context.fillRect(column, top, 1, tall);
  for (const name of COLOURS) {
    context.fillStyle = colours[name];
    context.fillRect(column, bottom - shares[name] * tall, 1, shares[name] * tall);
    bottom -= shares[name] * tall;
  }
};
// A column in which a box is narrower than a pixel shows what all of its cycles were spent on.
const drawTrack = t => {
  const top = y(t.index) + 3, tall = ROW - 6;
  for (let n = firstAfter(t, view.from); n < t.count && begin(t, n) < view.to; n++) {
    const k = kind(t, n), name = colourName(k), left = Math.max(0, x(begin(t, n))), right = Math.min(width, x(end(t, n)));
    if (right - left < 1) {
      const here = Math.floor(left);
      drawColumn(t, here, top, tall);
      n = Math.max(n, firstAfter(t, cycleAt(here + 1)) - 1);
      continue;
    }
    context.fillStyle = colours[name];
    context.fillRect(left, top, Math.max(1, right - left - (right - left > 4 ? 1 : 0)), tall);
    if (right - left > 40 && name !== 'rest') {
      context.save();
      context.beginPath();
      context.rect(left, top, right - left - 4, tall);
      context.clip();
      context.fillStyle = '#fff';
      context.fillText(k.cause === 'polling' || !k.instruction ? cause(k) : k.instruction, left + 4, top + tall / 2 + 0.5);
      context.restore();
    }
  }
};

// The number of elements before the first one that is greater.
const countUntil = (sorted, value) => {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1; else high = middle;
  }
  return low;
};
const drawSteps = (s, index) => {
  const top = y(tracks.length + index) + 3, tall = ROW - 6;
  context.strokeStyle = context.fillStyle = colours.pick;
  context.beginPath();
  const level = v => top + tall - tall * Math.min(1, v / Math.max(1, s.most)), end = Math.min(width, x(data.to));
  let n = Math.max(0, countUntil(s.at, view.from) - 1), value = n < s.count ? s.value[n] : 0;
  context.moveTo(Math.max(0, x(data.from)), level(value));
  for (n++; n < s.count && s.at[n] < view.to;) {
    const px = x(s.at[n]);
    let low = Math.min(value, s.value[n]), high = Math.max(value, s.value[n]);
    context.lineTo(px, level(value));
    value = s.value[n++];
    for (; n < s.count && x(s.at[n]) < px + 1; n++) { // all that happens within a pixel
      value = s.value[n];
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    context.lineTo(px, level(low));
    context.lineTo(px, level(high));
    context.lineTo(px, level(value));
  }
  context.lineTo(end, level(value));
  context.stroke();
};

// Steps between tracks are drawn where one of their ends is long enough to be seen; elsewhere they would hide the tracks.
const drawPath = () => {
  if (!showPath) return;
  const SEEN = 6, shares = {}; // of the pieces narrower than a pixel, by track and column
  context.strokeStyle = colours.path;
  context.lineWidth = 2;
  context.beginPath();
  let after = null, long = false;
  for (const p of path) {
    if (p.to <= view.from) break;
    if (p.tile !== current || p.track < 0) { after = null; continue; }
    const level = y(p.track) + ROW - 2, left = Math.max(0, x(p.from)), right = Math.min(width, x(p.to));
    if (after !== null && after !== p.track && p.to <= view.to && (long || right - left >= SEEN)) {
      context.moveTo(right, y(after) + ROW - 2);
      context.lineTo(right, level);
    }
    if (p.from < view.to && right - left >= 1) {
      context.moveTo(left, level);
      context.lineTo(right, level);
    } else if (p.from < view.to) {
      shares[p.track] = shares[p.track] || new Float64Array(width + 1);
      shares[p.track][Math.floor(left)] += right - left;
    }
    after = p.track;
    long = right - left >= SEEN;
  }
  context.stroke();
  context.fillStyle = colours.path;
  for (const [track, columns] of Object.entries(shares))
    columns.forEach((share, column) => {
      if (!share) return;
      context.globalAlpha = 0.3 + 0.7 * Math.min(1, share);
      context.fillRect(column, y(track) + ROW - 3, 1, 2);
    });
  context.globalAlpha = 1;
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

// The way of the picked instruction, from its push to its unit.
const drawWay = () => {
  const way = picked && wayOfPicked();
  if (!way) return;
  const gate = tracks.find(t => t.name === `thread ${way.thread}`), unit = tracks.find(t => t.name === way.unit);
  const pusher = tracks.find(t => t.name === `T${way.thread}`), middle = t => y(t.index) + ROW / 2;
  context.strokeStyle = context.fillStyle = colours.pick;
  context.setLineDash([4, 3]);
  context.beginPath();
  if (pusher && gate) {
    context.moveTo(x(way.pushed), middle(pusher));
    context.lineTo(x(way.made === null ? way.pushed : way.made), middle(gate));
    context.lineTo(x(way.passed), middle(gate));
  }
  context.stroke();
  context.setLineDash([]);
  if (unit && gate) {
    context.beginPath();
    context.moveTo(x(way.passed) + 1, middle(gate));
    context.lineTo(x(way.passed) + 1, middle(unit));
    context.stroke();
    context.strokeRect(x(way.passed), y(unit.index) + 4, Math.max(2, x(way.left || data.to) - x(way.passed)), ROW - 8);
  }
};
const draw = () => {
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '11px system-ui, sans-serif';
  drawAxis();
  context.textBaseline = 'middle';
  tracks.forEach(drawTrack);
  steps.forEach(drawSteps);
  drawPath();
  drawPicked();
  drawWay();
  drawRaces();
};
let waiting = false;
const redraw = () => {
  chipLater();
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
};
const resize = () => {
  width = Math.max(1, $('timeline').clientWidth - LABELS); // nothing of the page may be visible yet
  height = TOP + ROW * (tracks.length + steps.length) + 4;
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
// The instruction in the picked box: the first that passed in it, or the oldest in the unit.
const wayOfPicked = () => {
  const {track: t, n} = picked, a = begin(t, n), b = end(t, n), all = waysOf(tiles[current]);
  if (t.kind === 'thread' && kind(t, n).cause === 'issued') return all[Number(t.name.split(' ')[1])].find(w => w.passed >= a && w.passed < b);
  if (t.kind !== 'unit' || QUIET.includes(kind(t, n).cause)) return undefined;
  return all.flatMap(list => list.filter(w => w.unit === t.name && w.passed < b && (w.left === null || w.left > a))).sort((l, r) => l.passed - r.passed)[0];
};
const wayText = w => [`pushed in ${number(w.pushed)}`, w.made === null ? null : `made in ${number(w.made)}`, `passed the gate in ${number(w.passed)}`,
  w.left === null ? `in ${w.unit} still` : `left ${w.unit} in ${number(w.left)}`].filter(Boolean).join(', ');
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
  const words = data.causes[t.kind + ' ' + k.cause];
  row('Cause', words && words !== k.cause ? `${k.cause}: ${words}` : k.cause);
  if (k.instruction) row('Instruction', k.instruction);
  if (where(k)) {
    const td = element('td'), a = element('a', where(k));
    a.onclick = () => showSource(k);
    td.append(a);
    row('Line', td);
  }
  const way = wayOfPicked();
  if (way) row('Way', wayText(way));
  if (k.condition) row('Condition', k.condition);
  if (k.waits_for) row('Waits for', `${k.waits_for} in circular buffer ${k.circular_buffer}`);
  if (k.ended_at) row('Ended at', k.ended_at);
  if (k.address) row('Polled', k.address);
  const other = data.chip && k.other_tile ? tiles.findIndex(tile => tile.name === k.other_tile) : -1;
  if (k.other_tile) {
    const td = element('td');
    td.append(other < 0 ? k.other_tile : element('a', k.other_tile, {onclick: () => openTile(other)}));
    row('Tile', td);
  }
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
let costs = {};                                 // file → line → cycles of all tracks of the open tile
const countCosts = () => {
  costs = {};
  for (const t of tracks)
    for (let n = 0; n < t.count; n++) {
      const k = kind(t, n);
      if (!k.file || QUIET.includes(k.cause)) continue;
      const lines = costs[k.file] = costs[k.file] || {}, line = lines[k.line] = lines[k.line] || {all: 0};
      line.all += end(t, n) - begin(t, n);
    }
};
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
    tr.append(element('td', r.tile ? `${r.tile} ${r.who.replace('NIU', 'NoC')}` : r.who), element('td', number(r.cycles), {className: 'number'}),
              element('td', (100 * r.cycles / Math.max(1, whole)).toFixed(1), {className: 'number'}), element('td', cause(r)),
              element('td', where(r)), element('td', r.instruction || ''));
    tr.onclick = () => {
      if (r.tile && r.tile !== tiles[current].name) openTile(tiles.findIndex(tile => tile.name === r.tile));
      const who = r.who.startsWith('NIU') ? r.program : r.who, t = tracks.find(other => other.name === who);
      for (let n = 0; t && n < t.count; n++) {
        const k = kind(t, n);
        if (k.pc === r.pc && k.cause === r.cause && k.holder === r.holder || (r.who !== who && k.pc === r.pc)) { reveal(t, n); return; }
      }
    };
  }
  if (!rows.length) table.insertRow().append(element('td', 'Nothing.'));
  $(id).replaceChildren(table);
};
const length = (data.chip ? run.chip_profile : run.cost_profile).to - (data.chip ? run.chip_profile : run.cost_profile).from;
const rowsOf = wanted => runOf(current).cost_profile.tracks.filter(t => t.kind === wanted)
  .flatMap(t => t.costs.map(c => ({...c, who: t.name}))).filter(c => !QUIET.includes(c.cause)).sort((a, b) => b.cycles - a.cycles);
tableOf('path-table', (data.chip ? run.chip_profile : run.cost_profile).critical_path.costs, length);

// Shows a tile in the timeline and in the tables.
const openTile = i => {
  current = i;
  tracks = tracksOf(tiles[i]);
  kinds = tiles[i].kinds;
  steps = stepsOf(tiles[i]);
  shownFile = null;
  countCosts();
  for (const wanted of ['core', 'thread', 'unit']) tableOf(`${wanted}-table`, rowsOf(wanted), length);
  $('labels').replaceChildren();
  for (const t of tracks) $('labels').append(element('div', t.name, {title: t.name}));
  for (const s of steps) {
    const div = element('div', s.name, {title: `${s.name}: at most ${s.most}`});
    div.dataset.most = s.most;
    $('labels').append(div);
  }
  for (const div of $('labels').children) { div.style.height = ROW + 'px'; div.style.lineHeight = ROW + 'px'; }
  if (data.chip) {
    $('tile-name').hidden = false;
    $('tile-name').textContent = `Tile ${tiles[i].name}`;
    for (const g of $('grid').querySelectorAll('.tile')) g.classList.toggle('open', g.dataset.name === tiles[i].name);
  }
  pick(null, -1);
  drawHang();
  resize();
};

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
  const hits = [];
  for (let i = 0; i < tiles.length; i++) {
    const tile = (current + i) % tiles.length, own = tiles[tile].kinds;
    const matching = own.map(k => [cause(k), where(k), k.instruction || ''].join(' ').toLowerCase().includes(wanted));
    for (const t of tracksOf(tiles[tile]))
      for (let n = 0; n < t.count; n++)
        if (matching[t.what[n]]) hits.push([begin(t, n), tile, t, n]);
    if (hits.length) break; // another tile only if this one has nothing
  }
  hits.sort((a, b) => a[0] - b[0]);
  if (!hits.length) { $('search-result').textContent = 'not found'; return; }
  const at = lastFound.text === wanted ? (lastFound.at + 1) % hits.length : 0;
  lastFound = {text: wanted, at};
  $('search-result').textContent = `${at + 1} of ${number(hits.length)} (Enter: next)`;
  if (hits[at][1] !== current) openTile(hits[at][1]);
  reveal(hits[at][2], hits[at][3]);
};
