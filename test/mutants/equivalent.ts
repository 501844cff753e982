/** A mutant that no test can find: `file`, `source` and `change` as `npm run mutants` prints them. */
export interface Equivalent {
  readonly file: string;
  readonly source: string;
  readonly change: string;
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/http/errors.ts',
    source: 'return this.status !== undefined && this.status >= 400 && this.status < 500 && !this.transient;',
    change: 'this.status < 500 → this.status <= 500',
    why: 'A 500 is always transient, and a transient status is never permanent.',
  },
  {
    file: 'src/http/read-body.ts',
    source: 'if (!message.complete) throw closed();',
    change: '!message.complete → false',
    why: 'In every version of Node that runs the action, reading a body that ends early throws.',
  },
  {
    file: 'src/modes/run-settings.ts',
    source: 'if (id === undefined || attempt === undefined || repository === undefined) return undefined;',
    change: 'id === undefined || attempt === undefined → id === undefined && attempt === undefined',
    why: 'The reader has reported the problem of an undefined value, and then the step does not start.',
  },
  {
    file: 'src/http/retry.ts',
    source: 'if (error instanceof DeadlineExceeded && lastError !== undefined) throw new DeadlineExceeded(lastError);',
    change: 'lastError !== undefined → true',
    why: 'Without an earlier error, the new error equals the caught one.',
  },
  {
    file: 'src/text/encodings.ts',
    source: "const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');",
    change: '/=+$/ → /=+/',
    why: 'Base64 has `=` only at its end.',
  },
  {
    file: 'src/modes/sweep-keys/sweep-keys.ts',
    source: 'if (attempt !== undefined && attempt > run.attempt)',
    change: 'attempt !== undefined → true',
    why: 'Nothing is greater than `run.attempt` if it is undefined.',
  },
  {
    file: 'src/http/http-exchange.ts',
    source: 'status: message.statusCode ?? 0,',
    change: '0 → 1',
    why: 'Node sets the status of every response.',
  },
  {
    file: 'src/http/connect.ts',
    source:
      "export const lookupOptions: LookupAllOptions = { all: true, hints: process.platform === 'win32' ? 0 : ADDRCONFIG };",
    change: "process.platform === 'win32' → true",
    why: 'Without the hint, a lookup also finds addresses that the machine cannot reach. The next address is tried then.',
  },
  {
    file: 'src/action/publish.ts',
    source:
      'const units = () => outputs.reduce((sum, output) => sum + (dropped.has(output) ? 0 : (output.value?.length ?? 0)), 0);',
    change: '0 → 1',
    why: 'The total is compared with less than half of what GitHub accepts, so one unit for each output does not matter.',
  },
  {
    file: 'src/post.ts',
    source: 'process.exitCode = 1;',
    change: 'process.exitCode = 1; → ;',
    why: 'Node also fails after an import that fails or never ends, unless NODE_OPTIONS changes that.',
  },
];
