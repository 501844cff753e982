import type { Table } from './behaviour.js';

const exits = [0, 1, 2, 78, 137, 143, 255].map((code) => [
  `exit code ${code} makes the step ${code === 0 ? 'green' : 'red'}`,
  `process.exitCode = ${code};`,
]);
const kills = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGABRT'].map((signal) => [
  `a process that ${signal} ends makes the step red`,
  { main: `process.kill(process.pid, '${signal}'); stay();`, needsProcess: true },
]);

export const ends: Table = {
  ...Object.fromEntries([...exits, ...kills]),
  'an event loop that runs empty makes the step green': {
    main: "new Promise(() => {}).then(() => console.log('never'));",
    needsProcess: true,
  },
  'all that was printed before the end is in the log': {
    main: "for (let i = 0; i < 2000; i++) process.stdout.write(i % 500 === 0 ? i + '\\n' : ''); process.stdout.write('last');",
    needsProcess: true,
  },
  'post runs after a red main, and is green itself': {
    main: 'process.exitCode = 1;',
    next: '',
    post: "console.log('post ran');",
  },
  'post runs after a main that a bad command failed': {
    main: "console.log('::set-env name=a::b');",
    post: "console.log('post ran');",
  },
  'a red post leaves main green': {
    main: '',
    post: "console.log('::error::in post'); process.exitCode = 1;",
  },
};

/** The job is cancelled as soon as main is ready. */
export const cancels: Table = {
  'a cancel sends SIGINT, and the step is cancelled though it exits with 0': {
    main: "process.on('SIGINT', () => { see('SIGINT'); file('OUTPUT', 'a=1\\n'); console.log('bye'); process.exit(0); }); stay(); ready();",
    next: "console.log('next ran');",
    post: "console.log('post ran');",
  },
  'a cancel sends SIGTERM where SIGINT did not end the process':
    "process.on('SIGINT', () => see('SIGINT')); process.on('SIGTERM', () => { see('SIGTERM'); process.exitCode = 1; process.exit(); }); stay(); ready();",
  'a cancel kills a process that neither signal ended, and what it wrote counts': {
    main: "for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => see(name)); file('OUTPUT', 'a=1\\n'); file('STATE', 'b=2\\n'); file('STEP_SUMMARY', '# c'); stay(); ready();",
    post: 'see(env(/^STATE_/));',
  },
};
