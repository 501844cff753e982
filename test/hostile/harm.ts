import type { Command } from '../runner/command.js';
import type { FileEffects } from '../runner/file-effects.js';
import type { Annotation } from '../runner/step-log.js';

type Files = Pick<FileEffects, 'summary' | 'summaryDropped' | 'invalid'>;

interface Seen extends Files {
  readonly annotations: readonly Annotation[];
  readonly commands: readonly Command[];
  /** As they were written. */
  readonly lines: readonly { readonly text: string }[];
}

const ours = new Set(['add-mask', 'debug', 'error', 'warning', 'notice']);
const invisible = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
/** How a program speaks of itself when it has met what nobody foresaw. */
const ofDefect =
  /ended without a result|\(a bug in this action\)|is not a function|is not iterable|Cannot (read|convert)|call stack|Invalid string|malformed|out of range|\[object |\bat \S+ \(|:\d+:\d+\)/;
const longestLine = 8_000;
/** The long one of the attacks, with more of it than is shown of any text. */
const uncut = /(?:HACKED ){50}/;
const longestSummary = 64 * 1024;

/** All that is wrong with what a step told; with how it ended as well, where `isGreen` says how that was. */
export function harm(seen: Seen, isGreen?: boolean): string[] {
  const { annotations, commands, lines, invalid, summaryDropped } = seen;
  const found = commands.flatMap(({ name }) => (ours.has(name) ? [] : [`command: ${name}`]));
  for (const { text } of lines) {
    if (invisible.test(text)) found.push(`invisible: ${JSON.stringify(text)}`);
    if (text.length > longestLine) found.push(`a line of ${text.length} characters: ${text.slice(0, 200)}`);
    if (text.includes('##[')) found.push(`an old command: ${text}`);
    if (uncut.test(text)) found.push(`a text that is not cut: ${text}`);
  }
  for (const { message, source } of annotations) {
    if (source === 'runner') found.push(`the runner complained: ${message}`);
    if (invisible.test(message)) found.push(`invisible: ${JSON.stringify(message)}`);
    if (message.split('\n').some((line) => /^\s*(::|##\[)/.test(line))) found.push(`a command in: ${message}`);
  }
  found.push(...invalid.map((why) => `files: ${why}`));
  if (summaryDropped) found.push('the runner drops the summary');
  if (isGreen !== undefined) found.push(...harmOfEnd(seen, isGreen));
  return [...found, ...harmOfSummary(seen.summary)];
}

/** One error where it is red, a sentence; none where it is green. */
function harmOfEnd({ annotations }: Seen, isGreen: boolean): string[] {
  const found: string[] = [];
  const errors = annotations.filter(({ kind }) => kind === 'error').map(({ raw }) => raw);
  if (errors.length !== (isGreen ? 0 : 1)) found.push(`${errors.length} errors`);
  for (const { raw } of annotations) if (ofDefect.test(raw)) found.push(`words of a defect: ${raw}`);
  for (const error of errors) if (!/[.?!]$/.test(error)) found.push(`no sentence: ${error}`);
  return found;
}

// What our own summary is made of.
const tag = /<\/?(?:p|br|code|table|tr|th|td)>/g;
const ownWords = /^(?:[\p{L}\d\s.,:;()+-]|✅|❌|⏳|🧹|📌|🚫|⚠️|&nbsp;)*$/u;
/** The one picture, if any, in which each line is of our own making. */
const picture =
  /\n```mermaid\ngantt\n {2}dateFormat x\n {2}axisFormat %H:%M:%S\n((?: {2}\d+(?: [A-Za-z0-9_. -]*)? :(?:done|crit|active), \d+, \d+\n)+)```\n/;

/** What of a summary is more than text. */
export function harmOfSummary(summary: string): string[] {
  const found: string[] = [];
  if (summary.length > longestSummary) found.push(`a summary of ${summary.length} characters`);
  if (invisible.test(summary)) found.push('invisible in the summary');
  const rest = summary.replace(picture, '');
  if (summary !== '' && !/^### .*\n\n/.test(summary)) found.push('no heading');
  // Text of others stands in code alone, where all that means something is an entity.
  const bare = rest
    .replace(/^###/, '')
    .replace(/<code>[^<>]*<\/code>/g, '')
    .replace(tag, '');
  if (!ownWords.test(bare)) found.push(`not of our words: ${bare}`);
  for (const [, inside = ''] of rest.matchAll(/<code>([^<>]*)<\/code>/g)) {
    if (/[\r\n]|&(?!(amp|lt|gt|quot|#39);)/.test(inside)) found.push(`code: ${inside}`);
  }
  for (const block of rest.match(/<table>[\s\S]*?<\/table>/g) ?? []) {
    if (/\n\s*\n/.test(block)) found.push('an empty line ends the table');
  }
  return found;
}
