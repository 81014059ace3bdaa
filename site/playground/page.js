/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The playground: an editor beside the command line of Waitgate, which module.js contains as WebAssembly. It runs in a worker
 * (worker.js). Everything happens in the browser; nothing is sent anywhere.
 */
'use strict';

const MOST_CYCLES = 100000000; // some seconds
const element = id => document.getElementById(id);
const source = element('source');
let shown = '';   // the program of which the report is shown

// ---- The worker ----

const workerAddress = URL.createObjectURL(new Blob([moduleSource], {type: 'text/javascript'}));
let worker = null;
let asked = 0;             // questions so far; the number of the last one
const waiting = new Map(); // those without an answer: what to do with it
let since = 0;             // when the first of them was asked

function start() {
  worker = new Worker(workerAddress);
  worker.onmessage = ({data}) => settle(data.id, data);
  worker.onerror = event => {
    for (const id of [...waiting.keys()])
      settle(id, {failed: event.message || 'the module does not start'});
  };
}

function settle(id, answer) {
  const resolve = waiting.get(id);
  waiting.delete(id);
  if (!waiting.size)
    element('stop').disabled = true;
  document.body.dataset.busy = waiting.size;
  resolve?.(answer);
}

/* Asks the worker; undefined if the answer is of no use: the program was stopped, or the question has failed. */
async function ask(what, more) {
  const id = ++asked;
  if (!waiting.size)
    since = performance.now();
  const answer = await new Promise(resolve => {
    waiting.set(id, resolve);
    document.body.dataset.busy = waiting.size;
    element('stop').disabled = false;
    worker.postMessage({id, what, program: program(), ...more});
  });
  if (answer.stopped)
    element('status').textContent = 'stopped';
  else if (answer.failed)
    element('status').textContent = `it failed: ${answer.failed}`;
  else
    return answer;
  return undefined;
}

/* Ends the worker in the middle of what it does; a new one takes its place. */
function stop() {
  worker.terminate();
  start();
  for (const id of [...waiting.keys()])
    settle(id, {stopped: true});
}

setInterval(() => {
  const seconds = Math.floor((performance.now() - since) / 1000);
  if (waiting.size && seconds >= 1)
    element('status').textContent = `running, ${seconds} s …`;
}, 200);

// ---- Results ----

function name() { return examples[element('example').value]?.name ?? 'program.tasm'; }
function program() { return {name: name(), arch: element('arch').value, source: source.value}; }
function key() { return Object.values(program()).join('\n'); }

function select(tab) {
  for (const button of document.querySelectorAll('[role=tab]'))
    button.setAttribute('aria-selected', button.dataset.tab === tab);
  for (const pane of document.querySelectorAll('.pane'))
    pane.hidden = pane.id !== tab;
  if (tab === 'report')
    showReport();
  if (tab === 'machine')
    obey('');
}

async function show(words) {
  const wanted = key();
  const said = await ask('command', {words: [...words, '--max-cycles', String(MOST_CYCLES)]});
  if (!said || wanted !== key())
    return; // the text has changed meanwhile
  element('status').textContent = `status ${said.status}, ${said.ms} ms`;
  element('text').textContent = said.text;
  select('text');
  mark(linesIn(said.text, /^(?!\s+cycle )/)); // not those that merely passed
}

/* The program's lines that a text names, on lines of its own that match `where`. */
function linesIn(text, where) {
  const named = new RegExp(`${name().replace('.', '\\.')}:(\\d+)`, 'g');
  return text.split('\n').filter(line => where.test(line)).flatMap(line => [...line.matchAll(named)].map(m => +m[1]));
}

async function showReport() {
  const wanted = key();
  if (shown === wanted)
    return;
  const said = await ask('report', {words: ['--max-cycles', String(MOST_CYCLES)]});
  if (!said || wanted !== key())
    return;
  element('status').textContent = `status ${said.status}, ${said.ms} ms`;
  element('report').srcdoc = said.page ?? `<pre>${said.text.replace(/[<&]/g, c => ({'<': '&lt;', '&': '&amp;'})[c])}</pre>`;
  shown = wanted;
}

// ---- The debugger ----

/* A command of the debugger; '': only shows the state. */
async function obey(line) {
  const wanted = key();
  const said = await ask('debug', {line, key: wanted});
  if (!said || wanted !== key())
    return;
  if (line || !said.open)
    element('answer').textContent = said.answer;
  if (!said.open)
    return;
  element('cycle').textContent = `cycle ${said.cycle}`;
  element('state').textContent = said.state;
  mark(linesIn(said.state, /at the gate|^ +core /)); // where threads wait, and cores are
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

let written = '';     // the address's part that share() wrote

function share() {
  const bytes = new TextEncoder().encode(source.value);
  let text = ''; // a call has room for some ten thousand arguments
  for (let i = 0; i < bytes.length; i += 4096)
    text += String.fromCharCode(...bytes.subarray(i, i + 4096));
  location.hash = new URLSearchParams({
    arch: element('arch').value, source: btoa(text)}).toString();
  written = location.hash;
  navigator.clipboard?.writeText(location.href).then(() => { element('status').textContent = 'the link is in the clipboard'; },
                                                     () => { element('status').textContent = 'the link is in the address bar'; });
}

// ---- Start ----

element('run').onclick = () => show(['run', '--timeline']);
element('check').onclick = () => show(['check']);
element('profile').onclick = () => show(['profile']);
element('share').onclick = share;
element('stop').onclick = stop;
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
addEventListener('hashchange', () => {
  if (location.hash === written || (changed && !confirm('Replace your program by the one of the address?')))
    return;
  fromAddress();
  show(['run', '--timeline']);
});
start();
show(['run', '--timeline']);
