import type { StepResult } from '../runner/step.js';

const ownCommands = ['add-mask', 'debug', 'error', 'warning', 'notice'];
const invisible = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const exceptionWords =
  /ended without a result|\(a bug in this action\)|is not a function|is not iterable|Cannot (read|convert)|call stack|Invalid string|malformed|out of range|\[object |\bat \S+ \(|:\d+:\d+\)/;
/** More of the long attack than is shown of any text. */
const uncut = /(?:HACKED ){50}/;

/** Text of a step that acts as more than text, and an end without exactly the error annotation that it needs. */
export function defectsOf(result: StepResult): string[] {
  const { annotations, conclusion } = result;
  const found = textDefects(result);
  const errors = annotations.filter(({ kind }) => kind === 'error').map(({ raw }) => raw);
  if (errors.length !== (conclusion === 'success' ? 0 : 1)) found.push(`${errors.length} errors`);
  for (const { raw } of annotations) if (exceptionWords.test(raw)) found.push(`words of an exception: ${raw}`);
  for (const error of errors) if (!/[.?!]$/.test(error)) found.push(`not a sentence: ${error}`);
  return found;
}

/** Text in the log, the annotations, the command files or the summary that acts as more than text. */
export function textDefects(result: StepResult): string[] {
  const { annotations, commands, lines, summary } = result;
  const found = commands.flatMap(({ name }) => (ownCommands.includes(name) ? [] : [`command: ${name}`]));
  for (const { text } of lines) {
    if (invisible.test(text)) found.push(`invisible: ${JSON.stringify(text)}`);
    if (text.length > 8_000) found.push(`a line of ${text.length} characters: ${text.slice(0, 200)}`);
    if (text.includes('##[')) found.push(`an old command: ${text}`);
    if (uncut.test(text)) found.push(`a text that is not cut: ${text}`);
  }
  for (const { message, source } of annotations) {
    if (source === 'runner') found.push(`the runner reports: ${message}`);
    if (invisible.test(message)) found.push(`invisible: ${JSON.stringify(message)}`);
    if (message.split('\n').some((line) => /^\s*(::|##\[)/.test(line))) found.push(`a command in: ${message}`);
  }
  return [...found, ...summaryDefects(summary)];
}

const ownWords = /^(?:[\p{L}\d\s.,:;()?'+-]|✅|❌|❓|⏳|🧹|📌|🚫|⚠️|&nbsp;|“”)*$/u;
/** GitHub makes a picture, an issue or a commit of these. */
const shortcut = /:[\w+-]+:|\b[A-Za-z]+-\d|\b(?=[a-f]*\d)[\da-f]{7,}\b/;

export function summaryDefects(summary: string): string[] {
  const found: string[] = [];
  if (summary.length > 64 * 1024) found.push(`a summary of ${summary.length} characters`);
  if (invisible.test(summary)) found.push('invisible in the summary');
  if (summary !== '' && !/^### .*\n\n/.test(summary)) found.push('no heading');
  // Text of others stands in code alone, where an entity replaces each character with a meaning.
  const bare = summary
    .replace(/^###/, '')
    .replace(/<code>[^<>]*<\/code>/g, '')
    .replace(/<\/?(?:p|br|code|table|tr|th|td)>/g, '');
  if (!ownWords.test(bare)) found.push(`not our words: ${bare}`);
  for (const [, inside = ''] of summary.matchAll(/<code>([^<>]*)<\/code>/g))
    if (/[\r\n]|&(?!(amp|lt|gt|quot|#39);)/.test(inside)) found.push(`code: ${inside}`);
  for (const paragraph of summary.match(/<p>.*?<\/p>/g) ?? [])
    if (shortcut.test(paragraph.replace(/<code>[^<>]*<\/code>/g, '|'))) found.push(`shortcut: ${paragraph}`);
  for (const block of summary.match(/<table>[\s\S]*?<\/table>/g) ?? [])
    if (/\n\s*\n/.test(block)) found.push('an empty line ends the table');
  return found;
}
