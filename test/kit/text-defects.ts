import type { StepResult } from '../runner/step.js';

const ownCommands = ['add-mask', 'debug', 'error', 'warning', 'notice'];
const invisible = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const exceptionWords =
  /ended without a result|\(a bug in this action\)|is not a function|Cannot (read|convert)|\[object |\bat \S+ \(|:\d+:\d+\)/;
/** More of the long attack than is shown of any text. */
const uncut = /(?:HACKED ){50}/;

/** Text of a step that acts as more than text, and an end without exactly the error annotation that it needs. */
export function defectsOf(result: StepResult): string[] {
  const { annotations, conclusion } = result;
  const errors = annotations.filter(({ kind }) => kind === 'error').length;
  const wrongWords = annotations.map(({ raw }) => raw).filter((raw) => exceptionWords.test(raw));
  return [
    ...textDefects(result),
    ...wrongWords,
    ...(errors === (conclusion === 'success' ? 0 : 1) ? [] : [`${errors} errors`]),
  ];
}

/** Text in the log, the annotations, the command files or the summary that acts as more than text. */
export function textDefects({ annotations, commands, lines, summary }: StepResult): string[] {
  const messages = annotations.map(({ message }) => message);
  const acts = (text: string) => invisible.test(text) || text.includes('##[') || uncut.test(text);
  return [
    ...commands.flatMap(({ name }) => (ownCommands.includes(name) ? [] : [`command: ${name}`])),
    ...annotations.flatMap(({ message, source }) => (source === 'runner' ? [`the runner reports: ${message}`] : [])),
    ...[...messages, ...lines.map(({ text }) => text)].filter(acts),
    ...messages.filter((message) => /^\s*::/m.test(message)),
    ...summaryDefects(summary),
  ];
}

const ownWords = /^(?:[\p{L}\d\s.,:;()?'+-]|✅|❌|❓|⏳|🧹|📌|🚫|⚠️|&nbsp;|“”)*$/u;
/** GitHub makes a picture, an issue or a commit of these. */
const shortcut = /:[\w+-]+:|\b[A-Za-z]+-\d|\b(?=[a-f]*\d)[\da-f]{7,}\b/;

/** Text of others stands in code alone, where an entity replaces each character with a meaning. */
export function summaryDefects(summary: string): string[] {
  const bare = summary.replace(/^###/, '').replace(/<code>[^<>]*<\/code>|<\/?(?:p|br|code|table|tr|th|td)>/g, '');
  const paragraphs = (summary.match(/<p>.*?<\/p>/g) ?? []).map((one) => one.replace(/<code>[^<>]*<\/code>/g, '|'));
  const defects: Readonly<Record<string, boolean>> = {
    'a summary of more than 64 KiB': summary.length > 64 * 1024,
    'invisible in the summary': invisible.test(summary),
    'no heading': summary !== '' && !/^### .*\n\n/.test(summary),
    [`not our words: ${bare}`]: !ownWords.test(bare),
    'an open sign in code': /<code>[^<>]*(?:[\r\n]|&(?!(?:amp|lt|gt|quot|#39);))[^<>]*<\/code>/.test(summary),
    'a shortcut of GitHub': paragraphs.some((one) => shortcut.test(one)),
    'an empty line ends the table': /<table>(?:(?!<\/table>)[\s\S])*?\n\s*\n/.test(summary),
  };
  return Object.keys(defects).filter((name) => defects[name]);
}
