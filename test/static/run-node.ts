import { type ExecFileOptions, execFile } from 'node:child_process';

export function runNode(words: readonly string[], options: ExecFileOptions) {
  return new Promise<{ readonly status: number; readonly said: string }>((settle) => {
    execFile(process.execPath, words, options, (error, stdout, stderr) => {
      settle({ status: error === null ? 0 : Number(error.code), said: `${stdout}${stderr}` });
    });
  });
}
