import type { TestContext } from 'vitest';

export const isWindows = process.platform === 'win32';

/** Why a test cannot run on Windows. There is no other list. */
const reasons = {
  signals: 'Windows sends no signals between processes.',
  namespaces: 'Only Linux has network namespaces.',
  recording: 'Recorded on Linux. On Windows, ends of lines, signals and long variables differ.',
};

export function needs({ skip }: Pick<TestContext, 'skip'>, what: keyof typeof reasons): void {
  skip(isWindows, reasons[what]);
}
