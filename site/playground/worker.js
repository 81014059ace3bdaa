/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line and the debugger, in a thread of their own: the page stays alive while a program runs, and stops it by ending this
 * worker. Behind the module's own source (scripts/site).
 *
 *     page.js ──{id, what, …}──► here ──{id, …}──► page.js
 */
'use strict';

let play = null;     // the module's functions
let debugged = null; // the program that the debugger has open

const ready = createPlayground().then(module => {
  play = {
    files: module.FS,
    command: module.cwrap('play_command', 'number', ['string']),
    output: module.cwrap('play_output', 'string', []),
    complaint: module.cwrap('play_complaint', 'string', []),
    debugBegin: module.cwrap('play_debug_begin', 'number', ['string']),
    debug: module.cwrap('play_debug', null, ['string']),
    cycle: module.cwrap('play_cycle', 'number', []),
  };
});

function command(words, program) {
  play.files.writeFile(program.name, program.source);
  const from = performance.now();
  const status = play.command([...words, '--arch', program.arch, program.name].join('\n'));
  return {status, ms: Math.round(performance.now() - from), text: play.output() + play.complaint()};
}

/* The page of `waitgate report`. */
function report(words, program) {
  const file = '/report.html';
  const there = () => play.files.analyzePath(file).exists;
  if (there())
    play.files.unlink(file);
  const said = command(['report', '-o', file, ...words], program);
  if (!there())
    return said;
  play.files.chmod(file, 0o644); // the module's C library has a umask of 0777
  return {...said, page: play.files.readFile(file, {encoding: 'utf8'})};
}

/* A command for the debugger, none for a look at the state. */
function debug(line, program, key) {
  let answer = '';
  if (debugged !== key) {
    play.files.writeFile(program.name, program.source);
    debugged = play.debugBegin(['debug', '--arch', program.arch, program.name].join('\n')) ? key : null;
  }
  if (!debugged)
    return {open: false, answer: play.complaint()};
  if (line) {
    play.debug(line);
    answer = `> ${line}\n${play.output()}${play.complaint()}`;
  }
  play.debug('state');
  return {open: true, answer, cycle: play.cycle(), state: play.output()};
}

onmessage = async ({data}) => {
  try {
    await ready;
    const answer = data.what === 'command' ? command(data.words, data.program)
                 : data.what === 'report'  ? report(data.words, data.program)
                 : data.what === 'debug'   ? debug(data.line, data.program, data.key)
                                           : {};
    postMessage({id: data.id, ...answer});
  } catch (reason) {
    debugged = null;
    postMessage({id: data.id, failed: String(reason)});
  }
};
