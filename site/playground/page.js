/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The playground: an editor beside the command line of Waitgate, which module.js contains as WebAssembly. Everything happens in
 * the page; nothing is sent anywhere.
 */
'use strict';

const MOST_CYCLES = 1000000; // a program that runs longer would hold up the page
const element = id => document.getElementById(id);
const source = element('source');
let play = null;             // the module's functions, once it is there
let debugged = null;         // the program that the debugger has open: name, architecture and text
let shown = '';              // the program of which the report is shown

// ---- The module ----

function functions(module) {
  return {
    files: module.FS,
    command: module.cwrap('play_command', 'number', ['string']),
    output: module.cwrap('play_output', 'string', []),
    complaint: module.cwrap('play_complaint', 'string', []),
    debugBegin: module.cwrap('play_debug_begin', 'number', ['string']),
    debug: module.cwrap('play_debug', null, ['string']),
    cycle: module.cwrap('play_cycle', 'number', []),
  };
}

function name() { return examples[element('example').value]?.name ?? 'program.tasm'; }

function command(words) {
  play.files.writeFile(name(), source.value);
  const from = performance.now();
  const status = play.command([...words, '--arch', element('arch').value, name()].join('\n'));
  element('status').textContent = `status ${status}, ${Math.round(performance.now() - from)} ms`;
  return status;
}

// ---- Results ----

function select(tab) {
  for (const button of document.querySelectorAll('[role=tab]'))
    button.setAttribute('aria-selected', button.dataset.tab === tab);
  for (const pane of document.querySelectorAll('.pane'))
    pane.hidden = pane.id !== tab;
  if (tab === 'report')
    showReport();
  if (tab === 'machine')
    openDebugger();
}

function show(words) {
  command([...words, '--max-cycles', String(MOST_CYCLES)]);
  element('text').textContent = play.output() + play.complaint();
  select('text');
  mark(linesIn(element('text').textContent, /^(?!\s+cycle )/)); // not those that merely passed
}

/* The program's lines that a text names, on lines of its own that match `where`. */
function linesIn(text, where) {
  const named = new RegExp(`${name().replace('.', '\\.')}:(\\d+)`, 'g');
  return text.split('\n').filter(line => where.test(line)).flatMap(line => [...line.matchAll(named)].map(m => +m[1]));
}

function key() { return [name(), element('arch').value, source.value].join('\n'); }

function showReport() {
  if (shown === key())
    return;
  const file = '/report.html';
  const there = () => play.files.analyzePath(file).exists;
  if (there())
    play.files.unlink(file);
  command(['report', '-o', file, '--max-cycles', String(MOST_CYCLES)]);
  if (there()) {
    play.files.chmod(file, 0o644); // the module's C library has a umask of 0777
    element('report').srcdoc = play.files.readFile(file, {encoding: 'utf8'});
  } else {
    element('report').srcdoc = `<pre>${play.complaint().replace(/[<&]/g, c => ({'<': '&lt;', '&': '&amp;'})[c])}</pre>`;
  }
  shown = key();
}

// ---- The debugger ----

function openDebugger() {
  if (debugged === key())
    return;
  play.files.writeFile(name(), source.value);
  debugged = play.debugBegin(['debug', '--arch', element('arch').value, name()].join('\n')) ? key() : null;
  element('answer').textContent = debugged ? '' : play.complaint();
  showState();
}

function obey(line) {
  openDebugger();
  if (!debugged)
    return;
  play.debug(line);
  element('answer').textContent = `> ${line}\n${play.output()}${play.complaint()}`;
  showState();
}

function showState() {
  if (!debugged)
    return;
  element('cycle').textContent = `cycle ${play.cycle()}`;
  play.debug('state');
  const state = play.output();
  element('state').textContent = state;
  mark(linesIn(state, /at the gate/));
}

// ---- The editor ----

/* Numbers the lines, and marks those of a report. */
function mark(lines) {
  const marked = new Set(lines);
  element('numbers').replaceChildren(...source.value.split('\n').flatMap((_, i) => {
    const line = document.createElement('span');
    line.textContent = i + 1;
    if (marked.has(i + 1))
      line.className = 'at';
    return i ? ['\n', line] : [line];
  }));
  source.style.height = 'auto';
  source.style.height = `${source.scrollHeight}px`;
}

let current = 0;      // the example that was chosen
let changed = false;  // the text is the reader's own

function load(index) {
  const example = examples[index];
  current = index;
  changed = false;
  element('example').value = index;
  element('arch').value = example.arch || 'bh';
  source.value = example.source;
  const link = document.createElement('a');
  link.href = example.page;
  link.textContent = example.title;
  element('about').replaceChildren(...(example.page ? ['From ', link, '.'] : []));
  mark([]);
}

function fillExamples() {
  const groups = new Map();
  examples.forEach((example, i) => {
    if (!groups.has(example.group)) {
      groups.set(example.group, Object.assign(document.createElement('optgroup'), {label: example.group}));
      element('example').append(groups.get(example.group));
    }
    groups.get(example.group).append(new Option(example.name, i));
  });
}

/* #program=NAME is one of the examples, #source=… a text. */
function fromAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const index = examples.findIndex(e => e.name === (wanted.get('program') || 'deadlock.tasm'));
  load(index < 0 ? 0 : index);
  if (wanted.has('source')) {
    try {
      source.value = new TextDecoder().decode(Uint8Array.from(atob(wanted.get('source')), c => c.charCodeAt(0)));
      element('about').replaceChildren();
    } catch (e) { // not base64: the example stays
      element('about').replaceChildren('The link is damaged: it holds no program.');
    }
    mark([]);
  }
  if (wanted.has('arch'))
    element('arch').value = wanted.get('arch') === 'wh' ? 'wh' : 'bh';
}

function share() {
  const bytes = new TextEncoder().encode(source.value);
  let text = ''; // a call has room for some ten thousand arguments
  for (let i = 0; i < bytes.length; i += 4096)
    text += String.fromCharCode(...bytes.subarray(i, i + 4096));
  location.hash = new URLSearchParams({
    arch: element('arch').value, source: btoa(text)}).toString();
  navigator.clipboard?.writeText(location.href).then(() => { element('status').textContent = 'the link is in the clipboard'; },
                                                     () => { element('status').textContent = 'the link is in the address bar'; });
}

// ---- Start ----

element('run').onclick = () => show(['run', '--timeline']);
element('check').onclick = () => show(['check']);
element('profile').onclick = () => show(['profile']);
element('share').onclick = share;
element('example').onchange = event => {
  if (changed && !confirm('Replace your program by the example?')) {
    event.target.value = current;
    return;
  }
  load(event.target.value);
  show(['run', '--timeline']);
};
source.oninput = () => { changed = true; mark([]); };
source.onkeydown = event => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    element('run').click();
  }
};
for (const button of document.querySelectorAll('[role=tab]'))
  button.onclick = () => select(button.dataset.tab);
for (const button of document.querySelectorAll('[data-debug]'))
  button.onclick = () => obey(button.dataset.debug);
element('prompt').onsubmit = event => {
  event.preventDefault();
  obey(element('command').value || 'help');
  element('command').select();
};

fillExamples();
fromAddress();
addEventListener('hashchange', () => { fromAddress(); show(['run', '--timeline']); });
createPlayground().then(module => {
  play = functions(module);
  show(['run', '--timeline']);
}, reason => { element('status').textContent = `the module does not start: ${reason}`; });
