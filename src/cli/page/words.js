// SPDX-License-Identifier: Apache-2.0
// Races, findings, origins and hangs: what is told in words and drawn from them. Continues page.js.
// ---- Races: both parties, in the text and on the timeline ----
const racesOf = i => (runOf(i).races || []).map(r => ({...r, parties: [r.first, r.second].filter(Boolean)}));
const trackOf = party => tracks.find(t => t.name === party.agent) || tracks.find(t => t.name === `thread ${party.thread}`);
const drawRaces = () => {
  context.strokeStyle = context.fillStyle = colours.path;
  for (const race of racesOf(current)) {
    const places = race.parties.map(p => ({px: x(p.cycle + 0.5), t: trackOf(p)})).filter(p => p.t);
    if (!places.some(p => p.px >= 0 && p.px <= width)) continue;
    context.setLineDash([2, 3]);
    context.beginPath();
    places.forEach((p, i) => context[i ? 'lineTo' : 'moveTo'](p.px, y(p.t.index) + ROW / 2));
    context.stroke();
    context.setLineDash([]);
    for (const p of places) {
      const py = y(p.t.index) + ROW / 2;
      context.beginPath();
      context.moveTo(p.px, py - 7);
      context.lineTo(p.px + 6, py);
      context.lineTo(p.px, py + 7);
      context.lineTo(p.px - 6, py);
      context.fill();
    }
  }
};
const showParty = (tile, race, party) => {
  if (current !== tile) openTile(tile);
  const cycles = race.parties.map(p => p.cycle), a = Math.min(...cycles), b = Math.max(...cycles), room = Math.max(20, b - a);
  show(a - room, b + room);
  const t = trackOf(party), n = t ? linkAt(t, party.cycle) : -1;
  if (n >= 0) pick(t, n);
  if (party.file) showSource(party);
};
const listRaces = () => {
  for (let i = 0; i < tiles.length; i++)
    for (const race of racesOf(i)) {
      $('findings-section').hidden = false;
      const div = element('div', undefined, {className: 'finding'});
      div.append(element('b', `${race.severity}: ${race.kind}`), data.chip ? `, tile ${tiles[i].name}` : '', `, ${race.location}`, element('br'));
      race.parties.forEach((p, n) => {
        div.append(n ? 'then ' : '', `${p.access} by ${p.agent}${p.thread === undefined ? '' : `, thread ${p.thread}`} in `,
                   element('a', `cycle ${number(p.cycle)}`, {onclick: () => showParty(i, race, p)}), `, ${p.instruction}${p.place ? `, ${base(p.place)}` : ''}`, element('br'));
      });
      div.append(`${race.why} ${race.remedy} (${race.remedy_is})`);
      $('findings').append(div);
    }
};

// ---- The words on top ----
const findings = data.chip ? [...run.findings.map(f => ({...f.finding, tile: `${f.x}-${f.y}`})),
                              ...run.tiles.flatMap(t => t.findings.map(f => ({...f, tile: `${t.x}-${t.y}`})))] : run.findings;
const races = tiles.reduce((sum, _, i) => sum + racesOf(i).length, 0);
$('title').textContent = run.program;
const endings = {done: 'Done', until: 'Done (--until)', hang: 'Hangs', limit: 'Stopped by --max-cycles', finding: 'Stopped by a finding', interrupted: 'Interrupted'};
$('summary').textContent = `${endings[run.result] || run.result} after ${number(run.cycles)} cycles, ${run.arch === 'wh' ? 'Wormhole B0' : 'Blackhole A0'}. ` +
  (data.from > 0 || data.to < run.cycles ? `The page shows cycles ${number(data.from)} to ${number(data.to)}; --from and --to choose others, and --trace writes all beside it. ` : '') +
  (findings.length ? counted(findings.length, 'finding') : 'No findings.') + (races ? ` ${counted(races, 'race')}` : '');
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
// ---- Where a location's contents came from: a tree, open as far as it is wide ----
const findAt = (tile, text) => { // on the branch's own tile, if the page has it
  const other = tiles.findIndex(t => t.name === tile);
  if (other >= 0 && other !== current) openTile(other);
  find(text);
};
const whyLine = b => {
  const line = element('summary'), place = (b.place || '').match(/([^\s(]+):(\d+)/);
  line.append(element('b', `${b.tile ? `tile ${b.tile}, ` : ''}${b.location}`), b.written ? `: ${b.who || 'written over the NoC'}` : ': there before the run, or written by the host',
              b.instruction ? `, ${b.instruction}` : '', b.input ? `; ${b.input}` : '');
  if (place) {
    const a = element('a', `${base(place[1])}:${place[2]}`, {title: b.place});
    a.onclick = e => { e.preventDefault(); findAt(b.tile, `${base(place[1])}:${place[2]}`); };
    line.append(', at ', a);
  }
  if (b.from !== undefined) {
    const a = element('a', `cycle ${number(b.to)}`);
    a.onclick = e => { e.preventDefault(); findAt(b.tile, String(b.to)); };
    line.append(b.instructions > 1 ? `; ${number(b.instructions)} instructions, the last in ` : '; ', a);
  }
  if (b.told_before) line.append(' (see above)');
  return line;
};
const whyTree = (branches, depth) => branches.map(b => {
  const below = whyTree(b.from_data || [], depth + 1), node = element(below.length ? 'details' : 'div', undefined, {className: 'why'});
  if (below.length) node.open = depth < 6;
  node.append(whyLine(b), ...below);
  return node;
});
if (data.why) {
  const why = data.why, verdict = [];
  $('why-section').hidden = false;
  $('why-of').textContent = `${why.of} at cycle ${number(why.cycle)}${why.value === undefined ? '' : ` is ${why.value}`}`;
  for (const m of why.made_so_by || []) verdict.push(`Made so by ${m.value} at ${m.element}${m.tile ? ` of tile ${m.tile}` : ''}.`);
  if (verdict.length) verdict.push(`With 1 in ${verdict.length === 1 ? 'its' : 'their'} place it is ${why.with_ones_instead}.`);
  $('why-verdict').append(...verdict.map(text => element('li', text)));
  $('why-tree').append(...whyTree(why.writers, 0));
}
for (const f of findings) {
  $('findings-section').hidden = false;
  const div = element('div', undefined, {className: 'finding'}), a = element('a', `cycle ${number(f.cycle)}`);
  a.onclick = () => find(String(f.cycle));
  div.append(element('b', `${f.severity}: ${f.code}`), f.tile ? `, tile ${f.tile}` : '', f.who ? `, ${f.who}, ` : ' ', a, f.place ? `, ${f.place}` : '', element('br'),
             `${f.detail ? f.detail + '. ' : ''}${f.cause} ${f.remedy}`);
  $('findings').append(div);
}
listRaces();
for (const [name, colour] of [['at work', 'work'], ['waiting', 'stall'], ['polling', 'poll'], ['nothing to do', 'rest'], ['critical path', 'path']]) {
  const span = element('span'), i = element('i');
  i.style.background = `var(--${colour})`;
  span.append(i, name);
  $('legend').append(span);
}

// The hang's graph: who waits for whom, on a circle.
const drawHang = () => {
  const hang = runOf(current).hang || {}, edges = hang.edges || [], decisive = new Set(hang.path || []);
  $('hang-graph').style.display = edges.length ? '' : 'none';
  if (!edges.length) return;
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
