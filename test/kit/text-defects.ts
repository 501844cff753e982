import type { StepResult } from '../runner/step.js';

const ownCommands = ['add-mask', 'debug', 'error', 'warning', 'notice'];
const invisible = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const exceptionWords =
  /ended without a result|\(a bug in this action\)|is not a function|Cannot (read|convert)|\[object |\bat \S+ \(|:\d+:\d+\)/;
/** More of the long attack than is shown of any text. */
const uncut = /(?:HACKED ){50}/;

/** Text of a step that acts as more than text or tells of an exception, and an end without the one error that it needs. */
export function defectsOf({ annotations, commands, conclusion, lines, summary }: StepResult): string[] {
  const texts = [...annotations.map(({ message }) => message), ...lines];
  const errors = annotations.filter(({ kind }) => kind === 'error').length;
  return [
    ...commands.map(({ name }) => name).filter((name) => !ownCommands.includes(name)),
    ...texts.filter((text) => invisible.test(text) || text.includes('##[') || uncut.test(text)),
    ...annotations.flatMap(({ message, raw, source }) =>
      source === 'runner' || /^\s*::/m.test(message) || exceptionWords.test(raw) ? [message] : [],
    ),
    ...summaryDefects(summary),
    ...(errors === (conclusion === 'success' ? 0 : 1) ? [] : [`${errors} errors`]),
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
