import { idsIn } from './id-list.js';
import { BadValue, operationId } from './input-values.js';

const whyEmpty =
  'is empty: an expression that gives nothing (a mistyped step or output, a skipped step, a failed jq) leaves it so, and an empty list would open the gate. ' +
  'Expected the ids of operations, the word all for every unfinished operation of the project, or response-file';

/** A list of ids, or the single word `all`. */
export function operationIds(text: string): 'all' | string[] {
  if (text === 'all') return 'all';
  if (text.toLowerCase() === 'all') throw new BadValue('is not known here; did you mean all, in small letters?');
  return idsIn(text, {
    id: idOf,
    whyEmpty,
    insteadOfObject:
      'The runner prints inputs, so an answer of the API does not belong here: write it to a file (curl -o) and name that in response-file',
    example: '["id", "id"]',
    jq: '.operations[].id',
    areNumbers: false,
  });
}

function idOf(word: string): string {
  if (word === 'all') throw new BadValue('is no id, but a word that stands alone');
  return operationId(word);
}
