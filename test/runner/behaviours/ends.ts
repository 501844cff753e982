import type { Behaviour } from './behaviour.js';

const exits = (code: number): Behaviour => ({
  claim: `exit code ${code} makes the step ${code === 0 ? 'green' : 'red'}`,
  main: `process.exitCode = ${code};`,
});
const killed = (signal: string): Behaviour => ({
  claim: `a process that ${signal} ends makes the step red`,
  main: `process.kill(process.pid, '${signal}'); stay();`,
});

const endings: readonly Behaviour[] = [
  ...[0, 1, 2, 78, 137, 143, 255].map(exits),
  ...['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGABRT'].map(killed),
  {
    claim: 'an event loop that runs empty makes the step green',
    main: "new Promise(() => {}).then(() => console.log('never'));",
  },
  {
    claim: 'an error on the log and exit code 0 leave the step green',
    main: "console.log('::error::a');",
  },
  {
    claim: 'all that was printed before the end is in the log',
    main: "for (let i = 0; i < 2000; i++) process.stdout.write(i % 500 === 0 ? i + '\\n' : ''); process.stdout.write('last');",
  },
  {
    claim: 'post runs after a red main, and is green itself',
    main: 'process.exitCode = 1;',
    next: '',
    post: "console.log('post ran');",
  },
  {
    claim: 'post runs after a main that was killed, with the state that it saved',
    main: "file('STATE', 'id=7\\n'); process.kill(process.pid, 'SIGKILL'); stay();",
    post: 'see(env(/^STATE_/));',
  },
  {
    claim: 'post runs after a main that a bad command failed',
    main: "console.log('::set-env name=a::b');",
    post: "console.log('post ran');",
  },
  {
    claim: 'a red post leaves main green',
    main: '',
    post: "console.log('::error::in post'); process.exitCode = 1;",
  },
];

export const ends = endings.map((ending): Behaviour => ({ ...ending, needsProcess: true }));

const cancellations: readonly Behaviour[] = [
  {
    claim: 'a cancel sends SIGINT, and the step is cancelled though it exits with 0',
    main: "process.on('SIGINT', () => { see('SIGINT'); file('OUTPUT', 'a=1\\n'); console.log('bye'); process.exit(0); }); stay(); ready();",
    next: "console.log('next ran');",
    post: "console.log('post ran');",
  },
  {
    claim: 'a cancel sends SIGTERM where SIGINT did not end the process',
    main: "process.on('SIGINT', () => see('SIGINT')); process.on('SIGTERM', () => { see('SIGTERM'); process.exitCode = 1; process.exit(); }); stay(); ready();",
  },
  {
    claim: 'a cancel kills a process that neither signal ended, and what it wrote counts',
    main: "for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => see(name)); file('OUTPUT', 'a=1\\n'); file('STATE', 'b=2\\n'); file('STEP_SUMMARY', '# c'); stay(); ready();",
    post: 'see(env(/^STATE_/));',
  },
];

export const cancels = cancellations.map((cancel): Behaviour => ({ ...cancel, isCancelled: true, needsProcess: true }));
