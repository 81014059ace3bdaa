// SPDX-License-Identifier: Apache-2.0
// The grid of a chip, and what hands do. Continues words.js.
// ---- The chip: its tiles and links in the shown cycles ----
const CELL = 40, NS = 'http://www.w3.org/2000/svg';
const svg = (parent, tag, attributes, text) => {
  const e = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  if (text !== undefined) e.textContent = text;
  parent.append(e);
  return e;
};
// A packet's way from router to router: NoC 0 goes right, then down; NoC 1 up, then left; both around the edges.
const wayOf = (from, to, noc) => {
  const {width: w, height: h} = data.chip, way = [from];
  let px = from % w, py = Math.floor(from / w);
  const tx = to % w, ty = Math.floor(to / w), right = () => { while (px !== tx) { px = (px + (noc ? w - 1 : 1)) % w; way.push(py * w + px); } };
  const down = () => { while (py !== ty) { py = (py + (noc ? h - 1 : 1)) % h; way.push(py * w + px); } };
  if (noc) { down(); right(); } else { right(); down(); }
  return way;
};
const placeName = i => `${i % data.chip.width}-${Math.floor(i / data.chip.width)}`;
let links = null, cells = {}, chipTimer = 0, busyOf = {};
const buildChip = () => {
  const {width: w, height: h, kinds: letters} = data.chip, grid = $('grid');
  $('chip').hidden = false;
  grid.setAttribute('viewBox', `-14 -14 ${w * CELL + 18} ${h * CELL + 18}`);
  for (let px = 0; px < w; px++) svg(grid, 'text', {x: px * CELL + CELL / 2, y: -4}, px);
  for (let py = 0; py < h; py++) svg(grid, 'text', {x: -8, y: py * CELL + CELL / 2 + 3}, py);
  links = svg(grid, 'g', {});
  for (let i = 0; i < w * h; i++) {
    const left = i % w * CELL + 6, top = Math.floor(i / w) * CELL + 6, n = tiles.findIndex(t => t.name === placeName(i));
    if (n < 0) {
      if (letters[i] === '.') continue;
      svg(grid, 'rect', {class: 'other', x: left, y: top, width: CELL - 12, height: CELL - 12, rx: 3});
      svg(grid, 'text', {x: left + CELL / 2 - 6, y: top + CELL / 2 - 2, opacity: 0.6}, letters[i]);
      continue;
    }
    const g = svg(grid, 'g', {class: 'tile', 'data-name': tiles[n].name, tabindex: 0, role: 'button'});
    svg(g, 'rect', {x: left, y: top, width: CELL - 12, height: CELL - 12, rx: 3});
    cells[n] = {rect: g.querySelector('rect'), text: svg(g, 'text', {x: left + CELL / 2 - 6, y: top + CELL / 2 - 2}), title: svg(g, 'title', {})};
    g.onclick = () => openTile(n);
    g.onkeydown = e => { if (e.key === 'Enter') openTile(n); };
  }
  $('chip-legend').textContent = 'Number and green: percentage of the shown cycles in which the tile\'s busiest core, thread or unit was at work. ' +
    'Lines: bytes over a link, orange NoC 0, violet NoC 1. T: a Tensix tile, D: DRAM, E: Ethernet, P: PCI Express. Click a tile to open it.';
};
const drawLinks = loads => {
  const {width: w, height: h} = data.chip, most = Math.max(1, ...loads.values());
  links.replaceChildren();
  for (const [key, bytes] of loads) {
    const [noc, a, b] = key.split(' ').map(Number), shift = noc ? 5 : -5;
    const [ax, ay, bx, by] = [a % w, Math.floor(a / w), b % w, Math.floor(b / w)], far = Math.abs(ax - bx) > 1 || Math.abs(ay - by) > 1;
    const middle = (v, along) => v * CELL + CELL / 2 + (along ? 0 : shift), reach = noc ? -0.6 : 0.6;
    const x1 = middle(ax, ay === by), y1 = middle(ay, ax === bx);
    const line = svg(links, 'line', {class: `noc${noc}`, x1, y1, x2: far && ay === by ? x1 + CELL * reach : middle(bx, ay === by),
                                     y2: far && ax === bx ? y1 + CELL * reach : middle(by, ax === bx), 'stroke-width': (1 + 5 * bytes / most).toFixed(2)});
    svg(line, 'title', {}, `NoC ${noc}, ${placeName(a)} to ${placeName(b)}: ${number(Math.round(bytes))} bytes`);
  }
};
const drawTraffic = () => {
  const canvas = $('traffic'), c = canvas.getContext('2d'), w = canvas.clientWidth, h = 90, at = cycle => (cycle - data.from) / (data.to - data.from) * w;
  canvas.width = Math.round(w * devicePixelRatio);
  canvas.height = Math.round(h * devicePixelRatio);
  c.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  const bars = Math.max(1, Math.floor(w / 3)), bytes = [new Float64Array(bars), new Float64Array(bars)];
  for (let n = 0; n < data.packets.length; n += 6)
    bytes[data.packets[n + 2]][Math.min(bars - 1, Math.floor((data.packets[n + 4] - data.from) / (data.to - data.from) * bars))] += data.packets[n + 5];
  let most = 1;
  for (let i = 0; i < bars; i++) most = Math.max(most, bytes[0][i] + bytes[1][i]);
  c.fillStyle = colours.line;
  c.globalAlpha = 0.6;
  c.fillRect(at(view.from), 0, Math.max(2, at(view.to) - at(view.from)), h);
  c.globalAlpha = 1;
  for (let i = 0; i < bars; i++) {
    const one = bytes[0][i] / most * (h - 14), two = bytes[1][i] / most * (h - 14);
    c.fillStyle = colours.stall;
    c.fillRect(i * w / bars, h - one, w / bars - 0.5, one);
    c.fillStyle = colours.poll;
    c.fillRect(i * w / bars, h - one - two, w / bars - 0.5, two);
  }
  c.fillStyle = colours.faint;
  c.font = '11px system-ui, sans-serif';
  c.fillText(`at most ${number(most)} bytes in ${number(Math.max(1, Math.round((data.to - data.from) / bars)))} cycles`, 4, 10);
};
const drawChip = () => {
  const a = view.from, b = view.to, loads = new Map(), streams = new Map();
  for (let n = 0; n < tiles.length; n++) {
    let best = 0, who = '';
    for (const t of tracksOf(tiles[n])) {
      const share = spent(t, 'work', a, b) / (b - a);
      if (share > best) { best = share; who = t.name; }
    }
    busyOf[tiles[n].name] = best;
    cells[n].rect.style.fill = `color-mix(in srgb, var(--work) ${(100 * best).toFixed(1)}%, var(--rest))`;
    cells[n].text.textContent = Math.round(100 * best);
    cells[n].title.textContent = `tile ${tiles[n].name}: ${who || 'nothing'} at work ${(100 * best).toFixed(1)} %`;
  }
  for (let n = 0; n < data.packets.length; n += 6) {
    const [from, to, noc, left, arrived, bytes] = data.packets.slice(n, n + 6);
    if (arrived <= a || left >= b) continue;
    const key = `${noc} ${from} ${to}`, s = streams.get(key) || {noc, from, to, packets: 0, bytes: 0};
    s.packets++;
    s.bytes += bytes;
    streams.set(key, s);
  }
  for (const s of streams.values()) {
    const way = wayOf(s.from, s.to, s.noc);
    for (let i = 1; i < way.length; i++) {
      const key = `${s.noc} ${way[i - 1]} ${way[i]}`;
      loads.set(key, (loads.get(key) || 0) + s.bytes);
    }
  }
  drawLinks(loads);
  drawTraffic();
  const table = element('table'), head = table.insertRow();
  for (const name of ['From', 'To', 'NoC', 'Packets', 'Bytes']) head.append(element('th', name, {className: name === 'Packets' || name === 'Bytes' ? 'number' : ''}));
  for (const s of [...streams.values()].sort((l, r) => r.bytes - l.bytes || r.packets - l.packets).slice(0, 12)) {
    const tr = table.insertRow();
    for (const [text, wide] of [[placeName(s.from)], [placeName(s.to)], [s.noc], [number(s.packets), true], [number(s.bytes), true]])
      tr.append(element('td', text, {className: wide ? 'number' : ''}));
  }
  $('streams').replaceChildren(table);
  $('chip-when').textContent = `cycles ${number(Math.round(a))} to ${number(Math.round(b))}`;
};
const chipLater = () => {
  if (!data.chip || chipTimer) return;
  chipTimer = setTimeout(() => { chipTimer = 0; drawChip(); }, 40);
};

// ---- Hands ----
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
// On paper it is light, and as wide as the paper.
let darkOnScreen = false;
const paper = on => {
  const classes = document.documentElement.classList;
  if (on) darkOnScreen = classes.contains('dark');
  classes.toggle('dark', !on && darkOnScreen);
  readColours();
  resize();
  if (data.chip) drawChip();
};
addEventListener('beforeprint', () => paper(true));
addEventListener('afterprint', () => paper(false));
if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark');
readColours();
if (data.chip) {
  buildChip();
  $('traffic').onclick = e => {
    const span = view.to - view.from, cycle = data.from + e.offsetX / $('traffic').clientWidth * (data.to - data.from);
    show(cycle - span / 2, cycle + span / 2);
  };
}
openTile(data.chip && path.length ? path[0].tile : 0);
if (data.chip) drawChip();
// For tests and the console: where boxes are, and how long a frame takes.
window.waitgate = {
  data, view, show, find, draw, openTile, drawChip, wayOf,
  busy: () => busyOf, open: () => tiles[current].name,
  box: (name, cycle) => {
    const t = tracks.find(other => other.name === name), n = t ? linkAt(t, cycle) : -1;
    return n < 0 ? null : {x: x(begin(t, n)), right: x(end(t, n)), y: y(t.index), from: begin(t, n), to: end(t, n), kind: kind(t, n)};
  },
  way: () => picked && wayOfPicked(), rows: () => steps,
  picked: () => picked && {name: picked.track.name, from: begin(picked.track, picked.n), to: end(picked.track, picked.n)},
};
